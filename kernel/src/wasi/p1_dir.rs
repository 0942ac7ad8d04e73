//! Reading directories.
//!
//! A cookie is the position of the next entry, and a listing goes on by name: the open directory remembers after
//! which name the cookies of the last call continue. So a listing that removes or adds files on its way neither skips
//! nor repeats the others. A cookie from before that (`seekdir`) goes by position.

use super::arg::{address, put_u32};
use super::{Fault, GuestMem, Halt, Sys, call};
use crate::errno::Errno;
use crate::fs::Ino;
use crate::kernel::Kernel;
use crate::open_file::{Mark, What};
use crate::process::Pid;
use crate::procfs::{self, Dir, Item, Step};
use crate::resolve::Place;
use crate::stat::FileType;

/// Bytes of preview1's `dirent` before the name.
const HEAD_BYTES: usize = 24;
/// `.` and `..` come first.
const DOTS: u64 = 2;

/// Entries from `cookie` on, as many as fit; the last may be cut, which tells that there are more.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn fd_readdir(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMem,
    fd: u32,
    buffer: u32,
    len: u32,
    cookie: u64,
    out: u32,
) -> Sys {
    call(k, pid, |k| {
        let file = k.file_of(pid, fd)?;
        let open = k.files.get(file).ok_or(Errno::Badf)?;
        let (What::Dir(place) | What::WorkDir(place)) = &open.what else { return Err(Errno::Notdir.into()) };
        if !open.read {
            return Err(Errno::Badf.into());
        }
        let mut page = Page { m, at: buffer, len, used: 0, next: cookie, first: None, last: None };
        match place {
            Place::Node(ino) => list_node(k, *ino, &open.marks, &mut page)?,
            Place::Proc(below) => list_proc(k, pid, below, &open.marks, &mut page)?,
        }
        let (used, marks) = (page.used, [page.first, page.last]);
        put_u32(m, out, used)?;
        if let Some(open) = k.files.get_mut(file) {
            open.marks = marks;
        }
        Ok(())
    })
}

/// What a call has written so far.
struct Page<'m> {
    m: &'m mut dyn GuestMem,
    at: u32,
    len: u32,
    used: u32,
    /// Cookie of the entry that comes next.
    next: u64,
    /// Where this call began, for a caller that asks again with more room.
    first: Option<Mark>,
    /// Behind the last entry that fits as a whole.
    last: Option<Mark>,
}

impl Page<'_> {
    /// Writes as much of the entry as there is room for; `false` when the page is full.
    fn put(&mut self, name: &[u8], ino: u64, filetype: FileType) -> Result<bool, Fault> {
        let next = self.next.saturating_add(1);
        let mut head = [0; HEAD_BYTES];
        let name_len = u64::try_from(name.len()).unwrap_or(u64::MAX) & u64::from(u32::MAX);
        let tail = name_len | u64::from(filetype.preview1()) << 32;
        for (slot, field) in head.chunks_exact_mut(8).zip([next, ino, tail]) {
            slot.copy_from_slice(&field.to_le_bytes());
        }
        let whole = self.write(&head)? && self.write(name)?;
        if whole {
            self.next = next;
            if next > DOTS {
                let mark = self.last.get_or_insert_with(|| Mark { cookie: 0, after: Vec::new() });
                mark.cookie = next;
                mark.after.clear();
                mark.after.extend_from_slice(name);
            }
        }
        Ok(whole && self.used < self.len)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<bool, Fault> {
        let room = (self.len - self.used) as usize;
        let fits = bytes.get(..room).unwrap_or(bytes);
        self.m.write(address(self.at, u64::from(self.used))?, fits)?;
        self.used += u32::try_from(fits.len()).unwrap_or(0);
        Ok(fits.len() == bytes.len())
    }

    /// `.` and `..`; `false` when the page is full.
    fn dots(&mut self, own: u64, parent: u64) -> Result<bool, Fault> {
        let mut room = self.len > 0;
        if room && self.next == 0 {
            room = self.put(b".", own, FileType::Directory)?;
        }
        if room && self.next == 1 {
            room = self.put(b"..", parent, FileType::Directory)?;
        }
        Ok(room)
    }

    /// Where a listing goes on: behind a name, or by position when nobody remembers the cookie.
    fn begin(&mut self, marks: &[Option<Mark>; 2]) -> (Option<Vec<u8>>, usize) {
        let cookie = self.next;
        match marks.iter().flatten().find(|mark| mark.cookie == cookie) {
            Some(mark) => {
                self.first = Some(mark.clone());
                (Some(mark.after.clone()), 0)
            }
            None => (None, usize::try_from(cookie.saturating_sub(DOTS)).unwrap_or(usize::MAX)),
        }
    }
}

fn list_node(k: &Kernel, dir: Ino, marks: &[Option<Mark>; 2], page: &mut Page<'_>) -> Result<(), Halt> {
    // Asked at the beginning of a page, because a listing that ends early looks complete.
    if page.next <= DOTS {
        k.fs.check_dir(dir, None)?;
    }
    if !page.dots(dir.0, k.fs.parent(dir).0)? {
        return Ok(());
    }
    let (after, skip) = page.begin(marks);
    for (name, ino, kind) in k.fs.read_dir(dir, after.as_deref()).skip(skip) {
        if !page.put(&name, ino.0, FileType::of(kind))? {
            break;
        }
    }
    Ok(())
}

fn list_proc(k: &Kernel, pid: Pid, below: &[u8], marks: &[Option<Mark>; 2], page: &mut Page<'_>) -> Result<(), Halt> {
    let Step::At(Item::Dir(dir)) = procfs::walk(k, pid, below, true)? else { return Err(Errno::Notdir.into()) };
    let parent = if dir == Dir::Root { k.fs.root().0 } else { Item::Dir(Dir::Root).ino() };
    if !page.dots(Item::Dir(dir).ino(), parent)? {
        return Ok(());
    }
    let (after, skip) = page.begin(marks);
    let names = procfs::list(k, dir);
    let rest = names.iter().filter(|(name, _)| after.as_ref().is_none_or(|after| name > after));
    for (name, item) in rest.skip(skip) {
        if !page.put(name, item.ino(), FileType::of_item(*item))? {
            break;
        }
    }
    Ok(())
}
