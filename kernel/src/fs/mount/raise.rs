//! Copying up: an object of a mount becomes an inode of the tree, on the first change of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::look::{Charge, Object};
use super::port::{Access, EntryKind, Metadata};
use super::{Lower, join};
use crate::errno::Errno;
use crate::fs::blocks::{BLOCK, Content};
use crate::fs::name::Name;
use crate::fs::node::{Body, Dir, Node};
use crate::fs::{Fs, Ino};
use crate::kernel::USER;

/// How much of a file is copied up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::fs) enum Copy {
    All,
    /// As many bytes from the start, because the rest is about to be cut.
    Start(u64),
}

/// Who carries out a change of an inode or an object.
#[derive(Debug)]
pub(in crate::fs) enum Change {
    /// The tree, on this inode.
    Tree(Ino),
    /// The mounted file system.
    Mounted(Box<Object>),
}

impl Fs {
    /// Who carries out a change of `ino`: what lies in a copy-on-write mount is copied up for it.
    #[cold]
    pub(in crate::fs) fn change(&mut self, ino: Ino, copy: Copy) -> Result<Change, Errno> {
        let ino = self.own(ino);
        match self.charge(ino)? {
            Charge::Own => Ok(Change::Tree(ino)),
            Charge::CopyOnWrite if self.table.get(ino).is_some() => Ok(Change::Tree(ino)),
            Charge::CopyOnWrite if self.found_kind(ino)? == EntryKind::Dir => Ok(Change::Tree(self.raise(ino)?)),
            Charge::CopyOnWrite => Ok(Change::Tree(self.copy_up(ino, copy)?)),
            Charge::Mounted => {
                let object = self.object(ino)?;
                self.check_writable(object.device)?;
                Ok(Change::Mounted(Box::new(object)))
            }
        }
    }

    /// The directory of the tree that stands for a directory, made with those above it where there is none. In a mount
    /// that is not copy-on-write it keeps nothing but what is mounted below.
    pub(in crate::fs) fn raise(&mut self, dir: Ino) -> Result<Ino, Errno> {
        let mut chain = Vec::new();
        let mut at = self.own(dir);
        while self.table.get(at).is_none() {
            let (parent, name) = self.found_place(at).ok_or(Errno::Noent)?;
            chain.push((at, name));
            at = parent;
        }
        for (object, name) in chain.into_iter().rev() {
            at = self.raise_dir(object, at, &name)?;
        }
        Ok(at)
    }

    fn raise_dir(&mut self, ino: Ino, parent: Ino, name: &[u8]) -> Result<Ino, Errno> {
        let object = self.object(ino)?;
        let metadata = self.metadata_of(&object)?;
        let pinned = matches!(self.charge(parent)?, Charge::Mounted);
        let name = Name::new(name);
        let lower = Some(Box::new(Lower::new(object.path.clone())));
        let body = Body::Dir(Arc::new(Dir { parent, name: name.clone(), entries: BTreeMap::new(), lower }));
        let raised = self.put_raised(&object, &metadata, body, pinned)?;
        let above = self.node_mut(parent)?;
        above.nlink = above.nlink.saturating_add(1);
        above.dir_mut()?.entries.insert(name, raised);
        self.stand_in(ino, raised);
        Ok(raised)
    }

    /// Copies a file or a symbolic link up.
    pub(in crate::fs) fn copy_up(&mut self, ino: Ino, copy: Copy) -> Result<Ino, Errno> {
        if self.table.get(ino).is_some() {
            return Ok(ino);
        }
        let object = self.object(ino)?;
        let metadata = self.metadata_of(&object)?;
        let place = match self.found_place(ino) {
            Some((parent, name)) => Some((self.raise(parent)?, Name::new(&name))),
            None => None,
        };
        let body = match object.kind {
            EntryKind::Dir => return Err(Errno::Isdir),
            EntryKind::Symlink => {
                let target = object.mounted.mount.read_link(&object.path)?;
                self.check_target(&target)?;
                self.quota.take_bytes(target.len() as u64)?;
                Body::Symlink(target.into())
            }
            EntryKind::File => Body::File(self.copy_content(&object, &metadata, copy)?),
        };
        let raised = self.put_raised(&object, &metadata, body, false)?;
        match place {
            Some((parent, name)) => {
                self.node_mut(parent)?.dir_mut()?.entries.insert(name, raised);
            }
            None => self.node_mut(raised)?.nlink = 0,
        }
        self.stand_in(ino, raised);
        Ok(raised)
    }

