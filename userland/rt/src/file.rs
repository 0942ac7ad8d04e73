//! Files by path: metadata, modes, listings, the working directory.

use crate::{Errno, Fd, Result, border};

/// A file type.
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
    /// A type that the kernel did not report.
    Unknown,
}

/// File metadata, as in POSIX `stat`. Times are nanoseconds since the epoch.
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
    /// The file type from the type bits of `mode`.
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

    /// Decodes the 64 bytes that the kernel writes.
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

/// A directory entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The file name, without directories.
    pub name: Vec<u8>,
    /// The file type, links not followed.
    pub kind: FileKind,
}

/// Returns the metadata of the file at `path`.
pub fn stat(path: &[u8], follow: bool) -> Result<Stat> {
    border::stat(path, follow)
}

/// Returns the metadata of an open file.
pub fn fstat(fd: Fd) -> Result<Stat> {
    border::fstat(fd)
}

/// Checks whether the caller may read (4), write (2), execute (1) `path`, or whether it exists (0).
pub fn access(path: &[u8], mode: u32) -> Result<()> {
    border::access(path, mode)
}

/// Changes the 12 mode bits, following links.
pub fn chmod(path: &[u8], mode: u32) -> Result<()> {
    border::chmod(path, mode)
}

/// Sets the umask, or only reads it (`None`); returns the old one.
pub fn umask(mask: Option<u32>) -> Result<u32> {
    border::umask(mask.unwrap_or(u32::MAX))
}

/// Changes the kernel's working directory. Tools that use std must call [`crate::start`] afterwards.
pub fn chdir(path: &[u8]) -> Result<()> {
    border::chdir(path)
}

/// Returns the working directory, without symbolic links.
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

/// Lists a directory without `.` and `..`, in the kernel's order.
pub fn read_dir(path: &[u8]) -> Result<Vec<Entry>> {
    border::read_dir(path)
}

/// Returns the target of a symbolic link.
pub fn read_link(path: &[u8]) -> Result<Vec<u8>> {
    border::read_link(path)
}

/// Removes a file or a link.
pub fn unlink(path: &[u8]) -> Result<()> {
    border::unlink(path)
}

/// A time to set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Leave it unchanged.
    Omit,
    /// Nanoseconds since the epoch.
    At(u64),
}

/// Sets the times of last access and last modification of `path`.
pub fn set_times(path: &[u8], follow: bool, accessed: Time, changed: Time) -> Result<()> {
    border::set_times(path, follow, accessed, changed)
}

/// Creates a directory with this mode, masked by the umask.
pub fn make_dir(path: &[u8]) -> Result<()> {
    border::make_dir(path)
}

/// Removes an empty directory.
pub fn remove_dir(path: &[u8]) -> Result<()> {
    border::remove_dir(path)
}

/// Creates a symbolic link at `path` with this target.
pub fn symlink(text: &[u8], path: &[u8]) -> Result<()> {
    border::symlink(text, path)
}

/// Creates a FIFO with this mode, masked by the umask.
pub fn make_fifo(path: &[u8], mode: u32) -> Result<()> {
    border::make_fifo(path, mode)
}

/// Creates a hard link. A symbolic link is not followed; the link itself gets the name.
pub fn link(existing: &[u8], path: &[u8]) -> Result<()> {
    border::link(existing, path)
}

/// Renames a file or a directory, replacing the target.
pub fn rename(from: &[u8], to: &[u8]) -> Result<()> {
    border::rename(from, to)
}
