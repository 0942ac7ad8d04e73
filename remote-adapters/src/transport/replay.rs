//! A double of a provider: answers that were written down, for requests that are as expected.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

use bytes::Bytes;
use tidebox_core::{BoxFuture, Error, ErrorKind, Result};

use super::socket::{Message, Opening, Receiver, Sender, Socket};
use super::{Pieces, Reply, Request, Transport, Unsent};

/// One request that is expected, and what is answered to it.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// `POST /path?query`, without scheme and host. A star at the end stands for any rest.
    pub request: String,
    /// The status of the answer.
    pub status: u16,
    /// The headers of the answer, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body of the answer, handed out piece by piece.
    pub body: Vec<Bytes>,
    /// For a WebSocket, what is said on it.
    pub socket: Option<Vec<Line>>,
}

/// One message of a recorded WebSocket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// The provider says it, as soon as the client has said all before it.
    Theirs(String),
    /// The provider closes, with this code and these words.
    Closed(u16, String),
    /// The client is to say this JSON.
    Ours(serde_json::Value),
}

impl Exchange {
    /// A request and its answer in one piece.
    pub fn new(request: impl Into<String>, status: u16, body: impl Into<Bytes>) -> Self {
        Self { request: request.into(), status, headers: Vec::new(), body: vec![body.into()], socket: None }
    }

    /// A WebSocket that is opened, and what is said on it.
    pub fn socket(path: &str, lines: impl IntoIterator<Item = Line>) -> Self {
        Self { socket: Some(lines.into_iter().collect()), ..Self::new(format!("GET {path}"), 101, Bytes::new()) }
    }

    fn reply(self) -> Reply {
        Reply::new(self.status, self.headers, Box::new(Recorded(self.body.into())))
    }

    fn is_for(&self, asked: &str) -> bool {
        match self.request.strip_suffix('*') {
            Some(beginning) => asked.starts_with(beginning),
            None => self.request == asked,
        }
    }
}

/// Answers requests in the order in which they are expected, and fails any other.
#[derive(Debug, Default)]
pub struct Replay {
    left: Mutex<VecDeque<Exchange>>,
    seen: Mutex<Vec<Request>>,
}

impl Replay {
    /// A double that expects these.
    pub fn new(exchanges: impl IntoIterator<Item = Exchange>) -> Arc<Self> {
        Arc::new(Self { left: Mutex::new(exchanges.into_iter().collect()), seen: Mutex::default() })
    }

    /// The requests that came.
    pub fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many expected requests did not come.
    pub fn left(&self) -> usize {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn answer(&self, request: &Request) -> std::result::Result<Exchange, Unsent> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        let path = request.url.split_once("://").map_or(request.url.as_str(), |(_, rest)| rest);
        let path = path.find('/').and_then(|at| path.get(at..)).unwrap_or("/");
        let asked = format!("{} {path}", request.method.as_str());
        let expected = self.left.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        match expected {
            Some(exchange) if exchange.is_for(&asked) => Ok(exchange),
            other => {
                let expected = other.map_or_else(|| "nothing".to_owned(), |exchange| exchange.request);
                let message = format!("the recording does not have `{asked}` here; it has {expected}");
                Err(Unsent { error: Error::new(ErrorKind::NotRecorded, "replay", message), unseen: false })
            }
        }
    }
}

impl Transport for Replay {
    fn send<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, std::result::Result<Reply, Unsent>> {
        Box::pin(async move { self.answer(request).map(Exchange::reply) })
    }

    fn open<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, std::result::Result<Opening, Unsent>> {
        Box::pin(async move {
            let mut exchange = self.answer(request)?;
            let Some(lines) = exchange.socket.take() else { return Ok(Opening::Refused(exchange.reply())) };
            let script = Arc::new(Mutex::new(Script { lines: lines.into(), waiting: None }));
            let (sender, receiver) = (Box::new(Said(Arc::clone(&script))), Box::new(Heard(script)));
            Ok(Opening::Open(Socket { headers: exchange.headers, sender, receiver }))
        })
    }
}

/// What is still to be said on a recorded WebSocket.
struct Script {
    lines: VecDeque<Line>,
    waiting: Option<Waker>,
}

struct Said(Arc<Mutex<Script>>);

impl Sender for Said {
    fn send(&mut self, text: String) -> BoxFuture<'_, Result<()>> {
        let mut script = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let expected = script.lines.iter().position(|line| matches!(line, Line::Ours(_)));
        let said = serde_json::from_str(&text).map(Line::Ours).ok();
        let verdict = match expected {
            // Signs of life come when they come.
            _ if said.is_none() && text == "ping" => Ok(()),
            Some(at) if script.lines.get(at) == said.as_ref() => {
                script.lines.remove(at);
                if let Some(waiting) = script.waiting.take() {
                    waiting.wake();
                }
                Ok(())
            }
            at => {
                let expected = at.and_then(|at| script.lines.get(at));
                let message = format!("the recording does not have `{text}` here; it has {expected:?}");
                Err(Error::new(ErrorKind::NotRecorded, "replay", message))
            }
        };
        Box::pin(async {
            take_turns().await;
            verdict
        })
    }

    fn close(&mut self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

/// Who hears gets a turn between two messages, as with a connection over which they take time.
async fn take_turns() {
    let mut had_one = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut had_one, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

struct Heard(Arc<Mutex<Script>>);

impl Receiver for Heard {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Message>>> {
        Box::pin(std::future::poll_fn(|context| {
            let mut script = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(Line::Ours(_)) = script.lines.front() {
                script.waiting = Some(context.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(Ok(match script.lines.pop_front() {
                Some(Line::Theirs(text)) => Some(Message::Text(text)),
                Some(Line::Closed(code, reason)) => Some(Message::Closed(code, reason)),
                _ => None,
            }))
        }))
    }
}

struct Recorded(VecDeque<Bytes>);

impl Pieces for Recorded {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Bytes>>> {
        let piece = self.0.pop_front();
        Box::pin(async move { Ok(piece) })
    }
}

#[cfg(test)]
pub(crate) fn body(bytes: &'static [u8]) -> Box<dyn Pieces> {
    Box::new(Recorded(VecDeque::from([Bytes::from_static(bytes)])))
}
