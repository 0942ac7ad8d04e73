//! A client outside the sandbox, for the conformance cases of ports.

use std::time::Duration;

use tidebox::{BoxFuture, Error, ErrorKind, PortEndpoint, Result};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Maximum time of one request.
const REQUEST_TIME: Duration = Duration::from_secs(10);

/// Sends a request `GET` and returns the status and the body of the response.
pub(crate) fn get(endpoint: PortEndpoint, path: String) -> BoxFuture<'static, Result<(u16, Vec<u8>)>> {
    Box::pin(async move {
        let failed = |message: String| Error::new(ErrorKind::Unavailable, "get", message);
        let host = endpoint.url.strip_prefix("http://").expect("emulators have no TLS");
        let (name, port) = host.rsplit_once(':').expect("emulators have a port");
        // Every name below `localhost` is this computer, whatever the resolver says.
        let name = if name.ends_with("localhost") { "127.0.0.1" } else { name };
        let mut request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n").into_bytes();
        for (name, value) in &endpoint.headers {
            request.extend_from_slice(&[name.as_bytes(), b": ", value.expose(), b"\r\n"].concat());
        }
        request.extend_from_slice(b"\r\n");
        let mut reply = Vec::new();
        let sent = async {
            let mut stream = TcpStream::connect(format!("{name}:{port}")).await?;
            stream.write_all(&request).await?;
            stream.read_to_end(&mut reply).await
        };
        // A server that is being restarted may have accepted the connection and send nothing.
        let sent =
            tokio::time::timeout(REQUEST_TIME, sent).await.map_err(|_| failed("no response in time".to_owned()))?;
        sent.map_err(|error| failed(error.to_string()))?;
        parse(&reply).ok_or_else(|| failed(format!("no response: {}", String::from_utf8_lossy(&reply))))
    })
}

fn parse(reply: &[u8]) -> Option<(u16, Vec<u8>)> {
    let end = reply.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    let (head, rest) = reply.split_at(end);
    let status = std::str::from_utf8(head).ok()?.split(' ').nth(1)?.parse().ok()?;
    Some((status, rest[4..].to_vec()))
}
