//! `dd`: copies blocks.

mod conversion;
mod operands;
mod report;
mod transfer;

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::{path_label, print_error, quote_path};
use tidebox_gnu::options::Syntax;
use tidebox_rt::{Errno, Fd, FileKind, Open};

use conversion::Converter;
use operands::Operands;
use report::{size_in_powers, transferred};
use transfer::{Sink, Transfer};

use crate::common::StandardFlag;

#[cfg(test)]
pub(crate) use operands::{Number, number};

const USAGE: &str = "\
Usage: dd [OPERAND]...
Copies a file block by block.

  if=FILE of=FILE  from and to FILE instead of standard input and output
  bs=N ibs=N obs=N bytes of a block (512); c w b k M G and kB MB GB may follow N
  count=N          copy N blocks of input
  skip=N seek=N    skip N blocks of input, of output (also iseek=N oseek=N); N with suffix B counts bytes
  conv=WORD,...    lcase ucase swab sync notrunc excl nocreat noerror fsync fdatasync sparse
  iflag=WORD,...   fullblock count_bytes skip_bytes directory nofollow nonblock; direct and others have no effect
  oflag=WORD,...   append seek_bytes nofollow nonblock; direct and others have no effect
  status=WORD      none, noxfer or progress (which only prints the final report)
";

/// Maximum block size in bytes. Larger blocks bring no benefit and could exhaust the memory.
const MAX_BLOCK: u64 = 256 << 20;

const STDIN: Fd = 0;
const STDOUT: Fd = 1;
const STDERR: Fd = 2;

/// Runs `dd`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    match parse(arguments).and_then(|operands| run(&operands).map_err(|message| ToolResult::Failure(message, 1))) {
        Ok(code) => ToolResult::Code(code),
        Err(error) => error,
    }
}

fn parse(arguments: Vec<Vec<u8>>) -> Result<Operands, ToolResult> {
    let mut operands = Operands::default();
    for operand in Syntax::core("dd", USAGE, 0).parse(arguments, |_: StandardFlag, _| Ok::<_, ToolResult>(()))? {
        operands.parse(&operand)?;
    }
    Ok(operands)
}

/// Copies, prints the final report and returns the exit code. An error is the message of a copy that could not start.
fn run(operands: &Operands) -> Result<i32, String> {
    let converter = Converter::new(|word| operands.has(word))?;
    let input = open_input(operands)?;
    let output = open_output(operands)?;
    let start = tidebox_rt::monotonic_ns();
    let sink = Sink { fd: output, sparse: operands.has("sparse"), holes: 0 };
    let mut transfer = Transfer::new(operands, input, sink, converter);
    transfer.prepare()?;
    let done = position(operands, input, output).and_then(|()| transfer.run());
    let mut code = 0;
    if let Err(message) = done {
        print_error("dd", &message);
        code = 1;
    }
    if operands.status != "none" && report(operands, &transfer, start).is_err() {
        code = 1;
    }
    Ok(code)
}

/// Prints the final report on stderr.
fn report(operands: &Operands, transfer: &Transfer<'_>, start: u64) -> tidebox_rt::Result<()> {
    let (read, written) = (transfer.read, transfer.written);
    let mut text = format!("{}+{} records in\n{}+{} records out\n", read.whole, read.part, written.whole, written.part);
    if operands.status != "noxfer" {
        let seconds = tidebox_rt::monotonic_ns().saturating_sub(start).max(1) as f64 / 1e9;
        text.push_str(&format!("{}\n", transferred(transfer.total, seconds)));
    }
    tidebox_rt::write_all(STDERR, text.as_bytes())
}

fn input_name(operands: &Operands) -> &[u8] {
    operands.from.as_deref().unwrap_or(b"standard input")
}

fn output_name(operands: &Operands) -> &[u8] {
    operands.to.as_deref().unwrap_or(b"standard output")
}

/// Opens a file. With `nofollow`, a symbolic link is rejected.
fn open(name: &[u8], options: Open, nofollow: bool) -> Result<Fd, String> {
    let is_link = || tidebox_rt::stat(name, false).is_ok_and(|stat| stat.kind() == FileKind::Symlink);
    let opened = if nofollow && is_link() { Err(Errno::LOOP) } else { tidebox_rt::open(name, options) };
    opened.map_err(|errno| format!("failed to open {}: {}", quote_path(name), errno.text()))
}

