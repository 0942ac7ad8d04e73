//! Data about a file: as a target, as a prerequisite, or both.

use std::collections::HashMap;
use std::rc::Rc;

use crate::variable::Scope;

/// Index of a file in [`Files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FileId(usize);

/// A makefile position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) file: Rc<[u8]>,
    pub(crate) line: usize,
}

/// The recipe of a rule.
#[derive(Debug)]
pub(crate) struct Recipe {
    /// `None` for a builtin rule.
    pub(crate) location: Option<Location>,
    /// Lines as written, without their tab, and the line number of each. A continued line is one entry.
    pub(crate) lines: Vec<(usize, Vec<u8>)>,
}

impl Recipe {
    /// Position of a line, for messages.
    pub(crate) fn place(&self, line: usize) -> String {
        match &self.location {
            None => "<builtin>".to_owned(),
            Some(location) => format!("{}:{line}", String::from_utf8_lossy(&location.file)),
        }
    }
}

/// A prerequisite.
#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    pub(crate) file: FileId,
    /// Order-only (after `|`): it must exist, whatever its age.
    pub(crate) order_only: bool,
    /// It was rebuilt or is newer than its target.
    pub(crate) changed: bool,
}

/// Update state of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Progress {
    #[default]
    Waiting,
    /// Its prerequisites are being checked.
    Updating,
    Done,
    Failed,
    /// `-q` is set, and the target is out of date.
    Question,
}

/// Modification time in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Age {
    Missing,
    At(u64),
    /// Newer than everything: it was made, but does not exist as a file.
    New,
}

/// One double-colon rule of a target; the others are separate entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    pub(crate) name: Vec<u8>,
    /// Path found through `VPATH`.
    pub(crate) found_at: Option<Vec<u8>>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) recipe: Option<Rc<Recipe>>,
    pub(crate) stem: Option<Vec<u8>>,
    /// Targets made by the same recipe.
    pub(crate) also_makes: Vec<FileId>,
    pub(crate) variables: Scope,
    pub(crate) pattern_variables: Scope,
    pub(crate) pattern_variables_known: bool,
    pub(crate) parent: Option<FileId>,
    /// Further double-colon rules of the same target.
    pub(crate) double_colon: Option<Vec<FileId>>,
    pub(crate) is_target: bool,
    pub(crate) phony: bool,
    pub(crate) precious: bool,
    pub(crate) intermediate: bool,
    pub(crate) secondary: bool,
    pub(crate) silent: bool,
    pub(crate) ignore_errors: bool,
    pub(crate) tried_implicit: bool,
    /// No message if it cannot be made.
    pub(crate) dont_care: bool,
    /// An intermediate file created in this run; not kept.
    pub(crate) explicit: bool,
    pub(crate) progress: Progress,
    pub(crate) reported: bool,
    pub(crate) ran: bool,
    pub(crate) age: Option<Age>,
}

impl File {
    /// The name used in recipes.
    pub(crate) fn real_name(&self) -> &[u8] {
        self.found_at.as_deref().unwrap_or(&self.name)
    }
}

/// All files mentioned in the makefiles.
#[derive(Debug, Default)]
pub(crate) struct Files {
    all: Vec<File>,
    names: HashMap<Vec<u8>, FileId>,
    nobody: File,
}

impl Files {
    pub(crate) fn find(&self, name: &[u8]) -> Option<FileId> {
        self.names.get(plain(name)).copied()
    }

    /// The file with that name, added if necessary.
    pub(crate) fn enter(&mut self, name: &[u8]) -> FileId {
        let name = plain(name);
        if let Some(id) = self.names.get(name) {
            return *id;
        }
        let id = self.add(name);
        self.names.insert(name.to_vec(), id);
        id
    }

    /// Adds a rule for a name. The entry is not found by its name.
    pub(crate) fn add(&mut self, name: &[u8]) -> FileId {
        self.all.push(File { name: name.to_vec(), ..File::default() });
        FileId(self.all.len() - 1)
    }

    pub(crate) fn get(&self, id: FileId) -> &File {
        self.all.get(id.0).unwrap_or(&self.nobody)
    }

    pub(crate) fn get_mut(&mut self, id: FileId) -> &mut File {
        self.all.get_mut(id.0).unwrap_or(&mut self.nobody)
    }

    /// All files, in insertion order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.all.len()).map(FileId)
    }
}

/// Strips a leading `./` from a name.
fn plain(mut name: &[u8]) -> &[u8] {
    while let Some(rest) = name.strip_prefix(b"./") {
        let rest = match rest.iter().position(|byte| *byte != b'/') {
            None => return if rest.is_empty() { b"./" } else { name },
            Some(at) => rest.get(at..).unwrap_or_default(),
        };
        name = rest;
    }
    name
}
