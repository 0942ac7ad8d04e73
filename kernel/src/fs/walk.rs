//! Path resolution. This is the only path walker.

use std::borrow::Cow;

use super::mount::EntryKind;
use super::name::{NAME_MAX, Name};
use super::node::{Body, Dir};
use super::{Cred, Fs, Ino, PathStart, Resolved};
use crate::errno::Errno;

/// Handling of a symbolic link at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FollowMode {
    /// Follow it, as `stat` does.
    Follow,
    /// Do not follow it unless a slash follows, as for `lstat` (POSIX 4.16).
    Stay,
    /// Never follow it: the call is about the name, as for `unlink`.
    Entry,
}

/// The last component of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LastComponent<'a> {
    Name(Cow<'a, [u8]>),
    Dot,
    DotDot,
    /// The path has no component, as `/`.
    Root,
}

/// The end of a path: a component in an existing directory, and its inode if it exists.
#[derive(Debug)]
pub(super) struct WalkTarget<'a> {
    pub(super) dir: Ino,
    pub(super) last: LastComponent<'a>,
    /// A slash follows the last component, so it has to be a directory.
    pub(super) trailing_slash: bool,
    pub(super) node: Option<Ino>,
}

/// A [`WalkTarget`] whose last component is a name, without borrows of the path and the tree.
#[derive(Debug)]
pub(super) struct EntryLocation {
    pub(super) dir: Ino,
    pub(super) name: Name,
    pub(super) trailing_slash: bool,
    pub(super) node: Option<Ino>,
}

impl WalkTarget<'_> {
    /// Drops the borrow of the path.
    fn into_owned<'b>(self) -> WalkTarget<'b> {
        let last = match self.last {
            LastComponent::Name(name) => LastComponent::Name(Cow::Owned(name.into_owned())),
            LastComponent::Dot => LastComponent::Dot,
            LastComponent::DotDot => LastComponent::DotDot,
            LastComponent::Root => LastComponent::Root,
        };
        WalkTarget { dir: self.dir, last, trailing_slash: self.trailing_slash, node: self.node }
    }

    /// Returns the location as a name that can be created or removed; `special` returns the error for `/`, `.` and `..`.
    pub(super) fn into_entry(self, special: impl FnOnce(LastComponent<'_>) -> Errno) -> Result<EntryLocation, Errno> {
        match self.last {
            LastComponent::Name(name) => Ok(EntryLocation {
                dir: self.dir,
                name: Name::new(&name),
                trailing_slash: self.trailing_slash,
                node: self.node,
            }),
            other => Err(special(other)),
        }
    }
}

#[derive(Debug)]
pub(super) enum WalkResult<'a> {
    WalkTarget(WalkTarget<'a>),
    Proc(Vec<u8>),
    /// A symbolic link of a mount must be followed: the walk continues in a directory, with an owned path.
    Continue(Ino, Vec<u8>),
}

impl Fs {
    /// Resolves a path as POSIX 4.16 specifies. A relative path starts at `at`, an absolute one at the root; `follow` selects
    /// whether a final symbolic link is followed. A path that enters `/proc` ends there: the rest is normalised as text and
    /// returned.
    ///
    /// # Errors
    /// `NOENT` (also for the empty path), `NOTDIR`, `ACCES` (a directory in the path is not searchable), `LOOP`, `NAMETOOLONG`,
    /// `INVAL` (an embedded NUL), `STALE` (`at` was freed); `NOTCAPABLE` for a path that leaves a [`PathStart::beneath`].
    pub fn walk(&self, cred: &Cred, at: impl Into<PathStart>, path: &[u8], follow: bool) -> Result<Resolved, Errno> {
        let last = if follow { FollowMode::Follow } else { FollowMode::Stay };
        match self.find(cred, at.into(), path, last)? {
            WalkResult::Proc(below) => Ok(Resolved::Proc(below)),
            // `find` has followed it.
            WalkResult::Continue(..) => Err(Errno::Loop),
            WalkResult::WalkTarget(target_place) => match target_place.node {
                Some(ino) if Some(ino) == self.proc => Ok(Resolved::Proc(Vec::new())),
                Some(ino) => Ok(Resolved::Node(ino)),
                None => Err(Errno::Noent),
            },
        }
    }

    /// [`Self::walk`] confined to `at`, as preview1 requires. Short for [`PathStart::beneath`].
    ///
    /// # Errors
    /// As [`Self::walk`]; `NOTCAPABLE` for an absolute path, a `..` or a link that leaves `at`.
    pub fn walk_beneath(&self, cred: &Cred, at: Ino, path: &[u8], follow: bool) -> Result<Resolved, Errno> {
        self.walk(cred, PathStart::beneath(at), path, follow)
    }

