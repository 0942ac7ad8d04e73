//! One connection to a server of a sandbox, and what ends it.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tidebox_core::BoxFuture;
use tidebox_core::lock::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;

use super::Unavailable;
use crate::registry::{ConnectError, ConnectPort, PortConnection};

/// Connections from outside to one sandbox that exist concurrently; further ones are rejected. Each takes a socket of the sandbox
/// and two of its pipes.
pub(crate) const MAX_CONNECTIONS: usize = 256;

/// Time after which a connection without any byte in either direction ends, so that clients that have disappeared do not hold the
/// connections of a sandbox.
const IDLE_TIME: Duration = Duration::from_secs(300);

/// Time that a connection waits while the queue of the server is full, and the pause between two attempts.
const CONNECT_TIME: Duration = Duration::from_secs(10);
const RETRY_TIME: Duration = Duration::from_millis(10);

/// The connections from outside to one sandbox.
#[derive(Clone, Debug)]
pub(crate) struct Traffic {
    permits: Arc<Semaphore>,
    changes: Arc<watch::Sender<Counts>>,
}

/// Numbers of the changes of a sandbox.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Changes that end all connections.
    ends: u64,
    /// Other changes, such as those of the lifetime.
    updates: u64,
}

impl Default for Traffic {
    fn default() -> Self {
        Self { permits: Arc::new(Semaphore::new(MAX_CONNECTIONS)), changes: Arc::default() }
    }
}

impl Traffic {
    /// Ends all connections: the sandbox was closed or paused.
    pub(crate) fn end_all(&self) {
        self.changes.send_modify(|counts| counts.ends = counts.ends.wrapping_add(1));
    }

    /// Reports another change of the sandbox.
    pub(crate) fn note_update(&self) {
        self.changes.send_modify(|counts| counts.updates = counts.updates.wrapping_add(1));
    }

    /// Returns the number of connections that can be added.
    #[cfg(test)]
    pub(super) fn free(&self) -> usize {
        self.permits.available_permits()
    }

    /// Returns a receiver of the changes after this call.
    pub(crate) fn subscribe(&self) -> TrafficChanges {
        let counts = self.changes.subscribe();
        let ends = counts.borrow().ends;
        TrafficChanges { ends, counts }
    }
}

/// Receives the changes of a sandbox.
#[derive(Debug)]
pub(crate) struct TrafficChanges {
    ends: u64,
    counts: watch::Receiver<Counts>,
}

impl TrafficChanges {
    /// Waits for the next change. Returns whether the connections end: by [`Traffic::end_all`], or because the sandbox was deleted.
    pub(crate) async fn next_is_end(&mut self) -> bool {
        self.counts.changed().await.is_err() || self.counts.borrow_and_update().ends != self.ends
    }
}

/// A port of a running sandbox.
pub(crate) struct PreviewTarget {
    /// Id of the sandbox.
    pub(crate) id: String,
    /// Port in the sandbox.
    pub(crate) port: u16,
    /// `None` if the sandboxes of the emulator have no ports.
    pub(crate) connect: Option<ConnectPort>,
    pub(crate) traffic: Traffic,
    /// Completes when the sandbox no longer runs.
    pub(crate) ended: BoxFuture<'static, ()>,
}

impl fmt::Debug for PreviewTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreviewTarget").field("id", &self.id).field("port", &self.port).finish_non_exhaustive()
    }
}

impl PreviewTarget {
    /// Connects to the server.
    pub(super) async fn connect(&mut self) -> Result<(PortStream, ConnectionEnd), Unavailable> {
        let connect = self.connect.clone().ok_or(Unavailable::Closed)?;
        let permits = Arc::clone(&self.traffic.permits);
        let permit = permits.try_acquire_owned().map_err(|_| Unavailable::Busy)?;
        let deadline = Instant::now() + CONNECT_TIME;
        let connection = loop {
            match connect(self.port) {
                Ok(connection) => break connection,
                Err(ConnectError::QueueFull) if Instant::now() < deadline => tokio::time::sleep(RETRY_TIME).await,
                Err(ConnectError::QueueFull | ConnectError::Limit) => return Err(Unavailable::Busy),
                Err(ConnectError::Closed) => return Err(Unavailable::Closed),
            }
        };
        let last_byte = Arc::new(Mutex::new(Instant::now()));
        let ended = std::mem::replace(&mut self.ended, Box::pin(std::future::pending()));
        let end = ConnectionEnd { ended, idle: Box::pin(idle(Arc::clone(&last_byte), IDLE_TIME)) };
        Ok((PortStream { connection, last_byte, _permit: permit }, end))
    }
}

/// A connection to a server of a sandbox. It counts as one of the sandbox until it is dropped, which is when both directions have
/// ended.
pub(super) struct PortStream {
    connection: Box<dyn PortConnection>,
    last_byte: Arc<Mutex<Instant>>,
    _permit: OwnedSemaphorePermit,
}

impl PortStream {
    fn note<T>(&self, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            *self.last_byte.lock() = Instant::now();
        }
        result
    }
}

impl AsyncRead for PortStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.connection).poll_read(cx, buffer);
        self.note(result)
    }
}

impl AsyncWrite for PortStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.connection).poll_write(cx, bytes);
        self.note(result)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_shutdown(cx)
    }
}

/// The conditions that end a connection from the outside.
pub(crate) struct ConnectionEnd {
    ended: BoxFuture<'static, ()>,
    idle: BoxFuture<'static, ()>,
}

impl ConnectionEnd {
    /// No condition: either side ends the connection.
    pub(crate) fn by_peers() -> Self {
        Self { ended: Box::pin(std::future::pending()), idle: Box::pin(std::future::pending()) }
    }

    /// Completes when the sandbox no longer runs, or the connection has been idle for too long.
    pub(super) async fn reached(&mut self) {
        tokio::select! {
            () = &mut self.ended => {}
            () = &mut self.idle => {}
        }
    }
}

/// Completes when no byte has been transferred for this time.
async fn idle(last_byte: Arc<Mutex<Instant>>, time: Duration) {
    loop {
        let end = *last_byte.lock() + time;
        if Instant::now() >= end {
            return;
        }
        tokio::time::sleep_until(end).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_connection_without_bytes_ends_after_the_idle_time() {
        let last_byte = Arc::new(Mutex::new(Instant::now()));
        let start = Instant::now();
        let mut end = ConnectionEnd {
            ended: Box::pin(std::future::pending()),
            idle: Box::pin(idle(Arc::clone(&last_byte), Duration::from_millis(200))),
        };
        tokio::join!(end.reached(), async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            *last_byte.lock() = Instant::now();
        });
        assert!(start.elapsed() >= Duration::from_millis(300), "a byte restarts the time: {:?}", start.elapsed());
    }
}
