//! Connections that change their protocol, such as WebSockets. Their bytes are passed on unchanged.

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Version, header};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::sync::oneshot;

use super::connection::ConnectionEnd;

/// Returns the protocol to which a request changes.
pub(super) fn wanted(head: &Parts) -> Option<HeaderValue> {
    let connection = head.headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let mut options = connection.flat_map(|options| options.split(','));
    let is_upgrade = options.any(|option| option.trim().eq_ignore_ascii_case("upgrade"));
    let is_possible = head.version == Version::HTTP_11;
    head.headers.get(header::UPGRADE).filter(|_| is_upgrade && is_possible).cloned()
}

/// Takes the client's connection out of its request, for the time after the response.
pub(super) fn take(head: &mut Parts) -> Option<OnUpgrade> {
    head.extensions.remove()
}

/// Sets the headers of an upgrade.
pub(super) fn mark(headers: &mut HeaderMap, protocol: HeaderValue) {
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, protocol);
}

/// Passes the bytes of an upgraded connection in both directions until both have ended. `end` comes from the task that has driven
/// the request.
pub(super) fn pass(outer: OnUpgrade, inner: OnUpgrade, end: oneshot::Receiver<ConnectionEnd>) {
    tokio::spawn(async move {
        // A missing side has disconnected; dropping the other one ends its connection.
        let (Ok(outer), Ok(inner), Ok(mut end)) = tokio::join!(outer, inner, end) else { return };
        let (mut outer, mut inner) = (TokioIo::new(outer), TokioIo::new(inner));
        tokio::select! {
            // Either side may reset the connection at any time.
            _ = tokio::io::copy_bidirectional(&mut outer, &mut inner) => {}
            () = end.reached() => {}
        }
    });
}
