//! Store of a provider's sandboxes over a log.

mod state;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::try_join_all;
use tidebox_core::lock::Mutex;
use tidebox_core::{BoxFuture, Error, ErrorKind, Result, SandboxId};
use tidebox_vfs_backend::{Durability, SaveRequest, SavedFiles, SavedSandbox, SnapshotStore};

use crate::stores::blocking::spawn_blocking;
use crate::stores::generation::{Entry, GenerationKind, Head, PackRef, Writer};
use crate::stores::log::{Appended, Generation, SaveLog};
use crate::stores::name::hex;
use crate::stores::pack::{self, EncodedContent, KnownBlocks};
use crate::system::unix_nanos;
use state::{ChainState, Size};

/// Age at which garbage is removed: longer than any writer sleeps that still believes to own a sandbox.
const GARBAGE_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Minimum time between two searches for garbage, which list the whole store.
const GARBAGE_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// A writer that has not written for this long reads the newest generation first: its number may have been removed, and be free
/// again.
const TRUSTED_FOR: Duration = Duration::from_secs(60 * 60);

/// Attempts to delete a sandbox that another program keeps writing.
const DELETE_ATTEMPTS: usize = 8;

/// Attempts of one save: another follows if the store had lost the response to an earlier save.
const SAVE_ATTEMPTS: usize = 3;

/// Writers of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writers {
    /// Others may exist: garbage is kept for a day.
    Many,
    /// This program only: old generations are removed immediately.
    One,
}

/// Keeps a provider's sandboxes in a [`SaveLog`].
///
/// A save appends what has changed since the one before. A whole snapshot is written first, and again when 32 saves follow it or
/// when they outweigh a third of it. Content beyond 256 KiB goes into packs; a whole snapshot refers to blocks that are in packs
/// already. A restored sandbox is taken over from its previous owner, whose next save fails with [`ErrorKind::Closed`].
#[derive(Clone)]
pub struct ChainStore {
    shared: Arc<Shared>,
}

struct Shared {
    log: Arc<dyn SaveLog>,
    owner: String,
    writers: Writers,
    chains: Mutex<HashMap<SandboxId, ChainState>>,
    /// See [`TRUSTED_FOR`].
    trusted_for: Duration,
    /// Time of the last search for garbage, in nanoseconds since the Unix epoch.
    searched: Mutex<u64>,
}

impl fmt::Debug for ChainStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChainStore")
            .field("log", &self.shared.log)
            .field("owner", &self.shared.owner)
            .finish_non_exhaustive()
    }
}

/// Encoded content of a save.
struct Encoded {
    kind: GenerationKind,
    content: EncodedContent,
    /// Bytes before they were put into packs.
    len: u64,
}

impl ChainStore {
    /// Creates a store over a log that several programs may use.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`] if the operating system has no random bytes.
    pub fn new(log: Arc<dyn SaveLog>) -> Result<Self> {
        Self::with_writers(log, Writers::Many)
    }

    pub(crate) fn with_writers(log: Arc<dyn SaveLog>, writers: Writers) -> Result<Self> {
        let (owner, chains, searched) = (hex(&random()?), Mutex::default(), Mutex::new(unix_nanos()));
        let trusted_for = TRUSTED_FOR;
        Ok(Self { shared: Arc::new(Shared { log, owner, writers, chains, trusted_for, searched }) })
    }

    /// A store that reads the newest generation before every save.
    #[cfg(test)]
    pub(crate) fn distrustful(log: Arc<dyn SaveLog>) -> Self {
        let mut store = Self::new(log).unwrap();
        Arc::get_mut(&mut store.shared).unwrap().trusted_for = Duration::ZERO;
        store
    }

    /// Stores the snapshot file of a sandbox that has no log yet. Succeeds without a change if it has one.
    pub(crate) async fn adopt(&self, sandbox: SavedSandbox, file: Vec<u8>) -> Result<()> {
        let id = sandbox.id.clone();
        let content = pack::encode(&file, &Arc::default(), true, random()?);
        let encoded = Encoded { kind: GenerationKind::Full, content, len: file.len() as u64 };
        let entry = self.entry(sandbox, &encoded, None, random()?);
        self.store_pack(&id, &encoded).await?;
        self.shared.log.append(&id, None, &entry).await.map(|_| ())
    }

    fn state(&self, id: &SandboxId) -> Option<ChainState> {
        self.shared.chains.lock().get(id).cloned()
    }

    fn keep_state(&self, id: &SandboxId, state: ChainState) {
        self.shared.chains.lock().insert(id.clone(), state);
    }

