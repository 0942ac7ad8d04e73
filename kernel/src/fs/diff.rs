//! Differences between two snapshots.

use std::iter::Peekable;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::contents::Contents;
use super::entries;
use super::name::Name;
use super::node::{Body, Dir, Node};
use super::table::Table;
use super::{FsSnapshot, Ino, Stat};

/// The entry of one snapshot at a path.
#[derive(Clone, Debug)]
pub struct DiffEntry {
    /// Attributes.
    pub stat: Stat,
    /// Content of a file, shared with the snapshot.
    pub contents: Option<Contents>,
    /// Target of a symbolic link.
    pub target: Option<Arc<[u8]>>,
}

/// Callback that receives an absolute path and the entries of both sides.
pub type Visit<'a> = dyn FnMut(&[u8], Option<DiffEntry>, Option<DiffEntry>) -> ControlFlow<()> + 'a;

impl FsSnapshot {
    /// Calls `visit` for every path at which `self` and `after` differ: in existence, kind, mode, file content or link target. A
    /// directory comes before its entries; names are in byte order. Times, owners and link counts are not compared. Returning
    /// `Break` ends the comparison.
    ///
    /// Shared parts are recognised without reading them: they cost one lookup per name, or nothing if nothing has changed.
    pub fn visit_changes(&self, after: &Self, visit: &mut Visit<'_>) -> ControlFlow<()> {
        if self.table.is_same(&after.table) && self.root == after.root {
            return ControlFlow::Continue(());
        }
        let sides = DiffTables { before: &self.table, after: &after.table };
        let (mut path, mut stack) = (Vec::new(), Vec::new());
        let roots = (Some(self.root), Some(after.root));
        sides.visit(roots, b"/", visit)?;
        stack.push(sides.open(roots, 0));
        while let Some(level) = stack.last_mut() {
            let Some((name, inos)) = level.next() else {
                stack.pop();
                continue;
            };
            if !sides.has_dir(inos) && sides.is_shared(inos) {
                continue;
            }
            path.truncate(level.path_len);
            path.push(b'/');
            path.extend_from_slice(name.as_bytes());
            sides.visit(inos, &path, visit)?;
            if sides.has_dir(inos) {
                stack.push(sides.open(inos, path.len()));
            }
        }
        ControlFlow::Continue(())
    }
}

type Inos = (Option<Ino>, Option<Ino>);

struct DiffTables<'a> {
    before: &'a Table,
    after: &'a Table,
}

impl<'a> DiffTables<'a> {
    /// Returns whether both names lead to the same inode, unchanged since the tables diverged.
    fn is_shared(&self, inos: Inos) -> bool {
        matches!(inos, (Some(one), Some(two)) if one == two && self.before.shares(self.after, one))
    }

    fn nodes(&self, (before, after): Inos) -> (Option<&'a Node>, Option<&'a Node>) {
        (before.and_then(|ino| self.before.get(ino)), after.and_then(|ino| self.after.get(ino)))
    }

    fn has_dir(&self, inos: Inos) -> bool {
        let (before, after) = self.nodes(inos);
        before.is_some_and(Node::is_dir) || after.is_some_and(Node::is_dir)
    }

    fn visit(&self, inos: Inos, path: &[u8], visit: &mut Visit<'_>) -> ControlFlow<()> {
        if self.is_shared(inos) {
            return ControlFlow::Continue(());
        }
        let (before, after) = self.nodes(inos);
        match (before, after) {
            (None, None) => return ControlFlow::Continue(()),
            (Some(before), Some(after)) if is_unchanged(before, after) => return ControlFlow::Continue(()),
            _ => {}
        }
        let entry = |node: Option<&Node>, ino: Option<Ino>| Some(DiffEntry::new(node?, ino?));
        visit(path, entry(before, inos.0), entry(after, inos.1))
    }

    fn open(&self, inos: Inos, path_len: usize) -> DirPair<'a> {
        let (before, after) = self.nodes(inos);
        DirPair { before: entries(before), after: entries(after), path_len }
    }
}

impl DiffEntry {
    fn new(node: &Node, ino: Ino) -> Self {
        let contents = node.file().ok().map(|content| Contents::new(content.clone()));
        let target = match &node.body {
            Body::Symlink(target) => Some(Arc::clone(target)),
            _ => None,
        };
        Self { stat: node.stat(ino), contents, target }
    }
}

fn is_unchanged(before: &Node, after: &Node) -> bool {
    let body = match (&before.body, &after.body) {
        (Body::File(one), Body::File(two)) => one.content_eq(two),
        (Body::Dir(_), Body::Dir(_)) => true,
        (Body::Symlink(one), Body::Symlink(two)) => one == two,
        (Body::Device(one), Body::Device(two)) => one == two,
        (Body::Fifo, Body::Fifo) => true,
        _ => false,
    };
    body && before.mode == after.mode
}

type Entries<'a> = Peekable<entries::Iter<'a>>;

/// Iteration state of a directory that exists on one or both sides.
struct DirPair<'a> {
    before: Option<Entries<'a>>,
    after: Option<Entries<'a>>,
    path_len: usize,
}

fn entries(node: Option<&Node>) -> Option<Entries<'_>> {
    let dir: &Dir = node?.dir().ok()?;
    Some(dir.entries.iter().peekable())
}

impl<'a> DirPair<'a> {
    /// Returns the next name and its inodes on both sides.
    fn next(&mut self) -> Option<(&'a Name, Inos)> {
        let peek = |side: &mut Option<Entries<'a>>| side.as_mut()?.peek().copied();
        let take = |side: &mut Option<Entries<'a>>| side.as_mut().and_then(Iterator::next);
        let (before, after) = (peek(&mut self.before), peek(&mut self.after));
        let first = before.iter().chain(&after).map(|&(name, _)| name).min()?;
        let mut here = |found: Option<(&'a Name, Ino)>, which: fn(&mut Self) -> &mut Option<Entries<'a>>| {
            let (_, ino) = found.filter(|&(name, _)| name == first)?;
            take(which(self));
            Some(ino)
        };
        let before = here(before, |level| &mut level.before);
        let after = here(after, |level| &mut level.after);
        Some((first, (before, after)))
    }
}
