//! `col`: takes the motions of a printer out of a text, so that every line is written once.

use std::collections::VecDeque;

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Takes, long};
use tidebox_gnu::message::print_error;
use tidebox_gnu::stream::{Input, Output};
use unicode_width::UnicodeWidthChar as _;

const HELP: &str = "
Usage:
 col [options]

Filter out reverse line feeds from standard input.

Options:
 -b, --no-backspaces    do not output backspaces
 -f, --fine             permit forward half line feeds
 -p, --pass             pass unknown control sequences
 -h, --tabs             convert spaces to tabs
 -x, --spaces           convert tabs to spaces
 -l, --lines NUM        buffer at least NUM lines
 -H, --help             display this help
 -v, --version          display version

For more details see col(1).
";

/// Lines that are kept for going back, when the command line does not say.
const KEPT_LINES: usize = 128;
/// Columns between two tab stops.
const TAB: usize = 8;

#[derive(Clone, Copy, Debug)]
struct Options {
    no_backspaces: bool,
    fine: bool,
    pass: bool,
    tabs: bool,
    kept: usize,
}

/// Runs `col`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let long = [
        long("no-backspaces", Takes::Nothing, 'b'),
        long("fine", Takes::Nothing, 'f'),
        long("pass", Takes::Nothing, 'p'),
        long("tabs", Takes::Nothing, 'h'),
        long("spaces", Takes::Nothing, 'x'),
        long("lines", Takes::Value, 'l'),
        long("help", Takes::Nothing, 'H'),
        long("version", Takes::Nothing, 'V'),
    ];
    let mut options = Options { no_backspaces: false, fine: false, pass: false, tabs: true, kept: KEPT_LINES * 2 };
    let line =
        CommandLine { version: "col from util-linux 2.38.1\n", ..CommandLine::new("col", "bfhl:pxHV", &long, HELP) };
    let operands = line.parse::<i32>(arguments, |key, value| {
        match key {
            'b' => options.no_backspaces = true,
            'f' => options.fine = true,
            'h' => options.tabs = true,
            'p' => options.pass = true,
            'x' => options.tabs = false,
            _ => {
                let shown = String::from_utf8_lossy(&value);
                let Some(count) = shown.parse::<usize>().ok().filter(|count| *count > 0) else {
                    print_error("col", &format!("bad -l argument: '{shown}'"));
                    return Err(1);
                };
                options.kept = count.saturating_mul(2);
            }
        }
        Ok(())
    });
    match operands {
        Err(code) => code,
        Ok(operands) if !operands.is_empty() => line.usage_error("bad usage"),
        Ok(_) => filter(options),
    }
}

fn filter(options: Options) -> i32 {
    let mut paper = Paper::new(options);
    let (mut input, mut text) = (Input::standard(), Vec::new());
    loop {
        match input.line(b'\n', &mut text) {
            Ok(true) => paper.read(&text),
            Ok(false) => return paper.finish(),
            Err(errno) => return crate::cannot("col", b"stdin", errno),
        }
    }
}

/// A character on the paper.
#[derive(Clone, Debug)]
struct Mark {
    column: usize,
    text: Vec<u8>,
    width: usize,
    alternate: bool,
}

/// The lines that can still be gone back to. Places are counted in half lines.
struct Paper {
    options: Options,
    out: Output,
    lines: VecDeque<Vec<Mark>>,
    /// Position of the first buffered line.
    first: usize,
    /// Current position.
    place: usize,
    column: usize,
    alternate: bool,
    lowest: usize,
    /// Pending half lines before the next mark.
    blank: usize,
    written_alternate: bool,
    warned: bool,
}

impl Paper {
    fn new(options: Options) -> Self {
        Self {
            options,
            out: Output::standard(),
            lines: VecDeque::new(),
            first: 0,
            place: 0,
            column: 0,
            alternate: false,
            lowest: 0,
            blank: 0,
            written_alternate: false,
            warned: false,
        }
    }

    fn read(&mut self, text: &[u8]) {
        for chunk in text.utf8_chunks() {
            let mut chars = chunk.valid().chars();
            while let Some(char) = chars.next() {
                match char {
                    '\u{1b}' => self.escape(chars.next()),
                    char => self.char(char),
                }
            }
            for byte in chunk.invalid() {
                self.mark(vec![*byte], 1);
            }
        }
    }

