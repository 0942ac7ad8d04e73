//! Connections to an emulator, byte by byte.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::emulator;

const HEAD: &str = "POST /nowhere HTTP/1.1\r\nhost: emulator\r\ncontent-length: 7\r\n\r\n";

/// Sends and reads until the reply to it is whole, which has no body or one of a known length.
async fn exchange(connection: &mut TcpStream, bytes: &[u8]) -> String {
    connection.write_all(bytes).await.expect("it is taken");
    let mut reply = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&reply).to_ascii_lowercase();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        let count = connection.read_buf(&mut reply).await.expect("it can be read");
        assert!(count > 0, "the connection was closed in the middle of a reply: {text}");
    }
}

/// A server that answers before it has read a request closes the connection, and a client that has kept it for its next request loses
/// that one: it need not be the fault of whoever waits for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_small_request_is_read_to_its_end_before_it_is_answered_and_its_connection_stays() {
    for provider in tidebox_emulators::EMULATORS {
        let serving = emulator(provider).await;
        let mut slow = TcpStream::connect(serving.address()).await.expect("it listens");
        slow.write_all(HEAD.as_bytes()).await.expect("it is taken");
        slow.write_all(b"con").await.expect("it is taken");
        let mut quick = TcpStream::connect(serving.address()).await.expect("it listens");
        for _ in 0..20 {
            let reply = exchange(&mut quick, format!("{HEAD}content").as_bytes()).await;
            assert!(reply.starts_with("http/1.1 "), "{provider}: {reply}");
        }
        let early = slow.try_read(&mut [0; 64]).map_err(|error| error.kind());
        assert_eq!(early, Err(std::io::ErrorKind::WouldBlock), "{provider} answers what it has not read");
        let reply = exchange(&mut slow, b"tent").await;
        assert!(reply.starts_with("http/1.1 ") && !reply.contains("connection: close"), "{provider}: {reply}");
        let again = exchange(&mut slow, format!("{HEAD}content").as_bytes()).await;
        assert!(again.starts_with("http/1.1 "), "{provider}: {again}");
    }
}
