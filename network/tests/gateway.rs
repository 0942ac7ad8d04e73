//! The native gateway against servers of this machine, each a thread that says exactly what a test wants.

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

/// A server that reads the head and answers these bytes.
fn answering(answer: impl Into<Vec<u8>>) -> SocketAddr {
    let answer = answer.into();
    server(move |mut stream| {
        head(&mut stream);
        // Who broke off does not read any more.
        let _ = stream.write_all(&answer);
    })
    .0
}

struct Pieces(Vec<Vec<u8>>);

impl Body for Pieces {
    fn poll_chunk(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, GatewayError>>> {
        Poll::Ready((!self.0.is_empty()).then(|| Ok(self.0.remove(0))))
    }
}

fn request(url: &str, address: SocketAddr) -> GatewayRequest {
    let url = url.replace("PORT", &address.port().to_string());
    GatewayRequest {
        method: "GET".to_owned(),
        target: Target::parse(&url).expect("the URL is good"),
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
    while let Some(piece) = block_on(std::future::poll_fn(|cx| reply.body.poll_chunk(cx))) {
        all.extend(piece?);
    }
    Ok(all)
}

fn kind<T>(outcome: Result<T, GatewayError>) -> GatewayErrorKind {
    outcome.err().expect("it fails").kind
}

#[test]
fn a_request_goes_to_the_given_address_and_its_reply_comes_back_as_it_was() {
    let gateway = NativeGateway::new();
    let (told, heard) = channel();
    let told = Mutex::new(told);
    let (address, _) = server(move |mut stream| {
        told.lock().expect("one at a time").send(head(&mut stream)).expect("the test waits");
        stream
            .write_all(b"HTTP/1.1 418 Short And Stout\r\nX-Tea: a\r\nETag: \"1\"\r\nx-tea: b\r\nContent-Length: 5\r\n\r\nhello")
            .expect("written");
    });
    let mut asked = request("http://nowhere.invalid:PORT/a%20b?c", address);
    asked.headers = vec![("x-custom".to_owned(), Secret::new("1")), ("accept".to_owned(), Secret::new("*/*"))];
    // No look-up is made: the name exists nowhere.
    let mut reply = block_on(gateway.send(asked)).expect("a reply");
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
    let sent = heard.recv().expect("the server heard");
    let expected = format!(
        "GET /a%20b?c HTTP/1.1\r\nHost: nowhere.invalid:{}\r\nX-Custom: 1\r\nAccept: */*\r\n\r\n",
        address.port()
    );
    assert_eq!(sent, expected);
}

#[test]
fn every_request_has_a_connection_of_its_own() {
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
fn a_redirect_is_a_reply_like_any_other() {
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
    let address = answering("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\u{b}no");
    let mut reply = block_on(gateway.send(request("http://a.test:PORT/", address))).expect("a reply");
    assert_eq!(body(&mut reply), Ok(b"\x1f\x0bno".to_vec()));
}

/// A server that sends back what it is sent, as it comes.
fn echo() -> (SocketAddr, Receiver<String>) {
    let (told, heard) = channel();
    let told = Mutex::new(told);
    let (address, _) = server(move |mut stream| {
        told.lock().expect("one at a time").send(head(&mut stream)).expect("the test waits");
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").expect("written");
        let mut copy = stream.try_clone().expect("cloned");
        let _ = std::io::copy(&mut stream, &mut copy);
    });
    (address, heard)
}

#[test]
fn a_body_of_known_length_is_sent_with_it_and_others_in_chunks() {
    let gateway = NativeGateway::new();
    let pieces = || -> Box<dyn Body> { Box::new(Pieces(vec![b"abc".to_vec(), b"de".to_vec()])) };
    let (address, heard) = echo();
    let mut known = request("http://a.test:PORT/", address);
    (known.method, known.body) = ("PUT".to_owned(), Some((pieces(), Some(5))));
    let mut reply = block_on(gateway.send(known)).expect("a reply");
    let first = block_on(std::future::poll_fn(|cx| reply.body.poll_chunk(cx))).expect("some").expect("bytes");
    assert!(b"abcde".starts_with(&first));
    let sent = heard.recv().expect("heard");
    assert!(sent.contains("\r\nContent-Length: 5\r\n") && !sent.contains("Transfer-Encoding"), "{sent}");

    let mut unknown = request("http://a.test:PORT/", address);
    (unknown.method, unknown.body) = ("POST".to_owned(), Some((pieces(), None)));
    let reply = block_on(gateway.send(unknown));
    let sent = heard.recv().expect("heard");
    assert!(sent.contains("\r\nTransfer-Encoding: chunked\r\n") && !sent.contains("Content-Length"), "{sent}");
    drop(reply);
}

/// An authority and a server with a certificate for `secure.test` by it.
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
        // Who refused the certificate reads nothing.
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret");
        let _ = stream.flush();
    });
    (address, authority.der().clone())
}

