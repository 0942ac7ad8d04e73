//! Storage limits and usage of a sandbox's files.

use tidebox_core::{Limits, StopReason};

use super::node::Node;
use crate::errno::Errno;

/// Usage of the sandbox's own files. Installed images are not charged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileUsage {
    /// Bytes of files and symbolic links. A hole of a sparse file is free. For a file longer than a block, the last block is
    /// charged at least 512 bytes.
    pub file_bytes: u64,
    /// Files, directories, symbolic links and additional hard links.
    pub inodes: u64,
}

/// Quota accounting: charges before an allocation, refunds when it is freed.
#[derive(Clone, Debug)]
pub(super) struct Quota {
    pub(super) used: FileUsage,
    file_bytes: u64,
    inodes: u64,
    pub(super) single_file_bytes: u64,
}

impl Quota {
    pub(super) fn new(limits: &Limits, used: FileUsage) -> Self {
        Self {
            used,
            file_bytes: limits.file_bytes,
            inodes: limits.inodes,
            single_file_bytes: limits.single_file_bytes.min(i64::MAX as u64),
        }
    }

    /// Returns the bytes that may still be charged.
    pub(super) fn available_bytes(&self) -> u64 {
        self.file_bytes.saturating_sub(self.used.file_bytes)
    }

    /// Returns the limit that is exhausted, if one is: no name, or not even the bytes of a long symbolic link, can be added.
    pub(super) fn exhausted_limit(&self) -> Option<StopReason> {
        if self.used.inodes >= self.inodes {
            Some(StopReason::Inodes)
        } else {
            (self.available_bytes() < 4096).then_some(StopReason::Files)
        }
    }

    /// Charges one inode or one additional name of an inode.
    pub(super) fn charge_inode(&mut self) -> Result<(), Errno> {
        if self.used.inodes >= self.inodes {
            return Err(Errno::Nospc);
        }
        self.used.inodes += 1;
        Ok(())
    }

    pub(super) fn refund_inode(&mut self) {
        self.used.inodes = self.used.inodes.saturating_sub(1);
    }

    pub(super) fn charge_bytes(&mut self, bytes: u64) -> Result<(), Errno> {
        if bytes > self.available_bytes() {
            return Err(Errno::Nospc);
        }
        self.used.file_bytes += bytes;
        Ok(())
    }

    pub(super) fn refund_bytes(&mut self, bytes: u64) {
        self.used.file_bytes = self.used.file_bytes.saturating_sub(bytes);
    }

    /// Refunds the charge of a freed inode.
    pub(super) fn refund(&mut self, node: &Node) {
        self.refund_bytes(node.charged_bytes());
        if !node.installed {
            self.refund_inode();
        }
        self.used.inodes = self.used.inodes.saturating_sub(node.hidden());
    }

    /// Applies a change of a charge that [`Self::available_bytes`] has already allowed.
    pub(super) fn adjust_charge(&mut self, before: u64, after: u64) {
        self.used.file_bytes = self.used.file_bytes.saturating_sub(before).saturating_add(after);
    }
}
