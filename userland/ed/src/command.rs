//! Commands.

mod file;
mod text;

use crate::address::{Cursor, Range};
use crate::session::{CommandError, Session, Step};
use crate::show::Suffix;

/// Result of an ordinary command.
type Done = Result<Step, CommandError>;

fn wrong(text: &str) -> CommandError {
    CommandError::new(text)
}

impl Session {
    /// Executes a line.
    pub(crate) fn execute(&mut self, line: &[u8]) -> Done {
        let mut cursor = Cursor(line);
        let range = self.range(&mut cursor)?;
        cursor.skip_blanks();
        let Some(letter) = cursor.next() else {
            return self.go_to(range);
        };
        match letter {
            b'a' | b'i' | b'c' => self.add(letter, range, &mut cursor),
            b'd' => self.delete(range, &mut cursor),
            b'e' | b'E' => self.edit(letter == b'E', range, &mut cursor),
            b'f' => self.name_file(range, &mut cursor),
            b'g' | b'v' | b'G' | b'V' => self.global(letter, range, &mut cursor),
            b'h' => self.explain(range, &mut cursor),
            b'H' => self.explain_always(range, &mut cursor),
            b'j' => self.join(range, &mut cursor),
            b'k' => self.mark(range, &mut cursor),
            b'l' | b'n' | b'p' => self.print(letter, range, &mut cursor),
            b'm' | b't' => self.place(letter, range, &mut cursor),
            b'P' => self.prompt(range, &mut cursor),
            b'q' | b'Q' => self.quit(letter == b'Q', range, &mut cursor),
            b'r' => self.read(range, &mut cursor),
            b's' => self.substitute(range, &mut cursor),
            b'u' => self.undo(range, &mut cursor),
            b'w' | b'W' => self.write(letter == b'W', range, &mut cursor),
            b'x' => self.put(range, &mut cursor),
            b'y' => self.yank(range, &mut cursor),
            b'z' => self.scroll(range, &mut cursor),
            b'=' => self.number(range, &mut cursor),
            b'!' => {
                no_address(range)?;
                self.shell(cursor.0)
            }
            b'#' => Ok(Step::Next),
            _ => Err(wrong("Unknown command")),
        }
    }

    /// An address alone: that line, or the next one.
    fn go_to(&mut self, range: Range) -> Done {
        let line = if range.given == 0 { self.buffer.current + 1 } else { range.last };
        if line == 0 || line > self.buffer.len() {
            return Err(wrong("Invalid address"));
        }
        self.show(line, line, Suffix::default().with(b'p'))
    }

    /// The lines of a range, which must not be empty.
    pub(crate) fn lines_of(&self, range: Range) -> Result<Range, CommandError> {
        if range.first == 0 || range.last == 0 || range.first > range.last {
            return Err(wrong("Invalid address"));
        }
        Ok(range)
    }

    fn last_of(&self, range: Range) -> Result<usize, CommandError> {
        if range.last == 0 { Err(wrong("Invalid address")) } else { Ok(range.last) }
    }

    /// Saves the text for `u`, once for all commands of one `g`.
    pub(crate) fn start_change(&mut self) {
        if self.scripted.is_none() {
            self.buffer.remember();
        }
    }

    fn explain(&mut self, range: Range, cursor: &mut Cursor<'_>) -> Done {
        no_address(range)?;
        let suffix = self.suffix(cursor)?;
        if let Some(text) = self.last_trouble.clone() {
            self.out.push(format!("{text}\n").as_bytes());
        }
        self.show_current(suffix)
    }

    /// `H`: toggles error explanations.
    fn explain_always(&mut self, range: Range, cursor: &mut Cursor<'_>) -> Done {
        no_address(range)?;
        let suffix = self.suffix(cursor)?;
        self.verbose = !self.verbose;
        if let (true, Some(text)) = (self.verbose, self.last_trouble.clone()) {
            self.out.push(format!("{text}\n").as_bytes());
        }
        self.show_current(suffix)
    }

    fn mark(&mut self, range: Range, cursor: &mut Cursor<'_>) -> Done {
        let mark = cursor.next().filter(u8::is_ascii_lowercase).ok_or_else(|| wrong("Invalid mark character"))?;
        let line = self.last_of(range)?;
        let suffix = self.suffix(cursor)?;
        self.buffer.mark(mark, line);
        self.show_current(suffix)
    }

    fn print(&mut self, letter: u8, range: Range, cursor: &mut Cursor<'_>) -> Done {
        let range = self.lines_of(range)?;
        let suffix = self.suffix(cursor)?.with(letter);
        self.show(range.first, range.last, suffix)
    }

    fn prompt(&mut self, range: Range, cursor: &mut Cursor<'_>) -> Done {
        no_address(range)?;
        let suffix = self.suffix(cursor)?;
        self.prompts = !self.prompts;
        self.show_current(suffix)
    }

    fn quit(&mut self, anyway: bool, range: Range, cursor: &mut Cursor<'_>) -> Done {
        no_address(range).map_err(|_| wrong("Unexpected address"))?;
        self.suffix(cursor)?;
        if !anyway && self.buffer.changed && !self.warned {
            return Err(CommandError::modified());
        }
        Ok(Step::Quit(self.code))
    }

    /// `z`: a window of lines, with the size given by the last `z`.
    fn scroll(&mut self, range: Range, cursor: &mut Cursor<'_>) -> Done {
        let first = if range.given > 0 { range.last } else { self.buffer.current + 1 };
        let count = cursor.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = cursor.0.split_at_checked(count).unwrap_or_default();
        cursor.0 = rest;
        if let Ok(Ok(lines)) = std::str::from_utf8(digits).map(str::parse::<usize>) {
            self.window = lines.max(1);
        }
        if first == 0 || first > self.buffer.len() {
            return Err(wrong("Invalid address"));
        }
        let suffix = self.suffix(cursor)?;
        let last = first.saturating_add(self.window - 1).min(self.buffer.len());
        self.show(first, last, suffix.with(b'p'))
    }

    fn number(&mut self, range: Range, cursor: &mut Cursor<'_>) -> Done {
        let line = if range.given > 0 { range.last } else { self.buffer.len() };
        let suffix = self.suffix(cursor)?;
        self.out.push(format!("{line}\n").as_bytes());
        self.show_current(suffix)
    }
}

fn no_address(range: Range) -> Result<(), CommandError> {
    if range.given > 0 { Err(wrong("Unexpected address")) } else { Ok(()) }
}