    /// Encodes changes if that is possible and due, otherwise the whole snapshot.
    async fn encode(&self, save: &SaveRequest, state: Option<&ChainState>) -> Result<Encoded> {
        let (snapshot, before) = (save.snapshot.clone(), save.before.clone());
        let changes_due = state.is_some_and(ChainState::takes_changes);
        let known = state.map(|state| Arc::clone(&state.known)).unwrap_or_default();
        spawn_blocking(move || {
            let before = before.filter(|_| changes_due);
            let changes = before.and_then(|before| snapshot.changes_for_store(&before));
            let (kind, file) = match changes {
                Some(changes) => (GenerationKind::Changes, changes),
                None => (GenerationKind::Full, snapshot.to_bytes()),
            };
            let content = pack::encode(&file, &known, kind == GenerationKind::Full, random()?);
            Ok(Encoded { kind, content, len: file.len() as u64 })
        })
        .await
    }

    fn entry(&self, sandbox: SavedSandbox, encoded: &Encoded, state: Option<&ChainState>, nonce: [u8; 16]) -> Entry {
        let number = state.map_or(1, |state| state.head.number.saturating_add(1));
        Entry {
            kind: encoded.kind,
            sandbox,
            writer: Writer { owner: self.shared.owner.clone(), epoch: state.map_or(1, |state| state.epoch) },
            base: state.filter(|_| encoded.kind != GenerationKind::Full).map_or(number, |state| state.base),
            packs: encoded.content.packs.clone(),
            nonce,
            content: encoded.content.content.clone(),
        }
    }

    async fn store_pack(&self, id: &SandboxId, encoded: &Encoded) -> Result<()> {
        match &encoded.content.new_pack {
            Some((pack, bytes)) => self.shared.log.put_pack(id, pack, bytes.clone()).await,
            None => Ok(()),
        }
    }

    async fn save(&self, save: SaveRequest) -> Result<()> {
        let kind = self.append(&save).await?;
        if kind == GenerationKind::Full && self.shared.writers == Writers::One {
            // The save is durable. What cannot be removed now is removed after the next whole snapshot.
            let _ = self.trim(&save.sandbox.id).await;
        }
        Ok(())
    }

    /// Appends a save and returns its kind.
    ///
    /// The attempt is noted before it is made: the caller may drop this future at any point, and the next save must recognize
    /// what this one has written.
    async fn append(&self, save: &SaveRequest) -> Result<GenerationKind> {
        let id = &save.sandbox.id;
        for _ in 0..SAVE_ATTEMPTS {
            let state = self.state(id);
            if let Some(state) = state.as_ref().filter(|state| state.is_older_than(self.shared.trusted_for)) {
                self.check_position(id, state).await?;
            }
            let encoded = self.encode(save, state.as_ref()).await?;
            self.store_pack(id, &encoded).await?;
            let nonce = random()?;
            let entry = self.entry(save.sandbox.clone(), &encoded, state.as_ref(), nonce);
            let head = state.as_ref().map(|state| state.head);
            let mut attempted = state.clone().unwrap_or_else(ChainState::unwritten);
            attempted.unknown.push(nonce);
            self.keep_state(id, attempted);
            match self.shared.log.append(id, head.as_ref(), &entry).await {
                Ok(Appended::Appended(head)) => {
                    let Encoded { kind, content, len } = encoded;
                    self.keep_state(id, ChainState::after(state, kind, head, len, content.known));
                    return Ok(kind);
                }
                Ok(Appended::Fenced(by)) => self.adopt_own(id, state.zip(by)).await?,
                Err(error) => return Err(error),
            }
        }
        Err(Error::new(ErrorKind::Storage, "save sandbox", "the store keeps losing responses; try again"))
    }

    /// Continues after the generation that has fenced a save, if it is an earlier attempt of this program that has succeeded after
    /// all. Its content is not that of the last successful save, so a whole snapshot must follow.
    async fn adopt_own(&self, id: &SandboxId, fenced: Option<(ChainState, Generation)>) -> Result<()> {
        let own = fenced.filter(|(state, by)| state.unknown.contains(&by.nonce));
        let newest = if own.is_some() { self.shared.log.position(id).await? } else { None };
        match own.zip(newest) {
            Some(((state, by), (head, newest))) if newest.nonce == by.nonce => {
                self.keep_state(id, state.continued_at(head));
                Ok(())
            }
            _ => {
                self.release(id);
                Err(taken_over(id))
            }
        }
    }

    /// Checks that no other program has written since.
    async fn check_position(&self, id: &SandboxId, state: &ChainState) -> Result<()> {
        let newest = self.shared.log.newest(id).await?;
        let is_own = |newest: &Generation| {
            newest.number == state.head.number && newest.writer.owner == self.shared.owner
                || state.unknown.contains(&newest.nonce)
        };
        if newest.as_ref().is_some_and(is_own) || (newest.is_none() && state.head.number == 0) {
            return Ok(());
        }
        Err(taken_over(id))
    }

