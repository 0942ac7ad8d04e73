//! Implementation of [`SandboxBackend`] on top of a [`DataPlane`].

use std::collections::BTreeSet;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::{AbortHandle, AbortRegistration, Abortable};
use tidebox_core::lock::Mutex;
use tidebox_core::shell_backend::{self as derived, ChunkSink, ShellTransport};
use tidebox_core::{
    Background, BoxFuture, DeleteResponse, Dialect, Download, EditRequest, EditResponse, Error, ErrorKind,
    ExecuteRequest, ExecuteResponse, FileError, FileErrorCode, FileFuture, FileResult, GlobRequest, GlobResponse,
    GrepRequest, GrepResponse, LsResponse, OutputPage, OutputSink, PortEndpoint, ProcessId, ProcessInfo, ProcessInput,
    ProcessSignal, ReadOutput, ReadRequest, ReadResponse, Result, SandboxBackend, SandboxId, SandboxPath, ShellMode,
    SpawnRequest, StopReason, TerminalSize, Upload, UploadResult, WriteRequest, WriteResponse, check_port,
    unsupported_process,
};

use crate::command::with_stdin_file;
use crate::data_plane::{Command, CommandOutcome, DataPlane, EnvNames};
use crate::options::Options;
use crate::output::OutputCollector;
use crate::process::Processes;
use crate::transport::{now, timeout};

/// Completes the error for commands that keep their background processes.
const NO_BACKGROUND: &str = "belongs to a provider, and its commands keep no processes; start them with spawn";

/// Settings of a sandbox client. `Debug` omits the values of variables.
#[derive(Clone)]
pub struct Settings {
    /// Dialect of the file operations.
    pub dialect: Dialect,
    /// Maximum bytes of output kept per `execute`.
    pub output_bytes: u64,
    /// Timeout of commands that specify none.
    pub command_time: Duration,
    /// Working directory of commands that specify none.
    pub cwd: Option<SandboxPath>,
    /// Environment variables of every command.
    pub env: Vec<(String, String)>,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("dialect", &self.dialect)
            .field("output_bytes", &self.output_bytes)
            .field("command_time", &self.command_time)
            .field("cwd", &self.cwd)
            .field("env", &EnvNames(&self.env))
            .finish()
    }
}

impl From<&Options> for Settings {
    fn from(options: &Options) -> Self {
        Self {
            dialect: options.dialect,
            output_bytes: options.output_bytes,
            command_time: options.command_time,
            cwd: options.cwd.clone(),
            env: options.env.clone(),
        }
    }
}

/// Extra time for the provider to report a timeout that it enforces itself.
const TIMEOUT_GRACE: Duration = Duration::from_secs(5);

/// Maximum output of a file operation's script: the matches that `grep` keeps, plus a reserve.
const SCRIPT_OUTPUT_BYTES: u64 = 32 << 20;

/// Exit codes of a command that timed out, as for `timeout(1)`, and of one that was killed.
pub(crate) const EXIT_TIMEOUT: i32 = 124;
pub(crate) const EXIT_KILLED: i32 = 137;

/// A sandbox at a provider. Closing it kills its commands and leaves the sandbox itself running: other clients may use
/// it, and its lifetime continues. The provider's `delete` removes it.
pub struct RemoteSandbox<P: DataPlane> {
    plane: Arc<P>,
    processes: Processes<P>,
    settings: Settings,
    running: Mutex<Running>,
    temporary: AtomicU64,
    /// Part of the names of temporary files, unique per client of a sandbox.
    nonce: u64,
}

/// Commands in progress, and whether the client is closed.
#[derive(Default)]
struct Running {
    closed: bool,
    next: u64,
    commands: Vec<(u64, AbortHandle)>,
}

impl<P: DataPlane> fmt::Debug for RemoteSandbox<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteSandbox").field("plane", &self.plane).finish_non_exhaustive()
    }
}

/// Guard of a command in [`Running`]. Dropping it removes the command.
struct CommandGuard<'a> {
    running: &'a Mutex<Running>,
    number: u64,
}

impl Drop for CommandGuard<'_> {
    fn drop(&mut self) {
        let mut running = self.running.lock();
        running.commands.retain(|(number, _)| *number != self.number);
    }
}

impl<P: DataPlane> RemoteSandbox<P> {
    /// Creates a sandbox client with this data plane.
    pub fn new(plane: P, settings: Settings) -> Self {
        let (running, temporary, nonce) = (Mutex::default(), AtomicU64::new(0), fastrand::u64(..));
        let plane = Arc::new(plane);
        let processes = Processes::new(Arc::clone(&plane));
        Self { plane, processes, settings, running, temporary, nonce }
    }

