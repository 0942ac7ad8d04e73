//! Changes between two snapshots of one file system, found through the parts that they do not share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::contents::Contents;
use super::entries::Entries;
use super::name::Name;
use super::node::{Body, Node};
use super::table::Table;
use super::{FsSnapshot, Ino, Kind, Stat};

/// Changes from one snapshot to a later one. Inode numbers are those of the file system that both are of.
#[derive(Clone, Debug, Default)]
pub struct TreeChanges {
    /// Locations in the earlier snapshot of the inodes to which the other lists refer. A directory comes before its entries.
    pub locations: Vec<InodeLocation>,
    /// Names that the earlier snapshot has and the later one has not, or has for another inode. The entries of a removed directory
    /// are listed only if their inodes still exist.
    pub removed: Vec<EntryChange>,
    /// Names that only the later snapshot has, or has for another inode.
    pub added: Vec<EntryChange>,
    /// New inodes, and existing ones whose attributes or content may differ.
    pub inodes: Vec<InodeChange>,
    /// True if files that the host has installed since the earlier snapshot are omitted.
    pub omits_installed: bool,
}

impl TreeChanges {
    /// Returns whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty() && self.inodes.is_empty()
    }
}

/// A name in the earlier snapshot of an inode that both have.
#[derive(Clone, Debug)]
pub struct InodeLocation {
    /// The inode; never the root.
    pub ino: Ino,
    /// Directory that has the name.
    pub dir: Ino,
    /// The name.
    pub name: Vec<u8>,
    /// True if the host installed it and it is not a directory, so that another base image may lack it.
    pub is_installed: bool,
}

/// A name that was removed or added.
#[derive(Clone, Debug)]
pub struct EntryChange {
    /// Directory that has the name.
    pub dir: Ino,
    /// The name.
    pub name: Vec<u8>,
    /// Inode to which the name leads.
    pub ino: Ino,
}

/// A new or changed inode.
#[derive(Clone, Debug)]
pub struct InodeChange {
    /// The inode.
    pub ino: Ino,
    /// True if the earlier snapshot does not have it.
    pub is_new: bool,
    /// Its attributes in the later snapshot.
    pub stat: Stat,
    /// Content of a file if it is new or changed, with the blocks that [`Contents::changed_blocks`] returns.
    pub contents: Option<(Contents, Vec<(u64, usize)>)>,
    /// Target of a symbolic link.
    pub target: Option<Arc<[u8]>>,
}

impl FsSnapshot {
    /// Returns the changes from this snapshot to `after`, a later one of the same file system. Takes time per change, and not per
    /// file: parts that both share are skipped. The one exception is a changed file with several names whose latest one was
    /// removed, for which all names are read.
    ///
    /// `None` if the upper layer of a copy-on-write mount has changed, or something that was moved out of it or into it: these
    /// inodes mean something only together with the mounted files. Also for two forks in which one number leads to inodes of
    /// different kinds.
    #[must_use]
    pub fn changes_to(&self, after: &Self) -> Option<TreeChanges> {
        let mut comparison = Comparison {
            before: &self.table,
            after: &after.table,
            root: self.root,
            changes: TreeChanges::default(),
            wanted: BTreeSet::new(),
        };
        for (old, new) in self.table.unshared_slots(&after.table) {
            comparison.compare(old, new)?;
        }
        comparison.drop_installed();
        comparison.locate()?;
        Some(comparison.changes)
    }
}

struct Comparison<'a> {
    before: &'a Table,
    after: &'a Table,
    root: Ino,
    changes: TreeChanges,
    /// Inodes of the earlier snapshot that the changes refer to.
    wanted: BTreeSet<Ino>,
}

impl<'a> Comparison<'a> {
    fn compare(&mut self, old: Option<(Ino, &'a Node)>, new: Option<(Ino, &'a Node)>) -> Option<()> {
        match (old, new) {
            (Some((one, before)), Some((two, after))) if one == two => {
                if is_unchanged(before, after) {
                    return Some(());
                }
                let same_target =
                    matches!((&before.body, &after.body), (Body::Symlink(one), Body::Symlink(two)) if one == two);
                // Of two forks, an inode number may lead to different inodes.
                let same_kind = before.kind() == after.kind() && (before.kind() != Kind::Symlink || same_target);
                if before.device != 0 || after.device != 0 || !same_kind {
                    return None;
                }
                self.compare_entries(one, Some(before), Some(after));
                self.add_inode(one, Some(before), after);
            }
            (old, new) => {
                if [old, new].iter().flatten().any(|(_, node)| node.device != 0) {
                    return None;
                }
                if let Some((ino, node)) = old {
                    self.compare_entries(ino, Some(node), None);
                }
                if let Some((ino, node)) = new {
                    self.compare_entries(ino, None, Some(node));
                    self.add_inode(ino, None, node);
                }
            }
        }
        Some(())
    }

