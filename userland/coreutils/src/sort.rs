//! `sort`: sorts lines, merges sorted files, or checks the order of lines.
//!
//! Lines that do not fit into the buffer are sorted in parts. The parts are written to temporary files and merged.

mod check;
mod compare;
mod debug;
mod key;
mod lines;
mod merge;
mod numeric;
mod options;
mod spill;
#[cfg(test)]
mod tests;
mod value;

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::{path_label, print_error, quote_path};
use tidebox_gnu::stream::{Input, Output};
use tidebox_rt::{Errno, Open};

use compare::Rules;
use lines::{Lines, Sink};
use options::{Mode, Options};
use spill::Spill;

use crate::common::Failure;

/// Default number of files in one merge.
const BATCH_SIZE: usize = 16;

/// Default size of the buffer in bytes.
const BUFFER_BYTES: usize = 48 << 20;

/// Exit code of errors; 1 means that the lines are not in order.
const TROUBLE: i32 = 2;

/// A failure with its message.
fn fail(message: String) -> Failure {
    Failure::Exit(ToolResult::Failure(message, TROUBLE))
}

/// Error of an operation on a file.
fn about(what: &str, file: &[u8], errno: Errno) -> Failure {
    fail(format!("{what}: {}: {}", path_label(file), errno.text()))
}

/// Runs `sort`.
pub fn main(arguments: Vec<Vec<u8>>) -> Result<i32, Failure> {
    let (mut options, rules) = options::read(arguments)?;
    for file in options.files.iter().filter(|file| file.as_slice() != b"-") {
        tidebox_rt::access(file, 4).map_err(|errno| about("cannot read", file, errno))?;
    }
    if let Mode::Check { reports } = options.mode {
        return check::check(&options, &rules, reports);
    }
    if let Some(output) = &options.output {
        // Opened before reading, as by GNU sort, to fail early. Once only: a reader of a FIFO would see two writers. The content
        // is kept until the result is written.
        let how = Open { write: true, create: true, ..Open::default() };
        options.destination = tidebox_rt::open(output, how).map_err(|errno| about("open failed", output, errno))?;
    }
    let mut spill = Spill::new(&options.dirs);
    if options.mode == Mode::Merge {
        merge_sorted(&options, &rules, &mut spill)
    } else {
        sort(&options, &rules, &mut spill)
    }
}

/// Sorts the lines of all files.
fn sort(options: &Options, rules: &Rules, spill: &mut Spill) -> Result<i32, Failure> {
    let mut lines = Lines::default();
    let mut parts: Vec<Vec<u8>> = Vec::new();
    for file in &options.files {
        let mut input = Input::open(file).map_err(|errno| about("open failed", file, errno))?;
        loop {
            let ended = lines.fill(&mut input, options.end, options.buffer_bytes, rules);
            if ended.map_err(|errno| about("read failed", file, errno))? {
                break;
            }
            lines.sort(rules);
            parts.push(spill.write(options.end, |sink| {
                lines.write(sink);
                Ok(())
            })?);
        }
    }
    lines.sort(rules);
    if parts.is_empty() {
        return finish(options, rules, |sink| {
            lines.write(sink);
            Ok(())
        });
    }
    if !lines.is_empty() {
        parts.push(spill.write(options.end, |sink| {
            lines.write(sink);
            Ok(())
        })?);
    }
    merge_files(options, rules, spill, parts)
}

/// Merges sorted files.
fn merge_sorted(options: &Options, rules: &Rules, spill: &mut Spill) -> Result<i32, Failure> {
    let mut files = options.files.clone();
    // An input that is also the output is copied first.
    let stat = |file: &[u8]| if file == b"-" { tidebox_rt::fstat(0) } else { tidebox_rt::stat(file, true) };
    let same = |file: &[u8], output: &[u8]| match (stat(file), tidebox_rt::stat(output, true)) {
        (Ok(a), Ok(b)) => (a.dev, a.ino) == (b.dev, b.ino),
        _ => false,
    };
    if let Some(output) = &options.output {
        for file in files.iter_mut().filter(|file| same(file, output)) {
            let mut input = Input::open(file).map_err(|errno| about("open failed", file, errno))?;
            *file = spill.write(options.end, |sink| {
                loop {
                    let chunk = input.chunk().map_err(|errno| about("read failed", file, errno))?;
                    let count = chunk.len();
                    if count == 0 {
                        return Ok(());
                    }
                    sink.out.push(chunk);
                    input.consume(count);
                }
            })?;
        }
    }
    merge_files(options, rules, spill, files)
}

/// Merges files in batches, until one merge of the rest is possible.
fn merge_files(options: &Options, rules: &Rules, spill: &mut Spill, mut files: Vec<Vec<u8>>) -> Result<i32, Failure> {
    while files.len() > options.batch_size {
        let mut fewer = Vec::new();
        for some in files.chunks(options.batch_size) {
            match some {
                [only] => fewer.push(only.clone()),
                _ => {
                    fewer.push(spill.write(options.end, |sink| merge_into(some, sink, rules))?);
                    some.iter().for_each(|file| spill.remove(file));
                }
            }
        }
        files = fewer;
    }
    finish(options, rules, |sink| merge_into(&files, sink, rules))
}

fn merge_into(files: &[Vec<u8>], sink: &mut Sink<'_>, rules: &Rules) -> Result<(), Failure> {
    let open = |file: &Vec<u8>| Input::open(file).map_err(|errno| about("open failed", file, errno));
    let inputs = files.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    merge::merge(inputs, sink, rules)
        .map_err(|(at, errno)| about("read failed", files.get(at).map_or(b"-".as_slice(), Vec::as_slice), errno))
}

/// Writes the result to its destination.
fn finish(
    options: &Options,
    rules: &Rules,
    write: impl FnOnce(&mut Sink<'_>) -> Result<(), Failure>,
) -> Result<i32, Failure> {
    let fd = options.destination;
    if let Some(output) = &options.output
        && let Err(errno) = tidebox_rt::set_size(fd, 0)
        // Only files have a size.
        && errno != Errno::INVAL
    {
        return Err(about("open failed", output, errno));
    }
    let debug = (options.debug && options.output.is_none()).then_some(rules);
    let mut sink = Sink { out: Output::to(fd), end: options.end, debug };
    write(&mut sink)?;
    sink.out.flush_now();
    let closed = if fd == 1 { Ok(()) } else { tidebox_rt::close(fd) };
    match sink.out.failure().or(closed.err()) {
        None => Ok(0),
        Some(errno) => {
            let (what, name) = match options.output.as_deref() {
                Some(name) => ("write failed", path_label(name)),
                None => ("fflush failed", quote_path(b"standard output")),
            };
            print_error("sort", &format!("{what}: {name}: {}", errno.text()));
            if fd == 1 {
                // GNU prints the cause again only if the descriptor was closed.
                let reason = if errno == Errno::BADF { format!(": {}", errno.text()) } else { String::new() };
                print_error("sort", &format!("write error{reason}"));
            }
            Ok(TROUBLE)
        }
    }
}