    /// The data plane.
    pub fn plane(&self) -> &P {
        &self.plane
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Running> {
        self.running.lock()
    }

    fn check_open(&self, operation: &'static str) -> Result<()> {
        if self.lock().closed { Err(Error::closed(operation)) } else { Ok(()) }
    }

    fn begin(&self, operation: &'static str) -> Result<(AbortRegistration, CommandGuard<'_>)> {
        let mut running = self.lock();
        if running.closed {
            return Err(Error::closed(operation));
        }
        let (handle, registration) = AbortHandle::new_pair();
        let number = running.next;
        running.next += 1;
        running.commands.push((number, handle));
        Ok((registration, CommandGuard { running: &self.running, number }))
    }

    /// Runs a file operation or a transfer, which is cancelled when the client is closed.
    async fn run_operation<T>(&self, operation: &'static str, work: impl Future<Output = Result<T>>) -> Result<T> {
        let (registration, _registered) = self.begin(operation)?;
        Abortable::new(work, registration).await.unwrap_or_else(|_| Err(Error::closed(operation)))
    }

    async fn run(&self, request: ExecuteRequest, sink: Option<OutputSink<'_>>) -> Result<ExecuteResponse> {
        let (registration, _registered) = self.begin("execute")?;
        if request.command.contains('\0') {
            let message = "a command cannot contain a NUL byte; write $'\\0' to print one";
            return Err(Error::new(ErrorKind::InvalidRequest, "execute", message));
        }
        if request.shell_mode == Some(ShellMode::Persistent) {
            let message = "remote sandboxes do not support shell sessions; run each command separately";
            return Err(Error::new(ErrorKind::Unsupported, "execute", message));
        }
        if request.background == Background::Keep {
            return Err(unsupported_process("execute", NO_BACKGROUND));
        }
        let mut output = OutputCollector::new(self.settings.output_bytes, sink);
        let started = now();
        let ending = match Abortable::new(self.run_command(request, &mut output), registration).await {
            Ok(ending) => ending?,
            Err(_) => None,
        };
        let mut response = output.into_response();
        response.duration = started.elapsed();
        (response.exit_code, response.stopped_by) = match ending {
            Some(CommandOutcome::Exit(code)) => (Some(code), None),
            Some(CommandOutcome::Unknown) => (None, None),
            Some(CommandOutcome::Timeout) => (Some(EXIT_TIMEOUT), Some(StopReason::Timeout)),
            None => (Some(EXIT_KILLED), Some(StopReason::Cancelled)),
        };
        Ok(response)
    }

    async fn run_command(
        &self,
        request: ExecuteRequest,
        output: &mut OutputCollector<'_>,
    ) -> Result<Option<CommandOutcome>> {
        let time = request.timeout.unwrap_or(self.settings.command_time);
        if time.is_zero() {
            return Ok(Some(CommandOutcome::Timeout));
        }
        let script = if request.stdin.is_empty() {
            request.command
        } else {
            let file = self.temporary_path();
            if let Err(error) = self.put(&file, &request.stdin).await? {
                return Err(Error::from(error));
            }
            with_stdin_file(&file.to_text(), &request.command)
        };
        let cwd = request.cwd.or_else(|| self.settings.cwd.clone()).map(|cwd| cwd.to_text().into_owned());
        let env = self.settings.env.iter().cloned().chain(request.env).collect();
        let command = Command { script, cwd, env, timeout: time };
        // The provider enforces the timeout if it can. This one covers a provider that does not respond.
        match timeout(time.saturating_add(TIMEOUT_GRACE), self.plane.run(command, output)).await {
            Some(ending) => ending.map(Some),
            None => Ok(Some(CommandOutcome::Timeout)),
        }
    }

    async fn put(&self, path: &SandboxPath, content: &[u8]) -> Result<FileResult<()>> {
        let upload = Upload::new(path.as_bytes(), content);
        let mut results = self.plane.store(vec![(path.clone(), upload)]).await?;
        match results.pop() {
            Some(result) => Ok(result.result),
            None => {
                Err(Error::new(ErrorKind::Protocol, "upload_files", "the provider returned no result for the file"))
            }
        }
    }

    async fn upload(&self, files: Vec<Upload>) -> Result<Vec<UploadResult>> {
        let mut results: Vec<Option<UploadResult>> = Vec::new();
        let (mut batch, mut places, mut paths) = (Vec::new(), Vec::new(), BTreeSet::new());
        for (place, file) in files.into_iter().enumerate() {
            results.push(None);
            let path = match parse_transfer_path(&file.path) {
                Ok(path) => path,
                Err(error) => {
                    results[place] = Some(UploadResult { path: file.path, result: Err(error) });
                    continue;
                }
            };
            // For equal paths the last file must win, and an upload below a file must fail because of it.
            if overlaps(&paths, &path) {
                self.flush(&mut batch, &mut places, &mut results).await?;
                paths.clear();
            }
            paths.insert(path.as_bytes().to_vec());
            batch.push((path, file));
            places.push(place);
        }
        self.flush(&mut batch, &mut places, &mut results).await?;
        let missing = || Error::new(ErrorKind::Protocol, "upload_files", "the provider returned no result for a file");
        results.into_iter().map(|result| result.ok_or_else(missing)).collect()
    }

    async fn flush(
        &self,
        batch: &mut Vec<(SandboxPath, Upload)>,
        places: &mut Vec<usize>,
        results: &mut [Option<UploadResult>],
    ) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let done = self.plane.store(std::mem::take(batch)).await?;
        for (place, result) in std::mem::take(places).into_iter().zip(done) {
            if let Some(slot) = results.get_mut(place) {
                *slot = Some(result);
            }
        }
        Ok(())
    }

