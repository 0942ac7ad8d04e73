//! The backend contract implemented on a kernel and an engine.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use tidebox_core::lock::Mutex;
use tidebox_core::{
    BoxFuture, DeleteResponse, Dialect, Download, EditRequest, EditResponse, Error, ExecuteRequest, ExecuteResponse,
    FileFuture, FileResult, GlobRequest, GlobResponse, GrepRequest, GrepResponse, Limits, LsResponse, OutputPage,
    OutputSink, PortEndpoint, ProcessId, ProcessInfo, ProcessInput, ProcessSignal, ReadOutput, ReadRequest,
    ReadResponse, Result, SandboxBackend, SandboxId, SandboxPath, ShellMode, SpawnRequest, TerminalSize, Upload,
    UploadResult, WriteRequest, WriteResponse,
};
use tidebox_kernel::engine::Engine;
use tidebox_kernel::fs::FsSnapshot;
use tidebox_kernel::{ExecutionId, HostConnector, Kernel, ResourceUsage, SharedKernel, StopReason};

use crate::background::{self, BackgroundProcesses, Tasks};
use crate::execute::{self, Environment};
use crate::file::{self, FileReader};
use crate::network::SandboxNetwork;
use crate::port::ExposePorts;
use crate::shell_state::ShellSessionState;
use crate::{remove, search, transfer};

/// Bytes of transferred files between two yields.
const BYTES_PER_YIELD: usize = 4 << 20;

/// An in-process sandbox, created by [`SandboxBuilder`](crate::SandboxBuilder).
pub struct VfsBackend {
    id: SandboxId,
    dialect: Dialect,
    cwd: SandboxPath,
    environment: Environment,
    engine: Arc<dyn Engine>,
    pub(crate) shell_mode: ShellMode,
    pub(crate) base: FsSnapshot,
    pub(crate) shell_state: ShellSessionState,
    pub(crate) network: Option<SandboxNetwork>,
    /// Runs processes that outlive a call.
    pub(crate) tasks: Option<Arc<dyn Tasks>>,
    pub(crate) background: BackgroundProcesses,
    /// Makes ports reachable from outside.
    pub(crate) ports: Option<Arc<dyn ExposePorts>>,
    /// Number of forks created from this sandbox.
    forks: AtomicU64,
    /// `None` when closed. Operations in progress keep their own reference to the kernel.
    open: Mutex<Option<OpenState>>,
}

struct OpenState {
    kernel: SharedKernel,
    running: Vec<ExecutionId>,
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

impl VfsBackend {
    pub(crate) fn new(
        id: SandboxId,
        dialect: Dialect,
        cwd: SandboxPath,
        environment: Environment,
        engine: Arc<dyn Engine>,
        base: FsSnapshot,
        kernel: Kernel,
    ) -> Self {
        let open = OpenState { kernel: Arc::new(Mutex::new(kernel)), running: Vec::new() };
        Self {
            id,
            dialect,
            cwd,
            environment,
            engine,
            base,
            shell_mode: ShellMode::default(),
            shell_state: ShellSessionState::default(),
            network: None,
            tasks: None,
            background: BackgroundProcesses::default(),
            ports: None,
            forks: AtomicU64::new(0),
            open: Mutex::new(Some(open)),
        }
    }

    /// Creates a sandbox with the same configuration and another kernel.
    pub(crate) fn fork_with(&self, id: SandboxId, mut kernel: Kernel) -> Self {
        kernel.set_sandbox_id(id.clone());
        let sibling = Self::new(
            id,
            self.dialect,
            self.cwd.clone(),
            self.environment.clone(),
            Arc::clone(&self.engine),
            self.base.clone(),
            kernel,
        );
        let networks = self.network.as_ref().map(SandboxNetwork::networks);
        let sibling = sibling.with_shell_mode(self.shell_mode).with_networks(networks);
        sibling.with_tasks(self.tasks.clone()).with_ports(self.ports.clone())
    }

    /// Sets the executor of processes that outlive a call.
    pub(crate) fn with_tasks(mut self, tasks: Option<Arc<dyn Tasks>>) -> Self {
        self.tasks = tasks;
        self
    }

