//! Network usage of a sandbox and its log.

use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use crate::lock::Mutex;

use super::denied::{DenyReason, RequestDenied};
use super::exchange::{NetworkClock, NetworkError};
use super::limits::NetworkLimits;
use super::log::{NetworkEvent, NetworkLog, RequestOutcome};

/// Maximum characters of an invalid URL in the log.
const MAX_LOGGED_CHARS: usize = 256;

/// The counters and the log of one sandbox.
pub(super) struct UsageMeter {
    limits: NetworkLimits,
    used: Mutex<Used>,
}

#[derive(Default)]
struct Used {
    log: NetworkLog,
    running: u32,
    sent: u64,
    received: u64,
}

fn limit(message: String) -> RequestDenied {
    RequestDenied::new(DenyReason::Limit, message)
}

impl UsageMeter {
    pub(super) fn new(limits: NetworkLimits) -> Self {
        Self { limits, used: Mutex::default() }
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock()
    }

    pub(super) fn log(&self) -> NetworkLog {
        self.used().log.clone()
    }

    /// Creates an entry.
    pub(super) fn open(
        self: &Arc<Self>,
        method: &str,
        url: &str,
        clock: Arc<dyn NetworkClock>,
    ) -> Result<RequestGuard, RequestDenied> {
        let (at, started) = (clock.realtime(), clock.monotonic());
        let mut used = self.used();
        let max = self.limits.requests;
        if used.log.events.len() as u64 >= max {
            used.log.omitted = used.log.omitted.saturating_add(1);
            return Err(limit(format!("this sandbox has used up its {max} requests")));
        }
        let entry = used.log.events.len();
        used.log.events.push(NetworkEvent {
            at,
            method: method.escape_default().take(MAX_LOGGED_CHARS).collect(),
            url: redact_unparsed_url(url),
            outcome: RequestOutcome::InProgress,
            status: None,
            sent_bytes: 0,
            received_bytes: 0,
            duration: Duration::ZERO,
            credentials: Vec::new(),
        });
        let max = self.limits.concurrent;
        if used.running >= max {
            let denied = limit(format!("this sandbox already has {max} concurrent requests; wait for one to end"));
            if let Some(event) = used.log.events.get_mut(entry) {
                event.outcome = RequestOutcome::Denied(denied.kind, denied.message.clone());
            }
            return Err(denied);
        }
        used.running += 1;
        let record = RequestRecord { meter: Arc::clone(self), clock, started, entry, body_error: Mutex::default() };
        Ok(RequestGuard(Arc::new(record)))
    }
}

/// Redacts an unparsed URL. Text before an `@` may be a password.
fn redact_unparsed_url(url: &str) -> String {
    let start = url.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = url.split_at_checked(start).unwrap_or(("", url));
    let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    let shown = match rest.get(..end).and_then(|authority| authority.rfind('@')) {
        Some(at) => format!("{scheme}***{}", rest.get(at..).unwrap_or_default()),
        None => url.to_owned(),
    };
    shown.escape_default().take(MAX_LOGGED_CHARS).collect()
}

/// RAII guard of a running request. Dropping it cancels the request.
pub(super) struct RequestGuard(Arc<RequestRecord>);

impl RequestGuard {
    /// Returns the record for a body, which may outlive the request in the gateway.
    pub(super) fn record(&self) -> Arc<RequestRecord> {
        Arc::clone(&self.0)
    }
}

impl std::ops::Deref for RequestGuard {
    type Target = RequestRecord;

    fn deref(&self) -> &RequestRecord {
        &self.0
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.finish(RequestOutcome::Cancelled);
    }
}

/// A request in progress.
pub(super) struct RequestRecord {
    meter: Arc<UsageMeter>,
    clock: Arc<dyn NetworkClock>,
    started: Duration,
    entry: usize,
    /// Reason for which a body was aborted, until the request is polled.
    body_error: Mutex<Option<RequestDenied>>,
}

