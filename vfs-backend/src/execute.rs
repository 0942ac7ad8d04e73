//! Running a command line: one execution in the kernel, driven by the engine.

use std::sync::Arc;
use std::time::Duration;

use tidebox_core::{
    Background, Error, ErrorKind, ExecuteRequest, ExecuteResponse, Limits, OutputBuffer, OutputChunk, OutputOverflow,
    OutputSink, OutputStream, Result, SandboxPath, StopReason,
};
use tidebox_kernel::fs::{Kind, Resolved};
use tidebox_kernel::{CStringList, Errno, ExecutionId, ExecutionReport, ExecutionSpec, Kernel, SharedKernel};

use crate::USER;
use crate::backend::VfsBackend;
use crate::shell_state::SessionStart;

const SHELL: &str = "/bin/bash";

/// Exit code of `timeout(1)` on timeout.
const EXIT_TIMEOUT: i32 = 124;

/// 128 + SIGKILL, as after the kernel's OOM killer.
const EXIT_KILLED: i32 = 137;

/// Exit code of a command that used up its processor time, as after SIGXCPU.
const EXIT_CPU_TIME: i32 = 152;

/// Exit code of a shell for a program that it finds and cannot run.
const CANNOT_EXECUTE: i32 = 126;

/// Exit code of a shell for a program that it does not find.
const NOT_FOUND: i32 = 127;

/// Bytes that hold the variables of every sandbox, with a short working directory.
const DEFAULT_ENVIRONMENT_BYTES: usize = 192;

/// Environment of a process, each variable as `NAME=value`.
#[derive(Clone, Debug)]
pub(crate) struct Environment(CStringList);

impl Environment {
    pub(crate) fn new(variables: &[(String, String)], cwd: &SandboxPath) -> Result<Self> {
        let mut environment = Self(CStringList::with_capacity(DEFAULT_ENVIRONMENT_BYTES));
        for (name, value) in [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("HOME", "/workspace"),
            ("USER", "tidebox"),
            ("LOGNAME", "tidebox"),
            ("SHELL", SHELL),
            ("LANG", "C.UTF-8"),
            ("TERM", "dumb"),
        ] {
            environment.0.push(&[name.as_bytes(), b"=", value.as_bytes()]);
        }
        environment.0.push(&[b"PWD=", cwd.as_bytes()]);
        environment.add(variables)?;
        Ok(environment)
    }

    /// Returns only the variables, each as `NAME=value`; the last of two with the same name wins.
    pub(crate) fn variables_only(variables: &[(String, String)]) -> Result<Vec<Vec<u8>>> {
        let mut environment = Self(CStringList::default());
        environment.add(variables)?;
        Ok(environment.0.iter().map(<[u8]>::to_vec).collect())
    }

    /// Sets the directory in which the processes start.
    pub(crate) fn check_cwd(&mut self, cwd: &SandboxPath) {
        self.set(b"PWD", cwd.as_bytes());
    }

    pub(crate) fn into_variables(self) -> CStringList {
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
        let variable = [name, b"=", value];
        let is_same = |old: &[u8]| old.strip_prefix(name).is_some_and(|rest| rest.first() == Some(&b'='));
        if !self.0.iter().any(is_same) {
            return self.0.push(&variable);
        }
        let mut replaced = CStringList::default();
        for old in self.0.iter() {
            replaced.push(if is_same(old) { &variable } else { std::slice::from_ref(&old) });
        }
        self.0 = replaced;
    }
}

/// Guard of an execution that ends it on every exit path, including when the caller drops the future.
struct ExecutionGuard<'a> {
    backend: &'a VfsBackend,
    kernel: SharedKernel,
    session: ExecutionId,
    ended: bool,
}

impl ExecutionGuard<'_> {
    fn end(mut self) -> (OutputBuffer, ExecutionReport, u64) {
        self.ended = true;
        self.backend.unregister_execution(self.session);
        let mut kernel = self.kernel.lock();
        let printed = kernel.take_printed(self.session);
        (printed, kernel.finish_execution(self.session), kernel.monotonic())
    }
}

impl Drop for ExecutionGuard<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.backend.unregister_execution(self.session);
            self.kernel.lock().finish_execution(self.session);
        }
    }
}

/// Collects a command's output for the response and for the output callback.
pub(crate) struct OutputCollector<'a> {
    pub(crate) response: ExecuteResponse,
    sink: Option<OutputSink<'a>>,
    /// The last bytes and their maximum number, if the response has to keep those.
    tail: Option<(OutputBuffer, u64)>,
}

impl<'a> OutputCollector<'a> {
    pub(crate) fn new(sink: Option<OutputSink<'a>>) -> Self {
        Self { response: ExecuteResponse::default(), sink, tail: None }
    }

