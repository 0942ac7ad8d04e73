//! Existing files at a member's path, and missing parent directories.

use tidebox_rt::Errno;

use super::Extract;
use super::link::remove;
use crate::header::Member;
use crate::message::{error, warn};
use crate::names::{is_newer, time};
use crate::options::Old;
use crate::quote::{escaped, quoted};

impl Extract<'_> {
    /// Tries to create a file. Removes an existing one if the options allow it, and creates missing directories. `None` if the
    /// existing file is kept.
    pub(super) fn make<T>(
        &mut self,
        name: &[u8],
        path: &[u8],
        member: Option<&Member>,
        mut attempt: impl FnMut() -> Result<T, Errno>,
    ) -> Option<Result<T, Errno>> {
        if self.options.old == Old::UnlinkFirst
            && let Err(errno) = remove(path)
            && errno != Errno::NOENT
        {
            error(&[&escaped(name, true), b": Cannot unlink: ", errno.text().as_bytes()]);
        }
        let (mut removed, mut has_parents) = (false, false);
        loop {
            match attempt() {
                Err(Errno::EXIST | Errno::ISDIR | Errno::LOOP) if !removed => {
                    removed = true;
                    match self.options.old {
                        Old::Skip => {
                            if self.options.verbose > 0 {
                                warn(&[&escaped(name, true), b": skipping existing file"]);
                            }
                            return None;
                        }
                        Old::Keep => return Some(Err(Errno::EXIST)),
                        Old::KeepNewer => {
                            let there = tidebox_rt::stat(path, false).map(|stat| time(stat.mtime_ns));
                            if let (Ok(there), Some(member)) = (there, member)
                                && !is_newer(member.mtime, there)
                            {
                                warn(&[b"Current ", &quoted(name), b" is newer or same age"]);
                                return None;
                            }
                        }
                        Old::Replace | Old::Overwrite | Old::UnlinkFirst => {}
                    }
                    if let Err(errno) = remove(path) {
                        return Some(Err(if errno == Errno::NOTEMPTY { Errno::EXIST } else { errno }));
                    }
                }
                Err(Errno::NOENT) if !has_parents => {
                    has_parents = true;
                    self.parents(name, path);
                }
                other => return Some(other),
            }
        }
    }

    /// Creates missing parent directories. Errors are reported with the member's name.
    fn parents(&mut self, name: &[u8], path: &[u8]) {
        let before = path.len().saturating_sub(name.len());
        for at in (1..path.len()).filter(|at| path.get(*at) == Some(&b'/')) {
            let folder = path.get(..at).unwrap_or_default();
            if self.existing.contains(folder) {
                continue;
            }
            match tidebox_rt::make_dir(folder) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => {
                    if tidebox_rt::stat(folder, true).is_err() {
                        let shown = folder.get(before..).unwrap_or(folder);
                        error(&[&escaped(shown, true), b": Cannot mkdir: ", errno.text().as_bytes()]);
                        return;
                    }
                }
            }
            self.existing.insert(folder.to_vec());
        }
    }
}
