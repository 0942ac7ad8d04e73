//! Sandboxes of a registry that are saved in a store.
//!
//! A response is sent after the changes of its request are durable. Calls of a sandbox save its files themselves; what a request
//! changes in the record of a sandbox, such as its lifetime, is saved by [`save_before_response`] before the response.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tidebox_core::layer::{Call, Layer, Response as CallResponse, from_layer};
use tidebox_core::lock::Mutex;
use tidebox_core::{BoxFuture, Error, ErrorKind, OutputSink, Result, SandboxBackend, SandboxId};

use crate::entries::wall_clock;
use crate::preview::Traffic;
use crate::registry::{ImageUser, NewSandbox, SandboxRecord, SandboxRegistry, Snapshots};

/// Servers whose sandboxes can be saved: their requests name the sandbox in the path, the host or a header, and all that a client
/// needs of it is in its record.
pub const SAVED_PROVIDERS: [&str; 3] = ["daytona", "e2b", "rest"];

/// Attempts to draw an id that belongs to this node. With a hundred nodes, one of a hundred ids does.
const DRAWS: usize = 1 << 16;

/// Locks for sandboxes that are being restored; also the maximum number of restores of a registry at a time.
const LOADS: usize = 64;

/// The data of a sandbox that is saved with its files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedRecord {
    /// Name of its tenant.
    pub tenant: String,
    /// Labels.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Credential of its data plane.
    pub token: String,
    /// Creation time in nanoseconds since the Unix epoch.
    pub created: u64,
    /// End time in nanoseconds since the Unix epoch, if any.
    #[serde(default)]
    pub expires: Option<u64>,
    /// Paused until a client connects.
    #[serde(default)]
    pub paused: bool,
    /// Provider-specific data.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// Environment variables of its commands.
    #[serde(default)]
    pub env: Vec<(String, String)>,
    /// Memory of all its processes together, in bytes. `None` is the default of the service.
    #[serde(default)]
    pub memory_bytes: Option<u64>,
}

/// The location of a sandbox in a store.
#[derive(Clone, Debug)]
pub struct SavedOrigin {
    /// Name of the server: `rest` or a provider.
    pub api: String,
    /// Id of the sandbox, unique among those of the server.
    pub id: String,
    /// Data of a new sandbox, and of a saved one as it was found.
    pub record: SavedRecord,
    /// Creates the sandbox instead of restoring it.
    pub is_new: bool,
}

/// A sandbox in memory that is saved in a store.
pub trait SavedSandbox: Send + Sync + fmt::Debug {
    /// Returns the data of the next save.
    fn record(&self) -> Result<SavedRecord>;

    /// Replaces the data. The next save has it.
    fn note(&self, record: &SavedRecord) -> Result<()>;

    /// Saves what has changed. It is durable afterwards.
    fn save(&self) -> BoxFuture<'_, Result<()>>;

    /// Returns whether it was closed, for example because another program has taken it over.
    fn has_ended(&self) -> bool;

    /// Removes it from the store and closes it.
    fn delete(&self) -> BoxFuture<'_, Result<()>>;
}

/// A sandbox in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedSandbox {
    /// Its id.
    pub id: String,
    /// Its data.
    pub record: SavedRecord,
    /// Last saved time of use, in nanoseconds since the Unix epoch.
    pub last_used: u64,
}

/// The node that serves a sandbox.
pub enum SandboxLocation {
    /// This one, at least until the guard is dropped: a request in progress.
    Here(Box<dyn Any + Send + Sync>),
    /// Another one, whose server of this kind has this address, as in `10.0.0.7:8080`.
    Elsewhere(String),
    /// No node at the moment.
    Nowhere,
}

impl fmt::Debug for SandboxLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here(_) => f.write_str("Here"),
            Self::Elsewhere(address) => f.debug_tuple("Elsewhere").field(address).finish(),
            Self::Nowhere => f.write_str("Nowhere"),
        }
    }
}

/// A store of sandboxes, which several programs may share.
pub trait SandboxStore: Send + Sync + fmt::Debug {
    /// Returns the node that serves a sandbox. Ids that are not used yet have one, too.
    fn locate(&self, api: &str, id: &str) -> SandboxLocation;

    /// Returns whether the sandboxes may belong to several nodes.
    fn has_nodes(&self) -> bool;

    /// Returns whether this node serves some sandboxes, so that it can create one.
    fn is_ready(&self) -> bool;

