//! Files by path: state, modes, listings, the working directory.

use crate::{Errno, Fd, Result, border};

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Dir,
    /// A symbolic link.
    Symlink,
    /// A character device.
    CharDevice,
    /// A block device.
    BlockDevice,
    /// A named or unnamed pipe.
    Pipe,
    /// A socket.
    Socket,
    /// Something that the kernel did not name.
    Unknown,
}

/// State of a file, as `stat` of POSIX gives it. Times are nanoseconds since the epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// Inode number.
    pub ino: u64,
    /// Number of hard links.
    pub nlink: u64,
    /// Size in bytes.
    pub size: u64,
    /// Last access.
    pub atime_ns: u64,
    /// Last change of content.
    pub mtime_ns: u64,
    /// Last change of state.
    pub ctime_ns: u64,
    /// Type and permission bits as in `st_mode`.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Device number.
    pub dev: u32,
}

impl Stat {
    /// What the file is, from the type bits of `mode`.
    pub fn kind(&self) -> FileKind {
        match self.mode & 0o170000 {
            0o100000 => FileKind::File,
            0o040000 => FileKind::Dir,
            0o120000 => FileKind::Symlink,
            0o020000 => FileKind::CharDevice,
            0o060000 => FileKind::BlockDevice,
            0o010000 => FileKind::Pipe,
            0o140000 => FileKind::Socket,
            _ => FileKind::Unknown,
        }
    }

    /// Decodes the 64 bytes that the border writes.
    #[cfg(any(target_family = "wasm", test))]
    pub(crate) fn decode(raw: &[u8; 64]) -> Self {
        let u64_at = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&raw[at..at + 8]);
            u64::from_le_bytes(bytes)
        };
        let u32_at = |at: usize| (u64_at(at & !7) >> ((at & 4) * 8)) as u32;
        Self {
            ino: u64_at(0),
            nlink: u64_at(8),
            size: u64_at(16),
            atime_ns: u64_at(24),
            mtime_ns: u64_at(32),
            ctime_ns: u64_at(40),
            mode: u32_at(48),
            uid: u32_at(52),
            gid: u32_at(56),
            dev: u32_at(60),
        }
    }
}

/// One name of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name alone.
    pub name: Vec<u8>,
    /// What it is, links not followed.
    pub kind: FileKind,
}

/// State of the file at `path`.
pub fn stat(path: &[u8], follow: bool) -> Result<Stat> {
    border::stat(path, follow)
}

/// State of an open file.
pub fn fstat(fd: Fd) -> Result<Stat> {
    border::fstat(fd)
}

/// Asks whether the caller may read (4), write (2), execute (1) `path`, or whether it exists (0).
pub fn access(path: &[u8], mode: u32) -> Result<()> {
    border::access(path, mode)
}

/// Changes the 12 mode bits, following links.
pub fn chmod(path: &[u8], mode: u32) -> Result<()> {
    border::chmod(path, mode)
}

/// Sets the mask for new files, or only asks (`None`); returns the old one.
pub fn umask(mask: Option<u32>) -> Result<u32> {
    border::umask(mask.unwrap_or(u32::MAX))
}

/// Changes the kernel's working directory. Tools that use std call [`crate::start`] afterwards.
pub fn chdir(path: &[u8]) -> Result<()> {
    border::chdir(path)
}

/// The working directory, without symbolic links.
pub fn getcwd() -> Result<Vec<u8>> {
    let mut path = vec![0; 256];
    loop {
        match border::getcwd(&mut path) {
            Ok(len) => {
                path.truncate(len);
                return Ok(path);
            }
            Err((Errno::RANGE, len)) if len > path.len() => path.resize(len, 0),
            Err((errno, _)) => return Err(errno),
        }
    }
}

/// Names in a directory, `.` and `..` left out, in the kernel's order.
pub fn read_dir(path: &[u8]) -> Result<Vec<Entry>> {
    border::read_dir(path)
}

/// The text of a symbolic link.
pub fn read_link(path: &[u8]) -> Result<Vec<u8>> {
    border::read_link(path)
}

/// Removes a file or a link.
pub fn unlink(path: &[u8]) -> Result<()> {
    border::unlink(path)
}

/// A time to give a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Leave it as it is.
    Keep,
    /// Nanoseconds since the epoch.
    At(u64),
}

/// Sets the times of last access and last change of `path`.
pub fn set_times(path: &[u8], follow: bool, accessed: Time, changed: Time) -> Result<()> {
    border::set_times(path, follow, accessed, changed)
}

/// Makes a directory with the mode that the mask for new files leaves.
pub fn make_dir(path: &[u8]) -> Result<()> {
    border::make_dir(path)
}

/// Removes an empty directory.
pub fn remove_dir(path: &[u8]) -> Result<()> {
    border::remove_dir(path)
}

/// Makes a symbolic link at `path` with this text.
pub fn symlink(text: &[u8], path: &[u8]) -> Result<()> {
    border::symlink(text, path)
}

/// Makes a named pipe with this mode, of which the mask for new files takes its part.
pub fn make_fifo(path: &[u8], mode: u32) -> Result<()> {
    border::make_fifo(path, mode)
}

/// Gives a file a second name. A symbolic link is not followed but gets the name itself.
pub fn link(existing: &[u8], path: &[u8]) -> Result<()> {
    border::link(existing, path)
}

/// Moves a file or a directory, in the place of what is there.
pub fn rename(from: &[u8], to: &[u8]) -> Result<()> {
    border::rename(from, to)
}
