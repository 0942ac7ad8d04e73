//! The interface between a backend and an engine.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::{ExecutionId, OutputChunk, SharedKernel};

/// Runs guests and waits for blocked calls. Failures of a guest are reported by the kernel's execution report; an error means
/// that the host failed.
pub trait Engine: Send + Sync + fmt::Debug {
    /// Drives every process of `session` until its root process has ended or `wall_time` has passed; then it calls
    /// [`Kernel::stop_execution`](crate::Kernel::stop_execution) with [`StopReason::Timeout`](crate::StopReason::Timeout). Passes
    /// output chunks to `on_output` as they arrive if the caller streams; otherwise they stay in the kernel for
    /// [`Kernel::take_output`](crate::Kernel::take_output).
    fn drive<'a>(
        &'a self,
        kernel: &'a SharedKernel,
        execution: ExecutionId,
        wall_time: Duration,
        on_output: Option<&'a mut (dyn FnMut(OutputChunk) + Send)>,
    ) -> Pin<Box<dyn Future<Output = Result<(), EngineError>> + Send + 'a>>;

    /// Returns whether interactive processes can rest and be saved. Default `false`.
    fn supports_rest(&self) -> bool {
        false
    }
}

/// A failure of the host to run a guest, such as no memory for a pool or a damaged cache. Never caused by the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineError {
    /// Failed operation, cause and hint.
    pub message: String,
}

impl EngineError {
    /// Creates an error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for EngineError {}
