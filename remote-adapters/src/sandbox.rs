//! The whole contract, from what one sandbox at a provider can do.

use std::collections::BTreeSet;
use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::{AbortHandle, AbortRegistration, Abortable};
use tidebox_core::shell_backend::{self as derived, PieceSink, ShellHost};
use tidebox_core::{
    BoxFuture, DeleteResponse, Dialect, Download, EditRequest, EditResponse, Error, ErrorKind, ExecuteRequest,
    ExecuteResponse, FileError, FileErrorCode, FileResult, GlobRequest, GlobResponse, GrepRequest, GrepResponse,
    LsResponse, Outcome, OutputSink, ReadRequest, ReadResponse, Result, SandboxBackend, SandboxId, SandboxPath,
    ShellMode, StopReason, Upload, UploadResult, WriteRequest, WriteResponse,
};

use crate::command::reading_from;
use crate::options::Options;
use crate::output::Output;
use crate::plane::{Command, Ending, Names, Plane};
use crate::transport::{now, within};

/// How a sandbox is used. Its `Debug` shows no values of variables.
#[derive(Clone)]
pub struct Settings {
    /// Whose rules the file operations follow.
    pub dialect: Dialect,
    /// What one `execute` keeps of its output, in bytes.
    pub output_bytes: u64,
    /// How long a command may run that names no time.
    pub command_time: Duration,
    /// Where commands run that name no directory.
    pub cwd: Option<SandboxPath>,
    /// Variables of every command.
    pub env: Vec<(String, String)>,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("dialect", &self.dialect)
            .field("output_bytes", &self.output_bytes)
            .field("command_time", &self.command_time)
            .field("cwd", &self.cwd)
            .field("env", &Names(&self.env))
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

/// How long after its time a command is waited for: the provider ends it, and says so.
const GRACE: Duration = Duration::from_secs(5);

/// What a script of a file operation may print: the most matches that `grep` keeps, and some room.
const SCRIPT_OUTPUT_BYTES: u64 = 32 << 20;

/// Exit code of a command whose time was up, as of `timeout(1)`, and of one that was killed.
const TIMEOUT_CODE: i32 = 124;
const KILLED_CODE: i32 = 137;

/// A sandbox at a provider. Closing it ends what runs and leaves the sandbox where it is: another may use it, and its time to
/// live goes on; a provider's `delete` ends it.
pub struct RemoteSandbox<P> {
    plane: P,
    settings: Settings,
    running: Mutex<Running>,
    temporary: AtomicU64,
    /// Part of the names of temporary files, so that two clients of one sandbox do not meet.
    nonce: u64,
}

/// The commands in progress, or none any more.
#[derive(Default)]
struct Running {
    closed: bool,
    next: u64,
    commands: Vec<(u64, AbortHandle)>,
}

impl<P: Plane> fmt::Debug for RemoteSandbox<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteSandbox").field("plane", &self.plane).finish_non_exhaustive()
    }
}

/// Takes a command out of the list when it ends in any way.
struct Registered<'a> {
    running: &'a Mutex<Running>,
    number: u64,
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.commands.retain(|(number, _)| *number != self.number);
    }
}

impl<P: Plane> RemoteSandbox<P> {
    /// The contract over this plane.
    pub fn new(plane: P, settings: Settings) -> Self {
        let (running, temporary, nonce) = (Mutex::default(), AtomicU64::new(0), fastrand::u64(..));
        Self { plane, settings, running, temporary, nonce }
    }

    /// What stands behind it.
    pub fn plane(&self) -> &P {
        &self.plane
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, operation: &'static str) -> Result<(AbortRegistration, Registered<'_>)> {
        let mut running = self.lock();
        if running.closed {
            return Err(Error::closed(operation));
        }
        let (handle, registration) = AbortHandle::new_pair();
        let number = running.next;
        running.next += 1;
        running.commands.push((number, handle));
        Ok((registration, Registered { running: &self.running, number }))
    }

    /// Runs a file operation or a transfer, which ends when the sandbox is closed.
    async fn operate<T>(&self, operation: &'static str, work: impl Future<Output = Result<T>>) -> Result<T> {
        let (registration, _registered) = self.begin(operation)?;
        Abortable::new(work, registration).await.unwrap_or_else(|_| Err(Error::closed(operation)))
    }

