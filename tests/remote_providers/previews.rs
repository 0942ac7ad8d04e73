//! Addresses of servers in sandboxes, without a client of the provider.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tidebox::SpawnRequest;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::{create_sandbox, emulator};

/// Time for the start of a server on a loaded host.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends a request, and returns the connection and the first bytes of the response.
async fn request(address: SocketAddr, host: &str) -> (TcpStream, String) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let mut stream = TcpStream::connect(address).await.expect("the emulator listens");
        stream.write_all(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await.expect("it reads");
        let mut reply = vec![0; 4096];
        let length = stream.read(&mut reply).await.expect("it responds");
        let reply = String::from_utf8_lossy(&reply[..length]).into_owned();
        if !reply.contains("port is not open") {
            return (stream, reply);
        }
        assert!(Instant::now() < deadline, "{reply}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_ends_when_its_sandbox_expires() {
    let serving = emulator("e2b").await;
    let id = create_sandbox(&serving).await.id().as_str().to_owned();
    let record = serving.registry().find(&id).await.expect("it was created");
    // The server waits for the request, and keeps the connection open after the first part of its response.
    let line = "touch /tmp/request; \
                { until grep -q . /tmp/request; do sleep 0.05; done; \
                  printf 'HTTP/1.1 200 OK\\r\\nContent-Length: 100\\r\\n\\r\\npart'; } | nc -l 8000 >/tmp/request";
    record.sandbox.spawn(SpawnRequest::new(line)).await.expect("it starts");
    let (mut stream, mut reply) = request(serving.address(), &format!("8000-{id}.localhost")).await;
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    while !reply.ends_with("part") {
        let mut more = [0; 64];
        let length = stream.read(&mut more).await.expect("it responds");
        assert_ne!(length, 0, "the end came early: {reply}");
        reply.push_str(&String::from_utf8_lossy(&more[..length]));
    }
    // No other request notices the end.
    assert!(serving.registry().update(&id, |record| record.set_ttl(Duration::from_secs(1))));
    let mut rest = Vec::new();
    let end = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
    assert!(end.is_ok(), "the connection outlives its sandbox");
    assert!(rest.is_empty(), "{rest:?}");
    assert!(serving.registry().find(&id).await.is_none());
    let (_, reply) = request(serving.address(), &format!("8000-{id}.localhost")).await;
    assert!(reply.starts_with("HTTP/1.1 502") && reply.contains("The sandbox was not found"), "{reply}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_of_another_emulator_has_no_preview() {
    let (one, other) = (emulator("e2b").await, emulator("e2b").await);
    let id = create_sandbox(&one).await.id().as_str().to_owned();
    let (_, reply) = request(other.address(), &format!("8000-{id}.localhost")).await;
    assert!(reply.starts_with("HTTP/1.1 502") && reply.contains("The sandbox was not found"), "{reply}");
}
