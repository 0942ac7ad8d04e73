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
        let written = self.bytes(reader, fd, member);
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

    /// Sets owner, mode and times of an extracted member.
    pub(super) fn set_attributes(&mut self, name: &[u8], path: &[u8], member: &Member) {
        self.owner(name, member);
        if let Err(errno) = tidebox_gnu::mode::keep(path, self.mode(member)) {
            let text = format!(": Cannot change mode to {}: {}", tidebox_gnu::mode::letters(member.mode), errno.text());
            error(&[&escaped(name, true), text.as_bytes()]);
        }
        self.times(name, path, member.mtime, true);
    }

    /// Writes the content of a member, each part at its offset.
    pub(super) fn bytes(&self, reader: &mut Reader, fd: Fd, member: &Member) -> Result<(), ContentError> {
        let mut buffer = vec![0; RECORD * 8];
        let mut parts = member.parts.iter().flatten();
        // Without a sparse map, the content is one part.
        let mut part = if member.parts.is_none() { Some((0, u64::MAX)) } else { parts.next().copied() };
        let mut at = 0;
        loop {
            let got = reader
                .read(&mut buffer)
                .map_err(|error| ContentError::Fatal(read_error_within(self.options, error)))?;
            if got == 0 {
                break;
            }
            let mut bytes = buffer.get(..got).unwrap_or_default();
            while let (Some((offset, length)), false) = (part, bytes.is_empty()) {
                if at != offset {
                    tidebox_rt::seek_to(fd, offset).map_err(ContentError::Write)?;
                    at = offset;
                }
                let step = bytes.len().min(usize::try_from(length).unwrap_or(usize::MAX));
                let (now, rest) = bytes.split_at_checked(step).unwrap_or((bytes, b""));
                tidebox_rt::write_all(fd, now).map_err(ContentError::Write)?;
                at = at.saturating_add(step as u64);
                bytes = rest;
                let left = length - step as u64;
                part = if left == 0 { parts.next().copied() } else { Some((at, left)) };
            }
        }
        if member.parts.is_some() {
            tidebox_rt::set_size(fd, member.size).map_err(ContentError::Write)?;
        }
        Ok(())
    }

    pub(super) fn print(&self, reader: &mut Reader, member: &Member) -> Result<(), Fatal> {
        let mut buffer = vec![0; RECORD * 8];
        let mut at = 0;
        let mut parts = member.parts.iter().flatten();
        let mut part = if member.parts.is_none() { Some((0, u64::MAX)) } else { parts.next().copied() };
        let write = |bytes: &[u8]| {
            tidebox_rt::write_all(1, bytes)
                .map_err(|errno| fatal(&[&escaped(&member.name, true), b": Cannot write: ", errno.text().as_bytes()]))
        };
        let zeros = vec![0; RECORD];
        let fill = |from: u64, to: u64| {
            let mut left = to.saturating_sub(from);
            while left > 0 {
                let step = zeros.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                write(zeros.get(..step).unwrap_or_default())?;
                left -= step as u64;
            }
            Ok(())
        };
        loop {
            let got = reader.read(&mut buffer).map_err(|error| read_error_within(self.options, error))?;
            if got == 0 {
                break;
            }
            let mut bytes = buffer.get(..got).unwrap_or_default();
            while let (Some((offset, length)), false) = (part, bytes.is_empty()) {
                fill(at, offset)?;
                let step = bytes.len().min(usize::try_from(length).unwrap_or(usize::MAX));
                let (now, rest) = bytes.split_at_checked(step).unwrap_or((bytes, b""));
                write(now)?;
                at = offset.saturating_add(step as u64);
                bytes = rest;
                let left = length - step as u64;
                part = if left == 0 { parts.next().copied() } else { Some((at, left)) };
            }
        }
        if member.parts.is_some() { fill(at, member.size) } else { Ok(()) }
    }

    /// Sets the time of a file from the archive.
    pub(super) fn times(&self, name: &[u8], path: &[u8], mtime: (i64, u32), follow: bool) {
        if self.options.touch {
            return;
        }
        let text = || crate::date::format(mtime);
        if mtime.0 < 0 && self.options.warnings {
            warn(&[&escaped(name, true), b": implausibly old time stamp ", text().as_bytes()]);
        }
        let now = tidebox_rt::realtime_ns();
        let ns = u64::try_from(mtime.0).unwrap_or(0).saturating_mul(1_000_000_000).saturating_add(u64::from(mtime.1));
        if ns > now && self.options.warnings {
            let ahead = (ns - now) as f64 / 1e9;
            warn(&[
                &escaped(name, true),
                b": time stamp ",
                text().as_bytes(),
                format!(" is {ahead} s in the future").as_bytes(),
            ]);
        }
        if let Err(errno) = tidebox_rt::set_times(path, follow, Time::At(now), Time::At(ns)) {
            error(&[&escaped(name, true), b": Cannot utime: ", errno.text().as_bytes()]);
        }
    }
}
