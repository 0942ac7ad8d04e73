//! A command of a sandbox: its input, output and result.

use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

use tidebox_core::lock::Mutex;
use tidebox_core::shell_backend::quote;
use tidebox_core::{ExecuteRequest, OutputChunk, OutputStream, SandboxPath, StopReason};
use tidebox_remote_adapters::modal::messages::{ExitStatus, TaskExecStartRequest};
use tidebox_remote_adapters::modal::wire::FILE_TOOL;
use tokio::sync::watch;

use super::file_tool;
use super::sandboxes::variables;
use crate::input::{Input, InputQueue};
use crate::registry::SandboxRecord;

/// Maximum duration of a command whose client specifies none.
const MAX_LENGTH: Duration = Duration::from_secs(24 * 60 * 60);

/// Wait time for the end of the input before a command starts. The protocol does not announce input, and a command
/// whose input is complete needs no FIFO.
const INPUT_WAIT: Duration = Duration::from_millis(50);

/// Maximum time for which the main command of a sandbox waits for its client. A real one starts late enough for the client to
/// request its task first; without a task the client reports that the sandbox has finished.
const CLIENT_WAIT: Duration = Duration::from_secs(1);

/// SIGKILL.
pub(super) const KILLED: i32 = 9;

/// A requested command.
#[derive(Debug)]
pub(super) struct RunningCommand {
    state: Mutex<State>,
    /// Counts changes of the state.
    changed: watch::Sender<u64>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    /// Input that the command has not taken yet.
    pub(super) input: Vec<u8>,
    /// Number of received bytes of input.
    pub(super) received: u64,
    pub(super) input_ended: bool,
    /// The command has taken its input, or receives it from the queue.
    pub(super) started: bool,
    /// A client knows the task, so that it can follow the command.
    pub(super) is_known: bool,
    /// Receives later input.
    pub(super) queue: Option<InputQueue>,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) end: Option<ExitStatus>,
    pub(super) ended: Option<Instant>,
}

impl State {
    pub(super) fn written(&mut self, stream: OutputStream) -> &mut Vec<u8> {
        match stream {
            OutputStream::Stdout => &mut self.stdout,
            OutputStream::Stderr => &mut self.stderr,
        }
    }
}

impl RunningCommand {
    /// Starts the main command of a sandbox, once a client knows its task.
    pub(super) fn start_main(sandbox: SandboxRecord, request: TaskExecStartRequest) -> Arc<Self> {
        Self::spawn(sandbox, request, CLIENT_WAIT)
    }

    /// Starts a command. The tool for files waits for the end of its input.
    pub(super) fn start(sandbox: SandboxRecord, request: TaskExecStartRequest) -> Arc<Self> {
        Self::spawn(sandbox, request, Duration::ZERO)
    }

    fn spawn(sandbox: SandboxRecord, request: TaskExecStartRequest, wait: Duration) -> Arc<Self> {
        let running = Arc::new(Self { state: Mutex::default(), changed: watch::Sender::new(0) });
        let own = Arc::clone(&running);
        tokio::spawn(async move {
            let known = own.wait_until(|state| state.is_known.then_some(()));
            // Without a client it starts after the wait.
            let _ = tokio::time::timeout(wait, known).await;
            let is_file_tool = request.command_args.first().is_some_and(|program| program == FILE_TOOL);
            let end = if is_file_tool {
                file_tool::run(&own, &sandbox, &request.command_args).await
            } else {
                own.execute(&sandbox, request).await
            };
            own.change(|state| (state.end, state.ended) = (Some(end), Some(Instant::now())));
        });
        running
    }

