//! Directory in a key-value bucket of NATS JetStream.
//!
//! The bucket has one key with the table of shards and the signs of life of all nodes, in JSON. Every operation, a read as well,
//! writes it and requires that the revision it has read is still the newest. Servers of a cluster may return old values: such an
//! operation fails and is repeated. A write that succeeded took effect on the newest value, and a later one cannot take effect any
//! more once another has succeeded. Neither the times of keys nor the order of reads count.

mod document;
mod url;

use std::fmt;
use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::Context;
use async_nats::jetstream::kv::{Config, Store, UpdateErrorKind};
use async_nats::jetstream::stream::{LastRawMessageErrorKind, StorageType};
use tidebox_core::{BoxFuture, Error, ErrorKind, Result};
use tokio::sync::OnceCell;
use tokio::time::Instant;

use self::document::Document;
use self::url::NatsUrl;
use crate::fleet::directory::{Beat, Directory, DirectoryView, ShardTable};
use crate::fleet::run::random_name;

/// The key of the directory.
const KEY: &str = "directory";

/// Time for one request, and for a connection to one server. A server that takes longer is replaced by another one.
const REQUEST_TIME: Duration = Duration::from_secs(1);

/// Time for an operation with its repetitions. It is short, so that callers learn the reason of a failure.
const OPERATION_TIME: Duration = Duration::from_secs(2);

/// Pause after a failed request. After a write of another node the operation is repeated immediately.
const PAUSE: Duration = Duration::from_millis(100);

/// Maximum pause between two attempts to connect.
const MAX_RECONNECT_PAUSE: Duration = Duration::from_secs(1);

/// Time between two checks of an idle connection.
const PING_INTERVAL: Duration = Duration::from_secs(5);

/// Copies of the bucket on the servers of a cluster.
const CLUSTER_REPLICAS: usize = 3;

/// A directory in a bucket of NATS JetStream. It needs a Tokio runtime, and connects when it is first used.
///
/// A sign of life costs two requests, as do a view and a table. Each writes about 400 bytes for each node, and the bucket holds
/// some thousand nodes, because NATS limits a value to 1 MiB by default.
pub struct NatsDirectory {
    url: NatsUrl,
    connection: OnceCell<Connection>,
}

/// A client, which connects again after each failure, and its bucket.
struct Connection {
    client: Client,
    bucket: Store,
}

/// Result of a change of a document.
enum Edit<T> {
    /// The document must be written.
    Write(T),
    /// The result is known without writing it.
    Keep(T),
}

impl fmt::Debug for NatsDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsDirectory").field("url", &self.url).finish_non_exhaustive()
    }
}

impl NatsDirectory {
    /// Opens a bucket by its URL: `nats://host:port,host:port/BUCKET`, or `tls://` for TLS only. The port is 4222 by default.
    ///
    /// A bucket that does not exist is created, in files, with three replicas if the server belongs to a cluster and with one
    /// otherwise; `?replicas=N` selects another number. An existing bucket is used as it is.
    ///
    /// The URL may contain credentials, as in `nats://user:password@host/BUCKET` or `nats://token@host/BUCKET`. Otherwise they are
    /// those of the environment: `NATS_TOKEN`, or `NATS_USER` and `NATS_PASSWORD`. `NATS_CA` is a file with further root
    /// certificates in PEM, and `NATS_CERT` and `NATS_KEY` are files with the certificate of the client and its key.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] for another URL, or for incomplete settings of the environment.
    pub fn from_url(url: &str) -> Result<Self> {
        Self::from_url_with(url, |name| std::env::var(name).ok())
    }

    /// As [`from_url`](Self::from_url), with settings by a function instead of the environment.
    ///
    /// # Errors
    /// As [`from_url`](Self::from_url).
    pub fn from_url_with(url: &str, setting: impl Fn(&str) -> Option<String>) -> Result<Self> {
        Ok(Self { url: NatsUrl::parse(url, setting)?, connection: OnceCell::new() })
    }

    async fn connect(&self) -> Result<Connection> {
        let options = self.url.options();
        let options = options.connection_timeout(REQUEST_TIME).request_timeout(Some(REQUEST_TIME));
        let options = options.ping_interval(PING_INTERVAL).name("tidebox").reconnect_delay_callback(|attempts| {
            let doublings = u32::try_from(attempts).unwrap_or(u32::MAX).min(6);
            (Duration::from_millis(20) * 2_u32.pow(doublings)).min(MAX_RECONNECT_PAUSE)
        });
        let client = options.connect(self.url.servers()).await.map_err(|error| self.failed("connect", error))?;
        let is_cluster = client.server_info().cluster.is_some_and(|name| !name.is_empty());
        let replicas = self.url.replicas().unwrap_or(if is_cluster { CLUSTER_REPLICAS } else { 1 });
        let mut context: Context = async_nats::jetstream::new(client.clone());
        context.set_timeout(REQUEST_TIME);
        if let Ok(bucket) = context.get_key_value(self.url.bucket()).await {
            return Ok(Connection { client, bucket });
        }
        let config = Config {
            bucket: self.url.bucket().to_owned(),
            description: "nodes of Tidebox".to_owned(),
            history: 1,
            storage: StorageType::File,
            num_replicas: replicas,
            ..Config::default()
        };
        // Another node may create it at the same time, with the same settings.
        let created = context.create_key_value(config).await;
        created.map(|bucket| Connection { client, bucket }).map_err(|error| self.failed("open the bucket", error))
    }

