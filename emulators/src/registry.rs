//! Registry of an emulator's sandboxes, by client-visible name.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

use tidebox_core::lock::Mutex;
use tidebox_core::{BoxFuture, Error, ErrorKind, Result, SandboxBackend};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::preview::{PreviewTarget, Traffic, TrafficChanges};
use crate::saved::{self, RegistryStore, SavedOrigin, SavedSandbox};

/// Creates a sandbox as the provider's image defines it.
pub type MakeSandbox = Arc<dyn Fn(NewSandbox) -> BoxFuture<'static, Result<MadeSandbox>> + Send + Sync>;

/// Takes a snapshot of the files of a sandbox.
pub type TakeSnapshot = Arc<dyn Fn() -> Result<FileSnapshot> + Send + Sync>;

/// Replaces the files of a sandbox by those of a snapshot. Its running commands are stopped.
pub type RestoreSnapshot = Arc<dyn Fn(&FileSnapshot) -> Result<()> + Send + Sync>;

/// A connection to a program that listens in a sandbox.
pub trait PortConnection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<C: AsyncRead + AsyncWrite + Send + Unpin> PortConnection for C {}

/// Reason why a connection to a port of a sandbox cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectError {
    /// No program listens there, or the sandbox was closed.
    Closed,
    /// The program has not accepted earlier connections. A later attempt can succeed.
    QueueFull,
    /// The sandbox has as many sockets as it may have.
    Limit,
}

/// Connects to a port of a sandbox.
pub type ConnectPort = Arc<dyn Fn(u16) -> Result<Box<dyn PortConnection>, ConnectError> + Send + Sync>;

/// Forwards a free port of this computer to a port of a sandbox.
pub type ExposePort = Arc<dyn Fn(u16) -> BoxFuture<'static, Result<HostPort>> + Send + Sync>;

/// A port of this computer that leads to a port of a sandbox until this is dropped.
pub struct HostPort {
    /// Address on this computer.
    pub address: SocketAddr,
    /// Closes the port when it is dropped.
    pub guard: Box<dyn Any + Send + Sync>,
}

impl fmt::Debug for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostPort").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Access to the programs that listen in a sandbox.
#[derive(Clone)]
pub struct SandboxPorts {
    /// Connects within this process.
    pub connect: ConnectPort,
    /// Forwards a port of this computer.
    pub expose: ExposePort,
}

impl fmt::Debug for SandboxPorts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SandboxPorts")
    }
}

/// A sandbox to create.
#[derive(Clone, Debug, Default)]
pub struct NewSandbox {
    /// Environment variables of its commands.
    pub env: Vec<(String, String)>,
    /// User of its commands. `None` keeps the user of a local sandbox.
    pub user: Option<ImageUser>,
    /// Initial files. `None` is the base image.
    pub snapshot: Option<FileSnapshot>,
    /// Memory of all its processes together, in bytes. `None` is the default of the function that makes sandboxes.
    pub memory_bytes: Option<u64>,
    /// Never saved, for example because it ends with one request.
    pub is_temporary: bool,
    /// Set by a registry with a store: the sandbox is saved there.
    pub saved: Option<SavedOrigin>,
}

/// The user of a provider's image, as `whoami`, `$USER` and `$HOME` report it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageUser {
    /// Name in `/etc/passwd`.
    pub name: &'static str,
    /// Home directory. The user owns it.
    pub home: &'static str,
}

/// Returns the processor time of all processes of a sandbox since it was created; zero once it is closed.
pub type ReadCpuTime = Arc<dyn Fn() -> Duration + Send + Sync>;

/// A created sandbox.
#[derive(Clone)]
pub struct MadeSandbox {
    /// The sandbox.
    pub sandbox: Arc<dyn SandboxBackend>,
    /// Takes its snapshots. `None` if its backend has none.
    pub snapshot: Option<TakeSnapshot>,
    /// Restores them. `None` if its backend cannot.
    pub restore: Option<RestoreSnapshot>,
    /// Reaches its servers. `None` if its backend has no ports.
    pub ports: Option<SandboxPorts>,
    /// Reads the processor time that it has used.
    pub cpu_time: ReadCpuTime,
    /// Saves it. `None` unless [`NewSandbox::saved`] was set.
    pub saved: Option<Arc<dyn SavedSandbox>>,
}

