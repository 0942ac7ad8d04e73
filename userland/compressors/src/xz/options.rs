//! The command line.

use lzma_rust2::{CheckType, EncodeMode, LzmaOptions, MfType, XzOptions};
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::getopt::Item;
use tidebox_gnu::options::Syntax;

use super::list::Sums;
use super::{Format, Mode, Xz};
use crate::words::{print_parts, show};

const USAGE: &str = "\
Usage: xz [OPTION]... [FILE]...
Compress or decompress FILEs in the .xz format.

";

const NOTES: &str = "\n\
With no FILE, or when FILE is -, read standard input.

Report bugs to <xz@tukaani.org> (in English or Finnish).
XZ Utils home page: <https://tukaani.org/xz/>
";

const LONG_ONLY: &str = "
This xz is the one of Tidebox. It has besides:
  -F, --format=FORMAT   auto, xz or lzma
  -C, --check=CHECK     none, crc32, crc64 or sha256
  -S, --suffix=.SUF     use the suffix `.SUF' on compressed files
";

tidebox_gnu::options! {
    /// Options of `xz`.
    pub(super) enum Flag {
        Compress = "-z, --compress", "force compression";
        Decompress = "-d, --decompress | --uncompress", "force decompression";
        Test = "-t, --test", "test compressed file integrity";
        List = "-l, --list", "list information about .xz files";
        Keep = "-k, --keep", "keep (don't delete) input files";
        Force = "-f, --force", "force overwrite of output file and (de)compress links";
        Stdout = "-c, --stdout | --to-stdout", "write to standard output and don't delete input files";
        Preset = "-0 ... -9",
            "compression preset; default is 6; take compressor *and*\ndecompressor memory usage into account before using 7-9!";
        Extreme = "-e, --extreme",
            "try to improve compression ratio by using more CPU time;\ndoes not affect decompressor memory requirements";
        Threads = "-T, --threads=NUM",
            "use at most NUM threads; the default is 1; set to 0\nto use as many threads as there are processor cores";
        Quiet = "-q, --quiet", "suppress warnings; specify twice to suppress errors too";
        Verbose = "-v, --verbose", "be verbose; specify twice for even more verbose";
        Help = "-h, --help", "display this short help and exit";
        LongHelp = "-H, --long-help", "display the long help (lists also the advanced options)";
        Version = "-V, --version", "display the version number and exit";
        Check = "-C, --check=CHECK", "";
        Format = "-F, --format=FORMAT", "";
        NoWarn = "-Q, --no-warn", "";
        Ignored = "-r", "";
        Suffix = "-S, --suffix=.SUF", "";
        NoSparse = "--no-sparse, --no-adjust", "";
        Filters = "--ignore-check, --block-list=SIZES, --x86[=OPTS], --powerpc[=OPTS], --ia64[=OPTS], --arm[=OPTS], \
                   --armthumb[=OPTS], --arm64[=OPTS], --sparc[=OPTS], --delta[=OPTS]", "",
            unsupported "filters other than LZMA, --block-list and --ignore-check are not supported by this xz";
        // The sandbox limits the memory.
        Memlimit = "-M, --memlimit=LIMIT, --memlimit-decompress=LIMIT, --memory=LIMIT, --memlimit-compress=LIMIT, \
                    --memlimit-mt-decompress=LIMIT, --flush-timeout=MS", "";
        Lists = "--files[=FILE], --files0[=FILE]", "", unsupported "lists of files are not supported: see xargs";
        Streams = "--single-stream, --block-size=SIZE", "",
            unsupported "--single-stream and --block-size are not supported by this xz";
        Fast = "--fast", "";
        Best = "--best", "";
        Lzma = "--lzma1[=OPTS], --lzma2[=OPTS]", "", unsupported "--lzma1 and --lzma2 are not supported: see -0 ... -9";
        Robot = "--robot", "", unsupported "--robot is not supported by this xz";
        InfoMemory = "--info-memory", "", unsupported "--info-memory is not supported by this xz";
    }
}

const LINE: Syntax<'_, Flag> = Syntax { notes: NOTES, ..Syntax::new("xz", USAGE, 22) };

/// State of the command-line parser.
struct Read {
    xz: Xz,
    preset: u32,
    extreme: bool,
    files: Vec<Vec<u8>>,
}

/// Runs the tool under one of its names.
pub fn main(name: &str, arguments: Vec<Vec<u8>>) -> i32 {
    let old = matches!(name, "lzma" | "unlzma" | "lzcat");
    let mut read = Read {
        xz: Xz {
            name: name.to_owned(),
            mode: if matches!(name, "xz" | "lzma") { Mode::Compress } else { Mode::Decompress },
            format: if old { Format::Lzma } else { Format::Auto },
            to_stdout: matches!(name, "xzcat" | "lzcat"),
            force: false,
            keep: false,
            verbosity: 2,
            no_warn: false,
            suffix: None,
            how: XzOptions::default(),
            code: 0,
            sums: Sums::default(),
        },
        preset: 6,
        extreme: false,
        files: Vec::new(),
    };
    let variables = tidebox_rt::environ();
    let mut words = Vec::new();
    for key in [b"XZ_DEFAULTS=".as_slice(), b"XZ_OPT="] {
        if let Some(value) = variables.iter().find_map(|variable| variable.strip_prefix(key)) {
            let split = value.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            words.extend(split.map(<[u8]>::to_vec));
        }
    }
    // Operands in the environment are ignored.
    if let Err(code) = read.words(words, false).and_then(|()| read.words(arguments, true)) {
        return code;
    }
    read.run()
}

/// Three quarters of the memory that the process may have, in KiB.
pub(super) fn available_kib() -> u32 {
    let bytes = tidebox_rt::limits().map_or(512 << 20, |limits| limits.process_memory_bytes);
    u32::try_from(bytes / 1024 / 4 * 3).unwrap_or(u32::MAX)
}

impl Read {
    fn words(&mut self, words: Vec<Vec<u8>>, files: bool) -> Result<(), i32> {
        let mut items = LINE.items(words);
        loop {
            match items.next_item() {
                Ok(None) => return Ok(()),
                Ok(Some(Item::Operand(file))) if files => self.files.push(file),
                Ok(Some(Item::Operand(_))) => {}
                Ok(Some(Item::Option(flag, value))) => {
                    let letter = items.letter();
                    self.set(flag, letter, value)?;
                }
                Err(ToolResult::Print(text)) => return Err(i32::from(show(&text).is_err())),
                Err(ToolResult::Failure(message, _)) => return Err(self.fatal(&message)),
                Err(ToolResult::Usage(message, code)) => {
                    let name = &self.xz.name;
                    print_parts(&[
                        format!("{name}: {message}\n{name}: Try `{name} --help' for more information.\n").as_bytes()
                    ]);
                    return Err(code);
                }
                Err(ToolResult::Code(code) | ToolResult::PrintAndCode(_, code)) => return Err(code),
            }
        }
    }

    /// Applies one option. An error is the exit code.
    fn set(&mut self, flag: Flag, letter: Option<char>, value: Option<Vec<u8>>) -> Result<(), i32> {
        let value = value.unwrap_or_default();
        let text = String::from_utf8_lossy(&value).into_owned();
        match flag {
            Flag::Preset => {
                let digit = letter.and_then(|digit| digit.to_digit(10));
                self.preset = digit.unwrap_or(6);
            }
            Flag::Fast => self.preset = 0,
            Flag::Best => self.preset = 9,
            Flag::Extreme => self.extreme = true,
            Flag::Compress => self.xz.mode = Mode::Compress,
            Flag::Decompress => self.xz.mode = Mode::Decompress,
            Flag::Test => self.xz.mode = Mode::Test,
            Flag::List => self.xz.mode = Mode::List,
            Flag::Keep => self.xz.keep = true,
            Flag::Force => self.xz.force = true,
            Flag::Stdout => self.xz.to_stdout = true,
            Flag::Quiet => self.xz.verbosity = self.xz.verbosity.saturating_sub(1),
            Flag::Verbose => self.xz.verbosity = self.xz.verbosity.saturating_add(1).min(4),
            Flag::NoWarn => self.xz.no_warn = true,
            Flag::Suffix if value.is_empty() || value.contains(&b'/') => {
                return Err(self.fatal(&format!("{text}: Invalid filename suffix")));
            }
            Flag::Suffix => self.xz.suffix = Some(value),
            Flag::Format => {
                self.xz.format = match text.as_str() {
                    "auto" => Format::Auto,
                    "xz" => Format::Xz,
                    "lzma" | "alone" => Format::Lzma,
                    "raw" | "lzip" => return Err(self.fatal(&format!("--format={text} is not supported by this xz"))),
                    _ => return Err(self.fatal(&format!("{text}: Unknown file format type"))),
                }
            }
            Flag::Check => {
                self.xz.how.check_type = match text.as_str() {
                    "none" => CheckType::None,
                    "crc32" => CheckType::Crc32,
                    "crc64" => CheckType::Crc64,
                    "sha256" => CheckType::Sha256,
                    _ => return Err(self.fatal(&format!("{text}: Unsupported integrity check type"))),
                }
            }
            // Threads have no effect: compression uses one thread.
            Flag::Threads if text.strip_prefix('+').unwrap_or(&text).parse::<u32>().is_err() => {
                return Err(self.fatal(&format!("{text}: Value is not a non-negative decimal integer")));
            }
            Flag::LongHelp => return Err(i32::from(show((LINE.help() + LONG_ONLY).as_bytes()).is_err())),
            Flag::Version => {
                return Err(i32::from(show(b"xz (XZ Utils) 5.4.1\nliblzma 5.4.1\n").is_err()));
            }
            _ => {}
        }
        Ok(())
    }

    fn fatal(&self, message: &str) -> i32 {
        print_parts(&[format!("{}: {message}\n", self.xz.name).as_bytes()]);
        1
    }

    fn run(mut self) -> i32 {
        let mut how = preset(self.preset, self.extreme);
        // A dictionary as large as the memory would leave no memory for other data.
        while how.get_memory_usage() > available_kib() && how.dict_size > 4096 {
            how.dict_size /= 2;
        }
        self.xz.how.lzma_options = how;
        let mut files = self.files;
        if files.is_empty() {
            files.push(b"-".to_vec());
        }
        self.xz.run(&files)
    }
}

/// Options of a preset.
fn preset(level: u32, extreme: bool) -> LzmaOptions {
    let mut how = LzmaOptions::with_preset(level);
    if extreme {
        how.mode = EncodeMode::Normal;
        how.mf = MfType::Bt4;
        let short = matches!(level, 3 | 5);
        how.nice_len = if short { 192 } else { 273 };
        how.depth_limit = if short { 0 } else { 512 };
    }
    how
}
