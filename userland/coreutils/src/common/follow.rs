//! Files that grow: what `tail -f` does once it has printed their end.

use std::thread::sleep;
use std::time::Duration;

use tidebox_gnu::message::{path_label, print_error, quote_path};
use tidebox_rt::{Errno, Fd, FileKind, Open, Stat};

use crate::cat::write;
use crate::common::Failure;
use crate::common::input::CHUNK;

/// Options of `tail -f`.
#[derive(Debug)]
pub(crate) struct Following {
    pub(crate) wanted: bool,
    /// The file of that name, whichever it is.
    pub(crate) by_name: bool,
    /// Wait for what cannot be opened.
    pub(crate) retry: bool,
    /// Seconds between two looks.
    pub(crate) pause: f64,
    /// Processes after which it ends.
    pub(crate) pids: Vec<i32>,
}

impl Default for Following {
    fn default() -> Self {
        Self { wanted: false, by_name: false, retry: false, pause: 1.0, pids: Vec::new() }
    }
}

impl Following {
    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted
    }

    /// Warns about options that have no effect.
    pub(crate) fn check(&self) {
        if self.retry && !self.wanted {
            print_error("tail", "warning: --retry ignored; --retry is useful only when following");
        } else if self.retry && !self.by_name {
            print_error("tail", "warning: --retry only effective for the initial open");
        }
        if !self.pids.is_empty() && !self.wanted {
            print_error("tail", "warning: PID ignored; --pid=PID is useful only when following");
        }
    }

    /// Returns whether one of the processes still runs, or none was named.
    fn goes_on(&self) -> bool {
        self.pids.is_empty() || self.pids.iter().any(|pid| runs(*pid))
    }
}

/// Whether a process is there and has not ended; one that nobody waited for yet has.
fn runs(pid: i32) -> bool {
    if tidebox_rt::kill(pid, 0) == Err(Errno::SRCH) {
        return false;
    }
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The state follows the name, which stands in parentheses.
    state.rsplit(')').next().is_none_or(|rest| !rest.trim_start().starts_with('Z'))
}

/// A file that is followed.
#[derive(Debug)]
pub(crate) struct Followed {
    name: Vec<u8>,
    fd: Option<Fd>,
    /// What is known of it: its identity, and how much of it was printed.
    id: Option<(u32, u64)>,
    printed: u64,
    given_up: bool,
}

impl Followed {
    /// A file whose end was printed.
    pub(crate) fn open(name: &[u8], fd: Fd) -> Self {
        let stat = tidebox_rt::fstat(fd).ok();
        let id = stat.map(|stat| (stat.dev, stat.ino));
        // A pipe is at its end now, and nobody will write to it again.
        let given_up = name == b"-" && stat.is_none_or(|stat| stat.kind() != FileKind::File);
        Self { name: name.to_vec(), fd: Some(fd), id, printed: tidebox_rt::seek(fd, 0).unwrap_or(0), given_up }
    }

    /// A file that could not be opened.
    pub(crate) fn missing(name: &[u8]) -> Self {
        Self { name: name.to_vec(), fd: None, id: None, printed: 0, given_up: false }
    }

    fn shown(&self) -> &[u8] {
        if self.name == b"-" { b"standard input" } else { &self.name }
    }

    /// Checks whether another file has the name now.
    fn look(&mut self, following: &Following) {
        if self.name == b"-" || !(following.by_name || self.fd.is_none()) {
            return;
        }
        let found = tidebox_rt::stat(&self.name, true).and_then(|stat| {
            let fd = match self.id == Some((stat.dev, stat.ino)) {
                true => None,
                false => Some(tidebox_rt::open(&self.name, Open { read: true, ..Open::default() })?),
            };
            Ok((fd, stat))
        });
        match found {
            Ok((Some(fd), stat)) => self.replace(fd, &stat),
            Ok((None, _)) => {}
            Err(error) => {
                if let Some(fd) = self.fd.take() {
                    let (name, reason) = (quote_path(self.shown()), error.text());
                    print_error("tail", &format!("{name} has become inaccessible: {reason}"));
                    // The file was only read; closing cannot lose data.
                    let _ = tidebox_rt::close(fd);
                }
                self.id = None;
                self.given_up = !following.retry;
            }
        }
    }

    fn replace(&mut self, fd: Fd, stat: &Stat) {
        let name = quote_path(self.shown());
        let what = if self.fd.is_some() { "has been replaced" } else { "has appeared" };
        print_error("tail", &format!("{name} {what};  following new file"));
        if let Some(old) = self.fd.replace(fd) {
            // The file was only read; closing cannot lose data.
            let _ = tidebox_rt::close(old);
        }
        (self.id, self.printed) = (Some((stat.dev, stat.ino)), 0);
    }

    /// Prints what is new.
    fn print(&mut self, headers: bool, last: &mut Option<Vec<u8>>) -> Result<(), Failure> {
        let Some(fd) = self.fd else {
            return Ok(());
        };
        let size = tidebox_rt::fstat(fd).ok().filter(|stat| stat.kind() == FileKind::File).map(|stat| stat.size);
        if size.is_some_and(|size| size < self.printed) {
            print_error("tail", &format!("{}: file truncated", path_label(self.shown())));
            let back = i64::try_from(self.printed).unwrap_or(0);
            // An offset that is known can be set.
            let _ = tidebox_rt::seek(fd, -back);
            self.printed = 0;
        }
        let mut buffer = vec![0; CHUNK];
        loop {
            match tidebox_rt::read(fd, &mut buffer) {
                Ok(0) => return Ok(()),
                Ok(got) => {
                    if headers && last.as_deref() != Some(self.shown()) {
                        header(self.shown(), last)?;
                    }
                    self.printed += got as u64;
                    write(buffer.get(..got).unwrap_or_default())?;
                }
                Err(Errno::INTR) => {}
                Err(error) => {
                    print_error("tail", &format!("error reading {}: {}", quote_path(self.shown()), error.text()));
                    self.given_up = true;
                    return Ok(());
                }
            }
        }
    }
}

/// Prints a file's name above what follows. `last` is whose text was printed last.
pub(crate) fn header(name: &[u8], last: &mut Option<Vec<u8>>) -> Result<(), Failure> {
    let gap: &[u8] = if last.is_some() { b"\n" } else { b"" };
    *last = Some(name.to_vec());
    write(&[gap, b"==> ", name, b" <==\n"].concat())
}

/// Prints what is added to files until there is nothing left to follow.
pub(crate) fn follow(
    following: &Following,
    mut files: Vec<Followed>,
    headers: bool,
    mut last: Option<Vec<u8>>,
    code: i32,
) -> Result<i32, Failure> {
    // What could not be opened is waited for only when asked.
    files.retain(|file| file.fd.is_some() || following.retry);
    let streams_only = !files.is_empty() && files.iter().all(|file| file.given_up);
    if streams_only {
        return Ok(code);
    }
    loop {
        // Asked before the last look, so that what a process wrote before it ended is printed.
        let goes_on = following.goes_on();
        for file in &mut files {
            file.print(headers, &mut last)?;
            file.look(following);
            file.print(headers, &mut last)?;
        }
        files.retain(|file| !file.given_up);
        if files.is_empty() {
            print_error("tail", "no files remaining");
            return Ok(1);
        }
        if !goes_on {
            return Ok(code);
        }
        sleep(Duration::try_from_secs_f64(following.pause).unwrap_or(Duration::from_secs(1)));
    }
}