    /// The bytes of a file, charged.
    fn copy_content(&mut self, object: &Object, metadata: &Metadata, copy: Copy) -> Result<Content, Errno> {
        let end = match copy {
            Copy::All => metadata.size,
            Copy::Start(end) => end.min(metadata.size),
        };
        if end > self.quota.single_file_bytes {
            return Err(Errno::Fbig);
        }
        let mut content = Content::default();
        let filled = self.fill(&mut content, object, end);
        if filled.is_err() {
            self.quota.give_bytes(content.charged());
        }
        filled.map(|()| content)
    }

    fn fill(&mut self, content: &mut Content, object: &Object, end: u64) -> Result<(), Errno> {
        if end == 0 {
            return Ok(());
        }
        let file = self.opened(object, Access::Read)?;
        let mut piece = vec![0; BLOCK];
        while content.len() < end {
            let left = usize::try_from(end - content.len()).unwrap_or(BLOCK).min(BLOCK);
            let piece = piece.get_mut(..left).unwrap_or_default();
            let count = file.read_at(content.len(), piece)?;
            let Some(piece) = piece.get(..count).filter(|piece| !piece.is_empty()) else { return Ok(()) };
            let before = content.charged();
            let written = content.write_at(content.len(), piece, self.quota.room())?;
            self.quota.settle(before, content.charged());
            if written < piece.len() {
                return Err(Errno::Nospc);
            }
        }
        Ok(())
    }

    /// Stores the inode. On an error what its body was charged is given back.
    fn put_raised(&mut self, object: &Object, metadata: &Metadata, body: Body, pinned: bool) -> Result<Ino, Errno> {
        let mut node = Node::new(body, &USER, metadata.mode, metadata.mtime, self.versions.next());
        (node.atime, node.ctime) = (metadata.atime, metadata.ctime);
        (node.device, node.installed) = (object.device, pinned);
        let bytes = node.charged_bytes();
        if !pinned && let Err(errno) = self.quota.take_inode() {
            self.quota.give_bytes(bytes);
            return Err(errno);
        }
        let stored = self.table.insert(node);
        if stored.is_none() {
            self.quota.give_bytes(bytes);
            self.quota.give_inode();
        }
        stored.ok_or(Errno::Nospc)
    }

    /// From now on the inode stands for the object, for whoever holds it too.
    fn stand_in(&mut self, ino: Ino, raised: Ino) {
        if let Some(holds) = self.holds.remove(&ino) {
            self.holds.insert(raised, holds);
        }
        if let Some(found) = self.found_mut() {
            found.raise(ino, raised);
        }
    }

    /// Keeps a name of the mounted directory from showing, when it has that name.
    pub(in crate::fs) fn hide(&mut self, dir: Ino, name: &Name) -> Result<(), Errno> {
        let Some(lower) = self.node(dir)?.dir()?.lower.as_deref() else { return Ok(()) };
        if lower.hidden.contains(name) {
            return Ok(());
        }
        let object = self.object(dir)?;
        let below = object.mounted.mount.metadata(&join(&object.path, name.as_bytes()));
        if matches!(below, Err(Errno::Noent | Errno::Notdir)) {
            return Ok(());
        }
        self.quota.take_inode()?;
        if let Some(lower) = &mut self.node_mut(dir)?.dir_mut()?.lower {
            lower.hidden.insert(name.clone());
        }
        Ok(())
    }

    /// An object has lost its name in the sandbox. Who holds it goes on reading it.
    pub(in crate::fs) fn lose(&mut self, ino: Ino) {
        if self.holds.contains_key(&ino)
            && let Ok(object) = self.object(ino)
            && object.kind == EntryKind::File
        {
            self.keep_open(&object);
        }
        let held = self.holds.contains_key(&ino);
        if let Some(found) = self.found_mut() {
            found.detach(ino);
            if !held {
                found.close(ino);
            }
        }
    }
}
