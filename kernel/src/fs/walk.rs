//! From a path to an inode: the only path walker there is.

use std::borrow::Cow;

use super::mount::EntryKind;
use super::name::{NAME_MAX, Name};
use super::node::{Body, Dir};
use super::{At, Cred, Fs, Ino, Target};
use crate::errno::Errno;

/// What becomes of a symbolic link that the path ends in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Final {
    /// It is followed, as `stat` does.
    Follow,
    /// It stays, unless a slash stands behind it, as for `lstat` (POSIX 4.16).
    Stay,
    /// It stays in any case: the call is about the name, as for `unlink`.
    Entry,
}

/// The last component of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Last<'a> {
    Name(Cow<'a, [u8]>),
    Dot,
    DotDot,
    /// The path has no component, as `/`.
    Root,
}

/// Where a path ends: a component in an existing directory, and the inode it leads to if there is one.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub(super) dir: Ino,
    pub(super) last: Last<'a>,
    /// A slash stands behind the last component, so it has to be a directory.
    pub(super) slash: bool,
    pub(super) node: Option<Ino>,
}

/// A place whose last component is a name, detached from the path and the tree.
#[derive(Debug)]
pub(super) struct Spot {
    pub(super) dir: Ino,
    pub(super) name: Name,
    pub(super) slash: bool,
    pub(super) node: Option<Ino>,
}

impl Place<'_> {
    /// The same without the path that it came from.
    fn detached<'b>(self) -> Place<'b> {
        let last = match self.last {
            Last::Name(name) => Last::Name(Cow::Owned(name.into_owned())),
            Last::Dot => Last::Dot,
            Last::DotDot => Last::DotDot,
            Last::Root => Last::Root,
        };
        Place { dir: self.dir, last, slash: self.slash, node: self.node }
    }

    /// The place as a name that can be given or taken; `special` says what to answer for `/`, `.` and `..`.
    pub(super) fn named(self, special: impl FnOnce(Last<'_>) -> Errno) -> Result<Spot, Errno> {
        match self.last {
            Last::Name(name) => Ok(Spot { dir: self.dir, name: Name::new(&name), slash: self.slash, node: self.node }),
            other => Err(special(other)),
        }
    }
}

#[derive(Debug)]
pub(super) enum Found<'a> {
    Place(Place<'a>),
    Proc(Vec<u8>),
    /// A symbolic link of a mount is to be followed: the walk goes on in a directory, with a path that is in no one's
    /// keeping yet.
    Relay(Ino, Vec<u8>),
}

impl Fs {
    /// Resolves a path as POSIX 4.16 says. A relative path starts at `at`, an absolute one at the root; `follow` decides
    /// whether a final symbolic link is followed. A path that enters `/proc` ends there: what is left of it is
    /// normalised as text and handed back.
    ///
    /// # Errors
    /// `NOENT` (also for the empty path), `NOTDIR`, `ACCES` (a directory on the way without the execute bit), `LOOP`,
    /// `NAMETOOLONG`, `INVAL` (an embedded NUL), `STALE` (`at` was freed); `NOTCAPABLE` for a path that leaves an
    /// [`At::beneath`].
    pub fn walk(&self, cred: &Cred, at: impl Into<At>, path: &[u8], follow: bool) -> Result<Target, Errno> {
        let last = if follow { Final::Follow } else { Final::Stay };
        match self.find(cred, at.into(), path, last)? {
            Found::Proc(below) => Ok(Target::Proc(below)),
            // `find` has followed it.
            Found::Relay(..) => Err(Errno::Loop),
            Found::Place(place) => match place.node {
                Some(ino) if Some(ino) == self.proc => Ok(Target::Proc(Vec::new())),
                Some(ino) => Ok(Target::Node(ino)),
                None => Err(Errno::Noent),
            },
        }
    }

