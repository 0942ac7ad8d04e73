//! Copy-up: the first change of a mount object in a copy-on-write mount turns it into an inode of the tree.

use std::sync::Arc;

use super::api::{Access, EntryKind, Metadata};
use super::lookup::{DirOwner, MountObject};
use super::{Lower, join};
use crate::errno::Errno;
use crate::fs::blocks::{BLOCK, Content};
use crate::fs::name::Name;
use crate::fs::node::{Body, Dir, Node};
use crate::fs::{Fs, Ino};
use crate::kernel::USER;

/// Amount of a file's content to copy up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::fs) enum CopyRange {
    All,
    /// This number of leading bytes, because the rest is about to be truncated.
    Prefix(u64),
}

/// The component that executes a change.
#[derive(Debug)]
pub(in crate::fs) enum WriteTarget {
    /// The tree, on this inode.
    Tree(Ino),
    /// The mounted file system.
    Mounted(Box<MountObject>),
}

impl Fs {
    /// Returns the target of a change of `ino`. An object of a copy-on-write mount is copied up first.
    #[cold]
    pub(in crate::fs) fn write_target(&mut self, ino: Ino, copy: CopyRange) -> Result<WriteTarget, Errno> {
        let ino = self.upper_ino(ino);
        match self.dir_owner(ino)? {
            DirOwner::Sandbox => Ok(WriteTarget::Tree(ino)),
            DirOwner::CopyOnWrite if self.table.get(ino).is_some() => Ok(WriteTarget::Tree(ino)),
            DirOwner::CopyOnWrite if self.object_kind(ino)? == EntryKind::Dir => {
                Ok(WriteTarget::Tree(self.copy_up_dir(ino)?))
            }
            DirOwner::CopyOnWrite => Ok(WriteTarget::Tree(self.copy_up(ino, copy)?)),
            DirOwner::Mounted => {
                let object = self.object(ino)?;
                self.check_writable(object.device)?;
                Ok(WriteTarget::Mounted(Box::new(object)))
            }
        }
    }

    /// Returns the upper directory of a directory; creates it and its parents if missing. In a mount that is not copy-on-write it
    /// holds only nested mount points.
    pub(in crate::fs) fn copy_up_dir(&mut self, dir: Ino) -> Result<Ino, Errno> {
        let mut chain = Vec::new();
        let mut at = self.upper_ino(dir);
        while self.table.get(at).is_none() {
            let (parent, name) = self.object_location(at).ok_or(Errno::Noent)?;
            chain.push((at, name));
            at = parent;
        }
        for (object, name) in chain.into_iter().rev() {
            at = self.copy_up_one_dir(object, at, &name)?;
        }
        Ok(at)
    }

    fn copy_up_one_dir(&mut self, ino: Ino, parent: Ino, name: &[u8]) -> Result<Ino, Errno> {
        let object = self.object(ino)?;
        let metadata = self.metadata_of(&object)?;
        let pinned = matches!(self.dir_owner(parent)?, DirOwner::Mounted);
        let name = Name::new(name);
        let lower = Some(Box::new(Lower::new(object.path.clone())));
        let body = Body::Dir(Arc::new(Dir { lower, ..Dir::default() }));
        let upper = self.insert_upper(&object, &metadata, body, pinned)?;
        let above = self.node_mut(parent)?;
        above.nlink = above.nlink.saturating_add(1);
        self.insert_name(parent, name, upper)?;
        self.redirect_to_upper(ino, upper);
        Ok(upper)
    }

    /// Copies up a file or a symbolic link.
    pub(in crate::fs) fn copy_up(&mut self, ino: Ino, copy: CopyRange) -> Result<Ino, Errno> {
        if self.table.get(ino).is_some() {
            return Ok(ino);
        }
        let object = self.object(ino)?;
        let metadata = self.metadata_of(&object)?;
        let location = match self.object_location(ino) {
            Some((parent, name)) => Some((self.copy_up_dir(parent)?, Name::new(&name))),
            None => None,
        };
        let body = match object.kind {
            EntryKind::Dir => return Err(Errno::Isdir),
            EntryKind::Symlink => {
                let target = object.mounted.mount.read_link(&object.path)?;
                self.check_target(&target)?;
                self.quota.charge_bytes(target.len() as u64)?;
                Body::Symlink(target.into())
            }
            EntryKind::File => Body::File(self.copy_content(&object, &metadata, copy)?),
        };
        let upper = self.insert_upper(&object, &metadata, body, false)?;
        match location {
            Some((parent, name)) => self.insert_name(parent, name, upper)?,
            None => self.node_mut(upper)?.nlink = 0,
        }
        self.redirect_to_upper(ino, upper);
        Ok(upper)
    }

