//! Runs blocking work on a separate thread, so that tasks do not wait for the disk.

use futures_channel::oneshot;
use tidebox_core::{Error, ErrorKind, Result};

/// Runs `job` on a new thread. It runs to completion even if the future is dropped.
pub(crate) async fn spawn_blocking<T: Send + 'static>(job: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let (sender, receiver) = oneshot::channel();
    let thread = std::thread::Builder::new().name("tidebox-store".to_owned()).spawn(move || {
        // The receiver is dropped if the future was dropped.
        let _ = sender.send(job());
    });
    thread.map_err(|error| {
        let message = format!("cannot start a thread for disk access: {error}; reduce the load and try again");
        Error::new(ErrorKind::Storage, "keep sandboxes", message).with_source(error)
    })?;
    receiver.await.unwrap_or_else(|_| {
        let message = "the disk thread panicked; this is a bug in Tidebox";
        Err(Error::new(ErrorKind::Storage, "keep sandboxes", message))
    })
}