    /// Returns the data of a saved sandbox; `None` otherwise.
    fn find<'a>(&'a self, api: &'a str, id: &'a str) -> BoxFuture<'a, Result<Option<SavedRecord>>>;

    /// Lists all saved sandboxes of a server.
    fn list<'a>(&'a self, api: &'a str) -> BoxFuture<'a, Result<Vec<ListedSandbox>>>;

    /// Removes a sandbox that is not in memory.
    fn delete<'a>(&'a self, api: &'a str, id: &'a str) -> BoxFuture<'a, Result<()>>;

    /// Removes what no saved sandbox needs any more.
    fn collect_garbage(&self) -> BoxFuture<'_, Result<()>>;
}

/// The store of a registry.
#[derive(Clone, Debug)]
pub struct RegistryStore {
    /// The store.
    pub store: Arc<dyn SandboxStore>,
    /// Name of the server: one of [`SAVED_PROVIDERS`].
    pub api: Arc<str>,
    /// Tenant of the registry.
    pub tenant: Arc<str>,
    loads: Arc<[tokio::sync::Mutex<()>]>,
}

impl RegistryStore {
    /// Creates the store of a registry.
    pub fn new(store: Arc<dyn SandboxStore>, api: &str, tenant: &str) -> Self {
        let loads = (0..LOADS).map(|_| tokio::sync::Mutex::new(())).collect();
        Self { store, api: api.into(), tenant: tenant.into(), loads }
    }

    /// Returns the lock of a sandbox that is being restored. Others share it.
    fn load_lock(&self, id: &str) -> Option<&tokio::sync::Mutex<()>> {
        let hash = id.bytes().fold(0_usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(usize::from(byte)));
        self.loads.get(hash.checked_rem(self.loads.len())?)
    }

    fn is_here(&self, id: &str) -> bool {
        matches!(self.store.locate(&self.api, id), SandboxLocation::Here(_))
    }
}

/// The user of a server's image. Those of all [`SAVED_PROVIDERS`] are known.
fn image_user(api: &str) -> Option<ImageUser> {
    match api {
        "daytona" => Some(crate::daytona::USER),
        "e2b" => Some(crate::e2b::USER),
        _ => None,
    }
}

/// Returns whether a text has the form of the ids of a server.
pub(crate) fn is_id(api: &str, text: &str) -> bool {
    let is_letter = |byte: u8| matches!(byte, b'a'..=b'z' | b'2'..=b'7');
    match api {
        "e2b" => text.len() == 20 && text.starts_with('i') && text.bytes().all(is_letter),
        "rest" => text.strip_prefix("sb-").is_some_and(|rest| rest.len() == 32 && rest.bytes().all(is_letter)),
        "daytona" => {
            let is_part = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-');
            text.len() == 36 && text.bytes().all(is_part) && text.bytes().filter(|byte| *byte == b'-').count() == 4
        }
        _ => false,
    }
}

