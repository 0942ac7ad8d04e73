//! Reading and running of the commands of a text.

use std::borrow::Cow;
use std::rc::Rc;

use crate::invoke::Lines;
use crate::ir::List;
use crate::parse::{Parser, SyntaxError, Texts};
use crate::state::{EvalResult, Shell, TEXT_LEVELS, Unwind};

impl Shell {
    /// Runs a text as commands of the current shell, as `eval` and traps do.
    pub(crate) fn run_text(&mut self, text: &[u8], line: u32) -> EvalResult {
        let source = self.current_source();
        self.descend(TEXT_LEVELS, |shell| shell.run_source(text, line, source, b""))
    }

    /// Reads and runs the commands of a text. `origin` precedes the line number in syntax errors.
    pub(crate) fn run_source(&mut self, text: &[u8], line: u32, source: Rc<[u8]>, origin: &[u8]) -> EvalResult {
        let text = whole_lines(text);
        let name = if source.is_empty() { self.name_of_source() } else { source };
        let texts = Texts::default();
        let mut parser = Parser::new(&text, line, Rc::clone(&name));
        parser.set_texts(&texts);
        // The parser has the stack that the evaluator has left.
        parser.start_at_depth(self.flow.depth / 8);
        let mut ran = false;
        loop {
            if self.options.history && self.flow.depth == 0 && !self.history.reads_lines {
                let (rest, line) = parser.unread();
                return self.run_lines(Lines::Text(rest), line, &name, origin);
            }
            parser.set_extglob(self.options.extglob);
            parser.set_posix(self.options.posix);
            parser.set_aliases(self.options.expand_aliases.then(|| Rc::clone(&self.aliases)));
            let from = parser.place();
            let list = parser.next_list();
            self.warn_unterminated(&std::mem::take(&mut parser.unfinished));
            let list = match list {
                Ok(list) => list,
                Err(error) => {
                    self.syntax_error(&error, parser.text_of_line(line, error.line), origin);
                    return self.unwind_for_syntax_error();
                }
            };
            if self.options.verbose {
                // A closed standard error is ignored.
                let _ = self.io.write(2, parser.text_since(from, line));
            }
            let Some(list) = list else { break };
            if self.options.noexec {
                continue;
            }
            ran = true;
            self.run_read(&parser, &list)?;
        }
        // An empty text sets the status of `eval` and `source`; comments on standard input do not.
        if !ran && self.flow.depth > 0 {
            self.status = 0;
        }
        Ok(())
    }

    /// Runs the commands that were read last.
    fn run_read(&mut self, parser: &Parser<'_>, list: &List) -> EvalResult {
        self.computed.commands_read += u32::from(self.flow.depth == 0 && !self.options.from_string);
        self.line = parser.last_line();
        match self.run_list(list) {
            // An error that discards a command in a subshell ends the subshell.
            Err(Unwind::Discard) if self.process.forked => return Err(Unwind::Exit),
            Err(Unwind::Discard) => {
                self.status = self.status.max(1);
                self.pipe_status.clear();
                self.pipe_status.push(self.status);
            }
            other => other?,
        }
        self.run_pending_traps()?;
        if self.flow.depth == 0 {
            self.notify_jobs();
        }
        Ok(())
    }

    /// Ends the shell after a syntax error; in `eval`, `source` and traps only the command fails.
    fn unwind_for_syntax_error(&mut self) -> EvalResult {
        match self.flow.depth {
            0 if self.options.interactive && self.options.from_stdin => Ok(()),
            0 => Err(Unwind::Exit),
            _ if self.flow.trace_depth > 0 && self.traps.innermost().is_none() => self.fatal_in_posix(),
            _ => Ok(()),
        }
    }

    /// Warns about here-documents that ended with the text: the line of the end, the first line and the delimiter.
    fn warn_unterminated(&mut self, unterminated: &[(u32, u32, Vec<u8>)]) {
        let outer = self.line;
        for (line, start, delimiter) in unterminated {
            self.line = *line;
            let delimiter = crate::expand::lossy(delimiter).into_owned();
            self.report_error(format!(
                "warning: here-document at line {start} delimited by end-of-file (wanted `{delimiter}')"
            ));
        }
        self.line = outer;
    }

    /// Reports a syntax error in the source line `text` and sets status 2.
    #[inline(never)]
    pub(crate) fn syntax_error(&mut self, error: &SyntaxError, text: &[u8], origin: &[u8]) {
        let mut messages = vec![error.message()];
        if error.shows_line() && !self.options.interactive {
            messages.push([b"`", text, b"'"].concat());
        }
        let outer = std::mem::replace(&mut self.line, error.line);
        let prefix = self.message_prefix(origin);
        let lines: Vec<u8> = messages.iter().flat_map(|message| [&prefix[..], message, b"\n"].concat()).collect();
        // A closed standard error is ignored.
        let _ = self.io.write(2, &lines);
        self.line = outer;
        self.status = 2;
    }
}

/// A text without NUL bytes whose last line ends with a newline, because the grammar distinguishes the end of a line from
/// the end of the text.
fn whole_lines(text: &[u8]) -> Cow<'_, [u8]> {
    let backslashes = text.iter().rev().take_while(|&&b| b == b'\\').count();
    let ends = matches!(text.last(), None | Some(b'\n')) || backslashes % 2 == 1;
    if ends && !text.contains(&0) {
        return Cow::Borrowed(text);
    }
    let newline = if ends { None } else { Some(b'\n') };
    Cow::Owned(text.iter().copied().filter(|&b| b != 0).chain(newline).collect())
}
