//! Tests of the native gateway against local servers, each a thread that sends exact bytes.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_executor::block_on;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tidebox_core::Secret;
use tidebox_core::network::{Body, GatewayError, GatewayErrorKind, GatewayReply, GatewayRequest, HttpGateway, Target};
use tidebox_network::{CertificateDer, NativeGateway};

/// Serves every connection with `serve` and counts them.
fn server(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> (SocketAddr, Arc<Mutex<usize>>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    let (address, count) = (listener.local_addr().expect("bound"), Arc::new(Mutex::new(0)));
    let (serve, counted) = (Arc::new(serve), Arc::clone(&count));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            *counted.lock().expect("no test panics here") += 1;
            let (stream, serve) = (stream.expect("a connection"), Arc::clone(&serve));
            std::thread::spawn(move || serve(stream));
        }
    });
    (address, count)
}

/// Reads to the end of the head.
fn head(stream: &mut impl Read) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n == 1) {
        head.push(byte[0]);
    }
    String::from_utf8(head).expect("heads are text")
}

/// Starts a server that reads the head and sends these bytes.
fn responding(response: impl Into<Vec<u8>>) -> SocketAddr {
    let response = response.into();
    server(move |mut stream| {
        head(&mut stream);
        // A client that aborted does not read any more.
        let _ = stream.write_all(&response);
    })
    .0
}

struct Chunks(Vec<Vec<u8>>);