    /// Keeps only the last `bytes` bytes in the response.
    pub(crate) fn keep_tail(&mut self, bytes: u64) {
        self.tail = Some((OutputBuffer::default(), bytes));
    }

    /// Moves the output that was kept to the response.
    pub(crate) fn finish_tail(&mut self) {
        let Some((mut tail, bytes)) = self.tail.take() else { return };
        tail.keep_tail(bytes);
        for (stream, run) in tail.runs() {
            self.response.push_bytes(stream, run);
        }
    }

    pub(crate) fn push_buffer(&mut self, printed: &OutputBuffer) {
        for (stream, run) in printed.runs() {
            if self.sink.is_some() {
                self.push_chunk(OutputChunk { stream, bytes: run.to_vec() });
            } else if let Some((tail, bytes)) = &mut self.tail {
                tail.push_tail(stream, run, *bytes);
            } else {
                self.response.push_bytes(stream, run);
            }
        }
    }

    fn push_chunk(&mut self, chunk: OutputChunk) {
        match &mut self.tail {
            Some((tail, bytes)) => tail.push_tail(chunk.stream, &chunk.bytes, *bytes),
            None => self.response.push_chunk(&chunk),
        }
        if let Some(sink) = &mut self.sink {
            sink(chunk);
        }
    }

    /// Appends a message of Tidebox, on a separate line even after an unfinished line.
    pub(crate) fn append_message(&mut self, message: &str) {
        let broken = self.response.output.last().is_some_and(|last| *last != b'\n');
        let start = if broken { "\n" } else { "" };
        let bytes = format!("{start}tidebox: {message}\n").into_bytes();
        self.push_chunk(OutputChunk { stream: OutputStream::Stderr, bytes });
    }

    /// Creates the response of a command that could not start.
    pub(crate) fn into_failed(mut self, error: StartError) -> ExecuteResponse {
        self.response.exit_code = Some(error.code);
        self.append_message(&error.message);
        self.response
    }
}

/// Reason why a command could not start. Not an error of the call: the command, its directory or the shell is not
/// usable.
pub(crate) struct StartError {
    code: i32,
    message: String,
}

impl StartError {
    /// Converts it for a call without a response of a command.
    pub(crate) fn into_error(self, operation: &'static str) -> Error {
        Error::new(ErrorKind::InvalidRequest, operation, self.message)
    }
}

/// An execution that has started.
pub(crate) struct Started {
    pub(crate) execution: ExecutionId,
    /// Monotonic time in nanoseconds.
    pub(crate) time: u64,
}

pub(crate) async fn execute(
    backend: &VfsBackend,
    request: ExecuteRequest,
    sink: Option<OutputSink<'_>>,
) -> Result<ExecuteResponse> {
    if request.background == Background::Keep {
        return crate::background::execute_and_keep(backend, request, sink).await;
    }
    let kernel = backend.kernel("execute")?;
    let mut collector = OutputCollector::new(sink);
    let overflow = request.output_overflow;
    let timeout = request.timeout;
    let ticket = backend.begin_shell_session(&request)?;
    let begun = build_spec(backend, request, ticket.is_some())?.and_then(|spec| {
        let mut kernel = kernel.lock();
        let output_bytes = kernel.limits().output_bytes;
        start(&mut kernel, spec, ticket.as_ref(), output_bytes)
    });
    let Started { execution: session, time: started } = match begun {
        Ok(started) => started,
        Err(error) => return Ok(collector.into_failed(error)),
    };
    let running = ExecutionGuard { backend, kernel: Arc::clone(&kernel), session, ended: false };
    // A concurrent `close` may have missed this execution.
    backend.register_execution(session)?;
    let limits = CommandLimits::new(kernel.lock().limits(), timeout, overflow);
    let wall_time = limits.wall_time;
    kernel.lock().limit_virtual_time(session, wall_time);
    if overflow == OutputOverflow::KeepTail {
        collector.keep_tail(limits.output_bytes);
    }
    let driven = if collector.sink.is_some() {
        let mut on_output = |chunk| collector.push_chunk(chunk);
        backend.engine().drive(&kernel, session, wall_time, Some(&mut on_output)).await
    } else {
        backend.engine().drive(&kernel, session, wall_time, None).await
    };
    let (printed, report, now) = running.end();
    if let (Some(ticket), Some(state)) = (ticket, &report.shell_state) {
        backend.store_shell_state(&ticket, state);
    }
    collector.push_buffer(&printed);
    collector.finish_tail();
    if let Err(error) = driven {
        let message = format!("the engine failed: {error}");
        return Err(Error::new(ErrorKind::Engine, "execute", message)
            .with_context("sandbox", backend.name())
            .with_source(error));
    }
    finish_response(&mut collector, &report, &limits, backend.is_closed());
    collector.response.duration = Duration::from_nanos(now.saturating_sub(started));
    Ok(collector.response)
}

