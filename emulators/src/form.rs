//! Request bodies. Received data is copied once, to its final buffer.

use std::time::Duration;

use axum::RequestExt as _;
use axum::body::{Body, HttpBody as _};
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use tidebox_remote_adapters::transport::multipart::{PartReader, ReadPart};

/// A body of any media type.
#[derive(Debug)]
pub(crate) enum RequestBody {
    /// Parts of a form.
    Parts(Vec<ReadPart>),
    /// A malformed form.
    Broken,
    /// Any other body.
    Other(Vec<u8>),
}

/// Maximum memory reserved before a body arrives.
const ROOM_BYTES: usize = 64 << 20;

impl RequestBody {
    /// Returns the parts; empty if the body is not a form.
    pub(crate) fn parts(self) -> Vec<ReadPart> {
        match self {
            Self::Parts(parts) => parts,
            Self::Broken | Self::Other(_) => Vec::new(),
        }
    }
}

impl<S: Sync> FromRequest<S> for RequestBody {
    type Rejection = Response;

    async fn from_request(request: Request, _: &S) -> Result<Self, Response> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.to_owned();
        // The route's body limit applies as for any other body.
        let body = request.into_limited_body();
        let length = usize::try_from(body.size_hint().lower()).unwrap_or(ROOM_BYTES).min(ROOM_BYTES);
        let mut chunks = body.into_data_stream();
        if !kind.starts_with("multipart/") {
            let mut whole = Vec::with_capacity(length);
            while let Some(chunk) = chunks.next().await {
                whole.extend_from_slice(&chunk.map_err(|_| too_long())?);
            }
            return Ok(Self::Other(whole));
        }
        let mut reader = PartReader::new(&kind, length);
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|_| too_long())?;
            // Read a malformed body to its end, because the client keeps sending.
            if reader.as_mut().is_some_and(|reader| reader.push(&chunk).is_none()) {
                reader = None;
            }
        }
        Ok(reader.and_then(PartReader::finish).map_or(Self::Broken, Self::Parts))
    }
}

/// Limits of a body that is read only to keep its connection usable: a server that responds earlier closes it.
const UNUSED_BYTES: usize = 1 << 20;
const UNUSED_TIME: Duration = Duration::from_secs(1);

/// Reads a body that has no use.
pub(crate) async fn discard(body: Body) {
    // Beyond the limits the connection is closed.
    let _ = tokio::time::timeout(UNUSED_TIME, axum::body::to_bytes(body, UNUSED_BYTES)).await;
}

/// Response to a body above the route's limit; a client that has disconnected ignores it.
fn too_long() -> Response {
    StatusCode::PAYLOAD_TOO_LARGE.into_response()
}
