//! The command line, with zstd's own syntax.

use super::{Mode, Zstd};
use crate::place::files_below;
use crate::words::{print_parts, show};

const VERSION: &str = "*** Zstandard CLI (64-bit) v1.5.4, by Yann Collet ***\n";

const HELP: &str = "\
Compress or decompress the INPUT file(s); reads from STDIN if INPUT is `-` or not provided.

Usage: zstd [OPTIONS...] [INPUT... | -] [-o OUTPUT]

Options:
  -o OUTPUT                     Write output to a single file, OUTPUT.
  -k, --keep                    Preserve INPUT file(s). [Default] 
  --rm                          Remove INPUT file(s) after successful (de)compression.

  -#                            Desired compression level, where `#` is a number between 1 and 19;
                                lower numbers provide faster compression, higher numbers yield
                                better compression ratios. [Default: 3]

  -d, --decompress              Perform decompression.
  -D DICT                       Use DICT as the dictionary for compression or decompression.

  -f, --force                   Disable input and output checks. Allows overwriting existing files,
                                receiving input from the console, printing ouput to STDOUT, and
                                operating on links, block devices, etc. Unrecognized formats will be
                                passed-through through as-is.

  -h                            Display short usage and exit.
  -H, --help                    Display full help and exit.
  -V, --version                 Display the program version and exit.

";