    /// [`Self::walk`] under the rule of preview1: nothing above `at` can be reached. Short for [`At::beneath`].
    ///
    /// # Errors
    /// As [`Self::walk`]; `NOTCAPABLE` for an absolute path, a `..` or a link that leaves `at`.
    pub fn walk_beneath(&self, cred: &Cred, at: Ino, path: &[u8], follow: bool) -> Result<Target, Errno> {
        self.walk(cred, At::beneath(at), path, follow)
    }

    /// The place of a name that is about to be given or taken. `/proc` has no such names.
    pub(super) fn place<'a>(&'a self, cred: &'a Cred, at: At, path: &'a [u8], last: Final) -> Result<Place<'a>, Errno> {
        match self.find(cred, at, path, last)? {
            Found::Place(place) => Ok(place),
            Found::Proc(_) | Found::Relay(..) => Err(Errno::Rofs),
        }
    }

    fn find<'a>(&'a self, cred: &'a Cred, at: At, path: &'a [u8], last: Final) -> Result<Found<'a>, Errno> {
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
        let start = self.own(at.dir);
        let base = at.beneath.then_some(start).filter(|&base| base != self.root);
        let dir = if absolute { self.root } else { start };
        let mut walk = Walk { fs: self, cred, base, last, links: 0, pending: Vec::new(), slash: false };
        match walk.run(dir, path)? {
            Found::Relay(dir, path) => self.relay(cred, base, last, walk.links, dir, path),
            found => Ok(found),
        }
    }

    /// Goes on with a walk behind a symbolic link of a mount, whose target is not the tree's to lend.
    #[cold]
    fn relay<'a>(
        &'a self,
        cred: &Cred,
        base: Option<Ino>,
        last: Final,
        mut links: u32,
        mut dir: Ino,
        mut path: Vec<u8>,
    ) -> Result<Found<'a>, Errno> {
        loop {
            let mut walk = Walk { fs: self, cred, base, last, links, pending: Vec::new(), slash: false };
            let found = walk.run(dir, &path)?;
            links = walk.links;
            match found {
                Found::Place(place) => return Ok(Found::Place(place.detached())),
                Found::Proc(below) => return Ok(Found::Proc(below)),
                Found::Relay(next, rest) => (dir, path) = (next, rest),
            }
        }
    }
}

struct Walk<'a> {
    fs: &'a Fs,
    cred: &'a Cred,
    /// The directory that must not be left.
    base: Option<Ino>,
    last: Final,
    links: u32,
    /// What follows the links that are being followed, innermost last. Stays empty, and so unallocated, on most paths.
    pending: Vec<&'a [u8]>,
    slash: bool,
}

impl<'a> Walk<'a> {
    fn run(&mut self, mut dir: Ino, mut rest: &'a [u8]) -> Result<Found<'a>, Errno> {
        loop {
            let Some((name, tail)) = component(rest) else {
                let Some(next) = self.pending.pop() else {
                    return Ok(Found::Place(Place { dir, last: Last::Root, slash: true, node: Some(dir) }));
                };
                rest = next;
                continue;
            };
            if Some(dir) == self.fs.proc {
                match self.proc(rest) {
                    Ok(below) => return Ok(Found::Proc(below)),
                    Err(outside) => (dir, rest) = (self.up(dir)?, outside),
                }
                continue;
            }
            let here = self.enter(dir)?;
            let (tail, more) = match component(tail) {
                Some(_) => (tail, true),
                None => self.pending.pop().map_or((tail, false), |next| (next, true)),
            };
            self.slash |= !more && !tail.is_empty();
            let (last, node) = match name {
                b"." => (Last::Dot, Some(dir)),
                b".." => (Last::DotDot, Some(self.up(dir)?)),
                _ if name.len() > NAME_MAX => return Err(Errno::Nametoolong),
                _ => (Last::Name(Cow::Borrowed(name)), self.child(here, dir, name)?),
            };
            if node.is_some_and(Ino::is_foreign)
                && let Some(target) = self.mounted_link(node, more)?
            {
                return self.relay(dir, target, more.then_some(tail));
            }
            if let Some(target) = self.link(node, more)? {
                if more {
                    self.pending.push(tail);
                }
                (dir, rest) = self.follow(dir, target)?;
            } else if more {
                (dir, rest) = (node.ok_or(Errno::Noent)?, tail);
            } else {
                return self.end(Place { dir, last, slash: self.slash, node });
            }
        }
    }

    /// The directory, if the caller may search it; `None` for one that lies in a mount.
    fn enter(&self, dir: Ino) -> Result<Option<&'a Dir>, Errno> {
        let Some(node) = self.fs.table.get(dir) else {
            return self.fs.may_enter(self.cred, dir).map(|()| None);
        };
        let entries = node.dir()?;
        if node.allows(self.cred, 1) { Ok(Some(entries)) } else { Err(Errno::Acces) }
    }

