//! Reading directories.
//!
//! A cookie is the position of the next entry, but a listing continues by name: the open directory stores the names after which
//! the cookies of the last call continue. A listing during which files are removed or added therefore neither skips nor repeats
//! the others. An older cookie (`seekdir`) continues by position.

use crate::errno::Errno;
use crate::fs::Ino;
use crate::guest_memory::{GuestMemory, MemoryFault};
use crate::kernel::Kernel;
use crate::open_file::{DirCookie, FileObject};
use crate::process::Pid;
use crate::procfs::{self, Dir, ProcEntry, WalkStep};
use crate::resolve::DirRef;
use crate::stat::FileType;
use crate::syscall::{SyscallError, SyscallOutcome, call};
use crate::wasi::arg::{address, put_u32};

/// Bytes of preview1's `dirent` before the name.
const HEAD_BYTES: usize = 24;
/// `.` and `..` come first.
const DOTS: u64 = 2;

/// Writes the entries starting at `cookie` that fit; the last may be truncated, which indicates more entries.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn fd_readdir(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    buffer: u32,
    len: u32,
    cookie: u64,
    out: u32,
) -> SyscallOutcome {
    call(k, pid, |k| {
        let file = k.file_of(pid, fd)?;
        let open = k.files.get(file).ok_or(Errno::Badf)?;
        let (FileObject::Dir(dir_ref) | FileObject::WorkDir(dir_ref)) = &open.what else {
            return Err(Errno::Notdir.into());
        };
        if !open.read {
            return Err(Errno::Badf.into());
        }
        let mut page = Page { m, at: buffer, len, used: 0, next: cookie, first: None, last: None };
        match dir_ref {
            DirRef::Node(ino) => list_node(k, *ino, &open.cookies, &mut page)?,
            DirRef::Proc(below) => list_proc(k, pid, below, &open.cookies, &mut page)?,
        }
        let (used, cookies) = (page.used, [page.first, page.last]);
        put_u32(m, out, used)?;
        if let Some(open) = k.files.get_mut(file) {
            open.cookies = cookies;
        }
        Ok(())
    })
}

/// Output of a call.
struct Page<'m> {
    m: &'m mut dyn GuestMemory,
    at: u32,
    len: u32,
    used: u32,
    /// Cookie of the next entry.
    next: u64,
    /// Start of this call, for a caller that repeats it with a larger buffer.
    first: Option<DirCookie>,
    /// Position after the last entry that fits completely.
    last: Option<DirCookie>,
}

impl Page<'_> {
    /// Writes an entry, truncated to the buffer; `false` if the page is full.
    fn put(&mut self, name: &[u8], ino: u64, filetype: FileType) -> Result<bool, MemoryFault> {
        let next = self.next.saturating_add(1);
        let mut head = [0; HEAD_BYTES];
        let name_len = u64::try_from(name.len()).unwrap_or(u64::MAX) & u64::from(u32::MAX);
        let tail = name_len | u64::from(filetype.preview1()) << 32;
        for (slot, field) in head.chunks_exact_mut(8).zip([next, ino, tail]) {
            slot.copy_from_slice(&field.to_le_bytes());
        }
        let complete = self.write(&head)? && self.write(name)?;
        if complete {
            self.next = next;
            if next > DOTS {
                let cookie_entry = self.last.get_or_insert_with(|| DirCookie { cookie: 0, after: Vec::new() });
                cookie_entry.cookie = next;
                cookie_entry.after.clear();
                cookie_entry.after.extend_from_slice(name);
            }
        }
        Ok(complete && self.used < self.len)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<bool, MemoryFault> {
        let available = (self.len - self.used) as usize;
        let fits = bytes.get(..available).unwrap_or(bytes);
        self.m.write(address(self.at, u64::from(self.used))?, fits)?;
        self.used += u32::try_from(fits.len()).unwrap_or(0);
        Ok(fits.len() == bytes.len())
    }

    /// Writes `.` and `..`; `false` if the page is full.
    fn dots(&mut self, own: u64, parent: u64) -> Result<bool, MemoryFault> {
        let mut available = self.len > 0;
        if available && self.next == 0 {
            available = self.put(b".", own, FileType::Directory)?;
        }
        if available && self.next == 1 {
            available = self.put(b"..", parent, FileType::Directory)?;
        }
        Ok(available)
    }

    /// Returns the start of the listing: after a name, or by position if the cookie is unknown.
    fn begin(&mut self, cookies: &[Option<DirCookie>; 2]) -> (Option<Vec<u8>>, usize) {
        let cookie = self.next;
        match cookies.iter().flatten().find(|cookie_entry| cookie_entry.cookie == cookie) {
            Some(cookie_entry) => {
                self.first = Some(cookie_entry.clone());
                (Some(cookie_entry.after.clone()), 0)
            }
            None => (None, usize::try_from(cookie.saturating_sub(DOTS)).unwrap_or(usize::MAX)),
        }
    }
}

fn list_node(k: &Kernel, dir: Ino, cookies: &[Option<DirCookie>; 2], page: &mut Page<'_>) -> Result<(), SyscallError> {
    // Checked at the start of a page, because a listing that ends early looks complete.
    if page.next <= DOTS {
        k.fs.check_dir(dir, None)?;
    }
    if !page.dots(dir.0, k.fs.parent(dir).0)? {
        return Ok(());
    }
    let (after, skip) = page.begin(cookies);
    for (name, ino, kind) in k.fs.read_dir(dir, after.as_deref()).skip(skip) {
        if !page.put(&name, ino.0, FileType::of(kind))? {
            break;
        }
    }
    Ok(())
}

fn list_proc(
    k: &Kernel,
    pid: Pid,
    below: &[u8],
    cookies: &[Option<DirCookie>; 2],
    page: &mut Page<'_>,
) -> Result<(), SyscallError> {
    let WalkStep::At(ProcEntry::Dir(dir)) = procfs::walk(k, pid, below, true)? else {
        return Err(Errno::Notdir.into());
    };
    let parent = if dir == Dir::Root { k.fs.root().0 } else { ProcEntry::Dir(Dir::Root).ino() };
    if !page.dots(ProcEntry::Dir(dir).ino(), parent)? {
        return Ok(());
    }
    let (after, skip) = page.begin(cookies);
    let names = procfs::list(k, dir);
    let rest = names.iter().filter(|(name, _)| after.as_ref().is_none_or(|after| name > after));
    for (name, item) in rest.skip(skip) {
        if !page.put(name, item.ino(), FileType::of_item(*item))? {
            break;
        }
    }
    Ok(())
}
