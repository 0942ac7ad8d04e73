//! A command that runs, or has run, and what it wrote: clients come and go.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::{Either, select};
use tidebox_core::{ExecuteRequest, OutputEvent, OutputStream, StopReason};
use tokio::sync::{oneshot, watch};

use super::Shared;
use crate::house::Room;

/// A piece of output and its place in its stream.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    pub(super) stream: OutputStream,
    pub(super) offset: u64,
    pub(super) data: Vec<u8>,
}

impl Chunk {
    pub(super) fn end(&self) -> u64 {
        self.offset + self.data.len() as u64
    }
}

/// How a command ended.
#[derive(Clone, Debug)]
pub(super) enum End {
    Exit(i32),
    Failed { kind: &'static str, message: String },
}

/// Everything that a command wrote, and its end.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) chunks: Vec<Chunk>,
    pub(super) stdout: u64,
    pub(super) stderr: u64,
    pub(super) end: Option<End>,
}

/// One command.
#[derive(Debug)]
pub(crate) struct Session {
    pub(super) id: String,
    pub(super) pid: u64,
    record: Mutex<Record>,
    changed: watch::Sender<u64>,
    kill: Mutex<Option<oneshot::Sender<()>>>,
    clients: AtomicUsize,
    idle: Option<Duration>,
}

/// What a client asks for.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) id: String,
    pub(super) pid: u64,
    pub(super) request: ExecuteRequest,
    /// Seconds without a client after which it is killed; negative for never.
    pub(super) idle: i64,
    /// Seconds for which its end is remembered; negative for ever.
    pub(super) remembered: i64,
}

impl Session {
    pub(super) fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of every change.
    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    pub(super) fn kill(&self) {
        if let Some(kill) = self.kill.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // One that ended in this moment has nobody who listens.
            let _ = kill.send(());
        }
    }

    fn change(&self, change: impl FnOnce(&mut Record)) {
        change(&mut self.record());
        self.changed.send_modify(|version| *version += 1);
    }

    fn write(&self, event: OutputEvent) {
        self.change(|record| {
            let length = event.bytes.len() as u64;
            let end = if event.stream == OutputStream::Stdout { &mut record.stdout } else { &mut record.stderr };
            let offset = *end;
            *end += length;
            record.chunks.push(Chunk { stream: event.stream, offset, data: event.bytes });
        });
    }
}

/// A client that listens. When the last one goes, the command's idle time begins.
#[derive(Debug)]
pub(super) struct Listening(pub(super) Arc<Session>);

impl Listening {
    pub(super) fn new(session: Arc<Session>) -> Self {
        session.clients.fetch_add(1, Ordering::SeqCst);
        Self(session)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if self.0.clients.fetch_sub(1, Ordering::SeqCst) > 1 {
            return;
        }
        let (session, Some(idle)) = (Arc::clone(&self.0), self.0.idle) else { return };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                tokio::time::sleep(idle).await;
                if session.clients.load(Ordering::SeqCst) == 0 {
                    session.kill();
                }
            });
        }
    }
}

/// A number for a process. It is the emulator's own: each command of a local sandbox has processes of its own, which no other sees.
pub(super) fn next_pid() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(100);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn time(seconds: i64) -> Option<Duration> {
    u64::try_from(seconds).ok().map(Duration::from_secs)
}

impl Shared {
    pub(super) fn session(&self, sandbox: &str, id: &str) -> Option<Arc<Session>> {
        self.sessions().get(&(sandbox.to_owned(), id.to_owned())).cloned()
    }

    /// The command of this name: the one that runs already, or a new one.
    pub(super) fn begin(&self, sandbox: &str, room: Room, asked: Asked) -> Arc<Session> {
        let (kill, killed) = oneshot::channel();
        let session = {
            let mut sessions = self.sessions();
            let key = (sandbox.to_owned(), asked.id.clone());
            if let Some(session) = sessions.get(&key) {
                return Arc::clone(session);
            }
            let session = Arc::new(Session {
                id: asked.id,
                pid: asked.pid,
                record: Mutex::default(),
                changed: watch::channel(0).0,
                kill: Mutex::new(Some(kill)),
                clients: AtomicUsize::new(0),
                idle: time(asked.idle),
            });
            sessions.insert(key, Arc::clone(&session));
            session
        };
        self.busy(sandbox, true);
        let running = run(self.clone(), sandbox.to_owned(), Arc::clone(&session), room, asked.request, killed);
        let (shared, key, remembered) =
            (self.clone(), (sandbox.to_owned(), session.id.clone()), time(asked.remembered));
        tokio::spawn(async move {
            running.await;
            if let Some(time) = remembered {
                tokio::time::sleep(time).await;
                shared.sessions().remove(&key);
            }
        });
        session
    }
}

async fn run(
    shared: Shared,
    sandbox: String,
    session: Arc<Session>,
    room: Room,
    request: ExecuteRequest,
    killed: oneshot::Receiver<()>,
) {
    let time = request.timeout;
    let told = Arc::clone(&session);
    let mut sink = move |event: OutputEvent| told.write(event);
    let ended = {
        let running = room.sandbox.execute_streaming(request, &mut sink);
        match select(running, killed).await {
            Either::Left((ended, _)) => Some(ended),
            Either::Right(_) => None,
        }
    };
    let end = match ended {
        // What a signal ended has no code of its own.
        None => End::Exit(-1),
        Some(Ok(response)) if response.stopped_by == Some(StopReason::Timeout) => {
            let message = format!("command timed out after {} seconds", time.unwrap_or_default().as_secs());
            End::Failed { kind: "CommandTimeout", message }
        }
        Some(Ok(response)) => End::Exit(response.exit_code.unwrap_or(-1)),
        Some(Err(error)) => End::Failed { kind: "CommandError", message: error.to_string() },
    };
    shared.busy(&sandbox, false);
    session.change(|record| record.end = Some(end));
}