impl Body for Chunks {
    fn poll_chunk(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, GatewayError>>> {
        Poll::Ready((!self.0.is_empty()).then(|| Ok(self.0.remove(0))))
    }
}

fn request(url: &str, address: SocketAddr) -> GatewayRequest {
    let url = url.replace("PORT", &address.port().to_string());
    GatewayRequest {
        method: "GET".to_owned(),
        target: Target::parse(&url).expect("a valid URL"),
        addresses: vec![address.ip()],
        headers: Vec::new(),
        body: None,
        head_bytes: 64 << 10,
        connect_time: Duration::from_secs(10),
        request_time: Duration::from_secs(20),
    }
}

fn body(reply: &mut GatewayReply) -> Result<Vec<u8>, GatewayError> {
    let mut all = Vec::new();
    while let Some(chunk) = block_on(std::future::poll_fn(|cx| reply.body.poll_chunk(cx))) {
        all.extend(chunk?);
    }
    Ok(all)
}

fn kind<T>(outcome: Result<T, GatewayError>) -> GatewayErrorKind {
    outcome.err().expect("it fails").kind
}

#[test]
fn a_request_is_sent_to_the_given_address() {
    let gateway = NativeGateway::new();
    let (sender, receiver) = channel();
    let sender = Mutex::new(sender);
    let (address, _) = server(move |mut stream| {
        sender.lock().expect("one at a time").send(head(&mut stream)).expect("the test receives");
        stream
            .write_all(b"HTTP/1.1 418 Short And Stout\r\nX-Tea: a\r\nETag: \"1\"\r\nx-tea: b\r\nContent-Length: 5\r\n\r\nhello")
            .expect("written");
    });
    let mut sent_request = request("http://nowhere.invalid:PORT/a%20b?c", address);
    sent_request.headers = vec![("x-custom".to_owned(), Secret::new("1")), ("accept".to_owned(), Secret::new("*/*"))];
    // No look-up is made: the name does not exist.
    let mut reply = block_on(gateway.send(sent_request)).expect("a reply");
    assert_eq!((reply.status, reply.reason.as_str(), reply.minor_version), (418, "Short And Stout", 1));
    let header = |name: &str, value: &str| (name.to_owned(), value.as_bytes().to_vec());
    let mut headers = reply.headers.clone();
    headers.sort();
    assert_eq!(
        headers,
        [header("Content-Length", "5"), header("ETag", "\"1\""), header("X-Tea", "a"), header("X-Tea", "b")]
    );
    assert_eq!(reply.peer, Some(address));
    assert_eq!(body(&mut reply), Ok(b"hello".to_vec()));
    let sent = receiver.recv().expect("a received request");
    let expected = format!(
        "GET /a%20b?c HTTP/1.1\r\nHost: nowhere.invalid:{}\r\nX-Custom: 1\r\nAccept: */*\r\n\r\n",
        address.port()
    );
    assert_eq!(sent, expected);
}

#[test]
fn every_request_has_a_separate_connection() {
    let (address, count) = server(|mut stream| {
        while !head(&mut stream).is_empty() {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").expect("written");
        }
    });
    let gateway = NativeGateway::new();
    for _ in 0..3 {
        let mut reply = block_on(gateway.send(request("http://a.test:PORT/", address))).expect("a reply");
        assert_eq!(body(&mut reply), Ok(Vec::new()));
    }
    assert_eq!(*count.lock().expect("no panic"), 3);
}

#[test]
fn redirects_are_not_followed() {
    let gateway = NativeGateway::new();
    let (address, count) = server(|mut stream| {
        head(&mut stream);
        stream.write_all(b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n").expect("written");
    });
    let reply = block_on(gateway.send(request("http://a.test:PORT/", address))).expect("a reply");
    assert_eq!(reply.status, 302);
    assert_eq!(*count.lock().expect("no panic"), 1);
}

#[test]
fn a_compressed_body_stays_compressed() {
    let gateway = NativeGateway::new();
    let address = responding("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\u{b}no");
    let mut reply = block_on(gateway.send(request("http://a.test:PORT/", address))).expect("a reply");
    assert_eq!(body(&mut reply), Ok(b"\x1f\x0bno".to_vec()));
}

/// Starts a server that returns the received bytes as they arrive.
fn echo() -> (SocketAddr, Receiver<String>) {
    let (sender, receiver) = channel();
    let sender = Mutex::new(sender);
    let (address, _) = server(move |mut stream| {
        sender.lock().expect("one at a time").send(head(&mut stream)).expect("the test receives");
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").expect("written");
        let mut copy = stream.try_clone().expect("cloned");
        let _ = std::io::copy(&mut stream, &mut copy);
    });
    (address, receiver)
}

#[test]
fn bodies_without_a_known_length_are_sent_in_chunks() {
    let gateway = NativeGateway::new();
    let chunks = || -> Box<dyn Body> { Box::new(Chunks(vec![b"abc".to_vec(), b"de".to_vec()])) };
    let (address, receiver) = echo();
    let mut known = request("http://a.test:PORT/", address);
    (known.method, known.body) = ("PUT".to_owned(), Some((chunks(), Some(5))));
    let mut reply = block_on(gateway.send(known)).expect("a reply");
    let first = block_on(std::future::poll_fn(|cx| reply.body.poll_chunk(cx))).expect("some").expect("bytes");
    assert!(b"abcde".starts_with(&first));
    let sent = receiver.recv().expect("a received request");
    assert!(sent.contains("\r\nContent-Length: 5\r\n") && !sent.contains("Transfer-Encoding"), "{sent}");

    let mut unknown = request("http://a.test:PORT/", address);
    (unknown.method, unknown.body) = ("POST".to_owned(), Some((chunks(), None)));
    let reply = block_on(gateway.send(unknown));
    let sent = receiver.recv().expect("a received request");
    assert!(sent.contains("\r\nTransfer-Encoding: chunked\r\n") && !sent.contains("Content-Length"), "{sent}");
    drop(reply);
}

/// Creates an authority and a server with its certificate for `secure.test`.
fn secure_server() -> (SocketAddr, CertificateDer<'static>) {
    let key = || KeyPair::generate().expect("a key");
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, key()).expect("an authority");
    let server_key = key();
    let certificate = CertificateParams::new(vec!["secure.test".to_owned()])
        .and_then(|params| params.signed_by(&server_key, &authority))
        .expect("a certificate");
    let private = rustls::pki_types::PrivateKeyDer::try_from(server_key.serialize_der()).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private)
        .expect("they fit");
    let config = Arc::new(config);
    let (address, _) = server(move |stream| {
        let connection = ServerConnection::new(Arc::clone(&config)).expect("a connection");
        let mut stream = StreamOwned::new(connection, stream);
        head(&mut stream);
        // A client that rejected the certificate reads no data.
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret");
        let _ = stream.flush();
    });
    (address, authority.der().clone())
}

#[test]
fn a_certificate_of_an_added_root_is_accepted() {
    let (address, root) = secure_server();
    let gateway = NativeGateway::new().with_root(root);
    let mut reply = block_on(gateway.send(request("https://secure.test:PORT/", address))).expect("a reply");
    assert_eq!(body(&mut reply), Ok(b"secret".to_vec()));
    assert!(reply.timings.connected <= reply.timings.encrypted && reply.timings.encrypted <= reply.timings.responded);
    assert_ne!(reply.timings.encrypted, Duration::ZERO);
    // Use a different name of the server.
    let error = block_on(gateway.send(request("https://other.test:PORT/", address))).expect_err("another name");
    assert_eq!(error.kind, GatewayErrorKind::Certificate, "{error}");
}

#[test]
fn an_untrusted_certificate_is_rejected() {
    let (address, _) = secure_server();
    let (_, stranger) = secure_server();
    let gateway = NativeGateway::new().with_root(stranger);
    let error = block_on(gateway.send(request("https://secure.test:PORT/", address))).expect_err("unknown");
    assert_eq!(error.kind, GatewayErrorKind::Certificate, "{error}");
    assert!(error.message.starts_with("the certificate of secure.test is not trusted: "), "{error}");
}

