//! Context of a call for the engine: the number under which it can be cancelled, and whether its output is streamed.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};

use tidebox_core::BoxFuture;

thread_local! {
    /// The call that is being polled.
    static CURRENT: Cell<CallContext> = const { Cell::new(CallContext { call: 0, streams_output: false }) };
}

/// The call that runs a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallContext {
    /// Number that JavaScript assigned to the call; 0 for none.
    pub(crate) call: u32,
    /// True if output is delivered as it arrives.
    pub(crate) streams_output: bool,
}

impl CallContext {
    /// Returns the context of the call that is being polled.
    pub(crate) fn current() -> Self {
        CURRENT.get()
    }
}

/// Sets the context while a future is polled, because the engine's interface has no parameter for it.
pub(crate) struct WithContext<'a, T> {
    context: CallContext,
    work: BoxFuture<'a, T>,
}

impl<'a, T> WithContext<'a, T> {
    pub(crate) fn new(context: CallContext, work: BoxFuture<'a, T>) -> Self {
        Self { context, work }
    }
}

impl<T> Future for WithContext<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let before = CURRENT.replace(self.context);
        let polled = self.work.as_mut().poll(cx);
        CURRENT.set(before);
        polled
    }
}
