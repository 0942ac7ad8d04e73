//! The bytes of files in mounts.

use std::sync::Arc;

use super::look::Object;
use super::port::{Access, EntryKind, MountFile};
use crate::errno::Errno;
use crate::fs::blocks::Content;
use crate::fs::{Contents, Fs, Ino};

impl Fs {
    /// The open file behind an object: the one that is kept for who holds it, or a new one.
    pub(super) fn opened(&self, object: &Object, access: Access) -> Result<Arc<dyn MountFile>, Errno> {
        if let Some(open) = self.found().and_then(|found| found.kept_open(object.ino, access)) {
            return Ok(open);
        }
        match object.kind {
            EntryKind::File if object.gone => return Err(Errno::Stale),
            EntryKind::File => {}
            EntryKind::Dir => return Err(Errno::Isdir),
            EntryKind::Symlink => return Err(Errno::Inval),
        }
        let open = object.mounted.mount.open(&object.path, access).map_err(|errno| match errno {
            Errno::Noent | Errno::Notdir => Errno::Stale,
            other => other,
        })?;
        if self.holds.contains_key(&object.ino)
            && let Some(mut found) = self.found()
        {
            found.keep_open(object.ino, access, &open, false);
        }
        Ok(open)
    }

    /// Opens a file whose name is about to be taken, so that who holds it can go on. What cannot be opened answers errors
    /// then.
    pub(super) fn keep_open(&mut self, object: &Object) {
        let write = self.check_writable(object.device).is_ok() && !Self::is_buffered(object);
        for access in [Some(Access::Read), write.then_some(Access::Write)].into_iter().flatten() {
            if let Ok(open) = self.opened(object, access)
                && let Some(found) = self.found_mut()
            {
                found.keep_open(object.ino, access, &open, true);
            }
        }
    }

    #[cold]
    pub(in crate::fs) fn mounted_read(&self, ino: Ino, offset: u64, dst: &mut [u8]) -> Result<usize, Errno> {
        let object = self.object(ino)?;
        if let Some(found) = self.found()
            && let Some(buffer) = found.entries.get(&ino).and_then(|entry| entry.buffer.as_ref())
        {
            return Ok(buffer.content.read_at(offset, dst));
        }
        let room = dst.len();
        let count = self.opened(&object, Access::Read)?.read_at(offset, dst)?;
        // A mount that claims more than there was room for is broken.
        if count > room { Err(Errno::Io) } else { Ok(count) }
    }

    #[cold]
    pub(in crate::fs) fn mounted_len(&self, ino: Ino) -> Result<u64, Errno> {
        let object = self.object(ino)?;
        match object.kind {
            EntryKind::File => Ok(self.metadata_of(&object)?.size),
            EntryKind::Dir => Err(Errno::Isdir),
            EntryKind::Symlink => Err(Errno::Inval),
        }
    }

    #[cold]
    pub(in crate::fs) fn mounted_contents(&self, ino: Ino) -> Result<Contents, Errno> {
        let object = self.object(ino)?;
        if let Some(found) = self.found()
            && let Some(buffer) = found.entries.get(&ino).and_then(|entry| entry.buffer.as_ref())
        {
            return Ok(Contents::new(buffer.content.clone()));
        }
        let file = self.opened(&object, Access::Read)?;
        let len = file.metadata()?.size;
        Ok(Contents::mounted(file, len))
    }

    /// A number that changes when the content seems to, as far as the mount tells.
    #[cold]
    pub(in crate::fs) fn mounted_version(&self, ino: Ino) -> u64 {
        let metadata = self.object(ino).and_then(|object| self.metadata_of(&object));
        let Ok(metadata) = metadata else { return 0 };
        let parts = [ino.0, metadata.mtime, metadata.ctime, metadata.size];
        // FNV-1a over words; the highest bit keeps it apart from the numbers of the tree.
        let hash =
            parts.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, part| (hash ^ part).wrapping_mul(0x100_0000_01b3));
        hash | 1 << 63
    }

    /// Writes to an object of a mount that takes changes itself.
    pub(in crate::fs) fn mounted_write(&mut self, object: &Object, offset: u64, src: &[u8]) -> Result<usize, Errno> {
        if object.kind != EntryKind::File {
            return Err(if object.kind == EntryKind::Dir { Errno::Isdir } else { Errno::Inval });
        }
        if i64::try_from(offset).is_err() {
            return Err(Errno::Inval);
        }
        if src.is_empty() {
            return Ok(0);
        }
        let longest = self.quota.single_file_bytes.saturating_sub(offset);
        let src = src.get(..usize::try_from(longest).unwrap_or(usize::MAX)).unwrap_or(src);
        if src.is_empty() {
            return Err(Errno::Fbig);
        }
        if Self::is_buffered(object) {
            return self.in_buffer(object, u64::MAX, |content, room| content.write_at(offset, src, room));
        }
        let count = self.opened(object, Access::Write)?.write_at(offset, src)?;
        if count > src.len() { Err(Errno::Io) } else { Ok(count) }
    }

    pub(in crate::fs) fn mounted_truncate(&mut self, object: &Object, len: u64) -> Result<(), Errno> {
        if i64::try_from(len).is_err() {
            return Err(Errno::Inval);
        }
        if len > self.quota.single_file_bytes && len > self.mounted_len(object.ino)? {
            return Err(Errno::Fbig);
        }
        if Self::is_buffered(object) {
            return self.in_buffer(object, len, |content, room| content.set_len(len, room));
        }
        self.opened(object, Access::Write)?.set_len(len)
    }

    /// Replaces what an object holds. Of a mount that writes in place the old bytes are lost when the new do not fit.
    pub(in crate::fs) fn mounted_write_all(&mut self, object: &Object, bytes: &[u8]) -> Result<(), Errno> {
        if bytes.len() as u64 > self.quota.single_file_bytes {
            return Err(Errno::Fbig);
        }
        if Self::is_buffered(object) {
            return self.in_buffer(object, 0, |content, room| {
                if crate::fs::blocks::cost_of(bytes.len() as u64) > room.saturating_add(content.charged()) {
                    return Err(Errno::Nospc);
                }
                *content = Content::from_bytes(bytes);
                Ok(())
            });
        }
        let file = self.opened(object, Access::Write)?;
        let mut done = 0;
        while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
            match file.write_at(done as u64, rest)? {
                0 => return Err(Errno::Nospc),
                count => done = done.saturating_add(count),
            }
        }
        file.set_len(bytes.len() as u64)
    }

    /// Makes what was written to a file safe: `fsync`. The sandbox's own files have nothing to wait for.
    ///
    /// # Errors
    /// What the mount answers.
    pub fn sync(&mut self, ino: Ino) -> Result<(), Errno> {
        let ino = self.own(ino);
        if !ino.is_foreign() || self.found_kind(ino)? != EntryKind::File {
            return Ok(());
        }
        self.flush(ino)?;
        match self.found().and_then(|found| found.kept_open(ino, Access::Write)) {
            Some(open) => open.sync(),
            None => Ok(()),
        }
    }
}