    /// Reads the document with its revision, which may be old.
    async fn read(&self, bucket: &Store) -> Result<(Document, u64)> {
        let subject = format!("{}{KEY}", bucket.prefix);
        match bucket.stream.get_last_raw_message_by_subject(&subject).await {
            Ok(message) => Ok((Document::decode(&message.payload, &self.url)?, message.sequence)),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok((Document::default(), 0)),
            Err(error) => Err(self.failed("read the directory", error)),
        }
    }

    /// Changes the document. `change` is called for each value that was read, with true if an earlier call had a write whose outcome
    /// is unknown.
    async fn edit<T>(&self, mut change: impl FnMut(&mut Document, bool) -> Result<Edit<T>>) -> Result<T> {
        let (end, mut has_tried) = (Instant::now() + OPERATION_TIME, false);
        loop {
            let start = Instant::now();
            match self.attempt(&mut change, &mut has_tried).await {
                Ok(Some(value)) => return Ok(value),
                Ok(None) if Instant::now() < end => {}
                Ok(None) => return Err(self.failed("write the directory", "other nodes write it too often")),
                Err(error) if error.kind() == ErrorKind::Storage || Instant::now() >= end => return Err(error),
                Err(_) => {
                    if start.elapsed() >= REQUEST_TIME {
                        self.change_server().await;
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    /// `None`: another node has written since the read.
    async fn attempt<T>(
        &self,
        change: &mut impl FnMut(&mut Document, bool) -> Result<Edit<T>>,
        has_tried: &mut bool,
    ) -> Result<Option<T>> {
        let bucket = &self.connection.get_or_try_init(|| self.connect()).await?.bucket;
        let (mut document, revision) = self.read(bucket).await?;
        let value = match change(&mut document, *has_tried)? {
            Edit::Keep(value) => return Ok(Some(value)),
            Edit::Write(value) => value,
        };
        // Also after a rejection: the client can send a message twice, and the second one is rejected because of the first.
        *has_tried = true;
        match bucket.update(KEY, document.encode().into(), revision).await {
            Ok(_) => Ok(Some(value)),
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(None),
            Err(error) => Err(self.failed("write the directory", error)),
        }
    }

    /// Connects to another server, because the current one may not respond any more.
    async fn change_server(&self) {
        if let Some(connection) = self.connection.get() {
            // The connection is made in the background. Until then requests wait.
            let _ = connection.client.force_reconnect().await;
        }
    }

    /// An error of the servers, after which the operation is repeated.
    fn failed(&self, verb: &str, why: impl fmt::Display) -> Error {
        let message = format!("cannot {verb} at {}: {why}; check that its servers run with JetStream", self.url);
        Error::new(ErrorKind::Unavailable, "use directory", message)
    }

    async fn propose_of(&self, table: &ShardTable) -> Result<bool> {
        let writer = random_name()?;
        self.edit(|document, has_tried| {
            let number = document.table_number();
            if number.checked_add(1) == Some(table.number) {
                document.set_table(table, &writer);
                return Ok(Edit::Write(true));
            }
            if number == table.number {
                return Ok(Edit::Keep(document.is_written_by(&writer)));
            }
            if number > table.number {
                return match has_tried {
                    false => Ok(Edit::Keep(false)),
                    true => Err(Error::new(ErrorKind::Storage, "use directory", "the outcome of a claim is unknown")),
                };
            }
            // An old value, whose write fails, unless the directory has lost its content.
            Ok(Edit::Write(false))
        })
        .await
    }
}

impl Directory for NatsDirectory {
    fn beat<'a>(&'a self, beat: &'a Beat) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.edit(move |document, _| {
            document.set_beat(beat);
            Ok(Edit::Write(()))
        }))
    }

    fn view(&self) -> BoxFuture<'_, Result<DirectoryView>> {
        // Written without a change: if that succeeds, the value was the newest.
        Box::pin(self.edit(|document, _| document.view(&self.url).map(Edit::Write)))
    }

    fn propose<'a>(&'a self, table: &'a ShardTable) -> BoxFuture<'a, Result<bool>> {
        Box::pin(self.propose_of(table))
    }

    fn forget<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.edit(move |document, _| {
            document.forget(node);
            Ok(Edit::Write(()))
        }))
    }
}
