//! One WebSocket: JSON-RPC calls with their responses, and stream chunks.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_channel::{mpsc, oneshot};
use futures_util::future::{AbortHandle, Abortable};
use futures_util::lock::Mutex as AsyncMutex;
use serde_json::Value;
use tidebox_core::lock::Mutex;
use tidebox_core::{Error, ErrorKind, Result};

use super::wire::{self, Incoming, RpcError};
use crate::transport::socket::{Message, Receiver, Sender, Socket};
use crate::transport::{sleep, spawn, timeout};

/// Keep-alive interval, as in the official client.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(2);

/// Timeout of calls that do not wait for a command.
const CALL_TIME: Duration = Duration::from_secs(60);

/// Maximum output buffered before its stream is known: output may arrive before the response to `spawn`.
const UNCLAIMED_BYTES: usize = 16 << 20;

/// Maximum payload of one message of an upload stream.
const CHUNK_BYTES: usize = 64 << 10;

/// Response to a call.
pub(super) type CallResult = std::result::Result<Value, RpcError>;

/// A chunk of a stream; `None` at its end.
pub(super) type StreamChunk = (u64, Option<Vec<u8>>);

/// A connection, open or closed.
pub(super) struct Connection {
    sender: AsyncMutex<Box<dyn Sender>>,
    shared: Arc<Mutex<Shared>>,
    listening: AbortHandle,
}

