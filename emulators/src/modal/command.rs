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
use crate::registry::SandboxRecord;

/// Maximum duration of a command whose client specifies none.
const MAX_LENGTH: Duration = Duration::from_secs(24 * 60 * 60);

/// Wait time for unannounced input. A local sandbox takes all input at the start, so a command starts when its input
/// has ended, when a client requests its output or result, or after this time.
const INPUT_WAIT: Duration = Duration::from_millis(300);

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
    pub(super) input: Vec<u8>,
    pub(super) input_began: bool,
    pub(super) input_ended: bool,
    /// The input was passed to the sandbox; later input is rejected.
    pub(super) started: bool,
    /// A client waits for its output.
    pub(super) output_requested: bool,
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
    /// Starts a command once its input is complete.
    pub(super) fn start(sandbox: SandboxRecord, request: TaskExecStartRequest) -> Arc<Self> {
        let running = Arc::new(Self { state: Mutex::default(), changed: watch::Sender::new(0) });
        let own = Arc::clone(&running);
        tokio::spawn(async move {
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

    async fn execute(&self, sandbox: &SandboxRecord, request: TaskExecStartRequest) -> ExitStatus {
        let soon =
            self.wait_until(|state| (state.input_ended || state.input_began || state.output_requested).then_some(()));
        // Without any request in time, the input counts as empty.
        let _ = tokio::time::timeout(INPUT_WAIT, soon).await;
        let input = self.wait_until(|state| (state.input_ended || !state.input_began).then(|| take(state))).await;
        let time =
            request.timeout_secs.filter(|seconds| *seconds > 0).map_or(MAX_LENGTH, |s| Duration::from_secs(s.into()));
        let mut execute = ExecuteRequest::new(line(&request.command_args)).with_timeout(time);
        execute.stdin = input;
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
