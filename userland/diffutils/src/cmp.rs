//! `cmp`: compares two files byte by byte.

use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_rt::FileKind;

use crate::file::{File, same};
use crate::output::Output;
use crate::{DIFFERENT, Failure, TROUBLE};

const USAGE: &str = "\
Usage: cmp [OPTION]... FILE1 [FILE2 [SKIP1 [SKIP2]]]
Compares two files byte by byte. FILE2 is standard input when it is missing, and where a FILE is -.

";

const NOTES: &str = "\n\
Numbers may end in kB (1000), K (1024), MB, M, GB, G. Exit code: 0 same, 1 different, 2 trouble.
";

tidebox_gnu::options! {
    /// Options of `cmp`.
    enum Flag {
        PrintBytes = "-b, --print-bytes | -c", "show the bytes that differ";
        IgnoreInitial = "-i, --ignore-initial=SKIP", "skip the first SKIP bytes of both; SKIP1:SKIP2 of each";
        Verbose = "-l, --verbose", "list every byte that differs";
        Bytes = "-n, --bytes=LIMIT", "compare at most LIMIT bytes";
        Quiet = "-s, --quiet, --silent", "print nothing; only set the exit code";
        Help = "--help", "";
        Version = "-v, --version", "";
    }
}

const VERSION: &str =
    "cmp (GNU diffutils) 3.8\nTidebox's cmp does what that version does. It is free under MIT or Apache-2.0.\n";

const LINE: Syntax<'_, Flag> = Syntax { notes: NOTES, version: VERSION, ..Syntax::new("cmp", USAGE, 29) };

const CHUNK: usize = 64 * 1024;

#[derive(Debug, Default)]
struct Options {
    shows_bytes: bool,
    all: bool,
    silent: bool,
    skip: [u64; 2],
    limit: Option<u64>,
}

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> Result<i32, Failure> {
    let mut output = Output::default();
    let mut options = Options::default();
    let operands = LINE.parse(arguments, |key, value| {
        match key {
            Flag::PrintBytes => options.shows_bytes = true,
            Flag::Verbose => options.all = true,
            Flag::Quiet => options.silent = true,
            Flag::IgnoreInitial => options.skip = skips(&value)?,
            _ => options.limit = Some(count("bytes", &value)?),
        }
        Ok::<_, Failure>(())
    })?;
    if options.all && options.silent {
        return Err(Failure::Usage("options -l and -s are incompatible".to_owned()));
    }
    let mut operands = operands.into_iter();
    let Some(first) = operands.next() else {
        return Err(Failure::Usage("missing operand after 'cmp'".to_owned()));
    };
    let second = operands.next().unwrap_or_else(|| b"-".to_vec());
    for skip in &mut options.skip {
        if let Some(operand) = operands.next() {
            *skip = count("ignore-initial", &operand)?;
        }
    }
    if let Some(extra) = operands.next() {
        return Err(Failure::Usage(format!("extra operand '{}'", String::from_utf8_lossy(&extra))));
    }
    let code = compare(&options, [&first, &second], &mut output)?;
    output.flush()?;
    Ok(code)
}

fn skips(text: &[u8]) -> Result<[u64; 2], Failure> {
    match memchr::memchr(b':', text) {
        Some(at) => Ok([
            count("ignore-initial", text.get(..at).unwrap_or_default())?,
            count("ignore-initial", text.get(at + 1..).unwrap_or_default())?,
        ]),
        None => count("ignore-initial", text).map(|skip| [skip, skip]),
    }
}

fn count(option: &str, text: &[u8]) -> Result<u64, Failure> {
    number(text).ok_or_else(|| Failure::Usage(format!("invalid --{option} value '{}'", String::from_utf8_lossy(text))))
}

/// Parses a number of bytes with its unit; values beyond 64 bits saturate.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, unit) = text.split_at_checked(digits)?;
    let unit = match unit {
        "" => 1,
        "kB" => 1000,
        "K" | "k" | "KiB" => 1 << 10,
        "MB" => 1_000_000,
        "M" | "MiB" => 1 << 20,
        "GB" => 1_000_000_000,
        "G" | "GiB" => 1 << 30,
        _ => return None,
    };
    if digits.is_empty() {
        return None;
    }
    Some(digits.parse().unwrap_or(u64::MAX).saturating_mul(unit))
}

fn compare(options: &Options, names: [&[u8]; 2], output: &mut Output) -> Result<i32, Failure> {
    let mut files = Vec::new();
    for (name, skip) in names.iter().zip(options.skip) {
        let file = File::open(name).and_then(|file| file.skip(skip).map(|()| file));
        match file {
            Ok(file) => files.push(file),
            Err(errno) => {
                // `-s` also hides the error of a missing file, as in GNU.
                if !options.silent {
                    print_error("cmp", &format!("{}: {}", String::from_utf8_lossy(name), errno.text()));
                }
                return Ok(TROUBLE);
            }
        }
    }
    let [a, b] = files.as_slice() else {
        return Ok(TROUBLE);
    };
    let one_input = names == [b"-", b"-"];
    if one_input || (same(&a.stat, &b.stat) && options.skip[0] == options.skip[1]) {
        return Ok(0);
    }
    let mut walk =
        Walk { options, names, byte: 0, line: 1, line_start: true, width: width(options, a, b), differs: false };
    let mut buffers = [vec![0; CHUNK], vec![0; CHUNK]];
    loop {
        let left = options.limit.map_or(u64::MAX, |limit| limit.saturating_sub(walk.byte));
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(CHUNK);
        let mut filled = [0; 2];
        for (index, file) in [a, b].into_iter().enumerate() {
            let buffer = buffers[index].get_mut(..wanted).unwrap_or_default();
            filled[index] = file.fill(buffer).map_err(|errno| {
                Failure::Other(format!("{}: {}", String::from_utf8_lossy(names[index]), errno.text()))
            })?;
        }
        let chunks = [buffers[0].get(..filled[0]).unwrap_or_default(), buffers[1].get(..filled[1]).unwrap_or_default()];
        if let Some(code) = walk.step(chunks, wanted, output)? {
            return Ok(code);
        }
    }
}

