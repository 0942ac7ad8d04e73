//! Clocks: the kernel's, also where it is not the world's.

use tidebox_kernel::wasi::Halt;
use wasmtime::component::Resource;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::bindings::clocks::{monotonic_clock, wall_clock};
use wasmtime_wasi::p2::{DynPollable, Pollable, subscribe};

use super::handle::Handle;
use super::host::Host;
use crate::guest::lock;

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

pub(super) fn datetime(nanoseconds: u64) -> wall_clock::Datetime {
    // What is left of a second fits.
    let rest = u32::try_from(nanoseconds % SECOND).unwrap_or(0);
    wall_clock::Datetime { seconds: nanoseconds / SECOND, nanoseconds: rest }
}

/// Nanoseconds since the epoch; a time that the kernel cannot tell is the last that it can.
pub(super) fn nanoseconds(time: wall_clock::Datetime) -> u64 {
    time.seconds.saturating_mul(SECOND).saturating_add(time.nanoseconds.into())
}

impl wall_clock::Host for Host {
    fn now(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        Ok(datetime(lock(&self.handle.kernel).now()))
    }

    fn resolution(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        Ok(datetime(1))
    }
}

/// A moment that can be waited for.
struct Timer {
    handle: Handle,
    until: u64,
}

#[async_trait]
impl Pollable for Timer {
    async fn ready(&mut self) {
        until(&self.handle, self.until).await;
    }
}

/// Waits for a moment of the kernel's monotonic clock.
pub(super) async fn until(handle: &Handle, until: u64) {
    let due = handle.wait(|kernel, _| if kernel.monotonic() >= until { Ok(()) } else { Err(Halt::Block(Some(until))) });
    // It can only be over.
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
        Ok(lock(&self.handle.kernel).monotonic())
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        Ok(1)
    }

    fn subscribe_instant(&mut self, when: u64) -> wasmtime::Result<Resource<DynPollable>> {
        self.timer(when)
    }

    fn subscribe_duration(&mut self, duration: u64) -> wasmtime::Result<Resource<DynPollable>> {
        let now = lock(&self.handle.kernel).monotonic();
        self.timer(now.saturating_add(duration))
    }
}
