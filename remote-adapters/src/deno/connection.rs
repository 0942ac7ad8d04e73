//! One WebSocket: calls and their answers, and the pieces of streams.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures_channel::{mpsc, oneshot};
use futures_util::future::{AbortHandle, Abortable};
use futures_util::lock::Mutex as AsyncMutex;
use serde_json::Value;
use tidebox_core::{Error, ErrorKind, Result};

use super::wire::{self, Incoming, Refusal};
use crate::transport::socket::{Message, Receiver, Sender, Socket};
use crate::transport::{sleep, spawn, within};

/// How often the service hears that somebody is there, as its own client does it.
const SIGN_OF_LIFE: Duration = Duration::from_secs(2);

/// How long a call may take that waits for nothing but itself.
const CALL_TIME: Duration = Duration::from_secs(60);

/// Output that may come before it is known whose it is: the answer to `spawn` may come later than the first output.
const UNCLAIMED_BYTES: usize = 16 << 20;

/// What one message of a stream of ours carries.
const PIECE_BYTES: usize = 64 << 10;

/// The answer to a call.
pub(super) type Answer = std::result::Result<Value, Refusal>;

/// A piece of a stream, `None` at its end.
pub(super) type Piece = (u64, Option<Vec<u8>>);

/// A connection that is open, or was.
pub(super) struct Connection {
    sender: AsyncMutex<Box<dyn Sender>>,
    shared: Arc<Mutex<Shared>>,
    listening: AbortHandle,
}

#[derive(Default)]
struct Shared {
    next: u64,
    /// The number of the last stream of ours.
    last_stream: u64,
    waiting: BTreeMap<u64, oneshot::Sender<Answer>>,
    claimed: BTreeMap<u64, mpsc::UnboundedSender<Piece>>,
    unclaimed: Vec<Piece>,
    unclaimed_bytes: usize,
    /// Streams that nobody hears any more and that have not ended.
    unheard: BTreeSet<u64>,
    closed: bool,
    /// What the service said when it closed: a code and its words.
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

fn locked(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connection {
    pub(super) fn new(socket: Socket) -> Arc<Self> {
        let shared = Arc::<Mutex<Shared>>::default();
        let (listening, registration) = AbortHandle::new_pair();
        let heard = Arc::clone(&shared);
        let receiver = socket.receiver;
        spawn(async move {
            // It ends with the connection, or with the last who uses it.
            let _ = Abortable::new(listen(receiver, &heard), registration).await;
            let mut shared = locked(&heard);
            shared.closed = true;
            // Who waits for one of these sees that it is gone.
            shared.waiting.clear();
            shared.claimed.clear();
        });
        let connection = Arc::new(Self { sender: AsyncMutex::new(socket.sender), shared, listening });
        let alive = Arc::downgrade(&connection);
        spawn(async move { signs_of_life(&alive).await });
        connection
    }

    pub(super) fn is_open(&self) -> bool {
        !locked(&self.shared).closed
    }

    /// Calls and waits for the answer as long as it takes.
    pub(super) async fn call(&self, operation: &'static str, method: &str, params: &Value) -> Result<Answer> {
        let called = self.begin(operation, method, params).await?;
        called.answered.await.map_err(|_| locked(&self.shared).gone(operation))
    }

    async fn begin(&self, operation: &'static str, method: &str, params: &Value) -> Result<Called<'_>> {
        let (answer, answered) = oneshot::channel();
        let id = {
            let mut shared = locked(&self.shared);
            if shared.closed {
                return Err(shared.gone(operation));
            }
            let id = shared.next;
            shared.next += 1;
            shared.waiting.insert(id, answer);
            id
        };
        let _forget = Forget { shared: &self.shared, id };
        self.send(wire::call(id, method, params).to_string()).await?;
        Ok(Called { answered, _forget })
    }

    async fn send(&self, text: String) -> Result<()> {
        self.sender.lock().await.send(text).await
    }

    /// Calls with a content that flows beside the call, without an answer for each piece: `params` says of which number its stream is.
    /// Once there is an answer, or nobody waits for one any more, nothing more of it is sent.
    pub(super) async fn ask_with(
        self: &Arc<Self>,
        operation: &'static str,
        method: &str,
        params: impl FnOnce(u64) -> Value,
        content: &[u8],
    ) -> Result<Answer> {
        let stream = {
            let mut shared = locked(&self.shared);
            shared.last_stream += 1;
            shared.last_stream
        };
        let late = || Error::new(ErrorKind::Timeout, operation, "the sandbox did not answer in time");
        let in_time = async |text| within(CALL_TIME, self.send(text)).await.unwrap_or_else(|| Err(late()));
        in_time(wire::begin_stream(stream)).await?;
        let flowing = Flowing { connection: self, stream: Some(stream) };
        let mut called = self.begin(operation, method, &params(stream)).await?;
        for piece in content.chunks(PIECE_BYTES) {
            if let Ok(Some(answer)) = called.answered.try_recv() {
                return Ok(answer);
            }
            in_time(wire::enqueue(stream, piece)).await?;
        }
        flowing.ended();
        in_time(wire::end_stream(stream)).await?;
        match within(CALL_TIME, called.answered).await {
            Some(answered) => answered.map_err(|_| locked(&self.shared).gone(operation)),
            None => Err(late()),
        }
    }

    /// The same for what is done at once.
    pub(super) async fn ask(&self, operation: &'static str, method: &str, params: &Value) -> Result<Answer> {
        let late = || Err(Error::new(ErrorKind::Timeout, operation, "the sandbox did not answer in time"));
        within(CALL_TIME, self.call(operation, method, params)).await.unwrap_or_else(late)
    }

    /// Hears some streams, from their first piece on, in the order in which their pieces came.
    pub(super) fn hear(&self, streams: &[u64]) -> Hearing<'_> {
        let (sender, pieces) = mpsc::unbounded();
        let mut shared = locked(&self.shared);
        let early: Vec<Piece>;
        (early, shared.unclaimed) =
            std::mem::take(&mut shared.unclaimed).into_iter().partition(|(stream, _)| streams.contains(stream));
        let mut open: BTreeSet<u64> = streams.iter().copied().collect();
        for piece in early {
            shared.unclaimed_bytes -= piece.1.as_ref().map_or(0, Vec::len);
            if piece.1.is_none() {
                open.remove(&piece.0);
            }
            // The other end is two lines above.
            let _ = sender.unbounded_send(piece);
        }
        if !shared.closed {
            shared.claimed.extend(open.into_iter().map(|stream| (stream, sender.clone())));
        }
        Hearing { shared: &self.shared, streams: streams.to_vec(), pieces }
    }
}

/// A stream of ours on its way. The service keeps what came of it until its end, so one that is given up is said to be broken.
struct Flowing<'a> {
    connection: &'a Arc<Connection>,
    stream: Option<u64>,
}

impl Flowing<'_> {
    fn ended(mut self) {
        self.stream = None;
    }
}

