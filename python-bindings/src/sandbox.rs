//! A sandbox: a local one, or one of a provider.

use std::sync::Arc;

use pyo3::prelude::*;
use tidebox::{
    EditRequest, FileResult, GlobRequest, GrepRequest, PythonExt, ReadRequest, Sandbox, SandboxBackend, SandboxPath,
    SavedPythonSession, Upload, WriteRequest,
};

use crate::arguments::{Command, CommandOptions, Content, PathArgument};
use crate::deferred::{self, DeferredSandbox};
use crate::errors::{checked, file_error};
use crate::execute::ExecuteResult;
use crate::files::{FileInfo, GlobResult, GrepResult, ReadResult, TransferResult, path_text};
use crate::options::{self, SandboxOptions};
use crate::port::NativePorts;
use crate::process::NativeProcesses;
use crate::python_session::NativePythonSession;
use crate::runtime;
use crate::snapshot::{self, Snapshot};
use crate::stream::NativeStream;

/// A sandbox. Its methods wait, or return an awaitable if `asynchronous` is true.
#[pyclass(frozen, module = "tidebox")]
#[derive(Debug)]
pub(crate) struct NativeSandbox {
    backend: Arc<dyn SandboxBackend>,
    local: LocalSandbox,
    /// Base of relative paths.
    cwd: SandboxPath,
}

/// The backend of a sandbox as its type, if it is local.
#[derive(Clone, Debug)]
pub(crate) enum LocalSandbox {
    /// It is one of a provider.
    No,
    Created(Arc<Sandbox>),
    Deferred(Arc<DeferredSandbox>),
}

impl LocalSandbox {
    /// Waits for the sandbox if it is local.
    pub(crate) async fn created(&self, operation: &'static str) -> tidebox::Result<Arc<Sandbox>> {
        match self {
            Self::Created(sandbox) => Ok(Arc::clone(sandbox)),
            Self::Deferred(deferred) => deferred.created().await,
            Self::No => {
                let message = format!("{operation} is supported only by local sandboxes, not by those of a provider");
                Err(tidebox::Error::new(tidebox::ErrorKind::Unsupported, operation, message))
            }
        }
    }
}

impl NativeSandbox {
    pub(crate) fn local(sandbox: Sandbox) -> Self {
        let sandbox = Arc::new(sandbox);
        let cwd = sandbox.cwd().clone();
        Self::new(Arc::<Sandbox>::clone(&sandbox), LocalSandbox::Created(sandbox), cwd)
    }

    /// `local` is the same sandbox if it is local.
    pub(crate) fn new(backend: Arc<dyn SandboxBackend>, local: LocalSandbox, cwd: SandboxPath) -> Self {
        Self { backend, local, cwd }
    }

    /// Returns the sandbox if it is local. Waits for its creation.
    fn local_sandbox(&self, py: Python<'_>, operation: &'static str) -> PyResult<Arc<Sandbox>> {
        if let LocalSandbox::Created(sandbox) = &self.local {
            return Ok(Arc::clone(sandbox));
        }
        if let LocalSandbox::Deferred(deferred) = &self.local
            && let Some(sandbox) = deferred.ready()
        {
            return Ok(sandbox);
        }
        let local = self.local.clone();
        runtime::block_on(py, async move { checked(local.created(operation).await) })
    }

    /// Runs a file operation at a path.
    fn file_call<'py, T, V>(
        &self,
        py: Python<'py>,
        asynchronous: bool,
        path: &PathArgument,
        start: impl FnOnce(Arc<dyn SandboxBackend>, SandboxPath) -> T,
        convert: impl FnOnce(T::Value) -> PyResult<V> + Send + 'static,
    ) -> PyResult<Bound<'py, PyAny>>
    where
        T: FileCall,
        V: for<'any> IntoPyObject<'any> + Send + 'static,
    {
        let path = path.resolve(&self.cwd, "path")?;
        let name = path.as_bytes().to_vec();
        let call = start(Arc::clone(&self.backend), path);
        runtime::run(py, asynchronous, async move {
            match checked(call.run().await)? {
                Ok(value) => convert(value),
                Err(error) => Err(file_error(&error, &name)),
            }
        })
    }
}

/// A file operation that owns its backend.
pub(crate) trait FileCall: Send + 'static {
    type Value: Send;
    fn run(self) -> impl Future<Output = tidebox::Result<FileResult<Self::Value>>> + Send;
}

macro_rules! file_call {
    ($name:ident, $request:ty, $value:ty, |$backend:ident, $given:ident| $call:expr) => {
        struct $name(Arc<dyn SandboxBackend>, $request);

        impl FileCall for $name {
            type Value = $value;

            async fn run(self) -> tidebox::Result<FileResult<$value>> {
                let Self($backend, $given) = self;
                $call.await
            }
        }
    };
}