    /// Reads the content of a file and charges it.
    fn copy_content(&mut self, object: &MountObject, metadata: &Metadata, copy: CopyRange) -> Result<Content, Errno> {
        let end = match copy {
            CopyRange::All => metadata.size,
            CopyRange::Prefix(end) => end.min(metadata.size),
        };
        if end > self.quota.single_file_bytes {
            return Err(Errno::Fbig);
        }
        let mut content = Content::default();
        let filled = self.copy_bytes(&mut content, object, end);
        if filled.is_err() {
            self.quota.refund_bytes(content.charged());
        }
        filled.map(|()| content)
    }

    fn copy_bytes(&mut self, content: &mut Content, object: &MountObject, end: u64) -> Result<(), Errno> {
        if end == 0 {
            return Ok(());
        }
        let file = self.open_object(object, Access::Read)?;
        let mut chunk = vec![0; BLOCK];
        while content.len() < end {
            let left = usize::try_from(end - content.len()).unwrap_or(BLOCK).min(BLOCK);
            let chunk = chunk.get_mut(..left).unwrap_or_default();
            let count = file.read_at(content.len(), chunk)?;
            let Some(chunk) = chunk.get(..count).filter(|chunk| !chunk.is_empty()) else { return Ok(()) };
            let before = content.charged();
            let written = content.write_at(content.len(), chunk, self.quota.available_bytes())?;
            self.quota.adjust_charge(before, content.charged());
            if written < chunk.len() {
                return Err(Errno::Nospc);
            }
        }
        Ok(())
    }

    /// Stores the inode. On an error, the charge of its body is refunded.
    fn insert_upper(
        &mut self,
        object: &MountObject,
        metadata: &Metadata,
        body: Body,
        pinned: bool,
    ) -> Result<Ino, Errno> {
        let mut node = Node::new(body, &USER, metadata.mode, metadata.mtime, self.versions.next());
        (node.atime, node.ctime) = (metadata.atime, metadata.ctime);
        (node.device, node.installed) = (object.device, pinned);
        let bytes = node.charged_bytes();
        if !pinned && let Err(errno) = self.quota.charge_inode() {
            self.quota.refund_bytes(bytes);
            return Err(errno);
        }
        let stored = self.table.insert(node);
        if stored.is_none() {
            self.quota.refund_bytes(bytes);
            self.quota.refund_inode();
        }
        stored.ok_or(Errno::Nospc)
    }

    /// Redirects the object, including its current holds, to the upper inode.
    fn redirect_to_upper(&mut self, ino: Ino, upper: Ino) {
        if let Some(holds) = self.hold_counts.remove(&ino) {
            self.hold_counts.insert(upper, holds);
        }
        if let Some(found) = self.objects_mut() {
            found.set_upper(ino, upper);
        }
    }

    /// Adds a whiteout for a name, if the lower directory has that name.
    pub(in crate::fs) fn add_whiteout(&mut self, dir: Ino, name: &Name) -> Result<(), Errno> {
        let Some(lower) = self.node(dir)?.dir()?.lower.as_deref() else { return Ok(()) };
        if lower.whiteouts.contains(name) {
            return Ok(());
        }
        let object = self.object(dir)?;
        let below = object.mounted.mount.metadata(&join(&object.path, name.as_bytes()));
        if matches!(below, Err(Errno::Noent | Errno::Notdir)) {
            return Ok(());
        }
        self.quota.charge_inode()?;
        if let Some(lower) = &mut self.node_mut(dir)?.dir_mut()?.lower {
            lower.whiteouts.insert(name.clone());
        }
        Ok(())
    }

    /// Unlinks an object in the sandbox. Its holders can continue to read it.
    pub(in crate::fs) fn unlink_object(&mut self, ino: Ino) {
        if self.hold_counts.contains_key(&ino)
            && let Ok(object) = self.object(ino)
            && object.kind == EntryKind::File
        {
            self.keep_open(&object);
        }
        let held = self.hold_counts.contains_key(&ino);
        if let Some(found) = self.objects_mut() {
            found.unlink(ino);
            if !held {
                found.close(ino);
            }
        }
    }
}
