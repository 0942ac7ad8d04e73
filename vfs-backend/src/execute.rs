//! Running a command line: one session of the kernel, driven by the engine.

use std::sync::Arc;
use std::time::Duration;

use tidebox_core::{
    Error, ErrorKind, ExecuteRequest, ExecuteResponse, OutputEvent, OutputSink, OutputStream, Result, SandboxPath,
    StopReason,
};
use tidebox_kernel::fs::{Kind, Target};
use tidebox_kernel::{Chunk, Errno, Kernel, Printed, Report, SessionId, SessionSpec, SharedKernel, Stop, Stream};

use crate::USER;
use crate::backend::{VfsBackend, lock};
use crate::shell_state::Ticket;

const SHELL: &str = "/bin/bash";

/// `timeout(1)` ends with this when the time is up.
const TIMED_OUT: i32 = 124;

/// 128 + SIGKILL, as after the kernel's OOM killer.
const KILLED: i32 = 137;

/// What a shell says when it finds a program but cannot run it.
const CANNOT_EXECUTE: i32 = 126;

/// What a shell says when it does not find a program.
const NOT_FOUND: i32 = 127;

/// Variables as a process gets them, each `NAME=value`.
#[derive(Clone, Debug)]
pub(crate) struct Environment(Vec<Vec<u8>>);

impl Environment {
    pub(crate) fn new(variables: &[(String, String)], cwd: &SandboxPath) -> Result<Self> {
        let mut environment = Self(Vec::new());
        for (name, value) in [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("HOME", "/workspace"),
            ("USER", "tidebox"),
            ("LOGNAME", "tidebox"),
            ("SHELL", SHELL),
            ("LANG", "C.UTF-8"),
            ("TERM", "dumb"),
        ] {
            environment.set(name.as_bytes(), value.as_bytes());
        }
        environment.set(b"PWD", cwd.as_bytes());
        environment.add(variables)?;
        Ok(environment)
    }

    /// The variables alone, each `NAME=value`, the last of two with the same name.
    pub(crate) fn only(variables: &[(String, String)]) -> Result<Vec<Vec<u8>>> {
        let mut environment = Self(Vec::new());
        environment.add(variables)?;
        Ok(environment.0)
    }

    /// Has the processes begin in a directory.
    pub(crate) fn enter(&mut self, cwd: &SandboxPath) {
        self.set(b"PWD", cwd.as_bytes());
    }

    pub(crate) fn into_variables(self) -> Vec<Vec<u8>> {
        self.0
    }

    pub(crate) fn add(&mut self, variables: &[(String, String)]) -> Result<()> {
        for (name, value) in variables {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                let message = format!(
                    "the environment variable '{}' cannot be set: a name must not be empty or contain '=', \
                     and neither name nor value a NUL byte",
                    name.escape_default()
                );
                return Err(Error::new(ErrorKind::InvalidRequest, "execute", message));
            }
            self.set(name.as_bytes(), value.as_bytes());
        }
        Ok(())
    }

    fn set(&mut self, name: &[u8], value: &[u8]) {
        let variable = [name, b"=", value].concat();
        let same = |old: &&mut Vec<u8>| old.strip_prefix(name).is_some_and(|rest| rest.first() == Some(&b'='));
        match self.0.iter_mut().find(same) {
            Some(old) => *old = variable,
            None => self.0.push(variable),
        }
    }
}

/// A session that is ended on every way out, also when the caller drops the future.
struct Running<'a> {
    backend: &'a VfsBackend,
    kernel: SharedKernel,
    session: SessionId,
    ended: bool,
}

impl Running<'_> {
    fn end(mut self) -> (Printed, Report, u64) {
        self.ended = true;
        self.backend.forget(self.session);
        let mut kernel = lock(&self.kernel);
        let printed = kernel.take_printed(self.session);
        (printed, kernel.end(self.session), kernel.monotonic())
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.backend.forget(self.session);
            lock(&self.kernel).end(self.session);
        }
    }
}

/// What a command wrote, for the caller who waits and for the one who watches.
pub(crate) struct Delivery<'a> {
    pub(crate) response: ExecuteResponse,
    pub(crate) sink: Option<OutputSink<'a>>,
}

