//! One HTTP request from outside to a server of a sandbox. Bodies are streamed in both directions.

use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::uri::Scheme;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, Version, header};
use axum::response::Response;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;

use super::connection::{ConnectionEnd, PreviewTarget};
use super::{Unavailable, upgrade};

/// Maximum size of the head of a response.
pub(crate) const MAX_HEAD_BYTES: usize = 64 << 10;

/// Headers that concern one connection only (RFC 9110, section 7.6.1), and `Expect`, which the server of the outer connection has
/// fulfilled.
const HOP_BY_HOP: [HeaderName; 8] = [
    header::CONNECTION,
    header::EXPECT,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Further ones, which HTTP/1.0 programs send.
const OLD_HOP_BY_HOP: [&str; 2] = ["keep-alive", "proxy-connection"];

/// Sends a request to the server, and returns its response.
pub(super) async fn forward(target: &mut PreviewTarget, host: &str, request: Request) -> Result<Response, Unavailable> {
    let (stream, end) = target.connect().await?;
    let set_host = |headers: &mut HeaderMap| {
        if let Ok(host) = HeaderValue::from_str(host) {
            headers.insert("x-forwarded-host", host.clone());
            headers.insert(header::HOST, host);
        }
        if !headers.contains_key("x-forwarded-proto") {
            headers.insert("x-forwarded-proto", HeaderValue::from_static("http"));
        }
    };
    send_over(stream, end, request, set_host).await
}

/// Sends a request over a new connection, and returns its response. `edit` changes its headers.
pub(crate) async fn send_over(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    mut end: ConnectionEnd,
    request: Request,
    edit: impl FnOnce(&mut HeaderMap),
) -> Result<Response, Unavailable> {
    let (mut head, body) = request.into_parts();
    let wanted = upgrade::wanted(&head);
    // Taken before the request is sent on: it belongs to the outer connection.
    let outer = upgrade::take(&mut head);
    prepare(&mut head, wanted.as_ref());
    edit(&mut head.headers);
    let handshake = http1::Builder::new().max_buf_size(MAX_HEAD_BYTES).handshake(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.map_err(|_| Unavailable::Broken)?;
    let (give_end, take_end) = oneshot::channel();
    // Drives the connection until the response has been received, or until an upgrade takes it over.
    tokio::spawn(async move {
        tokio::select! {
            // An error reaches the client with the response.
            _ = connection.with_upgrades() => {}
            () = end.reached() => return,
        }
        // Only an upgrade has a receiver.
        let _ = give_end.send(end);
    });
    let sent = sender.send_request(Request::from_parts(head, body)).await;
    let mut response = sent.map_err(|_| Unavailable::Broken)?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        let (Some(wanted), Some(outer)) = (wanted, outer) else { return Err(Unavailable::Broken) };
        let inner = hyper::upgrade::on(&mut response);
        let (mut head, _) = response.into_parts();
        remove_hop_by_hop(&mut head.headers);
        upgrade::mark(&mut head.headers, wanted);
        upgrade::pass(outer, inner, take_end);
        return Ok(Response::from_parts(head, Body::empty()));
    }
    Ok(for_client(response))
}

/// Returns whether a request is one to upgrade to another protocol, so that its connection cannot be used again.
pub(crate) fn wants_upgrade(request: &Request) -> bool {
    request.headers().contains_key(header::UPGRADE) || request.method() == Method::CONNECT
}

/// Makes a request of the outer connection one for a server at `address`, in the form of clients that select the connection by the
/// URL.
pub(crate) fn for_address(request: Request, address: &str) -> Option<Request> {
    let (mut head, body) = request.into_parts();
    prepare(&mut head, None);
    let mut uri = head.uri.into_parts();
    (uri.scheme, uri.authority) = (Some(Scheme::HTTP), Some(address.parse().ok()?));
    head.uri = Uri::from_parts(uri).ok()?;
    Some(Request::from_parts(head, body))
}

/// Makes a response of the inner connection one of the outer connection.
pub(crate) fn for_client(response: hyper::Response<hyper::body::Incoming>) -> Response {
    let (mut head, body) = response.into_parts();
    remove_hop_by_hop(&mut head.headers);
    Response::from_parts(head, Body::new(body))
}

/// Makes a request of the outer connection one of the inner connection.
fn prepare(head: &mut Parts, upgrade: Option<&HeaderValue>) {
    let path = head.uri.path_and_query().cloned();
    head.uri = path.map_or_else(|| Uri::from_static("/"), Uri::from);
    head.version = Version::HTTP_11;
    // They describe the connection of the client.
    head.extensions.clear();
    remove_hop_by_hop(&mut head.headers);
    if let Some(protocol) = upgrade {
        upgrade::mark(&mut head.headers, protocol.clone());
    }
}

/// Removes headers that concern one connection only, including those that `Connection` names.
fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let connection = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named: Vec<String> = connection.flat_map(|names| names.split(',')).map(|name| name.trim().to_owned()).collect();
    for name in named {
        // Framing of the body, and the host, must not be removed by the other side.
        if !["content-length", "host"].contains(&name.to_ascii_lowercase().as_str()) {
            headers.remove(name.as_str());
        }
    }
    for name in HOP_BY_HOP {
        headers.remove(name);
    }
    for name in OLD_HOP_BY_HOP {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_one_connection_are_removed() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, X-Hop ,Content-Length"),
            ("x-hop", "1"),
            ("content-length", "3"),
            ("keep-alive", "timeout=5"),
            ("te", "trailers"),
            ("upgrade", "h2c"),
            ("transfer-encoding", "chunked"),
            ("proxy-authorization", "secret"),
            ("accept", "*/*"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        remove_hop_by_hop(&mut headers);
        let left: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        assert_eq!(left, ["content-length", "accept"]);
    }
}
