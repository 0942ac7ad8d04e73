//! Extracted links.

use tidebox_rt::{Errno, FileKind, Open};

use super::{Delayed, Extract};
use crate::header::Member;
use crate::message::error;
use crate::names::{below, leads_up};
use crate::quote::{escaped, quoted};

impl Extract<'_> {
    pub(super) fn symbolic_link(&mut self, name: &[u8], path: &[u8], target: &[u8], member: &Member) {
        if !self.options.absolute && (target.starts_with(b"/") || leads_up(target)) {
            return self.placeholder(name, path, target, member);
        }
        match self.make(name, path, Some(member), || tidebox_rt::symlink(target, path)) {
            None => {}
            Some(Ok(())) => self.times(name, path, member.mtime, false),
            Some(Err(errno)) => {
                error(&[
                    &escaped(name, true),
                    b": Cannot create symlink to ",
                    &quoted(target),
                    b": ",
                    errno.text().as_bytes(),
                ]);
            }
        }
    }

    pub(super) fn placeholder(&mut self, name: &[u8], path: &[u8], target: &[u8], member: &Member) {
        let how = Open { write: true, create: true, exclusive: true, ..Open::default() };
        match self.make(name, path, Some(member), || tidebox_rt::open(path, how)) {
            None => {}
            Some(Err(errno)) => error(&[&escaped(name, true), b": Cannot open: ", errno.text().as_bytes()]),
            Some(Ok(fd)) => {
                let stat = tidebox_rt::fstat(fd).unwrap_or_default();
                // Nothing was written to it.
                let _ = tidebox_rt::close(fd);
                self.delayed.push(Delayed {
                    target: target.to_vec(),
                    mtime: member.mtime,
                    identity: (stat.dev, stat.ino),
                    places: vec![path.to_vec()],
                });
            }
        }
    }

    pub(super) fn hard_link(&mut self, name: &[u8], path: &[u8], target: &[u8], folder: Option<&[u8]>) {
        let existing = below(folder, target);
        let same = || {
            let (old, new) = (tidebox_rt::stat(&existing, false).ok()?, tidebox_rt::stat(path, false).ok()?);
            Some((old.dev, old.ino) == (new.dev, new.ino))
        };
        if same() == Some(true) {
            return;
        }
        let made = self.make(name, path, None, || {
            tidebox_rt::link(&existing, path).map_err(|errno| {
                // The missing file may be the link target, which creating a directory does not solve.
                if errno == Errno::NOENT && tidebox_rt::stat(&existing, false).is_err() { Errno::STALE } else { errno }
            })
        });
        match made {
            None => {}
            Some(Ok(())) => {
                let identity = tidebox_rt::stat(path, false).map(|stat| (stat.dev, stat.ino));
                if let Ok(identity) = identity
                    && let Some(delayed) = self.delayed.iter_mut().find(|delayed| delayed.identity == identity)
                {
                    delayed.places.push(path.to_vec());
                }
            }
            Some(Err(errno)) => {
                let errno = if errno == Errno::STALE { Errno::NOENT } else { errno };
                error(&[
                    &escaped(name, true),
                    b": Cannot hard link to ",
                    &quoted(target),
                    b": ",
                    errno.text().as_bytes(),
                ]);
            }
        }
    }
}

/// Removes a file, or an empty directory.
pub(super) fn remove(path: &[u8]) -> Result<(), Errno> {
    match tidebox_rt::stat(path, false) {
        Ok(stat) if stat.kind() == FileKind::Dir => tidebox_rt::remove_dir(path),
        Ok(_) => tidebox_rt::unlink(path),
        Err(errno) => Err(errno),
    }
}
