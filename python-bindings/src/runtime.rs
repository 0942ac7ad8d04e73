//! The Tokio runtime of this process, and waiting for futures from Python.

use std::cell::Cell;
use std::future::Future;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tokio::runtime::{Builder, Handle, Runtime};

use crate::awaitable;

/// Interval in which a waiting call checks for signals, such as the one of Ctrl-C.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

struct Shared {
    /// Never dropped: commands may still run while the process exits.
    runtime: Runtime,
    /// The process that started the runtime. Its threads do not exist in a forked child.
    pid: u32,
}

thread_local! {
    /// True while this thread of the runtime runs a function of the application, which may block.
    static MAY_BLOCK: Cell<bool> = const { Cell::new(false) };
}

/// Runs a function of the application on a thread of the runtime that may block.
pub(crate) fn call_blocking<T>(function: impl FnOnce() -> T) -> T {
    MAY_BLOCK.set(true);
    let result = function();
    MAY_BLOCK.set(false);
    result
}

static EXITING: AtomicBool = AtomicBool::new(false);

/// Number of threads of the runtime that have the GIL or wait for it.
static ATTACHED: AtomicUsize = AtomicUsize::new(0);

/// Maximum time that the exit of the interpreter waits for a function of the application on a thread of the runtime.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

static SHARED: OnceLock<Result<Shared, String>> = OnceLock::new();

fn start() -> Result<Shared, String> {
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .thread_name("tidebox")
        .build()
        .map_err(|error| format!("cannot start the threads of tidebox: {error}"))?;
    Ok(Shared { runtime, pid: std::process::id() })
}

/// Returns the runtime, which the first call starts.
pub(crate) fn handle() -> PyResult<&'static Handle> {
    let shared = SHARED.get_or_init(start).as_ref().map_err(|message| PyRuntimeError::new_err(message.clone()))?;
    if shared.pid != std::process::id() {
        return Err(PyRuntimeError::new_err(
            "tidebox was used before os.fork() and cannot be used in the forked child, because threads are not copied; \
             use the start method 'spawn' or 'forkserver', or use tidebox only after the fork",
        ));
    }
    Ok(shared.runtime.handle())
}

/// Waits for a future without the GIL. A signal whose handler raises, such as `KeyboardInterrupt`, drops the future.
pub(crate) fn block_on<T: Send>(py: Python<'_>, future: impl Future<Output = PyResult<T>> + Send) -> PyResult<T> {
    let handle = handle()?;
    if Handle::try_current().is_ok() && !MAY_BLOCK.get() {
        return Err(PyRuntimeError::new_err(
            "a blocking method of tidebox was called in a function that tidebox runs on its own threads; use AsyncSandbox there",
        ));
    }
    py.detach(|| {
        handle.block_on(async {
            let mut future = std::pin::pin!(future);
            loop {
                tokio::select! {
                    biased;
                    result = &mut future => return result,
                    () = tokio::time::sleep(SIGNAL_INTERVAL) => Python::attach(|py| py.check_signals())?,
                }
            }
        })
    })
}

/// Waits for a future, or returns an awaitable.
pub(crate) fn run<'py, T>(
    py: Python<'py>,
    asynchronous: bool,
    future: impl Future<Output = PyResult<T>> + Send + 'static,
) -> PyResult<Bound<'py, PyAny>>
where
    T: for<'any> IntoPyObject<'any> + Send + 'static,
{
    if asynchronous { awaitable::spawn(py, handle()?, future) } else { block_on(py, future)?.into_bound_py_any(py) }
}

/// Calls a function with the GIL on a thread of the runtime. `None` if the interpreter exits: a thread that is attached while it is
/// finalized crashes the process.
pub(crate) fn attach<T>(function: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    // Counted before the check: `shut_down` either sees this thread, or is seen by it.
    ATTACHED.fetch_add(1, Ordering::SeqCst);
    let result = (!EXITING.load(Ordering::SeqCst)).then(|| Python::attach(function));
    ATTACHED.fetch_sub(1, Ordering::SeqCst);
    result
}

/// Like [`attach`] for a function that may fail.
pub(crate) fn try_attach<T>(function: impl FnOnce(Python<'_>) -> PyResult<T>) -> PyResult<T> {
    attach(function).unwrap_or_else(|| Err(PyRuntimeError::new_err("the interpreter exits")))
}

/// Ends the use of the interpreter by the threads of the runtime, before it is finalized.
#[pyfunction]
pub(crate) fn shut_down(py: Python<'_>) {
    EXITING.store(true, Ordering::SeqCst);
    py.detach(|| {
        let end = Instant::now() + EXIT_TIMEOUT;
        while ATTACHED.load(Ordering::SeqCst) > 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}
