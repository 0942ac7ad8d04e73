//! Listed files.

use tidebox_rt::{FileKind, Stat};

/// A file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    pub(crate) name: Vec<u8>,
    pub(crate) path: Vec<u8>,
    pub(crate) stat: Stat,
    /// Target of a link.
    pub(crate) target: Option<Vec<u8>>,
    /// Metadata of the link target; `None` for a dangling link.
    pub(crate) beyond: Option<Stat>,
    /// With `--du` includes the size of its content.
    pub(crate) size: u64,
    /// Listed content of a directory.
    pub(crate) children: Vec<Self>,
    /// True if a directory has listed entries, or too many.
    pub(crate) is_full: bool,
    /// The entry is a file with a list of paths.
    pub(crate) is_list: bool,
    /// Reason why a directory is not listed.
    pub(crate) problem: Option<String>,
}

impl Entry {
    /// Returns the number of directories and files below it.
    pub(crate) fn totals(&self) -> (u64, u64) {
        self.children.iter().fold((0, 0), |(folders, files), child| {
            let (inner_folders, inner_files) = child.totals();
            let is_folder = u64::from(child.is_folder());
            (folders + inner_folders + is_folder, files + inner_files + 1 - is_folder)
        })
    }

    pub(crate) fn is_link(&self) -> bool {
        self.stat.kind() == FileKind::Symlink
    }

    /// Returns whether it is a directory, or a link to one.
    pub(crate) fn is_folder(&self) -> bool {
        let stat = if self.is_link() { self.beyond } else { Some(self.stat) };
        stat.is_some_and(|stat| stat.kind() == FileKind::Dir)
    }

    /// Returns whether it is a directory itself.
    pub(crate) fn is_real_folder(&self) -> bool {
        self.stat.kind() == FileKind::Dir
    }

    /// Returns the type name in JSON.
    pub(crate) fn type_name(&self) -> &'static str {
        match self.stat.kind() {
            _ if self.is_list => "file",
            FileKind::File => "file",
            FileKind::Dir => "directory",
            FileKind::Symlink => "link",
            FileKind::CharDevice => "char",
            FileKind::BlockDevice => "block",
            FileKind::Socket => "socket",
            FileKind::Pipe => "fifo",
            FileKind::Unknown => "unknown",
        }
    }
}

/// Returns the suffix of `-F`.
pub(crate) fn mark(stat: &Stat) -> &'static [u8] {
    match stat.kind() {
        FileKind::Dir => b"/",
        FileKind::Socket => b"=",
        FileKind::Pipe => b"|",
        FileKind::File if stat.mode & 0o111 != 0 => b"*",
        _ => b"",
    }
}

/// Appends the last component of a path to its directory.
pub(crate) fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.ends_with(b"/") { [folder, name].concat() } else { [folder, b"/", name].concat() }
}