impl RequestRecord {
    fn with<T>(&self, change: impl FnOnce(&mut Used, &NetworkLimits) -> T) -> T {
        change(&mut self.meter.used(), &self.meter.limits)
    }

    fn event(&self, change: impl FnOnce(&mut NetworkEvent)) {
        self.with(|used, _| used.log.events.get_mut(self.entry).map(change));
    }

    /// Returns the time since the start.
    pub(super) fn elapsed(&self) -> Duration {
        self.clock.monotonic().saturating_sub(self.started)
    }

    pub(super) fn describe(&self, url: String) {
        self.event(|event| event.url = url);
    }

    pub(super) fn credential(&self, name: &str) {
        self.event(|event| event.credentials.push(name.to_owned()));
    }

    pub(super) fn set_status(&self, status: u16) {
        self.event(|event| event.status = Some(status));
    }

    /// Charges bytes to be sent.
    pub(super) fn send(&self, bytes: u64) -> Result<(), RequestDenied> {
        self.with(|used, limits| {
            let total = used.sent.saturating_add(bytes);
            if total > limits.total_sent_bytes {
                let max = limits.total_sent_bytes;
                return Err(limit(format!("this sandbox has used up its total of {max} sent bytes")));
            }
            used.sent = total;
            if let Some(event) = used.log.events.get_mut(self.entry) {
                event.sent_bytes = event.sent_bytes.saturating_add(bytes);
            }
            Ok(())
        })
    }

    /// Charges `bytes` of a body; `all` is the number of body bytes sent including these.
    pub(super) fn send_body(&self, all: u64, bytes: u64) -> Result<(), RequestDenied> {
        let max = self.meter.limits.request_bytes;
        if all > max {
            return Err(limit(format!("the request body exceeds the limit of {max} bytes")));
        }
        self.send(bytes)
    }

    /// Charges received bytes.
    pub(super) fn receive(&self, bytes: u64) -> Result<(), RequestDenied> {
        self.with(|used, limits| {
            used.received = used.received.saturating_add(bytes);
            if let Some(event) = used.log.events.get_mut(self.entry) {
                event.received_bytes = event.received_bytes.saturating_add(bytes);
            }
            if used.received > limits.total_received_bytes {
                let max = limits.total_received_bytes;
                return Err(limit(format!("this sandbox has used up its total of {max} received bytes")));
            }
            Ok(())
        })
    }

    /// Charges received bytes of a body.
    pub(super) fn receive_body(&self, bytes: u64) -> Result<(), RequestDenied> {
        self.receive(bytes)?;
        let (max, mut all) = (self.meter.limits.reply_bytes, 0);
        self.event(|event| all = event.received_bytes);
        if all > max {
            return Err(limit(format!("the response body exceeds the limit of {max} bytes")));
        }
        Ok(())
    }

    /// Stores the reason for which a body was aborted.
    pub(super) fn set_body_error(&self, denied: RequestDenied) {
        self.body_error.lock().get_or_insert(denied);
    }

    /// Logs the end of the request and returns its actual cause: the reason for an aborted body is more specific than the
    /// gateway's error.
    pub(super) fn fail(&self, failure: NetworkError) -> NetworkError {
        let body_error = self.body_error.lock().take();
        let failure = body_error.map_or(failure, NetworkError::Denied);
        self.finish(match &failure {
            NetworkError::Denied(denied) => RequestOutcome::Denied(denied.kind, denied.message.clone()),
            NetworkError::Failed(error) => RequestOutcome::Failed(error.kind, error.message.clone()),
        });
        failure
    }

    /// Logs the outcome, once.
    pub(super) fn finish(&self, decision: RequestOutcome) {
        let duration = self.elapsed();
        let mut finished = false;
        self.event(|event| {
            if event.outcome == RequestOutcome::InProgress {
                (event.outcome, event.duration, finished) = (decision, duration, true);
            }
        });
        if finished {
            self.with(|used, _| used.running = used.running.saturating_sub(1));
        }
    }
}
