//! Running and finished commands with their output, independent of client connections.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use futures_util::future::{Either, select};
use tidebox_core::lock::Mutex;
use tidebox_core::{ExecuteRequest, OutputChunk, OutputStream, StopReason};
use tokio::sync::{oneshot, watch};

use super::Shared;
use crate::input::{Input, InputQueue};
use crate::registry::SandboxRecord;

/// A chunk of output and its offset in the stream.
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

/// Result of a command.
#[derive(Clone, Debug)]
pub(super) enum End {
    Exit(i32),
    Failed { kind: &'static str, message: String },
}

/// Output of a command, and its result.
#[derive(Debug, Default)]
pub(super) struct OutputLog {
    pub(super) chunks: Vec<Chunk>,
    pub(super) stdout: u64,
    pub(super) stderr: u64,
    pub(super) end: Option<End>,
}

/// One command.
#[derive(Debug)]
pub(crate) struct RunningCommand {
    pub(super) id: String,
    pub(super) pid: u64,
    record: Mutex<OutputLog>,
    changed: watch::Sender<u64>,
    kill: Mutex<Option<oneshot::Sender<()>>>,
    /// Standard input, if it was opened and the command has not ended.
    input: Mutex<Option<InputQueue>>,
    clients: AtomicUsize,
    idle: Option<Duration>,
}

/// Parameters of a command.
#[derive(Debug)]
pub(super) struct CommandSpec {
    pub(super) id: String,
    pub(super) pid: u64,
    pub(super) request: ExecuteRequest,
    pub(super) input: Option<Input>,
    /// Seconds without a client after which it is killed; negative disables the limit.
    pub(super) idle: i64,
    /// Seconds that its result is kept; negative keeps it forever.
    pub(super) remembered: i64,
}

impl RunningCommand {
    pub(super) fn record(&self) -> MutexGuard<'_, OutputLog> {
        self.record.lock()
    }

    /// Subscribes to changes.
    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    pub(super) fn kill(&self) {
        if let Some(kill) = self.kill.lock().take() {
            // The receiver may already be dropped if the command has just ended; ignore the error.
            let _ = kill.send(());
        }
    }

    /// Sends text to the command. Ignored if its input is closed, since the protocol has no error for that.
    pub(super) fn push_input(&self, text: &str) {
        if let Some(input) = &*self.input.lock() {
            input.push(text.as_bytes().to_vec());
        }
    }

    pub(super) fn close_input(&self) {
        if let Some(input) = self.input.lock().take() {
            input.close();
        }
    }

    fn change(&self, change: impl FnOnce(&mut OutputLog)) {
        change(&mut self.record());
        self.changed.send_modify(|version| *version += 1);
    }

    fn write(&self, event: OutputChunk) {
        self.change(|record| {
            let length = event.bytes.len() as u64;
            let end = if event.stream == OutputStream::Stdout { &mut record.stdout } else { &mut record.stderr };
            let offset = *end;
            *end += length;
            record.chunks.push(Chunk { stream: event.stream, offset, data: event.bytes });
        });
    }
}

/// A connected client. When the last one disconnects, the command's idle time starts.
#[derive(Debug)]
pub(super) struct ClientGuard(pub(super) Arc<RunningCommand>);

impl ClientGuard {
    pub(super) fn new(session: Arc<RunningCommand>) -> Self {
        session.clients.fetch_add(1, Ordering::SeqCst);
        Self(session)
    }
}

impl Drop for ClientGuard {
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

/// Returns a process id. The emulator numbers processes itself: commands of a local sandbox do not see each other's
/// processes.
pub(super) fn next_pid() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(100);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn time(seconds: i64) -> Option<Duration> {
    u64::try_from(seconds).ok().map(Duration::from_secs)
}

impl Shared {
    pub(super) fn session(&self, sandbox: &str, id: &str) -> Option<Arc<RunningCommand>> {
        self.sessions().get(&(sandbox.to_owned(), id.to_owned())).cloned()
    }

    /// Returns the command with this name: the running one, or a new one.
    pub(super) fn start_or_attach(
        &self,
        sandbox: &str,
        record: SandboxRecord,
        params: CommandSpec,
    ) -> Arc<RunningCommand> {
        let (kill, killed) = oneshot::channel();
        let session = {
            let mut sessions = self.sessions();
            let key = (sandbox.to_owned(), params.id.clone());
            if let Some(session) = sessions.get(&key) {
                if let Some(unused) = params.input {
                    tokio::spawn(async move { unused.remove().await });
                }
                return Arc::clone(session);
            }
            let session = Arc::new(RunningCommand {
                id: params.id,
                pid: params.pid,
                record: Mutex::default(),
                changed: watch::channel(0).0,
                kill: Mutex::new(Some(kill)),
                input: Mutex::new(params.input.clone().map(InputQueue::new)),
                clients: AtomicUsize::new(0),
                idle: time(params.idle),
            });
            sessions.insert(key, Arc::clone(&session));
            session
        };
        self.set_busy(sandbox, true);
        let command = (params.request, params.input);
        let running = run(self.clone(), sandbox.to_owned(), Arc::clone(&session), record, command, killed);
        let (shared, key, remembered) =
            (self.clone(), (sandbox.to_owned(), session.id.clone()), time(params.remembered));
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
    session: Arc<RunningCommand>,
    record: SandboxRecord,
    (request, input): (ExecuteRequest, Option<Input>),
    killed: oneshot::Receiver<()>,
) {
    let time = request.timeout;
    let output_session = Arc::clone(&session);
    let mut sink = move |event: OutputChunk| output_session.write(event);
    let ended = {
        let running = record.sandbox.execute_streaming(request, &mut sink);
        match select(running, killed).await {
            Either::Left((ended, _)) => Some(ended),
            Either::Right(_) => None,
        }
    };
    session.input.lock().take();
    if let Some(input) = input {
        input.remove().await;
    }
    let end = match ended {
        // A command killed by a signal has no exit code.
        None => End::Exit(-1),
        Some(Ok(response)) if response.stopped_by == Some(StopReason::Timeout) => {
            let message = format!("command timed out after {} seconds", time.unwrap_or_default().as_secs());
            End::Failed { kind: "CommandTimeout", message }
        }
        Some(Ok(response)) => End::Exit(response.exit_code.unwrap_or(-1)),
        Some(Err(error)) => End::Failed { kind: "CommandError", message: error.to_string() },
    };
    shared.set_busy(&sandbox, false);
    session.change(|record| record.end = Some(end));
}
