//! `dd`: copies blocks.

mod conversion;
mod operands;
mod report;
mod transfer;

use tidebox_gnu::command_line::core_version;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::{path_label, print_error, quote_path};
use tidebox_rt::{Errno, Fd, FileKind, Open};

use conversion::Converter;
use operands::Operands;
use report::{size_in_powers, transferred};
use transfer::{Sink, Transfer};

#[cfg(test)]
pub(crate) use operands::{Number, number};

const HELP: &str = "\
Usage: dd [OPERAND]...
Copies a file block by block.

  if=FILE of=FILE  from and to FILE instead of standard input and output
  bs=N ibs=N obs=N bytes of a block (512); c w b k M G and kB MB GB may follow N
  count=N          copy N blocks of input
  skip=N seek=N    leave out N blocks of input, of output (also iseek=N oseek=N); a B behind N counts bytes
  cbs=N            bytes of a record
  conv=WORD,...    lcase ucase swab sync notrunc excl nocreat noerror fsync fdatasync block unblock ascii ebcdic ibm
                   sparse
  iflag=WORD,...   fullblock count_bytes skip_bytes directory nofollow nonblock; direct and its kin change nothing
  oflag=WORD,...   append seek_bytes nofollow nonblock; direct and its kin change nothing
  status=WORD      none, noxfer or progress (which only prints the end)
";

/// The largest block. Larger ones would only serve to fill the memory.
const MAX_BLOCK: u64 = 256 << 20;

const STDIN: Fd = 0;
const STDOUT: Fd = 1;
const STDERR: Fd = 2;

/// Runs `dd`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    let mut operands = Operands::default();
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
            return ToolResult::Usage(
                match option.starts_with(b"-") {
                    true => format!("unrecognized option '{shown}'"),
                    false => format!("invalid option -- '{letter}'"),
                },
                1,
            );
        }
        if let Err(answer) = operands.read(&argument) {
            return answer;
        }
    }
    match run(&operands) {
        Ok(code) => ToolResult::Code(code),
        Err(message) => ToolResult::Failure(message, 1),
    }
}

/// Copies, and tells how much came over. The answer is the exit code; an error is what keeps it from beginning.
fn run(operands: &Operands) -> Result<i32, String> {
    let length = usize::try_from(operands.record).unwrap_or(usize::MAX);
    let converter = Converter::new(|word| operands.has(word), length)?;
    let input = open_input(operands)?;
    let output = open_output(operands)?;
    let begin = tidebox_rt::monotonic_ns();
    let sink = Sink { fd: output, sparse: operands.has("sparse"), holes: 0 };
    let mut transfer = Transfer::new(operands, input, sink, converter);
    transfer.prepare()?;
    let done = position(operands, input, output).and_then(|()| transfer.all());
    let mut code = 0;
    if let Err(message) = done {
        print_error("dd", &message);
        code = 1;
    }
    if operands.status != "none" && tell(operands, &transfer, begin).is_err() {
        code = 1;
    }
    Ok(code)
}

/// What is said in the end. It fails where nobody can be told.
fn tell(operands: &Operands, transfer: &Transfer<'_>, begin: u64) -> tidebox_rt::Result<()> {
    let (read, written) = (transfer.read, transfer.written);
    let mut text = format!("{}+{} records in\n{}+{} records out\n", read.whole, read.part, written.whole, written.part);
    match transfer.truncated() {
        0 => {}
        1 => text.push_str("1 truncated record\n"),
        count => text.push_str(&format!("{count} truncated records\n")),
    }
    if operands.status != "noxfer" {
        let seconds = tidebox_rt::monotonic_ns().saturating_sub(begin).max(1) as f64 / 1e9;
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

/// Opens a file; a symbolic link is refused where it must not be followed.
fn open(name: &[u8], how: Open, nofollow: bool) -> Result<Fd, String> {
    let is_link = || tidebox_rt::stat(name, false).is_ok_and(|stat| stat.kind() == FileKind::Symlink);
    let opened = if nofollow && is_link() { Err(Errno::LOOP) } else { tidebox_rt::open(name, how) };
    opened.map_err(|errno| format!("failed to open {}: {}", quote_path(name), errno.text()))
}

fn open_input(operands: &Operands) -> Result<Fd, String> {
    let Some(name) = &operands.from else {
        return Ok(STDIN);
    };
    let how = Open {
        read: true,
        directory: operands.input_has("directory"),
        nonblock: operands.input_has("nonblock"),
        ..Open::default()
    };
    open(name, how, operands.input_has("nofollow"))
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
    let how = Open {
        write: true,
        append: operands.output_has("append"),
        create: !operands.has("nocreat"),
        exclusive: operands.has("excl"),
        truncate: cuts && seek == 0,
        nonblock: operands.output_has("nonblock"),
        ..Open::default()
    };
    let fd = open(name, how, operands.output_has("nofollow"))?;
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
    let (mut left, mut room) = (skip, vec![0; 1 << 16]);
    while left > 0 {
        let wanted = room.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        match tidebox_rt::read(input, room.get_mut(..wanted).unwrap_or_default()) {
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
fn room(which: &str, size: u64) -> Result<Vec<u8>, String> {
    let too_large = || format!("memory exhausted by {which} buffer of size {size} bytes ({})", size_in_powers(size));
    let length = usize::try_from(size).ok().filter(|_| size <= MAX_BLOCK).ok_or_else(too_large)?;
    let mut room = Vec::new();
    room.try_reserve_exact(length).map_err(|_| too_large())?;
    room.resize(length, 0);
    Ok(room)
}
