//! Commands.

use tidebox_gnu::command::{Command, wait};
use tidebox_gnu::stream::Input;
use tidebox_rt::{Errno, Open};

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

    /// The name behind a command.
    fn file_name(&self, cursor: &mut Cursor<'_>, letter: u8) -> Result<Option<Vec<u8>>, Trouble> {
        match cursor.peek() {
            None => return Ok(None),
            Some(b' ' | b'\t') => cursor.skip_blanks(),
            Some(_) => return Err(wrong("Unexpected command suffix")),
        }
        let name = cursor.0.to_vec();
        if name.starts_with(b"!") && (letter == b'f' || self.restricted) {
            return Err(wrong(if self.restricted { "Shell access restricted" } else { "Invalid redirection" }));
        }
        if self.restricted && (name == b".." || name.contains(&b'/')) {
            return Err(wrong("Directory access restricted"));
        }
        Ok(Some(name).filter(|name| !name.is_empty()))
    }

    fn edit(&mut self, anyway: bool, range: Range, cursor: &mut Cursor<'_>) -> Done {
        no_address(range)?;
        let name = self.file_name(cursor, b'e')?;
        if !anyway && self.buffer.changed && !self.warned {
            return Err(Trouble::modified());
        }
        let name = name.or_else(|| self.file.clone()).ok_or_else(|| wrong("No current filename"))?;
        let end = self.buffer.len();
        self.buffer.remove(1, end);
        if !name.starts_with(b"!") {
            self.file = Some(name.clone());
        }
        let result = self.read_file(&name, 0);
        self.buffer.changed = false;
        self.buffer.forget();
        result.map(|()| Step::Next)
    }

    /// Reads a file, or what a command prints, behind a line, and says how many bytes there were.
    pub(crate) fn read_file(&mut self, name: &[u8], behind: usize) -> Result<(), Trouble> {
        let text = match name.strip_prefix(b"!") {
            Some(command) => self.output_of(command)?,
            None => match Input::file(name).and_then(|mut input| input.rest()) {
                Ok(text) => text,
                Err(errno) => {
                    self.complain(name, errno);
                    return Err(wrong("Cannot open input file"));
                }
            },
        };
        let mut lines: Vec<Line> = text.split(|byte| *byte == b'\n').map(Line::from).collect();
        let ends = text.ends_with(b"\n") || text.is_empty();
        if ends {
            lines.pop();
        }
        let mut count = text.len();
        if !ends {
            self.out.push(b"Newline appended\n");
            count += 1;
        }
        if self.strips_returns {
            let strip = |line: &Line| Line::from(line.strip_suffix(b"\r").unwrap_or(line));
            lines = lines.iter().map(strip).collect();
        }
        if lines.is_empty() {
            self.buffer.current = behind;
        }
        self.buffer.insert(behind, lines);
        if !self.quiet {
            self.out.push(format!("{count}\n").as_bytes());
        }
        Ok(())
    }

    fn write(&mut self, append: bool, range: Range, cursor: &mut Cursor<'_>) -> Done {
        let quits = matches!(cursor.peek(), Some(b'q' | b'Q'));
        if quits {
            cursor.next();
        }
        let range = match range.given {
            0 => Range { first: 1.min(self.buffer.len()), last: self.buffer.len(), given: 2 },
            _ => self.lines_of(range)?,
        };
        let name = self.file_name(cursor, b'w')?.or_else(|| self.file.clone());
        let name = name.ok_or_else(|| wrong("No current filename"))?;
        let mut text = Vec::new();
        for line in self.buffer.lines(range.first, range.last) {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
        if let Some(command) = name.strip_prefix(b"!") {
            self.pipe_to(command, &text)?;
        } else {
            let how = Open { write: true, create: true, truncate: !append, append, ..Open::default() };
            let written =
                tidebox_rt::open(&name, how).and_then(|fd| tidebox_rt::write_all(fd, &text).and(tidebox_rt::close(fd)));
            if let Err(errno) = written {
                self.complain(&name, errno);
                return Err(wrong("Cannot open output file"));
            }
            if self.file.is_none() {
                self.file = Some(name);
            }
        }
        if !self.quiet {
            self.out.push(format!("{}\n", text.len()).as_bytes());
        }
        if range.first <= 1 && range.last == self.buffer.len() {
            self.buffer.changed = false;
        }
        Ok(if quits { Step::Quit(self.code) } else { Step::Next })
    }

    fn spawn(&self, command: &[u8], descriptors: &[(u32, u32)]) -> Result<u32, Trouble> {
        let arguments: &[&[u8]] = &[b"sh", b"-c", command];
        Command { descriptors, ..Command::new(arguments) }.spawn().map_err(|errno| wrong(errno.text()))
    }

    /// What a command prints.
    fn output_of(&mut self, command: &[u8]) -> Result<Vec<u8>, Trouble> {
        self.out.flush_now();
        let (read, write) = tidebox_rt::pipe().map_err(|errno| wrong(errno.text()))?;
        let started = self.spawn(command, &[(0, 0), (1, write), (2, 2)]);
        let _ = tidebox_rt::close(write);
        let mut input = Input::of(read);
        let pid = started?;
        let text = input.rest().map_err(|errno: Errno| wrong(errno.text()));
        let _ = wait(pid);
        text
    }

    fn pipe_to(&mut self, command: &[u8], text: &[u8]) -> Result<(), Trouble> {
        self.out.flush_now();
        let (read, write) = tidebox_rt::pipe().map_err(|errno| wrong(errno.text()))?;
        let started = self.spawn(command, &[(0, read), (1, 1), (2, 2)]);
        let _ = tidebox_rt::close(read);
        let written = started.as_ref().map(|_| tidebox_rt::write_all(write, text));
        let _ = tidebox_rt::close(write);
        let _ = written;
        let _ = wait(started?);
        Ok(())
    }

    /// `!`: a command for the shell; `!!` is the last one, and `%` in it the file.
    fn shell(&mut self, text: &[u8]) -> Done {
        if self.restricted {
            return Err(wrong("Shell access restricted"));
        }
        let mut command = Vec::new();
        let mut changed = false;
        let mut rest = text;
        if let Some(after) = text.strip_prefix(b"!") {
            command = self.last_shell.clone().ok_or_else(|| wrong("No previous command"))?;
            (rest, changed) = (after, true);
        }
        let mut bytes = rest.iter().peekable();
        while let Some(byte) = bytes.next() {
            match byte {
                b'\\' if bytes.peek() == Some(&&b'%') => command.extend(bytes.next()),
                b'%' => {
                    let name = self.file.clone().ok_or_else(|| wrong("No current filename"))?;
                    command.extend(name);
                    changed = true;
                }
                byte => command.push(*byte),
            }
        }
        if changed {
            self.out.push(&[command.as_slice(), b"\n"].concat());
        }
        self.out.flush_now();
        let pid = self.spawn(&command, &[(0, 0), (1, 1), (2, 2)])?;
        let _ = wait(pid);
        self.last_shell = Some(command);
        if !self.quiet {
            self.out.push(b"!\n");
        }
        Ok(Step::Next)
    }
}

fn no_address(range: Range) -> Result<(), Trouble> {
    if range.given > 0 { Err(wrong("Unexpected address")) } else { Ok(()) }
}