impl Delivery<'_> {
    fn chunk(&mut self, chunk: Chunk) {
        self.event(OutputEvent { stream: stream(chunk.stream), bytes: chunk.bytes });
    }

    pub(crate) fn printed(&mut self, printed: &Printed) {
        for (from, run) in printed.runs() {
            if self.sink.is_some() {
                self.event(OutputEvent { stream: stream(from), bytes: run.to_vec() });
            } else {
                self.response.push_bytes(stream(from), run);
            }
        }
    }

    fn event(&mut self, event: OutputEvent) {
        self.response.push(&event);
        if let Some(sink) = &mut self.sink {
            sink(event);
        }
    }

    /// Words of our own, on a line of their own, whatever the command wrote last.
    fn say(&mut self, message: &str) {
        let broken = self.response.output.last().is_some_and(|last| *last != b'\n');
        let start = if broken { "\n" } else { "" };
        let bytes = format!("{start}tidebox: {message}\n").into_bytes();
        self.event(OutputEvent { stream: OutputStream::Stderr, bytes });
    }

    /// The answer to a command that could not begin.
    fn refuse(mut self, refused: Refused) -> ExecuteResponse {
        self.response.exit_code = Some(refused.code);
        self.say(&refused.message);
        self.response
    }
}

fn stream(stream: Stream) -> OutputStream {
    match stream {
        Stream::Stdout => OutputStream::Stdout,
        Stream::Stderr => OutputStream::Stderr,
    }
}

/// Why a command could not begin. Not a failure of ours: the command, its directory or the shell is not usable.
struct Refused {
    code: i32,
    message: String,
}

pub(crate) async fn execute(
    backend: &VfsBackend,
    request: ExecuteRequest,
    sink: Option<OutputSink<'_>>,
) -> Result<ExecuteResponse> {
    let kernel = backend.kernel("execute")?;
    let mut delivery = Delivery { response: ExecuteResponse::default(), sink };
    let timeout = request.timeout;
    let ticket = backend.shell_ticket(&request)?;
    let begun =
        specify(backend, request, ticket.is_some())?.and_then(|spec| begin(&mut lock(&kernel), spec, ticket.as_ref()));
    let (session, started) = match begun {
        Ok(begun) => begun,
        Err(refused) => return Ok(delivery.refuse(refused)),
    };
    let running = Running { backend, kernel: Arc::clone(&kernel), session, ended: false };
    // Who closed the sandbox a moment ago did not see this session.
    backend.remember(session)?;
    let wall_time = timeout.unwrap_or_else(|| lock(&kernel).limits().wall_time);
    lock(&kernel).limit_waiting(session, wall_time);
    let driven = if delivery.sink.is_some() {
        let mut on_output = |chunk| delivery.chunk(chunk);
        backend.engine().drive(&kernel, session, wall_time, Some(&mut on_output)).await
    } else {
        backend.engine().drive(&kernel, session, wall_time, None).await
    };
    let (printed, report, now) = running.end();
    if let (Some(ticket), Some(state)) = (ticket, &report.shell_state) {
        backend.leave_shell_state(&ticket, state);
    }
    delivery.printed(&printed);
    if let Err(error) = driven {
        let message = format!("the engine failed: {error}");
        return Err(Error::new(ErrorKind::Engine, "execute", message)
            .with_context("sandbox", backend.name())
            .with_source(error));
    }
    conclude(&mut delivery, &report, wall_time, backend.is_closed());
    let mut response = delivery.response;
    response.duration = Duration::from_nanos(now.saturating_sub(started));
    response.truncated = report.truncated;
    response.peak_memory_bytes = report.peak_memory_bytes;
    Ok(response)
}

/// What the kernel needs to know; else how the command fails without having begun.
fn specify(
    backend: &VfsBackend,
    request: ExecuteRequest,
    persistent: bool,
) -> Result<std::result::Result<SessionSpec, Refused>> {
    let mut environment = backend.environment().clone();
    let cwd = match &request.cwd {
        Some(cwd) => {
            environment.enter(cwd);
            cwd.as_bytes().to_vec()
        }
        None => backend.cwd().as_bytes().to_vec(),
    };
    // A session gets them apart, because they do not stay in it.
    if !persistent {
        environment.add(&request.env)?;
    }
    if request.command.contains('\0') {
        let message =
            "the command contains a NUL byte, which no shell can take; let printf make one instead".to_owned();
        return Ok(Err(Refused { code: CANNOT_EXECUTE, message }));
    }
    Ok(Ok(SessionSpec {
        argv: vec![b"bash".to_vec(), b"-c".to_vec(), request.command.into_bytes()],
        env: environment.0,
        cwd,
        program: SHELL.as_bytes().to_vec(),
        stdin: request.stdin,
        output_bytes: 0,
        shell_state: None,
        conversation: false,
    }))
}

