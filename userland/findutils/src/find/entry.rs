//! Files of the search.

use std::cell::OnceCell;

use tidebox_gnu::message::{print_error, quote_value};
use tidebox_rt::{Errno, FileKind, Stat};

/// A file. Its metadata is read when the expression needs it.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Path in the output.
    pub(crate) path: Vec<u8>,
    /// Length of the starting point in bytes.
    pub(crate) start: usize,
    pub(crate) depth: usize,
    /// True if links are followed.
    pub(crate) follow: bool,
    /// Type from the directory entry, without following links.
    pub(crate) listed: Option<FileKind>,
    stat: OnceCell<Result<Stat, Errno>>,
    /// Set once an error of the metadata is reported.
    reported: OnceCell<()>,
}

impl Entry {
    pub(crate) fn new(path: Vec<u8>, start: usize, depth: usize, follow: bool, listed: Option<FileKind>) -> Self {
        Self { path, start, depth, follow, listed, stat: OnceCell::new(), reported: OnceCell::new() }
    }

    /// Returns the last component.
    pub(crate) fn name(&self) -> &[u8] {
        let path = trim_slashes(&self.path);
        match path.iter().rposition(|byte| *byte == b'/') {
            Some(slash) if path.len() > 1 => path.get(slash + 1..).unwrap_or_default(),
            _ => path,
        }
    }

    /// Returns the last component in the format of `%f`: trailing slashes are reduced to one.
    pub(crate) fn base(&self) -> Vec<u8> {
        let mut base = self.name().to_vec();
        if self.path.ends_with(b"/") && base != b"/" {
            base.push(b'/');
        }
        base
    }

    /// Returns the parent directory for `-execdir` and `%h`.
    pub(crate) fn folder(&self) -> &[u8] {
        let path = trim_slashes(&self.path);
        match path.iter().rposition(|byte| *byte == b'/') {
            // If the path consists of slashes, the last one is the file.
            Some(0) if path.len() == 1 => self.path.get(1..).unwrap_or_default(),
            Some(slash) => path.get(..slash).unwrap_or_default(),
            // As in GNU, the parent of `.//` is `./`.
            None if path == b"." && self.path.len() > 1 => self.path.get(..self.path.len() - 1).unwrap_or_default(),
            None => b".",
        }
    }

    /// Returns the path below the starting point.
    pub(crate) fn below_start(&self) -> &[u8] {
        let below = self.path.get(self.start..).unwrap_or_default();
        below.strip_prefix(b"/").unwrap_or(below)
    }

    /// Returns the metadata of the file, or of the target of a link if links are followed and the target exists.
    pub(crate) fn stat(&self) -> Result<&Stat, Errno> {
        let stat = self.stat.get_or_init(|| match tidebox_rt::stat(&self.path, self.follow) {
            Err(Errno::NOENT | Errno::LOOP) if self.follow => tidebox_rt::stat(&self.path, false),
            other => other,
        });
        stat.as_ref().map_err(|error| *error)
    }

    /// Like [`stat`](Self::stat), but reports an error.
    pub(crate) fn stat_or_report(&self, failed: &mut bool) -> Option<&Stat> {
        match self.stat() {
            Ok(stat) => Some(stat),
            Err(error) => {
                *failed = true;
                self.reported.get_or_init(|| self.report_error(error));
                None
            }
        }
    }

    pub(crate) fn report_error(&self, error: Errno) {
        print_error("find", &format!("{}: {}", quote_value(&self.path), error.text()));
    }

    /// Returns the file type, without a stat call if the directory entry has it.
    pub(crate) fn kind(&self) -> Option<FileKind> {
        match self.listed {
            Some(kind) if !(self.follow && kind == FileKind::Symlink) => Some(kind),
            _ => self.stat().ok().map(Stat::kind),
        }
    }

    /// Returns the type for `-xtype`: the type of the link if links are followed, else that of its target.
    pub(crate) fn other_kind(&self) -> Option<FileKind> {
        if self.follow {
            return tidebox_rt::stat(&self.path, false).ok().map(|stat| stat.kind());
        }
        match tidebox_rt::stat(&self.path, true) {
            Ok(stat) => Some(stat.kind()),
            // A dangling link has its own type.
            Err(_) => tidebox_rt::stat(&self.path, false).ok().map(|stat| stat.kind()),
        }
    }
}

fn trim_slashes(path: &[u8]) -> &[u8] {
    let mut path = path;
    while let Some(shorter) = path.strip_suffix(b"/").filter(|shorter| !shorter.is_empty()) {
        path = shorter;
    }
    path
}

/// Returns the letter of a type in `-type`.
pub(crate) fn letter(kind: FileKind) -> u8 {
    match kind {
        FileKind::Dir => b'd',
        FileKind::Symlink => b'l',
        FileKind::File => b'f',
        FileKind::CharDevice => b'c',
        FileKind::BlockDevice => b'b',
        FileKind::Pipe => b'p',
        FileKind::Socket => b's',
        FileKind::Unknown => b'U',
    }
}
