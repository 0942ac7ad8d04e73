//! Selection of the file to patch, from the names in the header.

use tidebox_gnu::message::bytes_path;
use tidebox_rt::{FileKind, Stat};

use super::header::Header;
use super::name::{NEW, OLD, best, is_safe};
use super::session::Session;

/// Candidate files.
pub(crate) struct Choice {
    pub(crate) name: Option<Vec<u8>>,
    pub(crate) stat: Option<Stat>,
    /// The name before an earlier rename.
    pub(crate) before: Option<Vec<u8>>,
}

impl Session {
    /// Selects a name. Decides whether the patch is reversed if it creates an existing file or deletes a missing one.
    pub(crate) fn choose(&mut self, header: &mut Header) -> Choice {
        if let Some(name) = self.options.file.clone() {
            let stat = self.state(&name);
            let size = stat.map_or(0, |stat| stat.size);
            self.maybe_reversed(header, &name, stat.is_none(), size == 0);
            return Choice { name: Some(name), stat, before: None };
        }
        let [old, new, index] = &mut header.files;
        if old.name.is_some() || new.name.is_some() {
            index.name = None;
        }
        let names = [old.name.clone(), new.name.clone(), index.name.clone()];
        let mut stats = [None; 3];
        for (name, stat) in names.iter().zip(&mut stats) {
            *stat = name.as_ref().and_then(|name| self.state(name));
        }
        if header.renames || header.copies && !self.reverse {
            let (from, to) = if self.reverse { (NEW, OLD) } else { (OLD, NEW) };
            let [name, other] = [from, to].map(|at| names.get(at).cloned().flatten().filter(|name| is_safe(name)));
            let [stat, other_stat] = [from, to].map(|at| stats.get(at).copied().flatten());
            if header.renames && stat.is_none() && other_stat.is_some() {
                return Choice { name: other, stat: other_stat, before: name };
            }
            return Choice { name: name.filter(|_| other.is_some()), stat, before: None };
        }
        let exists = |at: usize| stats.get(at).copied().flatten().is_some();
        let found = best(&names, exists);
        let last = (0..3).rev().find(|at| names.get(*at).is_some_and(Option::is_some));
        let mut chosen = found;
        if let Some(asked) = found.or(last).and_then(|at| names.get(at).cloned().flatten()) {
            let size = found.and_then(|at| stats.get(at).copied().flatten()).map_or(0, |stat| stat.size);
            if self.maybe_reversed(header, &asked, found.is_none(), size == 0) && found.is_none() {
                chosen = last;
            }
        }
        if chosen.is_none() && header.absent[usize::from(self.reverse)] > 0 {
            chosen = fewest_new_folders(&names);
        }
        let name = chosen.and_then(|at| names.get(at).cloned().flatten());
        let Some(name) = name.filter(|name| self.accepts(name)) else {
            return Choice { name: None, stat: None, before: None };
        };
        Choice { stat: chosen.and_then(|at| stats.get(at).copied().flatten()), name: Some(name), before: None }
    }

    /// A name that leads out of the working directory is not taken from a patch.
    fn accepts(&mut self, name: &[u8]) -> bool {
        if is_safe(name) {
            return true;
        }
        let shown = self.display(name);
        self.print(&format!("Ignoring potentially dangerous file name {shown}\n"));
        false
    }

    fn state(&self, name: &[u8]) -> Option<Stat> {
        if self.removes.iter().any(|removed| removed == name) {
            return None;
        }
        tidebox_rt::stat(name, self.options.follows_links).ok()
    }

    /// Returns whether the patch seems to be reversed. Resolves the question and stores the result in `reverse`.
    fn maybe_reversed(&mut self, header: &Header, name: &[u8], missing: bool, empty: bool) -> bool {
        let at = |flip: bool| header.absent[usize::from(self.reverse ^ flip)];
        let seems = u8::from(!empty) < at(empty);
        if empty && at(missing) == 1 && at(!missing) == 2 {
            return false;
        }
        if seems {
            let (does, is) = match (missing, empty) {
                (true, _) => ("delete", "does not exist"),
                (false, true) => ("empty out", "is already empty"),
                (false, false) => ("create", "already exists"),
            };
            let reversed = if self.reverse { ", when reversed," } else { "" };
            let question =
                format!("The next patch{reversed} would {does} the file {},\nwhich {is}!", self.display(name));
            if self.agrees_to_reverse(&question) {
                self.reverse = !self.reverse;
            }
        }
        seems
    }

    /// Returns whether the file is one that `patch` changes.
    pub(crate) fn is_patchable(&mut self, name: &[u8], stat: Option<Stat>, as_link: bool) -> bool {
        let wanted = if as_link { FileKind::Symlink } else { FileKind::File };
        let Some(stat) = stat.filter(|stat| stat.kind() != wanted) else {
            return true;
        };
        let what = if as_link { "symbolic link" } else { "regular file" };
        let _ = stat;
        let shown = self.display(name);
        self.print(&format!("File {shown} is not a {what} -- refusing to patch\n"));
        false
    }
}

/// Returns the best of the names that need the fewest new directories.
fn fewest_new_folders(names: &[Option<Vec<u8>>; 3]) -> Option<usize> {
    let missing = |name: &Vec<u8>| {
        let above = bytes_path(name).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        above.filter(|folder| !folder.is_dir()).count()
    };
    let counts: Vec<Option<usize>> = names.iter().map(|name| name.as_ref().map(missing)).collect();
    let fewest = counts.iter().flatten().min().copied()?;
    best(names, |at| counts.get(at).copied().flatten() == Some(fewest))
}

/// Returns the name of the file afterwards: a different one for a git rename or copy.
pub(crate) fn target(header: &Header, reverse: bool, name: &[u8]) -> Vec<u8> {
    if !(header.renames || header.copies && !reverse) {
        return name.to_vec();
    }
    let to = if reverse { OLD } else { NEW };
    header.files.get(to).and_then(|file| file.name.clone()).unwrap_or_else(|| name.to_vec())
}
