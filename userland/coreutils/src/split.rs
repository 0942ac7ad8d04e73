//! `split`: writes parts of a file to separate files, or to commands.

mod names;
mod options;
mod parts;
mod sink;

use tidebox_gnu::message::{print_error, quote_path};
use tidebox_gnu::stream::Input;

use crate::common::Failure;
use options::{By, Chunks, Options};
use sink::Sink;

/// Runs `split`.
pub fn main(arguments: Vec<Vec<u8>>) -> Result<i32, Failure> {
    let options = options::read(arguments)?;
    let input = Input::open(&options.input).map_err(|errno| {
        Failure::Unsupported(format!("cannot open {} for reading: {}", quote_path(&options.input), errno.text()))
    })?;
    check_first_name(&options)?;
    let mut sink = Sink::new(&options);
    let mut reader = parts::Reader { input, options: &options };
    match &options.by {
        By::Lines(count) => reader.lines(*count, &mut sink),
        By::Bytes(count) => reader.bytes(*count, &mut sink),
        By::LineBytes(count) => reader.line_bytes(*count, &mut sink),
        By::Number(Chunks::Bytes, only, number) => reader.chunks(*only, *number, &mut sink),
        By::Number(Chunks::Lines, only, number) => reader.line_chunks(*only, *number, &mut sink),
        By::Number(Chunks::Robin, only, number) => reader.robin(*only, *number, &mut sink),
    }?;
    Ok(0)
}

/// Fails before any output if the first file would overwrite the input.
fn check_first_name(options: &Options) -> Result<(), Failure> {
    if options.filter.is_some() || options.input == b"-" {
        return Ok(());
    }
    let Ok(input) = tidebox_rt::stat(&options.input, true) else {
        return Ok(());
    };
    let first = options.names().next_name();
    if let Some(name) = first
        && tidebox_rt::stat(&name, true).is_ok_and(|stat| (stat.dev, stat.ino) == (input.dev, input.ino))
    {
        print_error("split", &format!("{} would overwrite input; aborting", quote_path(&name)));
        return Err(Failure::Exit(tidebox_gnu::exit::ToolResult::Code(1)));
    }
    Ok(())
}
