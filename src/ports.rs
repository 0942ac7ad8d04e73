//! Connections from the host to programs that listen in a sandbox.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tidebox_core::{BoxFuture, Error, ErrorKind, PortEndpoint, Result};
use tidebox_kernel::{ConnectionReset, Errno, HostConnector, HostStream};
use tidebox_vfs_backend::ExposePorts;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::Sandbox;

/// Time between two attempts to connect.
const RETRY_TIME: Duration = Duration::from_millis(10);

/// Connections through one exposed port that exist concurrently; further ones wait.
const MAX_CONNECTIONS: usize = 256;

/// Maximum size of the head of an HTTP request that is examined before it is passed on.
const MAX_HEAD_BYTES: usize = 64 << 10;

const FIRST_BYTES_TIME: Duration = Duration::from_millis(200);

/// Reaches the servers of a sandbox.
pub trait PortExt {
    /// Connects to a program that listens at a port in the sandbox, without a port of the host.
    ///
    /// # Errors
    /// [`ErrorKind::Unavailable`] if nothing listens there, [`ErrorKind::QuotaExceeded`] beyond a limit of the sandbox,
    /// [`ErrorKind::Unsupported`] if the engine runs one program at a time, [`ErrorKind::Closed`].
    fn connect(&self, port: u16) -> Result<PortStream>;

    /// Waits until a program listens at a port in the sandbox.
    ///
    /// # Errors
    /// [`ErrorKind::Timeout`] after this time, [`ErrorKind::Closed`].
    fn wait_for_port(&self, port: u16, at_most: Duration) -> impl Future<Output = Result<()>> + Send;

    /// Forwards a free port of the host's 127.0.0.1 to a port in the sandbox until the result is dropped. The program may start
    /// to listen later: until then connections are closed.
    ///
    /// Every program on this host can connect to it. Web pages cannot: an HTTP request for another host than `127.0.0.1` or
    /// `localhost` gets the status 403 (DNS rebinding). Must be called in a Tokio runtime.
    ///
    /// # Errors
    /// [`ErrorKind::Unavailable`] if the host has no free port, [`ErrorKind::Closed`].
    fn expose(&self, port: u16) -> impl Future<Output = Result<ExposedPort>> + Send;

    /// Like [`expose`](Self::expose), at this port of the host's 127.0.0.1. 0 selects a free one.
    ///
    /// # Errors
    /// [`ErrorKind::Unavailable`] if the port of the host is in use or reserved, [`ErrorKind::Closed`].
    fn expose_at(&self, port: u16, host_port: u16) -> impl Future<Output = Result<ExposedPort>> + Send;
}

impl PortExt for Sandbox {
    fn connect(&self, port: u16) -> Result<PortStream> {
        let stream = self.connector()?.connect(port).map_err(|errno| connect_error(port, errno))?;
        Ok(PortStream { stream })
    }

    async fn wait_for_port(&self, port: u16, at_most: Duration) -> Result<()> {
        let listens = async {
            while !self.listening_ports()?.contains(&port) {
                tokio::time::sleep(RETRY_TIME).await;
            }
            Ok(())
        };
        tokio::time::timeout(at_most, listens).await.unwrap_or_else(|_| {
            let message = format!("nothing listens at port {port} of the sandbox after {at_most:?}");
            Err(Error::new(ErrorKind::Timeout, "wait_for_port", message))
        })
    }

    async fn expose(&self, port: u16) -> Result<ExposedPort> {
        self.expose_at(port, 0).await
    }

    async fn expose_at(&self, port: u16, host_port: u16) -> Result<ExposedPort> {
        listen(self.connector()?, port, host_port).await
    }
}

/// Forwards a port of the host's 127.0.0.1, 0 for a free one, to a port in a sandbox.
async fn listen(connector: HostConnector, port: u16, host_port: u16) -> Result<ExposedPort> {
    let failed = |error: io::Error| {
        let at = if host_port == 0 { String::new() } else { format!(":{host_port}") };
        Error::new(ErrorKind::Unavailable, "expose", format!("cannot listen on 127.0.0.1{at}: {error}"))
            .with_source(error)
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, host_port)).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let mut tasks = JoinSet::new();
    tasks.spawn(accept_all(listener, connector, port));
    Ok(ExposedPort { port, address, _tasks: tasks })
}

/// Ports of 127.0.0.1.
#[derive(Debug)]
pub(crate) struct LoopbackPorts;

impl ExposePorts for LoopbackPorts {
    fn expose(&self, connector: HostConnector, port: u16) -> BoxFuture<'static, Result<PortEndpoint>> {
        Box::pin(async move {
            if tokio::runtime::Handle::try_current().is_err() {
                let message = "a port of the host must be opened inside a Tokio runtime";
                return Err(Error::new(ErrorKind::Unsupported, "port_endpoint", message));
            }
            let exposed = listen(connector, port, 0).await?;
            Ok(PortEndpoint::new(exposed.url()).with_hold(Arc::new(exposed)))
        })
    }
}

fn connect_error(port: u16, errno: Errno) -> Error {
    let (kind, message) = match errno {
        Errno::Connrefused => (
            ErrorKind::Unavailable,
            format!(
                "nothing listens at port {port} of the sandbox; start a server there, or wait for it by wait_for_port"
            ),
        ),
        Errno::Again => {
            (ErrorKind::Unavailable, format!("the server at port {port} accepts no connections; try again"))
        }
        Errno::Nfile => {
            (ErrorKind::QuotaExceeded, "the sandbox has as many sockets as it may have (Limits::sockets)".to_owned())
        }
        Errno::Notsup => (
            ErrorKind::Unsupported,
            "this engine runs the programs of a sandbox one after the other, so that it has no servers".to_owned(),
        ),
        _ => (ErrorKind::Closed, "the sandbox was closed".to_owned()),
    };
    Error::new(kind, "connect", message)
}

