//! The socket of a sandbox: calls, their answers, and streams in both directions.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use super::handles::Handles;
use super::process::Processes;
use super::{Shared, error};
use crate::fault::SocketFault;
use crate::house::Room;

/// What is sent that cannot be read as JSON, and what is no JSON-RPC.
const INVALID_JSON: u16 = 4000;
const INVALID_RPC: u16 = 4001;

/// The code of a socket whose sandbox has ended. The clients take it for an ordinary end.
const GOING_AWAY: u16 = 1001;

/// After how long at the latest it is looked again whether the time of a sandbox is over.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// One client.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) shared: Shared,
    pub(super) id: String,
    pub(super) room: Room,
    out: mpsc::UnboundedSender<String>,
    inbox: Mutex<BTreeMap<u64, Inbox>>,
    next_stream: AtomicU64,
    pub(super) processes: Mutex<Processes>,
    pub(super) handles: Mutex<Handles>,
    /// Output is sent before the answer that names its stream.
    pub(super) early: bool,
}

/// What a client sends on a stream of its own.
#[derive(Debug, Default)]
struct Inbox {
    bytes: Vec<u8>,
    /// How it ended, if it did: with all of its bytes or without.
    end: Option<End>,
    waiting: Option<tokio::sync::oneshot::Sender<Outcome<Vec<u8>>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Whole,
    Broken,
}

impl Inbox {
    fn content(self, end: End) -> Outcome<Vec<u8>> {
        match end {
            End::Whole => Ok(self.bytes),
            End::Broken => Err(error("Error", "ECONNRESET", "the stream broke off")),
        }
    }
}

/// The result of a call.
pub(super) type Outcome<T = Value> = Result<T, Value>;

#[derive(Debug, Deserialize)]
struct Call {
    id: Option<Value>,
    method: String,
    #[serde(default)]
    params: Value,
}

/// Serves a client until it goes, or the sandbox does.
pub(super) async fn serve(
    shared: &Shared,
    id: &str,
    room: Room,
    mut socket: WebSocket,
    mut end: watch::Receiver<bool>,
    fault: SocketFault,
) {
    let (out, mut outgoing) = mpsc::unbounded_channel();
    let peer = Arc::new(Peer {
        shared: shared.clone(),
        id: id.to_owned(),
        room,
        out,
        inbox: Mutex::default(),
        next_stream: AtomicU64::new(101),
        processes: Mutex::default(),
        handles: Mutex::default(),
        early: fault.early,
    });
    let mut left = fault.hang_up_after;
    loop {
        let close = tokio::select! {
            () = ended(&mut end) => Some(stopped()),
            () = over(shared, id) => {
                // Whoever closes a socket meanwhile does not keep the sandbox from being ended as a whole.
                let (shared, id) = (shared.clone(), id.to_owned());
                tokio::spawn(async move { shared.forget(&id).await });
                Some(stopped())
            }
            Some(text) = outgoing.recv() => {
                if left == Some(0) {
                    // It breaks without a word.
                    break;
                }
                left = left.map(|left| left - 1);
                if socket.send(Message::text(text)).await.is_err() {
                    break;
                }
                None
            }
            said = socket.recv() => match said {
                Some(Ok(Message::Text(text))) if text.as_str() == "ping" => {
                    peer.say("pong".to_owned());
                    None
                }
                Some(Ok(Message::Text(text))) => take(&peer, &text),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => None,
                _ => break,
            },
        };
        if let Some(frame) = close {
            // The client may be gone already.
            let _ = socket.send(Message::Close(Some(frame))).await;
            break;
        }
    }
    // What was written to files that are still open is not lost.
    peer.close_files().await;
    // What runs goes on, as long as the sandbox does; its output goes nowhere.
}

fn stopped() -> CloseFrame {
    CloseFrame { code: GOING_AWAY, reason: "sandbox stopped".into() }
}

