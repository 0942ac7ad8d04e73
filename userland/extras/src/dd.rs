//! `dd`: copies blocks.

mod conversion;

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};

use tidebox_gnu::answer::Answer;
use tidebox_gnu::command_line::core_version;
use tidebox_gnu::message::{bytes_path, cited, quoted, reason};
use tidebox_gnu::stream::StandardInput;

use tidebox_rt::{Errno, Fd, FileKind, Open};

use conversion::Converter;

/// A named pipe that is opened without waiting, which std has no way to ask for.
struct Pipe(Fd);

impl Read for Pipe {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        Ok(tidebox_rt::read(self.0, room)?)
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(tidebox_rt::write(self.0, bytes)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Pipe {
    /// Opens `name` if it is one.
    fn open(name: &[u8], how: Open) -> Option<Result<Self, Errno>> {
        let is_fifo = tidebox_rt::stat(name, true).is_ok_and(|stat| stat.kind() == FileKind::Pipe);
        is_fifo.then(|| tidebox_rt::open(name, Open { nonblock: true, ..how }).map(Self))
    }
}

const HELP: &str = "\
Usage: dd [OPERAND]...
Copies a file block by block.

  if=FILE of=FILE  from and to FILE instead of standard input and output
  bs=N ibs=N obs=N bytes of a block (512); c w b k M G and kB MB GB may follow N
  count=N          copy N blocks of input
  skip=N seek=N    leave out N blocks of input, of output
  cbs=N            bytes of a record
  conv=WORD,...    lcase ucase swab sync notrunc excl nocreat noerror fsync fdatasync block unblock ascii ebcdic ibm
  iflag=WORD,...   fullblock count_bytes skip_bytes
  oflag=WORD,...   append seek_bytes
  status=WORD      none, noxfer or progress (which only prints the end)
";

/// The largest block. Larger ones would only serve to fill the memory.
const LARGEST_BLOCK: u64 = 256 << 20;

#[derive(Debug)]
struct Copy {
    from: Option<Vec<u8>>,
    to: Option<Vec<u8>>,
    input_block: u64,
    output_block: u64,
    count: Option<u64>,
    skip: u64,
    seek: u64,
    words: Vec<String>,
    status: String,
    /// Bytes of a record (`cbs`).
    record: u64,
}

/// Whole blocks and parts of blocks, as `dd` counts them.
#[derive(Clone, Copy, Debug, Default)]
struct Records {
    whole: u64,
    part: u64,
}

impl Records {
    fn note(&mut self, bytes: usize, block: u64) {
        if bytes as u64 == block {
            self.whole += 1;
        } else if bytes > 0 {
            self.part += 1;
        }
    }
}

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> Answer {
    let mut copy = Copy {
        from: None,
        to: None,
        input_block: 512,
        output_block: 512,
        count: None,
        record: 0,
        skip: 0,
        seek: 0,
        words: Vec::new(),
        status: String::new(),
    };
    for argument in arguments {
        if argument == b"--help" {
            return HELP.into();
        }
        if argument == b"--version" {
            return core_version("dd").replacen("(GNU coreutils)", "(coreutils)", 1).as_str().into();
        }
        if argument == b"--" {
            continue;
        }
        if let Some(option) = argument.strip_prefix(b"-").filter(|option| !option.is_empty()) {
            // It has no other options, and calls each what it looks like.
            let shown = String::from_utf8_lossy(&argument).into_owned();
            let letter = String::from_utf8_lossy(option).chars().next().unwrap_or('-');
            return Answer::Usage(
                match option.starts_with(b"-") {
                    true => format!("unrecognized option '{shown}'"),
                    false => format!("invalid option -- '{letter}'"),
                },
                1,
            );
        }
        if let Err(message) = copy.operand(&argument) {
            return Answer::Usage(message, 1);
        }
    }
    match copy.run() {
        Ok(()) => Answer::Code(0),
        Err(message) => Answer::Failure(message, 1),
    }
}

/// A number with a unit, or several multiplied by `x`.
pub(crate) fn number(text: &str) -> Option<u64> {
    text.split('x').try_fold(1u64, |product, factor| product.checked_mul(simple_number(factor)?))
}

fn simple_number(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let factor: u64 = match unit {
        "" | "c" | "B" => 1,
        "w" => 2,
        "b" => 512,
        "kB" | "KB" => 1000,
        "k" | "K" | "KiB" => 1 << 10,
        "MB" => 1_000_000,
        "M" | "MiB" => 1 << 20,
        "GB" => 1_000_000_000,
        "G" | "GiB" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

impl Copy {
    fn operand(&mut self, argument: &[u8]) -> Result<(), String> {
        let text = String::from_utf8_lossy(argument).into_owned();
        let unknown = || format!("unrecognized operand {}", cited(argument));
        let (key, value) = text.split_once('=').ok_or_else(unknown)?;
        let bytes = argument.get(key.len() + 1..).unwrap_or_default().to_vec();
        let amount = || number(value).ok_or_else(|| format!("invalid number: {}", cited(value.as_bytes())));
        let block = || match amount()? {
            0 => Err(format!("invalid number: {}", cited(value.as_bytes()))),
            size if size > LARGEST_BLOCK => {
                Err(format!("blocks are {LARGEST_BLOCK} bytes long at most: {key}={value}"))
            }
            size => Ok(size),
        };
        match key {
            "if" => self.from = Some(bytes),
            "of" => self.to = Some(bytes),
            "bs" => (self.input_block, self.output_block) = (block()?, block()?),
            "ibs" => self.input_block = block()?,
            "obs" => self.output_block = block()?,
            "count" => {
                self.byte_count(value, "count_bytes");
                self.count = Some(amount()?);
            }
            "skip" | "iseek" => {
                self.byte_count(value, "skip_bytes");
                self.skip = amount()?;
            }
            "seek" | "oseek" => {
                self.byte_count(value, "seek_bytes");
                self.seek = amount()?;
            }
            "conv" | "iflag" | "oflag" => {
                for word in value.split(',') {
                    let known = [
                        "ascii",
                        "ebcdic",
                        "ibm",
                        "block",
                        "unblock",
                        "lcase",
                        "ucase",
                        "swab",
                        "sync",
                        "notrunc",
                        "excl",
                        "nocreat",
                        "noerror",
                        "fsync",
                        "fdatasync",
                        "fullblock",
                        "count_bytes",
                        "skip_bytes",
                        "append",
                        "seek_bytes",
                        "direct",
                        "dsync",
                        "nonblock",
                        "nocache",
                        "binary",
                        "text",
                        "noatime",
                    ];
                    if !known.contains(&word) {
                        return Err(format!(
                            "{}: {}",
                            if key == "conv" {
                                "invalid conversion"
                            } else if key == "iflag" {
                                "invalid input flag"
                            } else {
                                "invalid output flag"
                            },
                            cited(word.as_bytes())
                        ));
                    }
                    self.words.push(if word == "nonblock" { format!("{key} nonblock") } else { word.to_owned() });
                }
            }
            "status" if ["none", "noxfer", "progress"].contains(&value) => value.clone_into(&mut self.status),
            "status" => return Err(format!("invalid status level: {}", cited(value.as_bytes()))),
            "cbs" => self.record = block()?,
            _ => return Err(unknown()),
        }
        Ok(())
    }

    /// A number that ends in `B` counts bytes instead of blocks.
    fn byte_count(&mut self, value: &str, word: &str) {
        let units = ["kB", "KB", "MB", "GB", "iB"];
        if value.ends_with('B') && !units.iter().any(|unit| value.ends_with(unit)) {
            self.words.push(word.to_owned());
        }
    }

    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|known| known == word)
    }

    fn run(&self) -> Result<(), String> {
        let begin = tidebox_rt::monotonic_ns();
        let length = usize::try_from(self.record).unwrap_or(usize::MAX);
        let mut converter = Converter::new(|word| self.has(word), length)?;
        let mut input = self.open_input()?;
        let mut output = self.open_output()?;
        let (mut read, mut written) = (Records::default(), Records::default());
        let mut total = 0u64;
        let result = self.copy(&mut *input, &mut *output, &mut read, &mut written, &mut total, &mut converter);
        let flushed = output.flush().map_err(|error| self.write_error(&error));
        if self.status != "none" {
            eprint!("{}+{} records in\n{}+{} records out\n", read.whole, read.part, written.whole, written.part);
            match converter.truncated() {
                0 => {}
                1 => eprintln!("1 truncated record"),
                count => eprintln!("{count} truncated records"),
            }
            if self.status != "noxfer" {
                let seconds = tidebox_rt::monotonic_ns().saturating_sub(begin).max(1) as f64 / 1e9;
                eprintln!("{}", transferred(total, seconds));
            }
        }
        result.and(flushed)
    }

    fn open_input(&self) -> Result<Box<dyn Read>, String> {
        let skip = if self.has("skip_bytes") { self.skip } else { self.skip.saturating_mul(self.input_block) };
        let Some(name) = &self.from else {
            // A buffer would take what the next program is to read.
            let mut stdin = StandardInput;
            discard(&mut stdin, skip).map_err(|error| format!("'standard input': cannot skip: {}", reason(&error)))?;
            return Ok(Box::new(stdin));
        };
        let failed = |error: &io::Error| format!("failed to open {}: {}", quoted(name), reason(error));
        if self.has("iflag nonblock")
            && let Some(pipe) = Pipe::open(name, Open { read: true, ..Open::default() })
        {
            return Ok(Box::new(pipe.map_err(|errno| failed(&errno.into()))?));
        }
        let mut file = File::open(bytes_path(name)).map_err(|error| failed(&error))?;
        if skip > 0 && file.seek(SeekFrom::Start(skip)).is_err() {
            discard(&mut file, skip).map_err(|error| format!("{}: cannot skip: {}", quoted(name), reason(&error)))?;
        }
        Ok(Box::new(file))
    }

    fn open_output(&self) -> Result<Box<dyn Write>, String> {
        let seek = if self.has("seek_bytes") { self.seek } else { self.seek.saturating_mul(self.output_block) };
        let Some(name) = &self.to else {
            return Ok(Box::new(io::stdout().lock()));
        };
        let failed = |error: io::Error| format!("failed to open {}: {}", quoted(name), reason(&error));
        if self.has("oflag nonblock")
            && let Some(pipe) = Pipe::open(name, Open { write: true, ..Open::default() })
        {
            return Ok(Box::new(pipe.map_err(|errno| failed(errno.into()))?));
        }
        let mut how = OpenOptions::new();
        how.write(true).append(self.has("append"));
        how.create(!self.has("nocreat")).create_new(self.has("excl"));
        let mut file = how.open(bytes_path(name)).map_err(failed)?;
        // Devices have no length.
        if !self.has("notrunc") && !self.has("append") && file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            file.set_len(seek).map_err(failed)?;
        }
        if seek > 0 {
            file.seek(SeekFrom::Start(seek))
                .map_err(|error| format!("{}: cannot seek: {}", quoted(name), reason(&error)))?;
        }
        Ok(Box::new(file))
    }

    fn write_error(&self, error: &io::Error) -> String {
        let name = self.to.as_deref().unwrap_or(b"standard output");
        format!("error writing {}: {}", quoted(name), reason(error))
    }

    fn copy(
        &self,
        input: &mut dyn Read,
        output: &mut dyn Write,
        read: &mut Records,
        written: &mut Records,
        total: &mut u64,
        converter: &mut Converter,
    ) -> Result<(), String> {
        let mut block = vec![0; usize::try_from(self.input_block).unwrap_or(usize::MAX)];
        let mut left = self
            .count
            .map(|count| if self.has("count_bytes") { count } else { count.saturating_mul(self.input_block) });
        let mut waiting: Vec<u8> = Vec::new();
        let output_block = usize::try_from(self.output_block).unwrap_or(usize::MAX);
        while left != Some(0) {
            let wanted = left.map_or(block.len(), |left| block.len().min(usize::try_from(left).unwrap_or(usize::MAX)));
            let room = block.get_mut(..wanted).unwrap_or_default();
            let count = self.read_block(input, room)?;
            if count == 0 {
                break;
            }
            read.note(count, self.input_block);
            // A part of a block counts as one, unless bytes are counted.
            left = left
                .map(|left| left.saturating_sub(if self.has("count_bytes") { count as u64 } else { self.input_block }));
            let mut end = count;
            if self.has("sync") {
                block.get_mut(count..).unwrap_or_default().fill(converter.filler());
                end = block.len();
            }
            let piece = block.get_mut(..end).unwrap_or_default();
            converter.feed(piece, &mut waiting);
            // With one size for both, parts of blocks are passed on as they come.
            while waiting.len() >= output_block
                || (self.input_block == self.output_block && !converter.regroups() && !waiting.is_empty())
            {
                let size = waiting.len().min(output_block);
                self.write_block(output, waiting.get(..size).unwrap_or_default(), written, total)?;
                waiting.drain(..size);
            }
        }
        converter.finish(&mut waiting);
        while waiting.len() > output_block {
            self.write_block(output, waiting.get(..output_block).unwrap_or_default(), written, total)?;
            waiting.drain(..output_block);
        }
        if !waiting.is_empty() {
            self.write_block(output, &waiting, written, total)?;
        }
        Ok(())
    }

    fn read_block(&self, input: &mut dyn Read, room: &mut [u8]) -> Result<usize, String> {
        let mut filled = 0;
        loop {
            match input.read(room.get_mut(filled..).unwrap_or_default()) {
                Ok(0) => return Ok(filled),
                Ok(count) => {
                    filled += count;
                    if !self.has("fullblock") || filled >= room.len() {
                        return Ok(filled);
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    let name = self.from.as_deref().unwrap_or(b"standard input");
                    return Err(format!("error reading {}: {}", quoted(name), reason(&error)));
                }
            }
        }
    }

    fn write_block(
        &self,
        output: &mut dyn Write,
        piece: &[u8],
        written: &mut Records,
        total: &mut u64,
    ) -> Result<(), String> {
        output.write_all(piece).map_err(|error| self.write_error(&error))?;
        written.note(piece.len(), self.output_block);
        *total = total.saturating_add(piece.len() as u64);
        Ok(())
    }
}

fn discard(from: &mut dyn Read, count: u64) -> io::Result<()> {
    io::copy(&mut from.take(count), &mut io::sink()).map(|_| ())
}

/// `1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.00052 s, 2.0 GB/s`
fn transferred(bytes: u64, seconds: f64) -> String {
    let scaled = |value: f64, base: f64, letters: &[&str]| {
        let mut value = value;
        let mut unit = 0;
        while value >= base && unit + 1 < letters.len() {
            value /= base;
            unit += 1;
        }
        let digits = usize::from(value < 10.0 && unit > 0);
        format!("{value:.digits$} {}", letters.get(unit).copied().unwrap_or_default())
    };
    const THOUSANDS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    const POWERS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let word = if bytes == 1 { "byte" } else { "bytes" };
    let mut sizes = String::new();
    if bytes >= 1000 {
        sizes.push_str(&format!(" ({}", scaled(bytes as f64, 1000.0, &THOUSANDS)));
        if bytes >= 1024 {
            sizes.push_str(&format!(", {}", scaled(bytes as f64, 1024.0, &POWERS)));
        }
        sizes.push(')');
    }
    let rate = scaled(bytes as f64 / seconds, 1000.0, &THOUSANDS);
    format!("{bytes} {word}{sizes} copied, {seconds:.6} s, {rate}/s")
}
