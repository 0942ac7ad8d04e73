//! `zgrep`, `zdiff`, `zless` and related tools, which run other tools on decompressed files.

use tidebox_gnu::command::{Command, wait};
use tidebox_gnu::message::print_error;
use tidebox_gnu::tool::usage;
use tidebox_rt::{Errno, Fd};

use tidebox_gnu::tool::print;

/// Returns the decompressor of a tool.
fn unpacker(tool: &str) -> [&'static [u8]; 2] {
    match tool.as_bytes() {
        [b'x', b'z', ..] => [b"xz", b"-cdfq"],
        [b'b', b'z', ..] => [b"bzip2", b"-cdfq"],
        _ => [b"gzip", b"-cdfq"],
    }
}

/// Starts decompressing a file, or standard input for `-`; returns the process and its output.
fn unpack(tool: &str, file: &[u8]) -> Result<(u32, Fd), Errno> {
    let [program, flags] = unpacker(tool);
    let (read, write) = tidebox_rt::pipe()?;
    let words: &[&[u8]] = if file == b"-" { &[program, flags] } else { &[program, flags, b"--", file] };
    let descriptors: &[(Fd, Fd)] = &[(0, 0), (1, write), (2, 2)];
    let started = Command { descriptors, ..Command::new(words) }.spawn();
    // The reader sees the end only after all write ends are closed.
    let _ = tidebox_rt::close(write);
    started.map(|pid| (pid, read))
}

/// Reports that a program cannot be run.
fn cannot_run(tool: &str, program: &[u8], error: Errno) -> i32 {
    print_error(tool, &format!("{}: {}", String::from_utf8_lossy(program), error.text()));
    2
}

/// Options of `grep` that select files and patterns.
#[derive(Debug, Default)]
struct Grep {
    options: Vec<Vec<u8>>,
    has_pattern: bool,
    with_names: Option<bool>,
    lists: Option<char>,
    quiet: bool,
    operands: Vec<Vec<u8>>,
}

/// Options of `grep` that take a value.
const VALUES: &str = "ABCDXdefm";

impl Grep {
    fn read(arguments: Vec<Vec<u8>>) -> Result<Self, String> {
        let mut grep = Self::default();
        let mut words = arguments.into_iter();
        while let Some(word) = words.next() {
            match word.as_slice() {
                b"--" => {
                    grep.operands.extend(words.by_ref());
                    break;
                }
                [b'-', b'-', name @ ..] => {
                    grep.long(name)?;
                    grep.options.push(word);
                }
                [b'-', letters @ ..] if !letters.is_empty() => {
                    let takes = grep.letters(letters)?;
                    grep.options.push(word);
                    if takes {
                        grep.options.extend(words.next());
                    }
                }
                _ => grep.operands.push(word),
            }
        }
        Ok(grep)
    }

    fn long(&mut self, name: &[u8]) -> Result<(), String> {
        let end = name.iter().position(|byte| *byte == b'=').unwrap_or(name.len());
        match name.get(..end).unwrap_or_default() {
            b"regexp" | b"file" => self.has_pattern = true,
            b"with-filename" => self.with_names = Some(true),
            b"no-filename" => self.with_names = Some(false),
            b"files-with-matches" => self.lists = Some('l'),
            b"files-without-match" => self.lists = Some('L'),
            b"quiet" | b"silent" => self.quiet = true,
            b"recursive" | b"dereference-recursive" => {
                return Err(format!("--{}: option not supported", String::from_utf8_lossy(name)));
            }
            _ => {}
        }
        Ok(())
    }

    /// Parses a group of short options; true if the value of the last one is the next argument.
    fn letters(&mut self, letters: &[u8]) -> Result<bool, String> {
        for (at, letter) in letters.iter().enumerate() {
            match letter {
                b'e' | b'f' => self.has_pattern = true,
                b'H' => self.with_names = Some(true),
                b'h' => self.with_names = Some(false),
                b'l' | b'L' => self.lists = Some(char::from(*letter)),
                b'q' => self.quiet = true,
                b'r' | b'R' => return Err(format!("-{}: option not supported", char::from(*letter))),
                _ => {}
            }
            if VALUES.contains(char::from(*letter)) {
                return Ok(at + 1 == letters.len());
            }
        }
        Ok(false)
    }
}

/// `zgrep` and its variants.
pub fn grep(tool: &'static str, arguments: Vec<Vec<u8>>) -> i32 {
    if arguments.first().is_some_and(|first| first == b"--help") {
        let text = format!(
            "Usage: {tool} [OPTION]... [-e] PATTERN [FILE]...\n\
             Look for instances of PATTERN in the input FILEs, using their\n\
             uncompressed contents if they are compressed.\n\n\
             OPTIONs are the same as for 'grep'.\n"
        );
        return print(tool, text.as_bytes());
    }
    let mut grep = match Grep::read(arguments) {
        Ok(grep) => grep,
        Err(message) => return usage(tool, &message, 2),
    };
    if !grep.has_pattern {
        if grep.operands.is_empty() {
            return usage(tool, &format!("missing pattern; try '{tool} --help' for help"), 2);
        }
        let pattern = grep.operands.remove(0);
        grep.options.extend([b"-e".to_vec(), pattern]);
    }
    if grep.operands.is_empty() {
        grep.operands.push(b"-".to_vec());
    }
    let named = grep.with_names.unwrap_or(grep.operands.len() > 1);
    let mut code = 1;
    for file in &grep.operands {
        let found = grep.one(tool, file, named);
        code = match (found, code) {
            (0, 1) | (2, _) => found,
            _ => code,
        };
        if found == 0 && grep.quiet {
            break;
        }
    }
    code
}

