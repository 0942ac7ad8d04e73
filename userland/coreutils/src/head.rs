//! `head`: prints the start of files. The file offset stays after the printed part, for the next reader.

use std::collections::VecDeque;

use memchr::{memchr_iter, memrchr};
use tidebox_gnu::message::{print_error, quote_path, quote_value};
use tidebox_gnu::options::{ParsedOption, Syntax};
use tidebox_rt::{Errno, FileKind};

use crate::cat::write;
use crate::common::Failure;
use crate::common::follow;
use crate::common::input::{CHUNK, Input};
use crate::common::number::amount;

const USAGE: &str = "\
Usage: head [OPTION]... [FILE]...
Print the first 10 lines of each FILE to standard output.
With more than one FILE, precede each with a header giving the file name.

With no FILE, or when FILE is -, read standard input.

Mandatory arguments to long options are mandatory for short options too.
";

const NOTES: &str = "      --help        display this help and exit
      --version     output version information and exit

NUM may have a multiplier suffix:
b 512, kB 1000, K 1024, MB 1000*1000, M 1024*1024,
GB 1000*1000*1000, G 1024*1024*1024, and so on for T, P, E, Z, Y.
Binary prefixes can be used, too: KiB=K, MiB=M, and so on.
";

tidebox_gnu::options! {
    /// Options of `head`.
    enum Flag {
        Bytes = "-c, --bytes=[-]NUM",
            "print the first NUM bytes of each file;\n  with the leading '-', print all but the last\n  NUM bytes of each file";
        Lines = "-n, --lines=[-]NUM",
            "print the first NUM lines instead of the first 10;\n  with the leading '-', print all but the last\n  NUM lines of each file";
        Quiet = "-q, --quiet, --silent", "never print headers giving file names";
        Verbose = "-v, --verbose", "always print headers giving file names";
        ZeroTerminated = "-z, --zero-terminated", "line delimiter is NUL, not newline";
        Digit = "-0 ... -9", "";
    }
}

/// Bytes of the first reads, as in GNU: bytes read from a pipe cannot be returned to it.
const FIRST_READ: usize = 8192;

/// Number of reads before the buffer grows.
const SMALL_READS: usize = 8;

#[derive(Debug)]
struct Options {
    bytes: bool,
    /// Print all but the last `count` lines or bytes.
    all_but: bool,
    count: u64,
    end: u8,
    headers: Option<bool>,
}

/// Error of printing one file.
enum PrintError {
    Read(Errno),
    Write(Failure),
}

impl From<Failure> for PrintError {
    fn from(failure: Failure) -> Self {
        Self::Write(failure)
    }
}

impl From<Errno> for PrintError {
    fn from(errno: Errno) -> Self {
        Self::Read(errno)
    }
}

/// Runs `head`.
pub fn main(arguments: Vec<Vec<u8>>) -> Result<i32, Failure> {
    let mut options = Options { bytes: false, all_but: false, count: 10, end: b'\n', headers: None };
    let arguments = options.old_form(arguments)?;
    let line = Syntax { notes: NOTES, ..Syntax::core("head", USAGE, 27) };
    let (parsed, mut files) = line.split::<Failure>(arguments)?;
    for ParsedOption { id, letter, value } in parsed {
        match id {
            Flag::Bytes | Flag::Lines => options.number(id == Flag::Bytes, &value)?,
            Flag::Quiet => options.headers = Some(false),
            Flag::Verbose => options.headers = Some(true),
            Flag::ZeroTerminated => options.end = 0,
            Flag::Digit => return Err(trailing_option(letter.unwrap_or_default())),
        }
    }
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    let headers = options.headers.unwrap_or(files.len() > 1);
    let mut code = 0;
    let mut printed = None;
    for file in &files {
        let shown: &[u8] = if file == b"-" { b"standard input" } else { file };
        let input = match Input::open(file) {
            Ok(input) => input,
            Err(error) => {
                code = 1;
                print_error("head", &format!("cannot open {} for reading: {}", quote_path(shown), error.text()));
                continue;
            }
        };
        if headers {
            follow::header(shown, &mut printed)?;
        }
        match options.print(&input) {
            Ok(()) => {}
            Err(PrintError::Read(error)) => {
                code = 1;
                print_error("head", &format!("error reading {}: {}", quote_path(shown), error.text()));
            }
            Err(PrintError::Write(failure)) => return Err(failure),
        }
    }
    Ok(code)
}

fn trailing_option(letter: char) -> Failure {
    Failure::Usage(format!("invalid trailing option -- {letter}"))
}

impl Options {
    /// Parses `-NUM[bklm][cqvz]`, which is valid only as the first argument.
    fn old_form(&mut self, mut arguments: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Failure> {
        let Some(rest) = arguments.first().and_then(|first| first.strip_prefix(b"-")) else {
            return Ok(arguments);
        };
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return Ok(arguments);
        }
        let (number, letters) = rest.split_at_checked(digits).unwrap_or_default();
        let mut number = number.to_vec();
        let mut bytes = false;
        for letter in letters {
            match letter {
                b'c' => bytes = true,
                b'b' | b'k' | b'm' => {
                    bytes = true;
                    number.push(if *letter == b'm' { b'M' } else { *letter });
                }
                b'l' => bytes = false,
                b'q' => self.headers = Some(false),
                b'v' => self.headers = Some(true),
                b'z' => self.end = 0,
                other => return Err(trailing_option(char::from(*other))),
            }
        }
        self.number(bytes, &number)?;
        arguments.remove(0);
        Ok(arguments)
    }