#[derive(Default)]
struct Shared {
    next: u64,
    /// Number of the last upload stream.
    last_stream: u64,
    waiting: BTreeMap<u64, oneshot::Sender<CallResult>>,
    claimed: BTreeMap<u64, mpsc::UnboundedSender<StreamChunk>>,
    unrouted: Vec<StreamChunk>,
    unclaimed_bytes: usize,
    /// Streams without a subscriber that have not ended.
    unsubscribed: BTreeSet<u64>,
    closed: bool,
    /// Close code and message sent by the service.
    why: Option<(u16, String)>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("open", &self.is_open()).finish_non_exhaustive()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl Connection {
    pub(super) fn new(socket: Socket) -> Arc<Self> {
        let shared = Arc::<Mutex<Shared>>::default();
        let (listening, registration) = AbortHandle::new_pair();
        let heard = Arc::clone(&shared);
        let receiver = socket.receiver;
        spawn(async move {
            // Ends with the connection or with its last user.
            let _ = Abortable::new(receive_loop(receiver, &heard), registration).await;
            let mut shared = heard.lock();
            shared.closed = true;
            // Dropping the senders notifies all waiters of the disconnect.
            shared.waiting.clear();
            shared.claimed.clear();
        });
        let connection = Arc::new(Self { sender: AsyncMutex::new(socket.sender), shared, listening });
        let alive = Arc::downgrade(&connection);
        spawn(async move { keep_alive(&alive).await });
        connection
    }

    pub(super) fn is_open(&self) -> bool {
        !self.shared.lock().closed
    }

    /// Calls a method and waits for the response without a timeout.
    pub(super) async fn call(&self, operation: &'static str, method: &str, params: &Value) -> Result<CallResult> {
        let called = self.begin(operation, method, params).await?;
        called.answered.await.map_err(|_| self.shared.lock().connection_error(operation))
    }

    async fn begin(&self, operation: &'static str, method: &str, params: &Value) -> Result<PendingCall<'_>> {
        let (response, answered) = oneshot::channel();
        let id = {
            let mut shared = self.shared.lock();
            if shared.closed {
                return Err(shared.connection_error(operation));
            }
            let id = shared.next;
            shared.next += 1;
            shared.waiting.insert(id, response);
            id
        };
        let _forget = CallGuard { shared: &self.shared, id };
        self.send(wire::call(id, method, params).to_string()).await?;
        Ok(PendingCall { answered, _forget })
    }

    async fn send(&self, text: String) -> Result<()> {
        self.sender.lock().await.send(text).await
    }

    /// Calls a method and uploads content on a stream concurrently, without an acknowledgement per chunk; `params`
    /// receives the stream number. Stops sending once the response arrives or the caller drops the future.
    pub(super) async fn call_with_stream(
        self: &Arc<Self>,
        operation: &'static str,
        method: &str,
        params: impl FnOnce(u64) -> Value,
        content: &[u8],
    ) -> Result<CallResult> {
        let stream = {
            let mut shared = self.shared.lock();
            shared.last_stream += 1;
            shared.last_stream
        };
        let late = || Error::new(ErrorKind::Timeout, operation, "the sandbox did not respond in time");
        let in_time = async |text| timeout(CALL_TIME, self.send(text)).await.unwrap_or_else(|| Err(late()));
        in_time(wire::start_stream(stream)).await?;
        let flowing = UploadStream { connection: self, stream: Some(stream) };
        let mut called = self.begin(operation, method, &params(stream)).await?;
        for chunk in content.chunks(CHUNK_BYTES) {
            if let Ok(Some(response)) = called.answered.try_recv() {
                return Ok(response);
            }
            in_time(wire::enqueue(stream, chunk)).await?;
        }
        flowing.ended();
        in_time(wire::end_stream(stream)).await?;
        match timeout(CALL_TIME, called.answered).await {
            Some(answered) => answered.map_err(|_| self.shared.lock().connection_error(operation)),
            None => Err(late()),
        }
    }

    /// Like [`call`](Self::call), with a timeout.
    pub(super) async fn call_with_timeout(
        &self,
        operation: &'static str,
        method: &str,
        params: &Value,
    ) -> Result<CallResult> {
        let late = || Err(Error::new(ErrorKind::Timeout, operation, "the sandbox did not respond in time"));
        timeout(CALL_TIME, self.call(operation, method, params)).await.unwrap_or_else(late)
    }

    /// Subscribes to streams, including chunks that arrived before, in order of arrival.
    pub(super) fn subscribe(&self, streams: &[u64]) -> StreamSubscription<'_> {
        let (sender, chunks) = mpsc::unbounded();
        let mut shared = self.shared.lock();
        let early: Vec<StreamChunk>;
        (early, shared.unrouted) =
            std::mem::take(&mut shared.unrouted).into_iter().partition(|(stream, _)| streams.contains(stream));
        let mut open: BTreeSet<u64> = streams.iter().copied().collect();
        for chunk in early {
            shared.unclaimed_bytes -= chunk.1.as_ref().map_or(0, Vec::len);
            if chunk.1.is_none() {
                open.remove(&chunk.0);
            }
            // The receiver is two lines above.
            let _ = sender.unbounded_send(chunk);
        }
        if !shared.closed {
            shared.claimed.extend(open.into_iter().map(|stream| (stream, sender.clone())));
        }
        StreamSubscription { shared: &self.shared, streams: streams.to_vec(), chunks }
    }
}

/// An upload stream in progress. The service keeps its data until the end, so an abandoned stream is reported as
/// failed.
struct UploadStream<'a> {
    connection: &'a Arc<Connection>,
    stream: Option<u64>,
}

impl UploadStream<'_> {
    fn ended(mut self) {
        self.stream = None;
    }
}

impl Drop for UploadStream<'_> {
    fn drop(&mut self) {
        let Some(stream) = self.stream else { return };
        let connection = Arc::clone(self.connection);
        spawn(async move {
            // A closed connection has no streams.
            let _ = timeout(CALL_TIME, connection.send(wire::fail_stream(stream))).await;
        });
    }
}

/// Subscription to streams.
pub(super) struct StreamSubscription<'a> {
    shared: &'a Mutex<Shared>,
    streams: Vec<u64>,
    /// Chunks of the streams.
    pub(super) chunks: mpsc::UnboundedReceiver<StreamChunk>,
}

