//! `hexdump` and `hd`: dumps by formats.

mod format;
mod show;

use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::options::{ParsedOption, Syntax};
use tidebox_gnu::stream::{Input, Output};
use tidebox_rt::Errno;

pub(crate) use format::parse;

use crate::cannot;

const USAGE: &str = "\
Usage: hexdump [OPTION]... [FILE]...
Dumps bytes in a format.

";

tidebox_gnu::options! {
    /// Options of `hexdump`.
    enum Flag {
        OctalBytes = "-b, --one-byte-octal", "bytes as octal numbers";
        Characters = "-c, --one-byte-char", "bytes as characters";
        Canonical = "-C, --canonical", "bytes in hexadecimal, with characters beside them";
        Decimal = "-d, --two-bytes-decimal", "words of two bytes in decimal";
        Octal = "-o, --two-bytes-octal", "words of two bytes in octal";
        Hexadecimal = "-x, --two-bytes-hex", "words of two bytes in hexadecimal";
        Color = "-L[WHEN], --color[=WHEN]", "accepted; the output has no colors";
        Format = "-e, --format=FORMAT", "a format such as '8/1 \"%02x \" \"\\n\"'";
        FormatFile = "-f, --format-file=FILE", "formats from a file";
        Length = "-n, --length=N", "only N bytes";
        Skip = "-s, --skip=N", "without the first N bytes";
        NoSqueezing = "-v, --no-squeezing", "repeated lines, too";
        Help = "-h, --help", "show this help";
        Version = "-V, --version", "show the version";
    }
}

/// Formats of the options.
const ADDRESS: &str = "\"%07.7_Ax\\n\"";
const DEFAULT: &str = "\"%07.7_ax \" 8/2 \"%04x \" \"\\n\"";
const CANONICAL: [&str; 3] =
    ["\"%08.8_Ax\\n\"", "\"%08.8_ax  \" 8/1 \"%02x \" \"  \" 8/1 \"%02x \" ", "\"  |\" 16/1 \"%_p\" \"|\\n\""];

fn format_of(flag: Flag) -> Vec<&'static str> {
    let line = match flag {
        Flag::OctalBytes => "\"%07.7_ax \" 16/1 \"%03o \" \"\\n\"",
        Flag::Characters => "\"%07.7_ax \" 16/1 \"%3_c \" \"\\n\"",
        Flag::Decimal => "\"%07.7_ax \" 8/2 \"  %05u \" \"\\n\"",
        Flag::Octal => "\"%07.7_ax \" 8/2 \" %06o \" \"\\n\"",
        Flag::Hexadecimal => "\"%07.7_ax \" 8/2 \"   %04x \" \"\\n\"",
        _ => return CANONICAL.to_vec(),
    };
    vec![ADDRESS, line]
}

/// Runs `hd`.
pub fn canonical(arguments: Vec<Vec<u8>>) -> i32 {
    run("hd", arguments, Some(Flag::Canonical)).into_exit_code("hd")
}

/// Runs `hexdump`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    run("hexdump", arguments, None).into_exit_code("hexdump")
}

/// Parses a number with a unit: `512`, `0x10`, `2K`, `1MiB`, `3MB`.
pub(crate) fn size(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let (radix, digits) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => (16, hex),
        None if text.starts_with('0') && text.len() > 1 => (8, text),
        None => (10, text),
    };
    let end = digits.find(|letter: char| !letter.is_digit(radix)).unwrap_or(digits.len());
    let number = u64::from_str_radix(digits.get(..end)?, radix).ok()?;
    let suffix = digits.get(end..)?;
    let mut letters = suffix.chars();
    let Some(unit) = letters.next() else {
        return Some(number);
    };
    let power = u32::try_from("KMGTPEZY".find(unit.to_ascii_uppercase())? + 1).ok()?;
    let base: u64 = match letters.as_str() {
        "" | "iB" => 1024,
        "B" => 1000,
        _ => return None,
    };
    number.checked_mul(base.checked_pow(power)?)
}

fn failure(message: String) -> ToolResult {
    ToolResult::Failure(message, 1)
}

/// Parsed options.
struct Options {
    texts: Vec<Vec<u8>>,
    length: u64,
    skip: u64,
    verbose: bool,
}