    /// What a directory has under a name.
    fn child(&self, here: Option<&Dir>, dir: Ino, name: &[u8]) -> Result<Option<Ino>, Errno> {
        match here {
            Some(here) => match here.entries.get(name) {
                Some(&ino) => Ok(Some(ino)),
                None if here.lower.is_none() => Ok(None),
                None => self.fs.look_below(dir, name),
            },
            None => self.fs.look_below(dir, name),
        }
    }

    fn up(&self, dir: Ino) -> Result<Ino, Errno> {
        if self.base == Some(dir) {
            return Err(Errno::Notcapable);
        }
        match self.fs.table.get(dir) {
            Some(node) => Ok(node.dir()?.parent),
            None => self.fs.found_parent(dir).ok_or(Errno::Stale),
        }
    }

    /// The target of a symbolic link that has to be followed here.
    fn link(&self, node: Option<Ino>, more: bool) -> Result<Option<&'a [u8]>, Errno> {
        let Some(ino) = node else { return Ok(None) };
        let Some(node) = self.fs.table.get(ino) else {
            return if ino.is_foreign() { Ok(None) } else { Err(Errno::Stale) };
        };
        let Body::Symlink(target) = &node.body else { return Ok(None) };
        Ok(self.follows(more).then_some(target))
    }

    fn follows(&self, more: bool) -> bool {
        more || self.last == Final::Follow || (self.last == Final::Stay && self.slash)
    }

    /// The same of an object in a mount.
    #[cold]
    fn mounted_link(&self, node: Option<Ino>, more: bool) -> Result<Option<Vec<u8>>, Errno> {
        let Some(ino) = node else { return Ok(None) };
        if !self.follows(more) || self.fs.found_kind(ino)? != EntryKind::Symlink {
            return Ok(None);
        }
        let target = self.fs.mounted_readlink(ino)?;
        self.fs.check_target(&target)?;
        Ok(Some(target))
    }

    /// Hands the rest of the walk to one that owns its path: the link's target and what follows it.
    #[cold]
    fn relay(&mut self, dir: Ino, target: Vec<u8>, tail: Option<&'a [u8]>) -> Result<Found<'a>, Errno> {
        let (dir, _) = self.follow(dir, if target.starts_with(b"/") { b"/" } else { b"." })?;
        let mut path = target;
        let rest = tail.into_iter().chain(self.pending.drain(..).rev());
        for part in rest {
            path.push(b'/');
            path.extend_from_slice(part);
        }
        if self.slash {
            path.push(b'/');
        }
        Ok(Found::Relay(dir, path))
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

    fn end(&self, place: Place<'a>) -> Result<Found<'a>, Errno> {
        if place.slash
            && self.last != Final::Entry
            && let Some(ino) = place.node
            && !self.fs.is_dir(ino)?
        {
            return Err(Errno::Notdir);
        }
        Ok(Found::Place(place))
    }

    /// Consumes the rest of the walk inside `/proc`: the path below it, or, when `..` leads out, what is left then.
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

/// The first component of a path and what stands behind it; `None` when only slashes are left.
fn component(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = path.iter().position(|&byte| byte != b'/')?;
    let path = path.get(start..)?;
    let end = path.iter().position(|&byte| byte == b'/').unwrap_or(path.len());
    path.split_at_checked(end)
}
