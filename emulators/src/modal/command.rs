//! A command of a sandbox: its input, what it wrote, and its end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tidebox_core::shell_backend::quote;
use tidebox_core::{ExecuteRequest, OutputEvent, OutputStream, SandboxPath, StopReason};
use tidebox_remote_adapters::modal::messages::{ExitStatus, TaskExecStartRequest};
use tidebox_remote_adapters::modal::wire::FILE_TOOL;
use tokio::sync::watch;

use super::file_tool;
use super::life::variables;
use crate::house::Room;

/// The longest time that a command may take whose client names none.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// How long a command waits for input that nobody has announced. A sandbox here takes all of it at once, so a command begins when
/// its input has ended, when somebody asks what became of it, or after this time.
const PATIENCE: Duration = Duration::from_millis(300);

/// SIGKILL.
const KILLED: i32 = 9;

/// A command that was asked for.
#[derive(Debug)]
pub(super) struct Running {
    state: Mutex<State>,
    /// Counts changes of the state.
    changed: watch::Sender<u64>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) input: Vec<u8>,
    pub(super) input_began: bool,
    pub(super) input_ended: bool,
    /// The input was handed over; what comes later comes too late.
    pub(super) begun: bool,
    /// Somebody waits for what it writes.
    pub(super) asked: bool,
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

impl Running {
    /// Begins a command as soon as its input is there.
    pub(super) fn start(room: Room, request: TaskExecStartRequest) -> Arc<Self> {
        let running = Arc::new(Self { state: Mutex::default(), changed: watch::Sender::new(0) });
        let own = Arc::clone(&running);
        tokio::spawn(async move {
            let is_file_tool = request.command_args.first().is_some_and(|program| program == FILE_TOOL);
            let end = if is_file_tool {
                file_tool::run(&own, &room, &request.command_args).await
            } else {
                own.execute(&room, request).await
            };
            own.change(|state| (state.end, state.ended) = (Some(end), Some(Instant::now())));
        });
        running
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state and tells whoever waits.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.state());
        self.changed.send_modify(|count| *count += 1);
        changed
    }

    /// Waits until `what` has something to tell.
    pub(super) async fn until<T>(&self, mut what: impl FnMut(&mut State) -> Option<T>) -> T {
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

    /// The whole input, once it has ended.
    pub(super) async fn input(&self) -> Vec<u8> {
        self.until(|state| state.input_ended.then(|| take(state))).await
    }

    async fn execute(&self, room: &Room, request: TaskExecStartRequest) -> ExitStatus {
        let soon = self.until(|state| (state.input_ended || state.input_began || state.asked).then_some(()));
        // When nobody comes, nobody has input for it.
        let _ = tokio::time::timeout(PATIENCE, soon).await;
        let input = self.until(|state| (state.input_ended || !state.input_began).then(|| take(state))).await;
        let time =
            request.timeout_secs.filter(|seconds| *seconds > 0).map_or(LONGEST, |s| Duration::from_secs(s.into()));
        let mut execute = ExecuteRequest::new(line(&request.command_args)).with_timeout(time);
        execute.stdin = input;
        execute.env = variables(request.secret_sources).into_iter().collect();
        let workdir = request.workdir.or_else(|| room.notes.get("workdir").cloned());
        execute.cwd = workdir.and_then(|workdir| SandboxPath::parse(workdir).ok());
        let mut sink = |event: OutputEvent| {
            let kept = match event.stream {
                OutputStream::Stdout => request.stdout_config == 1,
                OutputStream::Stderr => request.stderr_config == 1,
            };
            // 2 sends standard error where standard output goes.
            let stream = match event.stream {
                OutputStream::Stderr if request.stderr_config == 2 => OutputStream::Stdout,
                stream => stream,
            };
            if kept || stream != event.stream {
                self.change(|state| state.written(stream).extend_from_slice(&event.bytes));
            }
        };
        match room.sandbox.execute_streaming(execute, &mut sink).await {
            Ok(response) if response.stopped_by == Some(StopReason::Timeout) => ExitStatus::Signal(KILLED),
            Ok(response) => response.exit_code.map_or(ExitStatus::Signal(KILLED), ExitStatus::Code),
            // The sandbox ended, and the command with it.
            Err(_) => ExitStatus::Signal(KILLED),
        }
    }
}

fn take(state: &mut State) -> Vec<u8> {
    state.begun = true;
    std::mem::take(&mut state.input)
}

/// The words as a line for the sandbox's shell. What is a shell already is not started twice.
fn line(words: &[String]) -> String {
    match words {
        [shell, option, script] if option == "-c" && matches!(shell.as_str(), "bash" | "/bin/bash") => script.clone(),
        words => words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" "),
    }
}
