//! `g` and `v`: commands for all lines that match, or do not match.

use crate::address::{Cursor, Range};
use crate::buffer::Line;
use crate::session::{CommandError, Session, Step};

impl Session {
    pub(crate) fn global(&mut self, letter: u8, range: Range, cursor: &mut Cursor<'_>) -> Result<Step, CommandError> {
        if self.scripted.is_some() {
            return Err(CommandError::new("Cannot nest global commands"));
        }
        let asks = matches!(letter, b'G' | b'V');
        let range = match range.given {
            0 => Range { first: 1.min(self.buffer.len()), last: self.buffer.len(), given: 2 },
            _ => self.lines_of(range)?,
        };
        let delimiter = cursor.next().filter(|byte| !matches!(byte, b' ' | b'\n'));
        let delimiter = delimiter.ok_or_else(|| CommandError::new("Invalid pattern delimiter"))?;
        let (pattern, _) = cursor.until(delimiter);
        self.set_pattern(&pattern)?;
        let wanted = matches!(letter, b'g' | b'G');
        let mut chosen: Vec<Line> = Vec::new();
        for number in range.first.max(1)..=range.last {
            if self.matches(number)? == wanted {
                chosen.extend(self.buffer.line(number).cloned());
            }
        }
        let commands = if asks { Vec::new() } else { self.commands(cursor) };
        self.buffer.remember();
        let mut last_command: Vec<Vec<u8>> = Vec::new();
        for line in chosen {
            // A line removed by an earlier command is skipped.
            let Some(number) = self.buffer.number(&line) else {
                continue;
            };
            self.buffer.current = number;
            let mut list = commands.clone();
            if asks {
                self.execute(b"p")?;
                let Some(typed) = self.read_line() else {
                    return Err(CommandError::new("Unexpected end-of-file"));
                };
                match typed.as_slice() {
                    b"" => continue,
                    b"&" => list = last_command.clone(),
                    _ => list = vec![typed],
                }
                last_command.clone_from(&list);
            }
            self.run(list)?;
        }
        Ok(Step::Next)
    }

    fn run(&mut self, commands: Vec<Vec<u8>>) -> Result<(), CommandError> {
        self.scripted = Some(commands.into());
        let mut result = Ok(Step::Next);
        while result.is_ok()
            && let Some(line) = self.read_line()
        {
            result = self.execute(&line);
        }
        self.scripted = None;
        result.map(|_| ())
    }

    /// The commands after the pattern: each line except the last ends with a backslash.
    fn commands(&mut self, cursor: &Cursor<'_>) -> Vec<Vec<u8>> {
        let mut line = cursor.0.to_vec();
        let mut commands = Vec::new();
        loop {
            let backslashes = line.iter().rev().take_while(|byte| **byte == b'\\').count();
            if backslashes % 2 == 0 {
                break;
            }
            line.pop();
            commands.push(line);
            match self.read_line() {
                Some(next) => line = next,
                None => return commands,
            }
        }
        if commands.is_empty() && line.is_empty() {
            line = b"p".to_vec();
        }
        commands.push(line);
        commands
    }
}
