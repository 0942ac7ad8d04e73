//! Directory listings.

use super::{Fd, Journal};
use crate::sys::{self, Errno, Record};
use crate::text;

/// One entry as `fd_readdir` wrote it.
pub(crate) struct Entry {
    pub(crate) next: u64,
    pub(crate) ino: u64,
    pub(crate) kind: u8,
    pub(crate) name: Vec<u8>,
}

impl Journal {
    /// Reads one page without a journal line: complete entries, without a truncated one.
    pub(crate) fn page(&self, fd: &Fd, room: usize, cookie: u64) -> (Errno, usize, Vec<Entry>) {
        let mut buffer = vec![0; room];
        let (errno, used) = sys::fd_readdir(fd.number, &mut buffer, cookie);
        let mut rest = buffer.get(..used as usize).unwrap_or_default();
        let mut entries = Vec::new();
        while let Some((head, tail)) = rest.split_at_checked(24) {
            let mut record = Record::<24>::new();
            record.put(0, head);
            let Some((name, tail)) = tail.split_at_checked(record.u32(16) as usize) else { break };
            let entry = Entry { next: record.u64(0), ino: record.u64(8), kind: record.u8(20), name: name.to_vec() };
            entries.push(entry);
            rest = tail;
        }
        (errno, used as usize, entries)
    }

    /// Lists a directory page by page, sorted, because the order depends on the host.
    pub(crate) fn fd_readdir(&self, fd: &Fd, room: usize) -> Vec<Entry> {
        let (mut all, mut cookie) = (Vec::new(), 0);
        let failed = loop {
            let (errno, used, page) = self.page(fd, room, cookie);
            let Some(last) = page.last().filter(|_| errno == 0) else { break errno };
            cookie = last.next;
            all.extend(page);
            if used < room {
                break 0;
            }
        };
        all.sort_by(|a, b| a.name.cmp(&b.name));
        let names: Vec<String> = all.iter().map(entry_text).collect();
        self.line(format_args!("fd_readdir({}, {room})", fd.name), failed, names.join(" "));
        all
    }

    /// Records whether one large page of a directory can be read, without its content.
    pub(crate) fn page_line(&self, fd: &Fd) {
        let (errno, ..) = self.page(fd, 4096, 0);
        self.line(format_args!("fd_readdir({})", fd.name), errno, "");
    }
}

fn entry_text(entry: &Entry) -> String {
    format!("{}:{}", entry.name.escape_ascii(), text::file_type(entry.kind))
}
