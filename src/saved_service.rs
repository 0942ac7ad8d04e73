//! Sandboxes of a service in a log.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::de::Error as _;
use tidebox_core::layer::{Call, Layer, Response, from_layer};
use tidebox_core::{BoxFuture, Error, ErrorKind, OutputSink, Result, SandboxId};
use tidebox_emulators::{
    ListedSandbox, MadeSandbox, NewSandbox, SandboxLocation, SandboxStore, SavedOrigin, SavedRecord, SavedSandbox,
};
use tidebox_vfs_backend::{Durability, SandboxBuilder, SavedBackend, SnapshotStore as _};

use crate::emulate::{configure, make_unsaved, parts, prepare};
use crate::fleet::membership::{Membership, ShardLocation};
use crate::fleet::shard_of;
use crate::stores::{ChainStore, SaveLog};
use crate::system::HostClock;

/// Label of the generations with the record of the sandbox.
const RECORD: &str = "record";

/// The sandboxes of a [`tidebox_service::Service`] in a [`SaveLog`].
///
/// The response of a request is sent after its changes have the [durability](Self::durability) of the log. A restarted service
/// finds the sandboxes under the same ids. If two services use one log at a time, the one that restores a sandbox takes it over, and
/// the next save of the other fails.
///
/// The log contains the credentials of the sandboxes' data planes: only the services may read it.
#[derive(Clone)]
pub struct SavedSandboxes {
    chains: Arc<ChainStore>,
    log: Arc<dyn SaveLog>,
    /// The part of this node, if there are several. Empty until it has joined.
    membership: Option<Arc<OnceLock<Arc<Membership>>>>,
}

impl fmt::Debug for SavedSandboxes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SavedSandboxes").field("log", &self.log).finish_non_exhaustive()
    }
}

impl SavedSandboxes {
    /// Creates a store over a log.
    ///
    /// # Errors
    /// Those of [`ChainStore::new`].
    pub fn new(log: Arc<dyn SaveLog>) -> Result<Self> {
        Ok(Self { chains: Arc::new(ChainStore::new(Arc::clone(&log))?), log, membership: None })
    }

    /// Creates a store of one of several nodes, which serves no sandbox until it has [joined](crate::fleet::Fleet::join).
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn in_fleet(log: Arc<dyn SaveLog>) -> Result<Self> {
        Ok(Self { membership: Some(Arc::default()), ..Self::new(log)? })
    }

    /// Sets the part of this node. False if it was set before, or the store is not one of several nodes.
    pub(crate) fn set_membership(&self, membership: Arc<Membership>) -> bool {
        self.membership.as_ref().is_some_and(|place| place.set(membership).is_ok())
    }

    /// Fails if another node may serve a sandbox.
    fn check_lease(&self, id: &str, operation: &'static str) -> Result<()> {
        let Some(membership) = &self.membership else { return Ok(()) };
        if membership.get().is_some_and(|membership| membership.serves(shard_of(id))) {
            return Ok(());
        }
        let message = "this node does not serve the sandbox any more; the call may have run";
        Err(Error::new(ErrorKind::Unavailable, operation, message).with_context("sandbox", id))
    }

    /// Returns what the changes of a request survive after its response.
    pub fn durability(&self) -> Durability {
        self.log.durability()
    }

    /// Returns the function that creates the sandboxes of a [`tidebox_service::Service::with_store`]. `make` creates the builder of
    /// each one; its argument has the hosts that its commands may read from.
    pub fn make_sandboxes(
        &self,
        make: impl Fn(&[String]) -> Result<SandboxBuilder> + Send + Sync + 'static,
    ) -> tidebox_service::MakeSandbox {
        let store = self.clone();
        Arc::new(move |spec| {
            let (store, builder) = (store.clone(), make(&spec.egress));
            Box::pin(async move { store.make(builder?, spec.new).await })
        })
    }

    async fn make(&self, builder: SandboxBuilder, mut new: NewSandbox) -> Result<MadeSandbox> {
        let Some(SavedOrigin { api, id, record, is_new }) = new.saved.take() else { return make_unsaved(builder, new) };
        let (key, user) = (key(&api, &id)?, new.user);
        let builder = configure(builder, new).id(key.clone());
        let (store, clock) = (Arc::clone(&self.chains) as _, Box::new(HostClock::new()));
        let prepared = |backend: &_| prepare(backend, user);
        let saved = if is_new {
            SavedBackend::create(builder, store, clock, labels(&record)?, prepared)?
        } else {
            SavedBackend::restore(builder, store, clock, &key, prepared).await?.ok_or_else(|| missing(&id))?
        };
        let saved = Arc::new(saved);
        let made = parts(saved.sandbox())?;
        let saved = SavedHere { saved, store: self.clone(), id };
        Ok(MadeSandbox { sandbox: from_layer(saved.clone()), saved: Some(Arc::new(saved)), ..made })
    }
}

