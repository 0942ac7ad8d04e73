//! Calls from the guest into the kernel, including calls that block.

use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tidebox_kernel::{GuestMemory, Kernel, Pid, Signal, SyscallOutcome};
use wasmtime::Caller;

use crate::guest::{Guest, LinearMemory, interrupt};

/// Exit of a guest, returned as an error through Wasmtime so that the guest's stack unwinds.
#[derive(Debug)]
pub(crate) enum GuestExit {
    Exit(i32),
    Killed(Signal),
}

impl fmt::Display for GuestExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "the guest exited with code {code}"),
            Self::Killed(signal) => write!(f, "the guest was ended by {signal:?}"),
        }
    }
}

impl std::error::Error for GuestExit {}

/// Runs a kernel function once on the caller's memory.
pub(crate) fn call_kernel(
    caller: &mut Caller<'_, Guest>,
    call: impl FnOnce(&mut Kernel, Pid, &mut dyn GuestMemory) -> SyscallOutcome,
) -> SyscallOutcome {
    match caller.data().memory {
        Some(memory) => {
            let (bytes, guest) = memory.data_and_store_mut(caller);
            call(&mut guest.kernel.lock(), guest.pid, &mut LinearMemory(bytes))
        }
        // A module without memory may still make calls that need none. Any pointer that it passes is a fault.
        None => {
            let guest = caller.data();
            call(&mut guest.kernel.lock(), guest.pid, &mut LinearMemory(&mut []))
        }
    }
}

/// Converts the kernel's outcome to the guest's result. A nonblocking function never returns `Block`; if it did, the
/// guest would get EAGAIN.
pub(crate) fn finish(sys: SyscallOutcome) -> wasmtime::Result<u32> {
    match sys {
        SyscallOutcome::Done(errno) => Ok(errno as u32),
        SyscallOutcome::Block(_) => Ok(tidebox_kernel::Errno::Again as u32),
        SyscallOutcome::Exit(code) => Err(wasmtime::Error::new(GuestExit::Exit(code))),
        SyscallOutcome::Kill(signal) => Err(wasmtime::Error::new(GuestExit::Killed(signal))),
    }
}

/// Runs a kernel function until it no longer blocks. In deterministic mode the guest may have to yield first.
pub(crate) async fn call_kernel_blocking(
    caller: &mut Caller<'_, Guest>,
    mut call: impl FnMut(&mut Kernel, Pid, &mut dyn GuestMemory) -> SyscallOutcome + Send,
) -> wasmtime::Result<u32> {
    let mut alarm = None;
    let mut counted = false;
    let finished = poll_fn(|cx| {
        if !std::mem::replace(&mut counted, true) {
            let guest = caller.data();
            if guest.kernel.lock().slice_expired(guest.pid) {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        let sys = call_kernel(caller, |kernel, pid, memory| {
            let sys = call(kernel, pid, memory);
            // Register the waker under the same lock that returned `Block`, so that no wakeup is lost.
            if let SyscallOutcome::Block(wait) = sys {
                kernel.park(pid, wait, cx.waker());
            }
            sys
        });
        let SyscallOutcome::Block(wait) = sys else { return Poll::Ready(finish(sys)) };
        if let Some(deadline) = wait.deadline {
            let kernel = caller.data().kernel.lock();
            // Deterministic time advances only when all processes wait, so no timer is needed.
            if !kernel.is_deterministic() {
                let left = deadline.saturating_sub(kernel.monotonic());
                drop(kernel);
                set_alarm(&mut alarm, Duration::from_nanos(left), cx);
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

/// Yields to the scheduler. Tokio's own yield would wake the task at a nondeterministic time.
pub(crate) async fn yield_now() {
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

/// Schedules another poll of the task after `delay`.
fn set_alarm(alarm: &mut Alarm, delay: Duration, cx: &mut Context<'_>) {
    let sleep = alarm.insert(Box::pin(tokio::time::sleep(delay)));
    if sleep.as_mut().poll(cx).is_ready() {
        Waker::wake_by_ref(cx.waker());
    }
}
