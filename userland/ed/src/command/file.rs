//! File and shell commands.

use tidebox_gnu::command::{Command, wait};
use tidebox_gnu::stream::Input;
use tidebox_rt::{Errno, Open};

use super::{Done, no_address, wrong};
use crate::address::{Cursor, Range};
use crate::buffer::Line;
use crate::session::{CommandError, Session, Step};

impl Session {
    /// The file name after a command.
    pub(super) fn file_name(&self, cursor: &mut Cursor<'_>, letter: u8) -> Result<Option<Vec<u8>>, CommandError> {
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

    /// `f`: sets and prints the file name.
    pub(super) fn name_file(&mut self, range: Range, cursor: &mut Cursor<'_>) -> Done {
        no_address(range)?;
        if let Some(name) = self.file_name(cursor, b'f')? {
            self.file = Some(name);
        }
        let name = self.file.clone().ok_or_else(|| wrong("No current filename"))?;
        self.out.push(&[name.as_slice(), b"\n"].concat());
        Ok(Step::Next)
    }

    pub(super) fn edit(&mut self, anyway: bool, range: Range, cursor: &mut Cursor<'_>) -> Done {
        no_address(range)?;
        let name = self.file_name(cursor, b'e')?;
        if !anyway && self.buffer.changed && !self.warned {
            return Err(CommandError::modified());
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

    pub(super) fn read(&mut self, range: Range, cursor: &mut Cursor<'_>) -> Done {
        let behind = if range.given > 0 { range.last } else { self.buffer.len() };
        let name = self.file_name(cursor, b'r')?.or_else(|| self.file.clone());
        let name = name.ok_or_else(|| wrong("No current filename"))?;
        if self.file.is_none() && !name.starts_with(b"!") {
            self.file = Some(name.clone());
        }
        self.start_change();
        self.read_file(&name, behind)?;
        Ok(Step::Next)
    }

    fn opened(&mut self, name: &[u8]) -> Result<Input, CommandError> {
        Input::file(name).map_err(|errno| {
            self.print_system_error(name, errno);
            CommandError { is_unopened: true, ..wrong("Cannot open input file") }
        })
    }

    /// Inserts a file or command output after a line, and prints the number of bytes.
    pub(crate) fn read_file(&mut self, name: &[u8], behind: usize) -> Result<(), CommandError> {
        let text = match name.strip_prefix(b"!") {
            Some(command) => self.output_of(command)?,
            None => {
                let mut input = self.opened(name)?;
                input.read_to_end().map_err(|errno| {
                    self.print_system_error(name, errno);
                    wrong("Cannot read input file")
                })?
            }
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

    pub(super) fn write(&mut self, append: bool, range: Range, cursor: &mut Cursor<'_>) -> Done {
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
                self.print_system_error(&name, errno);
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

    pub(super) fn spawn(&self, command: &[u8], descriptors: &[(u32, u32)]) -> Result<u32, CommandError> {
        let arguments: &[&[u8]] = &[b"sh", b"-c", command];
        Command { descriptors, ..Command::new(arguments) }.spawn().map_err(|errno| wrong(errno.text()))
    }

    /// Output of a command.
    pub(super) fn output_of(&mut self, command: &[u8]) -> Result<Vec<u8>, CommandError> {
        self.out.flush_now();
        let (read, write) = tidebox_rt::pipe().map_err(|errno| wrong(errno.text()))?;
        let started = self.spawn(command, &[(0, 0), (1, write), (2, 2)]);
        let _ = tidebox_rt::close(write);
        let mut input = Input::of(read);
        let pid = started?;
        let text = input.read_to_end().map_err(|errno: Errno| wrong(errno.text()));
        let _ = wait(pid);
        text
    }

    pub(super) fn pipe_to(&mut self, command: &[u8], text: &[u8]) -> Result<(), CommandError> {
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

    /// `!`: a shell command; `!!` repeats the last one, and `%` is replaced by the file name.
    pub(super) fn shell(&mut self, text: &[u8]) -> Done {
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
