//! Directory listings.

use super::raw::wasi;
use super::{close, open};
use crate::errno::check;
use crate::{Entry, Fd, FileKind, Open, Result};

pub(crate) fn read_dir(path: &[u8]) -> Result<Vec<Entry>> {
    let fd = open(path, Open { read: true, directory: true, ..Open::default() })?;
    let listed = list(fd);
    close(fd)?;
    listed
}

/// Reads all entries. A full buffer may end within an entry, which is then read again from its cookie.
fn list(fd: Fd) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    let mut buffer = vec![0; 4096];
    let mut cookie = 0;
    loop {
        let mut used = 0;
        // SAFETY: the buffer is a live slice, `used` a live local.
        check(unsafe { wasi::fd_readdir(fd, buffer.as_mut_ptr(), buffer.len(), cookie, &mut used) })?;
        let used = used.min(buffer.len());
        let mut rest = buffer.get(..used).unwrap_or_default();
        let before = cookie;
        while let Some((next, entry, after)) = split_entry(rest) {
            cookie = next;
            rest = after;
            if entry.name != b"." && entry.name != b".." {
                entries.push(entry);
            }
        }
        if used < buffer.len() {
            return Ok(entries);
        }
        if cookie == before {
            let longer = buffer.len() * 2;
            buffer.resize(longer, 0);
        }
    }
}

/// Parses the first entry of a listing: (cookie of the next, entry, rest).
fn split_entry(raw: &[u8]) -> Option<(u64, Entry, &[u8])> {
    let (head, rest) = raw.split_at_checked(24)?;
    let next = u64::from_le_bytes(head.get(..8)?.try_into().ok()?);
    let len = u32::from_le_bytes(head.get(16..20)?.try_into().ok()?) as usize;
    let kind = match head.get(20)? {
        // preview1 has no file type for named pipes, and all other entries of the kernel's listings have a type.
        0 => FileKind::Pipe,
        1 => FileKind::BlockDevice,
        2 => FileKind::CharDevice,
        3 => FileKind::Dir,
        4 => FileKind::File,
        5 | 6 => FileKind::Socket,
        7 => FileKind::Symlink,
        _ => FileKind::Unknown,
    };
    let (name, after) = rest.split_at_checked(len)?;
    Some((next, Entry { name: name.to_vec(), kind }, after))
}
