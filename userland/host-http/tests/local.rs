//! Servers of the sandbox are asked without the host's command. Here they are threads of the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use tidebox_host_http::{Failure, Head, Request, Transfer};

/// Starts a server for one connection and returns its URL.
fn serve(answer: impl FnOnce(BufReader<TcpStream>, TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a connection");
        answer(BufReader::new(stream.try_clone().expect("a second handle")), stream);
    });
    format!("http://localhost:{port}/a?b=c")
}

/// Reads a request head and returns its lines.
fn read_head(from: &mut impl BufRead) -> Vec<String> {
    from.lines().map(|line| line.expect("text")).take_while(|line| !line.is_empty()).collect()
}

/// A server that reads the head and sends fixed bytes.
fn serve_bytes(bytes: &'static [u8]) -> String {
    serve(move |mut from, mut to| {
        read_head(&mut from);
        to.write_all(bytes).expect("sent");
    })
}

fn get(url: &str) -> Request {
    Request { method: "GET".to_owned(), url: url.to_owned(), ..Request::default() }
}

fn fetch(request: &Request, body: Option<&mut dyn Read>) -> Result<(Head, Vec<u8>), Failure> {
    let (mut transfer, head) = Transfer::begin(request, body)?;
    let mut bytes = Vec::new();
    while let Some(chunk) = transfer.next_chunk()? {
        bytes.extend_from_slice(&chunk);
    }
    Ok((head, bytes))
}

#[test]
fn every_kind_of_body_is_read_to_its_end() {
    for (response, body) in [
        (&b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef"[..], &b"abc"[..]),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nab\r\n1\r\nc\r\n0\r\nA: b\r\n\r\n", b"abc"),
        (b"HTTP/1.0 200 OK\r\n\r\nuntil closed", b"until closed"),
        (b"HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc", b""),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", b"x"),
    ] {
        let (_, read) = fetch(&get(&serve_bytes(response)), None).expect("a response");
        assert_eq!(read, body, "{}", String::from_utf8_lossy(response));
    }
}

#[test]
fn the_head_has_the_absolute_target_of_a_redirect() {
    let url = serve_bytes(b"HTTP/1.1 302 Found\r\nLocation: ../next\r\nContent-Length: 0\r\n\r\n");
    let (head, _) = fetch(&get(&url), None).expect("a response");
    assert_eq!(head.status_line(), "HTTP/1.1 302 Found");
    assert_eq!(head.header("location"), Some(&b"../next"[..]));
    let origin = url.trim_end_matches("/a?b=c");
    assert_eq!(head.redirect, Some(format!("{origin}/next")));
}

#[test]
fn a_request_has_its_target_its_headers_and_its_body() {
    for (length, sent) in [(Some(5), "hello"), (None, "5\r\nhello\r\n0\r\n\r\n")] {
        let url = serve(move |mut from, mut to| {
            let head = read_head(&mut from).join("|");
            let mut body = vec![0; sent.len()];
            from.read_exact(&mut body).expect("the body");
            let text = format!("{head}!{}", String::from_utf8_lossy(&body));
            write!(to, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len()).expect("sent");
        });
        let request = Request {
            method: "POST".to_owned(),
            headers: vec![("X-Test".to_owned(), b"1".to_vec())],
            body: Some(length),
            ..get(&url)
        };
        let (_, read) = fetch(&request, Some(&mut &b"hello"[..])).expect("a response");
        let host = url.trim_start_matches("http://").trim_end_matches("/a?b=c");
        let of_body = if length.is_some() { "Content-Length: 5" } else { "Transfer-Encoding: chunked" };
        let expected = format!("POST /a?b=c HTTP/1.1|Host: {host}|X-Test: 1|{of_body}!{sent}");
        assert_eq!(String::from_utf8_lossy(&read), expected);
    }
}

#[test]
fn a_large_body_and_a_large_answer_pass_at_the_same_time() {
    let url = serve(|mut from, mut to| {
        read_head(&mut from);
        write!(to, "HTTP/1.1 200 OK\r\n\r\n").expect("sent");
        let mut buffer = [0; 1000];
        let mut left = 3_000_000;
        while left > 0 {
            let count = from.read(&mut buffer).expect("a part of the body");
            left -= count;
            to.write_all(&buffer[..count]).expect("sent back");
        }
    });
    let body = vec![b'x'; 3_000_000];
    let request = Request { body: Some(Some(3_000_000)), ..get(&url) };
    let (_, read) = fetch(&request, Some(&mut body.as_slice())).expect("a response");
    assert_eq!(read.len(), body.len());
}

#[test]
fn a_server_that_fails_is_reported_by_its_cause() {
    let cause = |result: Result<(Head, Vec<u8>), Failure>| match result {
        Err(Failure::Failed(kind, _)) => kind,
        other => panic!("{other:?}"),
    };
    for (response, kind) in [
        (&b""[..], "empty"),
        (b"HTTP/1.1 200", "receive"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "receive"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "receive"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "protocol"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "protocol"),
        (b"hello, who is there?\r\n", "protocol"),
    ] {
        let found = cause(fetch(&get(&serve_bytes(response)), None));
        assert_eq!(found, kind, "{}", String::from_utf8_lossy(response));
    }
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port");
    assert_eq!(cause(fetch(&get(&format!("http://{closed}/")), None)), "connect");
    assert_eq!(cause(fetch(&get(&format!("https://{closed}/")), None)), "tls");
}

#[test]
fn a_silent_server_ends_at_the_timeout_of_the_request() {
    let url = serve(|mut from, _to| {
        // Ends when the client closes the connection.
        let _ = from.read_to_end(&mut Vec::new());
    });
    let request = Request { total_ms: Some(50), ..get(&url) };
    let failure = fetch(&request, None).expect_err("no answer");
    assert!(matches!(&failure, Failure::Failed(kind, _) if kind == "timeout"), "{failure:?}");
}
