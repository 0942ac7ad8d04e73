//! TLS: a listener that accepts only connections with a completed handshake.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// Time for a handshake. A client that never completes one does not keep a connection.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Handshakes in progress.
const MAX_HANDSHAKES: usize = 1024;
/// Pause after a failed accept, for example without free descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Certificate and key in PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The certificate, followed by those of its issuers.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// Files that cannot be used for TLS.
#[derive(Debug)]
pub struct TlsError(String);

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TlsError {}

impl TlsFiles {
    /// Reads the files. They are read again for each new server only.
    ///
    /// # Errors
    /// If a file cannot be read, is not PEM, or the key is not that of the certificate.
    pub fn read(&self) -> Result<TlsConfig, TlsError> {
        let certificate = self.certificate.display();
        let read = CertificateDer::pem_file_iter(&self.certificate).and_then(Iterator::collect);
        let chain: Vec<_> =
            read.map_err(|error| TlsError(format!("cannot read the certificate {certificate}: {error}")))?;
        if chain.is_empty() {
            return Err(TlsError(format!("cannot read the certificate {certificate}: it has no certificate in PEM")));
        }
        let key = PrivateKeyDer::from_pem_file(&self.key)
            .map_err(|error| TlsError(format!("cannot read the key {}: {error}", self.key.display())))?;
        let invalid = |error| TlsError(format!("cannot use the certificate {certificate} with its key: {error}"));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let mut config =
            builder.map_err(invalid)?.with_no_client_auth().with_single_cert(chain, key).map_err(invalid)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsConfig(Arc::new(config)))
    }
}

/// A certificate with its key.
#[derive(Clone, Debug)]
pub struct TlsConfig(Arc<ServerConfig>);

/// Accepts connections over TLS. Handshakes run concurrently, so that a slow client delays no other.
#[derive(Debug)]
pub(crate) struct TlsListener {
    address: SocketAddr,
    connections: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    task: JoinHandle<()>,
}

impl TlsListener {
    pub(crate) fn new(listener: TcpListener, config: TlsConfig) -> std::io::Result<Self> {
        let address = listener.local_addr()?;
        let (sender, connections) = mpsc::channel(1);
        let task = tokio::spawn(accept(listener, TlsAcceptor::from(config.0), sender));
        Ok(Self { address, connections, task })
    }
}

impl Drop for TlsListener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    connections: mpsc::Sender<(TlsStream<TcpStream>, SocketAddr)>,
) {
    let handshakes = Arc::new(tokio::sync::Semaphore::new(MAX_HANDSHAKES));
    // The semaphore is never closed.
    while let Ok(permit) = Arc::clone(&handshakes).acquire_owned().await {
        let Ok((stream, peer)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // Messages are small; do not delay one until the previous one is acknowledged.
        let _ = stream.set_nodelay(true);
        let (acceptor, connections) = (acceptor.clone(), connections.clone());
        tokio::spawn(async move {
            let _permit = permit;
            // A failed handshake concerns only its client.
            if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await {
                let _ = connections.send((stream, peer)).await;
            }
        });
    }
}

impl axum::serve::Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        match self.connections.recv().await {
            Some(connection) => connection,
            // The task ends only with this listener.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        Ok(self.address)
    }
}