    /// Sets the implementation that makes ports reachable from outside.
    pub(crate) fn with_ports(mut self, ports: Option<Arc<dyn ExposePorts>>) -> Self {
        self.ports = ports;
        self
    }

    /// Returns the number of the next fork, counted from 0.
    pub(crate) fn next_fork(&self) -> u64 {
        self.forks.fetch_add(1, Ordering::Relaxed)
    }

    /// The dialect of the sandbox.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The default working directory of commands.
    pub fn cwd(&self) -> &SandboxPath {
        &self.cwd
    }

    /// Returns the limits.
    ///
    /// # Errors
    /// [`tidebox_core::ErrorKind::Closed`].
    pub fn limits(&self) -> Result<Limits> {
        Ok(self.kernel("limits")?.lock().limits().clone())
    }

    /// Returns the ports at which programs of the sandbox listen, in ascending order.
    ///
    /// # Errors
    /// [`tidebox_core::ErrorKind::Closed`].
    pub fn listening_ports(&self) -> Result<Vec<u16>> {
        Ok(self.kernel("listening_ports")?.lock().listening_ports())
    }

    /// Returns a value that opens connections from the host to programs that listen in the sandbox.
    ///
    /// # Errors
    /// [`tidebox_core::ErrorKind::Closed`].
    pub fn connector(&self) -> Result<HostConnector> {
        Ok(HostConnector::new(&self.kernel("connector")?))
    }

    /// Current resource usage: commands, processes, open files, memory, files. All zero once the sandbox is closed.
    pub fn resource_usage(&self) -> ResourceUsage {
        let kernel = self.open().as_ref().map(|open| Arc::clone(&open.kernel));
        kernel.map(|kernel| kernel.lock().resource_usage()).unwrap_or_default()
    }

    /// Returns the processor time of all processes since the sandbox was created, also of those that have ended. Zero once the
    /// sandbox is closed.
    pub fn cpu_time(&self) -> Duration {
        let kernel = self.open().as_ref().map(|open| Arc::clone(&open.kernel));
        kernel.map(|kernel| kernel.lock().cpu_time()).unwrap_or_default()
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
            None => Err(self.closed_error(operation)),
        }
    }

    /// Registers an execution so that [`close`](SandboxBackend::close) can end it.
    pub(crate) fn register_execution(&self, execution: ExecutionId) -> Result<()> {
        match &mut *self.open() {
            Some(open) => open.running.push(execution),
            None => return Err(self.closed_error("execute")),
        }
        Ok(())
    }

    pub(crate) fn unregister_execution(&self, execution: ExecutionId) {
        if let Some(open) = &mut *self.open() {
            open.running.retain(|running| *running != execution);
        }
    }

    /// Closes the sandbox and returns its kernel in its last state, if it was open.
    pub(crate) fn take_kernel(&self) -> Option<SharedKernel> {
        let open = self.open().take()?;
        self.background.stop();
        let mut kernel = open.kernel.lock();
        for execution in open.running {
            kernel.stop_execution(execution, StopReason::Cancelled);
        }
        drop(kernel);
        Some(open.kernel)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.open().is_none()
    }