    async fn run(&self, request: ExecuteRequest, sink: Option<OutputSink<'_>>) -> Result<ExecuteResponse> {
        let (registration, _registered) = self.begin("execute")?;
        if request.command.contains('\0') {
            let message = "a command cannot contain a NUL byte; write it as $'\\0' where a program is to print one";
            return Err(Error::new(ErrorKind::InvalidRequest, "execute", message));
        }
        if request.shell_mode == Some(ShellMode::Persistent) {
            let message = "sandboxes at providers have no shell sessions; run each command by itself";
            return Err(Error::new(ErrorKind::Unsupported, "execute", message));
        }
        let mut output = Output::new(self.settings.output_bytes, sink);
        let begun = now();
        let ending = match Abortable::new(self.end_of(request, &mut output), registration).await {
            Ok(ending) => ending?,
            Err(_) => None,
        };
        let mut response = output.into_response();
        response.duration = begun.elapsed();
        (response.exit_code, response.stopped_by) = match ending {
            Some(Ending::Exit(code)) => (Some(code), None),
            Some(Ending::Unknown) => (None, None),
            Some(Ending::Timeout) => (Some(TIMEOUT_CODE), Some(StopReason::Timeout)),
            None => (Some(KILLED_CODE), Some(StopReason::Cancelled)),
        };
        Ok(response)
    }

    async fn end_of(&self, request: ExecuteRequest, output: &mut Output<'_>) -> Result<Option<Ending>> {
        let time = request.timeout.unwrap_or(self.settings.command_time);
        if time.is_zero() {
            return Ok(Some(Ending::Timeout));
        }
        let script = if request.stdin.is_empty() {
            request.command
        } else {
            let file = self.temporary_path();
            if let Err(error) = self.put(&file, &request.stdin).await? {
                return Err(Error::from(error));
            }
            reading_from(&file.to_text(), &request.command)
        };
        let cwd = request.cwd.or_else(|| self.settings.cwd.clone()).map(|cwd| cwd.to_text().into_owned());
        let env = self.settings.env.iter().cloned().chain(request.env).collect();
        let command = Command { script, cwd, env, time };
        // The provider keeps the time where it can. This one is for a provider that does not answer.
        match within(time.saturating_add(GRACE), self.plane.run(command, output)).await {
            Some(ending) => ending.map(Some),
            None => Ok(Some(Ending::Timeout)),
        }
    }

    async fn put(&self, path: &SandboxPath, content: &[u8]) -> Result<FileResult<()>> {
        let upload = Upload::new(path.as_bytes(), content);
        let mut results = self.plane.store(vec![(path.clone(), upload)]).await?;
        match results.pop() {
            Some(result) => Ok(result.result),
            None => Err(Error::new(ErrorKind::Protocol, "upload_files", "the provider told nothing of the file")),
        }
    }

    async fn upload(&self, files: Vec<Upload>) -> Result<Vec<UploadResult>> {
        let mut results: Vec<Option<UploadResult>> = Vec::new();
        let (mut batch, mut places, mut paths) = (Vec::new(), Vec::new(), BTreeSet::new());
        for (place, file) in files.into_iter().enumerate() {
            results.push(None);
            let path = match transferable(&file.path) {
                Ok(path) => path,
                Err(error) => {
                    results[place] = Some(UploadResult { path: file.path, result: Err(error) });
                    continue;
                }
            };
            // Of two files at one path the last one is to stay, and what is below a file is refused because of it.
            if meets(&paths, &path) {
                self.flush(&mut batch, &mut places, &mut results).await?;
                paths.clear();
            }
            paths.insert(path.as_bytes().to_vec());
            batch.push((path, file));
            places.push(place);
        }
        self.flush(&mut batch, &mut places, &mut results).await?;
        let missing = || Error::new(ErrorKind::Protocol, "upload_files", "the provider told nothing of a file");
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
        let parsed = match transferable(&path) {
            Ok(parsed) => parsed,
            Err(error) => return Ok(Download { path, result: Err(error) }),
        };
        let mut content = Vec::new();
        let mut take = |piece: &[u8]| {
            content.extend_from_slice(piece);
            true
        };
        let result = self.plane.fetch(&parsed, &mut take).await?.map(|()| content);
        Ok(Download { path, result })
    }
}

/// Whether a path is one of these, or above or below one of them.
fn meets(paths: &BTreeSet<Vec<u8>>, path: &SandboxPath) -> bool {
    let above =
        std::iter::successors(Some(path.clone()), SandboxPath::parent).any(|path| paths.contains(path.as_bytes()));
    // What is below it begins with it and a slash, and stands together in the order of bytes.
    let beginning = path.join(b"");
    above || paths.range(beginning.clone()..).next().is_some_and(|other| other.starts_with(&beginning))
}

