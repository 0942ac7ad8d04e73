//! Replay transport: recorded responses for expected requests.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Poll, Waker};

use async_trait::async_trait;
use bytes::Bytes;
use tidebox_core::lock::Mutex;
use tidebox_core::{Error, ErrorKind, Result};

use super::socket::{Message, Receiver, Sender, Socket, UpgradeResult};
use super::{BodyStream, Request, Response, SendError, Transport};

/// An expected request and its response.
#[derive(Clone, Debug)]
pub struct RecordedExchange {
    /// `POST /path?query`, without scheme and host. A trailing star matches any suffix.
    pub request: String,
    /// Response status.
    pub status: u16,
    /// Response headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Response body, returned chunk by chunk.
    pub body: Vec<Bytes>,
    /// Messages, if the request opens a WebSocket.
    pub socket: Option<Vec<SocketMessage>>,
}

/// One message of a recorded WebSocket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SocketMessage {
    /// Sent by the provider once the client has sent all messages before it.
    FromServer(String),
    /// The provider closes with this code and reason.
    Closed(u16, String),
    /// JSON that the client must send.
    FromClient(serde_json::Value),
}

impl RecordedExchange {
    /// Creates an exchange whose response body is one chunk.
    pub fn new(request: impl Into<String>, status: u16, body: impl Into<Bytes>) -> Self {
        Self { request: request.into(), status, headers: Vec::new(), body: vec![body.into()], socket: None }
    }

    /// Creates a WebSocket exchange with these messages.
    pub fn socket(path: &str, lines: impl IntoIterator<Item = SocketMessage>) -> Self {
        Self { socket: Some(lines.into_iter().collect()), ..Self::new(format!("GET {path}"), 101, Bytes::new()) }
    }

    fn reply(self) -> Response {
        Response::new(self.status, self.headers, Box::new(Recorded(self.body.into())))
    }

    fn is_for(&self, response: &str) -> bool {
        match self.request.strip_suffix('*') {
            Some(beginning) => response.starts_with(beginning),
            None => self.request == response,
        }
    }
}

/// Responds to requests in the expected order, and fails any other request.
#[derive(Debug, Default)]
pub struct ReplayTransport {
    remaining: Mutex<VecDeque<RecordedExchange>>,
    requests: Mutex<Vec<Request>>,
}

impl ReplayTransport {
    /// Creates a transport that expects these exchanges.
    pub fn new(exchanges: impl IntoIterator<Item = RecordedExchange>) -> Arc<Self> {
        Arc::new(Self { remaining: Mutex::new(exchanges.into_iter().collect()), requests: Mutex::default() })
    }

    /// Returns the received requests.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().clone()
    }

    /// Returns the number of expected requests not received yet.
    pub fn remaining(&self) -> usize {
        self.remaining.lock().len()
    }

    fn next_exchange(&self, request: &Request) -> std::result::Result<RecordedExchange, SendError> {
        self.requests.lock().push(request.clone());
        let path = request.url.split_once("://").map_or(request.url.as_str(), |(_, rest)| rest);
        let path = path.find('/').and_then(|at| path.get(at..)).unwrap_or("/");
        let actual = format!("{} {path}", request.method.as_str());
        let expected = self.remaining.lock().pop_front();
        match expected {
            Some(exchange) if exchange.is_for(&actual) => Ok(exchange),
            other => {
                let expected = other.map_or_else(|| "no further request".to_owned(), |exchange| exchange.request);
                let message = format!("unexpected request `{actual}`; the recording has {expected}");
                Err(SendError { error: Error::new(ErrorKind::NotRecorded, "replay", message), not_sent: false })
            }
        }
    }
}

#[async_trait]
impl Transport for ReplayTransport {
    async fn send(&self, request: &Request) -> std::result::Result<Response, SendError> {
        self.next_exchange(request).map(RecordedExchange::reply)
    }

    async fn open(&self, request: &Request) -> std::result::Result<UpgradeResult, SendError> {
        let mut exchange = self.next_exchange(request)?;
        let Some(lines) = exchange.socket.take() else { return Ok(UpgradeResult::Rejected(exchange.reply())) };
        let script = Arc::new(Mutex::new(SocketScript { lines: lines.into(), waiting: None }));
        let (sender, receiver) = (Box::new(ReplaySender(Arc::clone(&script))), Box::new(ReplayReceiver(script)));
        Ok(UpgradeResult::Open(Socket { headers: exchange.headers, sender, receiver }))
    }
}

/// Remaining messages of a recorded WebSocket.
struct SocketScript {
    lines: VecDeque<SocketMessage>,
    waiting: Option<Waker>,
}

impl SocketScript {
    /// Checks a message of the client against the recording.
    fn accept(&mut self, text: &str) -> Result<()> {
        let expected = self.lines.iter().position(|line| matches!(line, SocketMessage::FromClient(_)));
        let message = serde_json::from_str(text).map(SocketMessage::FromClient).ok();
        match expected {
            // Keep-alive messages may arrive at any time.
            _ if message.is_none() && text == "ping" => Ok(()),
            Some(at) if self.lines.get(at) == message.as_ref() => {
                self.lines.remove(at);
                if let Some(waiting) = self.waiting.take() {
                    waiting.wake();
                }
                Ok(())
            }
            at => {
                let expected = at.and_then(|at| self.lines.get(at));
                let message = format!("unexpected message `{text}`; the recording has {expected:?}");
                Err(Error::new(ErrorKind::NotRecorded, "replay", message))
            }
        }
    }
}

struct ReplaySender(Arc<Mutex<SocketScript>>);

#[async_trait]
impl Sender for ReplaySender {
    async fn send(&mut self, text: String) -> Result<()> {
        let verdict = self.0.lock().accept(&text);
        yield_once().await;
        verdict
    }

    async fn send_bytes(&mut self, _: Vec<u8>) -> Result<()> {
        // No recorded conversation has binary messages.
        Err(super::socket::unexpected_bytes())
    }

    async fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Yields between two messages, as on a real connection.
async fn yield_once() {
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

struct ReplayReceiver(Arc<Mutex<SocketScript>>);

#[async_trait]
impl Receiver for ReplayReceiver {
    async fn next(&mut self) -> Result<Option<Message>> {
        std::future::poll_fn(|context| {
            let mut script = self.0.lock();
            if let Some(SocketMessage::FromClient(_)) = script.lines.front() {
                script.waiting = Some(context.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(Ok(match script.lines.pop_front() {
                Some(SocketMessage::FromServer(text)) => Some(Message::Text(text)),
                Some(SocketMessage::Closed(code, reason)) => Some(Message::Closed(code, reason)),
                _ => None,
            }))
        })
        .await
    }
}

struct Recorded(VecDeque<Bytes>);

#[async_trait]
impl BodyStream for Recorded {
    async fn next(&mut self) -> Result<Option<Bytes>> {
        Ok(self.0.pop_front())
    }
}

#[cfg(test)]
pub(crate) fn body(bytes: &'static [u8]) -> Box<dyn BodyStream> {
    Box::new(Recorded(VecDeque::from([Bytes::from_static(bytes)])))
}