impl Drop for Flowing<'_> {
    fn drop(&mut self) {
        let Some(stream) = self.stream else { return };
        let connection = Arc::clone(self.connection);
        spawn(async move {
            // On a connection that is gone there are no streams either.
            let _ = within(CALL_TIME, connection.send(wire::break_stream(stream))).await;
        });
    }
}

/// Streams that somebody hears.
pub(super) struct Hearing<'a> {
    shared: &'a Mutex<Shared>,
    streams: Vec<u64>,
    /// Their pieces.
    pub(super) pieces: mpsc::UnboundedReceiver<Piece>,
}

impl Drop for Hearing<'_> {
    fn drop(&mut self) {
        let mut shared = locked(self.shared);
        for stream in &self.streams {
            if shared.claimed.remove(stream).is_some() {
                shared.unheard.insert(*stream);
            }
        }
    }
}

/// A call on its way.
struct Called<'a> {
    answered: oneshot::Receiver<Answer>,
    _forget: Forget<'a>,
}

/// Takes away a call that nobody waits for.
struct Forget<'a> {
    shared: &'a Mutex<Shared>,
    id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        locked(self.shared).waiting.remove(&self.id);
    }
}

async fn signs_of_life(alive: &Weak<Connection>) {
    loop {
        sleep(SIGN_OF_LIFE).await;
        let Some(connection) = alive.upgrade().filter(|connection| connection.is_open()) else { return };
        if connection.sender.lock().await.send("ping".to_owned()).await.is_err() {
            return;
        }
    }
}

async fn listen(mut receiver: Box<dyn Receiver>, shared: &Mutex<Shared>) {
    loop {
        let text = match receiver.next().await {
            Ok(Some(Message::Text(text))) => text,
            Ok(Some(Message::Closed(code, reason))) => {
                locked(shared).why = Some((code, reason));
                return;
            }
            Ok(None) | Err(_) => return,
        };
        // What cannot be read ends the connection, as everything after it may be wrong.
        let Ok(incoming) = wire::incoming(&text) else { return };
        let mut shared = locked(shared);
        match incoming {
            Incoming::Answer(id, answer) => {
                if let Some(waiting) = shared.waiting.remove(&id) {
                    // It may have gone in this moment.
                    let _ = waiting.send(answer);
                }
            }
            Incoming::Piece(stream, piece) => {
                if !shared.take(stream, piece) {
                    return;
                }
            }
            Incoming::Other => {}
        }
    }
}

/// The service closes with these when it cannot read a message, as JSON or as a call.
const INVALID_JSON: u16 = 4000;
const INVALID_CALL: u16 = 4001;

impl Shared {
    /// That the connection is gone, and why, where that was said.
    fn gone(&self, operation: &'static str) -> Error {
        let code = self.why.as_ref().map(|(code, _)| *code);
        let error = if matches!(code, Some(INVALID_JSON | INVALID_CALL)) {
            let message = "Deno could not read a message and closed the connection; it may speak another version";
            Error::new(ErrorKind::Protocol, operation, message)
        } else {
            let message = "the connection to the sandbox ended; what was done until then stands";
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

    /// False when more came than is kept for somebody who may never ask.
    fn take(&mut self, stream: u64, piece: Option<Vec<u8>>) -> bool {
        let over = piece.is_none();
        if self.unheard.contains(&stream) {
            if over {
                self.unheard.remove(&stream);
            }
        } else if let Some(claimed) = self.claimed.get(&stream) {
            // Who hears it may have gone in this moment.
            let _ = claimed.unbounded_send((stream, piece));
            if over {
                self.claimed.remove(&stream);
            }
        } else {
            self.unclaimed_bytes += piece.as_ref().map_or(0, Vec::len);
            self.unclaimed.push((stream, piece));
        }
        self.unclaimed_bytes <= UNCLAIMED_BYTES
    }
}