/// A port of the host that leads to a port of a sandbox, until this is dropped.
#[derive(Debug)]
pub struct ExposedPort {
    port: u16,
    address: SocketAddr,
    /// Aborted when it is dropped.
    _tasks: JoinSet<()>,
}

impl ExposedPort {
    /// The port in the sandbox.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address on the host.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of an HTTP server at the port, such as `http://127.0.0.1:40123`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

async fn accept_all(listener: TcpListener, connector: HostConnector, port: u16) {
    let mut connections = JoinSet::new();
    loop {
        while connections.len() >= MAX_CONNECTIONS {
            connections.join_next().await;
        }
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((outer, _)) => {
                    let connector = connector.clone();
                    connections.spawn(async move {
                        // The client sees the end of a failed connection.
                        let _ = forward(outer, &connector, port).await;
                    });
                }
                // The host has too many open files, for example.
                Err(_) => tokio::time::sleep(RETRY_TIME).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn forward(mut outer: TcpStream, connector: &HostConnector, port: u16) -> io::Result<()> {
    let own = outer.local_addr()?.port();
    let mut first = Vec::new();
    // Most clients speak first. The others are connected after this time, and examined when they speak.
    let early = tokio::time::timeout(FIRST_BYTES_TIME, read_request_head(&mut outer, &mut first)).await;
    if early.is_ok() && is_for_other_host(&first, own) {
        let body = "this port of a sandbox serves 127.0.0.1 and localhost only\n";
        let head = format!("HTTP/1.1 403 Forbidden\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        return outer.write_all([head.as_bytes(), body.as_bytes()].concat().as_slice()).await;
    }
    let stream = loop {
        match connector.connect(port) {
            Err(Errno::Again) => tokio::time::sleep(RETRY_TIME).await,
            result => break result,
        }
    };
    let Ok(stream) = stream else { return Ok(()) };
    let (mut from_server, mut to_server) = tokio::io::split(PortStream { stream });
    let (mut from_client, mut to_client) = outer.split();
    let answers = async {
        tokio::io::copy(&mut from_server, &mut to_client).await?;
        to_client.shutdown().await
    };
    let requests = async {
        read_request_head(&mut from_client, &mut first).await?;
        if is_for_other_host(&first, own) {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied));
        }
        to_server.write_all(&first).await?;
        tokio::io::copy(&mut from_client, &mut to_server).await?;
        to_server.shutdown().await
    };
    tokio::try_join!(answers, requests).map(drop)
}

/// Reads until the end of the head of an HTTP request, or until the bytes are not one.
async fn read_request_head(from: &mut (impl AsyncRead + Unpin), bytes: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let is_request = bytes.iter().take(20).take_while(|byte| **byte != b' ').all(u8::is_ascii_uppercase);
        let is_complete = bytes.windows(4).any(|end| end == b"\r\n\r\n");
        if !is_request || is_complete || bytes.len() >= MAX_HEAD_BYTES || from.read_buf(bytes).await? == 0 {
            return Ok(());
        }
    }
}

/// Returns whether the bytes are an HTTP request with the name of another host.
fn is_for_other_host(bytes: &[u8], port: u16) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split("\r\n");
    if !lines.next().is_some_and(|line| line.contains(" HTTP/1.")) {
        return false;
    }
    let hosts = lines.take_while(|line| !line.is_empty()).filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("host").then(|| value.trim().to_ascii_lowercase())
    });
    let allowed = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    hosts.into_iter().any(|host| !allowed.contains(&host))
}

/// A connection to a program in a sandbox.
pub struct PortStream {
    stream: HostStream,
}

impl PortStream {
    #[cfg(feature = "emulators")]
    pub(crate) fn new(stream: HostStream) -> Self {
        Self { stream }
    }
}

impl fmt::Debug for PortStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stream.fmt(f)
    }
}

fn reset(_: ConnectionReset) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, "the program in the sandbox has closed the connection")
}

impl AsyncRead for PortStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let into = buffer.initialize_unfilled();
        self.stream.poll_read(cx, into).map(|result| {
            buffer.advance(result.map_err(reset)?);
            Ok(())
        })
    }
}

impl AsyncWrite for PortStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.stream.poll_write(cx, bytes).map_err(reset)
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.shut_down_write();
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::is_for_other_host;

    #[test]
    fn requests_for_other_hosts_are_recognized() {
        for (request, is_other) in [
            ("GET / HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n", false),
            ("GET / HTTP/1.1\r\nhost: LocalHost:4000\r\n\r\n", false),
            ("GET / HTTP/1.1\r\nHost: localhost:4001\r\n\r\n", true),
            ("GET / HTTP/1.1\r\nHost: evil.example:4000\r\n\r\n", true),
            ("GET / HTTP/1.1\r\nHost: localhost:4000\r\nHost: evil.example\r\n\r\n", true),
            ("GET / HTTP/1.0\r\n\r\n", false),
            ("PING\r\n", false),
            ("", false),
        ] {
            assert_eq!(is_for_other_host(request.as_bytes(), 4000), is_other, "{request}");
        }
    }
}
