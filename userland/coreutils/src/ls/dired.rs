//! Where names stand in a list, which `--dired` tells Emacs below it.

use std::cell::{Cell, RefCell};

use super::quote::{Style, WORDS, style};

/// What is noted while the list is written.
#[derive(Debug, Default)]
pub(crate) struct Dired {
    /// How much of the list has been printed and is no longer at hand.
    printed: Cell<usize>,
    names: RefCell<Vec<(usize, usize)>>,
    folders: RefCell<Vec<(usize, usize)>>,
}

impl Dired {
    /// So many bytes of the list have been printed.
    pub(super) fn printed(&self, bytes: usize) {
        self.printed.set(self.printed.get() + bytes);
    }

    /// A name of that many bytes begins here.
    pub(super) fn name(&self, at: usize, length: usize) {
        let start = self.printed.get() + at;
        self.names.borrow_mut().push((start, start + length));
    }

    /// The heading of a folder.
    pub(super) fn folder(&self, at: usize, length: usize) {
        let start = self.printed.get() + at;
        self.folders.borrow_mut().push((start, start + length));
    }

    /// The lines at the end.
    pub(super) fn end(&self, written: Style, out: &mut Vec<u8>) {
        for (heading, places) in [("//DIRED//", &self.names), ("//SUBDIRED//", &self.folders)] {
            let places = places.borrow();
            if places.is_empty() {
                continue;
            }
            out.extend_from_slice(heading.as_bytes());
            for (start, end) in places.iter() {
                out.extend_from_slice(format!(" {start} {end}").as_bytes());
            }
            out.push(b'\n');
        }
        let at = (0..WORDS.len()).find(|at| style(*at) == written).unwrap_or(0);
        let word = WORDS.get(at).and_then(|words| words.first()).copied().unwrap_or_default();
        out.extend_from_slice(format!("//DIRED-OPTIONS// --quoting-style={word}\n").as_bytes());
    }
}
