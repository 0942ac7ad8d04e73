//! The contract over a kernel and an engine.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidebox_core::{
    BoxFuture, DeleteResponse, Dialect, Download, EditRequest, EditResponse, Error, ExecuteRequest, ExecuteResponse,
    FileResult, GlobRequest, GlobResponse, GrepRequest, GrepResponse, LsResponse, Outcome, OutputSink, ReadRequest,
    ReadResponse, Result, SandboxBackend, SandboxId, SandboxPath, ShellMode, Upload, UploadResult, WriteRequest,
    WriteResponse,
};
use tidebox_kernel::engine::Engine;
use tidebox_kernel::fs::Snapshot;
use tidebox_kernel::{Holdings, Kernel, SessionId, SharedKernel, Stop};

use crate::execute::{self, Environment};
use crate::file::{self, Opened};
use crate::network::OwnNetwork;
use crate::shell_state::ShellState;
use crate::{remove, search, transfer};

/// Bytes of transferred files after which others have a turn.
const BYTES_PER_TURN: usize = 4 << 20;

/// One sandbox in this process. Made by [`SandboxBuilder`](crate::SandboxBuilder).
pub struct VfsBackend {
    id: SandboxId,
    dialect: Dialect,
    cwd: SandboxPath,
    environment: Environment,
    engine: Arc<dyn Engine>,
    pub(crate) shell_mode: ShellMode,
    pub(crate) base: Snapshot,
    pub(crate) shell_state: ShellState,
    pub(crate) network: Option<OwnNetwork>,
    /// How many forks were made of this sandbox.
    forks: AtomicU64,
    /// `None` when closed. Operations in progress hold the kernel on their own until they end.
    open: Mutex<Option<Open>>,
}

struct Open {
    kernel: SharedKernel,
    running: Vec<SessionId>,
}

impl fmt::Debug for VfsBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VfsBackend")
            .field("id", &self.id)
            .field("dialect", &self.dialect)
            .field("cwd", &self.cwd)
            .field("engine", &self.engine)
            .finish_non_exhaustive()
    }
}

/// Takes the kernel's lock. A panic elsewhere while it was held is that one's error, not a reason to lose the files.
pub(crate) fn lock(kernel: &SharedKernel) -> MutexGuard<'_, Kernel> {
    kernel.lock().unwrap_or_else(PoisonError::into_inner)
}

impl VfsBackend {
    pub(crate) fn new(
        id: SandboxId,
        dialect: Dialect,
        cwd: SandboxPath,
        environment: Environment,
        engine: Arc<dyn Engine>,
        base: Snapshot,
        kernel: Kernel,
    ) -> Self {
        let open = Open { kernel: Arc::new(Mutex::new(kernel)), running: Vec::new() };
        Self {
            id,
            dialect,
            cwd,
            environment,
            engine,
            base,
            shell_mode: ShellMode::default(),
            shell_state: ShellState::default(),
            network: None,
            forks: AtomicU64::new(0),
            open: Mutex::new(Some(open)),
        }
    }

    /// A sandbox that is set up as this one, over a kernel of its own.
    pub(crate) fn sibling(&self, id: SandboxId, mut kernel: Kernel) -> Self {
        kernel.set_sandbox(id.clone());
        let sibling = Self::new(
            id,
            self.dialect,
            self.cwd.clone(),
            self.environment.clone(),
            Arc::clone(&self.engine),
            self.base.clone(),
            kernel,
        );
        let networks = self.network.as_ref().map(OwnNetwork::family);
        sibling.with_shell_mode(self.shell_mode).with_networks(networks)
    }

    /// The number of the next fork, counted from 0.
    pub(crate) fn next_fork(&self) -> u64 {
        self.forks.fetch_add(1, Ordering::Relaxed)
    }

    /// Whose rules the sandbox follows.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The working directory of commands that name none.
    pub fn cwd(&self) -> &SandboxPath {
        &self.cwd
    }

    /// What the sandbox holds now: commands, processes, open files, memory, files. Nothing once it is closed.
    pub fn holdings(&self) -> Holdings {
        let kernel = self.open().as_ref().map(|open| Arc::clone(&open.kernel));
        kernel.map(|kernel| lock(&kernel).holdings()).unwrap_or_default()
    }

