//! Files as they are listed.

use tidebox_rt::{FileKind, Stat};

/// A file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    pub(crate) name: Vec<u8>,
    pub(crate) path: Vec<u8>,
    pub(crate) stat: Stat,
    /// Where a link leads.
    pub(crate) target: Option<Vec<u8>>,
    /// The state of what it leads to; `None` for a link that leads nowhere.
    pub(crate) beyond: Option<Stat>,
    /// With `--du` the size of everything inside.
    pub(crate) size: u64,
    /// What is in a folder, when it is read beforehand.
    pub(crate) children: Option<Vec<Self>>,
    /// It is a file that holds a list of paths.
    pub(crate) is_list: bool,
    /// Why a folder is not listed.
    pub(crate) problem: Option<String>,
}

impl Entry {
    pub(crate) fn is_link(&self) -> bool {
        self.stat.kind() == FileKind::Symlink
    }

    /// A folder, or a link to one.
    pub(crate) fn is_folder(&self) -> bool {
        let stat = if self.is_link() { self.beyond } else { Some(self.stat) };
        stat.is_some_and(|stat| stat.kind() == FileKind::Dir)
    }

    /// A folder itself.
    pub(crate) fn is_real_folder(&self) -> bool {
        self.stat.kind() == FileKind::Dir
    }

    /// The word of JSON and XML.
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

/// What `-F` appends.
pub(crate) fn mark(stat: &Stat) -> &'static [u8] {
    match stat.kind() {
        FileKind::Dir => b"/",
        FileKind::Socket => b"=",
        FileKind::Pipe => b"|",
        FileKind::File if stat.mode & 0o111 != 0 => b"*",
        _ => b"",
    }
}

/// The last part of a path comes behind its folder.
pub(crate) fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.ends_with(b"/") { [folder, name].concat() } else { [folder, b"/", name].concat() }
}