fn nanos(at: SystemTime) -> u64 {
    u64::try_from(at.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
}

/// Returns a past time, in nanoseconds since the Unix epoch, by the monotonic clock.
fn instant(past: u64) -> Instant {
    let (now, wall) = (Instant::now(), nanos(SystemTime::now()));
    now.checked_sub(Duration::from_nanos(wall.saturating_sub(past))).unwrap_or(now)
}

impl SavedRecord {
    fn is_expired(&self) -> bool {
        self.expires.is_some_and(|end| end <= nanos(SystemTime::now()))
    }

    fn expires_at(&self) -> Option<Instant> {
        let left = self.expires?.saturating_sub(nanos(SystemTime::now()));
        Instant::now().checked_add(Duration::from_nanos(left))
    }
}

impl SandboxRecord {
    /// Gives the data of this record to the next save.
    pub(crate) fn note_for_store(&self) {
        let Some(saved) = &self.saved else { return };
        let noted = saved.record().and_then(|record| {
            saved.note(&SavedRecord {
                labels: self.labels.clone(),
                token: self.token.clone(),
                expires: self.expires_at.map(|end| nanos(wall_clock(end))),
                paused: self.paused,
                metadata: self.metadata.clone(),
                ..record
            })
        });
        if let Err(error) = noted {
            fail(error);
        }
    }

    /// A record without a sandbox in memory, for lists.
    fn listed(record: SavedRecord, sandbox: Arc<dyn SandboxBackend>) -> Self {
        Self {
            sandbox,
            created_at: instant(record.created),
            expires_at: record.expires_at(),
            labels: record.labels,
            token: record.token,
            paused: record.paused,
            metadata: record.metadata,
            ports: None,
            traffic: Traffic::default(),
            last_used: None,
            saved: None,
        }
    }
}

impl SandboxRegistry {
    /// Returns whether its sandboxes are saved.
    pub(crate) fn has_store(&self) -> bool {
        self.store.is_some()
    }

    /// Returns the store of its sandboxes, if they are saved.
    pub(crate) fn sandbox_store(&self) -> Option<Arc<dyn SandboxStore>> {
        self.store.as_ref().map(|store| Arc::clone(&store.store))
    }

    fn serves(&self, id: &str) -> bool {
        self.store.as_ref().is_none_or(|store| store.is_here(id))
    }

    /// Draws an id of a sandbox for which this node serves.
    ///
    /// # Errors
    /// Those of `draw`; [`ErrorKind::Unavailable`] if the node serves nearly none.
    pub fn draw_id(&self, draw: impl Fn() -> Result<String>) -> Result<String> {
        let Some(store) = &self.store else { return draw() };
        for _ in 0..DRAWS {
            let id = draw()?;
            if store.is_here(&id) {
                return Ok(id);
            }
        }
        let message = "this node has no share of the sandboxes at the moment; try again";
        fail(unavailable("create sandbox", message));
        Err(unavailable("create sandbox", message))
    }

    /// Returns the location in the store for a new sandbox.
    pub(crate) fn origin_of_new(
        &self,
        id: &str,
        labels: &BTreeMap<String, String>,
        token: &str,
        new: &NewSandbox,
    ) -> Option<SavedOrigin> {
        let store = self.store.as_ref()?;
        let record = SavedRecord {
            tenant: store.tenant.to_string(),
            labels: labels.clone(),
            token: token.to_owned(),
            created: nanos(SystemTime::now()),
            env: new.env.clone(),
            memory_bytes: new.memory_bytes,
            ..SavedRecord::default()
        };
        Some(SavedOrigin { api: store.api.to_string(), id: id.to_owned(), record, is_new: true })
    }

    /// Saves a sandbox before the response of the current request, or now otherwise.
    pub(crate) async fn save_with_response(&self, id: &str) -> Result<()> {
        if touch(self, id) { Ok(()) } else { self.save(id).await }
    }

    /// Saves a sandbox. Succeeds if it is not in memory.
    async fn save(&self, id: &str) -> Result<()> {
        let saved = self.lock().get(id).and_then(|record| record.saved.clone());
        match saved {
            Some(saved) => saved.save().await,
            None => Ok(()),
        }
    }

    /// Finds a sandbox in memory or restores it.
    pub(crate) async fn find_saved(&self, id: &str) -> Option<SandboxRecord> {
        note_use(self, id);
        match self.load(id).await {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::SandboxNotFound => None,
            Err(error) => {
                fail(error);
                None
            }
        }
    }

    async fn loaded(&self, id: &str) -> Option<SandboxRecord> {
        let record = self.lock().get(id).cloned()?;
        if record.saved.as_ref().is_some_and(|saved| saved.has_ended()) {
            // Another program has had it.
            self.close_loaded(id).await;
            return None;
        }
        Some(record)
    }

    async fn load(&self, id: &str) -> Result<Option<SandboxRecord>> {
        let Some(store) = &self.store else { return Ok(None) };
        // Temporary sandboxes belong to the node that runs them.
        if let Some(record) = self.lock().get(id).filter(|record| record.saved.is_none()) {
            return Ok(Some(record.clone()));
        }
        let SandboxLocation::Here(_guard) = store.store.locate(&store.api, id) else {
            return Err(unavailable("find sandbox", "this node does not serve the sandbox at the moment; try again"));
        };
        if let Some(record) = self.loaded(id).await {
            return Ok(Some(record));
        }
        let _loading = match store.load_lock(id) {
            Some(lock) => Some(lock.lock().await),
            None => None,
        };
        // Another request may have restored it .
        if let Some(record) = self.loaded(id).await {
            return Ok(Some(record));
        }
        let Some(record) = store.store.find(&store.api, id).await? else { return Ok(None) };
        if record.tenant != *store.tenant {
            return Ok(None);
        }
        if record.is_expired() {
            store.store.delete(&store.api, id).await?;
            return Ok(None);
        }
        self.restore(store, id, record).await.map(Some)
    }

    async fn restore(&self, store: &RegistryStore, id: &str, record: SavedRecord) -> Result<SandboxRecord> {
        let new = NewSandbox {
            env: record.env.clone(),
            user: image_user(&store.api),
            memory_bytes: record.memory_bytes,
            saved: Some(SavedOrigin { api: store.api.to_string(), id: id.to_owned(), record, is_new: false }),
            ..NewSandbox::default()
        };
        let made = self.make(new).await?;
        let Some(saved) = made.saved else {
            return Err(Error::new(
                ErrorKind::Unsupported,
                "restore sandbox",
                "the sandboxes of this program are not saved",
            ));
        };
        let mut restored = SandboxRecord::listed(saved.record()?, made.sandbox);
        (restored.ports, restored.saved) = (made.ports, Some(saved));
        self.insert(id, restored.clone(), Snapshots { take: made.snapshot, restore: made.restore });
        Ok(restored)
    }

    /// Adds the sandboxes that are only in the store, or at another node, to those in memory.
    pub(crate) async fn list_saved(
        &self,
        labels: &BTreeMap<String, String>,
        loaded: Vec<(String, SandboxRecord)>,
    ) -> Vec<(String, SandboxRecord)> {
        let Some(store) = &self.store else { return loaded };
        let listed = match store.store.list(&store.api).await {
            Ok(listed) => listed,
            Err(error) => {
                fail(error);
                return loaded;
            }
        };
        let mut all: BTreeMap<String, SandboxRecord> = BTreeMap::new();
        for ListedSandbox { id, record, last_used } in listed {
            let has_labels = labels.iter().all(|(name, value)| record.labels.get(name) == Some(value));
            let Ok(sandbox) = SandboxId::parse(id.as_str()) else { continue };
            if record.tenant == *store.tenant && has_labels && !record.is_expired() {
                let mut listed = SandboxRecord::listed(record, from_layer(AbsentSandbox(sandbox)));
                listed.last_used = Some(instant(last_used));
                all.insert(id, listed);
            }
        }
        // The record of a sandbox of another node is newer in the store.
        all.extend(loaded.into_iter().filter(|(id, record)| record.saved.is_none() || store.is_here(id)));
        all.into_iter().collect()
    }

    /// Removes a sandbox from the store. Returns whether it was stored without being in memory.
    pub(crate) async fn delete_saved(&self, id: &str) -> Result<bool> {
        let Some(store) = &self.store else { return Ok(false) };
        let loaded = self.lock().get(id).map(|record| record.saved.clone());
        match loaded {
            Some(None) => Ok(false),
            // The record of a node without a lease may be old, for example its end time.
            Some(Some(saved)) if !saved.has_ended() && store.is_here(id) => saved.delete().await.map(|()| false),
            _ if !store.is_here(id) => Err(unavailable("delete sandbox", "another node serves the sandbox; try again")),
            _ => match store.store.find(&store.api, id).await? {
                Some(record) if record.tenant == *store.tenant => {
                    store.store.delete(&store.api, id).await?;
                    Ok(!record.is_expired())
                }
                _ => Ok(false),
            },
        }
    }

    /// Removes a listed sandbox if it is not in memory and has expired, or was not used for the time `idle`.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn delete_if_expired(&self, listed: &ListedSandbox, idle: Option<Duration>) -> Result<()> {
        let ListedSandbox { id, record, last_used } = listed;
        let unused = Duration::from_nanos(nanos(SystemTime::now()).saturating_sub(*last_used));
        let is_over = record.is_expired() || (!record.paused && idle.is_some_and(|idle| unused > idle));
        let (Some(store), true) = (&self.store, is_over && record.tenant == *self.tenant()) else { return Ok(()) };
        let SandboxLocation::Here(_guard) = store.store.locate(&store.api, id) else { return Ok(()) };
        let _loading = match store.load_lock(id) {
            Some(lock) => Some(lock.lock().await),
            None => None,
        };
        // A request may have restored it since the list, and another one have closed it with a later end time.
        let current = store.store.find(&store.api, id).await?;
        if !self.contains(id) && current.as_ref() == Some(record) {
            store.store.delete(&store.api, id).await?;
        }
        Ok(())
    }

    fn tenant(&self) -> &str {
        self.store.as_ref().map_or("", |store| &store.tenant)
    }

    /// Saves and closes the sandboxes in memory that this node no longer serves, or soon will not. Those that could not be
    /// saved are closed as well: the node does not serve them any more.
    pub async fn release(&self, is_released: &(dyn Fn(&str) -> bool + Send + Sync)) {
        let is_saved = |id: &str| self.lock().get(id).is_some_and(|record| record.saved.is_some());
        for id in self.loaded_ids() {
            if is_released(&id) && is_saved(&id) {
                self.close_loaded(&id).await;
            }
        }
    }
}

