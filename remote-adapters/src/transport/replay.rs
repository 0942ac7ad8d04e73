//! A double of a provider: answers that were written down, for requests that are as expected.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tidebox_core::{BoxFuture, Error, ErrorKind, Result};

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
}

impl Exchange {
    /// A request and its answer in one piece.
    pub fn new(request: impl Into<String>, status: u16, body: impl Into<Bytes>) -> Self {
        Self { request: request.into(), status, headers: Vec::new(), body: vec![body.into()] }
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

    fn answer(&self, request: &Request) -> std::result::Result<Reply, Unsent> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        let path = request.url.split_once("://").map_or(request.url.as_str(), |(_, rest)| rest);
        let path = path.find('/').and_then(|at| path.get(at..)).unwrap_or("/");
        let asked = format!("{} {path}", request.method.as_str());
        let expected = self.left.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        match expected {
            Some(exchange) if exchange.is_for(&asked) => {
                Ok(Reply::new(exchange.status, exchange.headers, Box::new(Recorded(exchange.body.into()))))
            }
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
        Box::pin(async move { self.answer(request) })
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