/// Waits until the time of the sandbox is over, which clients may move in both directions meanwhile.
async fn over(shared: &Shared, id: &str) {
    loop {
        let mut left = LOOK_AGAIN;
        let look = |room: &mut Room| {
            left = room.ends.map_or(LOOK_AGAIN, |end| end.saturating_duration_since(Instant::now()).min(LOOK_AGAIN));
        };
        if !shared.house.change(id, look) || left.is_zero() {
            return;
        }
        tokio::time::sleep(left).await;
    }
}

/// Waits until the sandbox has been ended.
async fn ended(end: &mut watch::Receiver<bool>) {
    // When nobody can tell any more, it has ended, too.
    while !*end.borrow_and_update() && end.changed().await.is_ok() {}
}

/// Takes a message; a frame when it is none and the socket has to close.
fn take(peer: &Arc<Peer>, text: &str) -> Option<CloseFrame> {
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
        let answered = match method.as_str() {
            "spawn" => Some(peer.spawn(&params).await),
            "processWait" => Some(peer.process_wait(&params).await),
            "processKill" => Some(peer.process_kill(&params)),
            "envGet" | "envSet" | "envDelete" | "envToObject" => Some(peer.environment(&method, &params)),
            _ => peer.file_call(&method, &params).await,
        };
        peer.answer(&id, answered);
    });
    None
}

impl Peer {
    pub(super) fn say(&self, text: String) {
        // A client that is gone hears nothing.
        let _ = self.out.send(text);
    }

    fn answer(&self, id: &Value, answered: Option<Outcome>) {
        let mut message = json!({ "jsonrpc": "2.0", "id": id });
        match answered {
            Some(Ok(done)) => message["result"] = json!({ "ok": done }),
            Some(Err(refused)) => message["result"] = json!({ "error": refused }),
            None => message["error"] = json!({ "code": -32601, "message": "Method not found" }),
        }
        self.say(message.to_string());
    }

    fn notify(&self, method: &str, params: &Value) {
        let method = format!("$sandbox.stream.{method}");
        self.say(json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    /// A new stream to the client.
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

    fn inbox(&self) -> MutexGuard<'_, BTreeMap<u64, Inbox>> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A message on a stream of the client's.
    fn notified(&self, method: &str, params: &Value) {
        let Some(stream) = params["streamId"].as_u64() else { return };
        let mut inbox = self.inbox();
        match method {
            "$sandbox.stream.start" => {
                inbox.entry(stream).or_default();
            }
            "$sandbox.stream.enqueue" => {
                let data = params["data"].as_str().and_then(|data| BASE64.decode(data).ok()).unwrap_or_default();
                inbox.entry(stream).or_default().bytes.extend(data);
            }
            "$sandbox.stream.end" => end(&mut inbox, stream, End::Whole),
            "$sandbox.stream.error" => end(&mut inbox, stream, End::Broken),
            _ => {}
        }
    }

    /// Everything that comes on a stream of the client's.
    pub(super) async fn whole(&self, stream: u64) -> Outcome<Vec<u8>> {
        let coming = {
            let mut inbox = self.inbox();
            let entry = inbox.entry(stream).or_default();
            if let Some(end) = entry.end {
                return inbox.remove(&stream).unwrap_or_default().content(end);
            }
            let (waiting, coming) = tokio::sync::oneshot::channel();
            entry.waiting = Some(waiting);
            coming
        };
        coming.await.unwrap_or_else(|_| Err(error("Error", "ECONNRESET", "the stream ended")))
    }

    fn environment(&self, method: &str, params: &Value) -> Outcome {
        let key = params["key"].as_str().unwrap_or_default();
        let mut sandboxes = self.shared.sandboxes();
        let Some(sandbox) = sandboxes.get_mut(&self.id) else {
            return Err(error("Error", "ENOENT", "the sandbox is gone"));
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

/// A stream of the client's ends, for who waits for it or will.
fn end(inbox: &mut BTreeMap<u64, Inbox>, stream: u64, end: End) {
    let mut entry = inbox.remove(&stream).unwrap_or_default();
    if let Some(waiting) = entry.waiting.take() {
        // Who waited may have gone.
        let _ = waiting.send(entry.content(end));
        return;
    }
    if end == End::Broken {
        entry.bytes = Vec::new();
    }
    entry.end = Some(end);
    inbox.insert(stream, entry);
}
