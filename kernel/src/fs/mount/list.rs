//! Listing directories of mounts, together with what the sandbox keeps on top of them.

use std::borrow::Cow;
use std::ops::Bound;
use std::sync::Arc;

use super::Lower;
use super::found::Listing;
use super::port::EntryKind;
use crate::errno::Errno;
use crate::fs::name::{NAME_MAX, Name};
use crate::fs::node::Dir;
use crate::fs::{Fs, Ino, Kind};

/// What a name is, and whether it lies in the tree.
type Item<'a> = (Cow<'a, [u8]>, Ino, Kind);

/// The entries of one directory in the order of their names.
#[derive(Debug)]
pub(in crate::fs) struct Merged<'a> {
    fs: &'a Fs,
    dir: Ino,
    device: u32,
    upper: Option<&'a Dir>,
    lower: Arc<Listing>,
    after: Option<Name>,
}

impl Fs {
    /// Makes the listing that [`Self::read_dir`] goes through, where it is a mounted file system that makes it, and tells
    /// why it cannot be made. Without it such a directory would look empty.
    ///
    /// # Errors
    /// What the mount answers; `STALE`.
    pub fn check_dir(&self, dir: Ino, after: Option<&[u8]>) -> Result<(), Errno> {
        let dir = self.own(dir);
        let own = self.table.get(dir).is_some_and(|node| node.dir().is_ok_and(|dir| dir.lower.is_none()));
        if own || self.mounts.is_none() || !self.is_dir(dir)? {
            return Ok(());
        }
        if after.is_some() {
            return self.listing(dir).map(drop);
        }
        self.list(dir)?;
        if let Some(mut found) = self.found() {
            found.checked = Some(found.shown(dir));
        }
        Ok(())
    }

    /// The entries of a directory that is mounted or has a mounted one below it.
    pub(in crate::fs) fn merged(&self, dir: Ino, after: Option<&[u8]>) -> Option<Merged<'_>> {
        let upper = match self.table.get(dir) {
            Some(node) => Some(node.dir().ok().filter(|dir| dir.lower.is_some())?),
            None => None,
        };
        let device = self.device(dir).ok()?;
        // What was listed to be checked a moment ago is not listed again.
        let checked = self.found().and_then(|mut found| found.checked.take()) == Some(self.shown(dir));
        let lower = if after.is_none() && !checked { self.list(dir) } else { self.listing(dir) }.unwrap_or_default();
        Some(Merged { fs: self, dir: self.shown(dir), device, upper, lower, after: after.map(Name::new) })
    }

    /// Whether nothing shows in a directory.
    pub(in crate::fs) fn is_empty_dir(&self, dir: Ino) -> Result<bool, Errno> {
        if let Some(node) = self.table.get(dir) {
            let own = node.dir()?;
            if own.lower.is_none() || !own.entries.is_empty() {
                return Ok(own.entries.is_empty());
            }
        }
        self.check_dir(dir, None)?;
        Ok(self.merged(dir, Some(b"")).is_none_or(|mut merged| merged.next().is_none()))
    }

    fn listing(&self, dir: Ino) -> Result<Arc<Listing>, Errno> {
        let kept = self.found().and_then(|found| found.listing(found.shown(dir)));
        kept.map_or_else(|| self.list(dir), Ok)
    }

    fn list(&self, dir: Ino) -> Result<Arc<Listing>, Errno> {
        let object = self.object(dir)?;
        if object.gone {
            return Ok(Arc::default());
        }
        let entries = object.mounted.mount.read_dir(&object.path)?;
        // What cannot be a component of a path would never be found.
        let named = |name: &[u8]| {
            !(name.is_empty() || name == b"." || name == b".." || name.len() > NAME_MAX || name.contains(&b'/'))
        };
        let entries = entries.iter().filter(|(name, _)| named(name) && !name.contains(&0));
        let listing: Arc<Listing> = Arc::new(entries.map(|(name, kind)| (Name::new(name), *kind)).collect());
        if let Some(mut found) = self.found() {
            let dir = found.shown(dir);
            found.keep_listing(dir, Arc::clone(&listing));
        }
        Ok(listing)
    }
}

impl<'a> Merged<'a> {
    fn next_upper(&self) -> Option<(&'a Name, Ino)> {
        let entries = &self.upper?.entries;
        entries.range::<[u8], _>((self.start(), Bound::Unbounded)).next().map(|(name, &ino)| (name, ino))
    }

    fn next_lower(&self) -> Option<(&Name, EntryKind)> {
        let hidden = self.upper.and_then(|dir| dir.lower.as_deref()).map(|lower: &Lower| &lower.hidden);
        let rest = self.lower.range::<[u8], _>((self.start(), Bound::Unbounded));
        rest.map(|(name, &kind)| (name, kind)).find(|(name, _)| hidden.is_none_or(|hidden| !hidden.contains(*name)))
    }

    fn start(&self) -> Bound<&[u8]> {
        self.after.as_ref().map_or(Bound::Unbounded, |after| Bound::Excluded(after.as_bytes()))
    }

    fn number(&self, name: &[u8], kind: EntryKind) -> Option<Ino> {
        let mut found = self.fs.found()?;
        found.trim(|ino| self.fs.holds.contains_key(&ino));
        Some(found.number(self.device, self.dir, name, kind, None))
    }
}

impl<'a> Iterator for Merged<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        loop {
            let (upper, lower) = (self.next_upper(), self.next_lower());
            if let Some((name, ino)) = upper
                && lower.is_none_or(|(below, _)| name <= below)
            {
                self.after = Some(name.clone());
                if let Some(node) = self.fs.table.get(ino) {
                    return Some((Cow::Borrowed(name.as_bytes()), self.fs.shown(ino), node.kind()));
                }
                continue;
            }
            let (name, kind) = lower.map(|(name, kind)| (name.clone(), kind))?;
            let ino = self.number(name.as_bytes(), kind)?;
            let shown = name.as_bytes().to_vec();
            self.after = Some(name);
            return Some((Cow::Owned(shown), ino, kind.into()));
        }
    }
}
