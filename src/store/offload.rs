//! Work on a thread of its own, so that a task does not hold up others while a disk is busy.

use futures_channel::oneshot;
use tidebox_core::{Error, ErrorKind, Result};

/// Runs `job` on a new thread. It runs to its end also when the future is dropped.
pub(super) async fn offload<T: Send + 'static>(job: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let (answer, answered) = oneshot::channel();
    let thread = std::thread::Builder::new().name("tidebox-store".to_owned()).spawn(move || {
        // Nobody waits any more for the answer of a job whose future was dropped.
        let _ = answer.send(job());
    });
    thread.map_err(|error| {
        let message = format!("the system gives no thread to use the disk with: {error}; try again with less load");
        Error::new(ErrorKind::Storage, "keep sandboxes", message).with_source(error)
    })?;
    answered.await.unwrap_or_else(|_| {
        let message = "the thread that used the disk ended without an answer; this is a defect of Tidebox";
        Err(Error::new(ErrorKind::Storage, "keep sandboxes", message))
    })
}
