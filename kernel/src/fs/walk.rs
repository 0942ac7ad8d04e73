//! From a path to an inode: the only path walker there is.

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last<'a> {
    Name(&'a [u8]),
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
    /// The place as a name that can be given or taken; `special` says what to answer for `/`, `.` and `..`.
    pub(super) fn named(self, special: impl FnOnce(Last<'_>) -> Errno) -> Result<Spot, Errno> {
        match self.last {
            Last::Name(name) => Ok(Spot { dir: self.dir, name: Name::new(name), slash: self.slash, node: self.node }),
            other => Err(special(other)),
        }
    }
}

#[derive(Debug)]
pub(super) enum Found<'a> {
    Place(Place<'a>),
    Proc(Vec<u8>),
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
            Found::Proc(_) => Err(Errno::Rofs),
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
        let base = at.beneath.then_some(at.dir).filter(|&base| base != self.root);
        let dir = if absolute { self.root } else { at.dir };
        Walk { fs: self, cred, base, last, links: 0, pending: Vec::new(), slash: false }.run(dir, path)
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
    fn run(mut self, mut dir: Ino, mut rest: &'a [u8]) -> Result<Found<'a>, Errno> {
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
                _ => (Last::Name(name), here.entries.get(name).copied()),
            };
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

    /// The directory, if the caller may search it.
    fn enter(&self, dir: Ino) -> Result<&'a Dir, Errno> {
        let node = self.fs.node(dir)?;
        let entries = node.dir()?;
        if node.allows(self.cred, 1) { Ok(entries) } else { Err(Errno::Acces) }
    }

    fn up(&self, dir: Ino) -> Result<Ino, Errno> {
        if self.base == Some(dir) {
            return Err(Errno::Notcapable);
        }
        Ok(self.fs.node(dir)?.dir()?.parent)
    }

    /// The target of a symbolic link that has to be followed here.
    fn link(&self, node: Option<Ino>, more: bool) -> Result<Option<&'a [u8]>, Errno> {
        let Some(ino) = node else { return Ok(None) };
        let Body::Symlink(target) = &self.fs.node(ino)?.body else { return Ok(None) };
        let follow = more || self.last == Final::Follow || (self.last == Final::Stay && self.slash);
        Ok(follow.then_some(target))
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
            && !self.fs.node(ino)?.is_dir()
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
