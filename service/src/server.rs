//! The server of the REST API, and its end.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::service::Service;
use crate::tls::{TlsConfig, TlsListener};

/// Time for connections to close after the last response.
const LAST_RESPONSES: Duration = Duration::from_secs(2);

/// Addresses of a server.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Address of the REST API. With port 0 the system chooses one.
    pub listen: SocketAddr,
    /// Certificate for HTTPS. `None`: HTTP.
    pub tls: Option<TlsConfig>,
    /// Address of the metrics of all tenants, over HTTP without tokens. `None`: no such address.
    pub metrics: Option<SocketAddr>,
}

/// A server that runs until [`end`](Self::end).
#[derive(Debug)]
pub struct Server {
    service: Service,
    url: String,
    address: SocketAddr,
    metrics: Option<SocketAddr>,
    running: Vec<Running>,
}

/// A listener's task.
#[derive(Debug)]
struct Running {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Server {
    /// Serves at the addresses.
    ///
    /// # Errors
    /// If an address is unavailable.
    pub async fn start(service: Service, config: ServerConfig) -> std::io::Result<Self> {
        let listener = bind(config.listen).await?;
        let address = listener.local_addr()?;
        let scheme = if config.tls.is_some() { "https" } else { "http" };
        let mut running = Vec::new();
        let mut metrics = None;
        if let Some(address) = config.metrics {
            let listener = bind(address).await?;
            metrics = Some(listener.local_addr()?);
            running.push(serve(listener, service.metrics_router()));
        }
        running.push(match config.tls {
            Some(tls) => serve_over(TlsListener::new(listener, tls)?, service.router()),
            None => serve(listener, service.router()),
        });
        Ok(Self { service, url: format!("{scheme}://{address}"), address, metrics, running })
    }

    /// Returns its URL, without a trailing slash.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the address of the REST API.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the address of the metrics of all tenants.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics
    }

    /// Closes the listeners, and waits a moment until the connections are closed.
    pub async fn end(self) {
        let mut tasks = Vec::new();
        for running in self.running {
            // The task may have ended with its runtime.
            let _ = running.stop.send(());
            tasks.push(running.task);
        }
        let ended = async {
            for task in tasks {
                let _ = task.await;
            }
        };
        let _ = tokio::time::timeout(LAST_RESPONSES, ended).await;
        drop(self.service);
    }
}

impl Service {
    /// Denies new requests, of the REST API and of the emulators, and waits until those in progress have ended, at most `limit`.
    /// Returns whether all have ended. The listeners still respond, so that a load balancer sees `/readyz` fail.
    pub async fn drain(&self, limit: Duration) -> bool {
        self.0.drain.begin();
        tokio::time::timeout(limit, self.0.drain.ended()).await.is_ok()
    }
}

async fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    let listener = TcpListener::bind(address).await;
    listener.map_err(|error| std::io::Error::new(error.kind(), format!("cannot listen at {address}: {error}")))
}

fn serve(listener: TcpListener, router: Router) -> Running {
    let listener = listener.tap_io(|connection| {
        // A lost connection is detected when it is used.
        let _ = connection.set_nodelay(true);
    });
    serve_over(listener, router)
}

fn serve_over<L>(listener: L, router: Router) -> Running
where
    L: axum::serve::Listener,
    L::Addr: std::fmt::Debug,
{
    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn(async move {
        let serving = axum::serve(listener, router).with_graceful_shutdown(async move {
            // Dropping the sender ends it as well.
            let _ = stopped.await;
        });
        let _ = serving.await;
    });
    Running { stop, task }
}
