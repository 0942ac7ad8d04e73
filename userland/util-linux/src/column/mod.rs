//! `column`: prints lists in columns, and tables.

mod fill;
mod json;
mod options;
mod table;

use tidebox_gnu::exit::IntoExitCode;
use tidebox_gnu::message::print_error;
use tidebox_gnu::stream::{Input, Output};
use tidebox_rt::Errno;
use unicode_width::UnicodeWidthStr;

use options::{Mode, Options};

/// Returns the display width of a text.
pub(crate) fn width(text: &[u8]) -> usize {
    String::from_utf8_lossy(text).width()
}

/// Runs `column`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let options = match options::parse(arguments) {
        Ok(options) => options,
        Err(result) => return result.into_exit_code("column"),
    };
    let mut lines = Vec::new();
    let mut code = 0;
    let mut opened = 0;
    for name in &options.files {
        match read(name, &options, &mut lines) {
            Ok(()) => opened += 1,
            Err(errno) => {
                print_error("column", &format!("{}: {}", String::from_utf8_lossy(name), errno.text()));
                code = 1;
            }
        }
    }
    let mut out = Output::standard();
    if opened > 0 {
        // As in util-linux, unreadable files do not fail the command if another one was read.
        code = 0;
    }
    if lines.is_empty() || opened == 0 {
        return out.finish("column", code);
    }
    match options.mode {
        Mode::Columns => fill::columns(&lines, options.width, &mut out),
        Mode::Rows => fill::rows(&lines, options.width, &mut out),
        Mode::Table => {
            if let Err(message) = table::print(&lines, &options, &mut out) {
                out.flush_now();
                print_error("column", &message);
                return 1;
            }
        }
    }
    out.finish("column", code)
}

fn read(name: &[u8], options: &Options, lines: &mut Vec<Vec<u8>>) -> Result<(), Errno> {
    let mut input = Input::open(name)?;
    let mut line = Vec::new();
    while input.line(b'\n', &mut line)? {
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        if options.keeps_empty || !text.trim_ascii().is_empty() {
            lines.push(visible(text));
        }
    }
    Ok(())
}

/// Replaces invalid bytes by their hexadecimal value.
fn visible(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        out.extend_from_slice(chunk.valid().as_bytes());
        for byte in chunk.invalid() {
            out.extend_from_slice(format!("\\x{byte:02x}").as_bytes());
        }
    }
    out
}
