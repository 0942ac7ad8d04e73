//! Walking a tree directory by directory, in name order, in steps between which the tree may change.

use tidebox_core::glob::{GlobPattern, GlobState};
use tidebox_kernel::fs::{Fs, Ino, Kind};

use crate::USER;
use crate::file::{READ, SEARCH};

/// Position of a walk. It holds no reference to the files, so that the kernel's lock can be released between steps; a
/// directory removed in between has no more entries.
#[derive(Debug)]
pub(super) struct Walk {
    /// Path of the current entry relative to the start of the walk.
    path: Vec<u8>,
    stack: Vec<WalkFrame>,
    /// A directory could not be read.
    pub(super) unreadable: bool,
    /// Number of entries visited.
    pub(super) visits: usize,
}

#[derive(Debug)]
struct WalkFrame {
    dir: Ino,
    /// Length of its path.
    path: usize,
    /// Name of the last entry visited.
    after: Option<Vec<u8>>,
    state: GlobState,
}

/// An entry of a walk.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) ino: Ino,
    pub(super) kind: Kind,
    /// State of the pattern after the path.
    pub(super) state: GlobState,
}

impl Walk {
    pub(super) fn new(fs: &Fs, dir: Ino, pattern: &GlobPattern) -> Self {
        let mut walk = Self { path: Vec::new(), stack: Vec::new(), unreadable: false, visits: 0 };
        walk.enter(fs, dir, pattern.start());
        walk
    }

    /// The path of the last entry, relative to the start of the walk.
    pub(super) fn path(&self) -> &[u8] {
        &self.path
    }

    /// Returns the next entry. The caller decides with [`enter`](Self::enter) whether the walk descends into a
    /// directory.
    pub(super) fn next(&mut self, fs: &Fs, pattern: &GlobPattern) -> Option<Entry> {
        loop {
            let frame = self.stack.last_mut()?;
            self.path.truncate(frame.path);
            let Some((name, ino, kind)) = fs.read_dir(frame.dir, frame.after.as_deref()).next() else {
                self.stack.pop();
                continue;
            };
            self.visits = self.visits.saturating_add(1);
            let after = frame.after.get_or_insert_default();
            after.clear();
            after.extend_from_slice(&name);
            if frame.path > 0 {
                self.path.push(b'/');
            }
            self.path.extend_from_slice(&name);
            return Some(Entry { ino, kind, state: pattern.step(&frame.state, &name) });
        }
    }

    /// Descends into the directory that [`next`](Self::next) just returned, if the user may.
    pub(super) fn enter(&mut self, fs: &Fs, dir: Ino, state: GlobState) {
        match fs.access(&USER, dir, READ | SEARCH).and_then(|()| fs.check_dir(dir, None)) {
            Ok(()) => self.stack.push(WalkFrame { dir, path: self.path.len(), after: None, state }),
            Err(_) => self.unreadable = true,
        }
    }
}
