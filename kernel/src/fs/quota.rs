//! What the files of a sandbox may use, and what they use.

use tidebox_core::Limits;

use super::node::Node;
use crate::errno::Errno;

/// What the sandbox's own files use. Installed images cost nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes held by files and symbolic links. A hole of a sparse file costs nothing. Of a file longer than a block the
    /// last block costs at least 512 bytes.
    pub file_bytes: u64,
    /// Files, directories, symbolic links and further hard links.
    pub inodes: u64,
}

/// Charges before anything is allocated and refunds when it is freed.
#[derive(Clone, Debug)]
pub(super) struct Quota {
    pub(super) used: Usage,
    file_bytes: u64,
    inodes: u64,
    pub(super) single_file_bytes: u64,
}

impl Quota {
    pub(super) fn new(limits: &Limits, used: Usage) -> Self {
        Self {
            used,
            file_bytes: limits.file_bytes,
            inodes: limits.inodes,
            single_file_bytes: limits.single_file_bytes.min(i64::MAX as u64),
        }
    }

    /// Bytes that may still be charged.
    pub(super) fn room(&self) -> u64 {
        self.file_bytes.saturating_sub(self.used.file_bytes)
    }

    /// Charges one inode or one more name of an inode.
    pub(super) fn take_inode(&mut self) -> Result<(), Errno> {
        if self.used.inodes >= self.inodes {
            return Err(Errno::Nospc);
        }
        self.used.inodes += 1;
        Ok(())
    }

    pub(super) fn give_inode(&mut self) {
        self.used.inodes = self.used.inodes.saturating_sub(1);
    }

    pub(super) fn take_bytes(&mut self, bytes: u64) -> Result<(), Errno> {
        if bytes > self.room() {
            return Err(Errno::Nospc);
        }
        self.used.file_bytes += bytes;
        Ok(())
    }

    pub(super) fn give_bytes(&mut self, bytes: u64) {
        self.used.file_bytes = self.used.file_bytes.saturating_sub(bytes);
    }

    /// Gives back what a freed inode was charged.
    pub(super) fn refund(&mut self, node: &Node) {
        self.give_bytes(node.charged_bytes());
        if !node.installed {
            self.give_inode();
        }
        self.used.inodes = self.used.inodes.saturating_sub(node.hidden());
    }

    /// Books the change of a charge that was already allowed by [`Self::room`].
    pub(super) fn settle(&mut self, before: u64, after: u64) {
        self.used.file_bytes = self.used.file_bytes.saturating_sub(before).saturating_add(after);
    }
}