impl Drop for StreamSubscription<'_> {
    fn drop(&mut self) {
        let mut shared = self.shared.lock();
        for stream in &self.streams {
            if shared.claimed.remove(stream).is_some() {
                shared.unsubscribed.insert(*stream);
            }
        }
    }
}

/// A call in progress.
struct PendingCall<'a> {
    answered: oneshot::Receiver<CallResult>,
    _forget: CallGuard<'a>,
}

/// Removes an abandoned call on drop.
struct CallGuard<'a> {
    shared: &'a Mutex<Shared>,
    id: u64,
}

impl Drop for CallGuard<'_> {
    fn drop(&mut self) {
        self.shared.lock().waiting.remove(&self.id);
    }
}

async fn keep_alive(alive: &Weak<Connection>) {
    loop {
        sleep(KEEPALIVE_INTERVAL).await;
        let Some(connection) = alive.upgrade().filter(|connection| connection.is_open()) else { return };
        if connection.sender.lock().await.send("ping".to_owned()).await.is_err() {
            return;
        }
    }
}

async fn receive_loop(mut receiver: Box<dyn Receiver>, shared: &Mutex<Shared>) {
    loop {
        let text = match receiver.next().await {
            Ok(Some(Message::Text(text))) => text,
            Ok(Some(Message::Closed(code, reason))) => {
                shared.lock().why = Some((code, reason));
                return;
            }
            // Deno sends no binary messages; after one everything may be wrong.
            Ok(None | Some(Message::Binary(_))) | Err(_) => return,
        };
        // A malformed message closes the connection, as everything after it may be wrong.
        let Ok(incoming) = wire::incoming(&text) else { return };
        let mut shared = shared.lock();
        match incoming {
            Incoming::Answer(id, response) => {
                if let Some(waiting) = shared.waiting.remove(&id) {
                    // The caller may have dropped the receiver.
                    let _ = waiting.send(response);
                }
            }
            Incoming::Piece(stream, chunk) => {
                if !shared.take(stream, chunk) {
                    return;
                }
            }
            Incoming::Other => {}
        }
    }
}

/// Close codes of the service for a message that is invalid JSON or an invalid call.
const INVALID_JSON: u16 = 4000;
const INVALID_CALL: u16 = 4001;

impl Shared {
    /// Error for a closed connection, with the reason if the service sent one.
    fn connection_error(&self, operation: &'static str) -> Error {
        let code = self.why.as_ref().map(|(code, _)| *code);
        let error = if matches!(code, Some(INVALID_JSON | INVALID_CALL)) {
            let message = "Deno could not parse a message and closed the connection; its protocol version may differ";
            Error::new(ErrorKind::Protocol, operation, message)
        } else {
            let message = "the connection to the sandbox was closed; completed changes remain";
            Error::new(ErrorKind::Unavailable, operation, message)
        };
        match &self.why {
            Some((code, reason)) if reason.is_empty() => error.with_context("code", code.to_string()),
            Some((code, reason)) => {
                error.with_context("code", code.to_string()).with_context("reason", reason.as_str())
            }
            None => error,
        }
    }

    /// Returns false if more was received than is buffered for a future subscriber.
    fn take(&mut self, stream: u64, chunk: Option<Vec<u8>>) -> bool {
        let over = chunk.is_none();
        if self.unsubscribed.contains(&stream) {
            if over {
                self.unsubscribed.remove(&stream);
            }
        } else if let Some(claimed) = self.claimed.get(&stream) {
            // The subscriber may have been dropped.
            let _ = claimed.unbounded_send((stream, chunk));
            if over {
                self.claimed.remove(&stream);
            }
        } else {
            self.unclaimed_bytes += chunk.as_ref().map_or(0, Vec::len);
            self.unrouted.push((stream, chunk));
        }
        self.unclaimed_bytes <= UNCLAIMED_BYTES
    }
}
