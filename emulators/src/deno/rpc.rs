//! The socket of a sandbox: calls, responses, and streams in both directions.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

use tidebox_core::lock::Mutex;

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use futures_util::future::{Either, select};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};

use super::handles::Handles;
use super::process::Processes;
use super::{Shared, error};
use crate::fault::SocketFault;
use crate::input::InputQueue;
use crate::registry::SandboxRecord;

/// Close codes for invalid JSON and for invalid JSON-RPC.
const INVALID_JSON: u16 = 4000;
const INVALID_RPC: u16 = 4001;

/// Close code of a socket whose sandbox has ended. The clients treat it as a normal close.
const GOING_AWAY: u16 = 1001;

/// Maximum interval between two checks of a sandbox's end time.
const EXPIRY_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Connection of one client.
#[derive(Debug)]
pub(super) struct RpcConnection {
    pub(super) shared: Shared,
    pub(super) id: String,
    pub(super) sandbox: SandboxRecord,
    out: mpsc::UnboundedSender<String>,
    inbox: Mutex<BTreeMap<u64, UploadBuffer>>,
    next_stream: AtomicU64,
    pub(super) processes: Mutex<Processes>,
    pub(super) handles: Mutex<Handles>,
    /// Calls that a client can abort, by the number that it chose.
    aborts: Mutex<BTreeMap<u64, oneshot::Sender<()>>>,
    /// Send output before the response that names its stream.
    pub(super) early: bool,
    /// Maximum bytes of a message that the client accepts.
    limit: usize,
}

/// An upload stream of the client.
#[derive(Debug, Default)]
struct UploadBuffer {
    bytes: Vec<u8>,
    /// End of the stream, if reached: complete or failed.
    end: Option<End>,
    waiting: Option<oneshot::Sender<CallResult<Vec<u8>>>>,
    /// A process that reads the stream as it arrives.
    reader: Option<InputQueue>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Whole,
    Broken,
}

impl UploadBuffer {
    fn content(self, end: End) -> CallResult<Vec<u8>> {
        match end {
            End::Whole => Ok(self.bytes),
            End::Broken => Err(error("Error", "ECONNRESET", "the stream broke off")),
        }
    }
}

/// Result of a call.
pub(super) type CallResult<T = Value> = Result<T, Value>;

#[derive(Debug, Deserialize)]
struct Call {
    id: Option<Value>,
    method: String,
    #[serde(default)]
    params: Value,
}

/// Serves a client until it disconnects or the sandbox ends.
pub(super) async fn serve(
    shared: &Shared,
    id: &str,
    sandbox: SandboxRecord,
    mut socket: WebSocket,
    mut end: watch::Receiver<bool>,
    (fault, limit): (SocketFault, usize),
) {
    let (out, mut outgoing) = mpsc::unbounded_channel();
    let peer = Arc::new(RpcConnection {
        shared: shared.clone(),
        id: id.to_owned(),
        sandbox,
        out,
        inbox: Mutex::default(),
        next_stream: AtomicU64::new(101),
        processes: Mutex::default(),
        handles: Mutex::default(),
        aborts: Mutex::default(),
        early: fault.early,
        limit,
    });
    let mut left = fault.hang_up_after;
    loop {
        let close = tokio::select! {
            () = ended(&mut end) => Some(stopped()),
            () = wait_until_expired(shared, id) => {
                // Detached, so that a concurrent disconnect cannot leave the sandbox half closed.
                let (shared, id) = (shared.clone(), id.to_owned());
                tokio::spawn(async move { shared.remove(&id).await });
                Some(stopped())
            }
            Some(text) = outgoing.recv() => {
                if left == Some(0) {
                    // Closes without a close message.
                    break;
                }
                left = left.map(|left| left - 1);
                if socket.send(Message::text(text)).await.is_err() {
                    break;
                }
                None
            }
            received = socket.recv() => match received {
                Some(Ok(Message::Text(text))) if text.as_str() == "ping" => {
                    peer.send("pong".to_owned());
                    None
                }
                Some(Ok(Message::Text(text))) => handle_message(&peer, &text),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => None,
                _ => break,
            },
        };
        if let Some(frame) = close {
            // The client may have disconnected.
            let _ = socket.send(Message::Close(Some(frame))).await;
            break;
        }
    }
    peer.disconnected().await;
    // Processes keep running until the sandbox ends; their output is discarded.
}

fn stopped() -> CloseFrame {
    CloseFrame { code: GOING_AWAY, reason: "sandbox stopped".into() }
}

