//! `fold`: breaks long lines. A column is one byte, as in GNU.

use tidebox_gnu::message::quote_value;
use tidebox_gnu::options::{ParsedOption, Syntax};

use crate::cat::write;
use crate::common::Failure;
use crate::common::input::{CHUNK, Input, print_file_error};
use crate::common::number::in_range;

const USAGE: &str = "\
Usage: fold [OPTION]... [FILE]...
Breaks the lines of each FILE. Without FILE, or if FILE is -, reads standard input.

";

tidebox_gnu::options! {
    /// Options of `fold`.
    enum Flag {
        Bytes = "-b, --bytes", "count bytes: tabs, returns and backspaces have width 1";
        Spaces = "-s, --spaces", "break at spaces";
        Width = "-w, --width=WIDTH", "use WIDTH columns instead of 80";
        Digit = "-0[X], -1[X], -2[X], -3[X], -4[X], -5[X], -6[X], -7[X], -8[X], -9[X]", "";
    }
}

/// Runs `fold`.
pub fn main(arguments: Vec<Vec<u8>>) -> Result<i32, Failure> {
    let line = Syntax::core("fold", USAGE, 21);
    let mut breaker = LineBreaker { width: 80, bytes: false, spaces: false, line: Vec::new(), column: 0 };
    let mut files = line.parse_given(arguments, |ParsedOption { id, letter, value }| {
        match id {
            Flag::Bytes => breaker.bytes = true,
            Flag::Spaces => breaker.spaces = true,
            Flag::Width => breaker.width = width(&value)?,
            Flag::Digit => {
                let digit = letter.map(String::from).unwrap_or_default();
                breaker.width = width(&[digit.as_bytes(), &value].concat())?;
            }
        }
        Ok::<_, Failure>(())
    })?;
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    let mut code = 0;
    let mut buffer = vec![0; CHUNK];
    for file in &files {
        let input = match Input::open(file) {
            Ok(input) => input,
            Err(error) => {
                print_file_error("fold", file, error);
                code = 1;
                continue;
            }
        };
        loop {
            match input.read(&mut buffer) {
                Ok(0) => break,
                Ok(got) => {
                    let mut out = Vec::with_capacity(got + got / 8);
                    buffer.get(..got).unwrap_or_default().iter().for_each(|byte| breaker.pass(*byte, &mut out));
                    write(&out)?;
                }
                Err(error) => {
                    print_file_error("fold", file, error);
                    code = 1;
                    break;
                }
            }
        }
        write(&std::mem::take(&mut breaker.line))?;
        breaker.column = 0;
    }
    Ok(code)
}

fn width(text: &[u8]) -> Result<usize, Failure> {
    in_range(text, 1..=usize::MAX).map_err(|error| {
        Failure::Unsupported(format!("invalid number of columns: {}{}", quote_value(text), error.reason()))
    })
}

/// Incremental line breaker.
struct LineBreaker {
    width: usize,
    bytes: bool,
    spaces: bool,
    /// Unprinted part of the line.
    line: Vec<u8>,
    column: usize,
}

impl LineBreaker {
    fn pass(&mut self, byte: u8, out: &mut Vec<u8>) {
        if byte == b'\n' {
            out.append(&mut self.line);
            out.push(byte);
            self.column = 0;
            return;
        }
        loop {
            let column = self.advance(self.column, byte);
            if column <= self.width {
                self.column = column;
                break;
            }
            let blank = self.line.iter().rposition(|byte| matches!(byte, b' ' | b'\t')).filter(|_| self.spaces);
            if let Some(blank) = blank {
                let rest = self.line.split_off(blank + 1);
                out.append(&mut self.line);
                out.push(b'\n');
                self.line = rest;
                self.column = self.line.iter().fold(0, |column, byte| self.advance(column, *byte));
                continue;
            }
            if self.line.is_empty() {
                // A single character that is wider than the line.
                self.column = column;
                break;
            }
            out.append(&mut self.line);
            out.push(b'\n');
            self.column = 0;
        }
        self.line.push(byte);
    }

    fn advance(&self, column: usize, byte: u8) -> usize {
        match byte {
            _ if self.bytes => column + 1,
            0x08 => column.saturating_sub(1),
            b'\r' => 0,
            b'\t' => column + 8 - column % 8,
            _ => column + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LineBreaker;

    fn folded(width: usize, spaces: bool, text: &str) -> String {
        let mut breaker = LineBreaker { width, bytes: false, spaces, line: Vec::new(), column: 0 };
        let mut out = Vec::new();
        text.bytes().for_each(|byte| breaker.pass(byte, &mut out));
        out.append(&mut breaker.line);
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn lines_break_at_the_width_or_at_spaces() {
        assert_eq!(folded(5, false, "abcdefghij klm\n"), "abcde\nfghij\n klm\n");
        assert_eq!(folded(8, true, "abcdefghij klm nopq\n"), "abcdefgh\nij klm \nnopq\n");
        assert_eq!(folded(6, false, "a\tb\n"), "a\n\t\nb\n");
    }
}
