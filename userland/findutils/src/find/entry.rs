//! One file that is looked at.

use std::cell::OnceCell;

use tidebox_gnu::message::{print_error, quote_value};
use tidebox_rt::{Errno, FileKind, Stat};

/// A file, of which no more is asked of the system than the expression needs.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The path as it is printed.
    pub(crate) path: Vec<u8>,
    /// How much of the path is the starting point.
    pub(crate) start: usize,
    pub(crate) depth: usize,
    /// Whether links are followed here.
    pub(crate) follow: bool,
    /// The type as the folder lists it, links not followed.
    pub(crate) listed: Option<FileKind>,
    stat: OnceCell<Result<Stat, Errno>>,
    /// The state is told of as unreadable once only.
    complained: OnceCell<()>,
}

impl Entry {
    pub(crate) fn new(path: Vec<u8>, start: usize, depth: usize, follow: bool, listed: Option<FileKind>) -> Self {
        Self { path, start, depth, follow, listed, stat: OnceCell::new(), complained: OnceCell::new() }
    }

    /// The last component.
    pub(crate) fn name(&self) -> &[u8] {
        let path = trim_slashes(&self.path);
        match path.iter().rposition(|byte| *byte == b'/') {
            Some(slash) if path.len() > 1 => path.get(slash + 1..).unwrap_or_default(),
            _ => path,
        }
    }

    /// The last component as `%f` prints it: slashes at the end of a path leave one behind it.
    pub(crate) fn base(&self) -> Vec<u8> {
        let mut base = self.name().to_vec();
        if self.path.ends_with(b"/") && base != b"/" {
            base.push(b'/');
        }
        base
    }

    /// The folder that the file is in, as `-execdir` and `%h` name it.
    pub(crate) fn folder(&self) -> &[u8] {
        let path = trim_slashes(&self.path);
        match path.iter().rposition(|byte| *byte == b'/') {
            // Of a path that is nothing but slashes the last one is the file.
            Some(0) if path.len() == 1 => self.path.get(1..).unwrap_or_default(),
            Some(slash) => path.get(..slash).unwrap_or_default(),
            // `.//` is in `./`, as GNU sees it.
            None if path == b"." && self.path.len() > 1 => self.path.get(..self.path.len() - 1).unwrap_or_default(),
            None => b".",
        }
    }

    /// The path below the starting point.
    pub(crate) fn below_start(&self) -> &[u8] {
        let below = self.path.get(self.start..).unwrap_or_default();
        below.strip_prefix(b"/").unwrap_or(below)
    }

    /// The file's state: of what a link leads to where links are followed, unless it leads nowhere.
    pub(crate) fn stat(&self) -> Result<&Stat, Errno> {
        let stat = self.stat.get_or_init(|| match tidebox_rt::stat(&self.path, self.follow) {
            Err(Errno::NOENT | Errno::LOOP) if self.follow => tidebox_rt::stat(&self.path, false),
            other => other,
        });
        stat.as_ref().map_err(|error| *error)
    }

    /// The file's state, or a message.
    pub(crate) fn stat_or_complain(&self, failed: &mut bool) -> Option<&Stat> {
        match self.stat() {
            Ok(stat) => Some(stat),
            Err(error) => {
                *failed = true;
                self.complained.get_or_init(|| self.complain(error));
                None
            }
        }
    }

    pub(crate) fn complain(&self, error: Errno) {
        print_error("find", &format!("{}: {}", quote_value(&self.path), error.text()));
    }

    /// Returns the file type, without a stat call if the directory entry has it.
    pub(crate) fn kind(&self) -> Option<FileKind> {
        match self.listed {
            Some(kind) if !(self.follow && kind == FileKind::Symlink) => Some(kind),
            _ => self.stat().ok().map(Stat::kind),
        }
    }

    /// The type of the file with links treated the other way round, for `-xtype`.
    pub(crate) fn other_kind(&self) -> Option<FileKind> {
        if self.follow {
            return tidebox_rt::stat(&self.path, false).ok().map(|stat| stat.kind());
        }
        match tidebox_rt::stat(&self.path, true) {
            Ok(stat) => Some(stat.kind()),
            // A link that leads nowhere is all there is.
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

/// The letter of a type as `-type` writes it.
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