/// Waits until the sandbox's end time, which clients may change in the meantime.
async fn wait_until_expired(shared: &Shared, id: &str) {
    loop {
        let mut left = EXPIRY_CHECK_INTERVAL;
        let look = |sandbox: &mut SandboxRecord| {
            left = sandbox.expires_at.map_or(EXPIRY_CHECK_INTERVAL, |end| {
                end.saturating_duration_since(Instant::now()).min(EXPIRY_CHECK_INTERVAL)
            });
        };
        if !shared.registry.update(id, look) || left.is_zero() {
            return;
        }
        tokio::time::sleep(left).await;
    }
}

/// Waits until the sandbox has ended.
async fn ended(end: &mut watch::Receiver<bool>) {
    // A dropped sender also means the end.
    while !*end.borrow_and_update() && end.changed().await.is_ok() {}
}

/// Handles a message; returns a close frame if it is malformed.
fn handle_message(peer: &Arc<RpcConnection>, text: &str) -> Option<CloseFrame> {
    let closed = |code, reason: &str| Some(CloseFrame { code, reason: reason.to_owned().into() });
    let Ok(message) = serde_json::from_str::<Value>(text) else { return closed(INVALID_JSON, "Invalid JSON") };
    let Ok(call) = serde_json::from_value::<Call>(message) else { return closed(INVALID_RPC, "Invalid message") };
    let Call { id, method, params } = call;
    let Some(id) = id else {
        peer.notified(&method, &params);
        return None;
    };
    let peer = Arc::clone(peer);
    tokio::spawn(async move {
        let calls = Box::pin(peer.call(&method, &params));
        let answered = match params["abortId"].as_u64().filter(|_| method != "abort") {
            None => calls.await,
            Some(id) => {
                let (abort, aborted) = oneshot::channel();
                peer.aborts.lock().insert(id, abort);
                let answered = match select(calls, aborted).await {
                    Either::Left((answered, _)) => answered,
                    Either::Right(_) => Some(Err(error("AbortError", "ABORT_ERR", "The signal has been aborted"))),
                };
                peer.aborts.lock().remove(&id);
                answered
            }
        };
        peer.respond(&id, &method, answered);
    });
    None
}

impl RpcConnection {
    /// Handles a call; `None` if the method is unknown.
    async fn call(self: &Arc<Self>, method: &str, params: &Value) -> Option<CallResult> {
        match method {
            "spawn" => Some(self.spawn(params).await),
            "processWait" => Some(self.process_wait(params).await),
            "processKill" => Some(self.process_kill(params)),
            "envGet" | "envSet" | "envDelete" | "envToObject" => Some(self.environment(method, params)),
            "exposeHttp" => Some(self.shared.expose_http(&self.id, params)),
            "abort" => {
                if let Some(abort) = params["abortId"].as_u64().and_then(|id| self.aborts.lock().remove(&id)) {
                    // The call may have ended in the meantime.
                    let _ = abort.send(());
                }
                Some(Ok(Value::Null))
            }
            _ => self.file_call(method, params).await,
        }
    }
}

/// Features of Deno that the emulator does not have, by the start of a method.
const ABSENT: [(&str, &str); 8] = [
    ("spawnDeno", "Deno programs"),
    ("deno", "Deno programs"),
    ("fetch", "requests to sandboxes; use exposeHttp"),
    ("vscode", "VS Code"),
    ("download", "downloads to local files: the client has to write them itself"),
    ("umask", "mask for the modes of files"),
    ("fileLock", "locks of files"),
    ("fileUnlock", "locks of files"),
];

fn missing_method(method: &str) -> String {
    let feature = ABSENT.iter().find(|(start, _)| method.starts_with(start)).map(|(_, feature)| *feature);
    feature.map_or_else(|| format!("such call: {method}"), |feature| format!("{feature} ({method})"))
}

impl RpcConnection {
    pub(super) fn send(&self, text: String) {
        // The client may have disconnected.
        let _ = self.out.send(text);
    }

    fn respond(&self, id: &Value, method: &str, answered: Option<CallResult>) {
        let mut message = json!({ "jsonrpc": "2.0", "id": id });
        match answered {
            Some(Ok(done)) => message["result"] = json!({ "ok": done }),
            Some(Err(rejected)) => message["result"] = json!({ "error": rejected }),
            None => {
                message["error"] = json!({ "code": -32601, "message": super::absent_message(&missing_method(method)) });
            }
        }
        let mut text = message.to_string();
        if text.len() > self.limit {
            let words = format!(
                "the response has {} bytes, and the client accepts messages of at most {}: open the file and read it in parts",
                text.len(),
                self.limit
            );
            message["result"] = json!({ "error": error("Error", "EFBIG", &words) });
            text = message.to_string();
        }
        self.send(text);
    }

