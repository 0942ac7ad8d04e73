//! Processes that outlive their call, the same for every provider.
//!
//! A process is a command that a task of this client runs, so its output is kept here, and it ends with the client. A wrapper
//! creates a process group for it, which signals reach, and a FIFO as standard input: the protocols have neither in common.

mod script;

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_channel::oneshot;
use futures_util::future::{AbortHandle, Abortable, Either, FutureExt as _, Shared, select};
use futures_util::lock::Mutex;
use tidebox_core::{
    Error, ErrorKind, Limits, OutputChunk, OutputPage, OutputStream, ProcessId, ProcessInfo, ProcessInput, ProcessList,
    ProcessRecord, ProcessSignal, ProcessState, ReadOutput, Result, SandboxPath, SpawnInput, SpawnRequest, StopReason,
    TerminalSize, Upload, closed_process_input, missing_terminal,
};
use web_time::{SystemTime, UNIX_EPOCH};

use crate::data_plane::{Command, CommandOutcome, DataPlane, NewTerminal, TerminalControl};
use crate::output::OutputCollector;
use crate::sandbox::{EXIT_KILLED, EXIT_TIMEOUT, Settings};
use crate::transport::{sleep, spawn};
use script::ProcessFiles;

/// Maximum time of a command that sends a signal or input.
const CONTROL_TIME: Duration = Duration::from_secs(60);

/// Maximum number of bytes that one call writes to a process.
const MAX_WRITE_BYTES: usize = 1 << 20;

/// A process, shared by the list and the task that runs it.
#[derive(Debug)]
struct RemoteProcess {
    record: ProcessRecord,
    files: ProcessFiles,
    /// Ends the task.
    abort: AbortHandle,
    /// True while its standard input is open. Held while bytes are written.
    input: Mutex<bool>,
    /// The controls of its terminal, once that is open.
    terminal: Option<OpenedTerminal>,
}

type OpenedTerminal = Shared<oneshot::Receiver<Arc<dyn TerminalControl>>>;

/// The key that ends the input in a terminal, Ctrl-D.
const END_KEY: u8 = 4;

/// `TERM` of a process in a terminal.
const TERMINAL_TYPE: &str = "xterm-256color";

impl AsRef<ProcessRecord> for RemoteProcess {
    fn as_ref(&self) -> &ProcessRecord {
        &self.record
    }
}

/// Records the end if the executor drops the task.
struct TaskGuard(Arc<RemoteProcess>);

impl Drop for TaskGuard {
    fn drop(&mut self) {
        self.0.record.end(ProcessState::Ended { exit_code: None, stopped_by: Some(StopReason::Cancelled) });
    }
}

/// The processes of a sandbox that this client started. Dropping it kills them.
#[derive(Debug)]
pub(crate) struct Processes<P: DataPlane> {
    plane: Arc<P>,
    list: ProcessList<RemoteProcess>,
    next: AtomicU64,
}

impl<P: DataPlane> Processes<P> {
    pub(crate) fn new(plane: Arc<P>) -> Self {
        Self { plane, list: ProcessList::default(), next: AtomicU64::new(1) }
    }