/// Returns the id of a sandbox in the log. No name of a server has a `-`.
fn key(api: &str, id: &str) -> Result<SandboxId> {
    SandboxId::parse(format!("{api}-{id}"))
}

fn missing(id: &str) -> Error {
    Error::new(ErrorKind::SandboxNotFound, "restore sandbox", "the sandbox was deleted").with_context("sandbox", id)
}

fn labels(record: &SavedRecord) -> Result<BTreeMap<String, String>> {
    let json = serde_json::to_string(record).map_err(|error| corrupt("cannot encode", &error))?;
    Ok(BTreeMap::from([(RECORD.to_owned(), json)]))
}

fn record(labels: &BTreeMap<String, String>) -> Result<SavedRecord> {
    let json = labels.get(RECORD).ok_or_else(|| serde_json::Error::custom("it is missing"));
    json.and_then(|json| serde_json::from_str(json)).map_err(|error| corrupt("cannot read", &error))
}

fn corrupt(verb: &str, error: &serde_json::Error) -> Error {
    let message =
        format!("{verb} the record of a saved sandbox: {error}; it was written by another version or program");
    Error::new(ErrorKind::Storage, "use saved sandbox", message)
}

/// A sandbox in memory.
#[derive(Clone, Debug)]
struct SavedHere {
    saved: Arc<SavedBackend>,
    store: SavedSandboxes,
    /// Id without the server.
    id: String,
}

impl Layer for SavedHere {
    fn id(&self) -> &SandboxId {
        self.saved.id()
    }

    fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Response>> {
        Box::pin(async move {
            if matches!(call, Call::Close) {
                return self.saved.call(call, sink).await;
            }
            let operation = call.method();
            self.store.check_lease(&self.id, operation)?;
            let response = self.saved.call(call, sink).await?;
            // The node may have been stopped since: what is in its memory may be old.
            self.store.check_lease(&self.id, operation)?;
            Ok(response)
        })
    }
}

impl SavedSandbox for SavedHere {
    fn record(&self) -> Result<SavedRecord> {
        record(&self.saved.labels())
    }

    fn note(&self, record: &SavedRecord) -> Result<()> {
        self.saved.set_labels(labels(record)?);
        Ok(())
    }

    fn save(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.saved.save())
    }

    fn has_ended(&self) -> bool {
        self.saved.is_closed()
    }

    fn delete(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.saved.delete())
    }
}

impl SandboxStore for SavedSandboxes {
    fn locate(&self, api: &str, id: &str) -> SandboxLocation {
        let Some(membership) = &self.membership else { return SandboxLocation::Here(Box::new(())) };
        match membership.get().map(|membership| membership.locate(shard_of(id))) {
            Some(ShardLocation::Here(running)) => SandboxLocation::Here(running.into_guard()),
            Some(ShardLocation::Elsewhere(node)) => node
                .addresses
                .get(api)
                .map_or(SandboxLocation::Nowhere, |address| SandboxLocation::Elsewhere(address.clone())),
            Some(ShardLocation::Nowhere) | None => SandboxLocation::Nowhere,
        }
    }

    fn has_nodes(&self) -> bool {
        self.membership.is_some()
    }

    fn is_ready(&self) -> bool {
        let Some(membership) = &self.membership else { return true };
        membership.get().is_some_and(|membership| membership.served_shards() > 0)
    }

    fn find<'a>(&'a self, api: &'a str, id: &'a str) -> BoxFuture<'a, Result<Option<SavedRecord>>> {
        Box::pin(async move {
            let saved = self.chains.find(&key(api, id)?).await?;
            saved.map(|saved| record(&saved.labels)).transpose()
        })
    }

    fn list<'a>(&'a self, api: &'a str) -> BoxFuture<'a, Result<Vec<ListedSandbox>>> {
        Box::pin(async move {
            let prefix = format!("{api}-");
            let (mut found, mut cursor) = (Vec::new(), None::<String>);
            loop {
                let page = self.log.list(&prefix, cursor.as_deref()).await?;
                for saved in page.sandboxes {
                    let Some(id) = saved.id.as_str().strip_prefix(&prefix) else { continue };
                    let record = record(&saved.labels)?;
                    found.push(ListedSandbox { id: id.to_owned(), record, last_used: saved.last_used });
                }
                cursor = page.cursor;
                if cursor.is_none() {
                    return Ok(found);
                }
            }
        })
    }

    fn delete<'a>(&'a self, api: &'a str, id: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.chains.delete(&key(api, id)?).await })
    }

    fn collect_garbage(&self) -> BoxFuture<'_, Result<()>> {
        self.chains.collect_garbage()
    }
}