file_call!(Ls, SandboxPath, tidebox::LsResponse, |backend, path| backend.ls(&path));
file_call!(Read, ReadRequest, tidebox::ReadResponse, |backend, request| backend.read(request));
file_call!(Write, WriteRequest, tidebox::WriteResponse, |backend, request| backend.write(request));
file_call!(Edit, EditRequest, tidebox::EditResponse, |backend, request| backend.edit(request));
file_call!(Delete, SandboxPath, tidebox::DeleteResponse, |backend, path| backend.delete(&path));
file_call!(Grep, GrepRequest, tidebox::GrepResponse, |backend, request| backend.grep(request));
file_call!(Glob, GlobRequest, tidebox::GlobResponse, |backend, request| backend.glob(request));

#[pymethods]
#[allow(clippy::too_many_arguments, reason = "each is a keyword argument in Python")]
impl NativeSandbox {
    /// Creates a local sandbox.
    #[staticmethod]
    fn create(py: Python<'_>, options: SandboxOptions) -> PyResult<Self> {
        // The engine compiles or loads the base files the first time.
        let builder = py.detach(options::builder);
        let builder = options.apply(checked(builder)?)?;
        let sandbox = py.detach(|| builder.build());
        checked(sandbox).map(Self::local)
    }

    /// Creates a sandbox with the files of a snapshot.
    #[staticmethod]
    fn create_from(py: Python<'_>, options: SandboxOptions, snapshot: &Snapshot) -> PyResult<Self> {
        let builder = options.apply(checked(py.detach(options::builder))?)?.snapshot(&snapshot.0);
        checked(py.detach(|| builder.build())).map(Self::local)
    }

    /// Creates a local sandbox on another thread. Its operations wait for it, and report its errors.
    #[staticmethod]
    fn create_deferred(options: SandboxOptions, snapshot: Option<&Snapshot>) -> PyResult<Self> {
        let (id, cwd) = (options.future_id()?, options.working_directory()?);
        let snapshot = snapshot.map(|snapshot| snapshot.0.clone());
        let deferred = Arc::new(DeferredSandbox::start(id, move || {
            let mut builder = options.apply(options::builder()?).map_err(|error| deferred::option_error(&error))?;
            if let Some(snapshot) = &snapshot {
                builder = builder.snapshot(snapshot);
            }
            builder.build()
        })?);
        Ok(Self::new(Arc::<DeferredSandbox>::clone(&deferred), LocalSandbox::Deferred(deferred), cwd))
    }

    /// Reads the bytes of a snapshot.
    #[staticmethod]
    fn load_snapshot(py: Python<'_>, bytes: Content) -> PyResult<Snapshot> {
        let builder = checked(py.detach(options::builder))?;
        py.detach(move || snapshot::load(&bytes.0, &builder))
    }

    #[getter]
    fn id(&self) -> &str {
        self.backend.id().as_str()
    }

    #[getter]
    fn cwd<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyString>> {
        path_text(py, self.cwd.as_bytes())
    }

