//! Commands that are read from a text and run one after the other.

use std::borrow::Cow;
use std::rc::Rc;

use crate::invoke::Lines;
use crate::ir::List;
use crate::parse::{Parser, Place, Problem, SyntaxError, Texts};
use crate::state::{Run, Shell, Stop, TEXT_LEVELS};
use crate::trap;

impl Shell {
    /// Runs a text as commands of the current shell, as `eval` and traps do.
    pub(crate) fn run_text(&mut self, text: &[u8], line: u32) -> Run {
        let source = self.current_source();
        self.descend(TEXT_LEVELS, |shell| shell.run_source(text, line, source, b""))
    }

    /// Reads and runs commands one after the other. `origin` stands before the line number in syntax errors. Where the shell ends in
    /// them, their redirections are undone before its EXIT trap runs.
    pub(crate) fn run_source(&mut self, text: &[u8], line: u32, source: Rc<[u8]>, origin: &[u8]) -> Run {
        self.texts += 1;
        let result = self.run_script(text, line, source, origin);
        self.texts -= 1;
        if result == Err(Stop::Exit) {
            self.traps.left_text = true;
            if self.texts == 0 && !self.in_function() && !self.traps.by_errexit {
                self.run_exit_trap();
            }
        }
        result
    }

    fn in_function(&self) -> bool {
        self.frames.iter().any(|frame| frame.is_function)
    }

    /// Whether the shell ends where it is told to, within the redirections of that place: in a function, and in what belongs to no
    /// text but that of the script.
    pub(crate) fn ends_here(&self) -> bool {
        self.texts == 0 || self.in_function()
    }

    /// The same for the script itself, and for the lines of standard input.
    pub(crate) fn run_script(&mut self, text: &[u8], line: u32, source: Rc<[u8]>, origin: &[u8]) -> Run {
        // What makes the lines of this text count from elsewhere does not touch the text that it stands in.
        let recounts = std::mem::take(&mut self.recounts);
        let told_line = self.jobs.line;
        let result = self.read_and_run(text, line, source, origin);
        self.jobs.line = told_line;
        self.recounts = recounts;
        result
    }

    fn read_and_run(&mut self, text: &[u8], line: u32, source: Rc<[u8]>, origin: &[u8]) -> Run {
        let text = whole_lines(text);
        let name = if source.is_empty() { self.name_of_source() } else { source };
        let texts = Texts::default();
        let mut parser = Parser::new(&text, line, Rc::clone(&name));
        parser.set_texts(&texts);
        parser.set_condition_open(self.condition_open);
        // What the evaluator has used of the stack is not there for the parser.
        parser.start_at_depth(self.levels / 8);
        let mut ran = false;
        let quote_open = self.levels > 0 && std::mem::take(&mut self.quote_open);
        loop {
            if self.options.history && self.levels == 0 && !self.history.reads_lines {
                let (rest, line) = parser.unread();
                return self.run_lines(Lines::Text(rest), line, &name, origin);
            }
            parser.set_extglob(self.options.extglob);
            parser.set_posix(self.options.posix);
            parser.set_aliases(self.options.expand_aliases.then(|| Rc::clone(&self.aliases)));
            parser.set_blind(std::mem::take(&mut self.quote_open));
            let from = parser.place();
            let list = match parser.next_list() {
                Ok(list) => list,
                Err(error) => {
                    self.tell_mistake(&mut parser, &error, line, origin)?;
                    if matches!(error.place, Place::Elements | Place::OpenElement) {
                        // Only the line is given up.
                        parser.skip_line();
                        ran = true;
                        continue;
                    }
                    return self.end_of_mistake(&error);
                }
            };
            self.warn_of_unfinished(&std::mem::take(&mut parser.unfinished), 0, 0);
            if self.options.verbose {
                // Where standard error is closed there is nobody to show it to.
                let _ = self.io.write(2, parser.text_since(from, line));
            }
            let Some(list) = list else { break };
            if self.options.noexec {
                continue;
            }
            ran = true;
            self.run_read(&mut parser, &list)?;
        }
        // Where a backslash ends the text of `eval`, bash reads on as behind a word.
        self.quote_open = if origin == b"eval" { parser.cut_off } else { quote_open };
        // Of `eval` and its kin; a line of comments in standard input changes nothing.
        if !ran && self.levels > 0 {
            self.status = 0;
        }
        Ok(())
    }

    /// Runs what was read last.
    fn run_read(&mut self, parser: &mut Parser<'_>, list: &List) -> Run {
        self.commands += u32::from(self.levels == 0 && !self.options.from_string);
        let last_line = parser.last_line();
        self.line = last_line;
        self.jobs.line = last_line;
        let mut given_up = false;
        match self.run_list(list) {
            // What gives a command up in a subshell ends the subshell.
            Err(Stop::Discard | Stop::Abandon) if self.forked => return Err(Stop::Exit),
            Err(Stop::Abandon) if self.levels > 0 => return Err(Stop::Abandon),
            Err(Stop::Discard | Stop::Abandon) => {
                self.status = self.status.max(1);
                self.pipe_status.clear();
                self.pipe_status.push(self.status);
                given_up = true;
            }
            other => other?,
        }
        if std::mem::take(&mut self.recounts) || given_up {
            parser.recount(last_line, self.line);
        }
        self.run_pending_traps()?;
        if self.levels == 0 {
            self.notify_jobs();
        }
        // A command string is run as a whole all the same.
        if self.options.onecmd && !self.options.from_string { Err(Stop::Exit) } else { Ok(()) }
    }