fn open_input(operands: &Operands) -> Result<Fd, String> {
    let Some(name) = &operands.from else {
        return Ok(STDIN);
    };
    let options = Open {
        read: true,
        directory: operands.input_has("directory"),
        nonblock: operands.input_has("nonblock"),
        ..Open::default()
    };
    open(name, options, operands.input_has("nofollow"))
}

/// Byte offset of the first output byte.
fn seek_bytes(operands: &Operands) -> u64 {
    let factor = if operands.counts_bytes("seek_bytes") { 1 } else { operands.output_block() };
    operands.seek.saturating_mul(factor)
}

fn open_output(operands: &Operands) -> Result<Fd, String> {
    if operands.output_has("append") && !operands.has("notrunc") {
        print_error("dd", "you probably want conv=notrunc with oflag=append");
    }
    let Some(name) = &operands.to else {
        return Ok(STDOUT);
    };
    let (seek, cuts) = (seek_bytes(operands), !operands.has("notrunc"));
    if operands.output_has("directory") {
        // A directory cannot be opened for writing.
        return Err(format!("failed to open {}: {}", quote_path(name), Errno::INVAL.text()));
    }
    let options = Open {
        write: true,
        append: operands.output_has("append"),
        create: !operands.has("nocreat"),
        exclusive: operands.has("excl"),
        truncate: cuts && seek == 0,
        nonblock: operands.output_has("nonblock"),
        ..Open::default()
    };
    let fd = open(name, options, operands.output_has("nofollow"))?;
    // Devices and pipes have no length.
    let is_file = tidebox_rt::fstat(fd).is_ok_and(|stat| stat.kind() == FileKind::File);
    if cuts && seek > 0 && is_file {
        tidebox_rt::set_size(fd, seek).map_err(|errno| {
            format!("failed to truncate to {seek} bytes in output file {}: {}", quote_path(name), errno.text())
        })?;
    }
    Ok(fd)
}

/// Applies `skip` and `seek`.
fn position(operands: &Operands, input: Fd, output: Fd) -> Result<(), String> {
    let factor = if operands.counts_bytes("skip_bytes") { 1 } else { operands.input_block() };
    let skip = operands.skip.saturating_mul(factor);
    if skip > 0 && !skipped(input, skip).map_err(|errno| read_error(operands, errno))? && operands.status != "none" {
        print_error("dd", &format!("{}: cannot skip to specified offset", path_label(input_name(operands))));
    }
    let seek = seek_bytes(operands);
    if seek > 0 {
        let by = i64::try_from(seek).map_err(|_| Errno::INVAL);
        by.and_then(|by| tidebox_rt::seek(output, by))
            .map_err(|errno| format!("{}: cannot seek: {}", path_label(output_name(operands)), seek_reason(errno)))?;
    }
    Ok(())
}

/// Message of a failed seek.
fn seek_reason(errno: Errno) -> &'static str {
    if errno == Errno::SPIPE { "Illegal seek" } else { errno.text() }
}

/// Skips bytes of input; returns whether the input had that many.
fn skipped(input: Fd, skip: u64) -> Result<bool, Errno> {
    let by = i64::try_from(skip).map_err(|_| Errno::INVAL);
    if let Ok(at) = by.and_then(|by| tidebox_rt::seek(input, by)) {
        let stat = tidebox_rt::fstat(input)?;
        return Ok(stat.kind() != FileKind::File || at <= stat.size);
    }
    let (mut left, mut buffer) = (skip, vec![0; 1 << 16]);
    while left > 0 {
        let wanted = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        match tidebox_rt::read(input, buffer.get_mut(..wanted).unwrap_or_default()) {
            Ok(0) => return Ok(false),
            Ok(count) => left -= count as u64,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(true)
}

fn read_error(operands: &Operands, errno: Errno) -> String {
    format!("error reading {}: {}", quote_path(input_name(operands)), errno.text())
}

fn write_error(operands: &Operands, errno: Errno) -> String {
    format!("error writing {}: {}", quote_path(output_name(operands)), errno.text())
}

/// Allocates a buffer for one block.
fn allocate(which: &str, size: u64) -> Result<Vec<u8>, String> {
    let too_large = || format!("memory exhausted by {which} buffer of size {size} bytes ({})", size_in_powers(size));
    let length = usize::try_from(size).ok().filter(|_| size <= MAX_BLOCK).ok_or_else(too_large)?;
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(length).map_err(|_| too_large())?;
    buffer.resize(length, 0);
    Ok(buffer)
}