    /// Lists the names that a directory has on one side only.
    fn compare_entries(&mut self, dir: Ino, before: Option<&'a Node>, after: Option<&'a Node>) {
        let empty = Entries::default();
        let entries = |node: Option<&'a Node>| node.and_then(|node| node.dir().ok()).map_or(&empty, |dir| &dir.entries);
        let (before, after, is_removed) = (entries(before), entries(after), after.is_none());
        let entry = |name: &Name, ino| EntryChange { dir, name: name.as_bytes().to_vec(), ino };
        before.visit_changes(after, &mut |name, old, new| {
            if let Some(ino) = old.filter(|&ino| !is_removed || self.after.get(ino).is_some()) {
                self.wanted.insert(dir);
                self.changes.removed.push(entry(name, ino));
            }
            if let Some(ino) = new {
                let exist = [dir, ino].into_iter().filter(|&ino| self.before.get(ino).is_some());
                self.wanted.extend(exist);
                self.changes.added.push(entry(name, ino));
            }
        });
    }

    fn add_inode(&mut self, ino: Ino, before: Option<&Node>, after: &Node) {
        let contents = |node: &Node| node.file().ok().map(|content| Contents::new(content.clone()));
        let old = before.and_then(contents).unwrap_or_default();
        let contents = contents(after).and_then(|contents| {
            let blocks = contents.changed_blocks(&old);
            let blocks = blocks.or_else(|| before.is_none().then(Vec::new))?;
            Some((contents, blocks))
        });
        let target = match &after.body {
            Body::Symlink(target) => Some(Arc::clone(target)),
            _ => None,
        };
        if before.is_some() {
            self.wanted.insert(ino);
        }
        let is_new = before.is_none();
        self.changes.inodes.push(InodeChange { ino, is_new, stat: after.stat(ino), contents, target });
    }

    /// Removes what the host has installed since: its programs and devices are installed again wherever the changes are applied.
    fn drop_installed(&mut self) {
        let after = self.after;
        let changes = &mut self.changes;
        let is_installed = |ino| after.get(ino).is_some_and(|node| node.installed && !node.is_dir());
        let dropped: BTreeSet<Ino> = changes
            .inodes
            .iter()
            .filter(|inode| inode.is_new && is_installed(inode.ino))
            .map(|inode| inode.ino)
            .collect();
        changes.omits_installed = !dropped.is_empty();
        if changes.omits_installed {
            changes.inodes.retain(|inode| !dropped.contains(&inode.ino));
            changes.added.retain(|entry| !dropped.contains(&entry.ino));
        }
    }

    /// Finds the locations of all wanted inodes; `None` if one is in the upper layer of a mount.
    fn locate(&mut self) -> Option<()> {
        let mut done = BTreeSet::from([self.root]);
        let mut found_by_search = None;
        let mut chain = Vec::new();
        for &wanted in &self.wanted {
            let mut at = wanted;
            while !done.contains(&at) {
                let node = self.before.get(at).filter(|node| node.device == 0)?;
                let (dir, name) = match self.latest_name(at, node) {
                    Some(location) => location,
                    None => *found_by_search.get_or_insert_with(|| self.search()).get(&at)?,
                };
                done.insert(at);
                let is_installed = node.installed && !node.is_dir();
                chain.push(InodeLocation { ino: at, dir, name: name.as_bytes().to_vec(), is_installed });
                at = dir;
            }
            self.changes.locations.extend(chain.drain(..).rev());
        }
        Some(())
    }

    /// Returns the name that an inode stores, if it still leads to it.
    fn latest_name(&self, ino: Ino, node: &'a Node) -> Option<(Ino, &'a Name)> {
        let entries = &self.before.get(node.parent)?.dir().ok()?.entries;
        (entries.get(node.name.as_bytes()) == Some(ino)).then_some((node.parent, &node.name))
    }

    /// Returns a name of every wanted inode, by reading all directories of the earlier snapshot.
    fn search(&self) -> BTreeMap<Ino, (Ino, &'a Name)> {
        let dirs = self.before.live_inodes().filter_map(|(ino, node)| Some((ino, node.dir().ok()?)));
        let names = dirs.flat_map(|(dir, node)| node.entries.iter().map(move |(name, ino)| (ino, (dir, name))));
        names.filter(|(ino, _)| self.wanted.contains(ino)).collect()
    }
}

/// Returns whether two states of an inode are known to be equal without reading content.
fn is_unchanged(before: &Node, after: &Node) -> bool {
    let attributes = |node: &Node| (node.mode, node.uid, node.gid, node.nlink, node.atime, node.mtime, node.ctime);
    let body = match (&before.body, &after.body) {
        (Body::File(one), Body::File(two)) => one.shares_all(two),
        (Body::Dir(one), Body::Dir(two)) => Arc::ptr_eq(one, two),
        (Body::Symlink(one), Body::Symlink(two)) => Arc::ptr_eq(one, two),
        (Body::Device(one), Body::Device(two)) => one == two,
        (Body::Fifo, Body::Fifo) => true,
        _ => false,
    };
    body && attributes(before) == attributes(after)
}
