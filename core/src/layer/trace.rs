//! Reporting calls to an observer.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::call::{Call, Layer, from_layer};
use super::response::Response;
use crate::backend::{BoxFuture, OutputSink, SandboxBackend};
use crate::error::{Error, Result};
use crate::provider::SandboxId;

/// An event passed to the observer, synchronously. It carries no timestamp; the observer takes its own.
#[derive(Clone, Copy, Debug)]
pub enum TraceEvent<'a> {
    /// A call has started.
    Begin {
        /// Number of the call in this sandbox, starting at 1. The same in both events of a call.
        number: u64,
        /// The sandbox.
        sandbox: &'a SandboxId,
        /// The method with its arguments. They may contain secrets.
        call: &'a Call,
    },
    /// A call has ended.
    End {
        /// Number of the call.
        number: u64,
        /// The sandbox.
        sandbox: &'a SandboxId,
        /// The method's name.
        method: &'static str,
        /// Result of the call.
        end: CallEnd<'a>,
    },
}

/// Result of a call.
#[derive(Clone, Copy, Debug)]
pub enum CallEnd<'a> {
    /// The backend returned a response, which may contain a file error.
    Completed(&'a Response),
    /// The backend failed.
    Failed(&'a Error),
    /// The caller dropped the call before it ended.
    Dropped,
}

/// Reports every call of `backend` to `observer` before and after, including dropped calls. The observer must not block.
pub fn trace(
    backend: Arc<dyn SandboxBackend>,
    observer: impl Fn(TraceEvent<'_>) + Send + Sync + 'static,
) -> Arc<dyn SandboxBackend> {
    from_layer(Trace { backend, observer: Box::new(observer), calls: AtomicU64::new(0) })
}

type Observer = dyn Fn(TraceEvent<'_>) + Send + Sync;

struct Trace {
    backend: Arc<dyn SandboxBackend>,
    observer: Box<Observer>,
    calls: AtomicU64,
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace").field("backend", &self.backend).finish_non_exhaustive()
    }
}

/// A started call. Reports its end on every exit path, including drop.
struct CallGuard<'a> {
    trace: &'a Trace,
    number: u64,
    method: &'static str,
    reported: bool,
}

impl CallGuard<'_> {
    fn end(&mut self, end: CallEnd<'_>) {
        self.reported = true;
        let sandbox = self.trace.backend.id();
        (self.trace.observer)(TraceEvent::End { number: self.number, sandbox, method: self.method, end });
    }
}

impl Drop for CallGuard<'_> {
    fn drop(&mut self) {
        if !self.reported {
            self.end(CallEnd::Dropped);
        }
    }
}

impl Layer for Trace {
    fn id(&self) -> &SandboxId {
        self.backend.id()
    }

    fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Response>> {
        Box::pin(async move {
            let number = self.calls.fetch_add(1, Ordering::Relaxed).saturating_add(1);
            (self.observer)(TraceEvent::Begin { number, sandbox: self.id(), call: &call });
            let mut guard = CallGuard { trace: self, number, method: call.method(), reported: false };
            let result = call.run(&*self.backend, sink).await;
            guard.end(match &result {
                Ok(reply) => CallEnd::Completed(reply),
                Err(error) => CallEnd::Failed(error),
            });
            result
        })
    }
}