/// Builds the kernel's specification, or the reason why the command fails without starting.
pub(crate) fn build_spec(
    backend: &VfsBackend,
    request: ExecuteRequest,
    persistent: bool,
) -> Result<std::result::Result<ExecutionSpec, StartError>> {
    let mut environment = backend.environment().clone();
    let cwd = match &request.cwd {
        Some(cwd) => {
            environment.check_cwd(cwd);
            cwd.as_bytes().to_vec()
        }
        None => backend.cwd().as_bytes().to_vec(),
    };
    // An execution in a shell session gets them separately, because they must not persist in it.
    if !persistent {
        environment.add(&request.env)?;
    }
    if request.command.contains('\0') {
        let message =
            "the command contains a NUL byte, which a shell cannot read; print one with printf instead".to_owned();
        return Ok(Err(StartError { code: CANNOT_EXECUTE, message }));
    }
    let (program, argv) = match request.arguments {
        // A shell session runs the command line, so that it can change its directory and variables.
        Some(arguments) if !persistent => {
            let argv = arguments.iter().collect();
            (arguments.into_iter().next().unwrap_or_default().into_bytes(), argv)
        }
        _ => (SHELL.into(), shell_arguments(&request.command)),
    };
    Ok(Ok(ExecutionSpec {
        argv,
        env: environment.0,
        cwd,
        program,
        stdin: request.stdin,
        output_overflow: request.output_overflow,
        ..ExecutionSpec::default()
    }))
}

fn shell_arguments(command: &str) -> CStringList {
    let mut arguments = CStringList::with_capacity("bash\0-c\0\0".len() + command.len());
    for argument in ["bash", "-c", command] {
        arguments.push(&[argument.as_bytes()]);
    }
    arguments
}

/// Starts the execution.
pub(crate) fn start(
    kernel: &mut Kernel,
    mut spec: ExecutionSpec,
    ticket: Option<&SessionStart>,
    output_bytes: u64,
) -> std::result::Result<Started, StartError> {
    let time = kernel.monotonic();
    spec.output_bytes = output_bytes;
    if let Some(ticket) = ticket {
        // The session may have another working directory, so a missing one of the sandbox does not end it.
        let astray = !ticket.names_cwd && check_cwd(kernel, &spec.cwd).is_err();
        if astray {
            spec.cwd = b"/".to_vec();
        }
        spec.shell_state = Some(ticket.encode_for_shell(astray));
    }
    let (cwd, program) = (spec.cwd.clone(), spec.program.clone());
    let begun = find_program(kernel, &spec).and_then(|path| {
        if let Some(path) = path {
            spec.program = path;
        }
        kernel.start_execution(spec)
    });
    match begun {
        Ok((execution, _)) => Ok(Started { execution, time }),
        Err(errno) => Err(start_error(kernel, &cwd, &program, errno)),
    }
}

/// Checks that a command may start in the directory.
fn check_cwd(kernel: &Kernel, cwd: &[u8]) -> std::result::Result<(), Errno> {
    let fs = kernel.fs();
    match fs.walk(&USER, fs.root(), cwd, true)? {
        Resolved::Node(ino) if matches!(fs.stat(ino)?.kind, Kind::Dir) => fs.access(&USER, ino, crate::file::SEARCH),
        Resolved::Node(_) => Err(Errno::Notdir),
        Resolved::Proc(_) => Ok(()),
    }
}

/// Returns the absolute path of the program to start; `None` if the given one is absolute. A name without a slash is searched in
/// `PATH`, as by `execvp`.
fn find_program(kernel: &Kernel, spec: &ExecutionSpec) -> std::result::Result<Option<Vec<u8>>, Errno> {
    let name = &spec.program;
    if name.starts_with(b"/") {
        return Ok(None);
    }
    let path_in =
        |dir: &[u8]| [if dir.starts_with(b"/") { &b""[..] } else { &spec.cwd }, b"/", dir, b"/", name].concat();
    if name.contains(&b'/') {
        return Ok(Some(path_in(b"")));
    }
    let path = spec.env.iter().find_map(|variable| variable.strip_prefix(b"PATH=")).unwrap_or_default();
    let (fs, mut error) = (kernel.fs(), Errno::Noent);
    for candidate in path.split(|byte| *byte == b':').map(path_in) {
        let Ok(Resolved::Node(ino)) = fs.walk(&USER, fs.root(), &candidate, true) else { continue };
        if !fs.stat(ino).is_ok_and(|stat| matches!(stat.kind, Kind::File)) {
            continue;
        }
        match fs.access(&USER, ino, crate::file::EXECUTE) {
            Ok(()) => return Ok(Some(candidate)),
            Err(errno) => error = errno,
        }
    }
    Err(error)
}

