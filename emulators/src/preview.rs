//! Preview addresses: HTTP and WebSocket connections from outside to the servers of sandboxes.
//!
//! A request is for a preview if its host is `PORT-KEY.DOMAIN`, where the provider defines the key: the id of a sandbox, or a
//! token. It never reaches the routes of the API, so that a page of a sandbox cannot call them. A client that cannot resolve
//! such a name sends the header `X-Tidebox-Preview: PORT-KEY` to the emulator's own address instead.

mod address;
mod connection;
mod http;
mod upgrade;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::Response;
use sha2::{Digest as _, Sha256};
use tidebox_core::BoxFuture;

pub(crate) use address::{Domain, PreviewAddress};
pub(crate) use connection::{ConnectionEnd, PreviewTarget, Traffic, TrafficChanges};
pub(crate) use http::{MAX_HEAD_BYTES, for_address, for_client, send_over, wants_upgrade};

use crate::form::discard;

/// Names the preview in a request to the emulator's own address. Its value is the first label of the preview's host.
const PREVIEW_HEADER: &str = "x-tidebox-preview";

/// Reason why a request did not reach a server, or its response the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unavailable {
    /// No program listens at the port.
    Closed,
    /// The sandbox has as many connections as it may have, or its server accepts none.
    Busy,
    /// The server ended the connection, did not respond in time, or sent something else than HTTP.
    Broken,
}

/// The previews of one provider.
pub(crate) trait FindPreview: Send + Sync {
    /// Returns the address in the headers of a request to the emulator's own address, if the provider has such headers.
    fn address_in_headers(&self, _head: &Parts) -> Option<PreviewAddress> {
        None
    }

    /// Returns the running sandbox of an address if the request has the credentials that it needs. Removes them from the request:
    /// a server in a sandbox must not see them.
    fn find<'a>(
        &'a self,
        address: &'a PreviewAddress,
        head: &'a mut Parts,
    ) -> BoxFuture<'a, Result<PreviewTarget, Box<Response>>>;

    /// The provider's response if a server does not respond.
    fn unavailable(&self, target: &PreviewTarget, why: Unavailable) -> Response;
}

/// The preview addresses of an emulator.
#[derive(Clone)]
pub(crate) struct Previews {
    domain: Domain,
    provider: Arc<dyn FindPreview>,
}

impl Previews {
    pub(crate) fn new(domain: Domain, provider: impl FindPreview + 'static) -> Self {
        Self { domain, provider: Arc::new(provider) }
    }

    /// Returns the preview that a request is for.
    fn address(&self, head: &Parts) -> Option<PreviewAddress> {
        let host = address::host(head)?;
        if let Some(address) = self.domain.parse(&host) {
            return Some(address);
        }
        // A web page can send any header to its own host, and let that name resolve to this computer (DNS rebinding).
        if !self.domain.is_own(&host) {
            return None;
        }
        let label = head.headers.get(PREVIEW_HEADER).and_then(|label| label.to_str().ok());
        let named = label.and_then(|label| PreviewAddress::from_label(label, &host));
        named.or_else(|| self.provider.address_in_headers(head))
    }
}

/// Passes a request for a preview to its server, and all others on.
pub(crate) async fn route(State(previews): State<Previews>, request: Request, next: Next) -> Response {
    let (mut head, body) = request.into_parts();
    let Some(address) = previews.address(&head) else { return next.run(Request::from_parts(head, body)).await };
    head.headers.remove(PREVIEW_HEADER);
    match previews.provider.find(&address, &mut head).await {
        Ok(mut target) => {
            let request = Request::from_parts(head, body);
            let sent = http::forward(&mut target, &address.host, request).await;
            sent.unwrap_or_else(|why| previews.provider.unavailable(&target, why))
        }
        Err(rejected) => {
            discard(body).await;
            *rejected
        }
    }
}

/// Returns whether a credential is the expected one, in a time that does not depend on where they differ.
pub(crate) fn is_same(given: impl AsRef<[u8]>, expected: impl AsRef<[u8]>) -> bool {
    let (given, expected) = (Sha256::digest(given), Sha256::digest(expected));
    given.iter().zip(expected.iter()).fold(0, |differences, (one, other)| differences | (one ^ other)) == 0
}

#[cfg(test)]
mod tests;
