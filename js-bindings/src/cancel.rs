//! What the engine has to know of the caller of a command: whether it has given the command up, and whether it watches.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};

use tidebox_core::BoxFuture;

thread_local! {
    /// The call that is polled right now.
    static CURRENT: Cell<Caller> = const { Cell::new(Caller { call: 0, watches: false }) };
}

/// Who has a command run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    /// The number that it knows the command by; 0 is none.
    pub(crate) call: u32,
    /// Whether pieces of output are handed to it as they come.
    pub(crate) watches: bool,
}

impl Caller {
    /// Whose command is begun right now.
    pub(crate) fn current() -> Self {
        CURRENT.get()
    }
}

/// A future that knows its caller, for the engine, which is told of none.
pub(crate) struct InCall<'a, T> {
    caller: Caller,
    work: BoxFuture<'a, T>,
}

impl<'a, T> InCall<'a, T> {
    pub(crate) fn new(caller: Caller, work: BoxFuture<'a, T>) -> Self {
        Self { caller, work }
    }
}

impl<T> Future for InCall<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let before = CURRENT.replace(self.caller);
        let polled = self.work.as_mut().poll(cx);
        CURRENT.set(before);
        polled
    }
}