/// Determines which of the two required files the kernel could not use.
fn start_error(kernel: &Kernel, cwd: &[u8], program: &[u8], errno: Errno) -> StartError {
    let name = String::from_utf8_lossy(program);
    let entered = check_cwd(kernel, cwd);
    let (code, what) = match (entered, errno) {
        (Err(_), _) => {
            (CANNOT_EXECUTE, format!("cannot enter the working directory '{}'", String::from_utf8_lossy(cwd)))
        }
        (Ok(()), Errno::Noent) if program == SHELL.as_bytes() => {
            (NOT_FOUND, format!("cannot start {SHELL}; install a shell in the base image"))
        }
        (Ok(()), Errno::Noent) => (NOT_FOUND, format!("cannot start {name}")),
        (Ok(()), Errno::TooBig) => (CANNOT_EXECUTE, "the command and the environment are too long".to_owned()),
        (Ok(()), _) => (CANNOT_EXECUTE, format!("cannot start {name}")),
    };
    StartError { code, message: format!("{what}: {}", entered.err().unwrap_or(errno)) }
}

/// The limits of a command that messages mention.
pub(crate) struct CommandLimits {
    pub(crate) wall_time: Duration,
    pub(crate) cpu_time: Option<Duration>,
    pub(crate) output_bytes: u64,
    pub(crate) overflow: OutputOverflow,
}

impl CommandLimits {
    /// The sandbox's limits, with the timeout of the request if it has one.
    pub(crate) fn new(limits: &Limits, timeout: Option<Duration>, overflow: OutputOverflow) -> Self {
        Self {
            wall_time: timeout.unwrap_or(limits.wall_time),
            cpu_time: limits.cpu_time,
            output_bytes: limits.output_bytes,
            overflow,
        }
    }
}

/// Sets the exit code, the stop reason and the resource usage of the response, and explains limits on standard error. Tidebox's
/// own message is exempt from the output limit, because it explains why
/// the command ended. The engine has already reported a memory limit.
pub(crate) fn finish_response(
    collector: &mut OutputCollector<'_>,
    report: &ExecutionReport,
    limits: &CommandLimits,
    closed: bool,
) {
    collector.response.truncated = report.truncated;
    collector.response.peak_memory_bytes = report.peak_memory_bytes;
    collector.response.cpu_time = report.cpu_time;
    if report.truncated {
        collector.append_message(&truncation_message(report, limits));
    }
    let status = report.status.map(|status| status.code());
    let (reason, code, message) = match report.stopped_by {
        None => (None, status, None),
        Some(StopReason::Timeout) => {
            let message = format!(
                "the command was stopped because it ran for {:?}; increase the timeout or split the command",
                limits.wall_time
            );
            (Some(StopReason::Timeout), Some(EXIT_TIMEOUT), Some(message))
        }
        Some(StopReason::CpuTime) => {
            let message = format!(
                "the command was stopped because it used {:?} of processor time; raise the limit or split the command",
                limits.cpu_time.unwrap_or_default()
            );
            (Some(StopReason::CpuTime), Some(EXIT_CPU_TIME), Some(message))
        }
        // The guest or the engine has printed the reason.
        Some(StopReason::Memory) => (Some(StopReason::Memory), status.or(Some(EXIT_KILLED)), None),
        Some(StopReason::Output) => (Some(StopReason::Output), Some(EXIT_KILLED), None),
        Some(
            limit @ (StopReason::Files
            | StopReason::Inodes
            | StopReason::Descriptors
            | StopReason::Processes
            | StopReason::Nesting),
        ) => (Some(limit), status, None),
        Some(reason) => {
            let why = if report.restored {
                "the sandbox was restored"
            } else if closed {
                "the sandbox was closed"
            } else {
                "its caller cancelled it"
            };
            (Some(reason), Some(EXIT_KILLED), Some(format!("the command was stopped because {why}")))
        }
    };
    collector.response.stopped_by = reason;
    collector.response.exit_code = code;
    if let Some(message) = message {
        collector.append_message(&message);
    }
}

fn truncation_message(report: &ExecutionReport, limits: &CommandLimits) -> String {
    let (limit, written) = (limits.output_bytes, report.written_bytes);
    match limits.overflow {
        OutputOverflow::KeepHead => {
            format!("the output was truncated: kept the first {limit} of {written} bytes; write it to a file instead")
        }
        OutputOverflow::KeepTail => {
            format!("the output was truncated: kept the last {limit} of {written} bytes; write it to a file instead")
        }
        OutputOverflow::Stop => {
            format!("the command was stopped because it wrote more than {limit} bytes; write them to a file instead")
        }
    }
}
