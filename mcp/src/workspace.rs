//! One sandbox of the server: opened at the first use, with its snapshots and its Python interpreter.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tidebox_core::lock::Mutex;
use tidebox_core::{Error, ErrorKind, FileError, OutputSink, Result, SandboxBackend, SandboxPath};
use tidebox_vfs_backend::{Snapshot, VfsBackend};
use tokio::sync::OnceCell;

use crate::source::{OpenSandbox, PythonInterpreter, PythonRun, SandboxSource};

/// Maximum number of snapshots of one sandbox. Each one keeps the data that changed since, so that a loop that takes them cannot
/// fill the host's memory.
pub(crate) const MAX_SNAPSHOTS: usize = 32;

/// Name of the snapshot that is taken when the sandbox is opened. It does not count.
pub(crate) const START: &str = "start";

/// Maximum length of a snapshot's name in bytes.
const MAX_NAME_BYTES: usize = 128;

/// A sandbox by name.
#[derive(Debug)]
pub(crate) struct Workspace {
    name: String,
    source: Arc<dyn SandboxSource>,
    open: OnceCell<OpenWorkspace>,
}

/// An opened sandbox and the state of its tools.
#[derive(Debug)]
pub(crate) struct OpenWorkspace {
    source: Arc<dyn SandboxSource>,
    backend: Arc<dyn SandboxBackend>,
    sandbox: Arc<VfsBackend>,
    start: Snapshot,
    snapshots: Mutex<BTreeMap<String, Snapshot>>,
    python: tokio::sync::Mutex<Option<KeptInterpreter>>,
    /// Number of restores. An interpreter of an older generation is not used again.
    generation: AtomicU64,
}

#[derive(Debug)]
struct KeptInterpreter {
    interpreter: Box<dyn PythonInterpreter>,
    generation: u64,
}

impl Workspace {
    pub(crate) fn new(name: impl Into<String>, source: Arc<dyn SandboxSource>) -> Self {
        Self { name: name.into(), source, open: OnceCell::new() }
    }

    /// Returns the sandbox, opened if needed. Concurrent first uses open it once.
    pub(crate) async fn open(&self) -> Result<&OpenWorkspace> {
        self.open
            .get_or_try_init(|| async {
                let opened = self.source.open(&self.name).await?;
                OpenWorkspace::new(Arc::clone(&self.source), opened)
            })
            .await
    }

    /// Ends the processes of the sandbox, and saves it if its source does.
    pub(crate) async fn close(&self) -> Result<()> {
        match self.open.get() {
            Some(open) => {
                // An interpreter in use ends with the sandbox.
                if let Ok(mut kept) = open.python.try_lock() {
                    kept.take();
                }
                self.source.save().await?;
                open.backend.close().await
            }
            None => Ok(()),
        }
    }
}

impl OpenWorkspace {
    fn new(source: Arc<dyn SandboxSource>, opened: OpenSandbox) -> Result<Self> {
        let OpenSandbox { backend, sandbox } = opened;
        let start = sandbox.snapshot()?;
        Ok(Self {
            source,
            backend,
            sandbox,
            start,
            snapshots: Mutex::default(),
            python: tokio::sync::Mutex::default(),
            generation: AtomicU64::new(0),
        })
    }

    pub(crate) fn backend(&self) -> &dyn SandboxBackend {
        &*self.backend
    }

    /// Returns the working directory of the sandbox.
    pub(crate) fn cwd(&self) -> &SandboxPath {
        self.sandbox.cwd()
    }

    /// Resolves a path of a call against the working directory.
    ///
    /// # Errors
    /// If it is empty or contains a NUL byte.
    pub(crate) fn resolve(&self, path: &str) -> Result<SandboxPath, FileError> {
        self.cwd().resolve(path)
    }

    /// Returns the current state of the files.
    ///
    /// # Errors
    /// If the sandbox is closed.
    pub(crate) fn current(&self) -> Result<Snapshot> {
        self.sandbox.snapshot()
    }