#[test]
fn errors_have_a_kind_and_a_cause() {
    let (_, root) = secure_server();
    let gateway = NativeGateway::new().with_root(root);
    let fails = |url: &str, address| kind(block_on(gateway.send(request(url, address))));
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr()).expect("bound");
    assert_eq!(fails("http://a.test:PORT/", closed), GatewayErrorKind::Connect);
    assert_eq!(fails("http://a.test:PORT/", responding("")), GatewayErrorKind::Empty);
    assert_eq!(fails("http://a.test:PORT/", responding("220 mail ready\r\n")), GatewayErrorKind::Protocol);
    let (plain, _) = server(|mut stream| {
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    assert_eq!(fails("https://a.test:PORT/", plain), GatewayErrorKind::Tls);
    let endless = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "a".repeat(100_000));
    assert_eq!(fails("http://a.test:PORT/", responding(endless)), GatewayErrorKind::Protocol);
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: 1\r\n".repeat(300));
    assert_eq!(fails("http://a.test:PORT/", responding(many)), GatewayErrorKind::Protocol);
}

#[test]
fn a_truncated_body_is_an_error() {
    let gateway = NativeGateway::new();
    for response in [
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    ] {
        let address = responding(response);
        let mut reply = block_on(gateway.send(request("http://a.test:PORT/", address))).expect("a head");
        assert_eq!(kind(body(&mut reply)), GatewayErrorKind::Receive, "{response}");
    }
}

#[test]
fn the_timeout_applies_before_and_after_the_head() {
    let (silent, _) = server(|mut stream| {
        head(&mut stream);
        std::thread::sleep(Duration::from_secs(30));
    });
    let (dripping, _) = server(|mut stream| {
        head(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(b"drop").is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let short = |address| {
        let mut sent_request = request("http://a.test:PORT/", address);
        sent_request.request_time = Duration::from_millis(300);
        sent_request
    };
    let (gateway, started) = (NativeGateway::new(), Instant::now());
    assert_eq!(kind(block_on(gateway.send(short(silent)))), GatewayErrorKind::Timeout);
    let mut reply = block_on(gateway.send(short(dripping))).expect("a head");
    assert_eq!(kind(body(&mut reply)), GatewayErrorKind::Timeout);
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_response_of_a_dropped_gateway_is_an_error() {
    let (address, _) = server(|mut stream| {
        head(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nhalf");
        std::thread::sleep(Duration::from_secs(30));
    });
    let gateway = NativeGateway::new();
    let mut reply = block_on(gateway.send(request("http://a.test:PORT/", address))).expect("a head");
    drop(gateway);
    assert_eq!(kind(body(&mut reply)), GatewayErrorKind::Internal);
}

#[test]
fn dropping_a_response_closes_its_connection() {
    let (sender, ended) = channel();
    let sender = Mutex::new(sender);
    let (address, _) = server(move |mut stream| {
        head(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b'x'; 1024]).is_ok() {}
        sender.lock().expect("one at a time").send(()).expect("the test receives");
    });
    let gateway = NativeGateway::new();
    drop(block_on(gateway.send(request("http://a.test:PORT/", address))).expect("a head"));
    ended.recv_timeout(Duration::from_secs(20)).expect("the server notices");
}

#[test]
fn a_slow_reader_stops_the_server() {
    let gateway = NativeGateway::new();
    let (sender, written) = channel();
    let sender = Mutex::new(sender);
    let (address, _) = server(move |mut stream| {
        head(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        stream.set_write_timeout(Some(Duration::from_millis(500))).expect("set");
        let (mut sent, block) = (0_usize, vec![b'x'; 64 << 10]);
        while let Ok(n) = stream.write(&block) {
            sent += n;
        }
        sender.lock().expect("one at a time").send(sent).expect("the test receives");
    });
    let reply = block_on(gateway.send(request("http://a.test:PORT/", address))).expect("a head");
    let sent = written.recv_timeout(Duration::from_secs(20)).expect("the server was stopped");
    assert!(sent < 32 << 20, "{sent} bytes were received without a reader");
    drop(reply);
}

#[test]
fn names_are_resolved_by_the_system() {
    let gateway = NativeGateway::new();
    let found = block_on(gateway.resolve("localhost".to_owned(), Duration::from_secs(10))).expect("an address");
    assert!(found.iter().all(IpAddr::is_loopback) && !found.is_empty(), "{found:?}");
    let outcome = block_on(gateway.resolve("nowhere.invalid".to_owned(), Duration::from_secs(20)));
    assert!(matches!(kind(outcome), GatewayErrorKind::Resolve | GatewayErrorKind::Timeout));
}
