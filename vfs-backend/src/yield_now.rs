//! Yielding during long work.

use std::future::poll_fn;
use std::task::Poll;

/// Yields once, so that a search through a large tree does not block the caller's other tasks.
pub(crate) async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
