//! `VPATH` and `vpath`: search directories for prerequisites.

use crate::Make;
use crate::pattern::Pattern;
use crate::words::first_word;

/// The directories of a pattern.
#[derive(Clone, Debug)]
pub(crate) struct Vpath {
    pattern: Pattern,
    folders: Vec<Vec<u8>>,
}

/// The directories of a list separated by colons and blanks.
fn folders(list: &[u8]) -> Vec<Vec<u8>> {
    list.split(|byte| *byte == b':' || crate::words::is_space(*byte))
        .filter(|folder| !folder.is_empty())
        .map(<[u8]>::to_vec)
        .collect()
}

impl Make {
    /// `vpath pattern folders`, `vpath pattern`, `vpath`
    pub(crate) fn set_vpath(&mut self, text: &[u8]) {
        let (pattern, list) = first_word(text);
        if pattern.is_empty() {
            self.vpaths.clear();
            return;
        }
        let pattern = Pattern::parse(pattern);
        let folders = folders(list);
        if folders.is_empty() {
            self.vpaths.retain(|known| known.pattern != pattern);
        } else {
            self.vpaths.push(Vpath { pattern, folders });
        }
    }

    /// Records the variable `VPATH` after all makefiles are read.
    pub(crate) fn know_vpath(&mut self) {
        let mut list = Vec::new();
        if !self.globals.contains_key(b"VPATH".as_slice()) {
            return;
        }
        if self.value_into(b"VPATH", &mut list).is_ok() {
            self.vpath_all = folders(&list);
        }
    }

    /// Path of a file found in a search directory.
    pub(crate) fn search_vpath(&self, name: &[u8]) -> Option<Vec<u8>> {
        if name.starts_with(b"/") {
            return None;
        }
        let fitting = self.vpaths.iter().filter(|known| known.pattern.stem(name).is_some());
        let all = fitting.flat_map(|known| &known.folders).chain(&self.vpath_all);
        all.map(|folder| [folder.as_slice(), if folder.ends_with(b"/") { b"" } else { b"/" }, name].concat()).find(
            |path| {
                tidebox_rt::stat(path, true).is_ok()
                    || self.files.find(path).is_some_and(|file| self.files.get(file).is_target)
            },
        )
    }
}
