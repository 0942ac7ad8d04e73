//! `hexdump` and `hd`: dumps by formats.

mod format;
mod show;

use tidebox_gnu::getopt::{Item, Parser, Spec, Takes, long};
use tidebox_gnu::stream::{Input, Output};
use tidebox_gnu::tool::usage;
use tidebox_rt::Errno;

pub(crate) use format::parse;

use crate::cannot;

const HELP: &str = "\
Usage: hexdump [OPTION]... [FILE]...
Dumps bytes in a format.

  -b, -c              bytes as octal numbers, as characters
  -C, --canonical     bytes in hexadecimal, with characters beside them
  -d, -o, -x          words of two bytes: decimal, octal, hexadecimal
  -L, --color[=WHEN]  accepted; nobody looks, so that nothing is coloured
  -e, --format=FORMAT a format of one's own, such as '8/1 \"%02x \" \"\\n\"'
  -f, --format-file=FILE  formats from a file
  -n, --length=N      only N bytes
  -s, --skip=N        without the first N bytes
  -v, --no-squeezing  lines that repeat, too
  -h, --help, -V, --version
";

/// Formats of the option letters.
const ADDRESS: &str = "\"%07.7_Ax\\n\"";
const DEFAULT: &str = "\"%07.7_ax \" 8/2 \"%04x \" \"\\n\"";
const CANONICAL: [&str; 3] =
    ["\"%08.8_Ax\\n\"", "\"%08.8_ax  \" 8/1 \"%02x \" \"  \" 8/1 \"%02x \" ", "\"  |\" 16/1 \"%_p\" \"|\\n\""];

fn format_of(letter: char) -> Vec<&'static str> {
    let line = match letter {
        'b' => "\"%07.7_ax \" 16/1 \"%03o \" \"\\n\"",
        'c' => "\"%07.7_ax \" 16/1 \"%3_c \" \"\\n\"",
        'd' => "\"%07.7_ax \" 8/2 \"  %05u \" \"\\n\"",
        'o' => "\"%07.7_ax \" 8/2 \" %06o \" \"\\n\"",
        'x' => "\"%07.7_ax \" 8/2 \"   %04x \" \"\\n\"",
        _ => return CANONICAL.to_vec(),
    };
    vec![ADDRESS, line]
}

/// `hd`.
pub fn canonical(arguments: Vec<Vec<u8>>) -> i32 {
    run("hd", arguments, CANONICAL.iter().map(|text| text.as_bytes().to_vec()).collect())
}

/// `hexdump`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    run("hexdump", arguments, Vec::new())
}

/// A number with a unit: `512`, `0x10`, `2K`, `1MiB`, `3MB`.
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