    fn notify(&self, method: &str, params: &Value) {
        let method = format!("$sandbox.stream.{method}");
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    /// Creates a stream to the client.
    pub(super) fn stream(&self) -> u64 {
        self.next_stream.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn begin_stream(&self, stream: u64) {
        self.notify("start", &json!({ "streamId": stream }));
    }

    pub(super) fn enqueue(&self, stream: u64, bytes: &[u8]) {
        self.notify("enqueue", &json!({ "streamId": stream, "data": BASE64.encode(bytes) }));
    }

    pub(super) fn end_stream(&self, stream: u64) {
        self.notify("end", &json!({ "streamId": stream }));
    }

    fn inbox(&self) -> MutexGuard<'_, BTreeMap<u64, UploadBuffer>> {
        self.inbox.lock()
    }

    /// Handles a message on a client stream.
    fn notified(&self, method: &str, params: &Value) {
        let Some(stream) = params["streamId"].as_u64() else { return };
        let mut inbox = self.inbox();
        match method {
            "$sandbox.stream.start" => {
                inbox.entry(stream).or_default();
            }
            "$sandbox.stream.enqueue" => {
                let data = params["data"].as_str().and_then(|data| BASE64.decode(data).ok()).unwrap_or_default();
                let entry = inbox.entry(stream).or_default();
                match &entry.reader {
                    // The process may have ended.
                    Some(reader) => drop(reader.push(data)),
                    None => entry.bytes.extend(data),
                }
            }
            "$sandbox.stream.end" => end(&mut inbox, stream, End::Whole),
            "$sandbox.stream.error" => end(&mut inbox, stream, End::Broken),
            _ => {}
        }
    }

    /// Reads all data of a client stream.
    pub(super) async fn read_upload(&self, stream: u64) -> CallResult<Vec<u8>> {
        let coming = {
            let mut inbox = self.inbox();
            let entry = inbox.entry(stream).or_default();
            if let Some(end) = entry.end {
                return inbox.remove(&stream).unwrap_or_default().content(end);
            }
            let (waiting, coming) = oneshot::channel();
            entry.waiting = Some(waiting);
            coming
        };
        coming.await.unwrap_or_else(|_| Err(error("Error", "ECONNRESET", "the stream ended")))
    }

    /// Passes a client stream to a process as it arrives.
    pub(super) fn read_into(&self, stream: u64, reader: InputQueue) {
        let mut inbox = self.inbox();
        let mut entry = inbox.remove(&stream).unwrap_or_default();
        reader.push(std::mem::take(&mut entry.bytes));
        if entry.end.is_some() {
            reader.close();
        } else {
            entry.reader = Some(reader);
            inbox.insert(stream, entry);
        }
    }

    /// Ends the streams of a client that has disconnected, so that processes get the end of their input, and stores its open
    /// files, so that no writes are lost.
    async fn disconnected(&self) {
        {
            let mut inbox = self.inbox();
            let streams: Vec<u64> = inbox.keys().copied().collect();
            for stream in streams {
                end(&mut inbox, stream, End::Broken);
            }
        }
        self.close_files().await;
    }

    fn environment(&self, method: &str, params: &Value) -> CallResult {
        let key = params["key"].as_str().unwrap_or_default();
        let mut sandboxes = self.shared.sandboxes();
        let Some(sandbox) = sandboxes.get_mut(&self.id) else {
            return Err(error("Error", "ENOENT", "the sandbox was deleted"));
        };
        Ok(match method {
            "envGet" => json!(sandbox.env.get(key)),
            "envToObject" => json!(sandbox.env),
            "envDelete" => {
                sandbox.env.remove(key);
                Value::Null
            }
            _ => {
                sandbox.env.insert(key.to_owned(), params["value"].as_str().unwrap_or_default().to_owned());
                Value::Null
            }
        })
    }
}

/// Marks a client stream as ended, for current and future readers.
fn end(inbox: &mut BTreeMap<u64, UploadBuffer>, stream: u64, end: End) {
    let mut entry = inbox.remove(&stream).unwrap_or_default();
    if let Some(reader) = entry.reader {
        return reader.close();
    }
    if let Some(waiting) = entry.waiting.take() {
        // The reader may have been dropped.
        let _ = waiting.send(entry.content(end));
        return;
    }
    if end == End::Broken {
        entry.bytes = Vec::new();
    }
    entry.end = Some(end);
    inbox.insert(stream, entry);
}
