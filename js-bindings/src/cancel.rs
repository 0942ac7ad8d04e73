//! Commands that their caller gives up.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};

use tidebox_core::BoxFuture;

thread_local! {
    /// The number of the call that is polled right now; 0 is none.
    static CURRENT: Cell<u32> = const { Cell::new(0) };
}

/// The number that the caller has given the command which is begun right now.
pub(crate) fn current_call() -> u32 {
    CURRENT.get()
}

/// A future that knows the number of its call, for the engine, which is told of no callers.
pub(crate) struct InCall<'a, T> {
    call: u32,
    work: BoxFuture<'a, T>,
}

impl<'a, T> InCall<'a, T> {
    pub(crate) fn new(call: u32, work: BoxFuture<'a, T>) -> Self {
        Self { call, work }
    }
}

impl<T> Future for InCall<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let before = CURRENT.replace(self.call);
        let polled = self.work.as_mut().poll(cx);
        CURRENT.set(before);
        polled
    }
}