/// A path of a transfer. Who transfers is outside and has no working directory, and a slash at the end asks for a directory.
fn transferable(path: &[u8]) -> FileResult<SandboxPath> {
    if path.len() > 1 && path.ends_with(b"/") {
        return Err(FileError::refused(FileErrorCode::IsDirectory, path));
    }
    SandboxPath::parse(path)
}

impl<P: Plane> ShellHost for RemoteSandbox<P> {
    fn dialect(&self) -> Dialect {
        self.settings.dialect
    }

    fn passes_bytes(&self) -> bool {
        self.plane.passes_bytes()
    }

    fn run_script(&self, script: String, time: Duration) -> BoxFuture<'_, Result<ExecuteResponse>> {
        Box::pin(async move {
            let mut output = Output::new(SCRIPT_OUTPUT_BYTES, None);
            let command = Command { script, cwd: Some("/".to_owned()), env: Vec::new(), time };
            let ending = match within(time.saturating_add(GRACE), self.plane.run(command, &mut output)).await {
                Some(ending) => ending?,
                None => Ending::Timeout,
            };
            let mut response = output.into_response();
            match ending {
                Ending::Exit(code) => response.exit_code = Some(code),
                Ending::Unknown => {}
                Ending::Timeout => response.stopped_by = Some(StopReason::Timeout),
            }
            Ok(response)
        })
    }

    fn fetch<'a>(&'a self, path: &'a SandboxPath, sink: PieceSink<'a>) -> Outcome<'a, ()> {
        self.plane.fetch(path, sink)
    }

    fn store<'a>(&'a self, path: &'a SandboxPath, content: &'a [u8]) -> Outcome<'a, ()> {
        Box::pin(self.put(path, content))
    }

    fn temporary_path(&self) -> SandboxPath {
        let number = self.temporary.fetch_add(1, Ordering::Relaxed);
        // Both are numbers, so the path is always good.
        SandboxPath::parse(format!("/tmp/.tidebox-{:x}-{number}", self.nonce)).unwrap_or_else(|_| SandboxPath::root())
    }
}

impl<P: Plane> SandboxBackend for RemoteSandbox<P> {
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

    fn ls<'a>(&'a self, path: &'a SandboxPath) -> Outcome<'a, LsResponse> {
        Box::pin(self.operate("ls", derived::ls(self, path)))
    }

    fn read(&self, request: ReadRequest) -> Outcome<'_, ReadResponse> {
        Box::pin(async move { self.operate("read", derived::read(self, &request)).await })
    }

    fn write(&self, request: WriteRequest) -> Outcome<'_, WriteResponse> {
        Box::pin(async move { self.operate("write", derived::write(self, &request)).await })
    }

    fn edit(&self, request: EditRequest) -> Outcome<'_, EditResponse> {
        Box::pin(async move { self.operate("edit", derived::edit(self, &request)).await })
    }

    fn delete<'a>(&'a self, path: &'a SandboxPath) -> Outcome<'a, DeleteResponse> {
        Box::pin(self.operate("delete", derived::delete(self, path)))
    }

    fn grep(&self, request: GrepRequest) -> Outcome<'_, GrepResponse> {
        Box::pin(async move { self.operate("grep", derived::grep(self, &request)).await })
    }

    fn glob(&self, request: GlobRequest) -> Outcome<'_, GlobResponse> {
        Box::pin(async move { self.operate("glob", derived::glob(self, &request)).await })
    }

    fn upload_files(&self, files: Vec<Upload>) -> BoxFuture<'_, Result<Vec<UploadResult>>> {
        Box::pin(self.operate("upload_files", self.upload(files)))
    }

    fn download_files(&self, paths: Vec<Vec<u8>>) -> BoxFuture<'_, Result<Vec<Download>>> {
        use futures_util::{StreamExt as _, TryStreamExt as _, stream};
        // In order, however many are on their way.
        let downloads = stream::iter(paths).map(|path| self.download(path)).buffered(TRANSFERS);
        Box::pin(self.operate("download_files", downloads.try_collect()))
    }

    fn close(&self) -> BoxFuture<'_, Result<()>> {
        let mut running = self.lock();
        running.closed = true;
        for (_, command) in running.commands.drain(..) {
            command.abort();
        }
        drop(running);
        Box::pin(async { Ok(()) })
    }
}

/// Transfers at the same time. Providers count requests, and connections are reused.
pub(crate) const TRANSFERS: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_meet_where_one_is_the_other_or_above_it() {
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
            assert_eq!(meets(&paths, &path(text)), expected, "{text}");
        }
    }
}