    /// Tells of what the parser could not read.
    #[inline(never)]
    fn tell_mistake(&mut self, parser: &mut Parser<'_>, error: &SyntaxError, line: u32, origin: &[u8]) -> Run {
        let read = parser.text_of_line(line, error.line);
        let behind = parser.read_bodies_behind(error).map(|line| SyntaxError { line, ..error.clone() });
        let error = behind.as_ref().unwrap_or(error);
        self.warn_of_unfinished(&std::mem::take(&mut parser.unfinished), 0, 0);
        self.condition_open = matches!(error.problem, Problem::Condition { .. });
        self.quote_open =
            error.place == Place::Commands && matches!(error.problem, Problem::Unclosed(b'\'' | b'"' | b'`' | b'}'));
        self.syntax_error(error, read, origin);
        if self.options.errexit && matches!(error.place, Place::Elements | Place::OpenElement) {
            self.status = 2;
            return Err(Stop::Exit);
        }
        if error.place == Place::OpenElement {
            // The text ended there, which is a mistake of its own.
            let ended = SyntaxError::new(Problem::End, error.line.max(parser.end_of_text()));
            let status = self.status;
            self.syntax_error(&ended, b"", origin);
            self.status = status;
        }
        Ok(())
    }

    /// What a mistake in the grammar ends. Of `eval` and its kind it is only the command's failure, but for commands of a
    /// substitution.
    fn end_of_mistake(&mut self, error: &SyntaxError) -> Run {
        match self.levels {
            1.. if error.ends_all() && !self.options.interactive && !self.traps.is_running(trap::EXIT) => {
                Err(Stop::Exit)
            }
            0 if self.options.interactive && self.options.from_stdin => Ok(()),
            0 => Err(Stop::Exit),
            _ if self.sourcing_depth > 0 && self.traps.innermost().is_none() => self.fatal_in_posix(),
            _ => Ok(()),
        }
    }

    /// Warns of here-documents that ended with the text, whose first line was said to be `from` and is `to`. Where one has no
    /// line to start in, so many began within a substitution and go on behind it.
    pub(crate) fn warn_of_unfinished(&mut self, unfinished: &[(u32, u32, Vec<u8>)], from: u32, to: u32) {
        let outer = self.line;
        let moved = |line: u32| line.saturating_sub(from).saturating_add(to);
        for (line, start, delimiter) in unfinished {
            self.line = moved(*line);
            if *start == 0 {
                let count = crate::expand::lossy(delimiter).into_owned();
                let s = if count == "1" { "" } else { "s" };
                self.complain(format!("warning: command substitution: {count} unterminated here-document{s}"));
                continue;
            }
            let (start, delimiter) = (moved(*start), crate::expand::lossy(delimiter).into_owned());
            self.complain(format!(
                "warning: here-document at line {start} delimited by end-of-file (wanted `{delimiter}')"
            ));
        }
        self.line = outer;
    }

    /// Tells of an error in a text; sets the status.
    #[inline(never)]
    pub(crate) fn syntax_error(&mut self, error: &SyntaxError, text: &[u8], origin: &[u8]) {
        let (mut messages, shows_line) = error.messages();
        if self.options.errexit {
            // The first one ends the shell.
            messages.truncate(1);
        }
        let saved = self.line;
        let mut lines = Vec::new();
        // Who types the commands does not know where those of a file are.
        let file = self.options.interactive && self.sourcing > 0 && origin.is_empty();
        for (line, message) in messages {
            self.line = line;
            if file {
                let source = self.current_source();
                lines.extend(
                    [self.base_name(), b": ", &source, b": line ", line.to_string().as_bytes(), b": "].concat(),
                );
            } else {
                lines.extend(self.message_prefix(origin));
            }
            lines.extend_from_slice(&message);
            lines.push(b'\n');
        }
        if shows_line && !self.options.errexit && (!self.options.interactive || file) {
            self.line = error.line;
            if file {
                let (source, line) = (self.current_source(), error.line.to_string());
                lines.extend([self.base_name(), b": ", &source, b": line ", line.as_bytes(), b": "].concat());
            } else {
                lines.extend(self.message_prefix(origin));
            }
            lines.extend([b"`", text, b"'\n"].concat());
        }
        // Where standard error is closed there is nobody to tell.
        let _ = self.io.write(2, &lines);
        self.line = saved;
        let whole = error.ends_all() && !self.options.errexit;
        let text = self.levels > 0 && origin != b"command substitution" && !self.traps.is_running(trap::EXIT);
        self.status = match (error.place, &error.problem) {
            (Place::Elements | Place::OpenElement, _) => 1,
            _ if whole && text && (self.forked || self.io.is_capturing()) => 1,
            _ if whole && (text || self.levels == 0) && self.options.from_string => 127,
            _ if whole && text && self.traps.innermost().is_none() => 1,
            // A script ends at such an error with the status that it has.
            (_, Problem::Condition { ended, .. }) if self.levels == 0 && !self.options.errexit => match self.status {
                0 if *ended => 2,
                status => status,
            },
            _ => 2,
        };
    }
}

/// A text without NULs that ends with its last line, because the grammar tells the end of a line from the end of everything.
fn whole_lines(text: &[u8]) -> Cow<'_, [u8]> {
    let backslashes = text.iter().rev().take_while(|&&b| b == b'\\').count();
    let ends = matches!(text.last(), None | Some(b'\n')) || backslashes % 2 == 1;
    if ends && !text.contains(&0) {
        return Cow::Borrowed(text);
    }
    let newline = if ends { None } else { Some(b'\n') };
    Cow::Owned(text.iter().copied().filter(|&b| b != 0).chain(newline).collect())
}
