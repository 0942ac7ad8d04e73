//! WASI 0.3 clocks.

use wasmtime::component::Accessor;
use wasmtime_wasi::p3::bindings::clocks::{monotonic_clock, system_clock, types};

use super::super::clock::until;
use super::super::host::Host;
use super::HasHost;

/// Nanoseconds per second.
const SECOND: u64 = 1_000_000_000;

pub(super) fn instant(nanoseconds: u64) -> system_clock::Instant {
    // 2^64 nanoseconds are 2^34 seconds, and the remainder is less than 1e9.
    let seconds = i64::try_from(nanoseconds / SECOND).unwrap_or(i64::MAX);
    system_clock::Instant { seconds, nanoseconds: u32::try_from(nanoseconds % SECOND).unwrap_or(0) }
}

/// Nanoseconds since the epoch. A time out of range is clamped to the nearest one that the kernel can represent.
pub(super) fn nanoseconds(time: system_clock::Instant) -> u64 {
    let seconds = u64::try_from(time.seconds).unwrap_or(0);
    let rest = if time.seconds < 0 { 0 } else { u64::from(time.nanoseconds) };
    seconds.saturating_mul(SECOND).saturating_add(rest)
}

impl types::Host for Host {}

impl system_clock::Host for Host {
    fn now(&mut self) -> wasmtime::Result<system_clock::Instant> {
        Ok(instant(self.handle.kernel.lock().now()))
    }

    fn get_resolution(&mut self) -> wasmtime::Result<u64> {
        Ok(1)
    }
}

impl monotonic_clock::Host for Host {
    fn now(&mut self) -> wasmtime::Result<u64> {
        Ok(self.handle.kernel.lock().monotonic())
    }

    fn get_resolution(&mut self) -> wasmtime::Result<u64> {
        Ok(1)
    }
}

impl<U> monotonic_clock::HostWithStore<U> for HasHost {
    async fn wait_until(store: &Accessor<U, Self>, when: u64) -> wasmtime::Result<()> {
        let handle = store.with(|mut access| access.get().handle.clone());
        until(&handle, when).await;
        Ok(())
    }

    async fn wait_for(store: &Accessor<U, Self>, duration: u64) -> wasmtime::Result<()> {
        let handle = store.with(|mut access| access.get().handle.clone());
        let now = handle.kernel.lock().monotonic();
        until(&handle, now.saturating_add(duration)).await;
        Ok(())
    }
}
