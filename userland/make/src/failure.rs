//! Errors and messages of make.

use std::io::Write;

use crate::Make;

/// Reason to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The error was reported; make exits with this code.
    Code(i32),
    /// A makefile was rebuilt: read everything again.
    ReadAgain,
}

/// Exit code of all errors.
pub(crate) const TROUBLE: i32 = 2;

impl Make {
    /// Message prefix: the program name and recursion level.
    pub(crate) fn called(&self) -> String {
        match self.level {
            0 => self.name.clone(),
            level => format!("{}[{level}]", self.name),
        }
    }

    /// Position in the makefile, or the program name.
    fn here(&self) -> String {
        match &self.location {
            Some(location) => format!("{}:{}", String::from_utf8_lossy(&location.file), location.line),
            None => self.called(),
        }
    }

    /// Reports an error at the current position and returns `Stop`.
    pub(crate) fn fatal(&mut self, message: String) -> Stop {
        let here = self.here();
        self.print_error_line(&format!("{here}: *** {message}.  Stop."));
        Stop::Code(TROUBLE)
    }

    /// Like [`Self::fatal`], but during expansion: uses the position of the assignment if known.
    pub(crate) fn fatal_in_value(&mut self, message: String) -> Stop {
        let outside = self.location.clone();
        if let Some(place) = self.defined_at.take() {
            self.location = Some(place);
        }
        let stop = self.fatal(message);
        self.location = outside;
        stop
    }

    /// Like [`Self::fatal`], but without a position.
    pub(crate) fn fatal_nowhere(&mut self, message: &str) -> Stop {
        let called = self.called();
        self.print_error_line(&format!("{called}: *** {message}.  Stop."));
        Stop::Code(TROUBLE)
    }

    /// Like [`Self::fatal`], for a directive or function that is not supported.
    pub(crate) fn unsupported(&mut self, word: &[u8]) -> Stop {
        self.fatal(format!("'{}' is not supported here", String::from_utf8_lossy(word)))
    }

    /// Prints a message with the position.
    pub(crate) fn warn(&mut self, message: &str) {
        let here = self.here();
        self.print_error_line(&format!("{here}: {message}"));
    }

    /// Prints a message with the program name.
    pub(crate) fn error(&mut self, message: &str) {
        let called = self.called();
        self.print_error_line(&format!("{called}: {message}"));
    }

    /// Writes a line to standard error, after pending output.
    pub(crate) fn print_error_line(&mut self, line: &str) {
        self.announce();
        // Ignore the error: a closed stderr leaves no way to report it.
        let _ = std::io::stdout().flush();
        let _ = writeln!(std::io::stderr(), "{line}");
    }

    /// Writes to standard output.
    pub(crate) fn print(&mut self, text: &[u8]) {
        self.announce();
        self.say_quietly(text);
    }

    fn say_quietly(&mut self, text: &[u8]) {
        let mut out = std::io::stdout();
        if out.write_all(text).and_then(|()| out.flush()).is_err() {
            self.write_failed = true;
        }
    }

    /// Prints the `Entering directory` line before any other output, if enabled.
    pub(crate) fn announce(&mut self) {
        if self.options.print_directory && !self.announced {
            self.announced = true;
            let line = [
                format!("{}: Entering directory '", self.called()).into_bytes(),
                self.directory.clone(),
                b"'\n".to_vec(),
            ]
            .concat();
            self.say_quietly(&line);
        }
    }

    /// Prints the `Leaving directory` line.
    pub(crate) fn leave(&mut self) {
        if std::mem::take(&mut self.announced) {
            let line = [
                format!("{}: Leaving directory '", self.called()).into_bytes(),
                self.directory.clone(),
                b"'\n".to_vec(),
            ]
            .concat();
            self.say_quietly(&line);
        }
    }
}