    /// Resolves the location of a name that is about to be created or removed. `/proc` has no such names.
    pub(super) fn walk_to_parent<'a>(
        &'a self,
        cred: &'a Cred,
        at: PathStart,
        path: &'a [u8],
        last: FollowMode,
    ) -> Result<WalkTarget<'a>, Errno> {
        match self.find(cred, at, path, last)? {
            WalkResult::WalkTarget(target_place) => Ok(target_place),
            WalkResult::Proc(_) | WalkResult::Continue(..) => Err(Errno::Rofs),
        }
    }

    fn find<'a>(
        &'a self,
        cred: &'a Cred,
        at: PathStart,
        path: &'a [u8],
        last: FollowMode,
    ) -> Result<WalkResult<'a>, Errno> {
        if path.is_empty() {
            return Err(Errno::Noent);
        }
        if path.len() > self.path_bytes {
            return Err(Errno::Nametoolong);
        }
        if path.contains(&0) {
            return Err(Errno::Inval);
        }
        let absolute = path.first() == Some(&b'/');
        if absolute && at.beneath {
            return Err(Errno::Notcapable);
        }
        let start = self.upper_ino(at.dir);
        let base = at.beneath.then_some(start).filter(|&base| base != self.root);
        let dir = if absolute { self.root } else { start };
        let mut walk = Walk { fs: self, cred, base, last, links: 0, pending: Vec::new(), trailing_slash: false };
        match walk.run(dir, path)? {
            WalkResult::Continue(dir, path) => self.continue_at_link(cred, base, last, walk.links, dir, path),
            found => Ok(found),
        }
    }

    /// Continues a walk after a symbolic link of a mount, whose target is not borrowed from the tree.
    #[cold]
    fn continue_at_link<'a>(
        &'a self,
        cred: &Cred,
        base: Option<Ino>,
        last: FollowMode,
        mut links: u32,
        mut dir: Ino,
        mut path: Vec<u8>,
    ) -> Result<WalkResult<'a>, Errno> {
        loop {
            let mut walk = Walk { fs: self, cred, base, last, links, pending: Vec::new(), trailing_slash: false };
            let found = walk.run(dir, &path)?;
            links = walk.links;
            match found {
                WalkResult::WalkTarget(target_place) => return Ok(WalkResult::WalkTarget(target_place.into_owned())),
                WalkResult::Proc(below) => return Ok(WalkResult::Proc(below)),
                WalkResult::Continue(next, rest) => (dir, path) = (next, rest),
            }
        }
    }
}

struct Walk<'a> {
    fs: &'a Fs,
    cred: &'a Cred,
    /// The directory that must not be left.
    base: Option<Ino>,
    last: FollowMode,
    links: u32,
    /// Remainders of the paths of the links being followed, innermost last. Empty, and so unallocated, for most paths.
    pending: Vec<&'a [u8]>,
    trailing_slash: bool,
}

impl<'a> Walk<'a> {
    fn run(&mut self, mut dir: Ino, mut rest: &'a [u8]) -> Result<WalkResult<'a>, Errno> {
        loop {
            let Some((name, tail)) = component(rest) else {
                let Some(next) = self.pending.pop() else {
                    return Ok(WalkResult::WalkTarget(WalkTarget {
                        dir,
                        last: LastComponent::Root,
                        trailing_slash: true,
                        node: Some(dir),
                    }));
                };
                rest = next;
                continue;
            };
            if Some(dir) == self.fs.proc {
                match self.proc(rest) {
                    Ok(below) => return Ok(WalkResult::Proc(below)),
                    Err(outside) => (dir, rest) = (self.up(dir)?, outside),
                }
                continue;
            }
            let here = self.enter(dir)?;
            let (tail, more) = match component(tail) {
                Some(_) => (tail, true),
                None => self.pending.pop().map_or((tail, false), |next| (next, true)),
            };
            self.trailing_slash |= !more && !tail.is_empty();
            let (last, node) = match name {
                b"." => (LastComponent::Dot, Some(dir)),
                b".." => (LastComponent::DotDot, Some(self.up(dir)?)),
                _ if name.len() > NAME_MAX => return Err(Errno::Nametoolong),
                _ => (LastComponent::Name(Cow::Borrowed(name)), self.child(here, dir, name)?),
            };
            if node.is_some_and(Ino::is_mount_object)
                && let Some(target) = self.mounted_link(node, more)?
            {
                return self.continue_at_link(dir, target, more.then_some(tail));
            }
            if let Some(target) = self.link(node, more)? {
                if more {
                    self.pending.push(tail);
                }
                (dir, rest) = self.follow(dir, target)?;
            } else if more {
                (dir, rest) = (node.ok_or(Errno::Noent)?, tail);
            } else {
                return self.end(WalkTarget { dir, last, trailing_slash: self.trailing_slash, node });
            }
        }
    }

    /// Returns the directory if the caller may search it; `None` for one in a mount.
    fn enter(&self, dir: Ino) -> Result<Option<&'a Dir>, Errno> {
        let Some(node) = self.fs.table.get(dir) else {
            return self.fs.check_search(self.cred, dir).map(|()| None);
        };
        let entries = node.dir()?;
        if node.allows(self.cred, 1) { Ok(Some(entries)) } else { Err(Errno::Acces) }
    }

