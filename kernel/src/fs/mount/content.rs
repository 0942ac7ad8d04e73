//! Content of files in mounts.

use std::sync::Arc;

use super::api::{Access, EntryKind, MountFile};
use super::lookup::MountObject;
use crate::errno::Errno;
use crate::fs::blocks::Content;
use crate::fs::{Contents, Fs, Ino};

impl Fs {
    /// Returns the open file of an object: the cached one, or a new one.
    pub(super) fn open_object(&self, object: &MountObject, access: Access) -> Result<Arc<dyn MountFile>, Errno> {
        if let Some(open) = self.objects().and_then(|found| found.cached_file(object.ino, access)) {
            return Ok(open);
        }
        match object.kind {
            EntryKind::File if object.unlinked => return Err(Errno::Stale),
            EntryKind::File => {}
            EntryKind::Dir => return Err(Errno::Isdir),
            EntryKind::Symlink => return Err(Errno::Inval),
        }
        let open = object.mounted.mount.open(&object.path, access).map_err(|errno| match errno {
            Errno::Noent | Errno::Notdir => Errno::Stale,
            other => other,
        })?;
        if self.hold_counts.contains_key(&object.ino)
            && let Some(mut found) = self.objects()
        {
            found.cache_file(object.ino, access, &open, false);
        }
        Ok(open)
    }

    /// Opens a file that is about to be unlinked, so that its holders can continue to use it. If that fails, later calls return
    /// errors.
    pub(super) fn keep_open(&mut self, object: &MountObject) {
        let write = self.check_writable(object.device).is_ok() && !Self::is_buffered(object);
        for access in [Some(Access::Read), write.then_some(Access::Write)].into_iter().flatten() {
            if let Ok(open) = self.open_object(object, access)
                && let Some(found) = self.objects_mut()
            {
                found.cache_file(object.ino, access, &open, true);
            }
        }
    }

    #[cold]
    pub(in crate::fs) fn mounted_read(&self, ino: Ino, offset: u64, dst: &mut [u8]) -> Result<usize, Errno> {
        let object = self.object(ino)?;
        if let Some(found) = self.objects()
            && let Some(buffer) = found.entries.get(&ino).and_then(|entry| entry.buffer.as_ref())
        {
            return Ok(buffer.content.read_at(offset, dst));
        }
        let available = dst.len();
        let count = self.open_object(&object, Access::Read)?.read_at(offset, dst)?;
        // A mount that reports more bytes than the buffer holds is defective.
        if count > available { Err(Errno::Io) } else { Ok(count) }
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
        if let Some(found) = self.objects()
            && let Some(buffer) = found.entries.get(&ino).and_then(|entry| entry.buffer.as_ref())
        {
            return Ok(Contents::new(buffer.content.clone()));
        }
        let file = self.open_object(&object, Access::Read)?;
        let len = file.metadata()?.size;
        Ok(Contents::mounted(file, len))
    }

    /// Returns a number that changes if the mount's metadata indicate a content change.
    #[cold]
    pub(in crate::fs) fn mounted_version(&self, ino: Ino) -> u64 {
        let metadata = self.object(ino).and_then(|object| self.metadata_of(&object));
        let Ok(metadata) = metadata else { return 0 };
        let parts = [ino.0, metadata.mtime, metadata.ctime, metadata.size];
        // FNV-1a over 64-bit values; the highest bit separates it from the numbers of the tree.
        let hash =
            parts.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, part| (hash ^ part).wrapping_mul(0x100_0000_01b3));
        hash | 1 << 63
    }

    /// Writes to an object of a mount without copy-on-write.
    pub(in crate::fs) fn mounted_write(
        &mut self,
        object: &MountObject,
        offset: u64,
        src: &[u8],
    ) -> Result<usize, Errno> {
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
            return self.with_buffer(object, u64::MAX, |content, available| content.write_at(offset, src, available));
        }
        let count = self.open_object(object, Access::Write)?.write_at(offset, src)?;
        if count > src.len() { Err(Errno::Io) } else { Ok(count) }
    }

    pub(in crate::fs) fn mounted_truncate(&mut self, object: &MountObject, len: u64) -> Result<(), Errno> {
        if i64::try_from(len).is_err() {
            return Err(Errno::Inval);
        }
        if len > self.quota.single_file_bytes && len > self.mounted_len(object.ino)? {
            return Err(Errno::Fbig);
        }
        if Self::is_buffered(object) {
            return self.with_buffer(object, len, |content, available| content.set_len(len, available));
        }
        self.open_object(object, Access::Write)?.set_len(len)
    }

    /// Replaces the content of an object. A mount without copy-on-write loses the old bytes if the new ones do not fit.
    pub(in crate::fs) fn mounted_write_all(&mut self, object: &MountObject, bytes: &[u8]) -> Result<(), Errno> {
        if bytes.len() as u64 > self.quota.single_file_bytes {
            return Err(Errno::Fbig);
        }
        if Self::is_buffered(object) {
            return self.with_buffer(object, 0, |content, available| {
                if crate::fs::blocks::cost_of(bytes.len() as u64) > available.saturating_add(content.charged()) {
                    return Err(Errno::Nospc);
                }
                *content = Content::from_bytes(bytes);
                Ok(())
            });
        }
        let file = self.open_object(object, Access::Write)?;
        let mut done = 0;
        while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
            match file.write_at(done as u64, rest)? {
                0 => return Err(Errno::Nospc),
                count => done = done.saturating_add(count),
            }
        }
        file.set_len(bytes.len() as u64)
    }

    /// Flushes written data to stable storage (`fsync`). No effect on the sandbox's own files.
    ///
    /// # Errors
    /// The error of the mount.
    pub fn sync(&mut self, ino: Ino) -> Result<(), Errno> {
        let ino = self.upper_ino(ino);
        if !ino.is_mount_object() || self.object_kind(ino)? != EntryKind::File {
            return Ok(());
        }
        self.flush(ino)?;
        match self.objects().and_then(|found| found.cached_file(ino, Access::Write)) {
            Some(open) => open.sync(),
            None => Ok(()),
        }
    }
}
