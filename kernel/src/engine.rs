//! The port that an engine implements and a backend calls.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::{Chunk, SessionId, SharedKernel};

/// Runs guests and does the waiting. What a guest does wrong is an outcome that the kernel's report tells; an error
/// means that the host could not do its part.
pub trait Engine: Send + Sync + fmt::Debug {
    /// Drives every process of `session` until its root process has ended or `wall_time` has passed; then it calls
    /// [`Kernel::stop`](crate::Kernel::stop) with [`Stop::Time`](crate::Stop::Time). Hands chunks of output to
    /// `on_output` as they arrive when the caller streams; otherwise they stay in the kernel for
    /// [`Kernel::take_output`](crate::Kernel::take_output).
    fn drive<'a>(
        &'a self,
        kernel: &'a SharedKernel,
        session: SessionId,
        wall_time: Duration,
        on_output: Option<&'a mut (dyn FnMut(Chunk) + Send)>,
    ) -> Pin<Box<dyn Future<Output = Result<(), EngineError>> + Send + 'a>>;
}

/// The host could not run a guest: no memory for a pool, a broken cache. Never what a guest did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineError {
    /// What happened, where, and what to do next.
    pub message: String,
}

impl EngineError {
    /// An error with this message.
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