    fn number(&mut self, bytes: bool, text: &[u8]) -> Result<(), Failure> {
        self.bytes = bytes;
        let digits = text.strip_prefix(b"-");
        self.all_but = digits.is_some();
        let digits = digits.or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
        let what = if bytes { "bytes" } else { "lines" };
        self.count = amount(digits).map_err(|error| {
            Failure::Unsupported(format!("invalid number of {what}: {}{}", quote_value(digits), error.reason()))
        })?;
        Ok(())
    }

    fn print(&self, input: &Input<'_>) -> Result<(), PrintError> {
        match (self.all_but, self.bytes) {
            (false, true) => self.first_bytes(input),
            (false, false) => self.first_lines(input),
            (true, _) => self.all_but(input),
        }
    }

    fn first_bytes(&self, input: &Input<'_>) -> Result<(), PrintError> {
        let mut left = self.count;
        let mut buffer = vec![0; usize::try_from(left.min(CHUNK as u64)).unwrap_or(CHUNK)];
        while left > 0 {
            let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            let count = input.read(buffer.get_mut(..wanted).unwrap_or_default())?;
            if count == 0 {
                break;
            }
            write(buffer.get(..count).unwrap_or_default())?;
            left -= count as u64;
        }
        Ok(())
    }

    fn first_lines(&self, input: &Input<'_>) -> Result<(), PrintError> {
        let mut left = self.count;
        let mut buffer = vec![0; FIRST_READ];
        let mut reads = 0;
        while left > 0 {
            let count = input.read(&mut buffer)?;
            let chunk = buffer.get(..count).unwrap_or_default();
            if chunk.is_empty() {
                break;
            }
            let nth = usize::try_from(left - 1).unwrap_or(usize::MAX);
            let mut ends = memchr_iter(self.end, chunk);
            match ends.nth(nth) {
                Some(at) => {
                    write(chunk.get(..=at).unwrap_or_default())?;
                    input.unread(chunk.len() - at - 1);
                    break;
                }
                None => {
                    left -= memchr_iter(self.end, chunk).count() as u64;
                    write(chunk)?;
                }
            }
            reads += 1;
            if reads == SMALL_READS {
                buffer.resize(CHUNK, 0);
            }
        }
        Ok(())
    }

    /// Prints all but the last `count` lines or bytes. Buffers only the possible end.
    fn all_but(&self, input: &Input<'_>) -> Result<(), PrintError> {
        let start = input.position();
        let mut held: VecDeque<u8> = VecDeque::new();
        let (mut lines, mut printed) = (0u64, 0u64);
        let mut buffer = vec![0; CHUNK];
        loop {
            let count = input.read(&mut buffer)?;
            let chunk = buffer.get(..count).unwrap_or_default();
            if chunk.is_empty() {
                break;
            }
            lines += memchr_iter(self.end, chunk).count() as u64;
            held.extend(chunk);
            printed += self.release(&mut held, &mut lines, false)?;
        }
        printed += self.release(&mut held, &mut lines, true)?;
        if let (Some(start), false) = (start, held.is_empty()) {
            input.seek_to(start.saturating_add(printed));
        }
        Ok(())
    }

    /// Prints the part that is certainly not among the last `count`. Returns the number of bytes printed.
    fn release(&self, held: &mut VecDeque<u8>, lines: &mut u64, ended: bool) -> Result<u64, PrintError> {
        let text = held.make_contiguous();
        let count = if self.bytes {
            text.len().saturating_sub(usize::try_from(self.count).unwrap_or(usize::MAX))
        } else {
            // An unterminated last line counts as a line.
            let open = u64::from(!text.is_empty() && text.last() != Some(&self.end));
            let spare = (*lines + open).saturating_sub(self.count);
            match usize::try_from(spare.saturating_sub(1)) {
                _ if spare == 0 => 0,
                _ if self.count == 0 => {
                    if ended {
                        text.len()
                    } else {
                        memrchr(self.end, text).map_or(0, |at| at + 1)
                    }
                }
                Ok(nth) => memchr_iter(self.end, text).nth(nth).map_or(0, |at| at + 1),
                Err(_) => 0,
            }
        };
        let text = text.get(..count).unwrap_or_default();
        *lines -= memchr_iter(self.end, text).count() as u64;
        write(text)?;
        held.drain(..count);
        Ok(count as u64)
    }
}

impl Input<'_> {
    /// Current offset, if the input is a regular file.
    fn position(&self) -> Option<u64> {
        let state = self.state().ok()?;
        (state.kind() == FileKind::File).then(|| self.seek(0).ok()).flatten()
    }

    /// Seeks back over bytes that were read and not printed.
    fn unread(&self, count: usize) {
        if count > 0 && self.position().is_some() {
            // The bytes are lost if the input cannot seek.
            let _ = self.seek(-i64::try_from(count).unwrap_or_default());
        }
    }
}
