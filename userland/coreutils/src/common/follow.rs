//! Following of growing files by `tail -f`.

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
    /// Follow the name, not the descriptor.
    pub(crate) by_name: bool,
    /// Retry files that cannot be opened.
    pub(crate) retry: bool,
    /// Seconds between two polls.
    pub(crate) pause: f64,
    /// Processes whose exit ends the following.
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

    /// Returns whether a process of `--pid` still runs, or none was specified.
    fn should_continue(&self) -> bool {
        self.pids.is_empty() || self.pids.iter().any(|pid| runs(*pid))
    }
}

/// Returns whether a process exists and is not a zombie.
fn runs(pid: i32) -> bool {
    if tidebox_rt::kill(pid, 0) == Err(Errno::SRCH) {
        return false;
    }
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The state follows the name, which is in parentheses.
    state.rsplit(')').next().is_none_or(|rest| !rest.trim_start().starts_with('Z'))
}

/// A file that is followed.
#[derive(Debug)]
pub(crate) struct Followed {
    name: Vec<u8>,
    fd: Option<Fd>,
    /// Device and inode.
    id: Option<(u32, u64)>,
    /// Number of bytes printed.
    printed: u64,
    given_up: bool,
}

impl Followed {
    /// Follows an open file whose end was printed.
    pub(crate) fn open(name: &[u8], fd: Fd) -> Self {
        let stat = tidebox_rt::fstat(fd).ok();
        let id = stat.map(|stat| (stat.dev, stat.ino));
        // A pipe that reached its end has no writers left.
        let given_up = name == b"-" && stat.is_none_or(|stat| stat.kind() != FileKind::File);
        Self { name: name.to_vec(), fd: Some(fd), id, printed: tidebox_rt::seek(fd, 0).unwrap_or(0), given_up }
    }

    /// Follows a file that could not be opened.
    pub(crate) fn missing(name: &[u8]) -> Self {
        Self { name: name.to_vec(), fd: None, id: None, printed: 0, given_up: false }
    }

    fn display_name(&self) -> &[u8] {
        if self.name == b"-" { b"standard input" } else { &self.name }
    }

    /// Checks whether the name refers to another file now.
    fn check_name(&mut self, following: &Following) {
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
                    let (name, reason) = (quote_path(self.display_name()), error.text());
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
        let name = quote_path(self.display_name());
        let what = if self.fd.is_some() { "has been replaced" } else { "has appeared" };
        print_error("tail", &format!("{name} {what};  following new file"));
        if let Some(old) = self.fd.replace(fd) {
            // The file was only read; closing cannot lose data.
            let _ = tidebox_rt::close(old);
        }
        (self.id, self.printed) = (Some((stat.dev, stat.ino)), 0);
    }

    /// Prints the new content.
    fn print(&mut self, headers: bool, last: &mut Option<Vec<u8>>) -> Result<(), Failure> {
        let Some(fd) = self.fd else {
            return Ok(());
        };
        let size = tidebox_rt::fstat(fd).ok().filter(|stat| stat.kind() == FileKind::File).map(|stat| stat.size);
        if size.is_some_and(|size| size < self.printed) {
            print_error("tail", &format!("{}: file truncated", path_label(self.display_name())));
            let back = i64::try_from(self.printed).unwrap_or(0);
            // Cannot fail: the offset is within the range already read.
            let _ = tidebox_rt::seek(fd, -back);
            self.printed = 0;
        }
        let mut buffer = vec![0; CHUNK];
        loop {
            match tidebox_rt::read(fd, &mut buffer) {
                Ok(0) => return Ok(()),
                Ok(got) => {
                    if headers && last.as_deref() != Some(self.display_name()) {
                        header(self.display_name(), last)?;
                    }
                    self.printed += got as u64;
                    write(buffer.get(..got).unwrap_or_default())?;
                }
                Err(Errno::INTR) => {}
                Err(error) => {
                    print_error(
                        "tail",
                        &format!("error reading {}: {}", quote_path(self.display_name()), error.text()),
                    );
                    self.given_up = true;
                    return Ok(());
                }
            }
        }
    }
}

/// Prints the header of a file. `last` is the file of the previous output.
pub(crate) fn header(name: &[u8], last: &mut Option<Vec<u8>>) -> Result<(), Failure> {
    let gap: &[u8] = if last.is_some() { b"\n" } else { b"" };
    *last = Some(name.to_vec());
    write(&[gap, b"==> ", name, b" <==\n"].concat())
}

/// Prints new content until no file or process is left to follow. Returns the exit code.
pub(crate) fn follow(
    following: &Following,
    mut files: Vec<Followed>,
    headers: bool,
    mut last: Option<Vec<u8>>,
    code: i32,
) -> Result<i32, Failure> {
    // Missing files are retried only with --retry.
    files.retain(|file| file.fd.is_some() || following.retry);
    let streams_only = !files.is_empty() && files.iter().all(|file| file.given_up);
    if streams_only {
        return Ok(code);
    }
    loop {
        // Checked before reading, so that the last output of an exiting process is printed.
        let should_continue = following.should_continue();
        for file in &mut files {
            file.print(headers, &mut last)?;
            file.check_name(following);
            file.print(headers, &mut last)?;
        }
        files.retain(|file| !file.given_up);
        if files.is_empty() {
            print_error("tail", "no files remaining");
            return Ok(1);
        }
        if !should_continue {
            return Ok(code);
        }
        sleep(Duration::try_from_secs_f64(following.pause).unwrap_or(Duration::from_secs(1)));
    }
}
