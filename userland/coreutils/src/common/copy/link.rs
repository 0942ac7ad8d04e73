//! Links: copies of symbolic ones, and those that are made in place of copies.

use tidebox_gnu::message::{path_label, quote_path};
use tidebox_rt::{Errno, Stat};

use super::Copier;
use crate::common::say;
use crate::common::target::{folder_of, same};

impl Copier<'_> {
    /// What is not replaced because it is new enough is a name of the copy all the same, where the source is one of a file
    /// that was copied.
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

    /// Gives a file another name, which may be in use when it `replaces` what has it.
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
            say(self.options.tool, &format!("removed {}", quote_path(to)));
        }
        tidebox_rt::link(from, to)
    }

    /// A symbolic link instead of a copy.
    pub(super) fn symbolic(&self, from: &[u8], to: &[u8]) -> bool {
        let here = || match (tidebox_rt::stat(folder_of(to), true), tidebox_rt::stat(b".", true)) {
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

    /// A copy of a symbolic link.
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
