//! Recursive directory traversal.

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use tidebox_gnu::glob::{self, Flags};
use tidebox_gnu::message::{error_text, path_bytes};

/// Filters for files and directories.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    /// Globs in command line order, and whether they include.
    files: Vec<(Vec<u8>, bool)>,
    folders: Vec<Vec<u8>>,
}

impl Filter {
    pub(crate) fn add_include(&mut self, glob: Vec<u8>) {
        self.files.push((glob, true));
    }

    pub(crate) fn add_exclude(&mut self, glob: Vec<u8>) {
        self.files.push((glob, false));
    }

    pub(crate) fn add_exclude_dir(&mut self, mut glob: Vec<u8>) {
        while glob.len() > 1 && glob.last() == Some(&b'/') {
            glob.pop();
        }
        self.folders.push(glob);
    }

    /// Returns whether a name on the command line is skipped.
    pub(crate) fn excludes_argument(&self, name: &[u8], is_folder: bool) -> bool {
        if is_folder {
            return self.folders.iter().any(|glob| fits_suffix(glob, name));
        }
        self.excludes(|glob| fits_suffix(glob, name))
    }

    fn excludes_file(&self, name: &[u8]) -> bool {
        self.excludes(|glob| glob::matches(glob, name, Flags::default()))
    }

    fn excludes_folder(&self, name: &[u8]) -> bool {
        self.folders.iter().any(|glob| glob::matches(glob, name, Flags::default()))
    }

    /// The last matching glob decides. Without a match, a file is excluded if the first glob is an `--include`.
    fn excludes(&self, fits: impl Fn(&[u8]) -> bool) -> bool {
        match self.files.iter().rev().find(|(glob, _)| fits(glob)) {
            Some((_, included)) => !included,
            None => self.files.first().is_some_and(|(_, included)| *included),
        }
    }
}

/// Returns whether the glob matches the name or a suffix after a slash.
fn fits_suffix(glob: &[u8], name: &[u8]) -> bool {
    let starts = name.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1);
    std::iter::once(0)
        .chain(starts)
        .any(|at| name.get(at..).is_some_and(|suffix| glob::matches(glob, suffix, Flags::default())))
}

/// A directory or file that cannot be read.
#[derive(Debug)]
pub(crate) struct WalkError {
    pub(crate) path: PathBuf,
    pub(crate) reason: String,
}

/// An open ancestor directory, to detect symlink loops.
#[derive(Debug)]
struct Ancestor {
    id: (u32, u64),
    parent: Option<Rc<Self>>,
}

/// Iterator over all files below a directory.
#[derive(Debug)]
pub(crate) struct Walk {
    waiting: Vec<Waiting>,
    follow_links: bool,
}

#[derive(Debug)]
enum Waiting {
    Folder(PathBuf, Option<Rc<Ancestor>>),
    File(PathBuf),
}

impl Walk {
    pub(crate) fn new(root: &Path, follow_links: bool) -> Self {
        Self { waiting: vec![Waiting::Folder(root.to_owned(), None)], follow_links }
    }

    /// The next file.
    pub(crate) fn next_file(&mut self, filter: &Filter) -> Option<Result<PathBuf, WalkError>> {
        loop {
            match self.waiting.pop()? {
                Waiting::File(path) => return Some(Ok(path)),
                Waiting::Folder(path, parent) => {
                    if let Err(trouble) = self.open(path, parent, filter) {
                        return Some(Err(trouble));
                    }
                }
            }
        }
    }

    fn open(&mut self, path: PathBuf, parent: Option<Rc<Ancestor>>, filter: &Filter) -> Result<(), WalkError> {
        let ancestor = self.enter(&path, parent)?;
        let entries =
            fs::read_dir(&path).map_err(|error| WalkError { path: path.clone(), reason: error_text(&error) })?;
        let begin = self.waiting.len();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let child = path.join(&name);
            let name = name.as_encoded_bytes();
            // A symbolic link counts as its target, or is skipped.
            let (is_folder, is_file) = match kind {
                kind if kind.is_symlink() && !self.follow_links => continue,
                kind if kind.is_symlink() => (child.is_dir(), child.is_file()),
                kind => (kind.is_dir(), kind.is_file()),
            };
            if is_folder && !filter.excludes_folder(name) {
                self.waiting.push(Waiting::Folder(child, ancestor.clone()));
            } else if is_file && !filter.excludes_file(name) {
                self.waiting.push(Waiting::File(child));
            }
        }
        if let Some(children) = self.waiting.get_mut(begin..) {
            // The last one is taken first.
            children.reverse();
        }
        Ok(())
    }

    /// Records an ancestor directory. It can already be recorded only through symbolic links.
    fn enter(&self, path: &Path, parent: Option<Rc<Ancestor>>) -> Result<Option<Rc<Ancestor>>, WalkError> {
        if !self.follow_links {
            return Ok(None);
        }
        let Ok(stat) = tidebox_rt::stat(path_bytes(path), true) else {
            return Ok(parent);
        };
        let id = (stat.dev, stat.ino);
        let mut above = parent.as_ref();
        while let Some(ancestor) = above {
            if ancestor.id == id {
                return Err(WalkError {
                    path: path.to_owned(),
                    reason: "warning: recursive directory loop".to_owned(),
                });
            }
            above = ancestor.parent.as_ref();
        }
        Ok(Some(Rc::new(Ancestor { id, parent })))
    }
}
