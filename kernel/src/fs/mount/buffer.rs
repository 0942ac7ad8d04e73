//! Write buffers for mounts that only replace whole files: the kernel buffers writes until they are flushed.

use super::api::{Access, WriteSupport};
use super::lookup::MountObject;
use crate::errno::Errno;
use crate::fs::blocks::{BLOCK, Content};
use crate::fs::{Contents, Fs, Ino};

/// Content of a file, charged to the quota.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    pub(super) content: Content,
    /// The mounted file system does not have this content yet.
    pub(super) dirty: bool,
}

impl Fs {
    /// Returns whether changes of an object go to a buffer.
    pub(super) fn is_buffered(object: &MountObject) -> bool {
        object.mounted.mount.writes() == WriteSupport::ReplaceOnly
    }

    /// Changes the buffer of an object, which is created with the file's first `keep` bytes. Returns the result of `change`.
    pub(super) fn with_buffer<T>(
        &mut self,
        object: &MountObject,
        keep: u64,
        change: impl FnOnce(&mut Content, u64) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let kept = self.objects_mut().and_then(|found| found.entries.get_mut(&object.ino)?.buffer.take());
        let created = kept.is_none();
        let mut buffer = match kept {
            Some(buffer) => buffer,
            None => self.begin_buffer(object, keep)?,
        };
        let before = buffer.content.charged();
        let result = change(&mut buffer.content, self.quota.available_bytes());
        self.quota.adjust_charge(before, buffer.content.charged());
        buffer.dirty |= result.is_ok();
        match self.objects_mut().and_then(|found| found.entries.get_mut(&object.ino)) {
            // A buffer that was created for a failed change may lack bytes of the file.
            Some(entry) if result.is_ok() || !created => entry.buffer = Some(buffer),
            _ => self.quota.refund_bytes(buffer.content.charged()),
        }
        if result.is_ok() && !self.hold_counts.contains_key(&object.ino) {
            let flushed = self.flush(object.ino);
            self.drop_buffer(object.ino);
            flushed?;
        }
        result
    }

    fn begin_buffer(&mut self, object: &MountObject, keep: u64) -> Result<Box<Buffer>, Errno> {
        let mut buffer = Box::<Buffer>::default();
        if keep == 0 {
            return Ok(buffer);
        }
        let file = self.open_object(object, Access::Read)?;
        let mut chunk = vec![0; BLOCK];
        loop {
            let at = buffer.content.len();
            let left = usize::try_from(keep.saturating_sub(at)).unwrap_or(BLOCK).min(BLOCK);
            let count = match file.read_at(at, chunk.get_mut(..left).unwrap_or_default()) {
                Ok(count) => count,
                Err(errno) => return self.fail_buffer(&buffer, errno),
            };
            let Some(chunk) = chunk.get(..count).filter(|chunk| !chunk.is_empty()) else { return Ok(buffer) };
            let before = buffer.content.charged();
            let written = buffer.content.write_at(at, chunk, self.quota.available_bytes());
            self.quota.adjust_charge(before, buffer.content.charged());
            if written != Ok(chunk.len()) {
                return self.fail_buffer(&buffer, Errno::Nospc);
            }
        }
    }

    fn fail_buffer<T>(&mut self, buffer: &Buffer, errno: Errno) -> Result<T, Errno> {
        self.quota.refund_bytes(buffer.content.charged());
        Err(errno)
    }

    /// Writes a dirty buffer to the mounted file system. The content of an unlinked file is discarded.
    ///
    /// # Errors
    /// The error of the mount. The buffer stays dirty then.
    pub fn flush(&mut self, ino: Ino) -> Result<(), Errno> {
        let ino = self.upper_ino(ino);
        if !ino.is_mount_object() {
            return Ok(());
        }
        let dirty = self.objects().and_then(|found| {
            let entry = found.entries.get(&ino).filter(|entry| !entry.unlinked)?;
            entry.buffer.as_ref().filter(|buffer| buffer.dirty).map(|buffer| buffer.content.clone())
        });
        let Some(content) = dirty else { return Ok(()) };
        let object = self.object(ino)?;
        object.mounted.mount.replace(&object.path, &Contents::new(content))?;
        if let Some(found) = self.objects_mut() {
            found.on_flushed(ino);
        }
        Ok(())
    }

    /// Drops the buffer of an object and refunds its charge.
    pub(super) fn drop_buffer(&mut self, ino: Ino) {
        let buffer = self.objects_mut().and_then(|found| found.entries.get_mut(&ino)?.buffer.take());
        if let Some(buffer) = buffer {
            self.quota.refund_bytes(buffer.content.charged());
        }
    }

    /// Handles the release of the last hold on an object.
    pub(in crate::fs) fn on_last_release(&mut self, ino: Ino) {
        // `close_fd` has reported the error to the caller; no caller is left to report it to here.
        let _ = self.flush(ino);
        self.drop_buffer(ino);
        if let Some(found) = self.objects_mut() {
            found.close(ino);
        }
    }
}