/// A sandbox of a list that is not in memory. A request that names it restores it, or is sent to its node.
#[derive(Debug)]
struct AbsentSandbox(SandboxId);

impl Layer for AbsentSandbox {
    fn id(&self) -> &SandboxId {
        &self.0
    }

    fn call<'a>(&'a self, call: Call, _: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<CallResponse>> {
        let error = unavailable(call.method(), "the sandbox is not in memory; use it by its id");
        Box::pin(std::future::ready(Err(error)))
    }
}

pub(crate) fn unavailable(operation: &'static str, message: &str) -> Error {
    Error::new(ErrorKind::Unavailable, operation, message)
}

/// Changes by the current request.
#[derive(Debug, Default)]
struct RequestChanges {
    touched: Vec<(SandboxRegistry, String)>,
    used: Vec<(SandboxRegistry, String)>,
    failure: Option<Error>,
}

tokio::task_local! {
    static CHANGES: Arc<Mutex<RequestChanges>>;
}

fn with_changes(work: impl FnOnce(&mut RequestChanges)) -> bool {
    CHANGES.try_with(|changes| work(&mut changes.lock())).is_ok()
}

/// Has the current request save a sandbox before its response. Returns whether there is one.
pub(crate) fn touch(registry: &SandboxRegistry, id: &str) -> bool {
    registry.has_store() && with_changes(|changes| changes.touched.push((registry.clone(), id.to_owned())))
}

