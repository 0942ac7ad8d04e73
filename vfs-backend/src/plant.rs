//! Putting whole trees into a sandbox from outside, so that nothing of theirs reaches beyond where it belongs.

use std::io::Read;

use tidebox_core::{Error, ErrorKind, Result, SandboxPath};
use tidebox_kernel::Errno;
use tidebox_kernel::fs::{BLOCK_BYTES, Fs, Ino, Kind, Stat, Target};

use crate::USER;

const OPERATION: &str = "put files in";

/// Puts directories, files and links into a sandbox that is being made.
///
/// Paths are relative to the working directory unless they are absolute. They may not contain `..` and are never led
/// elsewhere by a symbolic link, so a hostile tree ends where it was put. The user owns what is made and nothing of the
/// system's is replaced. Everything is charged to the sandbox's limits before it is held. Directories above a path are
/// made (mode 755) where they are missing.
#[derive(Debug)]
pub struct Planter<'a> {
    fs: &'a mut Fs,
    cwd: &'a SandboxPath,
    now: u64,
    /// Directories whose times are set when everything is in them.
    dirs: Vec<(Ino, u64)>,
}

/// What to give to something that is put in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// The twelve mode bits; others are ignored.
    pub mode: u32,
    /// Time of the last change in nanoseconds since the epoch; `None` is now.
    pub modified: Option<u64>,
}

impl<'a> Planter<'a> {
    pub(crate) fn new(fs: &'a mut Fs, cwd: &'a SandboxPath, now: u64) -> Self {
        Self { fs, cwd, now, dirs: Vec::new() }
    }

    /// Makes a directory. One that is there gets this look, unless it is the system's.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] for a path that cannot be and for something else in its place;
    /// [`ErrorKind::FileOperationFailed`] when the limits are reached.
    pub fn dir(&mut self, path: &[u8], look: Look) -> Result<()> {
        let at = self.at(path)?;
        let ino = self.dirs_to(&at, at.len()).map_err(|errno| refused(path, errno))?;
        if self.fs.is_installed(ino) {
            return Ok(());
        }
        self.look(ino, look).map_err(|errno| refused(path, errno))?;
        self.dirs.push((ino, look.modified.unwrap_or(self.now)));
        Ok(())
    }

    /// Makes a file, in place of a file or link that is there, and reads what it holds from `from`. Long runs of zeros
    /// become holes, which cost nothing.
    ///
    /// # Errors
    /// As [`dir`](Self::dir), and when `from` fails; what was read so far stays then.
    pub fn file(&mut self, path: &[u8], look: Look, from: &mut dyn Read) -> Result<()> {
        let (dir, name) = self.vacate(path)?;
        let made = self.fs.create(&USER, dir, &name, 0o644, true, self.now);
        let (ino, _) = made.map_err(|errno| refused(path, errno))?;
        self.pour(ino, path, from)?;
        self.look(ino, look).map_err(|errno| refused(path, errno))
    }

    /// Makes a symbolic link, in place of a file or link that is there. Where it leads is not asked: it is only ever
    /// followed inside the sandbox.
    ///
    /// # Errors
    /// As [`dir`](Self::dir).
    pub fn symlink(&mut self, path: &[u8], target: &[u8], look: Look) -> Result<()> {
        let (dir, name) = self.vacate(path)?;
        let made = self.fs.symlink(&USER, target, dir, &name, self.now);
        let ino = made.map_err(|errno| refused(path, errno))?;
        self.look(ino, Look { mode: 0o777, ..look }).map_err(|errno| refused(path, errno))
    }

    /// Puts a named pipe in, with nothing in it.
    ///
    /// # Errors
    /// As [`dir`](Self::dir).
    pub fn fifo(&mut self, path: &[u8], look: Look) -> Result<()> {
        let (dir, name) = self.vacate(path)?;
        let made = self.fs.mkfifo(&USER, dir, &name, look.mode, self.now);
        let ino = made.map_err(|errno| refused(path, errno))?;
        self.look(ino, look).map_err(|errno| refused(path, errno))
    }

    /// Gives a file that was put in one more name.
    ///
    /// # Errors
    /// As [`dir`](Self::dir); [`ErrorKind::InvalidRequest`] too when `target` is no file of the user's.
    pub fn hard_link(&mut self, path: &[u8], target: &[u8]) -> Result<()> {
        let at = self.at(target)?;
        let found = self.find(&at).map_err(|errno| refused(target, errno))?;
        let good = found.filter(|&ino| self.is_own_leaf(ino));
        let Some(ino) = good else {
            let message = "the target of a hard link has to be a file that was put in before it";
            return Err(invalid(path, message).with_context("target", String::from_utf8_lossy(target)));
        };
        let there = self.at(path)?;
        if self.find(&there).is_ok_and(|already| already == Some(ino)) {
            return Ok(());
        }
        let (dir, name) = self.vacate(path)?;
        self.fs.link(&USER, ino, dir, &name, self.now).map_err(|errno| refused(path, errno))
    }

    /// Sets the times of directories, which putting things into them has changed.
    pub(crate) fn finish(&mut self) {
        for (ino, modified) in std::mem::take(&mut self.dirs) {
            // One that was replaced meanwhile has no time any more.
            let _ = self.fs.set_times(&USER, ino, Some(modified), Some(modified), self.now);
        }
    }