    /// Looks up a name in a directory.
    fn child(&self, here: Option<&Dir>, dir: Ino, name: &[u8]) -> Result<Option<Ino>, Errno> {
        match here {
            Some(here) => match here.entries.get(name) {
                Some(ino) => Ok(Some(ino)),
                None if here.lower.is_none() => Ok(None),
                None => self.fs.lookup_lower(dir, name),
            },
            None => self.fs.lookup_lower(dir, name),
        }
    }

    fn up(&self, dir: Ino) -> Result<Ino, Errno> {
        if self.base == Some(dir) {
            return Err(Errno::Notcapable);
        }
        match self.fs.table.get(dir) {
            Some(node) if node.is_dir() => Ok(node.parent),
            Some(_) => Err(Errno::Notdir),
            None => self.fs.object_parent(dir).ok_or(Errno::Stale),
        }
    }

    /// Returns the target of a symbolic link that must be followed here.
    fn link(&self, node: Option<Ino>, more: bool) -> Result<Option<&'a [u8]>, Errno> {
        let Some(ino) = node else { return Ok(None) };
        let Some(node) = self.fs.table.get(ino) else {
            return if ino.is_mount_object() { Ok(None) } else { Err(Errno::Stale) };
        };
        let Body::Symlink(target) = &node.body else { return Ok(None) };
        Ok(self.follows(more).then_some(target))
    }

    fn follows(&self, more: bool) -> bool {
        more || self.last == FollowMode::Follow || (self.last == FollowMode::Stay && self.trailing_slash)
    }

    /// Like [`Self::link`], for an object in a mount.
    #[cold]
    fn mounted_link(&self, node: Option<Ino>, more: bool) -> Result<Option<Vec<u8>>, Errno> {
        let Some(ino) = node else { return Ok(None) };
        if !self.follows(more) || self.fs.object_kind(ino)? != EntryKind::Symlink {
            return Ok(None);
        }
        let target = self.fs.mounted_readlink(ino)?;
        self.fs.check_target(&target)?;
        Ok(Some(target))
    }

    /// Hands the rest of the walk to one that owns its path: the link's target and the remaining path.
    #[cold]
    fn continue_at_link(&mut self, dir: Ino, target: Vec<u8>, tail: Option<&'a [u8]>) -> Result<WalkResult<'a>, Errno> {
        let (dir, _) = self.follow(dir, if target.starts_with(b"/") { b"/" } else { b"." })?;
        let mut path = target;
        let rest = tail.into_iter().chain(self.pending.drain(..).rev());
        for part in rest {
            path.push(b'/');
            path.extend_from_slice(part);
        }
        if self.trailing_slash {
            path.push(b'/');
        }
        Ok(WalkResult::Continue(dir, path))
    }

    fn follow(&mut self, dir: Ino, target: &'a [u8]) -> Result<(Ino, &'a [u8]), Errno> {
        self.links += 1;
        if self.links > self.fs.symlink_depth {
            return Err(Errno::Loop);
        }
        match (target.first(), self.base) {
            (Some(b'/'), Some(_)) => Err(Errno::Notcapable),
            (Some(b'/'), None) => Ok((self.fs.root, target)),
            _ => Ok((dir, target)),
        }
    }

    fn end(&self, target_place: WalkTarget<'a>) -> Result<WalkResult<'a>, Errno> {
        if target_place.trailing_slash
            && self.last != FollowMode::Entry
            && let Some(ino) = target_place.node
            && !self.fs.is_dir(ino)?
        {
            return Err(Errno::Notdir);
        }
        Ok(WalkResult::WalkTarget(target_place))
    }

    /// Consumes the rest of the walk inside `/proc`: returns the path below it, or the remaining path if `..` leads out.
    fn proc(&mut self, rest: &'a [u8]) -> Result<Vec<u8>, &'a [u8]> {
        let mut below: Vec<&[u8]> = Vec::new();
        let mut rest = rest;
        loop {
            match component(rest) {
                Some((b".", tail)) => rest = tail,
                Some((b"..", tail)) => {
                    if below.pop().is_none() {
                        return Err(tail);
                    }
                    rest = tail;
                }
                Some((name, tail)) => {
                    below.push(name);
                    rest = tail;
                }
                None => match self.pending.pop() {
                    Some(next) => rest = next,
                    None => return Ok(below.join(&b'/')),
                },
            }
        }
    }
}

/// Returns the first component of a path and the rest; `None` if only slashes remain.
fn component(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = path.iter().position(|&byte| byte != b'/')?;
    let path = path.get(start..)?;
    let end = path.iter().position(|&byte| byte == b'/').unwrap_or(path.len());
    path.split_at_checked(end)
}
