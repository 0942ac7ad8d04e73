//! Timers and background tasks: tokio natively, the event loop in JavaScript.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
pub use web_time::Instant;

/// Returns the current time.
pub fn now() -> Instant {
    Instant::now()
}

/// Waits for `time`.
#[cfg(not(target_family = "wasm"))]
pub async fn sleep(time: Duration) {
    tokio::time::sleep(time).await;
}

/// Waits for `time`.
#[cfg(target_family = "wasm")]
pub async fn sleep(time: Duration) {
    // JavaScript timers take milliseconds in 31 bits.
    let millis = u32::try_from(time.as_millis()).unwrap_or(u32::MAX).min(i32::MAX as u32);
    send_wrapper::SendWrapper::new(gloo_timers::future::TimeoutFuture::new(millis)).await;
}

/// Waits for `future`, for at most `time`.
pub async fn timeout<T>(time: Duration, future: impl Future<Output = T>) -> Option<T> {
    match select(pin!(future), pin!(sleep(time))).await {
        Either::Left((value, _)) => Some(value),
        Either::Right(_) => None,
    }
}

/// Runs `future` in the background. Drops it if no executor is running.
#[cfg(not(target_family = "wasm"))]
pub fn spawn(future: impl Future<Output = ()> + Send + 'static) {
    if let Ok(executor) = tokio::runtime::Handle::try_current() {
        drop(executor.spawn(future));
    }
}

/// Runs `future` in the background.
#[cfg(target_family = "wasm")]
pub fn spawn(future: impl Future<Output = ()> + Send + 'static) {
    wasm_bindgen_futures::spawn_local(future);
}
