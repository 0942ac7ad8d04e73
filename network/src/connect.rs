//! Name resolution and connections.

use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use tidebox_core::network::{GatewayError, GatewayErrorKind, Host, Scheme, Target};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

use crate::error::{timed_out, tls};

/// A connection, encrypted or not.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send {}

impl<T: AsyncRead + AsyncWrite + Send> Stream for T {}

/// An established connection.
pub(crate) struct Connected {
    pub(crate) stream: Pin<Box<dyn Stream>>,
    pub(crate) peer: SocketAddr,
    /// Time when the connection was established.
    pub(crate) connected: Instant,
    /// Time when the TLS handshake was complete, if any.
    pub(crate) encrypted: Option<Instant>,
}

/// Resolves a name to all of its addresses, with the system's resolver.
pub(crate) async fn resolve(host: String, within: Duration) -> Result<Vec<IpAddr>, GatewayError> {
    // The port is unused; the system's interface requires one.
    let found = match tokio::time::timeout(within, tokio::net::lookup_host((host.as_str(), 0))).await {
        Ok(found) => found,
        Err(_) => return Err(timed_out(&format!("resolving {host}"))),
    };
    let found = found.map_err(|error| {
        GatewayError::new(GatewayErrorKind::Resolve, format!("cannot resolve the name {host}: {error}"))
    })?;
    let mut addresses: Vec<IpAddr> = Vec::new();
    for address in found {
        if !addresses.contains(&address.ip()) {
            addresses.push(address.ip());
        }
    }
    Ok(addresses)
}

/// Connects to one of `addresses`. Each gets an equal share of the timeout.
pub(crate) async fn connect(
    target: &Target,
    addresses: &[IpAddr],
    client: Arc<ClientConfig>,
    within: Duration,
) -> Result<Connected, GatewayError> {
    let until = Instant::now() + within;
    let (stream, peer) = connect_tcp(target, addresses, until).await?;
    let connected = Instant::now();
    // Sends small requests immediately; systems without this option are supported.
    let _ = stream.set_nodelay(true);
    if target.scheme == Scheme::Http {
        return Ok(Connected { stream: Box::pin(stream), peer, connected, encrypted: None });
    }
    let name = match &target.host {
        Host::Address(address) => ServerName::IpAddress((*address).into()),
        Host::Name(name) => ServerName::try_from(name.clone()).map_err(|error| {
            GatewayError::new(GatewayErrorKind::Tls, format!("{name} is not a valid certificate name: {error}"))
        })?,
    };
    let encrypted = match timeout_at(until, TlsConnector::from(client).connect(name, stream)).await {
        Ok(encrypted) => encrypted.map_err(|error| tls(&target.host.to_string(), &error))?,
        Err(_) => return Err(timed_out(&format!("the TLS handshake with {}", target.host))),
    };
    Ok(Connected { stream: Box::pin(encrypted), peer, connected, encrypted: Some(Instant::now()) })
}

async fn connect_tcp(
    target: &Target,
    addresses: &[IpAddr],
    until: Instant,
) -> Result<(TcpStream, SocketAddr), GatewayError> {
    let mut last = None;
    for (tried, address) in addresses.iter().enumerate() {
        let left = until.saturating_duration_since(Instant::now());
        let share = left / u32::try_from(addresses.len() - tried).unwrap_or(u32::MAX);
        let peer = SocketAddr::new(*address, target.port);
        match timeout_at(Instant::now() + share, TcpStream::connect(peer)).await {
            Ok(Ok(stream)) => return Ok((stream, peer)),
            Ok(Err(error)) => {
                let message = format!("cannot connect to {} port {}: {error}", target.host, target.port);
                last = Some(GatewayError::new(GatewayErrorKind::Connect, message));
            }
            Err(_) => last = Some(timed_out(&format!("connecting to {}", target.host))),
        }
    }
    Err(last.unwrap_or_else(|| {
        GatewayError::new(GatewayErrorKind::Connect, format!("cannot connect to {}: no address", target.host))
    }))
}
