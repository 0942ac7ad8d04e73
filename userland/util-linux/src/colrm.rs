//! `colrm`: takes columns out of lines.

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Takes, long};
use tidebox_gnu::message::print_error;
use tidebox_gnu::stream::{Input, Output};
use unicode_width::UnicodeWidthChar;

const HELP: &str = "\
Usage: colrm [FIRST [LAST]]
Copies standard input without the columns from FIRST to LAST, or to the end of the line.

  -h, --help     show this
  -V, --version  show the version
";

/// Runs `colrm`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let long = [long("help", Takes::Nothing, 'h'), long("version", Takes::Nothing, 'V')];
    let line =
        CommandLine { version: "colrm from util-linux 2.38.1\n", ..CommandLine::new("colrm", "hV", &long, HELP) };
    let columns = match line.parse(arguments, |_, _| Ok(())) {
        Ok(columns) => columns,
        Err(code) => return code,
    };
    let mut out = Output::standard();
    let mut numbers = Vec::new();
    for column in columns.iter().take(2) {
        match std::str::from_utf8(column).ok().and_then(|text| text.parse::<usize>().ok()) {
            Some(number) => numbers.push(number),
            None => {
                let which = if numbers.is_empty() { "first" } else { "second" };
                print_error("colrm", &format!("{which} argument: '{}'", String::from_utf8_lossy(column)));
                return 1;
            }
        }
    }
    let (first, last) = (numbers.first().copied(), numbers.get(1).copied());
    let mut input = Input::standard();
    let mut line = Vec::new();
    loop {
        match input.line(b'\n', &mut line) {
            Ok(true) => out.push(&kept(&line, first, last)),
            Ok(false) => return out.finish("colrm", 0),
            Err(errno) => {
                print_error("colrm", &format!("read failed: {}", errno.text()));
                return 1;
            }
        }
    }
}

/// A line without the columns from `first` on, to `last` if there is one.
fn kept(line: &[u8], first: Option<usize>, last: Option<usize>) -> Vec<u8> {
    let Some(first) = first.filter(|first| *first > 0) else {
        return line.to_vec();
    };
    let mut out = Vec::new();
    let mut column = 0usize;
    for chunk in line.utf8_chunks() {
        for letter in chunk.valid().chars() {
            let begin = column;
            column = match letter {
                '\n' => 0,
                '\t' => (column + 8) & !7,
                '\u{8}' => column.saturating_sub(1),
                letter => column + letter.width().unwrap_or(0),
            };
            if letter == '\t' && column >= first && last.is_none_or(|last| begin < last) {
                // Of a tab that is cut only the columns that stay are left.
                let stays = (begin + 1..=column).filter(|at| *at < first || last.is_some_and(|last| *at > last));
                out.extend(stays.map(|_| b' '));
                continue;
            }
            if letter == '\n' || column < first || last.is_some_and(|last| column > last) {
                out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        for byte in chunk.invalid() {
            column += 1;
            if column < first || last.is_some_and(|last| column > last) {
                out.push(*byte);
            }
        }
    }
    out
}