/// Number of digits of the largest byte number.
fn width(options: &Options, a: &File, b: &File) -> usize {
    let mut largest = options.limit.unwrap_or(i64::MAX as u64);
    for (file, skip) in [a, b].into_iter().zip(options.skip) {
        if file.stat.kind() == FileKind::File {
            largest = largest.min(file.stat.size.saturating_sub(skip));
        }
    }
    largest.to_string().len()
}

struct Walk<'a> {
    options: &'a Options,
    names: [&'a [u8]; 2],
    /// Bytes compared.
    byte: u64,
    line: u64,
    /// True if the last byte compared is a line end.
    line_start: bool,
    width: usize,
    differs: bool,
}

impl Walk<'_> {
    /// Compares two buffers; returns the exit code if the comparison ends.
    fn step(&mut self, chunks: [&[u8]; 2], wanted: usize, output: &mut Output) -> Result<Option<i32>, Failure> {
        let [a, b] = chunks;
        let common = a.len().min(b.len());
        let (head_a, head_b) = (a.get(..common).unwrap_or_default(), b.get(..common).unwrap_or_default());
        let mut from = 0;
        while let Some(at) = difference(head_a, head_b, from) {
            self.pass(head_a.get(from..at).unwrap_or_default());
            let (Some(&x), Some(&y)) = (head_a.get(at), head_b.get(at)) else {
                break;
            };
            self.differs = true;
            if self.options.silent {
                return Ok(Some(DIFFERENT));
            }
            self.report(x, y, output)?;
            if !self.options.all {
                return Ok(Some(DIFFERENT));
            }
            self.pass(&[x]);
            from = at + 1;
        }
        self.pass(head_a.get(from..).unwrap_or_default());
        if a.len() != b.len() {
            if !self.options.silent {
                output.flush()?;
                print_error("cmp", &self.end_message(if a.len() < b.len() { self.names[0] } else { self.names[1] }));
            }
            return Ok(Some(DIFFERENT));
        }
        Ok((common < wanted || wanted == 0).then_some(if self.differs { DIFFERENT } else { 0 }))
    }

    fn pass(&mut self, bytes: &[u8]) {
        self.byte += bytes.len() as u64;
        self.line += memchr::memchr_iter(b'\n', bytes).count() as u64;
        if let Some(last) = bytes.last() {
            self.line_start = *last == b'\n';
        }
    }

    fn report(&self, a: u8, b: u8, output: &mut Output) -> Result<(), Failure> {
        let number = self.byte + 1;
        if self.options.all {
            let width = self.width;
            let text = match self.options.shows_bytes {
                true => format!("{number:>width$} {a:>3o} {:<4} {b:>3o} {}\n", letter(a), letter(b)),
                false => format!("{number:>width$} {a:>3o} {b:>3o}\n"),
            };
            return output.put(text.as_bytes());
        }
        output.put(&[self.names[0], b" ", self.names[1]].concat())?;
        // POSIX prints `char`, and so does GNU in the POSIX locale unless bytes are shown.
        let unit = if self.options.shows_bytes || !posix_locale() { "byte" } else { "char" };
        let mut text = format!(" differ: {unit} {number}, line {}", self.line);
        if self.options.shows_bytes {
            text.push_str(&format!(" is {a:>3o} {} {b:>3o} {}", letter(a), letter(b)));
        }
        text.push('\n');
        output.put(text.as_bytes())
    }

    fn end_message(&self, name: &[u8]) -> String {
        let name = String::from_utf8_lossy(name);
        match (self.byte, self.options.all, self.line_start) {
            (0, _, _) => format!("EOF on {name} which is empty"),
            (byte, true, _) => format!("EOF on {name} after byte {byte}"),
            (byte, false, true) => format!("EOF on {name} after byte {byte}, line {}", self.line - 1),
            (byte, false, false) => format!("EOF on {name} after byte {byte}, in line {}", self.line),
        }
    }
}

/// Returns whether messages are in the POSIX locale.
fn posix_locale() -> bool {
    let set = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let named = ["LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(set);
    named.is_none_or(|name| matches!(name.as_str(), "C" | "POSIX"))
}

/// Returns the first difference of two texts of equal length, starting at an offset. Skips equal blocks.
fn difference(a: &[u8], b: &[u8], from: usize) -> Option<usize> {
    const BLOCK: usize = 256;
    let (mut rest_a, mut rest_b) = (a.get(from..)?, b.get(from..)?);
    let mut at = from;
    while let (Some((block_a, after_a)), Some((block_b, after_b))) =
        (rest_a.split_at_checked(BLOCK), rest_b.split_at_checked(BLOCK))
    {
        if block_a != block_b {
            break;
        }
        (rest_a, rest_b) = (after_a, after_b);
        at += BLOCK;
    }
    rest_a.iter().zip(rest_b).position(|(a, b)| a != b).map(|found| at + found)
}

/// Formats a byte like `cat -A`.
pub(crate) fn letter(byte: u8) -> String {
    let mut text = String::new();
    if byte >= 0x80 {
        text.push_str("M-");
    }
    match byte & 0x7f {
        low @ 0..=31 => {
            text.push('^');
            text.push(char::from(low + 64));
        }
        127 => text.push_str("^?"),
        low => text.push(char::from(low)),
    }
    text
}
