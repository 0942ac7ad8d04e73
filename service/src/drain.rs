//! Draining: new requests are denied while those in progress end.

use std::sync::Arc;

use tokio::sync::watch;

/// Requests in progress, and whether the service drains.
#[derive(Clone, Debug)]
pub(crate) struct Drain {
    is_draining: Arc<watch::Sender<bool>>,
    running: Arc<watch::Sender<usize>>,
}

impl Default for Drain {
    fn default() -> Self {
        Self { is_draining: Arc::new(watch::Sender::new(false)), running: Arc::new(watch::Sender::new(0)) }
    }
}

impl Drain {
    /// Starts to deny requests.
    pub(crate) fn begin(&self) {
        self.is_draining.send_replace(true);
    }

    pub(crate) fn is_draining(&self) -> bool {
        *self.is_draining.borrow()
    }

    /// Completes when draining starts.
    pub(crate) fn wait_for_start(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut changes = self.is_draining.subscribe();
        async move {
            // The sender is kept by this service; without it there is nothing to wait for.
            let _ = changes.wait_for(|is_draining| *is_draining).await;
        }
    }

    /// Registers a request, or returns `None` if the service drains.
    pub(crate) fn enter(&self) -> Option<RunningRequest> {
        self.running.send_modify(|running| *running += 1);
        let request = RunningRequest(Arc::clone(&self.running));
        // Checked after the registration: otherwise the last request could end between both.
        (!self.is_draining()).then_some(request)
    }

    /// Completes when no request is in progress.
    pub(crate) async fn ended(&self) {
        let mut changes = self.running.subscribe();
        let _ = changes.wait_for(|running| *running == 0).await;
    }
}

/// A request in progress, until it is dropped.
#[derive(Debug)]
pub(crate) struct RunningRequest(Arc<watch::Sender<usize>>);

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.0.send_modify(|running| *running = running.saturating_sub(1));
    }
}