const MORE_HELP: &str = "\
Advanced options that this zstd has: -c, -q, -r, -t, -v, -z, --ultra, --fast[=#], --[no-]check,
--[no-]pass-through, --filelist=LIST, --output-dir-flat=DIR.
Options that only change speed and memory (-T#, --long, --adapt ...) are read and have no effect.
";

/// Maximum level without and with `--ultra`.
const LEVELS: (i32, i32) = (19, 22);

/// Long options without a value that affect only time, memory and progress output.
const CHANGES_TIME_ONLY: &[&str] = &[
    "--no-progress",
    "--progress",
    "--sparse",
    "--no-sparse",
    "--asyncio",
    "--no-asyncio",
    "--content-size",
    "--no-content-size",
    "--dictID",
    "--no-dictID",
    "--single-thread",
    "--adapt",
    "--rsyncable",
    "--compress-literals",
    "--no-compress-literals",
    "--row-match-finder",
    "--no-row-match-finder",
    "--long",
    "--exclude-compressed",
    "--no-name",
    "--no-dictid",
];

/// Long options with a size that has no effect here.
const SIZES: &[&str] = &[
    "--long",
    "--threads",
    "--memory",
    "--memlimit",
    "--memlimit-decompress",
    "--block-size",
    "--stream-size",
    "--size-hint",
    "--target-compressed-block-size",
    "--auto-threads",
];

/// Unsupported long options.
const ABSENT: &[&str] = &[
    "--train",
    "--train-cover",
    "--train-fastcover",
    "--train-legacy",
    "--patch-from",
    "--output-dir-mirror",
    "--maxdict",
    "--dictID",
    "--zstd",
    "--trace",
    "--priority",
    "--show-default-cparams",
];

struct Read {
    zstd: Zstd,
    files: Vec<Vec<u8>>,
    ultra: bool,
    passes_on: Option<bool>,
    words: std::vec::IntoIter<Vec<u8>>,
}

/// Runs the tool under one of its names.
pub fn main(name: &str, arguments: Vec<Vec<u8>>) -> i32 {
    let mut read = Read {
        zstd: Zstd {
            mode: if matches!(name, "unzstd" | "zstdcat") { Mode::Decompress } else { Mode::Compress },
            to_stdout: name == "zstdcat",
            force: name == "zstdcat",
            verbosity: if name == "zstdcat" { 1 } else { 2 },
            ..Zstd::plain()
        },
        files: Vec::new(),
        ultra: false,
        passes_on: (name == "zstdcat").then_some(true),
        words: Vec::new().into_iter(),
    };
    if let Some(level) = tidebox_rt::environ().iter().find_map(|variable| variable.strip_prefix(b"ZSTD_CLEVEL=")) {
        match String::from_utf8_lossy(level).parse() {
            Ok(level) => read.zstd.level = level,
            Err(_) => print_parts(&[
                b"Ignore environment variable setting ZSTD_CLEVEL=",
                level,
                b": not a valid integer value \n",
            ]),
        }
    }
    read.words = arguments.into_iter();
    match read.all() {
        Ok(()) => read.run(),
        Err(code) => code,
    }
}

impl Read {
    fn all(&mut self) -> Result<(), i32> {
        while let Some(word) = self.words.next() {
            match word.as_slice() {
                b"--" => self.files.extend(self.words.by_ref()),
                b"-" => self.files.push(word),
                long if long.starts_with(b"--") => self.long(&word)?,
                short if short.starts_with(b"-") => self.short(&word)?,
                _ => self.files.push(word),
            }
        }
        Ok(())
    }

    fn value(&mut self, attached: &[u8]) -> Result<Vec<u8>, i32> {
        match attached {
            [] => self.words.next().ok_or_else(|| {
                print_parts(&[b"error : missing command argument \n"]);
                1
            }),
            [b'=', value @ ..] | value => Ok(value.to_vec()),
        }
    }

    fn long(&mut self, word: &[u8]) -> Result<(), i32> {
        let text = String::from_utf8_lossy(word).into_owned();
        let (name, value) = text.split_once('=').map_or((text.as_str(), None), |(name, value)| (name, Some(value)));
        match (name, value) {
            ("--compress", None) => self.zstd.mode = Mode::Compress,
            ("--decompress" | "--uncompress", None) => self.zstd.mode = Mode::Decompress,
            ("--test", None) => self.zstd.mode = Mode::Test,
            ("--list", None) => return Err(refused("--list")),
            ("--force", None) => self.set_force(),
            ("--keep", None) => self.zstd.remove = false,
            ("--rm", None) => self.zstd.remove = true,
            ("--stdout", None) => self.set_stdout(),
            ("--verbose", None) => self.zstd.verbosity = self.zstd.verbosity.saturating_add(1),
            ("--quiet", None) => self.zstd.verbosity = self.zstd.verbosity.saturating_sub(1),
            ("--ultra", None) => self.ultra = true,
            ("--check", None) => self.zstd.checks = true,
            ("--no-check", None) => self.zstd.checks = false,
            ("--pass-through", None) => self.passes_on = Some(true),
            ("--no-pass-through", None) => self.passes_on = Some(false),
            ("--recursive", None) => self.zstd.recursive = true,
            ("--help", None) => return Err(printed(&[HELP, MORE_HELP].concat())),
            ("--version", None) => return Err(printed(VERSION)),
            ("--fast", None) => self.zstd.level = -1,
            ("--fast", Some(level)) => match level.parse::<i32>() {
                Ok(level) if level > 0 => self.zstd.level = -level,
                _ => return Err(self.bad()),
            },
            ("--format", Some("zstd")) => {}
            ("--format", Some(format)) => return Err(refused(&format!("--format={format}"))),
            ("--output-dir-flat" | "--filelist", value) => {
                let value = match value {
                    Some(value) => value.as_bytes().to_vec(),
                    None => self.value(b"")?,
                };
                if name == "--filelist" {
                    self.list(&value)?;
                } else {
                    self.zstd.folder = Some(value);
                }
            }
            (name, None) if CHANGES_TIME_ONLY.contains(&name) => {}
            (name, Some(_)) if SIZES.contains(&name) => {}
            ("--adapt", Some(_)) => {}
            ("--threads" | "--memory" | "--memlimit" | "--stream-size" | "--size-hint", None) => {
                self.value(b"")?;
            }
            (name, _) if ABSENT.contains(&name) => return Err(refused(name)),
            _ => return Err(self.bad()),
        }
        Ok(())
    }

    fn short(&mut self, word: &[u8]) -> Result<(), i32> {
        let mut rest = word.get(1..).unwrap_or_default();
        while let Some((letter, after)) = rest.split_first() {
            rest = after;
            match letter {
                b'0'..=b'9' => {
                    let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
                    let number = [&[*letter], after.get(..digits).unwrap_or_default()].concat();
                    rest = after.get(digits..).unwrap_or_default();
                    self.zstd.level = String::from_utf8_lossy(&number).parse().unwrap_or(i32::MAX);
                }
                b'z' => self.zstd.mode = Mode::Compress,
                b'd' => self.zstd.mode = Mode::Decompress,
                b't' => self.zstd.mode = Mode::Test,
                b'c' => self.set_stdout(),
                b'f' => self.set_force(),
                b'k' => self.zstd.remove = false,
                b'r' => self.zstd.recursive = true,
                b'v' => self.zstd.verbosity = self.zstd.verbosity.saturating_add(1),
                b'q' => self.zstd.verbosity = self.zstd.verbosity.saturating_sub(1),
                b'C' => self.zstd.checks = true,
                b'n' | b'p' => {}
                b'h' => return Err(printed(HELP)),
                b'H' => return Err(printed(&[HELP, MORE_HELP].concat())),
                b'V' => return Err(printed(VERSION)),
                // Threads, memory and block sizes affect only the time.
                b'T' | b'M' | b'B' => {
                    rest = after.trim_ascii_start();
                    let used = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
                    rest = rest.get(used..).unwrap_or_default();
                }
                b'o' => {
                    let value = self.value(rest)?;
                    self.zstd.to_stdout = false;
                    self.zstd.output = Some(value);
                    return Ok(());
                }
                b'D' | b'b' | b'e' | b'i' | b'l' | b'S' | b's' => {
                    return Err(refused(&format!("-{}", char::from(*letter))));
                }
                _ => return Err(self.bad()),
            }
        }
        Ok(())
    }

    fn set_force(&mut self) {
        self.zstd.force = true;
    }

    fn set_stdout(&mut self) {
        self.zstd.to_stdout = true;
        self.zstd.output = None;
        self.zstd.remove = false;
    }

    fn bad(&self) -> i32 {
        print_parts(&[b"Incorrect parameters \n"]);
        if self.zstd.verbosity >= 2 {
            print_parts(&[HELP.as_bytes()]);
        }
        1
    }

    fn list(&mut self, list: &[u8]) -> Result<(), i32> {
        let text = std::fs::read(tidebox_gnu::message::bytes_path(list)).map_err(|_| {
            print_parts(&[b"zstd: error reading ", list, b" \n"]);
            1
        })?;
        self.files.extend(text.split(|byte| *byte == b'\n').filter(|name| !name.is_empty()).map(<[u8]>::to_vec));
        Ok(())
    }

    /// Returns the files to read: those in the given directories with `-r`, and otherwise all except links. An error is the exit
    /// code if no file remains.
    fn inputs(&mut self) -> Result<Vec<Vec<u8>>, i32> {
        let named = std::mem::take(&mut self.files);
        if named.is_empty() {
            return Ok(vec![b"-".to_vec()]);
        }
        if self.zstd.recursive {
            let files = expand(&named);
            if files.is_empty() {
                self.zstd.note(1, &[b"please provide correct input file(s) or non-empty directories -- ignored \n"]);
                return Err(0);
            }
            return Ok(files);
        }
        let mut kept = Vec::new();
        for file in named {
            match tidebox_rt::stat(&file, false) {
                Ok(stat) if stat.kind() == tidebox_rt::FileKind::Symlink && !self.zstd.force => {
                    self.zstd.note(2, &[b"Warning : ", &file, b" is a symbolic link, ignoring \n"]);
                }
                _ => kept.push(file),
            }
        }
        if kept.is_empty() { Err(1) } else { Ok(kept) }
    }

    fn run(mut self) -> i32 {
        let top = if self.ultra { LEVELS.1 } else { LEVELS.0 };
        if self.zstd.mode == Mode::Compress && self.zstd.level > top {
            let text = format!("Warning : compression level higher than max, reduced to {top} \n");
            self.zstd.note(2, &[text.as_bytes()]);
            self.zstd.level = top;
        }
        if self.zstd.level == 0 {
            self.zstd.level = 3;
        }
        let files = match self.inputs() {
            Ok(files) => files,
            Err(code) => return code,
        };
        let by_default = self.zstd.force && self.zstd.to_stdout;
        self.zstd.passes_on = self.passes_on.unwrap_or(by_default);
        self.zstd.run(&files)
    }
}

fn expand(files: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for file in files {
        match tidebox_rt::stat(file, true) {
            Ok(stat) if stat.kind() == tidebox_rt::FileKind::Dir => {
                all.extend(files_below(file, &mut |path, errno| {
                    print_parts(&[b"Cannot open directory '", path, b"': ", errno.text().as_bytes(), b"\n"]);
                }))
            }
            _ => all.push(file.clone()),
        }
    }
    all
}

fn printed(text: &str) -> i32 {
    i32::from(show(text.as_bytes()).is_err())
}

fn refused(what: &str) -> i32 {
    print_parts(&[b"zstd: ", what.as_bytes(), b" is not supported by this zstd\n"]);
    1
}