    /// Takes a snapshot, and returns its name and whether it replaced one. Without a name, the first unused number is the name.
    ///
    /// # Errors
    /// For an invalid name, or at the maximum number of snapshots.
    pub(crate) fn take_snapshot(&self, name: Option<&str>) -> Result<(String, bool)> {
        let snapshot = self.current()?;
        let mut snapshots = self.snapshots.lock();
        let name = match name {
            Some(name) => checked_name(name)?.to_owned(),
            None => unused_name(&snapshots),
        };
        if snapshots.len() >= MAX_SNAPSHOTS && !snapshots.contains_key(&name) {
            let message = format!(
                "cannot take snapshot {name:?}: the sandbox has {MAX_SNAPSHOTS} snapshots, the maximum; replace one by taking it \
                 again under its name: {}",
                names(&snapshots)
            );
            return Err(Error::new(ErrorKind::QuotaExceeded, "snapshot", message));
        }
        let replaced = snapshots.insert(name.clone(), snapshot).is_some();
        Ok((name, replaced))
    }

    /// Returns the snapshot with this name.
    ///
    /// # Errors
    /// If no snapshot has it.
    pub(crate) fn snapshot(&self, name: &str) -> Result<Snapshot> {
        if name == START {
            return Ok(self.start.clone());
        }
        let snapshots = self.snapshots.lock();
        snapshots.get(name).cloned().ok_or_else(|| {
            let message = format!("cannot find snapshot {name:?}; existing snapshots: {}", names(&snapshots));
            Error::new(ErrorKind::InvalidRequest, "snapshot", message)
        })
    }

    /// Restores a snapshot. Everything that runs is ended, the Python interpreter too.
    ///
    /// # Errors
    /// Those of [`VfsBackend::restore`] and of the source.
    pub(crate) async fn restore(&self, snapshot: &Snapshot) -> Result<()> {
        self.sandbox.restore(snapshot)?;
        self.generation.fetch_add(1, Ordering::AcqRel);
        // A call that still holds the interpreter was just stopped; the generation keeps later calls from using it.
        if let Ok(mut kept) = self.python.try_lock() {
            kept.take();
        }
        self.source.save().await
    }

    /// Runs code in the kept interpreter, started if needed. Returns the result, and whether the interpreter is new and whether it
    /// has exited. Calls run one after the other.
    ///
    /// # Errors
    /// If the sandbox has no Python, or the engine fails.
    pub(crate) async fn run_python(
        &self,
        code: &str,
        timeout: Duration,
        sink: OutputSink<'_>,
    ) -> Result<(PythonRun, InterpreterState)> {
        let mut kept = self.python.lock().await;
        let generation = self.generation.load(Ordering::Acquire);
        // The interpreter is owned by this call, so that cancelling the call drops it and ends its processes.
        let usable = kept.take().filter(|kept| kept.generation == generation && !kept.interpreter.has_exited());
        let is_new = usable.is_none();
        let mut interpreter = match usable {
            Some(kept) => kept.interpreter,
            None => self.source.python(Arc::clone(&self.sandbox))?,
        };
        let run = interpreter.run(code, timeout, &mut *sink).await?;
        let has_exited = interpreter.has_exited() || self.generation.load(Ordering::Acquire) != generation;
        if !has_exited {
            *kept = Some(KeptInterpreter { interpreter, generation });
        }
        self.source.save().await?;
        Ok((run, InterpreterState { is_new, has_exited }))
    }
}

/// State of the interpreter around a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InterpreterState {
    pub(crate) is_new: bool,
    pub(crate) has_exited: bool,
}

fn checked_name(name: &str) -> Result<&str> {
    let reason = match name {
        "" => "it is empty".to_owned(),
        START => format!("{START:?} is the state in which the sandbox was opened"),
        long if long.len() > MAX_NAME_BYTES => format!("it is longer than {MAX_NAME_BYTES} bytes"),
        _ => return Ok(name),
    };
    let message = format!("cannot take a snapshot with this name: {reason}; choose another name");
    Err(Error::new(ErrorKind::InvalidRequest, "snapshot", message))
}

fn unused_name(snapshots: &BTreeMap<String, Snapshot>) -> String {
    let mut names = (1..).map(|number: u64| number.to_string());
    names.find(|name| !snapshots.contains_key(name)).unwrap_or_default()
}

/// Lists the names for a message.
fn names(snapshots: &BTreeMap<String, Snapshot>) -> String {
    let names = snapshots.keys().map(String::as_str);
    [START].into_iter().chain(names).collect::<Vec<_>>().join(", ")
}
