//! Lookup of programs.

use tidebox_rt::{self as rt, FileKind};

use crate::ir::Bytes;
use crate::state::Shell;

/// The program that directories, with colons between them, hold. A file that may not be executed is found only when no
/// other is.
pub(crate) fn search(dirs: &[u8], name: &[u8]) -> Option<Bytes> {
    let mut second = None;
    for dir in dirs.split(|&b| b == b':') {
        let mut path = if dir.is_empty() { b".".to_vec() } else { dir.to_vec() };
        path.push(b'/');
        path.extend_from_slice(name);
        let Ok(stat) = rt::stat(&path, true) else { continue };
        if stat.kind() != FileKind::File {
            continue;
        }
        if stat.mode & 0o111 != 0 && rt::access(&path, 1).is_ok() {
            return Some(path);
        }
        second.get_or_insert(path);
    }
    second
}

/// The script that directories, with colons between them, hold: any file that can be read.
fn search_script(dirs: &[u8], name: &[u8]) -> Option<Bytes> {
    dirs.split(|&b| b == b':').find_map(|dir| {
        let path = if dir.is_empty() { name.to_vec() } else { [dir, b"/", name].concat() };
        let is_file = rt::stat(&path, true).is_ok_and(|stat| stat.kind() != FileKind::Dir);
        (is_file && rt::access(&path, 4).is_ok()).then_some(path)
    })
}

impl Shell {
    /// Finds the file of a command: the name itself if it has a slash, otherwise the file in `PATH`.
    pub(crate) fn find_program(&mut self, name: &[u8]) -> Option<Bytes> {
        self.find_for(name, true)
    }

    /// Like [`Self::find_program`]. A lookup for a separate process, as for a stage of a pipeline, does not enter the hash
    /// table; `remembers` is false then.
    pub(super) fn find_for(&mut self, name: &[u8], remembers: bool) -> Option<Bytes> {
        if name.contains(&b'/') {
            return Some(name.to_vec());
        }
        if name.is_empty() {
            return None;
        }
        let checked = self.options.posix || self.options.checkhash;
        // A program found relative to the working directory is looked up again if it no longer exists there.
        if let Some((path, hits)) = self.hash.get_mut(name)
            && (!(checked || path.starts_with(b"./")) || rt::stat(path, true).is_ok_and(|stat| stat.mode & 0o111 != 0))
        {
            *hits = hits.saturating_add(u32::from(remembers));
            return Some(path.clone());
        }
        let path = self.search_path(name)?;
        if self.options.hashall && remembers {
            self.remember_program(name, path.clone(), 1);
        }
        Some(path)
    }

    /// Looks a name up in `PATH`.
    pub(crate) fn search_path(&mut self, name: &[u8]) -> Option<Bytes> {
        let dirs = self.lookup(b"PATH").unwrap_or_default();
        search(&dirs, name)
    }

    /// Looks a script without a slash in its name up in `PATH`.
    pub(crate) fn search_for_script(&mut self, name: &[u8]) -> Option<Bytes> {
        let dirs = self.lookup(b"PATH").unwrap_or_default();
        search_script(&dirs, name)
    }
}