impl Options {
    fn set(&mut self, option: ParsedOption<Flag>) -> Result<(), ToolResult> {
        let ParsedOption { id, value, .. } = option;
        let shown = || String::from_utf8_lossy(&value).into_owned();
        let number = |what: &str| {
            size(&value).ok_or_else(|| failure(format!("failed to parse {what}: '{}': Invalid argument", shown())))
        };
        match id {
            Flag::Format => self.texts.push(value),
            Flag::FormatFile => {
                let text = tidebox_gnu::stream::read_all(&value)
                    .map_err(|errno| failure(format!("can't read {}: {}", shown(), errno.text())))?;
                let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
                self.texts.extend(lines.filter(|line| !line.is_empty() && !line.starts_with(b"#")).map(<[u8]>::to_vec));
            }
            Flag::Length => self.length = number("length")?,
            Flag::Skip => self.skip = number("offset")?,
            Flag::Color => match value.strip_prefix(b"=").unwrap_or(&value) {
                b"always" | b"auto" | b"never" | b"" => {}
                mode => {
                    return Err(failure(format!("unsupported color mode: '{}'", String::from_utf8_lossy(mode))));
                }
            },
            Flag::NoSqueezing => self.verbose = true,
            flag => self.add(flag),
        }
        Ok(())
    }

    fn add(&mut self, flag: Flag) {
        self.texts.extend(format_of(flag).iter().map(|text| text.as_bytes().to_vec()));
    }
}

fn run(tool: &str, arguments: Vec<Vec<u8>>, format: Option<Flag>) -> Result<i32, ToolResult> {
    let version = format!("{tool} from util-linux 2.38.1\n");
    let syntax = Syntax { version: &version, ..Syntax::new(tool, USAGE, 32) };
    let mut options = Options { texts: Vec::new(), length: u64::MAX, skip: 0, verbose: false };
    format.into_iter().for_each(|flag| options.add(flag));
    let files = syntax.parse_given(arguments, |option| options.set(option))?;
    if options.texts.is_empty() {
        options.texts = vec![ADDRESS.as_bytes().to_vec(), DEFAULT.as_bytes().to_vec()];
    }
    let format = parse(&options.texts).map_err(failure)?;
    let mut out = Output::standard();
    let left = options.length;
    let mut source = Source { tool, files: files.into_iter(), current: None, opened: 0, failed: false, left };
    let files = source.files.len();
    if files == 0 {
        source.current = Some(Input::standard());
        source.opened = 1;
    }
    let begin = source.skip(options.skip);
    show::show(&format, &mut source, begin, options.verbose, &mut out);
    // With a length of 0, no file is opened.
    if files > 0 && source.opened == 0 && options.length > 0 {
        out.flush_now();
        tidebox_gnu::message::print_error(tool, "all input file arguments failed");
    }
    Ok(out.finish(tool, i32::from(source.failed)))
}

/// Concatenation of all files.
struct Source<'a> {
    tool: &'a str,
    files: std::vec::IntoIter<Vec<u8>>,
    current: Option<Input>,
    opened: usize,
    failed: bool,
    /// Number of bytes left to read.
    left: u64,
}

impl Source<'_> {
    /// Reads the next chunk; empty at the end.
    fn chunk(&mut self, out: &mut Output) -> Vec<u8> {
        while self.left > 0 {
            if let Some(input) = &mut self.current {
                match input.chunk() {
                    Ok([]) => self.current = None,
                    Ok(chunk) => {
                        let count = chunk.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
                        let chunk = chunk.get(..count).unwrap_or_default().to_vec();
                        input.consume(count);
                        self.left -= count as u64;
                        return chunk;
                    }
                    Err(errno) => {
                        self.current = None;
                        self.report(b"read failed", errno, out);
                    }
                }
                continue;
            }
            let Some(name) = self.files.next() else {
                break;
            };
            match Input::file(&name) {
                Ok(input) => (self.current, self.opened) = (Some(input), self.opened + 1),
                Err(errno) => self.report(&name, errno, out),
            }
        }
        Vec::new()
    }

    fn report(&mut self, name: &[u8], errno: Errno, out: &mut Output) {
        out.flush_now();
        cannot(self.tool, name, errno);
        self.failed = true;
    }

    /// Skips bytes and returns how many there were.
    fn skip(&mut self, count: u64) -> u64 {
        let mut out = Output::standard();
        let (left, mut skipped) = (std::mem::replace(&mut self.left, count), 0);
        while skipped < count {
            let chunk = self.chunk(&mut out);
            if chunk.is_empty() {
                break;
            }
            skipped += chunk.len() as u64;
        }
        self.left = left;
        skipped
    }
}
