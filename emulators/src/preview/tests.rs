use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::net::{TcpListener, TcpStream};

use super::connection::MAX_CONNECTIONS;
use super::*;
use crate::registry::{ConnectError, ConnectPort, PortConnection};

/// Maximum time of a step of a test.
const PATIENCE: Duration = Duration::from_secs(30);

/// A provider with the sandbox `box`, whose port 80 has a server.
struct Fake {
    connect: ConnectPort,
    traffic: Traffic,
}

impl FindPreview for Fake {
    fn find<'a>(
        &'a self,
        address: &'a PreviewAddress,
        head: &'a mut Parts,
    ) -> BoxFuture<'a, Result<PreviewTarget, Box<Response>>> {
        Box::pin(async move {
            head.headers.remove("x-credential");
            if address.key != "box" {
                return Err(Box::new((StatusCode::NOT_FOUND, "no such sandbox").into_response()));
            }
            let mut ended = self.traffic.subscribe();
            Ok(PreviewTarget {
                id: address.key.clone(),
                port: address.port,
                connect: Some(Arc::clone(&self.connect)),
                traffic: self.traffic.clone(),
                ended: Box::pin(async move { while !ended.next_is_end().await {} }),
            })
        })
    }

    fn unavailable(&self, _: &PreviewTarget, why: Unavailable) -> Response {
        let status = match why {
            Unavailable::Closed => StatusCode::BAD_GATEWAY,
            Unavailable::Busy => StatusCode::TOO_MANY_REQUESTS,
            Unavailable::Broken => StatusCode::GATEWAY_TIMEOUT,
        };
        status.into_response()
    }
}

/// Serves previews of a server, and the route `/api` that they must not reach.
async fn previews<S>(server: impl Fn(DuplexStream) -> S + Send + Sync + 'static) -> (SocketAddr, Traffic)
where
    S: Future<Output = ()> + Send + 'static,
{
    let connect = move |port| {
        if port != 80 {
            return Err(ConnectError::Closed);
        }
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        tokio::spawn(server(theirs));
        Ok(Box::new(ours) as Box<dyn PortConnection>)
    };
    let traffic = Traffic::default();
    let fake = Fake { connect: Arc::new(connect), traffic: traffic.clone() };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let previews = Previews::new(Domain::new(&format!("http://{address}"), ""), fake);
    let api = Router::new().route("/api", axum::routing::any(|| std::future::ready("the API")));
    let router = api.layer(axum::middleware::from_fn_with_state(previews, route));
    tokio::spawn(async move { axum::serve(listener, router).await });
    (address, traffic)
}

/// Reads until the bytes end with this text.
async fn read_until(stream: &mut (impl tokio::io::AsyncRead + Unpin), end: &str) -> String {
    let mut bytes = Vec::new();
    let reading = async {
        while !bytes.ends_with(end.as_bytes()) {
            assert_ne!(stream.read_buf(&mut bytes).await.expect("it is read"), 0, "the end came before {end:?}");
        }
    };
    tokio::time::timeout(PATIENCE, reading).await.expect("the text comes");
    String::from_utf8(bytes).expect("text")
}

/// Sends a request without a body, and returns the whole response.
async fn fetch(address: SocketAddr, path: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let request = format!("GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("it is sent");
    let mut reply = Vec::new();
    let read = stream.read_to_end(&mut reply);
    tokio::time::timeout(PATIENCE, read).await.expect("it responds").expect("a response");
    String::from_utf8(reply).expect("text")
}

/// Responds with the head of the request that it received.
async fn echo_head(mut stream: DuplexStream) {
    let head = read_until(&mut stream, "\r\n\r\n").await;
    let reply = format!(
        "HTTP/1.1 200 OK\r\nConnection: x-hop\r\nX-Hop: 1\r\nX-End: 2\r\nContent-Length: {}\r\n\r\n{head}",
        head.len()
    );
    stream.write_all(reply.as_bytes()).await.expect("it is read");
}

#[tokio::test]
async fn only_previews_reach_a_server_and_only_others_the_api() {
    let (address, _) = previews(echo_head).await;
    let reply = fetch(
        address,
        "/api?q=1",
        "Host: 80-BOX.localhost:1\r\nX-Credential: s\r\nTE: trailers\r\nX-Tidebox-Preview: 1-x\r\nAccept: a\r\n",
    )
    .await;
    let (head, body) = reply.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("x-end: 2") && !head.contains("x-hop"), "{head}");
    let mut lines: Vec<&str> = body.trim_end().split("\r\n").collect();
    assert_eq!(lines.remove(0), "GET /api?q=1 HTTP/1.1");
    lines.sort_unstable();
    let forwarded = ["x-forwarded-host: 80-BOX.localhost:1", "x-forwarded-proto: http"];
    assert_eq!(lines, [&["accept: a", "host: 80-BOX.localhost:1"][..], &forwarded].concat());

    for (host, expected) in [
        ("Host: 80-box.evil.example\r\n", "the API"),
        ("Host: localhost\r\n", "the API"),
        ("Host: 127.0.0.1\r\nX-Tidebox-Preview: 80-box\r\n", "GET /api"),
        // A page whose name resolves to this computer can send the header to its own host.
        ("Host: evil.example\r\nX-Tidebox-Preview: 80-box\r\n", "the API"),
        ("Host: 80-none.localhost\r\n", "no such sandbox"),
        ("Host: 81-box.localhost\r\n", "HTTP/1.1 502"),
        ("Host: 80-box.localhost\r\nHost: localhost\r\n", "the API"),
    ] {
        let reply = fetch(address, "/api", host).await;
        assert!(reply.contains(expected), "{host}: {reply}");
    }
}

#[tokio::test]
async fn bodies_are_streamed_in_both_directions() {
    // The server responds to each chunk before the client sends the next one.
    let (address, _) = previews(|mut stream: DuplexStream| async move {
        read_until(&mut stream, "\r\n\r\n").await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await.expect("it is read");
        for number in 0..3 {
            read_until(&mut stream, "ping\r\n").await;
            stream.write_all(format!("5\r\npong{number}\r\n").as_bytes()).await.expect("it is read");
        }
        read_until(&mut stream, "0\r\n\r\n").await;
        stream.write_all(b"0\r\n\r\n").await.expect("it is read");
    })
    .await;
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let head = "POST / HTTP/1.1\r\nHost: 80-box.localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await.expect("it is sent");
    assert!(read_until(&mut stream, "\r\n\r\n").await.starts_with("HTTP/1.1 200"));
    for number in 0..3 {
        stream.write_all(b"4\r\nping\r\n").await.expect("it is sent");
        read_until(&mut stream, &format!("pong{number}\r\n")).await;
    }
    stream.write_all(b"0\r\n\r\n").await.expect("it is sent");
    read_until(&mut stream, "0\r\n\r\n").await;
}

#[tokio::test]
async fn a_server_that_is_not_http_is_an_error() {
    let (address, _) = previews(|mut stream: DuplexStream| async move {
        read_until(&mut stream, "\r\n\r\n").await;
        stream.write_all(b"SSH-2.0-guest\r\n").await.expect("it is read");
    })
    .await;
    assert!(fetch(address, "/", "Host: 80-box.localhost\r\n").await.starts_with("HTTP/1.1 504"));
    let (address, _) = previews(|mut stream: DuplexStream| async move {
        let head = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(1 << 20));
        // The proxy closes the connection while the head arrives.
        let _ = stream.write_all(head.as_bytes()).await;
    })
    .await;
    assert!(fetch(address, "/", "Host: 80-box.localhost\r\n").await.starts_with("HTTP/1.1 504"));
}

