//! What make knows of a file: as a target, as a prerequisite, or both.

use std::collections::HashMap;
use std::rc::Rc;

use crate::variable::Scope;

/// Names a file in [`Files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FileId(usize);

/// A place in a makefile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) file: Rc<[u8]>,
    pub(crate) line: usize,
}

/// The recipe of a rule.
#[derive(Debug)]
pub(crate) struct Recipe {
    /// `None` for a rule that is built in.
    pub(crate) location: Option<Location>,
    /// Lines as they are written, their tab taken away; a continued line is one, and where each begins.
    pub(crate) lines: Vec<(usize, Vec<u8>)>,
}

impl Recipe {
    /// Where a line of it stands, as messages say it.
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
    /// It stands behind `|`: it must be there, however old it is.
    pub(crate) order_only: bool,
    /// Whether it was made, or is newer than its target.
    pub(crate) changed: bool,
}

/// How far a target has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Progress {
    #[default]
    Waiting,
    /// Its prerequisites are being looked at.
    Updating,
    Done,
    Failed,
    /// `-q` asked, and it would have to be made.
    Question,
}

/// When a file was changed last, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Age {
    Missing,
    /// `-o` says so.
    Old,
    At(u64),
    /// Newer than everything: it was made, but is no file.
    New,
}

/// One rule of a target with two colons; the others stand beside it.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    pub(crate) name: Vec<u8>,
    /// Where `VPATH` found it.
    pub(crate) found_at: Option<Vec<u8>>,
    pub(crate) dependencies: Vec<Dependency>,
    /// Prerequisites that are expanded a second time, when they are needed: the text, and the stem of a static pattern.
    pub(crate) later: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    pub(crate) recipe: Option<Rc<Recipe>>,
    pub(crate) stem: Option<Vec<u8>>,
    /// Targets that the same recipe makes.
    pub(crate) also_makes: Vec<FileId>,
    pub(crate) variables: Scope,
    pub(crate) pattern_variables: Scope,
    pub(crate) pattern_variables_known: bool,
    pub(crate) parent: Option<FileId>,
    /// Further rules of the same target with two colons.
    pub(crate) double_colon: Option<Vec<FileId>>,
    pub(crate) is_target: bool,
    pub(crate) phony: bool,
    pub(crate) precious: bool,
    pub(crate) intermediate: bool,
    pub(crate) secondary: bool,
    pub(crate) silent: bool,
    pub(crate) ignore_errors: bool,
    pub(crate) tried_implicit: bool,
    /// Nobody is told when it cannot be made.
    pub(crate) dont_care: bool,
    /// It came into being for this run: nothing keeps it.
    pub(crate) explicit: bool,
    pub(crate) progress: Progress,
    pub(crate) told: bool,
    pub(crate) ran: bool,
    pub(crate) age: Option<Age>,
}

impl File {
    /// The name under which recipes find it.
    pub(crate) fn real_name(&self) -> &[u8] {
        self.found_at.as_deref().unwrap_or(&self.name)
    }
}

/// All files that anything was said about.
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

    /// The file of that name, made known if it is not.
    pub(crate) fn enter(&mut self, name: &[u8]) -> FileId {
        let name = plain(name);
        if let Some(id) = self.names.get(name) {
            return *id;
        }
        let id = self.add(name);
        self.names.insert(name.to_vec(), id);
        id
    }

    /// One more rule for a name, which is not found by the name.
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

    /// All of them, in the order in which they were met.
    pub(crate) fn ids(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.all.len()).map(FileId)
    }
}

/// A name without `./` before it.
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
