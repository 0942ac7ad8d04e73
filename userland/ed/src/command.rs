//! Commands.

mod file;

use crate::address::{Cursor, Range};
use crate::buffer::Line;
use crate::session::{Session, Step, Trouble};
use crate::show::Suffix;

/// What a command that asks for nothing more answers.
type Done = Result<Step, Trouble>;

fn wrong(text: &str) -> Trouble {
    Trouble::new(text)
}

impl Session {
    /// Carries out a line.
    pub(crate) fn execute(&mut self, line: &[u8]) -> Done {
        let mut cursor = Cursor(line);
        let range = self.range(&mut cursor)?;
        cursor.skip_blanks();
        let Some(letter) = cursor.next() else {
            return self.go_to(range);
        };
        match letter {
            b'a' | b'i' | b'c' => self.add(letter, range, &mut cursor),
            b'd' => {
                let range = self.lines_of(range)?;
                let suffix = self.suffix(&mut cursor)?;
                self.start_change();
                self.cut = self.buffer.remove(range.first, range.last);
                self.show_current(suffix)
            }
            b'e' | b'E' => self.edit(letter == b'E', range, &mut cursor),
            b'f' => {
                no_address(range)?;
                if let Some(name) = self.file_name(&mut cursor, b'f')? {
                    self.file = Some(name);
                }
                let name = self.file.clone().ok_or_else(|| wrong("No current filename"))?;
                self.out.push(&[name.as_slice(), b"\n"].concat());
                Ok(Step::Next)
            }
            b'g' | b'v' | b'G' | b'V' => self.global(letter, range, &mut cursor),
            b'h' => {
                no_address(range)?;
                let suffix = self.suffix(&mut cursor)?;
                if let Some(text) = self.last_trouble.clone() {
                    self.out.push(format!("{text}\n").as_bytes());
                }
                self.show_current(suffix)
            }
            b'H' => {
                no_address(range)?;
                let suffix = self.suffix(&mut cursor)?;
                self.verbose = !self.verbose;
                if let (true, Some(text)) = (self.verbose, self.last_trouble.clone()) {
                    self.out.push(format!("{text}\n").as_bytes());
                }
                self.show_current(suffix)
            }
            b'j' => self.join(range, &mut cursor),
            b'k' => {
                let mark =
                    cursor.next().filter(u8::is_ascii_lowercase).ok_or_else(|| wrong("Invalid mark character"))?;
                let line = self.last_of(range)?;
                let suffix = self.suffix(&mut cursor)?;
                self.buffer.mark(mark, line);
                self.show_current(suffix)
            }
            b'l' | b'n' | b'p' => {
                let range = self.lines_of(range)?;
                let suffix = self.suffix(&mut cursor)?.with(letter);
                self.show(range.first, range.last, suffix)
            }
            b'm' | b't' => self.place(letter, range, &mut cursor),
            b'P' => {
                no_address(range)?;
                let suffix = self.suffix(&mut cursor)?;
                self.prompts = !self.prompts;
                self.show_current(suffix)
            }
            b'q' | b'Q' => {
                no_address(range).map_err(|_| wrong("Unexpected address"))?;
                self.suffix(&mut cursor)?;
                if letter == b'q' && self.buffer.changed && !self.warned {
                    return Err(Trouble::modified());
                }
                Ok(Step::Quit(self.code))
            }
            b'r' => {
                let behind = if range.given > 0 { range.last } else { self.buffer.len() };
                let name = self.file_name(&mut cursor, b'r')?.or_else(|| self.file.clone());
                let name = name.ok_or_else(|| wrong("No current filename"))?;
                if self.file.is_none() && !name.starts_with(b"!") {
                    self.file = Some(name.clone());
                }
                self.start_change();
                self.read_file(&name, behind)?;
                Ok(Step::Next)
            }
            b's' => self.substitute(range, &mut cursor),
            b'u' => {
                no_address(range)?;
                let suffix = self.suffix(&mut cursor)?;
                if !self.buffer.undo() {
                    return Err(wrong("Nothing to undo"));
                }
                self.show_current(suffix)
            }
            b'w' | b'W' => self.write(letter == b'W', range, &mut cursor),
            b'x' => {
                let behind = if range.given > 0 { range.last } else { self.buffer.current };
                let suffix = self.suffix(&mut cursor)?;
                if self.cut.is_empty() {
                    return Err(wrong("Nothing to put"));
                }
                self.start_change();
                let copies = self.cut.iter().map(|line| Line::from(&**line)).collect();
                self.buffer.insert(behind, copies);
                self.show_current(suffix)
            }
            b'y' => {
                let range = self.lines_of(range)?;
                let suffix = self.suffix(&mut cursor)?;
                self.cut = self.buffer.lines(range.first, range.last).to_vec();
                self.show_current(suffix)
            }
            b'z' => {
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
                let suffix = self.suffix(&mut cursor)?;
                let last = first.saturating_add(self.window - 1).min(self.buffer.len());
                self.show(first, last, suffix.with(b'p'))
            }
            b'=' => {
                let line = if range.given > 0 { range.last } else { self.buffer.len() };
                let suffix = self.suffix(&mut cursor)?;
                self.out.push(format!("{line}\n").as_bytes());
                self.show_current(suffix)
            }
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

    /// The lines of a range; there must be some.
    pub(crate) fn lines_of(&self, range: Range) -> Result<Range, Trouble> {
        if range.first == 0 || range.last == 0 || range.first > range.last {
            return Err(wrong("Invalid address"));
        }
        Ok(range)
    }

    fn last_of(&self, range: Range) -> Result<usize, Trouble> {
        if range.last == 0 { Err(wrong("Invalid address")) } else { Ok(range.last) }
    }

    /// Remembers the text for `u`, once for all that one `g` does.
    pub(crate) fn start_change(&mut self) {
        if self.scripted.is_none() {
            self.buffer.remember();
        }
    }

    fn add(&mut self, letter: u8, range: Range, cursor: &mut Cursor<'_>) -> Done {
        let suffix = self.suffix(cursor)?;
        self.start_change();
        let behind = match letter {
            b'a' => range.last,
            b'i' => range.last.saturating_sub(1),
            _ => {
                let first = range.first.max(1);
                self.cut = self.buffer.remove(first, range.last.max(first));
                first - 1
            }
        };
        let lines = self.read_text();
        if lines.is_empty() && letter != b'c' {
            self.buffer.current = range.last;
        } else if !lines.is_empty() {
            self.buffer.insert(behind, lines);
        }
        self.show_current(suffix)
    }

    fn join(&mut self, range: Range, cursor: &mut Cursor<'_>) -> Done {
        let range = match range.given {
            0 => Range { first: self.buffer.current, last: self.buffer.current + 1, given: 2 },
            1 => Range { first: range.last, last: range.last, given: 2 },
            _ => range,
        };
        if range.first == 0 || range.last > self.buffer.len() {
            return Err(wrong("Invalid address"));
        }
        let suffix = self.suffix(cursor)?;
        if range.first < range.last {
            self.start_change();
            let taken = self.buffer.remove(range.first, range.last);
            let joined: Vec<u8> = taken.iter().flat_map(|line| line.iter().copied()).collect();
            self.cut = taken;
            self.buffer.insert(range.first - 1, vec![Line::from(joined)]);
        }
        self.show_current(suffix)
    }

    /// `m` and `t`: lines go behind another one, or copies of them do.
    fn place(&mut self, letter: u8, range: Range, cursor: &mut Cursor<'_>) -> Done {
        let range = self.lines_of(range)?;
        let behind = match self.address(cursor)? {
            Some(behind) => usize::try_from(behind).ok().filter(|behind| *behind <= self.buffer.len()),
            None => Some(self.buffer.current),
        };
        let behind = behind.ok_or_else(|| wrong("Invalid address"))?;
        let suffix = self.suffix(cursor)?;
        if letter == b't' {
            self.start_change();
            let copies = self.buffer.lines(range.first, range.last).iter().map(|line| Line::from(&**line)).collect();
            self.buffer.insert(behind, copies);
            return self.show_current(suffix);
        }
        if (range.first..range.last).contains(&behind) {
            return Err(wrong("Invalid destination"));
        }
        self.start_change();
        let count = range.last - range.first + 1;
        let taken = self.buffer.remove(range.first, range.last);
        let behind = if behind >= range.last { behind - count } else { behind };
        self.buffer.insert(behind, taken);
        self.show_current(suffix)
    }
}

fn no_address(range: Range) -> Result<(), Trouble> {
    if range.given > 0 { Err(wrong("Unexpected address")) } else { Ok(()) }
}