impl fmt::Debug for MadeSandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MadeSandbox").field("sandbox", &self.sandbox).finish_non_exhaustive()
    }
}

/// Files of a sandbox at one time. Its type is private to the function that makes sandboxes.
#[derive(Clone)]
pub struct FileSnapshot(pub Arc<dyn Any + Send + Sync>);

impl fmt::Debug for FileSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileSnapshot")
    }
}

/// One sandbox and its client-supplied data.
#[derive(Clone, Debug)]
pub struct SandboxRecord {
    /// The sandbox.
    pub sandbox: Arc<dyn SandboxBackend>,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Credential of its data plane.
    pub token: String,
    /// Creation time.
    pub created_at: Instant,
    /// End time, if any.
    pub expires_at: Option<Instant>,
    /// Paused until a client connects.
    pub paused: bool,
    /// Provider-specific data, such as a template name.
    pub metadata: BTreeMap<String, String>,
    /// Reaches its servers, if its backend has ports.
    pub ports: Option<SandboxPorts>,
    /// Connections from outside to its servers.
    pub(crate) traffic: Traffic,
    /// Last saved time of use of a sandbox that is only listed. `None` for one in memory.
    pub last_used: Option<Instant>,
    /// Saves it, if the registry has a store and it is in memory.
    pub(crate) saved: Option<Arc<dyn SavedSandbox>>,
}

impl SandboxRecord {
    /// Sets the remaining lifetime.
    pub fn set_ttl(&mut self, time: Duration) {
        self.expires_at = Instant::now().checked_add(time);
    }
}

/// Takes and restores the snapshots of a sandbox.
#[derive(Clone)]
pub(crate) struct Snapshots {
    pub(crate) take: Option<TakeSnapshot>,
    pub(crate) restore: Option<RestoreSnapshot>,
}

/// All sandboxes of one emulator.
#[derive(Clone)]
pub struct SandboxRegistry {
    make: MakeSandbox,
    snapshots: Arc<Mutex<BTreeMap<String, Snapshots>>>,
    sandboxes: Arc<Mutex<BTreeMap<String, SandboxRecord>>>,
    pub(crate) store: Option<RegistryStore>,
}

impl fmt::Debug for SandboxRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SandboxRegistry").field("sandboxes", &self.lock().len()).finish_non_exhaustive()
    }
}

impl SandboxRegistry {
    /// Creates an empty registry whose sandboxes are created by `make`.
    pub fn new(make: MakeSandbox) -> Self {
        Self { make, snapshots: Arc::default(), sandboxes: Arc::default(), store: None }
    }