#[test]
fn a_server_proves_its_name_to_the_roots_that_were_added() {
    let (address, root) = secure_server();
    let gateway = NativeGateway::new().trusting(root);
    let mut reply = block_on(gateway.send(request("https://secure.test:PORT/", address))).expect("a reply");
    assert_eq!(body(&mut reply), Ok(b"secret".to_vec()));
    assert!(reply.timings.connected <= reply.timings.encrypted && reply.timings.encrypted <= reply.timings.answered);
    assert_ne!(reply.timings.encrypted, Duration::ZERO);
    // The same server under another name.
    let error = block_on(gateway.send(request("https://other.test:PORT/", address))).expect_err("another name");
    assert_eq!(error.kind, GatewayErrorKind::Certificate, "{error}");
}

#[test]
fn a_server_that_nobody_vouches_for_is_not_believed() {
    let (address, _) = secure_server();
    let (_, stranger) = secure_server();
    let gateway = NativeGateway::new().trusting(stranger);
    let error = block_on(gateway.send(request("https://secure.test:PORT/", address))).expect_err("unknown");
    assert_eq!(error.kind, GatewayErrorKind::Certificate, "{error}");
    assert!(error.message.starts_with("the certificate of secure.test is not trusted: "), "{error}");
}

#[test]
fn what_goes_wrong_has_a_name_and_a_cause() {
    let (_, root) = secure_server();
    let gateway = NativeGateway::new().trusting(root);
    let fails = |url: &str, address| kind(block_on(gateway.send(request(url, address))));
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr()).expect("bound");
    assert_eq!(fails("http://a.test:PORT/", closed), GatewayErrorKind::Connect);
    assert_eq!(fails("http://a.test:PORT/", answering("")), GatewayErrorKind::Empty);
    assert_eq!(fails("http://a.test:PORT/", answering("220 mail ready\r\n")), GatewayErrorKind::Protocol);
    let (plain, _) = server(|mut stream| {
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    assert_eq!(fails("https://a.test:PORT/", plain), GatewayErrorKind::Tls);
    let endless = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "a".repeat(100_000));
    assert_eq!(fails("http://a.test:PORT/", answering(endless)), GatewayErrorKind::Protocol);
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: 1\r\n".repeat(300));
    assert_eq!(fails("http://a.test:PORT/", answering(many)), GatewayErrorKind::Protocol);
}

#[test]
fn a_body_that_breaks_off_is_an_error_and_not_a_shorter_body() {
    let gateway = NativeGateway::new();
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    ] {
        let address = answering(answer);
        let mut reply = block_on(gateway.send(request("http://a.test:PORT/", address))).expect("a head");
        assert_eq!(kind(body(&mut reply)), GatewayErrorKind::Receive, "{answer}");
    }
}

#[test]
fn the_time_holds_before_and_after_the_head() {
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
        let mut asked = request("http://a.test:PORT/", address);
        asked.request_time = Duration::from_millis(300);
        asked
    };
    let (gateway, started) = (NativeGateway::new(), Instant::now());
    assert_eq!(kind(block_on(gateway.send(short(silent)))), GatewayErrorKind::Timeout);
    let mut reply = block_on(gateway.send(short(dripping))).expect("a head");
    assert_eq!(kind(body(&mut reply)), GatewayErrorKind::Timeout);
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_reply_whose_gateway_ends_does_not_pass_for_a_whole_one() {
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
fn dropping_a_reply_ends_its_connection() {
    let (told, ended) = channel();
    let told = Mutex::new(told);
    let (address, _) = server(move |mut stream| {
        head(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b'x'; 1024]).is_ok() {}
        told.lock().expect("one at a time").send(()).expect("the test waits");
    });
    let gateway = NativeGateway::new();
    drop(block_on(gateway.send(request("http://a.test:PORT/", address))).expect("a head"));
    ended.recv_timeout(Duration::from_secs(20)).expect("the server notices");
}

#[test]
fn a_reply_waits_for_a_slow_reader_instead_of_filling_memory() {
    let gateway = NativeGateway::new();
    let (told, written) = channel();
    let told = Mutex::new(told);
    let (address, _) = server(move |mut stream| {
        head(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        stream.set_write_timeout(Some(Duration::from_millis(500))).expect("set");
        let (mut sent, block) = (0_usize, vec![b'x'; 64 << 10]);
        while let Ok(n) = stream.write(&block) {
            sent += n;
        }
        told.lock().expect("one at a time").send(sent).expect("the test waits");
    });
    let reply = block_on(gateway.send(request("http://a.test:PORT/", address))).expect("a head");
    let sent = written.recv_timeout(Duration::from_secs(20)).expect("the server was stopped");
    assert!(sent < 32 << 20, "{sent} bytes were taken that nobody read");
    drop(reply);
}

#[test]
fn names_are_looked_up_by_the_system() {
    let gateway = NativeGateway::new();
    let found = block_on(gateway.resolve("localhost".to_owned(), Duration::from_secs(10))).expect("it has an address");
    assert!(found.iter().all(IpAddr::is_loopback) && !found.is_empty(), "{found:?}");
    let outcome = block_on(gateway.resolve("nowhere.invalid".to_owned(), Duration::from_secs(20)));
    assert!(matches!(kind(outcome), GatewayErrorKind::Resolve | GatewayErrorKind::Timeout));
}
