//! The descriptor table of a process.
//!
//! Numbers follow `docs/abi.md`: 0 to 2 are the standard streams, 3 and 4 the preopened directories, and Unix descriptor *n* >= 3
//! is 64 + *n*. The gap is not stored. Numbers 5 to 66 are other names of 69 to 130, so that a program whose libc knows nothing of
//! these rules finds descriptor 8 of its parent at 8.

use crate::Errno;

/// First number after the preopened directories: Unix descriptor 3.
pub(crate) const FIRST_FREE: u32 = 67;
/// Slots before [`FIRST_FREE`]: three streams and two preopened directories.
const RESERVED_SLOTS: u32 = 5;
const STREAMS: usize = 3;
/// Maximum for every limit, like Linux's `nr_open`: a high descriptor number makes the table that long.
const MAX_FD: u32 = 1 << 20;

/// The preopened directory `/`.
pub(crate) const ROOT_FD: u32 = 3;
/// The preopened directory `.` of plain guests.
pub(crate) const WORK_FD: u32 = 4;

/// One descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Index of the open file in the kernel's table.
    pub(crate) file: u32,
    /// True if `fd_prestat_get` reports it.
    pub(crate) preopen: bool,
}

impl Entry {
    pub(crate) fn new(file: u32) -> Self {
        Self { file, preopen: false }
    }
}

/// The table. It does not count references: the code that stores or removes an entry must do so.
#[derive(Debug, Default)]
pub(crate) struct Descriptors {
    slots: Vec<Option<Entry>>,
}

fn slot(fd: u32) -> usize {
    match fd {
        0..RESERVED_SLOTS => fd as usize,
        RESERVED_SLOTS..FIRST_FREE => (fd + 64 - FIRST_FREE + RESERVED_SLOTS) as usize,
        FIRST_FREE.. => (fd - FIRST_FREE + RESERVED_SLOTS) as usize,
    }
}

fn number(slot: usize) -> u32 {
    // The table is bounded by the descriptor limit, which is a `u32`.
    let slot = u32::try_from(slot).unwrap_or(u32::MAX);
    if slot < RESERVED_SLOTS { slot } else { slot.saturating_add(FIRST_FREE - RESERVED_SLOTS) }
}

/// Returns the WASI number of Unix descriptor `n`, as in `/dev/fd/n`.
pub(crate) fn from_unix(n: u32) -> Option<u32> {
    if n < 3 { Some(n) } else { n.checked_add(64) }
}

/// Returns the Unix number of a descriptor; `None` for the preopened directories.
pub(crate) fn to_unix(fd: u32) -> Option<u32> {
    match fd {
        ROOT_FD | WORK_FD => None,
        0..FIRST_FREE => Some(fd),
        FIRST_FREE.. => Some(fd - 64),
    }
}

impl Descriptors {
    pub(crate) fn get(&self, fd: u32) -> Option<Entry> {
        *self.slots.get(slot(fd))?
    }

    /// Returns whether `fd` is a valid number if at most `limit` Unix descriptors are allowed.
    pub(crate) fn admits(fd: u32, limit: u32) -> bool {
        match to_unix(fd) {
            Some(unix) => unix < limit.min(MAX_FD),
            None => fd == ROOT_FD || fd == WORK_FD,
        }
    }

    /// Stores `entry` at `fd` and returns the previous entry. `BADF` if the number is not valid.
    pub(crate) fn put(&mut self, fd: u32, entry: Entry, limit: u32) -> Result<Option<Entry>, Errno> {
        if !Self::admits(fd, limit) {
            return Err(Errno::Badf);
        }
        let at = slot(fd);
        if self.slots.len() <= at {
            self.slots.resize(at + 1, None);
        }
        Ok(self.slots.get_mut(at).and_then(|s| s.replace(entry)))
    }

    pub(crate) fn remove(&mut self, fd: u32) -> Option<Entry> {
        self.slots.get_mut(slot(fd))?.take()
    }

    /// Returns the lowest free descriptor that is at least `at_least`, excluding the preopened directories. `MFILE` if the limit
    /// is reached.
    pub(crate) fn lowest_free(&self, at_least: u32, limit: u32) -> Result<u32, Errno> {
        let streams = (at_least as usize).min(STREAMS)..STREAMS;
        let rest = slot(at_least.max(FIRST_FREE));
        let end = self.slots.len().max(rest);
        let at = streams.chain(rest..end).find(|at| self.slots.get(*at).is_none_or(Option::is_none)).unwrap_or(end);
        let fd = number(at);
        if Self::admits(fd, limit) { Ok(fd) } else { Err(Errno::Mfile) }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, Entry)> {
        self.slots.iter().enumerate().filter_map(|(at, entry)| Some((number(at), (*entry)?)))
    }

    /// Returns a table with the same entries; the caller must count the references.
    pub(crate) fn copy(&self) -> Self {
        Self { slots: self.slots.clone() }
    }

    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = Entry> + use<> {
        std::mem::take(&mut self.slots).into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full(fds: &[u32]) -> Descriptors {
        let mut table = Descriptors::default();
        for fd in fds {
            assert_eq!(table.put(*fd, Entry::new(0), 1024), Ok(None));
        }
        table
    }

    #[test]
    fn the_lowest_free_descriptor_skips_the_preopened_directories() {
        assert_eq!(full(&[]).lowest_free(0, 16), Ok(0));
        assert_eq!(full(&[0, 2]).lowest_free(0, 16), Ok(1));
        assert_eq!(full(&[0, 1, 2]).lowest_free(0, 16), Ok(67));
        assert_eq!(full(&[0, 1, 2, 3, 67, 69]).lowest_free(0, 16), Ok(68));
        assert_eq!(full(&[0, 1, 2]).lowest_free(70, 16), Ok(70));
    }

    #[test]
    fn the_limit_counts_unix_descriptors() {
        assert_eq!(full(&[0, 1, 2, 67]).lowest_free(0, 4), Err(Errno::Mfile));
        assert_eq!(full(&[]).lowest_free(u32::MAX, 1024), Err(Errno::Mfile));
        assert_eq!(Descriptors::default().put(68, Entry::new(0), 4), Err(Errno::Badf));
        assert_eq!(Descriptors::default().put(u32::MAX, Entry::new(0), u32::MAX - 64), Err(Errno::Badf));
    }

    #[test]
    fn a_unix_number_is_another_name_of_its_descriptor() {
        let mut table = full(&[72]);
        assert_eq!(table.get(8), Some(Entry::new(0)));
        assert_eq!(table.put(66, Entry::new(1), 1024), Ok(None));
        assert_eq!(table.get(130), Some(Entry::new(1)));
        assert_eq!(table.iter().map(|(fd, _)| fd).collect::<Vec<_>>(), [72, 130]);
        assert_eq!(table.remove(8), Some(Entry::new(0)));
        assert_eq!((table.get(8), table.get(72)), (None, None));
        assert_eq!(table.get(5), None);
        assert_eq!((to_unix(4), to_unix(5), to_unix(66)), (None, Some(5), Some(66)));
    }

    #[test]
    fn numbers_translate_both_ways() {
        for (unix, fd) in [(0, 0), (2, 2), (3, 67), (1000, 1064)] {
            assert_eq!(from_unix(unix), Some(fd));
            assert_eq!(to_unix(fd), Some(unix));
        }
        assert_eq!(to_unix(3), None);
        assert_eq!(from_unix(u32::MAX), None);
    }
}