/// Begins the session; answers its number and the time.
fn begin(
    kernel: &mut Kernel,
    mut spec: SessionSpec,
    ticket: Option<&Ticket>,
) -> std::result::Result<(SessionId, u64), Refused> {
    let started = kernel.monotonic();
    spec.output_bytes = kernel.limits().output_bytes;
    if let Some(ticket) = ticket {
        // The session may be elsewhere by now, so losing the sandbox's directory does not end it.
        let astray = !ticket.names_cwd && enter(kernel, &spec.cwd).is_err();
        if astray {
            spec.cwd = b"/".to_vec();
        }
        spec.shell_state = Some(ticket.handed_in(astray));
    }
    let cwd = spec.cwd.clone();
    match kernel.begin(spec) {
        Ok((session, _)) => Ok((session, started)),
        Err(errno) => Err(not_begun(kernel, &cwd, errno)),
    }
}

/// Whether a command may start in the directory.
fn enter(kernel: &Kernel, cwd: &[u8]) -> std::result::Result<(), Errno> {
    let fs = kernel.fs();
    match fs.walk(&USER, fs.root(), cwd, true)? {
        Target::Node(ino) if matches!(fs.stat(ino)?.kind, Kind::Dir) => fs.access(&USER, ino, crate::file::ENTER),
        Target::Node(_) => Err(Errno::Notdir),
        Target::Proc(_) => Ok(()),
    }
}

/// Which of the two files it needs the kernel could not use.
fn not_begun(kernel: &Kernel, cwd: &[u8], errno: Errno) -> Refused {
    let entered = enter(kernel, cwd);
    let (code, what) = match (entered, errno) {
        (Err(_), _) => {
            (CANNOT_EXECUTE, format!("cannot enter the working directory '{}'", String::from_utf8_lossy(cwd)))
        }
        (Ok(()), Errno::Noent) => (NOT_FOUND, format!("cannot start {SHELL}; install a shell in the base image")),
        (Ok(()), Errno::TooBig) => (CANNOT_EXECUTE, "the command and the environment are too long".to_owned()),
        (Ok(()), _) => (CANNOT_EXECUTE, format!("cannot start {SHELL}")),
    };
    Refused { code, message: format!("{what}: {}", entered.err().unwrap_or(errno)) }
}

/// Exit code and reason. Our own message comes on top of the limit on output, because without it nobody would know why the
/// command ended. Of memory the engine has told already.
pub(crate) fn conclude(delivery: &mut Delivery<'_>, report: &Report, wall_time: Duration, closed: bool) {
    let (reason, code, message) = match report.stopped_by {
        None => (None, report.status.map(|status| status.code()), None),
        Some(Stop::Time) => {
            let message = format!(
                "the command was stopped because it ran for {wall_time:?}; give it a longer timeout or less to do"
            );
            (Some(StopReason::Timeout), Some(TIMED_OUT), Some(message))
        }
        Some(Stop::Memory) => (Some(StopReason::Memory), Some(KILLED), None),
        Some(Stop::Output) => {
            let message = "the command was stopped because it wrote too much".to_owned();
            (Some(StopReason::Output), Some(KILLED), Some(message))
        }
        Some(Stop::Caller) => {
            let why = if closed { "the sandbox was closed" } else { "its caller gave it up" };
            (Some(StopReason::Cancelled), Some(KILLED), Some(format!("the command was stopped because {why}")))
        }
        Some(Stop::Restore) => {
            let message = "the command was stopped because the sandbox went back to a snapshot".to_owned();
            (Some(StopReason::Cancelled), Some(KILLED), Some(message))
        }
    };
    delivery.response.stopped_by = reason;
    delivery.response.exit_code = code;
    if let Some(message) = message {
        delivery.say(&message);
    }
}
