//! WASI 0.2 clocks, backed by the kernel's clock, which may be deterministic.

use tidebox_kernel::SyscallError;
use wasmtime::component::Resource;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::bindings::clocks::{monotonic_clock, wall_clock};
use wasmtime_wasi::p2::{DynPollable, Pollable, subscribe};

use super::handle::ProcessHandle;
use super::host::Host;

/// Nanoseconds per second.
const SECOND: u64 = 1_000_000_000;

pub(super) fn datetime(nanoseconds: u64) -> wall_clock::Datetime {
    // The remainder is less than 1e9 and fits in `u32`.
    let rest = u32::try_from(nanoseconds % SECOND).unwrap_or(0);
    wall_clock::Datetime { seconds: nanoseconds / SECOND, nanoseconds: rest }
}

/// Nanoseconds since the epoch. A time out of range becomes the latest one that the kernel can represent.
pub(super) fn nanoseconds(time: wall_clock::Datetime) -> u64 {
    time.seconds.saturating_mul(SECOND).saturating_add(time.nanoseconds.into())
}

impl wall_clock::Host for Host {
    fn now(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        Ok(datetime(self.handle.kernel.lock().now()))
    }

    fn resolution(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        Ok(datetime(1))
    }
}

/// A pollable point in time.
struct Timer {
    handle: ProcessHandle,
    until: u64,
}

#[async_trait]
impl Pollable for Timer {
    async fn ready(&mut self) {
        until(&self.handle, self.until).await;
    }
}

/// Waits until a time on the kernel's monotonic clock.
pub(super) async fn until(handle: &ProcessHandle, until: u64) {
    let due = handle
        .wait(|kernel, _| if kernel.monotonic() >= until { Ok(()) } else { Err(SyscallError::Block(Some(until))) });
    // The only possible result is that the deadline has passed.
    let _ = due.await;
}

impl Host {
    fn timer(&mut self, until: u64) -> wasmtime::Result<Resource<DynPollable>> {
        let timer = self.table.push(Timer { handle: self.handle.clone(), until })?;
        subscribe(&mut self.table, timer)
    }
}

impl monotonic_clock::Host for Host {
    fn now(&mut self) -> wasmtime::Result<u64> {
        Ok(self.handle.kernel.lock().monotonic())
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        Ok(1)
    }

    fn subscribe_instant(&mut self, when: u64) -> wasmtime::Result<Resource<DynPollable>> {
        self.timer(when)
    }

    fn subscribe_duration(&mut self, duration: u64) -> wasmtime::Result<Resource<DynPollable>> {
        let now = self.handle.kernel.lock().monotonic();
        self.timer(now.saturating_add(duration))
    }
}