    async fn download(&self, path: Vec<u8>) -> Result<Download> {
        let parsed = match parse_transfer_path(&path) {
            Ok(parsed) => parsed,
            Err(error) => return Ok(Download { path, result: Err(error) }),
        };
        let mut content = Vec::new();
        let mut take = |chunk: &[u8]| {
            content.extend_from_slice(chunk);
            true
        };
        let result = self.plane.fetch(&parsed, &mut take).await?.map(|()| content);
        Ok(Download { path, result })
    }
}

/// Returns whether a path equals one of these paths, or is above or below one.
fn overlaps(paths: &BTreeSet<Vec<u8>>, path: &SandboxPath) -> bool {
    let above =
        std::iter::successors(Some(path.clone()), SandboxPath::parent).any(|path| paths.contains(path.as_bytes()));
    // Paths below it start with it and a slash, and are adjacent in byte order.
    let beginning = path.join(b"");
    above || paths.range(beginning.clone()..).next().is_some_and(|other| other.starts_with(&beginning))
}

/// Parses the path of a transfer. Transfers have no working directory, and a trailing slash names a directory.
fn parse_transfer_path(path: &[u8]) -> FileResult<SandboxPath> {
    if path.len() > 1 && path.ends_with(b"/") {
        return Err(FileError::with_code(FileErrorCode::IsDirectory, path));
    }
    SandboxPath::parse(path)
}

impl<P: DataPlane> ShellTransport for RemoteSandbox<P> {
    fn dialect(&self) -> Dialect {
        self.settings.dialect
    }

    fn is_binary_safe(&self) -> bool {
        self.plane.is_binary_safe()
    }

    fn run_script(&self, script: String, time: Duration) -> BoxFuture<'_, Result<ExecuteResponse>> {
        Box::pin(async move {
            let mut output = OutputCollector::new(SCRIPT_OUTPUT_BYTES, None);
            let command = Command { script, cwd: Some("/".to_owned()), env: Vec::new(), timeout: time };
            let ending = match timeout(time.saturating_add(TIMEOUT_GRACE), self.plane.run(command, &mut output)).await {
                Some(ending) => ending?,
                None => CommandOutcome::Timeout,
            };
            let mut response = output.into_response();
            match ending {
                CommandOutcome::Exit(code) => response.exit_code = Some(code),
                CommandOutcome::Unknown => {}
                CommandOutcome::Timeout => response.stopped_by = Some(StopReason::Timeout),
            }
            Ok(response)
        })
    }

    fn fetch<'a>(&'a self, path: &'a SandboxPath, sink: ChunkSink<'a>) -> FileFuture<'a, ()> {
        self.plane.fetch(path, sink)
    }

    fn store<'a>(&'a self, path: &'a SandboxPath, content: &'a [u8]) -> FileFuture<'a, ()> {
        Box::pin(self.put(path, content))
    }

    fn temporary_path(&self) -> SandboxPath {
        let number = self.temporary.fetch_add(1, Ordering::Relaxed);
        // Both are numbers, so the path is always valid.
        SandboxPath::parse(format!("/tmp/.tidebox-{:x}-{number}", self.nonce)).unwrap_or_else(|_| SandboxPath::root())
    }
}

impl<P: DataPlane> SandboxBackend for RemoteSandbox<P> {
    fn id(&self) -> &SandboxId {
        self.plane.id()
    }