impl Grep {
    fn one(&self, tool: &str, file: &[u8], named: bool) -> i32 {
        if file != b"-"
            && let Err(error) = tidebox_rt::stat(file, true)
        {
            let [program, _] = unpacker(tool);
            print_error(
                &String::from_utf8_lossy(program),
                &format!("{}: {}", String::from_utf8_lossy(file), error.text()),
            );
            return 2;
        }
        let (pid, read) = match unpack(tool, file) {
            Ok(started) => started,
            Err(error) => return cannot_run(tool, unpacker(tool)[0], error),
        };
        let shown: &[u8] = if file == b"-" { b"(standard input)" } else { file };
        let label = [b"--label=", shown].concat();
        let program: &[u8] = if tool.contains("egrep") {
            b"egrep"
        } else if tool.contains("fgrep") {
            b"fgrep"
        } else {
            b"grep"
        };
        let mut words: Vec<&[u8]> = vec![program];
        words.extend(self.options.iter().map(Vec::as_slice));
        words.push(if named { b"-H" } else { b"-h" });
        words.push(&label);
        let descriptors: &[(Fd, Fd)] = &[(0, read), (1, 1), (2, 2)];
        let ended = Command { descriptors, ..Command::new(&words) }.run();
        let _ = tidebox_rt::close(read);
        // The decompressor is killed by SIGPIPE if the reader exits early, which is not an error.
        let unpacked = wait(pid).map_or(2, |status| status.code());
        match ended {
            Ok(status) if unpacked != 0 && unpacked < 128 => i32::from(status.code()).max(2),
            Ok(status) => i32::from(status.code()),
            Err(error) => cannot_run(tool, program, error),
        }
    }
}

/// `zdiff`, `zcmp` and their variants.
pub fn compare(tool: &'static str, arguments: Vec<Vec<u8>>) -> i32 {
    let program: &[u8] = if tool.ends_with("cmp") { b"cmp" } else { b"diff" };
    if arguments.first().is_some_and(|first| first == b"--help") {
        let text = format!(
            "Usage: {tool} [OPTION]... FILE1 [FILE2]\nCompare FILE1 to FILE2, using their uncompressed contents if they are\n\
             compressed.  If FILE2 is omitted, then the files compared are FILE1 and\nFILE1 from which the compression \
             format suffix has been stripped.\n"
        );
        return print(tool, text.as_bytes());
    }
    let is_option = |word: &Vec<u8>| word.len() > 1 && word.starts_with(b"-");
    let split = arguments.iter().position(|word| !is_option(word)).unwrap_or(arguments.len());
    let (options, files) = arguments.split_at_checked(split).unwrap_or_default();
    let stripped;
    let (first, second) = match files {
        [first, second] => (first, second),
        [only] => {
            let suffixes: [&[u8]; 6] = [b".gz", b".z", b".Z", b".bz2", b".xz", b".lzma"];
            let Some(base) = suffixes.iter().find_map(|suffix| only.strip_suffix(*suffix)) else {
                return usage(
                    tool,
                    &format!("{}: unknown compressed file extension", String::from_utf8_lossy(only)),
                    2,
                );
            };
            stripped = base.to_vec();
            (only, &stripped)
        }
        _ => return usage(tool, "invalid number of operands", 2),
    };
    let (left, right) = match (unpack(tool, first), unpack(tool, second)) {
        (Ok(left), Ok(right)) => (left, right),
        (Err(error), _) | (_, Err(error)) => return cannot_run(tool, unpacker(tool)[0], error),
    };
    let mut words: Vec<&[u8]> = vec![program];
    words.extend(options.iter().map(Vec::as_slice));
    words.extend([&b"/dev/fd/5"[..], b"-"]);
    let descriptors = [(0, right.1), (1, 1), (2, 2), (tidebox_rt::fd_of_unix(5), left.1)];
    let ended = Command { descriptors: &descriptors, ..Command::new(&words) }.run();
    let _ = (tidebox_rt::close(left.1), tidebox_rt::close(right.1));
    let unpacked = [left.0, right.0].map(|pid| wait(pid).map_or(2, |status| status.code()));
    match ended {
        Ok(_) if unpacked.iter().any(|code| *code != 0 && *code < 128) => 2,
        Ok(status) => i32::from(status.code()),
        Err(error) => cannot_run(tool, program, error),
    }
}

/// `zless`, `zmore` and their variants: without a terminal they print.
pub fn page(tool: &'static str, arguments: Vec<Vec<u8>>) -> i32 {
    let files: Vec<&[u8]> = arguments.iter().filter(|word| !word.starts_with(b"-")).map(Vec::as_slice).collect();
    let [program, flags] = unpacker(tool);
    let mut words: Vec<&[u8]> = vec![program, flags];
    if !files.is_empty() {
        words.push(b"--");
    }
    words.extend(files);
    match Command::new(&words).run() {
        Ok(status) => i32::from(status.code()),
        Err(error) => cannot_run(tool, program, error),
    }
}