    /// Starts a process. `nonce` is part of the names of its files.
    pub(crate) fn spawn(&self, request: SpawnRequest, settings: &Settings, nonce: u64) -> Result<ProcessId> {
        if let Some(size) = request.terminal {
            self.plane.terminals()?;
            size.check("spawn")?;
        }
        if let Some(process) = self.list.tagged(request.tag.as_deref()) {
            return Ok(process.record.id().clone());
        }
        let limits = Limits::default();
        if self.list.running().len() >= limits.background_processes as usize {
            let limit = limits.background_processes;
            let message = format!("the sandbox has {limit} processes, the maximum; stop one with signal_process");
            return Err(Error::new(ErrorKind::QuotaExceeded, "spawn", message));
        }
        if request.command.contains('\0') {
            let message = "a command cannot contain a NUL byte; write $'\\0' to print one";
            return Err(Error::new(ErrorKind::InvalidRequest, "spawn", message));
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let files = ProcessFiles::new(nonce, number);
        let has_input = request.input == SpawnInput::Open && request.terminal.is_none();
        let cwd = request.cwd.or_else(|| settings.cwd.clone()).map(|cwd| cwd.to_text().into_owned());
        let mut env: Vec<(String, String)> = settings.env.iter().cloned().chain(request.env).collect();
        let script = match request.terminal {
            None => files.run(&request.command, has_input),
            Some(_) => {
                if !env.iter().any(|(name, _)| name == "TERM") {
                    env.push(("TERM".to_owned(), TERMINAL_TYPE.to_owned()));
                }
                files.run_in_terminal(&request.command)
            }
        };
        let command = Command {
            script,
            cwd,
            env,
            timeout: request.timeout.unwrap_or(limits.background_time).min(limits.background_time),
        };
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let id = ProcessId::new(number.to_string());
        let (abort, registration) = AbortHandle::new_pair();
        let kept = limits.background_output_bytes;
        let record = ProcessRecord::new(id.clone(), request.tag, request.command, started, kept);
        let (new_terminal, terminal) = match request.terminal {
            None => (None, None),
            Some(size) => {
                let (opened, receiver) = oneshot::channel();
                (Some(NewTerminal { size, opened }), Some(receiver.shared()))
            }
        };
        let process = Arc::new(RemoteProcess { record, files, abort, input: Mutex::new(has_input), terminal });
        self.list.add(Arc::clone(&process));
        let guard = TaskGuard(process);
        let plane = Arc::clone(&self.plane);
        spawn(async move {
            let outcome = Abortable::new(run(&*plane, &guard.0, command, new_terminal), registration).await;
            guard.0.record.end(match outcome {
                Ok(state) => state,
                Err(_) => ProcessState::Ended { exit_code: Some(EXIT_KILLED), stopped_by: Some(StopReason::Cancelled) },
            });
        });
        Ok(id)
    }

    pub(crate) fn list(&self) -> Vec<ProcessInfo> {
        self.list.all().iter().map(|process| process.record.info()).collect()
    }

    pub(crate) async fn read(&self, id: &ProcessId, request: ReadOutput) -> Result<OutputPage> {
        let process = self.list.find("read_process", id)?;
        let wait = (!request.wait.is_zero()).then(|| Box::pin(sleep(request.wait)) as _);
        Ok(process.record.read(&request, wait).await)
    }

    pub(crate) async fn write(&self, id: &ProcessId, input: ProcessInput) -> Result<usize> {
        const OPERATION: &str = "write_process";
        let process = self.list.find(OPERATION, id)?;
        if let Some(terminal) = &process.terminal {
            return type_keys(&process.record, terminal.clone(), input).await;
        }
        let mut is_open = process.input.lock().await;
        let ended = poll_fn(|cx| process.record.poll_ended(cx));
        match input {
            ProcessInput::End if *is_open && !process.record.has_ended() => {
                *is_open = false;
                let closing = Box::pin(self.control(OPERATION, process.files.close_input()));
                match select(closing, ended).await {
                    Either::Left((closed, _)) => closed.map(|()| 0),
                    Either::Right(_) => Ok(0),
                }
            }
            ProcessInput::End => Ok(0),
            ProcessInput::Bytes(_) if !*is_open || process.record.has_ended() => {
                Err(closed_process_input(OPERATION, id))
            }
            ProcessInput::Bytes(mut bytes) => {
                bytes.truncate(MAX_WRITE_BYTES);
                let length = bytes.len();
                match select(Box::pin(self.send(&process.files, bytes)), ended).await {
                    Either::Left((sent, _)) => sent.map(|()| length),
                    Either::Right(_) => Err(closed_process_input(OPERATION, id)),
                }
            }
        }
    }

    async fn send(&self, files: &ProcessFiles, bytes: Vec<u8>) -> Result<()> {
        let upload = Upload::new(files.sent().into_bytes(), bytes);
        let stored = self.plane.store(vec![(SandboxPath::parse(files.sent())?, upload)]).await?;
        stored.into_iter().try_for_each(|stored| stored.result)?;
        self.control("write_process", files.send()).await
    }

    pub(crate) async fn signal(&self, id: &ProcessId, signal: ProcessSignal) -> Result<()> {
        const OPERATION: &str = "signal_process";
        let process = self.list.find(OPERATION, id)?;
        let ended = poll_fn(|cx| process.record.poll_ended(cx));
        let sending = Box::pin(self.control(OPERATION, process.files.signal(signal)));
        match select(ended, sending).await {
            Either::Left(_) => Ok(()),
            Either::Right((sent, _)) => sent,
        }
    }

    pub(crate) async fn resize(&self, id: &ProcessId, size: TerminalSize) -> Result<()> {
        const OPERATION: &str = "resize_process";
        let process = self.list.find(OPERATION, id)?;
        let terminal = process.terminal.clone().ok_or_else(|| missing_terminal(OPERATION, id))?;
        size.check(OPERATION)?;
        let resized = Box::pin(async move {
            // Without a terminal the process has ended, or will soon.
            if let Ok(control) = terminal.await { control.resize(size).await } else { Ok(()) }
        });
        match select(poll_fn(|cx| process.record.poll_ended(cx)), resized).await {
            Either::Left(_) => Ok(()),
            Either::Right((resized, _)) => resized,
        }
    }

    /// Runs a command that acts on a process.
    async fn control(&self, operation: &'static str, script: String) -> Result<()> {
        let mut output = OutputCollector::new(1 << 10, None);
        let command = Command { script, cwd: Some("/".to_owned()), env: Vec::new(), timeout: CONTROL_TIME };
        let outcome = self.plane.run(command, &mut output).await?;
        if outcome == CommandOutcome::Exit(0) {
            return Ok(());
        }
        let printed = output.into_response().output;
        let message = format!("the sandbox did not do it: {}", String::from_utf8_lossy(&printed).trim_end());
        Err(Error::new(ErrorKind::Unavailable, operation, message).with_context("sandbox", self.plane.id().as_str()))
    }

    /// Kills all.
    pub(crate) fn kill(&self) {
        for process in self.list.running() {
            process.abort.abort();
            let plane = Arc::clone(&self.plane);
            let script = process.files.signal(ProcessSignal::Kill);
            spawn(async move {
                let mut output = OutputCollector::new(0, None);
                let command = Command { script, cwd: Some("/".to_owned()), env: Vec::new(), timeout: CONTROL_TIME };
                // Ignore errors: it may have ended, and no caller is left to report to.
                let _ = plane.run(command, &mut output).await;
            });
        }
    }
}

impl<P: DataPlane> Drop for Processes<P> {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Types keys into the terminal of a process, once that is open.
async fn type_keys(record: &ProcessRecord, terminal: OpenedTerminal, input: ProcessInput) -> Result<usize> {
    let closed = || closed_process_input("write_process", record.id());
    let (keys, length) = match input {
        ProcessInput::End => (vec![END_KEY], 0),
        ProcessInput::Bytes(mut bytes) => {
            bytes.truncate(MAX_WRITE_BYTES);
            let length = bytes.len();
            (bytes, length)
        }
    };
    let typed = Box::pin(async move { terminal.await.map_err(|_| closed())?.write(keys).await });
    match select(poll_fn(|cx| record.poll_ended(cx)), typed).await {
        Either::Left(_) => Err(closed()),
        Either::Right((typed, _)) => typed.map(|()| length),
    }
}

/// Runs the command of a process to its end.
async fn run(
    plane: &impl DataPlane,
    process: &RemoteProcess,
    command: Command,
    terminal: Option<NewTerminal>,
) -> ProcessState {
    let mut sink = |chunk: OutputChunk| process.record.push(&chunk);
    let mut output = OutputCollector::forwarding(&mut sink);
    let ran = match terminal {
        None => plane.run(command, &mut output).await,
        Some(terminal) => {
            let ran = match plane.terminals() {
                Ok(terminals) => terminals.run_in_terminal(command, terminal, &mut output).await,
                Err(error) => Err(error),
            };
            let mut nothing = OutputCollector::new(0, None);
            let script = process.files.remove();
            let remove = Command { script, cwd: Some("/".to_owned()), env: Vec::new(), timeout: CONTROL_TIME };
            // Ignore errors: the files are small, and the sandbox may have ended.
            let _ = plane.run(remove, &mut nothing).await;
            ran
        }
    };
    let (exit_code, stopped_by) = match ran {
        Ok(CommandOutcome::Exit(code)) => (Some(code), None),
        Ok(CommandOutcome::Unknown) => (None, None),
        Ok(CommandOutcome::Timeout) => (Some(EXIT_TIMEOUT), Some(StopReason::Timeout)),
        Err(error) => {
            output.push(OutputStream::Stderr, format!("tidebox: {error}\n").as_bytes());
            (None, Some(StopReason::Cancelled))
        }
    };
    ProcessState::Ended { exit_code, stopped_by }
}
