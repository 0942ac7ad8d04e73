//! One run of `ed`.

use tidebox_gnu::regex::{Options, Regex, Subject};
use tidebox_gnu::stream::{Input, Output};
use tidebox_rt::{Errno, FileKind};

use crate::buffer::{Buffer, Line};
use crate::substitute::Substitution;

/// Error of a command, as explained by `h`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandError {
    pub(crate) text: String,
    /// A warning that changes would be lost; repeating the command confirms it.
    pub(crate) warns: bool,
    /// A file could not be opened. On startup it counts as a new one.
    pub(crate) is_unopened: bool,
}

impl CommandError {
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), warns: false, is_unopened: false }
    }

    pub(crate) fn modified() -> Self {
        Self { warns: true, ..Self::new("Warning: buffer modified") }
    }
}

/// Result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Next,
    Quit(i32),
}

pub(crate) struct Session {
    pub(crate) out: Output,
    input: Input,
    /// The read error of the command input.
    input_failed: Option<Errno>,
    pub(crate) buffer: Buffer,
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    pub(crate) extended: bool,
    pub(crate) restricted: bool,
    pub(crate) strips_returns: bool,
    pub(crate) prompt: Vec<u8>,
    pub(crate) prompts: bool,
    pub(crate) file: Option<Vec<u8>>,
    /// Lines stored by `d`, `c`, `y` and similar commands for `x`.
    pub(crate) cut: Vec<Line>,
    pub(crate) last_trouble: Option<String>,
    /// The previous command was warned that changes would be lost.
    pub(crate) warned: bool,
    pattern: Option<Regex>,
    pub(crate) substitution: Option<Substitution>,
    pub(crate) last_shell: Option<Vec<u8>>,
    /// A search without a closing delimiter prints the line.
    pub(crate) suffix_prints: bool,
    /// Pending commands of `g`, if one is running.
    pub(crate) scripted: Option<std::collections::VecDeque<Vec<u8>>>,
    pub(crate) window: usize,
    /// The exit code: 1 after a failed command.
    pub(crate) code: i32,
}

impl Session {
    pub(crate) fn new(input: Input) -> Self {
        Self {
            out: Output::standard(),
            input,
            input_failed: None,
            buffer: Buffer::default(),
            quiet: false,
            verbose: false,
            extended: false,
            restricted: false,
            strips_returns: false,
            prompt: b"*".to_vec(),
            prompts: false,
            file: None,
            cut: Vec::new(),
            last_trouble: None,
            warned: false,
            pattern: None,
            substitution: None,
            last_shell: None,
            suffix_prints: false,
            scripted: None,
            window: 22,
            code: 0,
        }
    }

    /// The next line of commands or of text, without its end.
    pub(crate) fn read_line(&mut self) -> Option<Vec<u8>> {
        if let Some(lines) = &mut self.scripted {
            return lines.pop_front();
        }
        let mut line = Vec::new();
        match self.input.line(b'\n', &mut line) {
            Ok(true) => Some(line.strip_suffix(b"\n").map(<[u8]>::to_vec).unwrap_or(line)),
            Ok(false) => None,
            Err(errno) => {
                self.input_failed = Some(errno);
                None
            }
        }
    }

    /// Reads text lines up to a single dot.
    pub(crate) fn read_text(&mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        while let Some(line) = self.read_line().filter(|line| line != b".") {
            lines.push(Line::from(line));
        }
        lines
    }

    /// Opens the initial file. A missing one counts as new, except in a script file.
    pub(crate) fn open(&mut self, name: &[u8]) -> Step {
        self.file = Some(name.to_vec());
        let result = self.read_file(name, 0);
        self.buffer.changed = false;
        self.buffer.forget();
        match result {
            Ok(()) => Step::Next,
            Err(_) if self.is_scripted_by_file() => Step::Quit(2),
            Err(trouble) if trouble.is_unopened => {
                self.last_trouble = Some(trouble.text);
                Step::Next
            }
            Err(trouble) => self.failed(trouble),
        }
    }

    fn print_explanation(&mut self, text: &str) {
        if self.verbose && !text.is_empty() {
            self.out.push(format!("{text}\n").as_bytes());
        }
    }

    /// Executes one command.
    pub(crate) fn step(&mut self) -> Step {
        if self.prompts {
            let prompt = self.prompt.clone();
            self.out.push(&prompt);
        }
        let Some(line) = self.read_line() else {
            return self.end_of_input();
        };
        match self.execute(&line) {
            Ok(step) => {
                self.warned = false;
                step
            }
            Err(trouble) => self.failed(trouble),
        }
    }

    /// The first error ends a script file; input from a pipe continues, as if it were typed.
    fn failed(&mut self, trouble: CommandError) -> Step {
        self.out.push(b"?\n");
        self.print_explanation(&trouble.text);
        self.last_trouble = Some(trouble.text);
        self.warned = trouble.warns;
        self.code = 1;
        if self.is_scripted_by_file() { Step::Quit(1) } else { Step::Next }
    }

    fn is_scripted_by_file(&self) -> bool {
        tidebox_rt::fstat(self.input.fd()).is_ok_and(|stat| stat.kind() == FileKind::File)
    }

    fn end_of_input(&mut self) -> Step {
        if let Some(errno) = self.input_failed {
            self.print_system_error(b"stdin", errno);
            return Step::Quit(2);
        }
        if !self.buffer.changed || self.warned {
            return Step::Quit(self.code);
        }
        self.out.push(b"?\n");
        self.print_explanation("Warning: buffer modified");
        Step::Quit(2)
    }

    /// Reads a pattern; an empty one means the last one.
    pub(crate) fn set_pattern(&mut self, pattern: &[u8]) -> Result<(), CommandError> {
        if pattern.is_empty() {
            return if self.pattern.is_some() { Ok(()) } else { Err(CommandError::new("No previous pattern")) };
        }
        let options = Options {
            subject: Subject::Text,
            captures: true,
            unicode: tidebox_gnu::message::unicode_locale(),
            ..if self.extended { Options::extended() } else { Options::basic() }
        };
        let regex = Regex::new(&[pattern.to_vec()], &options).map_err(|error| CommandError::new(&error.to_string()))?;
        self.pattern = Some(regex);
        Ok(())
    }

    pub(crate) fn pattern(&self) -> Result<&Regex, CommandError> {
        self.pattern.as_ref().ok_or_else(|| CommandError::new("No previous pattern"))
    }

    /// Returns whether the pattern matches a line.
    pub(crate) fn matches(&self, number: usize) -> Result<bool, CommandError> {
        let Some(line) = self.buffer.line(number) else {
            return Ok(false);
        };
        let found = self.pattern()?.captures(line, 0).map_err(|error| CommandError::new(&error.to_string()))?;
        Ok(found.is_some())
    }

    /// Prints a system error of a file to standard error.
    pub(crate) fn print_system_error(&mut self, name: &[u8], errno: Errno) {
        self.out.flush_now();
        tidebox_gnu::eprint_line!("{}: {}", String::from_utf8_lossy(name), errno.text());
    }
}
