//! Directories: entries are compared by name.

use std::collections::{BTreeMap, BTreeSet};
use std::vec::IntoIter;

use tidebox_gnu::glob::{Flags, matches};
use tidebox_gnu::message::print_error;
use tidebox_rt::Errno;

use crate::diff::{Run, Side, both_folders, joined};
use crate::{DIFFERENT, Failure, TROUBLE};

/// Device and inode of a directory.
type Identity = Option<(u32, u64)>;

/// Two directories being compared.
struct Level {
    sides: [Side; 2],
    identity: [Identity; 2],
    /// Remaining names, on the sides that have them.
    names: IntoIter<[Option<Vec<u8>>; 2]>,
}

/// Result of a name.
enum Entry {
    /// It was compared, with this exit code.
    Code(i32),
    /// It is a directory on both sides.
    Folders(Side, Side),
}

impl Run<'_> {
    /// Compares two directories recursively; nesting uses heap, not stack.
    pub(crate) fn folders(&mut self, a: Side, b: Side) -> Result<i32, Failure> {
        let mut levels = Vec::new();
        let mut code = self.enter([a, b], &mut levels)?;
        while let Some(level) = levels.last_mut() {
            let Some(names) = level.names.next() else {
                levels.pop();
                continue;
            };
            let found = match self.entry(&level.sides, &names)? {
                Entry::Code(found) => found,
                Entry::Folders(a, b) => self.enter([a, b], &mut levels)?,
            };
            code = code.max(found);
        }
        Ok(code)
    }

    /// Lists two directories, to be compared next.
    fn enter(&mut self, sides: [Side; 2], levels: &mut Vec<Level>) -> Result<i32, Failure> {
        let identity = [0, 1].map(|at: usize| sides[at].stat.map(|stat| (stat.dev, stat.ino)));
        for (side, me) in sides.iter().zip(identity) {
            if me.is_some() && levels.iter().any(|level| level.identity.contains(&me)) {
                self.output.flush()?;
                print_error("diff", &format!("{}: recursive directory loop", side.display()));
                return Ok(TROUBLE);
            }
        }
        // As in GNU, the content of a directory is neither compared with itself nor reported.
        if identity[0].is_some() && identity[0] == identity[1] {
            return Ok(0);
        }
        let mut code = 0;
        let mut lists: [BTreeSet<Vec<u8>>; 2] = [BTreeSet::new(), BTreeSet::new()];
        for (side, list) in sides.iter().zip(&mut lists) {
            match self.names(side, levels.len()) {
                Ok(names) => *list = names,
                Err(errno) => {
                    self.report_error(&side.name, errno)?;
                    code = TROUBLE;
                }
            }
        }
        let [in_a, in_b] = lists;
        let names = if self.options.fold_names { paired_without_case(in_a, in_b) } else { paired(in_a, in_b) };
        levels.push(Level { sides, identity, names: names.into_iter() });
        Ok(code)
    }

    /// Compares the entries with one name in two directories.
    fn entry(&mut self, folders: &[Side; 2], names: &[Option<Vec<u8>>; 2]) -> Result<Entry, Failure> {
        let held = [names[0].is_some(), names[1].is_some()];
        let Some(name) = names.iter().flatten().next() else {
            return Ok(Entry::Code(0));
        };
        let empty = self.options.new_file || (self.options.new_in_first && held == [false, true]);
        if held != [true, true] && !empty {
            let holder = if held[0] { &folders[0] } else { &folders[1] };
            self.report(&format!("Only in {}: {}\n", holder.display(), String::from_utf8_lossy(name)))?;
            return Ok(Entry::Code(DIFFERENT));
        }
        let mut sides = Vec::with_capacity(2);
        for (folder, own) in folders.iter().zip(names) {
            let path = joined(&folder.name, own.as_ref().unwrap_or(name));
            let side =
                if own.is_some() { Side::find(path, !self.options.links) } else { Ok(Side { name: path, stat: None }) };
            match side {
                Ok(side) => sides.push(side),
                // Both may be dangling links, and each is reported.
                Err((name, errno)) => self.report_error(&name, errno)?,
            }
        }
        match (sides.pop(), sides.pop()) {
            (Some(b), Some(a)) if self.options.recursive && both_folders(&a, &b) => Ok(Entry::Folders(a, b)),
            (Some(b), Some(a)) => self.pair(&a, &b, true).map(Entry::Code),
            _ => Ok(Entry::Code(TROUBLE)),
        }
    }

    /// Returns the names in a directory that are compared.
    fn names(&self, side: &Side, depth: usize) -> Result<BTreeSet<Vec<u8>>, Errno> {
        if side.stat.is_none() {
            return Ok(BTreeSet::new());
        }
        let excluded =
            |name: &[u8]| self.options.excluded.iter().any(|pattern| matches(pattern, name, Flags::default()));
        let entries = tidebox_rt::read_dir(&side.name)?;
        let before = |name: &Vec<u8>| depth < 2 && self.options.starting.as_ref().is_some_and(|start| name < start);
        let names = entries.into_iter().map(|entry| entry.name);
        Ok(names.filter(|name| !excluded(name) && !before(name)).collect())
    }
}

/// Merges the sorted names of both sides.
fn paired(a: BTreeSet<Vec<u8>>, b: BTreeSet<Vec<u8>>) -> Vec<[Option<Vec<u8>>; 2]> {
    let names: Vec<Vec<u8>> = a.union(&b).cloned().collect();
    names.into_iter().map(|name| [a.contains(&name).then(|| name.clone()), b.contains(&name).then_some(name)]).collect()
}

/// Like the previous, but case-insensitive: equal names are paired first, then the remaining ones in their order.
fn paired_without_case(a: BTreeSet<Vec<u8>>, b: BTreeSet<Vec<u8>>) -> Vec<[Option<Vec<u8>>; 2]> {
    let mut folded: BTreeMap<Vec<u8>, [BTreeSet<Vec<u8>>; 2]> = BTreeMap::new();
    for (at, names) in [a, b].into_iter().enumerate() {
        for name in names {
            let sides = folded.entry(name.to_ascii_lowercase()).or_default();
            if let Some(side) = sides.get_mut(at) {
                side.insert(name);
            }
        }
    }
    let mut pairs = Vec::new();
    for [a, b] in folded.into_values() {
        let both: BTreeSet<Vec<u8>> = a.intersection(&b).cloned().collect();
        let mut group: Vec<_> = both.iter().map(|name| [Some(name.clone()), Some(name.clone())]).collect();
        let (mut a, mut b) =
            (a.into_iter().filter(|name| !both.contains(name)), b.into_iter().filter(|name| !both.contains(name)));
        loop {
            match [a.next(), b.next()] {
                [None, None] => break,
                pair => group.push(pair),
            }
        }
        group.sort_by(|left, right| left.iter().flatten().next().cmp(&right.iter().flatten().next()));
        pairs.extend(group);
    }
    pairs
}
