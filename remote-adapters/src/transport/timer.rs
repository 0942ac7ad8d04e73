//! Time, and work that nobody waits for, on the executors that there are: tokio natively, the event loop in JavaScript.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
pub use web_time::Instant;

/// The moment it is.
pub fn now() -> Instant {
    Instant::now()
}

/// Waits.
#[cfg(not(target_family = "wasm"))]
pub async fn sleep(time: Duration) {
    tokio::time::sleep(time).await;
}

/// Waits.
#[cfg(target_family = "wasm")]
pub async fn sleep(time: Duration) {
    // A timer of JavaScript counts milliseconds in 31 bits.
    let millis = u32::try_from(time.as_millis()).unwrap_or(u32::MAX).min(i32::MAX as u32);
    send_wrapper::SendWrapper::new(gloo_timers::future::TimeoutFuture::new(millis)).await;
}

/// Waits for `future`, but not longer than `time`.
pub async fn within<T>(time: Duration, future: impl Future<Output = T>) -> Option<T> {
    match select(pin!(future), pin!(sleep(time))).await {
        Either::Left((value, _)) => Some(value),
        Either::Right(_) => None,
    }
}

/// Lets `future` run to its end without anybody who waits. Where no executor runs any more, it is dropped.
#[cfg(not(target_family = "wasm"))]
pub fn spawn(future: impl Future<Output = ()> + Send + 'static) {
    if let Ok(executor) = tokio::runtime::Handle::try_current() {
        drop(executor.spawn(future));
    }
}

/// Lets `future` run to its end without anybody who waits.
#[cfg(target_family = "wasm")]
pub fn spawn(future: impl Future<Output = ()> + Send + 'static) {
    wasm_bindgen_futures::spawn_local(future);
}
