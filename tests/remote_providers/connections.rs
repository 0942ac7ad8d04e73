//! Connections to an emulator at the byte level.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::emulator;

const HEAD: &str = "POST /nowhere HTTP/1.1\r\nhost: emulator\r\ncontent-length: 7\r\n\r\n";

/// Sends a request and reads the whole response, which has no body or a body of known length.
async fn exchange(connection: &mut TcpStream, bytes: &[u8]) -> String {
    connection.write_all(bytes).await.expect("the connection is accepted");
    let mut reply = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&reply).to_ascii_lowercase();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        let count = connection.read_buf(&mut reply).await.expect("readable");
        assert!(count > 0, "the connection was closed in the middle of a reply: {text}");
    }
}

/// A server that responds before reading the whole request closes the connection, and a client that reuses the
/// connection fails its next request.
#[tokio::test(flavor = "multi_thread")]
async fn a_small_request_is_read_before_the_response() {
    for provider in tidebox_emulators::EMULATORS {
        let serving = emulator(provider).await;
        let mut slow = TcpStream::connect(serving.address()).await.expect("listening");
        slow.write_all(HEAD.as_bytes()).await.expect("the connection is accepted");
        slow.write_all(b"con").await.expect("the connection is accepted");
        let mut quick = TcpStream::connect(serving.address()).await.expect("listening");
        for _ in 0..20 {
            let reply = exchange(&mut quick, format!("{HEAD}content").as_bytes()).await;
            assert!(reply.starts_with("http/1.1 "), "{provider}: {reply}");
        }
        let early = slow.try_read(&mut [0; 64]).map_err(|error| error.kind());
        assert_eq!(early, Err(std::io::ErrorKind::WouldBlock), "{provider} responds before reading the request");
        let reply = exchange(&mut slow, b"tent").await;
        assert!(reply.starts_with("http/1.1 ") && !reply.contains("connection: close"), "{provider}: {reply}");
        let again = exchange(&mut slow, format!("{HEAD}content").as_bytes()).await;
        assert!(again.starts_with("http/1.1 "), "{provider}: {again}");
    }
}
