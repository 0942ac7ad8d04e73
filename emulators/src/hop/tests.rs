//! Kept connections to other nodes.

use axum::body::Body;
use axum::extract::Request;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::*;

/// Time in which something must happen, or must not.
const LONG: Duration = Duration::from_secs(10);
const SHORT: Duration = Duration::from_millis(200);

async fn node() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

fn request(path: &str) -> Request {
    let request = axum::http::Request::post(format!("http://public.example{path}")).header("host", "public.example");
    request.body(Body::from("body")).unwrap()
}

async fn accept(listener: &TcpListener) -> TcpStream {
    timeout(LONG, listener.accept()).await.expect("a connection").unwrap().0
}

/// Reads a request with the body `body`.
async fn read_request(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    while !text.ends_with("body") {
        let mut bytes = [0; 1024];
        let length = timeout(LONG, stream.read(&mut bytes)).await.expect("a request").unwrap();
        assert!(length > 0, "the connection has ended after {text:?}");
        text.push_str(std::str::from_utf8(&bytes[..length]).unwrap());
    }
    text
}

async fn respond(stream: &mut TcpStream) {
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.unwrap();
}

async fn read_all(response: Result<Response, HopError>) {
    let body = axum::body::to_bytes(response.unwrap().into_body(), 100).await.unwrap();
    assert_eq!(body, "ok");
}

#[tokio::test]
async fn a_connection_is_used_for_several_requests() {
    let ((listener, address), client) = (node().await, client());
    let serve = async {
        let mut stream = accept(&listener).await;
        for number in 0..3 {
            let text = read_request(&mut stream).await;
            assert!(text.starts_with(&format!("POST /{number}?q HTTP/1.1\r\n")), "{text}");
            assert!(text.contains("host: public.example\r\n"), "{text}");
            respond(&mut stream).await;
        }
        stream
    };
    let send = async {
        for number in 0..3 {
            read_all(send(&client, &address, request(&format!("/{number}?q"))).await).await;
            // The connection returns to the client in another task.
            tokio::time::sleep(SHORT / 4).await;
        }
    };
    tokio::join!(serve, send);
    assert!(timeout(SHORT, listener.accept()).await.is_err(), "there is one connection");
}

#[tokio::test]
async fn a_request_that_may_have_run_is_not_repeated() {
    let ((listener, address), client) = (node().await, client());
    let serve = async {
        let mut stream = accept(&listener).await;
        read_request(&mut stream).await;
        respond(&mut stream).await;
        read_request(&mut stream).await;
        // It fails before its response.
        drop(stream);
        timeout(SHORT, listener.accept()).await
    };
    let send = async {
        read_all(send(&client, &address, request("/first")).await).await;
        tokio::time::sleep(SHORT / 4).await;
        send(&client, &address, request("/second")).await.map(drop)
    };
    let (further, second) = tokio::join!(serve, send);
    assert_eq!(second, Err(HopError::Broken));
    assert!(further.is_err(), "the request came once");
}

#[tokio::test]
async fn a_closed_connection_is_replaced() {
    let ((listener, address), client) = (node().await, client());
    for _ in 0..2 {
        let serve = async {
            let mut stream = accept(&listener).await;
            read_request(&mut stream).await;
            respond(&mut stream).await;
        };
        let send = async { read_all(send(&client, &address, request("/")).await).await };
        tokio::join!(serve, send);
        tokio::time::sleep(SHORT / 4).await;
    }
}

#[tokio::test]
async fn a_request_without_connection_did_not_run() {
    let (listener, address) = node().await;
    drop(listener);
    assert_eq!(send(&client(), &address, request("/")).await.map(drop), Err(HopError::Unreachable));
    assert_eq!(send(&client(), "no address", request("/")).await.map(drop), Err(HopError::Unreachable));
}
