//! Commands whose output arrives while they run.

use std::future::Future;
use std::sync::Arc;

use pyo3::prelude::*;
use tidebox::{ExecuteRequest, ExecuteResponse, SandboxBackend};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::{Mutex, oneshot};
use tokio::task::AbortHandle;

use crate::errors::{checked, invalid};
use crate::execute::{ExecuteResult, OutputChunk};
use crate::runtime;

type Completion = oneshot::Receiver<Result<ExecuteResponse, tidebox::Error>>;

/// A running command. Dropping it stops the command.
#[pyclass(frozen, module = "tidebox")]
pub(crate) struct NativeStream {
    /// The output limit of the sandbox bounds what waits here.
    chunks: Arc<Mutex<UnboundedReceiver<tidebox::OutputChunk>>>,
    completion: Arc<Mutex<Option<Completion>>>,
    task: AbortHandle,
}

impl NativeStream {
    /// Starts a command.
    pub(crate) fn start(backend: Arc<dyn SandboxBackend>, request: ExecuteRequest) -> PyResult<Self> {
        let (send_chunk, chunks) = unbounded_channel();
        let (send_result, completion) = oneshot::channel();
        let task = runtime::handle()?.spawn(async move {
            let mut sink = |chunk| {
                // The receiver is dropped together with the task.
                let _ = send_chunk.send(chunk);
            };
            let result = backend.execute_streaming(request, &mut sink).await;
            let _ = send_result.send(result);
        });
        Ok(Self {
            chunks: Arc::new(Mutex::new(chunks)),
            completion: Arc::new(Mutex::new(Some(completion))),
            task: task.abort_handle(),
        })
    }

    fn next_chunk(&self) -> impl Future<Output = PyResult<Option<OutputChunk>>> + Send + use<> {
        let chunks = Arc::clone(&self.chunks);
        async move { Ok(chunks.lock().await.recv().await.map(OutputChunk::new)) }
    }
}

#[pymethods]
impl NativeStream {
    /// Returns the next chunk; None at the end.
    fn next<'py>(&self, py: Python<'py>, asynchronous: bool) -> PyResult<Bound<'py, PyAny>> {
        runtime::run(py, asynchronous, self.next_chunk())
    }

    /// Waits for the end of the command.
    fn result<'py>(&self, py: Python<'py>, asynchronous: bool) -> PyResult<Bound<'py, PyAny>> {
        let completion = Arc::clone(&self.completion);
        runtime::run(py, asynchronous, async move {
            let completion = completion.lock().await.take().ok_or_else(|| invalid("the result was already taken"))?;
            match completion.await {
                Ok(result) => checked(result).map(ExecuteResult),
                Err(_) => Err(invalid("the command was stopped, so it has no result")),
            }
        })
    }

    /// Stops the command.
    fn stop(&self) {
        self.task.abort();
    }
}

impl Drop for NativeStream {
    fn drop(&mut self) {
        self.task.abort();
    }
}
