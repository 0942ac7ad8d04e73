//! Directory in memory, for tests and for several services in one process.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidebox_core::lock::Mutex;
use tidebox_core::{BoxFuture, Result};

use crate::fleet::directory::{Beat, Directory, DirectoryView, ShardTable};

/// A directory in memory. Clones share it, as several programs share a directory of another kind.
#[derive(Clone, Debug, Default)]
pub struct MemoryDirectory {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    beats: BTreeMap<String, Beat>,
    table: ShardTable,
}

impl MemoryDirectory {
    /// A directory with a table of other size.
    #[cfg(test)]
    pub(crate) fn with_shards(shards: usize) -> Self {
        let directory = Self::default();
        directory.shared.lock().table.owners = vec![None; shards];
        directory
    }

    /// Removes everything.
    #[cfg(test)]
    pub(crate) fn lose_all(&self) {
        *self.shared.lock() = Shared::default();
    }

    pub(crate) fn beat_now(&self, beat: &Beat) {
        self.shared.lock().beats.insert(beat.node.name.clone(), beat.clone());
    }

    pub(crate) fn view_now(&self) -> DirectoryView {
        let shared = self.shared.lock();
        DirectoryView { beats: shared.beats.values().cloned().collect(), table: shared.table.clone() }
    }

    pub(crate) fn propose_now(&self, table: &ShardTable) -> bool {
        let mut shared = self.shared.lock();
        let is_next = table.number == shared.table.number.saturating_add(1);
        if is_next {
            shared.table = table.clone();
        }
        is_next
    }

    pub(crate) fn forget_now(&self, node: &str) {
        self.shared.lock().beats.remove(node);
    }
}

impl Directory for MemoryDirectory {
    fn beat<'a>(&'a self, beat: &'a Beat) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.beat_now(beat);
            Ok(())
        })
    }

    fn view(&self) -> BoxFuture<'_, Result<DirectoryView>> {
        Box::pin(async move { Ok(self.view_now()) })
    }

    fn propose<'a>(&'a self, table: &'a ShardTable) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move { Ok(self.propose_now(table)) })
    }

    fn forget<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.forget_now(node);
            Ok(())
        })
    }
}