    fn execute<'py>(
        &self,
        py: Python<'py>,
        command: Command,
        options: CommandOptions,
        asynchronous: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = options.request(command, &self.cwd)?;
        let backend = Arc::clone(&self.backend);
        runtime::run(py, asynchronous, async move { checked(backend.execute(request).await).map(ExecuteResult) })
    }

    fn start(&self, command: Command, options: CommandOptions) -> PyResult<NativeStream> {
        NativeStream::start(Arc::clone(&self.backend), options.request(command, &self.cwd)?)
    }

    fn ls<'py>(&self, py: Python<'py>, path: PathArgument, asynchronous: bool) -> PyResult<Bound<'py, PyAny>> {
        self.file_call(py, asynchronous, &path, Ls, |response| {
            Ok(response.entries.into_iter().map(FileInfo).collect::<Vec<_>>())
        })
    }

    fn read<'py>(
        &self,
        py: Python<'py>,
        path: PathArgument,
        offset: u64,
        limit: Option<u64>,
        asynchronous: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let start = |backend, path| {
            let mut request = ReadRequest::new(path).with_offset(offset);
            request.limit = limit;
            Read(backend, request)
        };
        self.file_call(py, asynchronous, &path, start, |response| Ok(ReadResult(response)))
    }

    fn write<'py>(
        &self,
        py: Python<'py>,
        path: PathArgument,
        content: Content,
        asynchronous: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let start = |backend, path| Write(backend, WriteRequest::new(path, content.0));
        self.file_call(py, asynchronous, &path, start, |_| Ok(()))
    }

    fn edit<'py>(
        &self,
        py: Python<'py>,
        path: PathArgument,
        old: String,
        new: String,
        replace_all: bool,
        asynchronous: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let start = |backend, path| {
            let request = EditRequest::new(path, old, new);
            Edit(backend, if replace_all { request.all() } else { request })
        };
        self.file_call(py, asynchronous, &path, start, |response| Ok(response.occurrences))
    }

    fn delete<'py>(&self, py: Python<'py>, path: PathArgument, asynchronous: bool) -> PyResult<Bound<'py, PyAny>> {
        self.file_call(py, asynchronous, &path, Delete, |_| Ok(()))
    }

    fn grep<'py>(
        &self,
        py: Python<'py>,
        pattern: Content,
        path: PathArgument,
        glob: Option<Content>,
        max_count: Option<usize>,
        asynchronous: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let start = |backend, path| {
            let mut request = GrepRequest::new(pattern.0, path);
            request.glob = glob.map(|glob| glob.0);
            request.max_count = max_count;
            Grep(backend, request)
        };
        let convert = |response| runtime::try_attach(|py| GrepResult::new(py, response));
        self.file_call(py, asynchronous, &path, start, convert)
    }

    fn glob<'py>(
        &self,
        py: Python<'py>,
        pattern: Content,
        path: PathArgument,
        asynchronous: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let start = |backend, path| Glob(backend, GlobRequest::new(pattern.0, path));
        let convert = |response| runtime::try_attach(|py| GlobResult::new(py, response));
        self.file_call(py, asynchronous, &path, start, convert)
    }

    fn upload_files<'py>(
        &self,
        py: Python<'py>,
        files: Vec<(PathArgument, Content)>,
        asynchronous: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let files = files.into_iter().map(|(path, content)| Upload::new(path.0, content.0)).collect();
        let backend = Arc::clone(&self.backend);
        runtime::run(py, asynchronous, async move {
            let results = checked(backend.upload_files(files).await)?;
            let result = |one: tidebox::UploadResult| TransferResult {
                path: one.path,
                content: None,
                error: one.result.err().map(|error| (error.code.transfer_code(), error.message)),
            };
            Ok(results.into_iter().map(result).collect::<Vec<_>>())
        })
    }

    fn download_files<'py>(
        &self,
        py: Python<'py>,
        paths: Vec<PathArgument>,
        asynchronous: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let paths = paths.into_iter().map(|path| path.0).collect();
        let backend = Arc::clone(&self.backend);
        runtime::run(py, asynchronous, async move {
            let results = checked(backend.download_files(paths).await)?;
            let result = |one: tidebox::Download| match one.result {
                Ok(content) => TransferResult { path: one.path, content: Some(content), error: None },
                Err(error) => {
                    let error = Some((error.code.transfer_code(), error.message));
                    TransferResult { path: one.path, content: None, error }
                }
            };
            Ok(results.into_iter().map(result).collect::<Vec<_>>())
        })
    }

    fn snapshot(&self, py: Python<'_>) -> PyResult<Snapshot> {
        checked(self.local_sandbox(py, "snapshot")?.snapshot()).map(Snapshot)
    }

    fn restore(&self, py: Python<'_>, snapshot: &Snapshot) -> PyResult<()> {
        let sandbox = self.local_sandbox(py, "restore")?;
        checked(py.detach(|| sandbox.restore(&snapshot.0)))
    }

    fn fork(&self, py: Python<'_>) -> PyResult<Self> {
        let sandbox = self.local_sandbox(py, "fork")?;
        checked(py.detach(|| sandbox.fork())).map(Self::local)
    }

    /// The processes that outlive the call which started them.
    #[getter]
    fn processes(&self) -> NativeProcesses {
        NativeProcesses::new(Arc::clone(&self.backend), self.cwd.clone())
    }

    /// The ports at which programs listen.
    #[getter]
    fn ports(&self) -> NativePorts {
        NativePorts::new(self.local.clone())
    }

    /// Starts a Python interpreter that keeps its variables.
    fn python_session(&self, py: Python<'_>) -> PyResult<NativePythonSession> {
        if let LocalSandbox::Deferred(deferred) = &self.local
            && deferred.ready().is_none()
        {
            return Ok(NativePythonSession::deferred(Arc::clone(deferred)));
        }
        let sandbox = self.local_sandbox(py, "python_session")?;
        checked(sandbox.python_session()).map(NativePythonSession::new)
    }

    fn resume_python_session<'py>(
        &self,
        py: Python<'py>,
        saved: Vec<u8>,
        asynchronous: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let local = self.local.clone();
        runtime::run(py, asynchronous, async move {
            let sandbox = checked(local.created("resume_python_session").await)?;
            let limits = checked(sandbox.limits())?;
            let saved = checked(SavedPythonSession::from_bytes(&saved, &limits))?;
            checked(sandbox.resume_python_session(&saved).await).map(NativePythonSession::new)
        })
    }

    fn close<'py>(&self, py: Python<'py>, asynchronous: bool) -> PyResult<Bound<'py, PyAny>> {
        let backend = Arc::clone(&self.backend);
        runtime::run(py, asynchronous, async move { checked(backend.close().await) })
    }
}
