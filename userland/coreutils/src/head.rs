//! `head`: prints the beginning of files, and leaves the rest of them for whoever reads on.

use std::collections::VecDeque;

use memchr::{memchr_iter, memrchr};
use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::message::{print_error, quote_path, quote_value};
use tidebox_rt::{Errno, FileKind};

use crate::cat::write;
use crate::common::Failure;
use crate::common::follow;
use crate::common::input::{CHUNK, Input};
use crate::common::number::{Wrong, amount};

const HELP: &str = "\
Usage: head [OPTION]... [FILE]...
Print the first 10 lines of each FILE to standard output.
With more than one FILE, precede each with a header giving the file name.

With no FILE, or when FILE is -, read standard input.

Mandatory arguments to long options are mandatory for short options too.
  -c, --bytes=[-]NUM       print the first NUM bytes of each file;
                             with the leading '-', print all but the last
                             NUM bytes of each file
  -n, --lines=[-]NUM       print the first NUM lines instead of the first 10;
                             with the leading '-', print all but the last
                             NUM lines of each file
  -q, --quiet, --silent    never print headers giving file names
  -v, --verbose            always print headers giving file names
  -z, --zero-terminated    line delimiter is NUL, not newline
      --help        display this help and exit
      --version     output version information and exit

NUM may have a multiplier suffix:
b 512, kB 1000, K 1024, MB 1000*1000, M 1024*1024,
GB 1000*1000*1000, G 1024*1024*1024, and so on for T, P, E, Z, Y.
Binary prefixes can be used, too: KiB=K, MiB=M, and so on.
";

const LONG: &[Long] = &[
    long("bytes", Takes::Value, 'c'),
    long("lines", Takes::Value, 'n'),
    long("quiet", Takes::Nothing, 'q'),
    long("silent", Takes::Nothing, 'q'),
    long("verbose", Takes::Nothing, 'v'),
    long("zero-terminated", Takes::Nothing, 'z'),
];

/// Bytes read at first: as many as GNU reads at once, because what is read of a pipe is gone.
const FIRST_READ: usize = 8192;

/// Reads of that size before they grow.
const SMALL_READS: usize = 8;

#[derive(Debug)]
struct Options {
    bytes: bool,
    /// All but the last ones.
    but: bool,
    count: u64,
    end: u8,
    headers: Option<bool>,
}

/// Error of printing one file.
enum Trouble {
    Read(Errno),
    Write(Failure),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Write(failure)
    }
}

impl From<Errno> for Trouble {
    fn from(errno: Errno) -> Self {
        Self::Read(errno)
    }
}

/// Runs `head`.
pub fn main(arguments: Vec<Vec<u8>>) -> Result<i32, Failure> {
    let mut options = Options { bytes: false, but: false, count: 10, end: b'\n', headers: None };
    let arguments = options.old_form(arguments)?;
    let line = CommandLine::core("head", "c:n:qvz0123456789", LONG, HELP);
    let (given, mut files) = line.split::<Failure>(arguments)?;
    for (key, value) in given {
        match key {
            'c' | 'n' => options.number(key == 'c', &value)?,
            'q' => options.headers = Some(false),
            'v' => options.headers = Some(true),
            'z' => options.end = 0,
            digit => return Err(Failure::Usage(format!("invalid trailing option -- {digit}"))),
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
            Err(Trouble::Read(error)) => {
                code = 1;
                print_error("head", &format!("error reading {}: {}", quote_path(shown), error.text()));
            }
            Err(Trouble::Write(failure)) => return Err(failure),
        }
    }
    Ok(code)
}

impl Options {
    /// `head -5`, `head -5c` and the like, which count only as the first argument.
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
                other => return Err(Failure::Usage(format!("invalid trailing option -- {}", char::from(*other)))),
            }
        }
        self.number(bytes, &number)?;
        arguments.remove(0);
        Ok(arguments)
    }

    fn number(&mut self, bytes: bool, text: &[u8]) -> Result<(), Failure> {
        self.bytes = bytes;
        let digits = text.strip_prefix(b"-");
        self.but = digits.is_some();
        let digits = digits.or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
        let what = if bytes { "bytes" } else { "lines" };
        self.count = amount(digits).map_err(|wrong| {
            let large = if wrong == Wrong::TooLarge { ": Value too large for defined data type" } else { "" };
            Failure::Unsupported(format!("invalid number of {what}: {}{large}", quote_value(digits)))
        })?;
        Ok(())
    }

    fn print(&self, input: &Input<'_>) -> Result<(), Trouble> {
        match (self.but, self.bytes) {
            (false, true) => self.first_bytes(input),
            (false, false) => self.first_lines(input),
            (true, _) => self.all_but(input),
        }
    }

    fn first_bytes(&self, input: &Input<'_>) -> Result<(), Trouble> {
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

    fn first_lines(&self, input: &Input<'_>) -> Result<(), Trouble> {
        let mut left = self.count;
        let mut buffer = vec![0; FIRST_READ];
        let mut reads = 0;
        while left > 0 {
            let count = input.read(&mut buffer)?;
            let piece = buffer.get(..count).unwrap_or_default();
            if piece.is_empty() {
                break;
            }
            let nth = usize::try_from(left - 1).unwrap_or(usize::MAX);
            let mut ends = memchr_iter(self.end, piece);
            match ends.nth(nth) {
                Some(at) => {
                    write(piece.get(..=at).unwrap_or_default())?;
                    input.give_back(piece.len() - at - 1);
                    break;
                }
                None => {
                    left -= memchr_iter(self.end, piece).count() as u64;
                    write(piece)?;
                }
            }
            reads += 1;
            if reads == SMALL_READS {
                buffer.resize(CHUNK, 0);
            }
        }
        Ok(())
    }

    /// Prints all but the end. For a pipe, only the possible end is buffered.
    fn all_but(&self, input: &Input<'_>) -> Result<(), Trouble> {
        let start = input.position();
        let mut held: VecDeque<u8> = VecDeque::new();
        let (mut lines, mut printed) = (0u64, 0u64);
        let mut buffer = vec![0; CHUNK];
        loop {
            let count = input.read(&mut buffer)?;
            let piece = buffer.get(..count).unwrap_or_default();
            if piece.is_empty() {
                break;
            }
            lines += memchr_iter(self.end, piece).count() as u64;
            held.extend(piece);
            printed += self.release(&mut held, &mut lines, false)?;
        }
        printed += self.release(&mut held, &mut lines, true)?;
        if let (Some(start), false) = (start, held.is_empty()) {
            input.go_to(start.saturating_add(printed));
        }
        Ok(())
    }

    /// Prints what can no longer be the end; returns the number of bytes printed.
    fn release(&self, held: &mut VecDeque<u8>, lines: &mut u64, ended: bool) -> Result<u64, Trouble> {
        let text = held.make_contiguous();
        let count = if self.bytes {
            text.len().saturating_sub(usize::try_from(self.count).unwrap_or(usize::MAX))
        } else {
            // A last line without an end is a line, too; while more may come, it is not known to be one.
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
    fn give_back(&self, count: usize) {
        if count > 0 && self.position().is_some() {
            // The bytes are lost if the input cannot seek.
            let _ = self.seek(-i64::try_from(count).unwrap_or_default());
        }
    }
}