fn run(tool: &str, arguments: Vec<Vec<u8>>, mut texts: Vec<Vec<u8>>) -> i32 {
    let long = [
        long("one-byte-octal", Takes::Nothing, 'b'),
        long("one-byte-char", Takes::Nothing, 'c'),
        long("canonical", Takes::Nothing, 'C'),
        long("two-bytes-decimal", Takes::Nothing, 'd'),
        long("two-bytes-octal", Takes::Nothing, 'o'),
        long("two-bytes-hex", Takes::Nothing, 'x'),
        long("format", Takes::Value, 'e'),
        long("format-file", Takes::Value, 'f'),
        long("color", Takes::Maybe, 'L'),
        long("length", Takes::Value, 'n'),
        long("skip", Takes::Value, 's'),
        long("no-squeezing", Takes::Nothing, 'v'),
        long("help", Takes::Nothing, 'h'),
        long("version", Takes::Nothing, 'V'),
    ];
    let (mut length, mut skip, mut verbose, mut colors) = (u64::MAX, 0, false, false);
    let mut files = Vec::new();
    let mut parser = Parser::new(Spec { short: "bcCde:f:L::n:os:vxhV", long: &long, permute: true }, arguments);
    let complain = |message: &str| {
        tidebox_gnu::message::print_error(tool, message);
        1
    };
    loop {
        let (key, given) = match parser.next_item() {
            Err(message) => return usage(tool, &message, 1),
            Ok(None) => break,
            Ok(Some(Item::Operand(file))) => {
                files.push(file);
                continue;
            }
            Ok(Some(Item::Option(key, value))) => (key, value),
        };
        let is_bare = given.is_none();
        let value = given.unwrap_or_default();
        let shown = || String::from_utf8_lossy(&value).into_owned();
        match key {
            'e' => texts.push(value),
            'f' => match tidebox_gnu::stream::read_all(&value) {
                Ok(text) => {
                    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
                    texts.extend(lines.filter(|line| !line.is_empty() && !line.starts_with(b"#")).map(<[u8]>::to_vec));
                }
                Err(errno) => return complain(&format!("can't read {}: {}", shown(), errno.text())),
            },
            'n' | 's' => {
                let Some(number) = size(&value) else {
                    let what = if key == 'n' { "failed to parse length" } else { "failed to parse offset" };
                    return complain(&format!("{what}: '{}': Invalid argument", shown()));
                };
                if key == 'n' { length = number } else { skip = number }
            }
            'L' => match value.strip_prefix(b"=").unwrap_or(&value) {
                b"always" => colors = true,
                b"auto" | b"never" => colors = false,
                b"" if is_bare => colors = false,
                mode => {
                    return complain(&format!("unsupported color mode: '{}'", String::from_utf8_lossy(mode)));
                }
            },
            'v' => verbose = true,
            'h' | 'V' => {
                let mut out = Output::standard();
                let version = format!("{tool} from util-linux 2.38.1\n");
                out.push(if key == 'h' { HELP.as_bytes() } else { version.as_bytes() });
                return out.finish(tool, 0);
            }
            letter => texts.extend(format_of(letter).iter().map(|text| text.as_bytes().to_vec())),
        }
    }
    if texts.is_empty() {
        texts = vec![ADDRESS.as_bytes().to_vec(), DEFAULT.as_bytes().to_vec()];
    }
    if colors && texts.iter().any(|text| text.windows(3).any(|part| part == b"_L[")) {
        return complain("colors of a format (_L) are not supported here");
    }
    let format = match parse(&texts) {
        Ok(format) => format,
        Err(message) => return complain(&message),
    };
    let mut out = Output::standard();
    let mut source = Source { tool, files: files.into_iter(), current: None, opened: 0, failed: false, left: length };
    let asked = source.files.len();
    if asked == 0 {
        source.current = Some(Input::standard());
        source.opened = 1;
    }
    let begin = source.skip(skip);
    show::show(&format, &mut source, begin, verbose, &mut out);
    // With a length of 0, open no file.
    if asked > 0 && source.opened == 0 && length > 0 {
        out.flush_now();
        complain("all input file arguments failed");
    }
    let code = i32::from(source.failed);
    out.finish(tool, code)
}

/// All files, one after the other, as one stream.
struct Source<'a> {
    tool: &'a str,
    files: std::vec::IntoIter<Vec<u8>>,
    current: Option<Input>,
    opened: usize,
    failed: bool,
    /// As many bytes as are still to be read.
    left: u64,
}

impl Source<'_> {
    /// Reads the next chunk; empty at the end.
    fn piece(&mut self, out: &mut Output) -> Vec<u8> {
        while self.left > 0 {
            if let Some(input) = &mut self.current {
                match input.chunk() {
                    Ok([]) => self.current = None,
                    Ok(piece) => {
                        let count = piece.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
                        let piece = piece.get(..count).unwrap_or_default().to_vec();
                        input.consume(count);
                        self.left -= count as u64;
                        return piece;
                    }
                    Err(errno) => {
                        self.current = None;
                        self.complain(b"read failed", errno, out);
                    }
                }
                continue;
            }
            let Some(name) = self.files.next() else {
                break;
            };
            match Input::file(&name) {
                Ok(input) => (self.current, self.opened) = (Some(input), self.opened + 1),
                Err(errno) => self.complain(&name, errno, out),
            }
        }
        Vec::new()
    }

    fn complain(&mut self, name: &[u8], errno: Errno, out: &mut Output) {
        out.flush_now();
        cannot(self.tool, name, errno);
        self.failed = true;
    }

    /// Skips bytes and returns how many there were.
    fn skip(&mut self, count: u64) -> u64 {
        let mut out = Output::standard();
        let (left, mut skipped) = (std::mem::replace(&mut self.left, count), 0);
        while skipped < count {
            let piece = self.piece(&mut out);
            if piece.is_empty() {
                break;
            }
            skipped += piece.len() as u64;
        }
        self.left = left;
        skipped
    }
}