    pub(crate) fn name(&self) -> &str {
        self.id.as_str()
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    pub(crate) fn shared_engine(&self) -> Arc<dyn Engine> {
        Arc::clone(&self.engine)
    }

    pub(crate) fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    pub(crate) fn kernel(&self, operation: &'static str) -> Result<SharedKernel> {
        match &*self.open() {
            Some(open) => Ok(Arc::clone(&open.kernel)),
            None => Err(self.closed(operation)),
        }
    }

    /// Lets [`close`](SandboxBackend::close) know of a session.
    pub(crate) fn remember(&self, session: SessionId) -> Result<()> {
        match &mut *self.open() {
            Some(open) => open.running.push(session),
            None => return Err(self.closed("execute")),
        }
        Ok(())
    }

    pub(crate) fn forget(&self, session: SessionId) {
        if let Some(open) = &mut *self.open() {
            open.running.retain(|running| *running != session);
        }
    }

    /// Closes, and hands out the kernel as it was left, when it was open.
    pub(crate) fn shut(&self) -> Option<SharedKernel> {
        let open = self.open().take()?;
        let mut kernel = lock(&open.kernel);
        for session in open.running {
            kernel.stop(session, Stop::Caller);
        }
        drop(kernel);
        Some(open.kernel)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.open().is_none()
    }

    fn open(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn closed(&self, operation: &'static str) -> Error {
        Error::closed(operation).with_context("sandbox", self.id.as_str())
    }

    /// A file operation that is done in one go.
    fn with_kernel<'a, T: Send + 'a>(
        &'a self,
        operation: &'static str,
        run: impl FnOnce(&mut Kernel) -> FileResult<T> + Send + 'a,
    ) -> Outcome<'a, T> {
        Box::pin(async move { Ok(run(&mut lock(&self.kernel(operation)?))) })
    }
}

impl SandboxBackend for VfsBackend {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    fn execute(&self, request: ExecuteRequest) -> BoxFuture<'_, Result<ExecuteResponse>> {
        Box::pin(execute::execute(self, request, None))
    }

    fn execute_streaming<'a>(
        &'a self,
        request: ExecuteRequest,
        sink: OutputSink<'a>,
    ) -> BoxFuture<'a, Result<ExecuteResponse>> {
        Box::pin(execute::execute(self, request, Some(sink)))
    }

    fn ls<'a>(&'a self, path: &'a SandboxPath) -> Outcome<'a, LsResponse> {
        self.with_kernel("ls", |kernel| file::ls(kernel.fs(), path, self.dialect))
    }

    fn read(&self, request: ReadRequest) -> Outcome<'_, ReadResponse> {
        Box::pin(async move {
            let opened = Opened::new(lock(&self.kernel("read")?).fs(), &request.path);
            let read = match opened {
                Ok(opened) => opened.read(&request, self.dialect).await,
                Err(error) => Err(error),
            };
            Ok(read.map_err(|error| self.dialect.read_refusal(request.path.as_bytes(), error)))
        })
    }

    fn write(&self, request: WriteRequest) -> Outcome<'_, WriteResponse> {
        self.with_kernel("write", move |kernel| file::write(kernel, &request, self.dialect))
    }

    fn edit(&self, request: EditRequest) -> Outcome<'_, EditResponse> {
        self.with_kernel("edit", move |kernel| file::edit(kernel, &request, self.dialect))
    }

    fn delete<'a>(&'a self, path: &'a SandboxPath) -> Outcome<'a, DeleteResponse> {
        self.with_kernel("delete", |kernel| remove::delete(kernel, path))
    }

    fn grep(&self, request: GrepRequest) -> Outcome<'_, GrepResponse> {
        Box::pin(async move {
            let kernel = self.kernel("grep")?;
            Ok(search::grep(&kernel, &request, self.dialect).await)
        })
    }

    fn glob(&self, request: GlobRequest) -> Outcome<'_, GlobResponse> {
        Box::pin(async move {
            let kernel = self.kernel("glob")?;
            Ok(search::glob(&kernel, &request, self.dialect).await)
        })
    }

    fn upload_files(&self, files: Vec<Upload>) -> BoxFuture<'_, Result<Vec<UploadResult>>> {
        Box::pin(async move {
            let kernel = self.kernel("upload_files")?;
            let mut results = Vec::with_capacity(files.len());
            let mut turn = Turn::default();
            for file in files {
                let bytes = file.content.len();
                results.push(transfer::upload(&mut lock(&kernel), file));
                turn.after(bytes).await;
            }
            Ok(results)
        })
    }

    fn download_files(&self, paths: Vec<Vec<u8>>) -> BoxFuture<'_, Result<Vec<Download>>> {
        Box::pin(async move {
            let kernel = self.kernel("download_files")?;
            let mut results = Vec::with_capacity(paths.len());
            let mut turn = Turn::default();
            for path in paths {
                let download = transfer::download(&lock(&kernel), path);
                let bytes = download.result.as_ref().map_or(0, Vec::len);
                results.push(download);
                turn.after(bytes).await;
            }
            Ok(results)
        })
    }

    fn close(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            self.shut();
            Ok(())
        })
    }
}

/// Counts work and lets others have a turn when there was enough of it.
#[derive(Default)]
struct Turn {
    bytes: usize,
}

impl Turn {
    async fn after(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes >= BYTES_PER_TURN {
            self.bytes = 0;
            crate::turn::yield_now().await;
        }
    }
}