    /// Removes what precedes the previous whole snapshot, which is kept as a backup.
    async fn trim(&self, id: &SandboxId) -> Result<()> {
        let Some(ChainState { backup: Some((below, packs)), known, .. }) = self.state(id) else { return Ok(()) };
        let packs = [packs.as_slice(), known.packs()].concat();
        self.shared.log.trim(id, below, &packs).await
    }

    /// Reads a sandbox and takes it over.
    async fn load(&self, id: &SandboxId, max_bytes: u64) -> Result<Option<SavedFiles>> {
        let log = &self.shared.log;
        loop {
            let Some(chain) = log.load(id, max_bytes).await? else { return Ok(None) };
            let Some(newest) = chain.generations.last() else { return Ok(None) };
            let (mut known, mut size) = (KnownBlocks::default(), Size::default());
            let mut files = SavedFiles::default();
            for saved in &chain.generations {
                let Some(file) = self.read_content(id, &saved.entry, max_bytes, &mut known).await? else { continue };
                size.add(saved.entry.kind, file.len() as u64);
                match saved.entry.kind {
                    GenerationKind::Full => files.snapshot = file,
                    _ => files.changes.push(file),
                }
                if size.total() > max_bytes {
                    return Err(too_large(id, max_bytes));
                }
            }
            let base = newest.entry.base;
            let state =
                ChainState::loaded(chain.head, &newest.entry.writer, base, size, known, chain.generations.len());
            if newest.entry.writer.owner == self.shared.owner || self.shared.writers == Writers::One {
                self.keep_state(id, state);
                return Ok(Some(files));
            }
            if let Some(state) = self.claim(id, newest.entry.sandbox.clone(), state).await? {
                self.keep_state(id, state);
                return Ok(Some(files));
            }
            // The owner has saved in between: read again.
        }
    }

    /// Appends a claim. `None` if another generation came first.
    ///
    /// A claim is a use: without its time, the previous owner could delete the sandbox as unused.
    async fn claim(&self, id: &SandboxId, sandbox: SavedSandbox, state: ChainState) -> Result<Option<ChainState>> {
        let sandbox = SavedSandbox { last_used: sandbox.last_used.max(unix_nanos()), ..sandbox };
        let epoch = state.head.number.saturating_add(1);
        let entry = Entry {
            kind: GenerationKind::Claim,
            sandbox,
            writer: Writer { owner: self.shared.owner.clone(), epoch },
            base: state.base,
            packs: Vec::new(),
            nonce: random()?,
            content: Vec::new(),
        };
        match self.shared.log.append(id, Some(&state.head), &entry).await? {
            Appended::Appended(head) => Ok(Some(state.claimed(head, epoch))),
            Appended::Fenced(_) => Ok(None),
        }
    }

    /// Returns the file of an entry; `None` for one without content.
    async fn read_content(
        &self,
        id: &SandboxId,
        entry: &Entry,
        max_bytes: u64,
        known: &mut KnownBlocks,
    ) -> Result<Option<Vec<u8>>> {
        if !matches!(entry.kind, GenerationKind::Full | GenerationKind::Changes) {
            return Ok(None);
        }
        if entry.packs.iter().fold(0_u64, |len, pack| len.saturating_add(pack.len)) > max_bytes.saturating_mul(2) {
            return Err(too_large(id, max_bytes));
        }
        let packs = entry.packs.iter().map(|pack: &PackRef| self.shared.log.read_pack(id, pack));
        let packs = try_join_all(packs).await?;
        let file = pack::decode(&entry.content, &entry.packs, &packs, max_bytes, known);
        file.map(Some).ok_or_else(|| {
            let message = "a generation of the saved sandbox is corrupt, or larger than the limits allow; \
                           restore the store from a backup, or raise Limits::file_bytes";
            Error::new(ErrorKind::Storage, "read saved sandbox", message).with_context("sandbox", id.as_str())
        })
    }

    async fn remove(&self, id: &SandboxId) -> Result<()> {
        self.release(id);
        let is_alone = self.shared.writers == Writers::One;
        for _ in 0..DELETE_ATTEMPTS {
            let ended = match self.shared.log.position(id).await {
                Ok(None) => true,
                Ok(Some((head, newest))) => {
                    let entry = self.end_of(newest.sandbox, &head)?;
                    matches!(self.shared.log.append(id, Some(&head), &entry).await?, Appended::Appended(_))
                }
                // A corrupt sandbox must be removable, too. No other program can continue it.
                Err(_) if is_alone => true,
                Err(error) => return Err(error),
            };
            if ended {
                return if is_alone { self.shared.log.forget(id).await } else { Ok(()) };
            }
        }
        let message = "another program keeps saving the sandbox; stop that program and try again";
        Err(Error::new(ErrorKind::Storage, "delete sandbox", message).with_context("sandbox", id.as_str()))
    }