    fn char(&mut self, char: char) {
        match char {
            '\u{8}' => self.column = self.column.saturating_sub(1),
            '\r' => self.column = 0,
            '\n' => {
                self.down(2);
                self.column = 0;
            }
            '\u{e}' => self.alternate = true,
            '\u{f}' => self.alternate = false,
            '\t' => self.column = self.column / TAB * TAB + TAB,
            '\u{b}' => self.up(2),
            ' ' => self.column += 1,
            char if char.is_control() => {
                if self.options.pass {
                    self.mark(char.to_string().into_bytes(), 1);
                }
            }
            char => self.mark(char.to_string().into_bytes(), char.width().unwrap_or(0)),
        }
    }

    fn escape(&mut self, next: Option<char>) {
        match next {
            Some('\u{7}') => self.up(2),
            Some('\u{8}') => self.up(1),
            Some('\t') => self.down(1),
            // Other sequences are dropped, also where control characters pass.
            _ => {}
        }
    }

    fn up(&mut self, by: usize) {
        if self.place < self.first + by {
            if !self.warned {
                let from = if self.first == 0 { "past first line" } else { "-- line already flushed" };
                self.out.flush_now();
                print_error("col", &format!("warning: can't back up {from}."));
                self.warned = true;
            }
            self.place = self.first;
        } else {
            self.place -= by;
        }
    }

    fn down(&mut self, by: usize) {
        self.place += by;
        self.lowest = self.lowest.max(self.place);
        // Half of what is kept is written at once, so that not every line moves the rest.
        if self.place.saturating_sub(self.first) > self.options.kept.saturating_mul(2) {
            self.write(self.options.kept);
        }
    }

    fn mark(&mut self, text: Vec<u8>, width: usize) {
        // What stands between two lines goes to the lower one, where half lines are not wanted.
        if !self.options.fine {
            self.place += self.place % 2;
        }
        let at = self.place - self.first;
        if at >= self.lines.len() {
            self.lines.resize(at + 1, Vec::new());
        }
        if let Some(line) = self.lines.get_mut(at) {
            line.push(Mark { column: self.column, text, width, alternate: self.alternate });
        }
        self.lowest = self.lowest.max(self.place);
        self.column += width;
    }

    /// Writes so many half lines from the first on.
    fn write(&mut self, count: usize) {
        for _ in 0..count {
            if let Some(mut line) = self.lines.pop_front().filter(|line| !line.is_empty()) {
                self.write_blank();
                line.sort_by_key(|mark| mark.column);
                self.write_line(&line);
            }
            self.blank += 1;
            self.first += 1;
        }
    }

    fn write_blank(&mut self) {
        let half = self.blank % 2 == 1;
        let whole = self.blank / 2 + usize::from(half && !self.options.fine);
        self.out.push(&vec![b'\n'; whole]);
        if half && self.options.fine {
            self.out.push(b"\x1b9");
            if whole == 0 {
                self.out.push(b"\r");
            }
        }
        self.blank = 0;
    }

    fn write_line(&mut self, line: &[Mark]) {
        let mut column = 0;
        for (at, mark) in line.iter().enumerate() {
            let next = line.get(at + 1).map(|mark| mark.column);
            let covered = next == Some(mark.column);
            if covered && self.options.no_backspaces {
                continue;
            }
            self.skip(column, mark.column);
            if mark.alternate != self.written_alternate {
                self.out.push(if mark.alternate { b"\x0e" } else { b"\x0f" });
                self.written_alternate = mark.alternate;
            }
            self.out.push(&mark.text);
            column = mark.column + mark.width;
            if covered {
                self.out.push(&vec![8; mark.width]);
                column = mark.column;
            }
        }
    }

    /// Moves from one column to another in tabs, where they are wanted, and blanks.
    fn skip(&mut self, from: usize, to: usize) {
        let gap = to.saturating_sub(from);
        let tabs = if self.options.tabs && gap > 1 { to / TAB - from / TAB } else { 0 };
        self.out.push(&vec![b'\t'; tabs]);
        self.out.push(&vec![b' '; if tabs > 0 { to % TAB } else { gap }]);
    }

    fn finish(mut self) -> i32 {
        if self.lowest == 0 && self.lines.is_empty() {
            return self.out.finish("col", 0);
        }
        let marked = self.lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
        let end = self.lowest;
        self.write(marked);
        if self.written_alternate {
            self.out.push(b"\x0f");
        }
        // The last line has an end, also where the input had none.
        let left = end.saturating_sub(self.first.saturating_sub(1));
        self.blank = if marked == 0 { self.blank + end.saturating_sub(self.first) } else { left };
        self.blank += if end % 2 == 1 {
            1
        } else if self.blank == 0 {
            2
        } else {
            0
        };
        self.write_blank();
        self.out.finish("col", 0)
    }
}