    /// Creates a registry whose sandboxes are saved in a store, and found there again.
    pub fn with_store(make: MakeSandbox, store: RegistryStore) -> Self {
        Self { store: Some(store), ..Self::new(make) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, BTreeMap<String, SandboxRecord>> {
        self.sandboxes.lock()
    }

    /// Creates a sandbox with this id, user and initial files.
    ///
    /// # Errors
    /// Those of `make`.
    pub async fn create_from(
        &self,
        id: String,
        labels: BTreeMap<String, String>,
        mut new: NewSandbox,
    ) -> Result<SandboxRecord> {
        let (token, created_at) = (random_token()?, Instant::now());
        if !new.is_temporary {
            new.saved = self.origin_of_new(&id, &labels, &token, &new);
        }
        let made = (self.make)(new).await?;
        let record = SandboxRecord {
            sandbox: made.sandbox,
            labels,
            token,
            created_at,
            expires_at: None,
            paused: false,
            metadata: BTreeMap::new(),
            ports: made.ports,
            traffic: Traffic::default(),
            last_used: None,
            saved: made.saved,
        };
        let snapshots = Snapshots { take: made.snapshot, restore: made.restore };
        self.insert(&id, record.clone(), snapshots);
        self.save_with_response(&id).await?;
        Ok(record)
    }

    pub(crate) fn insert(&self, id: &str, record: SandboxRecord, snapshots: Snapshots) {
        self.snapshots.lock().insert(id.to_owned(), snapshots);
        self.lock().insert(id.to_owned(), record);
    }

    pub(crate) async fn make(&self, new: NewSandbox) -> Result<MadeSandbox> {
        (self.make)(new).await
    }

    /// Takes a snapshot of the files of a sandbox.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] if the sandboxes have no snapshots or this one does not exist; those of the sandbox.
    pub fn take_snapshot(&self, id: &str) -> Result<FileSnapshot> {
        let take = self.snapshots.lock().get(id).and_then(|snapshots| snapshots.take.clone());
        match take {
            Some(take) => take(),
            None => {
                let message = "cannot take a snapshot: the sandbox does not exist, or its backend has no snapshots";
                Err(Error::new(ErrorKind::InvalidRequest, "snapshot", message))
            }
        }
    }

    /// Replaces the files of a sandbox by those of a snapshot. Its running commands are stopped.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] if the sandboxes cannot restore snapshots or this one does not exist; those of the sandbox.
    pub fn restore_snapshot(&self, id: &str, snapshot: &FileSnapshot) -> Result<()> {
        let restore = self.snapshots.lock().get(id).and_then(|snapshots| snapshots.restore.clone());
        match restore {
            Some(restore) => {
                saved::touch(self, id);
                restore(snapshot)
            }
            None => {
                let message = "cannot restore a snapshot: the sandbox does not exist, or its backend has no snapshots";
                Err(Error::new(ErrorKind::InvalidRequest, "restore", message))
            }
        }
    }

    /// Closes expired sandboxes.
    async fn close_expired(&self) {
        let now = Instant::now();
        let over: Vec<String> = {
            let sandboxes = self.lock();
            sandboxes
                .iter()
                .filter(|(_, sandbox)| sandbox.expires_at.is_some_and(|end| end <= now))
                .map(|(id, _)| id.clone())
                .collect()
        };
        for id in over {
            self.close(&id).await;
        }
    }

    /// Returns whether it has a sandbox with this id, which may have expired.
    pub(crate) fn contains(&self, id: &str) -> bool {
        self.lock().contains_key(id)
    }

    /// Returns whether both are the same registry.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.sandboxes, &other.sandboxes)
    }

    /// Returns the sandbox with this id, `None` if it does not exist or has expired. One that is only in the store is restored; if
    /// that fails, the response of the current request is an error.
    pub async fn find(&self, id: &str) -> Option<SandboxRecord> {
        self.close_expired().await;
        match self.store.is_some() {
            true => self.find_saved(id).await,
            false => self.lock().get(id).cloned(),
        }
    }

    /// Returns the sandbox with this id if it is in memory and has not expired.
    pub(crate) async fn find_loaded(&self, id: &str) -> Option<SandboxRecord> {
        self.close_expired().await;
        self.lock().get(id).cloned()
    }

    /// Returns all sandboxes with these labels, ordered by id, including those that are only in the store.
    pub async fn list(&self, labels: &BTreeMap<String, String>) -> Vec<(String, SandboxRecord)> {
        let loaded = self.list_loaded(labels).await;
        match self.store.is_some() {
            true => self.list_saved(labels, loaded).await,
            false => loaded,
        }
    }

    /// Returns the sandboxes with these labels that are in memory, ordered by id.
    pub async fn list_loaded(&self, labels: &BTreeMap<String, String>) -> Vec<(String, SandboxRecord)> {
        self.close_expired().await;
        let has_labels =
            |sandbox: &SandboxRecord| labels.iter().all(|(name, value)| sandbox.labels.get(name) == Some(value));
        self.lock()
            .iter()
            .filter(|(_, sandbox)| has_labels(sandbox))
            .map(|(id, sandbox)| (id.clone(), sandbox.clone()))
            .collect()
    }

    /// Changes a sandbox's record; false if it does not exist. A sandbox that is paused loses its connections.
    pub fn update(&self, id: &str, change: impl FnOnce(&mut SandboxRecord)) -> bool {
        let mut sandboxes = self.lock();
        let Some(record) = sandboxes.get_mut(id) else { return false };
        change(record);
        record.note_for_store();
        saved::touch(self, id);
        match record.paused {
            true => record.traffic.end_all(),
            false => record.traffic.note_update(),
        }
        true
    }

    /// Returns a port of a sandbox for a connection from outside.
    pub(crate) fn preview_target(&self, id: &str, sandbox: &SandboxRecord, port: u16) -> PreviewTarget {
        PreviewTarget {
            id: id.to_owned(),
            port,
            connect: sandbox.ports.as_ref().map(|ports| Arc::clone(&ports.connect)),
            traffic: sandbox.traffic.clone(),
            ended: Box::pin(self.wait_for_end(id, sandbox)),
        }
    }

    /// Completes when a sandbox is closed, paused or has expired.
    pub(crate) fn wait_for_end(&self, id: &str, sandbox: &SandboxRecord) -> impl Future<Output = ()> + Send + use<> {
        wait_for_end(self.downgrade(), id.to_owned(), sandbox.traffic.subscribe())
    }

    /// Returns a function that returns the registry while it exists elsewhere.
    fn downgrade(&self) -> impl Fn() -> Option<Self> + Send + use<> {
        let make = Arc::clone(&self.make);
        let (snapshots, sandboxes) = (Arc::downgrade(&self.snapshots), Arc::downgrade(&self.sandboxes));
        let store = self.store.clone();
        move || {
            let (snapshots, sandboxes) = (snapshots.upgrade()?, sandboxes.upgrade()?);
            Some(Self { make: Arc::clone(&make), snapshots, sandboxes, store: store.clone() })
        }
    }

    /// Closes a sandbox, and removes it from the store; false if it does not exist.
    pub async fn close(&self, id: &str) -> bool {
        match self.delete_saved(id).await {
            Ok(was_saved) => self.close_loaded(id).await || was_saved,
            Err(error) => {
                // It stays, and the response of the request is the error.
                saved::fail(error);
                true
            }
        }
    }

    /// Closes a sandbox that is in memory; false if it is not. With a store it stays there.
    pub(crate) async fn close_loaded(&self, id: &str) -> bool {
        self.snapshots.lock().remove(id);
        let sandbox = self.lock().remove(id);
        match sandbox {
            Some(sandbox) => {
                sandbox.traffic.end_all();
                // Clients of an emulated sandbox cannot act on a cleanup error.
                let _ = sandbox.sandbox.close().await;
                true
            }
            None => false,
        }
    }
}

impl SandboxRegistry {
    /// Closes all sandboxes, and removes them from the store.
    pub async fn close_all(&self) {
        for id in self.loaded_ids() {
            self.close(&id).await;
        }
    }