fn note_use(registry: &SandboxRegistry, id: &str) {
    with_changes(|changes| changes.used.push((registry.clone(), id.to_owned())));
}

/// Makes the response of the current request an error.
pub(crate) fn fail(error: Error) {
    with_changes(|changes| changes.failure = changes.failure.take().or(Some(error)));
}

/// Saves what a request has changed before its response. If that fails, or the node does not serve a sandbox any more, the
/// response is an error.
pub async fn save_before_response(request: Request, next: Next) -> Response {
    let changes = Arc::new(Mutex::new(RequestChanges::default()));
    let response = CHANGES.scope(Arc::clone(&changes), next.run(request)).await;
    let RequestChanges { touched, used, mut failure } = std::mem::take(&mut *changes.lock());
    for (registry, id) in &touched {
        if let Err(error) = registry.save(id).await {
            failure = failure.or(Some(error));
        }
    }
    for (registry, id) in touched.iter().chain(&used) {
        let saved = registry.lock().get(id).and_then(|record| record.saved.clone());
        let is_lost = |saved: Arc<dyn SavedSandbox>| saved.has_ended() || !registry.serves(id);
        if saved.is_some_and(is_lost) {
            let message = "another node serves the sandbox; the request may have run";
            failure = failure.or_else(|| Some(unavailable("serve", message)));
        }
    }
    match failure {
        Some(error) => unavailable_response(&error),
        None => response,
    }
}

/// Response of a request that can be sent again.
pub(crate) fn unavailable_response(error: &Error) -> Response {
    let status = match error.kind() {
        ErrorKind::QuotaExceeded => StatusCode::TOO_MANY_REQUESTS,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    let body = json!({
        "code": status.as_u16(),
        "message": error.to_string(),
        "error": { "kind": error.kind().as_str(), "message": error.to_string() },
    });
    let mut response = (status, axum::Json(body)).into_response();
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

/// Restores the sandboxes that a request names, so that its route finds them in memory, and runs it with [`save_before_response`].
pub(crate) async fn route(
    State((registry, api)): State<(SandboxRegistry, Arc<str>)>,
    request: Request,
    next: Next,
) -> Response {
    let ids = crate::tenants::sandbox_ids(&request);
    let changes = Arc::new(Mutex::new(RequestChanges::default()));
    let restored = async {
        for id in ids.iter().filter(|id| is_id(&api, id)) {
            registry.find(id).await;
        }
    };
    CHANGES.scope(Arc::clone(&changes), restored).await;
    let failure = changes.lock().failure.take();
    match failure {
        Some(error) => {
            crate::form::discard(request.into_body()).await;
            unavailable_response(&error)
        }
        None => save_before_response(request, next).await,
    }
}
