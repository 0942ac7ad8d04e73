//! Copies of symbolic links, and links created instead of copies.

use tidebox_gnu::message::{path_label, quote_path};
use tidebox_rt::{Errno, Stat};

use super::Copier;
use crate::common::print_line;
use crate::common::target::{parent_dir, same};

impl Copier<'_> {
    /// Preserves hard links for a target that `--update` skips: links it to the copy of the same source file, or records it
    /// as that copy.
    pub(super) fn keep_linked(&mut self, to: &[u8], stat: &Stat) -> bool {
        if !self.options.preserve_links || stat.nlink < 2 {
            return true;
        }
        match self.copied.get(&(stat.dev, stat.ino)).cloned() {
            Some(first) => self.link((&first, &first), to, true),
            None => {
                self.copied.insert((stat.dev, stat.ino), to.to_vec());
                true
            }
        }
    }

    /// Creates a hard link. With `replaces`, an existing file of that name is removed.
    pub(super) fn link(&self, (from, shown): (&[u8], &[u8]), to: &[u8], replaces: bool) -> bool {
        let linked = match tidebox_rt::link(from, to) {
            Err(Errno::EXIST) if replaces => self.relink(from, to),
            other => other,
        };
        match linked {
            Ok(()) => true,
            Err(error) => self.fail(&format!(
                "cannot create hard link {} to {}: {}",
                quote_path(to),
                quote_path(shown),
                error.text()
            )),
        }
    }

    fn relink(&self, from: &[u8], to: &[u8]) -> Result<(), Errno> {
        tidebox_rt::unlink(to)?;
        if self.options.verbose {
            print_line(self.options.tool, &format!("removed {}", quote_path(to)));
        }
        tidebox_rt::link(from, to)
    }

    /// Creates a symbolic link instead of a copy.
    pub(super) fn symbolic(&self, from: &[u8], to: &[u8]) -> bool {
        let here = || match (tidebox_rt::stat(parent_dir(to), true), tidebox_rt::stat(b".", true)) {
            (Ok(folder), Ok(here)) => same(&folder, &here),
            _ => false,
        };
        if !from.starts_with(b"/") && !here() {
            let reason = "can make relative symbolic links only in current directory";
            return self.fail(&format!("{}: {reason}", path_label(to)));
        }
        match tidebox_rt::symlink(from, to) {
            Ok(()) => true,
            Err(error) => self.fail(&format!(
                "cannot create symbolic link {} to {}: {}",
                quote_path(to),
                quote_path(from),
                error.text()
            )),
        }
    }

    /// Copies a symbolic link.
    pub(super) fn symlink(&self, from: &[u8], to: &[u8], stat: &Stat) -> bool {
        let text = match tidebox_rt::read_link(from) {
            Ok(text) => text,
            Err(error) => {
                return self.fail(&format!("cannot read symbolic link {}: {}", quote_path(from), error.text()));
            }
        };
        match tidebox_rt::symlink(&text, to) {
            Ok(()) => self.times(to, stat, false),
            Err(error) => self.fail(&format!("cannot create symbolic link {}: {}", quote_path(to), error.text())),
        }
    }
}
