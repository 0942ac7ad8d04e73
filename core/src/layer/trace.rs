//! Telling an observer of every call.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::answer::Answer;
use super::call::{Call, Layer, layered};
use crate::backend::{BoxFuture, OutputSink, SandboxBackend};
use crate::error::{Error, Result};
use crate::provider::SandboxId;

/// What an observer is told. Times are the observer's own: it is called when things happen.
#[derive(Clone, Copy, Debug)]
pub enum TraceEvent<'a> {
    /// A call begins.
    Begin {
        /// Counts the calls of this sandbox from 1, and is the same at the end of the call.
        number: u64,
        /// The sandbox.
        sandbox: &'a SandboxId,
        /// The method with its arguments. They may hold secrets.
        call: &'a Call,
    },
    /// A call has ended.
    End {
        /// The number of its beginning.
        number: u64,
        /// The sandbox.
        sandbox: &'a SandboxId,
        /// The method's name.
        method: &'static str,
        /// How it ended.
        end: CallEnd<'a>,
    },
}

/// How a call ended.
#[derive(Clone, Copy, Debug)]
pub enum CallEnd<'a> {
    /// The backend answered; what the sandbox refused is an answer.
    Answered(&'a Answer),
    /// The backend failed.
    Failed(&'a Error),
    /// The caller dropped the call before it was answered.
    Dropped,
}

/// Tells `observer` of every call of `backend`, before and after, also of those that are dropped. It must not block.
pub fn trace(
    backend: Arc<dyn SandboxBackend>,
    observer: impl Fn(TraceEvent<'_>) + Send + Sync + 'static,
) -> Arc<dyn SandboxBackend> {
    layered(Trace { backend, observer: Box::new(observer), calls: AtomicU64::new(0) })
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

/// A call that has begun. Its end is told on every way out.
struct Begun<'a> {
    trace: &'a Trace,
    number: u64,
    method: &'static str,
    told: bool,
}

impl Begun<'_> {
    fn end(&mut self, end: CallEnd<'_>) {
        self.told = true;
        let sandbox = self.trace.backend.id();
        (self.trace.observer)(TraceEvent::End { number: self.number, sandbox, method: self.method, end });
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if !self.told {
            self.end(CallEnd::Dropped);
        }
    }
}

impl Layer for Trace {
    fn id(&self) -> &SandboxId {
        self.backend.id()
    }

    fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let number = self.calls.fetch_add(1, Ordering::Relaxed).saturating_add(1);
            (self.observer)(TraceEvent::Begin { number, sandbox: self.id(), call: &call });
            let mut begun = Begun { trace: self, number, method: call.method(), told: false };
            let result = call.run(&*self.backend, sink).await;
            begun.end(match &result {
                Ok(answer) => CallEnd::Answered(answer),
                Err(error) => CallEnd::Failed(error),
            });
            result
        })
    }
}
