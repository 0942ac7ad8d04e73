//! The gateway, which runs on a separate thread.

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
use crate::{connect, send, tls};

/// Maximum number of concurrent look-ups. The system's resolver needs a thread for each, and a name whose servers do not respond
/// blocks it for half a minute.
const MAX_CONCURRENT_LOOKUPS: usize = 32;

/// Connects through the host's sockets, with HTTP/1.1 and TLS.
///
/// It works under any executor: sockets and timers run on a separate thread, which starts with the first request and ends with
/// the gateway. Servers are authenticated by the platform's root certificates, plus those of [`with_root`](Self::with_root). One
/// gateway serves any number of sandboxes and shares no state between requests.
#[derive(Default)]
pub struct NativeGateway {
    roots: Vec<CertificateDer<'static>>,
    started: OnceLock<Result<GatewayThread, GatewayError>>,
}

struct GatewayThread {
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
    /// Creates a gateway that trusts the platform's root certificates.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a trusted certificate authority (in DER form), for example of a company or a test.
    #[must_use]
    pub fn with_root(mut self, root: CertificateDer<'static>) -> Self {
        self.roots.push(root);
        self
    }

    fn started(&self) -> Result<&GatewayThread, GatewayError> {
        self.started.get_or_init(|| start(&self.roots)).as_ref().map_err(Clone::clone)
    }

    /// Runs `work` on the gateway's thread. Dropping the future aborts it.
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

fn start(roots: &[CertificateDer<'static>]) -> Result<GatewayThread, GatewayError> {
    let tls = tls::client_config(roots)?;
    let (running, ended) = oneshot::channel::<()>();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(MAX_CONCURRENT_LOOKUPS)
        .build()
        .map_err(|error| internal("cannot start the network's event loop", &error))?;
    let handle = runtime.handle().clone();
    let thread = std::thread::Builder::new().name("tidebox-network".to_owned());
    let spawned = thread.spawn(move || {
        // The error is the expected end: the gateway was dropped.
        let _ = runtime.block_on(ended);
        // Does not wait for look-ups that hang.
        runtime.shutdown_background();
    });
    spawned.map_err(|error| internal("cannot start the network's thread", &error))?;
    Ok(GatewayThread { handle, tls, _running: running })
}

impl HttpGateway for NativeGateway {
    fn resolve(&self, host: String, within: Duration) -> BoxFuture<'static, Result<Vec<IpAddr>, GatewayError>> {
        self.run(move |_| Box::pin(connect::resolve(host, within)))
    }

    fn send(&self, request: GatewayRequest) -> BoxFuture<'static, Result<GatewayReply, GatewayError>> {
        match self.started() {
            Ok(started) => send::send(&started.handle, Arc::clone(&started.tls), request),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }
}

/// Work on the gateway's thread. Dropping the task aborts it.
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
            joined.unwrap_or_else(|_| Err(GatewayError::new(GatewayErrorKind::Internal, "the gateway has ended")))
        })
    }
}
