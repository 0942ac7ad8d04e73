//! Directory listings of mounts, merged with the upper entries of the sandbox.

use std::borrow::Cow;
use std::ops::Bound;
use std::sync::Arc;

use super::Lower;
use super::api::EntryKind;
use super::objects::Listing;
use crate::errno::Errno;
use crate::fs::name::{NAME_MAX, Name};
use crate::fs::node::Dir;
use crate::fs::{Fs, Ino, Kind};

/// Name, number and kind of an entry.
type Item<'a> = (Cow<'a, [u8]>, Ino, Kind);

/// The merged entries of one directory, in byte order.
#[derive(Debug)]
pub(in crate::fs) struct MergedDir<'a> {
    fs: &'a Fs,
    dir: Ino,
    device: u32,
    upper: Option<&'a Dir>,
    lower: Arc<Listing>,
    after: Option<Name>,
}

impl Fs {
    /// Creates the mounted listing that [`Self::read_dir`] iterates over, so that an error can be reported. Without this check, a
    /// failing directory would look empty.
    ///
    /// # Errors
    /// The error of the mount; `STALE`.
    pub fn check_dir(&self, dir: Ino, after: Option<&[u8]>) -> Result<(), Errno> {
        let dir = self.upper_ino(dir);
        let own = self.table.get(dir).is_some_and(|node| node.dir().is_ok_and(|dir| dir.lower.is_none()));
        if own || self.mounts.is_none() || !self.is_dir(dir)? {
            return Ok(());
        }
        if after.is_some() {
            return self.listing(dir).map(drop);
        }
        self.list(dir)?;
        if let Some(mut found) = self.objects() {
            found.checked = Some(found.lower_of(dir));
        }
        Ok(())
    }

    /// Returns the entries of a directory that lies in a mount or has a mounted lower directory.
    pub(in crate::fs) fn merged_dir(&self, dir: Ino, after: Option<&[u8]>) -> Option<MergedDir<'_>> {
        let upper = match self.table.get(dir) {
            Some(node) => Some(node.dir().ok().filter(|dir| dir.lower.is_some())?),
            None => None,
        };
        let device = self.device(dir).ok()?;
        // Reuse the listing that the check has just created.
        let checked = self.objects().and_then(|mut found| found.checked.take()) == Some(self.guest_ino(dir));
        let lower = if after.is_none() && !checked { self.list(dir) } else { self.listing(dir) }.unwrap_or_default();
        Some(MergedDir { fs: self, dir: self.guest_ino(dir), device, upper, lower, after: after.map(Name::new) })
    }

    /// Returns whether a directory has no visible entries.
    pub(in crate::fs) fn is_empty_dir(&self, dir: Ino) -> Result<bool, Errno> {
        if let Some(node) = self.table.get(dir) {
            let own = node.dir()?;
            if own.lower.is_none() || !own.entries.is_empty() {
                return Ok(own.entries.is_empty());
            }
        }
        self.check_dir(dir, None)?;
        Ok(self.merged_dir(dir, Some(b"")).is_none_or(|mut merged| merged.next().is_none()))
    }

    fn listing(&self, dir: Ino) -> Result<Arc<Listing>, Errno> {
        let kept = self.objects().and_then(|found| found.listing(found.lower_of(dir)));
        kept.map_or_else(|| self.list(dir), Ok)
    }

    fn list(&self, dir: Ino) -> Result<Arc<Listing>, Errno> {
        let object = self.object(dir)?;
        if object.unlinked {
            return Ok(Arc::default());
        }
        let entries = object.mounted.mount.read_dir(&object.path)?;
        // Skip a name that cannot be a path component; no lookup could find it.
        let named = |name: &[u8]| {
            !(name.is_empty() || name == b"." || name == b".." || name.len() > NAME_MAX || name.contains(&b'/'))
        };
        let entries = entries.iter().filter(|(name, _)| named(name) && !name.contains(&0));
        let listing: Arc<Listing> = Arc::new(entries.map(|(name, kind)| (Name::new(name), *kind)).collect());
        if let Some(mut found) = self.objects() {
            let dir = found.lower_of(dir);
            found.keep_listing(dir, Arc::clone(&listing));
        }
        Ok(listing)
    }
}

impl<'a> MergedDir<'a> {
    fn next_upper(&self) -> Option<(&'a Name, Ino)> {
        let entries = &self.upper?.entries;
        entries.range(self.start()).next()
    }

    fn next_lower(&self) -> Option<(&Name, EntryKind)> {
        let hidden = self.upper.and_then(|dir| dir.lower.as_deref()).map(|lower: &Lower| &lower.whiteouts);
        let rest = self.lower.range::<[u8], _>((self.start(), Bound::Unbounded));
        rest.map(|(name, &kind)| (name, kind)).find(|(name, _)| hidden.is_none_or(|hidden| !hidden.contains(*name)))
    }

    fn start(&self) -> Bound<&[u8]> {
        self.after.as_ref().map_or(Bound::Unbounded, |after| Bound::Excluded(after.as_bytes()))
    }

    fn number(&self, name: &[u8], kind: EntryKind) -> Option<Ino> {
        let mut found = self.fs.objects()?;
        found.evict(|ino| self.fs.hold_counts.contains_key(&ino));
        Some(found.get_or_insert(self.device, self.dir, name, kind, None))
    }
}

impl<'a> Iterator for MergedDir<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        loop {
            let (upper, lower) = (self.next_upper(), self.next_lower());
            if let Some((name, ino)) = upper
                && lower.is_none_or(|(below, _)| name <= below)
            {
                self.after = Some(name.clone());
                if let Some(node) = self.fs.table.get(ino) {
                    return Some((Cow::Borrowed(name.as_bytes()), self.fs.guest_ino(ino), node.kind()));
                }
                continue;
            }
            let (name, kind) = lower.map(|(name, kind)| (name.clone(), kind))?;
            let ino = self.number(name.as_bytes(), kind)?;
            let entry_name = name.as_bytes().to_vec();
            self.after = Some(name);
            return Some((Cow::Owned(entry_name), ino, kind.into()));
        }
    }
}