    fn open(&self) -> MutexGuard<'_, Option<OpenState>> {
        self.open.lock()
    }

    fn closed_error(&self, operation: &'static str) -> Error {
        Error::closed(operation).with_context("sandbox", self.id.as_str())
    }

    /// Runs a file operation under the kernel's lock.
    fn with_kernel<'a, T: Send + 'a>(
        &'a self,
        operation: &'static str,
        run: impl FnOnce(&mut Kernel) -> FileResult<T> + Send + 'a,
    ) -> FileFuture<'a, T> {
        Box::pin(async move { Ok(run(&mut self.kernel(operation)?.lock())) })
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

    fn spawn(&self, request: SpawnRequest) -> BoxFuture<'_, Result<ProcessId>> {
        Box::pin(async move { background::spawn(self, request) })
    }

    fn processes(&self) -> BoxFuture<'_, Result<Vec<ProcessInfo>>> {
        Box::pin(async move { background::processes(self) })
    }

    fn read_process<'a>(&'a self, id: &'a ProcessId, request: ReadOutput) -> BoxFuture<'a, Result<OutputPage>> {
        Box::pin(background::read(self, id, request))
    }

    fn write_process<'a>(&'a self, id: &'a ProcessId, input: ProcessInput) -> BoxFuture<'a, Result<usize>> {
        Box::pin(background::write(self, id, input))
    }

    fn signal_process<'a>(&'a self, id: &'a ProcessId, signal: ProcessSignal) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { background::signal(self, id, signal) })
    }

    fn resize_process<'a>(&'a self, id: &'a ProcessId, size: TerminalSize) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { background::resize(self, id, size) })
    }

    fn port_endpoint(&self, port: u16) -> BoxFuture<'_, Result<PortEndpoint>> {
        Box::pin(crate::port::endpoint(self, port))
    }

    fn ls<'a>(&'a self, path: &'a SandboxPath) -> FileFuture<'a, LsResponse> {
        self.with_kernel("ls", |kernel| file::ls(kernel.fs(), path, self.dialect))
    }

    fn read(&self, request: ReadRequest) -> FileFuture<'_, ReadResponse> {
        Box::pin(async move {
            let opened = FileReader::new(self.kernel("read")?.lock().fs(), &request.path);
            let read = match opened {
                Ok(opened) => opened.read(&request, self.dialect).await,
                Err(error) => Err(error),
            };
            Ok(read.map_err(|error| self.dialect.read_error(request.path.as_bytes(), error)))
        })
    }

    fn write(&self, request: WriteRequest) -> FileFuture<'_, WriteResponse> {
        self.with_kernel("write", move |kernel| file::write(kernel, &request, self.dialect))
    }

    fn edit(&self, request: EditRequest) -> FileFuture<'_, EditResponse> {
        self.with_kernel("edit", move |kernel| file::edit(kernel, &request, self.dialect))
    }

    fn delete<'a>(&'a self, path: &'a SandboxPath) -> FileFuture<'a, DeleteResponse> {
        self.with_kernel("delete", |kernel| remove::delete(kernel, path))
    }

    fn grep(&self, request: GrepRequest) -> FileFuture<'_, GrepResponse> {
        Box::pin(async move {
            let kernel = self.kernel("grep")?;
            Ok(search::grep(&kernel, &request, self.dialect).await)
        })
    }

    fn glob(&self, request: GlobRequest) -> FileFuture<'_, GlobResponse> {
        Box::pin(async move {
            let kernel = self.kernel("glob")?;
            Ok(search::glob(&kernel, &request, self.dialect).await)
        })
    }

    fn upload_files(&self, files: Vec<Upload>) -> BoxFuture<'_, Result<Vec<UploadResult>>> {
        Box::pin(async move {
            let kernel = self.kernel("upload_files")?;
            let mut results = Vec::with_capacity(files.len());
            let mut budget = YieldBudget::default();
            for file in files {
                let bytes = file.content.len();
                results.push(transfer::upload(&mut kernel.lock(), file));
                budget.count(bytes).await;
            }
            Ok(results)
        })
    }

    fn download_files(&self, paths: Vec<Vec<u8>>) -> BoxFuture<'_, Result<Vec<Download>>> {
        Box::pin(async move {
            let kernel = self.kernel("download_files")?;
            let mut results = Vec::with_capacity(paths.len());
            let mut budget = YieldBudget::default();
            for path in paths {
                let download = transfer::download(&kernel.lock(), path);
                let bytes = download.result.as_ref().map_or(0, Vec::len);
                results.push(download);
                budget.count(bytes).await;
            }
            Ok(results)
        })
    }

    fn close(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            self.background.terminate(self.tasks.as_ref()).await;
            self.take_kernel();
            Ok(())
        })
    }
}

/// Counts work and yields when a threshold is reached.
#[derive(Default)]
struct YieldBudget {
    bytes: usize,
}

impl YieldBudget {
    async fn count(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes >= BYTES_PER_YIELD {
            self.bytes = 0;
            crate::yield_now::yield_now().await;
        }
    }
}
