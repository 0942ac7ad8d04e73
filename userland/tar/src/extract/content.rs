//! Extracted files and their times.

use tidebox_rt::{Fd, FileKind, Open, Time};

use super::{ContentError, Extract, read_error_within};
use crate::header::Member;
use crate::message::{Fatal, error, fatal, warn};
use crate::options::Old;
use crate::quote::escaped;
use crate::reader::{RECORD, Reader};

fn is_link(path: &[u8]) -> bool {
    tidebox_rt::stat(path, false).is_ok_and(|stat| stat.kind() == FileKind::Symlink)
}

impl Extract<'_> {
    pub(super) fn file(&mut self, reader: &mut Reader, name: &[u8], path: &[u8], member: &Member) -> Result<(), Fatal> {
        let overwrites = self.options.old == Old::Overwrite;
        if overwrites && !self.options.follow && is_link(path) {
            // Nothing is written through a link. If it cannot be removed, the following call reports the error.
            let _ = tidebox_rt::unlink(path);
        }
        let how = Open { write: true, create: true, exclusive: !overwrites, truncate: overwrites, ..Open::default() };
        let fd = match self.make(name, path, Some(member), || tidebox_rt::open(path, how)) {
            None => return Ok(()),
            Some(Ok(fd)) => fd,
            Some(Err(errno)) => {
                error(&[&escaped(name, true), b": Cannot open: ", errno.text().as_bytes()]);
                return Ok(());
            }
        };
        let written = self.bytes(reader, fd);
        let closed = tidebox_rt::close(fd);
        match (written, closed) {
            (Err(ContentError::Fatal(fatal)), _) => return Err(fatal),
            (Err(ContentError::Write(errno)), _) => {
                error(&[&escaped(name, true), b": Cannot write: ", errno.text().as_bytes()]);
            }
            (Ok(()), Err(errno)) => error(&[&escaped(name, true), b": Cannot close: ", errno.text().as_bytes()]),
            (Ok(()), Ok(())) => {}
        }
        self.set_attributes(name, path, member);
        Ok(())
    }

    /// Sets mode and times of an extracted member.
    pub(super) fn set_attributes(&mut self, name: &[u8], path: &[u8], member: &Member) {
        if let Err(errno) = tidebox_gnu::mode::keep(path, self.mode(member)) {
            let text = format!(": Cannot change mode to {}: {}", tidebox_gnu::mode::letters(member.mode), errno.text());
            error(&[&escaped(name, true), text.as_bytes()]);
        }
        self.times(name, path, member.mtime, true);
    }

    /// Writes the content of a member.
    fn bytes(&self, reader: &mut Reader, fd: Fd) -> Result<(), ContentError> {
        let mut buffer = vec![0; RECORD * 8];
        loop {
            let got = reader
                .read(&mut buffer)
                .map_err(|error| ContentError::Fatal(read_error_within(self.options, error)))?;
            if got == 0 {
                return Ok(());
            }
            tidebox_rt::write_all(fd, buffer.get(..got).unwrap_or_default()).map_err(ContentError::Write)?;
        }
    }

    pub(super) fn print(&self, reader: &mut Reader, member: &Member) -> Result<(), Fatal> {
        self.bytes(reader, 1).map_err(|error| match error {
            ContentError::Fatal(fatal) => fatal,
            ContentError::Write(errno) => {
                fatal(&[&escaped(&member.name, true), b": Cannot write: ", errno.text().as_bytes()])
            }
        })
    }

    /// Sets the time of a file from the archive.
    pub(super) fn times(&self, name: &[u8], path: &[u8], mtime: (i64, u32), follow: bool) {
        if self.options.touch {
            return;
        }
        let now = tidebox_rt::realtime_ns();
        let ns = u64::try_from(mtime.0).unwrap_or(0).saturating_mul(1_000_000_000).saturating_add(u64::from(mtime.1));
        if ns > now && self.options.warnings {
            let ahead = (ns - now) as f64 / 1e9;
            warn(&[
                &escaped(name, true),
                b": time stamp ",
                crate::date::format(mtime).as_bytes(),
                format!(" is {ahead} s in the future").as_bytes(),
            ]);
        }
        if let Err(errno) = tidebox_rt::set_times(path, follow, Time::At(now), Time::At(ns)) {
            error(&[&escaped(name, true), b": Cannot utime: ", errno.text().as_bytes()]);
        }
    }
}
