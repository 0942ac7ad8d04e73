//! Files of mounts that take changes only as a whole: the kernel keeps what was written until it is stored.

use super::look::Object;
use super::port::{Access, Writes};
use crate::errno::Errno;
use crate::fs::blocks::{BLOCK, Content};
use crate::fs::{Contents, Fs, Ino};

/// A file's content, charged to the quota.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    pub(super) content: Content,
    /// The mounted file system has not got it yet.
    pub(super) dirty: bool,
}

impl Fs {
    /// Whether changes of an object go to a buffer.
    pub(super) fn is_buffered(object: &Object) -> bool {
        object.mounted.mount.writes() == Writes::Whole
    }

    /// Changes the buffer of an object, which begins as the file's first `keep` bytes. Returns what `change` returns.
    pub(super) fn in_buffer<T>(
        &mut self,
        object: &Object,
        keep: u64,
        change: impl FnOnce(&mut Content, u64) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let kept = self.found_mut().and_then(|found| found.entries.get_mut(&object.ino)?.buffer.take());
        let begun = kept.is_none();
        let mut buffer = match kept {
            Some(buffer) => buffer,
            None => self.begin_buffer(object, keep)?,
        };
        let before = buffer.content.charged();
        let result = change(&mut buffer.content, self.quota.room());
        self.quota.settle(before, buffer.content.charged());
        buffer.dirty |= result.is_ok();
        match self.found_mut().and_then(|found| found.entries.get_mut(&object.ino)) {
            // What was begun for a change that failed may lack bytes of the file.
            Some(entry) if result.is_ok() || !begun => entry.buffer = Some(buffer),
            _ => self.quota.give_bytes(buffer.content.charged()),
        }
        if result.is_ok() && !self.holds.contains_key(&object.ino) {
            let flushed = self.flush(object.ino);
            self.drop_buffer(object.ino);
            flushed?;
        }
        result
    }

    fn begin_buffer(&mut self, object: &Object, keep: u64) -> Result<Box<Buffer>, Errno> {
        let mut buffer = Box::<Buffer>::default();
        if keep == 0 {
            return Ok(buffer);
        }
        let file = self.opened(object, Access::Read)?;
        let mut piece = vec![0; BLOCK];
        loop {
            let at = buffer.content.len();
            let left = usize::try_from(keep.saturating_sub(at)).unwrap_or(BLOCK).min(BLOCK);
            let count = match file.read_at(at, piece.get_mut(..left).unwrap_or_default()) {
                Ok(count) => count,
                Err(errno) => return self.no_buffer(&buffer, errno),
            };
            let Some(piece) = piece.get(..count).filter(|piece| !piece.is_empty()) else { return Ok(buffer) };
            let before = buffer.content.charged();
            let written = buffer.content.write_at(at, piece, self.quota.room());
            self.quota.settle(before, buffer.content.charged());
            if written != Ok(piece.len()) {
                return self.no_buffer(&buffer, Errno::Nospc);
            }
        }
    }

    fn no_buffer<T>(&mut self, buffer: &Buffer, errno: Errno) -> Result<T, Errno> {
        self.quota.give_bytes(buffer.content.charged());
        Err(errno)
    }

    /// Hands what was written to the mounted file system, if it has not got it yet. A file whose name was taken
    /// meanwhile goes nowhere.
    ///
    /// # Errors
    /// What the mount answers. What was written stays where it was then.
    pub fn flush(&mut self, ino: Ino) -> Result<(), Errno> {
        let ino = self.own(ino);
        if !ino.is_foreign() {
            return Ok(());
        }
        let dirty = self.found().and_then(|found| {
            let entry = found.entries.get(&ino).filter(|entry| !entry.gone)?;
            entry.buffer.as_ref().filter(|buffer| buffer.dirty).map(|buffer| buffer.content.clone())
        });
        let Some(content) = dirty else { return Ok(()) };
        let object = self.object(ino)?;
        object.mounted.mount.replace(&object.path, &Contents::new(content))?;
        if let Some(found) = self.found_mut() {
            found.stored(ino);
        }
        Ok(())
    }

    /// Gives back what the buffer of an object was charged.
    pub(super) fn drop_buffer(&mut self, ino: Ino) {
        let buffer = self.found_mut().and_then(|found| found.entries.get_mut(&ino)?.buffer.take());
        if let Some(buffer) = buffer {
            self.quota.give_bytes(buffer.content.charged());
        }
    }

    /// The last hold of an object was taken back.
    pub(in crate::fs) fn let_go(&mut self, ino: Ino) {
        // Who closes a descriptor is told before, see `close_fd`; here nobody is left to tell.
        let _ = self.flush(ino);
        self.drop_buffer(ino);
        if let Some(found) = self.found_mut() {
            found.close(ino);
        }
    }
}