    /// Appends the end after the position of this program, which another program that has taken the sandbox over has left.
    async fn remove_own(&self, sandbox: &SavedSandbox) -> Result<()> {
        let id = &sandbox.id;
        for _ in 0..SAVE_ATTEMPTS {
            let state = match self.state(id) {
                Some(state) if state.head.number > 0 => state,
                // The first save has failed, and may be there nevertheless. No other program can have found the sandbox before.
                Some(_) => return self.remove(id).await,
                None => return Ok(()),
            };
            if state.is_older_than(self.shared.trusted_for) {
                self.check_position(id, &state).await?;
            }
            let entry = self.end_of(sandbox.clone(), &state.head)?;
            match self.shared.log.append(id, Some(&state.head), &entry).await? {
                Appended::Appended(_) => {
                    self.release(id);
                    return Ok(());
                }
                Appended::Fenced(by) => self.adopt_own(id, Some(state).zip(by)).await?,
            }
        }
        Err(Error::new(ErrorKind::Storage, "delete sandbox", "the store keeps losing responses; try again"))
    }

    fn end_of(&self, sandbox: SavedSandbox, head: &Head) -> Result<Entry> {
        let number = head.number.saturating_add(1);
        Ok(Entry {
            kind: GenerationKind::Deleted,
            sandbox,
            writer: Writer { owner: self.shared.owner.clone(), epoch: number },
            base: number,
            packs: Vec::new(),
            nonce: random()?,
            content: Vec::new(),
        })
    }

    async fn list_all(&self) -> Result<Vec<SavedSandbox>> {
        let (mut found, mut cursor) = (Vec::new(), None);
        loop {
            let page = self.shared.log.list("", cursor.as_deref()).await?;
            found.extend(page.sandboxes);
            cursor = page.cursor;
            if cursor.is_none() {
                return Ok(found);
            }
        }
    }

    async fn collect(&self) -> Result<()> {
        let now = unix_nanos();
        {
            let mut searched = self.shared.searched.lock();
            if u128::from(now.saturating_sub(*searched)) < GARBAGE_INTERVAL.as_nanos() {
                return Ok(());
            }
            *searched = now;
        }
        let age = u64::try_from(GARBAGE_AGE.as_nanos()).unwrap_or(u64::MAX);
        self.shared.log.collect_garbage(now.saturating_sub(age)).await
    }
}

impl SnapshotStore for ChainStore {
    fn durability(&self) -> Durability {
        self.shared.log.durability()
    }

    fn has_other_writers(&self) -> bool {
        self.shared.writers == Writers::Many
    }

    fn put(&self, save: SaveRequest) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.save(save))
    }

    fn get<'a>(&'a self, id: &'a SandboxId, max_bytes: u64) -> BoxFuture<'a, Result<Option<SavedFiles>>> {
        Box::pin(self.load(id, max_bytes))
    }

    fn find<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<Option<SavedSandbox>>> {
        Box::pin(async move {
            let newest = self.shared.log.newest(id).await?;
            Ok(newest.filter(|newest| newest.kind != GenerationKind::Deleted).map(|newest| newest.sandbox))
        })
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<SavedSandbox>>> {
        Box::pin(self.list_all())
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.remove(id))
    }

    fn delete_own<'a>(&'a self, sandbox: &'a SavedSandbox) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.remove_own(sandbox))
    }

    fn release(&self, id: &SandboxId) {
        self.shared.chains.lock().remove(id);
    }

    fn collect_garbage(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.collect())
    }
}

fn random() -> Result<[u8; 16]> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::new(ErrorKind::Storage, "keep sandboxes", format!("the system has no random bytes: {error}; try again"))
    })?;
    Ok(bytes)
}

fn taken_over(id: &SandboxId) -> Error {
    let message =
        "another program has taken the sandbox over or deleted it; use get_or_create to continue with its state";
    Error::new(ErrorKind::Closed, "save sandbox", message).with_context("sandbox", id.as_str())
}

fn too_large(id: &SandboxId, max_bytes: u64) -> Error {
    let message = format!("the saved sandbox has more than {max_bytes} bytes; raise Limits::file_bytes");
    Error::new(ErrorKind::Storage, "read saved sandbox", message).with_context("sandbox", id.as_str())
}
