//! Awaitables of asyncio for futures that run on the threads of Tokio.

use std::future::Future;
use std::mem::ManuallyDrop;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use crate::runtime;

/// Starts a task, and returns a future of the running event loop for its result. Cancelling that future drops the task.
pub(crate) fn spawn<'py, T>(
    py: Python<'py>,
    handle: &Handle,
    task: impl Future<Output = PyResult<T>> + Send + 'static,
) -> PyResult<Bound<'py, PyAny>>
where
    T: for<'any> IntoPyObject<'any> + Send + 'static,
{
    static GET_RUNNING_LOOP: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let get_running_loop = GET_RUNNING_LOOP.import(py, "asyncio", "get_running_loop")?;
    let event_loop = get_running_loop.call0()?;
    let future = event_loop.call_method0("create_future")?;
    let target = Target { event_loop: event_loop.unbind(), future: future.clone().unbind() };
    let running = handle.spawn(async move {
        let finished = (AssertUnwindSafe(task).catch_unwind().await, target);
        // While the interpreter exits, the objects are not freed, which would need the GIL, too.
        let finished = ManuallyDrop::new(finished);
        runtime::attach(|py| {
            let (result, target) = ManuallyDrop::into_inner(finished);
            let result = match result {
                Ok(result) => result.and_then(|value| value.into_py_any(py)),
                Err(_) => Err(PyRuntimeError::new_err("tidebox panicked; this is a bug, please report it")),
            };
            target.complete(py, result);
        });
    });
    future.call_method1("add_done_callback", (Canceller(running.abort_handle()),))?;
    Ok(future)
}

/// An event loop, and one of its futures.
struct Target {
    event_loop: Py<PyAny>,
    future: Py<PyAny>,
}

impl Target {
    /// Passes the result to the event loop's thread. A closed loop does not need it.
    fn complete(self, py: Python<'_>, result: PyResult<Py<PyAny>>) {
        let completion = Completion { future: self.future, result: Some(result) };
        if let Ok(completion) = Py::new(py, completion) {
            let _ = self.event_loop.call_method1(py, "call_soon_threadsafe", (completion,));
        }
    }
}

/// Sets the result of a future. Called by the event loop.
#[pyclass]
struct Completion {
    future: Py<PyAny>,
    result: Option<PyResult<Py<PyAny>>>,
}

#[pymethods]
impl Completion {
    fn __call__(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(result) = self.result.take() else { return Ok(()) };
        // It may have been cancelled in the meantime.
        if self.future.call_method0(py, "done")?.extract(py)? {
            return Ok(());
        }
        match result {
            Ok(value) => self.future.call_method1(py, "set_result", (value,))?,
            Err(error) => self.future.call_method1(py, "set_exception", (error,))?,
        };
        Ok(())
    }
}

/// Drops the task when its future is cancelled. Called by the event loop.
#[pyclass(frozen)]
struct Canceller(AbortHandle);

#[pymethods]
impl Canceller {
    fn __call__(&self, future: &Bound<'_, PyAny>) -> PyResult<()> {
        if future.call_method0("cancelled")?.extract()? {
            self.0.abort();
        }
        Ok(())
    }
}
