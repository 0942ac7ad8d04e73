//! Why make stops, and its messages.

use std::io::Write;

use crate::Make;

/// What ends everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It was told; make ends with this code.
    Code(i32),
    /// A makefile was made anew: everything is read again.
    ReadAgain,
}

/// The exit code of whatever goes wrong.
pub(crate) const TROUBLE: i32 = 2;

impl Make {
    /// What messages begin with: the program's name, and how deep it was called.
    pub(crate) fn called(&self) -> String {
        match self.level {
            0 => self.name.clone(),
            level => format!("{}[{level}]", self.name),
        }
    }

    /// Where the makefile is being read, or who is called.
    fn here(&self) -> String {
        match &self.location {
            Some(location) => format!("{}:{}", String::from_utf8_lossy(&location.file), location.line),
            None => self.called(),
        }
    }

    /// Tells what is wrong at this place and answers that make ends.
    pub(crate) fn fatal(&mut self, message: String) -> Stop {
        let here = self.here();
        self.complain(&format!("{here}: *** {message}.  Stop."));
        Stop::Code(TROUBLE)
    }

    /// The same where a value is expanded: the place is that of the assignment, when it is known.
    pub(crate) fn fatal_in_value(&mut self, message: String) -> Stop {
        let outside = self.location.clone();
        if let Some(place) = self.defined_at.take() {
            self.location = Some(place);
        }
        let stop = self.fatal(message);
        self.location = outside;
        stop
    }

    /// The same without a place.
    pub(crate) fn fatal_nowhere(&mut self, message: &str) -> Stop {
        let called = self.called();
        self.complain(&format!("{called}: *** {message}.  Stop."));
        Stop::Code(TROUBLE)
    }

    /// Says something with the place in front.
    pub(crate) fn warn(&mut self, message: &str) {
        let here = self.here();
        self.complain(&format!("{here}: {message}"));
    }

    /// Says something with the program's name in front.
    pub(crate) fn error(&mut self, message: &str) {
        let called = self.called();
        self.complain(&format!("{called}: {message}"));
    }

    /// Writes a line on standard error, behind what was written before.
    pub(crate) fn complain(&mut self, line: &str) {
        self.announce();
        // Nobody is left to tell when stderr is closed.
        let _ = std::io::stdout().flush();
        let _ = writeln!(std::io::stderr(), "{line}");
    }

    /// Writes on standard output.
    pub(crate) fn say(&mut self, text: &[u8]) {
        self.announce();
        self.say_quietly(text);
    }

    fn say_quietly(&mut self, text: &[u8]) {
        let mut out = std::io::stdout();
        if out.write_all(text).and_then(|()| out.flush()).is_err() {
            self.write_failed = true;
        }
    }

    /// Says which directory it works in before anything else is said, when it is to.
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

    /// The counterpart at the end.
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