    /// Returns a command that never ends.
    pub(super) fn idle() -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), changed: watch::Sender::new(0) })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Changes the state and notifies waiters.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.state());
        self.changed.send_modify(|count| *count += 1);
        changed
    }

    /// Waits until `what` returns a value.
    pub(super) async fn wait_until<T>(&self, mut what: impl FnMut(&mut State) -> Option<T>) -> T {
        let mut changes = self.changed.subscribe();
        loop {
            let found = what(&mut self.state());
            if let Some(found) = found {
                return found;
            }
            // The sender lives as long as this value.
            let _ = changes.changed().await;
        }
    }

    /// Returns the whole input, once it has ended.
    pub(super) async fn input(&self) -> Vec<u8> {
        self.wait_until(|state| state.input_ended.then(|| take(state))).await
    }

    /// Opens the input of a command, or returns all of it if it is complete after a short time.
    async fn open_input(&self, sandbox: &SandboxRecord) -> Result<Input, Vec<u8>> {
        let whole = self.wait_until(|state| state.input_ended.then_some(()));
        if tokio::time::timeout(INPUT_WAIT, whole).await.is_err()
            && let Ok(input) = Input::open(&sandbox.sandbox).await
        {
            let queue = InputQueue::new(input.clone());
            self.change(|state| {
                queue.push(take(state));
                if state.input_ended {
                    queue.close();
                }
                state.queue = Some(queue);
            });
            return Ok(input);
        }
        // A sandbox in which no FIFO can be created still runs commands; later input is rejected.
        Err(self.change(|state| {
            state.input_ended = true;
            take(state)
        }))
    }

    async fn execute(&self, sandbox: &SandboxRecord, request: TaskExecStartRequest) -> ExitStatus {
        let input = self.open_input(sandbox).await;
        let end = self.run(sandbox, request, &input).await;
        self.change(|state| state.queue = None);
        if let Ok(input) = input {
            input.remove().await;
        }
        end
    }

    async fn run(
        &self,
        sandbox: &SandboxRecord,
        request: TaskExecStartRequest,
        input: &Result<Input, Vec<u8>>,
    ) -> ExitStatus {
        let time =
            request.timeout_secs.filter(|seconds| *seconds > 0).map_or(MAX_LENGTH, |s| Duration::from_secs(s.into()));
        let line = line(&request.command_args);
        let mut execute = match input {
            Ok(input) => ExecuteRequest::new(input.redirect(&line)),
            Err(whole) => ExecuteRequest::new(line).with_stdin(whole.clone()),
        }
        .with_timeout(time);
        execute.env = variables(request.secret_sources).into_iter().collect();
        let workdir = request.workdir.or_else(|| sandbox.metadata.get("workdir").cloned());
        execute.cwd = workdir.and_then(|workdir| SandboxPath::parse(workdir).ok());
        let mut sink = |event: OutputChunk| {
            let kept = match event.stream {
                OutputStream::Stdout => request.stdout_config == 1,
                OutputStream::Stderr => request.stderr_config == 1,
            };
            // 2 redirects standard error to standard output.
            let stream = match event.stream {
                OutputStream::Stderr if request.stderr_config == 2 => OutputStream::Stdout,
                stream => stream,
            };
            if kept || stream != event.stream {
                self.change(|state| state.written(stream).extend_from_slice(&event.bytes));
            }
        };
        match sandbox.sandbox.execute_streaming(execute, &mut sink).await {
            Ok(response) if response.stopped_by == Some(StopReason::Timeout) => ExitStatus::Signal(KILLED),
            Ok(response) => response.exit_code.map_or(ExitStatus::Signal(KILLED), ExitStatus::Code),
            // The sandbox has ended, and the command with it.
            Err(_) => ExitStatus::Signal(KILLED),
        }
    }
}

fn take(state: &mut State) -> Vec<u8> {
    state.started = true;
    std::mem::take(&mut state.input)
}

/// Returns the arguments as a command line for the sandbox's shell. A shell command is not wrapped in another shell.
pub(super) fn line(words: &[String]) -> String {
    match words {
        [shell, option, script] if option == "-c" && matches!(shell.as_str(), "bash" | "/bin/bash") => script.clone(),
        words => words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" "),
    }
}
