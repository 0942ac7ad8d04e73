//! Progress notifications: the output of a running tool, for clients that request it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};
use tidebox_core::lock::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

/// Maximum bytes of output in one notification. If more arrives before the client has read the last notification, the older
/// output is dropped, so that a slow client cannot make the server's memory grow. The result has all of it.
const MAX_MESSAGE_BYTES: usize = 4096;

/// Minimum time between two notifications. Clients show them as one line that changes.
const INTERVAL: Duration = Duration::from_millis(100);

/// Time after which a notification without output is sent. Clients with a timeout of 60 s can extend it by each notification.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Maximum time to wait until the client has read the last notification, before the result is sent.
const LAST_SEND: Duration = Duration::from_secs(1);

/// Output of a running tool that was not sent yet. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct OutputTail {
    shared: Option<Arc<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    buffer: Mutex<Buffer>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Buffer {
    bytes: Vec<u8>,
    dropped: u64,
}

impl OutputTail {
    /// Creates a buffer that keeps output until it is sent. The default value discards it.
    pub(crate) fn new() -> Self {
        Self { shared: Some(Arc::default()) }
    }

    /// Adds output.
    pub(crate) fn push(&self, bytes: &[u8]) {
        let Some(shared) = &self.shared else { return };
        shared.buffer.lock().push(bytes);
        shared.changed.notify_one();
    }

    /// Sends the output until the future is dropped.
    pub(crate) async fn forward(&self, peer: &Peer<RoleServer>, token: ProgressToken, start: Instant) -> Infallible {
        loop {
            if let Some(shared) = &self.shared {
                // Both outcomes send a notification: with new output, or as a heartbeat.
                let _ = timeout(HEARTBEAT, shared.changed.notified()).await;
                self.send(peer, token.clone(), start).await;
            }
            sleep(INTERVAL).await;
        }
    }

    /// Sends the rest of the output, unless the client does not read.
    pub(crate) async fn finish(&self, peer: &Peer<RoleServer>, token: ProgressToken, start: Instant) {
        if self.shared.as_ref().is_some_and(|shared| !shared.buffer.lock().bytes.is_empty()) {
            // The result follows in both cases.
            let _ = timeout(LAST_SEND, self.send(peer, token, start)).await;
        }
    }

    /// Sends one notification and waits until the transport has taken it. The progress is the time in seconds, because it must rise
    /// with every notification and the total is unknown.
    async fn send(&self, peer: &Peer<RoleServer>, token: ProgressToken, start: Instant) {
        let message = self.shared.as_ref().and_then(|shared| shared.buffer.lock().take());
        let mut notification = ProgressNotificationParam::new(token, start.elapsed().as_secs_f64());
        notification.message = message;
        // A closed connection ends the request by its cancellation token.
        let _ = peer.notify_progress(notification).await;
    }
}

impl Buffer {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes.get(bytes.len().saturating_sub(MAX_MESSAGE_BYTES)..).unwrap_or(bytes));
        let skipped = bytes.len().saturating_sub(MAX_MESSAGE_BYTES);
        let surplus = self.bytes.len().saturating_sub(MAX_MESSAGE_BYTES);
        self.bytes.drain(..surplus);
        self.dropped = self.dropped.saturating_add(skipped as u64).saturating_add(surplus as u64);
    }

    /// Removes the text until now. The start of a character at the end remains.
    fn take(&mut self) -> Option<String> {
        let whole = match std::str::from_utf8(&self.bytes) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            // Invalid bytes within the text become U+FFFD; a partial character after them is lost with them.
            _ => self.bytes.len(),
        };
        if whole == 0 {
            return None;
        }
        let rest = self.bytes.split_off(whole);
        let text = String::from_utf8_lossy(&std::mem::replace(&mut self.bytes, rest)).into_owned();
        match std::mem::take(&mut self.dropped) {
            0 => Some(text),
            dropped => Some(format!("[{dropped} bytes omitted]\n{text}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_of_a_slow_client_is_bounded() {
        let tail = OutputTail::new();
        for _ in 0..1000 {
            tail.push(&[b'x'; 1000]);
        }
        tail.push(&[b'y'; 2 * MAX_MESSAGE_BYTES]);
        let shared = tail.shared.unwrap();
        assert_eq!(shared.buffer.lock().bytes.len(), MAX_MESSAGE_BYTES);
        let text = shared.buffer.lock().take().unwrap();
        let expected = 1_000_000 + MAX_MESSAGE_BYTES;
        assert!(text.starts_with(&format!("[{expected} bytes omitted]\nyyy")), "{}", &text[..40]);
        assert_eq!(shared.buffer.lock().take(), None);
    }

    #[test]
    fn a_split_character_is_sent_with_its_last_byte() {
        let mut buffer = Buffer::default();
        buffer.push(b"a\xc3");
        assert_eq!(buffer.take().as_deref(), Some("a"));
        assert_eq!(buffer.take(), None);
        buffer.push(b"\xa9");
        assert_eq!(buffer.take().as_deref(), Some("\u{e9}"));
        buffer.push(b"\xffb");
        assert_eq!(buffer.take().as_deref(), Some("\u{fffd}b"));
    }

    #[test]
    fn output_without_a_progress_token_is_discarded() {
        let tail = OutputTail::default();
        tail.push(b"x");
        assert!(tail.shared.is_none());
    }
}
