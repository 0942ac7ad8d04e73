//! Log of wget, on standard error or in a file.

use std::fs::OpenOptions;
use std::io::{self, Write};

use tidebox_gnu::calendar::Moment;
use tidebox_gnu::message::bytes_path;

use super::options::{Options, Talk};

/// Destination of the log.
pub(super) struct Log {
    to: Box<dyn Write>,
    talk: Talk,
}

impl Log {
    pub(super) fn new(options: &Options) -> io::Result<Self> {
        let to: Box<dyn Write> = match &options.log {
            None => Box::new(io::stderr()),
            Some((name, appends)) => {
                let mut how = OpenOptions::new();
                how.create(true).append(*appends).write(true).truncate(!appends);
                Box::new(how.open(bytes_path(name))?)
            }
        };
        Ok(Self { to, talk: options.talk })
    }

    /// Printed unless `-q` or `-nv`.
    pub(super) fn all(&mut self, text: &str) {
        if self.talk == Talk::All {
            self.write(text);
        }
    }

    /// Printed only with `-nv`.
    pub(super) fn little(&mut self, text: &str) {
        if self.talk == Talk::Little {
            self.write(text);
        }
    }

    /// Printed unless `-q`.
    pub(super) fn always(&mut self, text: &str) {
        if self.talk != Talk::Nothing {
            self.write(text);
        }
    }

    fn write(&mut self, text: &str) {
        // Ignore the error: it cannot be reported elsewhere.
        let _ = self.to.write_all(text.as_bytes()).and_then(|()| self.to.flush());
    }
}

/// Date and time in wget's format.
pub(super) fn now() -> String {
    let moment = Moment::local_ns(tidebox_rt::realtime_ns());
    format!(
        "{}-{:02}-{:02} {:02}:{:02}:{:02}",
        moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second
    )
}

/// `(1.2 MB/s)`.
pub(super) fn speed(bytes: u64, us: u64) -> String {
    let rate = (bytes as f64) * 1e6 / (us.max(1) as f64);
    let (rate, unit) = match rate {
        rate if rate < 1024.0 => (rate, "B/s"),
        rate if rate < 1024.0 * 1024.0 => (rate / 1024.0, "KB/s"),
        rate if rate < 1024.0 * 1024.0 * 1024.0 => (rate / (1024.0 * 1024.0), "MB/s"),
        rate => (rate / (1024.0 * 1024.0 * 1024.0), "GB/s"),
    };
    if rate < 10.0 { format!("({rate:.2} {unit})") } else { format!("({rate:.1} {unit})") }
}