    /// Ends with the program: closes all sandboxes, which stay in the store, if there is one.
    pub async fn end(&self) {
        for id in self.loaded_ids() {
            self.close_loaded(&id).await;
        }
    }

    pub(crate) fn loaded_ids(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }
}

/// Completes when a sandbox is closed, paused or has expired. An expired sandbox is closed by the next request; a connection may be
/// the only one. Connections do not keep the registry alive, whose sandboxes end with the emulator.
async fn wait_for_end(registry: impl Fn() -> Option<SandboxRegistry>, id: String, mut changes: TrafficChanges) {
    while let Some(registry) = registry() {
        let Some(sandbox) = registry.find_loaded(&id).await else { return };
        let expires_at = sandbox.expires_at;
        drop((sandbox, registry));
        let expired = async {
            match expires_at {
                Some(end) => tokio::time::sleep_until(end.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            is_end = changes.next_is_end() => if is_end { return },
            () = expired => {}
        }
    }
}

/// Letters of a credential. A host name contains them unchanged, and a byte selects each with the same probability.
const TOKEN_LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Returns a random credential of 160 bits.
///
/// # Errors
/// [`ErrorKind::Unavailable`] if the operating system has no random numbers.
pub fn random_token() -> Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::new(ErrorKind::Unavailable, "create credential", format!("cannot get random numbers: {error}"))
    })?;
    let letter = |byte: u8| TOKEN_LETTERS.get(usize::from(byte & 31)).copied().map_or('a', char::from);
    Ok(bytes.into_iter().map(letter).collect())
}