    fn look(&mut self, ino: Ino, look: Look) -> Result<(), Errno> {
        let modified = look.modified.unwrap_or(self.now);
        let stat = self.fs.stat(ino)?;
        let stat = Stat { mode: look.mode, atime: modified, mtime: modified, ctime: self.now, ..stat };
        self.fs.imprint(ino, &stat)
    }

    fn pour(&mut self, ino: Ino, path: &[u8], from: &mut dyn Read) -> Result<()> {
        let mut block = vec![0; BLOCK_BYTES];
        let (mut offset, mut stored) = (0_u64, 0_u64);
        loop {
            let count = fill(from, &mut block).map_err(|error| {
                Error::new(ErrorKind::InvalidRequest, OPERATION, "the source of a file cannot be read")
                    .with_context("path", String::from_utf8_lossy(path))
                    .with_source(error)
            })?;
            let bytes = block.get(..count).unwrap_or_default();
            if bytes.iter().any(|&byte| byte != 0) {
                let written = self.fs.write_at(ino, offset, bytes, self.now).map_err(|errno| refused(path, errno))?;
                if written < count {
                    return Err(refused(path, Errno::Nospc));
                }
                stored = offset.saturating_add(count as u64);
            }
            offset = offset.saturating_add(count as u64);
            // A stream of zeros without end is refused at the limit and not at its end.
            if offset > stored {
                self.fs.truncate(ino, offset, self.now).map_err(|errno| refused(path, errno))?;
            }
            if count < BLOCK_BYTES {
                return Ok(());
            }
        }
    }

    /// The names of a path, from the root on.
    fn at(&self, path: &[u8]) -> Result<Vec<Vec<u8>>> {
        let bad = path.contains(&0) || path.is_empty();
        if bad || path.split(|&byte| byte == b'/').any(|name| name == b"..") {
            return Err(invalid(path, "a path must not be empty or contain '..' or a NUL byte"));
        }
        let cwd = if path.starts_with(b"/") { &[][..] } else { self.cwd.as_bytes() };
        let names = cwd.split(|&byte| byte == b'/').chain(path.split(|&byte| byte == b'/'));
        Ok(names.filter(|name| !name.is_empty() && *name != b".").map(<[u8]>::to_vec).collect())
    }

    /// The directory of the first `count` names, made where it is missing. A link on the way is not followed.
    fn dirs_to(&mut self, names: &[Vec<u8>], count: usize) -> Result<Ino, Errno> {
        let mut dir = self.fs.root();
        for name in names.iter().take(count) {
            dir = match self.child(dir, name)? {
                Some(ino) if self.fs.stat(ino)?.kind == Kind::Dir => ino,
                Some(_) => return Err(Errno::Notdir),
                None => self.fs.mkdir(&USER, dir, name, 0o755, self.now)?,
            };
        }
        Ok(dir)
    }

    fn find(&self, names: &[Vec<u8>]) -> Result<Option<Ino>, Errno> {
        let mut here = self.fs.root();
        for name in names {
            match self.child(here, name)? {
                Some(ino) => here = ino,
                None => return Ok(None),
            }
        }
        Ok(Some(here))
    }

    fn child(&self, dir: Ino, name: &[u8]) -> Result<Option<Ino>, Errno> {
        match self.fs.walk(&USER, dir, name, false) {
            Ok(Target::Node(ino)) => Ok(Some(ino)),
            Ok(Target::Proc(_)) => Err(Errno::Rofs),
            Err(Errno::Noent) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    fn is_own_leaf(&self, ino: Ino) -> bool {
        !self.fs.is_installed(ino) && self.fs.stat(ino).is_ok_and(|stat| stat.kind != Kind::Dir)
    }

    /// A directory and a name in it that is free now: a file or a link of the user's that was there is gone.
    fn vacate(&mut self, path: &[u8]) -> Result<(Ino, Vec<u8>)> {
        let mut names = self.at(path)?;
        let Some(name) = names.pop() else { return Err(invalid(path, "a directory is there already")) };
        let dir = self.dirs_to(&names, names.len()).map_err(|errno| refused(path, errno))?;
        match self.child(dir, &name).map_err(|errno| refused(path, errno))? {
            None => {}
            Some(ino) if self.is_own_leaf(ino) => {
                self.fs.unlink(&USER, dir, &name, self.now).map_err(|errno| refused(path, errno))?;
            }
            Some(ino) if self.fs.is_installed(ino) => {
                return Err(invalid(path, "the sandbox's own system has this path; choose another"));
            }
            Some(_) => return Err(invalid(path, "a directory is there already")),
        }
        Ok((dir, name))
    }
}

/// Reads until the block is full or there is no more.
fn fill(from: &mut dyn Read, block: &mut [u8]) -> std::io::Result<usize> {
    let mut count = 0;
    while let Some(room) = block.get_mut(count..).filter(|room| !room.is_empty()) {
        match from.read(room) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

fn invalid(path: &[u8], message: &str) -> Error {
    Error::new(ErrorKind::InvalidRequest, OPERATION, message).with_context("path", String::from_utf8_lossy(path))
}

fn refused(path: &[u8], errno: Errno) -> Error {
    match errno {
        Errno::Notdir => invalid(path, "a part of the path is a file or a link and no directory"),
        Errno::Rofs => invalid(path, "nothing can be put into /proc"),
        Errno::Acces | Errno::Perm => invalid(path, "the sandbox's own system has this directory; choose another"),
        other => Error::from(crate::refusal::refusal(other, path)),
    }
}
