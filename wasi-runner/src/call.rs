//! How a guest's call reaches the kernel, and how a call that must wait does so.

use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tidebox_kernel::wasi::{GuestMem, Sys};
use tidebox_kernel::{Kernel, Pid, Signal};
use wasmtime::Caller;

use crate::guest::{Guest, Linear, interrupt, lock};

/// A guest's own end, travelling as an error through Wasmtime so that the guest's stack is left.
#[derive(Debug)]
pub(crate) enum Leave {
    Exit(i32),
    Killed(Signal),
}

impl fmt::Display for Leave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "the guest left with exit code {code}"),
            Self::Killed(signal) => write!(f, "the guest was ended by {signal:?}"),
        }
    }
}

impl std::error::Error for Leave {}

/// Runs a kernel function once over the caller's memory.
pub(crate) fn enter(
    caller: &mut Caller<'_, Guest>,
    call: impl FnOnce(&mut Kernel, Pid, &mut dyn GuestMem) -> Sys,
) -> Sys {
    match caller.data().memory {
        Some(memory) => {
            let (bytes, guest) = memory.data_and_store_mut(caller);
            call(&mut lock(&guest.kernel), guest.pid, &mut Linear(bytes))
        }
        // A module without a memory can still ask for what needs none; every pointer it passes is a fault.
        None => {
            let guest = caller.data();
            call(&mut lock(&guest.kernel), guest.pid, &mut Linear(&mut []))
        }
    }
}

/// Turns the kernel's answer into the guest's result. A function that cannot block never answers `Block`; if it did, the
/// guest is told to try again.
pub(crate) fn finish(sys: Sys) -> wasmtime::Result<u32> {
    match sys {
        Sys::Done(errno) => Ok(errno as u32),
        Sys::Block(_) => Ok(tidebox_kernel::Errno::Again as u32),
        Sys::Exit(code) => Err(wasmtime::Error::new(Leave::Exit(code))),
        Sys::Kill(signal) => Err(wasmtime::Error::new(Leave::Killed(signal))),
    }
}

/// Runs a kernel function until it no longer blocks. Where runs are to be repeatable, the guest may have to let others
/// have a turn first.
pub(crate) async fn enter_blocking(
    caller: &mut Caller<'_, Guest>,
    mut call: impl FnMut(&mut Kernel, Pid, &mut dyn GuestMem) -> Sys + Send,
) -> wasmtime::Result<u32> {
    let mut alarm = None;
    let mut counted = false;
    let finished = poll_fn(|cx| {
        if !std::mem::replace(&mut counted, true) {
            let guest = caller.data();
            if lock(&guest.kernel).turn_is_over(guest.pid) {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        let sys = enter(caller, |kernel, pid, memory| {
            let sys = call(kernel, pid, memory);
            // The waker is left under the same lock as the answer, so that nothing can happen unseen in between.
            if let Sys::Block(wait) = sys {
                kernel.park(pid, wait, cx.waker());
            }
            sys
        });
        let Sys::Block(wait) = sys else { return Poll::Ready(finish(sys)) };
        if let Some(deadline) = wait.deadline {
            let kernel = lock(&caller.data().kernel);
            // Time that passes only when all wait needs no timer.
            if !kernel.is_repeatable() {
                let left = deadline.saturating_sub(kernel.monotonic());
                drop(kernel);
                arm(&mut alarm, Duration::from_nanos(left), cx);
            }
        }
        Poll::Pending
    })
    .await;
    if matches!(finished, Ok(errno) if errno == tidebox_kernel::Errno::Intr as u32) {
        interrupt(caller);
    }
    finished
}

/// Lets the scheduler choose again. Tokio's way of yielding would wake the task at a time of its own.
pub(crate) async fn give_way() {
    let mut gave = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut gave, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

type Alarm = Option<std::pin::Pin<Box<tokio::time::Sleep>>>;

/// Has the task polled again after `delay`.
fn arm(alarm: &mut Alarm, delay: Duration, cx: &mut Context<'_>) {
    let sleep = alarm.insert(Box::pin(tokio::time::sleep(delay)));
    if sleep.as_mut().poll(cx).is_ready() {
        Waker::wake_by_ref(cx.waker());
    }
}
