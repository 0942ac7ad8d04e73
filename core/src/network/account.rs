//! What a sandbox has used of the network, and the log of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::exchange::{Failure, NetworkClock};
use super::limits::NetworkLimits;
use super::log::{Decision, NetworkEvent, NetworkLog};
use super::refusal::{Refusal, RefusalKind};

/// How much of a URL is logged that could not be read.
const SHOWN_CHARS: usize = 256;

/// The counters and the log of one sandbox.
pub(super) struct Account {
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

fn limit(message: String) -> Refusal {
    Refusal::new(RefusalKind::Limit, message)
}

impl Account {
    pub(super) fn new(limits: NetworkLimits) -> Self {
        Self { limits, used: Mutex::default() }
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn log(&self) -> NetworkLog {
        self.used().log.clone()
    }

    /// Begins an entry.
    pub(super) fn open(
        self: &Arc<Self>,
        method: &str,
        url: &str,
        clock: Arc<dyn NetworkClock>,
    ) -> Result<Driven, Refusal> {
        let (at, started) = (clock.realtime(), clock.monotonic());
        let mut used = self.used();
        let most = self.limits.requests;
        if used.log.events.len() as u64 >= most {
            used.log.left_out = used.log.left_out.saturating_add(1);
            return Err(limit(format!("this sandbox has used up its {most} requests")));
        }
        let entry = used.log.events.len();
        used.log.events.push(NetworkEvent {
            at,
            method: method.escape_default().take(SHOWN_CHARS).collect(),
            url: unread(url),
            decision: Decision::Underway,
            status: None,
            sent_bytes: 0,
            received_bytes: 0,
            duration: Duration::ZERO,
            credentials: Vec::new(),
        });
        let most = self.limits.concurrent;
        if used.running >= most {
            let refusal = limit(format!("this sandbox already has {most} requests on their way; wait for one to end"));
            if let Some(event) = used.log.events.get_mut(entry) {
                event.decision = Decision::Refused(refusal.kind, refusal.message.clone());
            }
            return Err(refusal);
        }
        used.running += 1;
        let ticket = Ticket { account: Arc::clone(self), clock, started, entry, noted: Mutex::default() };
        Ok(Driven(Arc::new(ticket)))
    }
}

/// A URL that nobody has parsed yet. What stands before an `@` may be a password.
fn unread(url: &str) -> String {
    let start = url.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = url.split_at_checked(start).unwrap_or(("", url));
    let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    let shown = match rest.get(..end).and_then(|authority| authority.rfind('@')) {
        Some(at) => format!("{scheme}***{}", rest.get(at..).unwrap_or_default()),
        None => url.to_owned(),
    };
    shown.escape_default().take(SHOWN_CHARS).collect()
}

/// The request as whoever drives it holds it: letting go of it ends the request.
pub(super) struct Driven(Arc<Ticket>);

impl Driven {
    /// For a body, which may live on for a while in the gateway.
    pub(super) fn ticket(&self) -> Arc<Ticket> {
        Arc::clone(&self.0)
    }
}

impl std::ops::Deref for Driven {
    type Target = Ticket;

    fn deref(&self) -> &Ticket {
        &self.0
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        self.settle(Decision::Cancelled);
    }
}

/// One request on its way.
pub(super) struct Ticket {
    account: Arc<Account>,
    clock: Arc<dyn NetworkClock>,
    started: Duration,
    entry: usize,
    /// Why a body was broken off, until whoever drives the request asks.
    noted: Mutex<Option<Refusal>>,
}

impl Ticket {
    fn with<T>(&self, change: impl FnOnce(&mut Used, &NetworkLimits) -> T) -> T {
        change(&mut self.account.used(), &self.account.limits)
    }

    fn event(&self, change: impl FnOnce(&mut NetworkEvent)) {
        self.with(|used, _| used.log.events.get_mut(self.entry).map(change));
    }

    /// Time since the beginning.
    pub(super) fn passed(&self) -> Duration {
        self.clock.monotonic().saturating_sub(self.started)
    }

    pub(super) fn describe(&self, url: String) {
        self.event(|event| event.url = url);
    }

    pub(super) fn credential(&self, name: &str) {
        self.event(|event| event.credentials.push(name.to_owned()));
    }

    pub(super) fn answered(&self, status: u16) {
        self.event(|event| event.status = Some(status));
    }

    /// Charges bytes to be sent.
    pub(super) fn send(&self, bytes: u64) -> Result<(), Refusal> {
        self.with(|used, limits| {
            let total = used.sent.saturating_add(bytes);
            if total > limits.total_sent_bytes {
                let most = limits.total_sent_bytes;
                return Err(limit(format!("this sandbox may send {most} bytes in all, and they are used up")));
            }
            used.sent = total;
            if let Some(event) = used.log.events.get_mut(self.entry) {
                event.sent_bytes = event.sent_bytes.saturating_add(bytes);
            }
            Ok(())
        })
    }

    /// Charges `bytes` of a body of which then `all` bytes were sent.
    pub(super) fn send_body(&self, all: u64, bytes: u64) -> Result<(), Refusal> {
        let most = self.account.limits.request_bytes;
        if all > most {
            return Err(limit(format!("the body is larger than the {most} bytes that one request may send")));
        }
        self.send(bytes)
    }

    /// Charges bytes that came.
    pub(super) fn receive(&self, bytes: u64) -> Result<(), Refusal> {
        self.with(|used, limits| {
            used.received = used.received.saturating_add(bytes);
            if let Some(event) = used.log.events.get_mut(self.entry) {
                event.received_bytes = event.received_bytes.saturating_add(bytes);
            }
            if used.received > limits.total_received_bytes {
                let most = limits.total_received_bytes;
                return Err(limit(format!("this sandbox may receive {most} bytes in all, and they are used up")));
            }
            Ok(())
        })
    }

    /// Charges bytes of a body that came.
    pub(super) fn receive_body(&self, bytes: u64) -> Result<(), Refusal> {
        self.receive(bytes)?;
        let (most, mut all) = (self.account.limits.reply_bytes, 0);
        self.event(|event| all = event.received_bytes);
        if all > most {
            return Err(limit(format!("the reply is larger than the {most} bytes that one request may receive")));
        }
        Ok(())
    }

    /// Remembers why a body was broken off.
    pub(super) fn note(&self, refusal: Refusal) {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(refusal);
    }

    /// Writes the end into the log, and says what it really was: a body that was broken off tells more than the gateway.
    pub(super) fn fail(&self, failure: Failure) -> Failure {
        let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner).take();
        let failure = noted.map_or(failure, Failure::Refused);
        self.settle(match &failure {
            Failure::Refused(refusal) => Decision::Refused(refusal.kind, refusal.message.clone()),
            Failure::Failed(error) => Decision::Failed(error.kind, error.message.clone()),
        });
        failure
    }

    /// Writes the end into the log, once.
    pub(super) fn settle(&self, decision: Decision) {
        let duration = self.passed();
        let mut settled = false;
        self.event(|event| {
            if event.decision == Decision::Underway {
                (event.decision, event.duration, settled) = (decision, duration, true);
            }
        });
        if settled {
            self.with(|used, _| used.running = used.running.saturating_sub(1));
        }
    }
}