/// Accepts an upgrade, and then returns every byte.
async fn echo_upgrade(mut stream: DuplexStream) {
    let head = read_until(&mut stream, "\r\n\r\n").await.to_ascii_lowercase();
    assert!(head.contains("\r\nupgrade: websocket\r\n") && head.contains("\r\nconnection: upgrade\r\n"), "{head}");
    let accepted = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n";
    stream.write_all(accepted).await.expect("it is read");
    let (mut from, mut to) = tokio::io::split(stream);
    // The client may disconnect at any time.
    let _ = tokio::io::copy(&mut from, &mut to).await;
    let _ = to.shutdown().await;
}

/// Opens an upgraded connection.
async fn upgrade(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let request =
        "GET / HTTP/1.1\r\nHost: 80-box.localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n";
    stream.write_all(request.as_bytes()).await.expect("it is sent");
    let head = read_until(&mut stream, "\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 101") && head.contains("sec-websocket-accept: x"), "{head}");
    stream
}

#[tokio::test]
async fn an_upgraded_connection_passes_bytes_until_both_ends_close() {
    let (address, traffic) = previews(echo_upgrade).await;
    let mut stream = upgrade(address).await;
    stream.write_all(b"\x81\x03abc").await.expect("it is sent");
    let mut back = [0; 5];
    stream.read_exact(&mut back).await.expect("it comes back");
    assert_eq!(&back, b"\x81\x03abc");
    assert_eq!(traffic.free(), MAX_CONNECTIONS - 1);
    stream.shutdown().await.expect("it is sent");
    assert_eq!(stream.read(&mut back).await.expect("the end"), 0);
    freed(&traffic).await;
}

/// Waits until no connection is left.
async fn freed(traffic: &Traffic) {
    let wait = async {
        while traffic.free() < MAX_CONNECTIONS {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("every connection is counted until its end only");
}

#[tokio::test]
async fn connections_end_with_their_sandbox() {
    let (address, traffic) = previews(echo_upgrade).await;
    let mut stream = upgrade(address).await;
    traffic.end_all();
    let mut rest = Vec::new();
    let end = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest)).await.expect("it ends");
    assert!(end.is_err() || rest.is_empty(), "{rest:?}");
    freed(&traffic).await;
    // A request that waits for its response ends, too.
    let (address, traffic) = previews(|stream: DuplexStream| async move {
        tokio::time::sleep(PATIENCE).await;
        drop(stream);
    })
    .await;
    let (reply, ()) = tokio::join!(fetch(address, "/", "Host: 80-box.localhost\r\n"), async {
        while traffic.free() == MAX_CONNECTIONS {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        traffic.end_all();
    });
    assert!(reply.starts_with("HTTP/1.1 504"), "{reply}");
}

#[tokio::test]
async fn connections_beyond_the_limit_are_rejected() {
    let (address, traffic) = previews(echo_upgrade).await;
    let mut open = Vec::new();
    for _ in 0..MAX_CONNECTIONS {
        open.push(upgrade(address).await);
    }
    assert!(fetch(address, "/", "Host: 80-box.localhost\r\n").await.starts_with("HTTP/1.1 429"));
    open.clear();
    freed(&traffic).await;
    upgrade(address).await;
}

#[test]
fn credentials_are_compared_as_a_whole() {
    assert!(is_same("token", "token") && is_same("", ""));
    for other in ["", "toke", "token2", "Token"] {
        assert!(!is_same(other, "token"), "{other}");
    }
}
