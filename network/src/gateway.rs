//! The port, over a thread of its own.

use std::fmt;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::ClientConfig;
use rustls_pki_types::CertificateDer;
use tidebox_core::BoxFuture;
use tidebox_core::network::{GatewayError, GatewayErrorKind, GatewayReply, GatewayRequest, HttpGateway};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::error::internal;
use crate::{connect, send, trust};

/// Names that are looked up at the same time. The system's resolver takes a thread for each, and a name whose servers do
/// not answer holds it for half a minute.
const LOOKUPS: usize = 32;

/// Reaches the network by this machine's sockets, with HTTP/1.1 and TLS.
///
/// It works under any executor: sockets and timers live on a thread of its own, which starts with the first request and
/// ends with the gateway. Servers prove their names to the roots that the platform trusts, and to
/// [`trusting`](Self::trusting) on top. One gateway serves any number of sandboxes and shares nothing between requests.
#[derive(Default)]
pub struct NativeGateway {
    roots: Vec<CertificateDer<'static>>,
    started: OnceLock<Result<Started, GatewayError>>,
}

struct Started {
    handle: Handle,
    tls: Arc<ClientConfig>,
    /// Dropped with the gateway, which ends the thread.
    _running: oneshot::Sender<()>,
}

impl fmt::Debug for NativeGateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NativeGateway").field("roots", &self.roots.len()).finish_non_exhaustive()
    }
}

impl NativeGateway {
    /// A gateway that trusts what the platform trusts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts this certificate authority, too (in DER form): a company's own, or a test's.
    #[must_use]
    pub fn trusting(mut self, root: CertificateDer<'static>) -> Self {
        self.roots.push(root);
        self
    }

    fn started(&self) -> Result<&Started, GatewayError> {
        self.started.get_or_init(|| start(&self.roots)).as_ref().map_err(Clone::clone)
    }

    /// Runs `work` on the gateway's thread. Dropping the future ends it.
    fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(Arc<ClientConfig>) -> BoxFuture<'static, Result<T, GatewayError>>,
    ) -> BoxFuture<'static, Result<T, GatewayError>> {
        match self.started() {
            Ok(started) => Box::pin(Task(started.handle.spawn(work(Arc::clone(&started.tls))))),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }
}

fn start(roots: &[CertificateDer<'static>]) -> Result<Started, GatewayError> {
    let tls = trust::client(roots)?;
    let (running, ended) = oneshot::channel::<()>();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(LOOKUPS)
        .build()
        .map_err(|error| internal("the network's event loop cannot start", &error))?;
    let handle = runtime.handle().clone();
    let thread = std::thread::Builder::new().name("tidebox-network".to_owned());
    let spawned = thread.spawn(move || {
        // The error is the end that is waited for: the gateway is gone.
        let _ = runtime.block_on(ended);
        // Not waiting for look-ups that hang.
        runtime.shutdown_background();
    });
    spawned.map_err(|error| internal("the network's thread cannot start", &error))?;
    Ok(Started { handle, tls, _running: running })
}

impl HttpGateway for NativeGateway {
    fn resolve(&self, host: String, within: Duration) -> BoxFuture<'static, Result<Vec<IpAddr>, GatewayError>> {
        self.run(move |_| Box::pin(connect::look_up(host, within)))
    }

    fn send(&self, request: GatewayRequest) -> BoxFuture<'static, Result<GatewayReply, GatewayError>> {
        match self.started() {
            Ok(started) => send::send(&started.handle, Arc::clone(&started.tls), request),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }
}

/// Work on the gateway's thread that ends when nobody waits for it any more.
pub(crate) struct Task<T>(pub(crate) JoinHandle<T>);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<T> Future for Task<Result<T, GatewayError>> {
    type Output = Result<T, GatewayError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(|joined| {
            joined.unwrap_or_else(|_| Err(GatewayError::new(GatewayErrorKind::Internal, "the network has ended")))
        })
    }
}
