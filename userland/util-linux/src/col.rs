//! `col`: resolves backspaces and carriage returns, so that each column is written once.

use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::{Input, Output};
use unicode_width::UnicodeWidthChar as _;

const USAGE: &str = "
Usage:
 col [options]

Filter out backspaces and carriage returns from standard input.

Options:
";

tidebox_gnu::options! {
    /// Options of `col`.
    enum Flag {
        NoBackspaces = "-b, --no-backspaces", "do not output backspaces";
        Fine = "-f, --fine", "", unsupported "half line feeds (-f) are not supported";
        Pass = "-p, --pass", "pass unknown control sequences";
        Tabs = "-h, --tabs", "convert spaces to tabs";
        Spaces = "-x, --spaces", "convert tabs to spaces";
        Lines = "-l, --lines NUM", "accepted: one line is buffered";
        Help = "-H, --help", "display this help";
        Version = "-V, --version", "display version";
    }
}

const SYNTAX: Syntax<'_, Flag> = Syntax {
    indent: 1,
    notes: "\nFor more details see col(1).\n",
    version: "col from util-linux 2.38.1\n",
    ..Syntax::new("col", USAGE, 24)
};

/// Columns between two tab stops.
const TAB: usize = 8;

#[derive(Clone, Copy, Debug)]
struct Options {
    no_backspaces: bool,
    pass: bool,
    tabs: bool,
}

/// Runs `col`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut options = Options { no_backspaces: false, pass: false, tabs: true };
    let operands = SYNTAX.parse::<i32>(arguments, |flag, value| {
        match flag {
            Flag::NoBackspaces => options.no_backspaces = true,
            Flag::Tabs => options.tabs = true,
            Flag::Pass => options.pass = true,
            Flag::Spaces => options.tabs = false,
            _ => {
                let shown = String::from_utf8_lossy(&value);
                if shown.parse::<usize>().ok().filter(|count| *count > 0).is_none() {
                    print_error("col", &format!("bad -l argument: '{shown}'"));
                    return Err(1);
                }
            }
        }
        Ok(())
    });
    match operands {
        Err(code) => code,
        Ok(operands) if !operands.is_empty() => SYNTAX.usage_error("bad usage"),
        Ok(_) => filter(options),
    }
}

fn filter(options: Options) -> i32 {
    let (mut input, mut text) = (Input::standard(), Vec::new());
    let mut out = Output::standard();
    loop {
        match input.line(b'\n', &mut text) {
            Ok(true) => {
                let mut line = Line { options, column: 0, cells: Vec::new() };
                line.read(text.strip_suffix(b"\n").unwrap_or(&text));
                line.write(&mut out);
            }
            Ok(false) => return out.finish("col", 0),
            Err(errno) => return crate::cannot("col", b"stdin", errno),
        }
    }
}

/// A character and its column.
struct Cell {
    column: usize,
    text: Vec<u8>,
    width: usize,
}

struct Line {
    options: Options,
    column: usize,
    cells: Vec<Cell>,
}

impl Line {
    fn read(&mut self, text: &[u8]) {
        for chunk in text.utf8_chunks() {
            let mut chars = chunk.valid().chars();
            while let Some(char) = chars.next() {
                match char {
                    '\u{8}' => self.column = self.column.saturating_sub(1),
                    '\r' => self.column = 0,
                    '\t' => self.column = self.column / TAB * TAB + TAB,
                    ' ' => self.column += 1,
                    // Drop escape sequences of two characters, even if control characters pass.
                    '\u{1b}' => drop(chars.next()),
                    char if char.is_control() && !self.options.pass => {}
                    char => self.push(char.to_string().into_bytes(), char.width().unwrap_or(1)),
                }
            }
            chunk.invalid().iter().for_each(|byte| self.push(vec![*byte], 1));
        }
    }

    fn push(&mut self, text: Vec<u8>, width: usize) {
        self.cells.push(Cell { column: self.column, text, width });
        self.column += width;
    }

    fn write(mut self, out: &mut Output) {
        self.cells.sort_by_key(|cell| cell.column);
        let mut column = 0;
        for (at, cell) in self.cells.iter().enumerate() {
            let is_covered = self.cells.get(at + 1).is_some_and(|next| next.column == cell.column);
            if is_covered && self.options.no_backspaces {
                continue;
            }
            self.write_gap(column, cell.column, out);
            out.push(&cell.text);
            column = cell.column + cell.width;
            if is_covered {
                out.push(&vec![8; cell.width]);
                column = cell.column;
            }
        }
        out.push(b"\n");
    }

    /// Writes tabs, if enabled, and blanks from one column to another.
    fn write_gap(&self, from: usize, to: usize, out: &mut Output) {
        let gap = to.saturating_sub(from);
        let tabs = if self.options.tabs && gap > 1 { to / TAB - from / TAB } else { 0 };
        out.push(&vec![b'\t'; tabs]);
        out.push(&vec![b' '; if tabs > 0 { to % TAB } else { gap }]);
    }
}
