//! Reading of commands line by line: from standard input, so that commands can read the following lines, and wherever lines
//! are remembered.

use std::rc::Rc;

use tidebox_rt as rt;

use crate::history::LinePosition;
use crate::ir::Bytes;
use crate::parse::{Parser, SyntaxErrorKind, Texts};
use crate::state::{EvalResult, Shell, Unwind};

/// The source of lines.
pub(crate) enum Lines<'t> {
    Text(&'t [u8]),
    Stdin,
}

impl Lines<'_> {
    /// The next line with its newline, which the last one may lack; empty at the end.
    fn next(&mut self, shell: &mut Shell) -> EvalResult<Bytes> {
        Ok(match self {
            Lines::Text(text) => {
                let len = text.iter().position(|&b| b == b'\n').map_or(text.len(), |at| at + 1);
                let (line, rest) = text.split_at_checked(len).unwrap_or((text, b""));
                *text = rest;
                // Nothing of a script is a NUL.
                line.iter().copied().filter(|&b| b != 0).collect()
            }
            Lines::Stdin => return read_raw_line(shell),
        })
    }
}

/// The input that is still needed before a command could end.
enum MissingInput {
    Nothing,
    Line,
    /// A line with this byte.
    Quote(u8),
    /// A line that starts, after tabs, with the end of a here-document.
    Delimiter(Bytes),
}

impl MissingInput {
    /// The position of the next line.
    fn position(&self) -> LinePosition {
        match self {
            Self::Nothing | Self::Line => LinePosition::Later,
            Self::Quote(_) | Self::Delimiter(_) => LinePosition::Literal,
        }
    }

    /// Returns whether the command may end with this line, which follows `before`.
    fn may_be(&self, line: &[u8], before: &[u8]) -> bool {
        match self {
            _ if line.is_empty() => true,
            Self::Nothing | Self::Line => true,
            Self::Quote(quote) => line.contains(quote),
            Self::Delimiter(delimiter) => {
                let tabs = line.iter().take_while(|&&b| b == b'\t').count();
                line.get(tabs..).unwrap_or_default().starts_with(delimiter)
                    || line.starts_with(delimiter)
                    || before.ends_with(b"\\\n")
            }
        }
    }
}

impl Shell {
    /// Reads lines and runs their commands; the first line has this number.
    pub(crate) fn run_lines(&mut self, lines: Lines<'_>, number: u32, source: &Rc<[u8]>, origin: &[u8]) -> EvalResult {
        let outer = (self.history.reads_lines, self.history.added);
        self.history.reads_lines = true;
        let result = self.run_line_by_line(lines, number, source, origin);
        (self.history.reads_lines, self.history.added) = outer;
        result
    }

    fn run_line_by_line(
        &mut self,
        mut lines: Lines<'_>,
        mut number: u32,
        source: &Rc<[u8]>,
        origin: &[u8],
    ) -> EvalResult {
        let prompts = matches!(lines, Lines::Stdin) && self.options.interactive;
        let mut text = Bytes::new();
        let mut missing = MissingInput::Nothing;
        // Number of lines read for the command.
        let mut read = 0;
        loop {
            let line = if prompts { self.prompt_line(&mut lines, text.is_empty()) } else { lines.next(self) };
            if prompts && line == Err(Unwind::Discard) {
                // The interrupt key discards the lines of the command.
                text.clear();
                missing = MissingInput::Nothing;
                number = number.saturating_add(std::mem::take(&mut read));
                continue;
            }
            let line = line?;
            let ended = !line.ends_with(b"\n");
            read += u32::from(!line.is_empty());
            if self.options.history && !line.is_empty() {
                let position = if text.is_empty() { LinePosition::First } else { missing.position() };
                self.record_line(&line, position);
            }
            let empty = line.is_empty();
            let may_end = missing.may_be(&line, &text);
            text.extend_from_slice(&line);
            if !ended && !may_end {
                continue;
            }
            if text.is_empty() && ended {
                if prompts {
                    self.show_end();
                    if self.stays_for_stopped_jobs() {
                        continue;
                    }
                    return Ok(());
                }
                break;
            }
            if !ended {
                missing = self.missing_input(&text, number, source);
                if !matches!(missing, MissingInput::Nothing) {
                    continue;
                }
            }
            self.run_source(&text, number, Rc::clone(source), origin)?;
            number = number.saturating_add(std::mem::take(&mut read));
            text.clear();
            missing = MissingInput::Nothing;
            if ended && (!prompts || empty) {
                break;
            }
        }
        if prompts {
            self.show_end();
        }
        Ok(())
    }

    /// Reads the next line and prints it after the prompt, as a terminal does. `first` is set at the start of a command.
    fn prompt_line(&mut self, lines: &mut Lines<'_>, first: bool) -> EvalResult<Bytes> {
        self.show_prompt(first)?;
        let line = lines.next(self)?;
        if !line.is_empty() && !self.has_terminal() {
            self.show_line(&line);
        }
        Ok(line)
    }

    /// The input that this text needs to consist of whole commands.
    fn missing_input(&self, text: &[u8], line: u32, source: &Rc<[u8]>) -> MissingInput {
        let texts = Texts::default();
        let mut parser = Parser::new(text, line, Rc::clone(source));
        if parser.ends_joined() {
            return MissingInput::Line;
        }
        parser.set_texts(&texts);
        parser.set_extglob(self.options.extglob);
        parser.set_posix(self.options.posix);
        parser.set_aliases(self.options.expand_aliases.then(|| Rc::clone(&self.aliases)));
        loop {
            let result = parser.next_list();
            if let Some((_, _, delimiter)) = parser.unfinished.first() {
                return MissingInput::Delimiter(delimiter.clone());
            }
            match result {
                Ok(None) => return if parser.ends_joined() { MissingInput::Line } else { MissingInput::Nothing },
                Ok(Some(_)) => {}
                Err(error) => {
                    return match error.kind {
                        SyntaxErrorKind::Unclosed(quote @ (b'\'' | b'"' | b'`')) => MissingInput::Quote(quote),
                        _ if error.is_incomplete() => MissingInput::Line,
                        _ => MissingInput::Nothing,
                    };
                }
            }
        }
    }
}

fn read_raw_line(shell: &mut Shell) -> EvalResult<Bytes> {
    let mut line = Bytes::new();
    shell.io.flush();
    let Some(fd) = shell.io.fd(0) else { return Ok(line) };
    let mut byte = [0];
    loop {
        match rt::read(fd, &mut byte) {
            Ok(1) => {
                line.extend_from_slice(&byte);
                if byte == *b"\n" {
                    return Ok(line);
                }
            }
            Err(rt::Errno::INTR) if shell.has_terminal() => {
                shell.run_pending_traps()?;
                // The output of a trap shows before the next line is read.
                shell.io.flush();
            }
            Err(rt::Errno::INTR) => {}
            _ => {
                end_last_line(&mut line);
                return Ok(line);
            }
        }
    }
}

/// Appends a newline to a last line that ends with a backslash, so that the backslash is a continuation.
pub(super) fn end_last_line(text: &mut Bytes) {
    if text.ends_with(b"\\") {
        text.push(b'\n');
    }
}