    fn execute(&self, request: ExecuteRequest) -> BoxFuture<'_, Result<ExecuteResponse>> {
        Box::pin(self.run(request, None))
    }

    fn execute_streaming<'a>(
        &'a self,
        request: ExecuteRequest,
        sink: OutputSink<'a>,
    ) -> BoxFuture<'a, Result<ExecuteResponse>> {
        Box::pin(self.run(request, Some(sink)))
    }

    fn spawn(&self, request: SpawnRequest) -> BoxFuture<'_, Result<ProcessId>> {
        Box::pin(async move {
            self.check_open("spawn")?;
            self.processes.spawn(request, &self.settings, self.nonce)
        })
    }

    fn processes(&self) -> BoxFuture<'_, Result<Vec<ProcessInfo>>> {
        Box::pin(async move { self.check_open("processes").map(|()| self.processes.list()) })
    }

    fn read_process<'a>(&'a self, id: &'a ProcessId, request: ReadOutput) -> BoxFuture<'a, Result<OutputPage>> {
        Box::pin(self.run_operation("read_process", self.processes.read(id, request)))
    }

    fn write_process<'a>(&'a self, id: &'a ProcessId, input: ProcessInput) -> BoxFuture<'a, Result<usize>> {
        Box::pin(self.run_operation("write_process", self.processes.write(id, input)))
    }

    fn signal_process<'a>(&'a self, id: &'a ProcessId, signal: ProcessSignal) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.run_operation("signal_process", self.processes.signal(id, signal)))
    }

    fn resize_process<'a>(&'a self, id: &'a ProcessId, size: TerminalSize) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.run_operation("resize_process", self.processes.resize(id, size)))
    }

    fn port_endpoint(&self, port: u16) -> BoxFuture<'_, Result<PortEndpoint>> {
        const OPERATION: &str = "port_endpoint";
        Box::pin(
            self.run_operation(OPERATION, async move { self.plane.port_endpoint(check_port(OPERATION, port)?).await }),
        )
    }

    fn ls<'a>(&'a self, path: &'a SandboxPath) -> FileFuture<'a, LsResponse> {
        Box::pin(self.run_operation("ls", derived::ls(self, path)))
    }

    fn read(&self, request: ReadRequest) -> FileFuture<'_, ReadResponse> {
        Box::pin(async move { self.run_operation("read", derived::read(self, &request)).await })
    }

    fn write(&self, request: WriteRequest) -> FileFuture<'_, WriteResponse> {
        Box::pin(async move { self.run_operation("write", derived::write(self, &request)).await })
    }

    fn edit(&self, request: EditRequest) -> FileFuture<'_, EditResponse> {
        Box::pin(async move { self.run_operation("edit", derived::edit(self, &request)).await })
    }

    fn delete<'a>(&'a self, path: &'a SandboxPath) -> FileFuture<'a, DeleteResponse> {
        Box::pin(self.run_operation("delete", derived::delete(self, path)))
    }

    fn grep(&self, request: GrepRequest) -> FileFuture<'_, GrepResponse> {
        Box::pin(async move { self.run_operation("grep", derived::grep(self, &request)).await })
    }

    fn glob(&self, request: GlobRequest) -> FileFuture<'_, GlobResponse> {
        Box::pin(async move { self.run_operation("glob", derived::glob(self, &request)).await })
    }

    fn upload_files(&self, files: Vec<Upload>) -> BoxFuture<'_, Result<Vec<UploadResult>>> {
        Box::pin(self.run_operation("upload_files", self.upload(files)))
    }

    fn download_files(&self, paths: Vec<Vec<u8>>) -> BoxFuture<'_, Result<Vec<Download>>> {
        use futures_util::{StreamExt as _, TryStreamExt as _, stream};
        // Results keep their order while downloads run concurrently.
        let downloads = stream::iter(paths).map(|path| self.download(path)).buffered(TRANSFERS);
        Box::pin(self.run_operation("download_files", downloads.try_collect()))
    }

    fn close(&self) -> BoxFuture<'_, Result<()>> {
        let mut running = self.lock();
        running.closed = true;
        for (_, command) in running.commands.drain(..) {
            command.abort();
        }
        drop(running);
        self.processes.kill();
        Box::pin(async { Ok(()) })
    }
}

/// Maximum concurrent transfers. Providers limit requests, and connections are reused.
pub(crate) const TRANSFERS: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_paths_are_detected() {
        let path = |text: &str| SandboxPath::parse(text).expect("a path");
        let paths = BTreeSet::from(["/a/b", "/a/c"].map(|text| text.as_bytes().to_vec()));
        for (text, expected) in [
            ("/a/b", true),
            ("/a/b/c", true),
            ("/a", true),
            ("/a/bc", false),
            ("/a/d", false),
            ("/a/", true),
            ("/", true),
        ] {
            assert_eq!(overlaps(&paths, &path(text)), expected, "{text}");
        }
    }
}
