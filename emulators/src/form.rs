//! Bodies of requests, kept as they come: what is read from a connection is copied once, to where it stays.

use axum::RequestExt as _;
use axum::body::HttpBody as _;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use tidebox_remote_adapters::transport::multipart::{PartReader, ReadPart};

/// A body of any type.
#[derive(Debug)]
pub(crate) enum Form {
    /// The parts of a form.
    Parts(Vec<ReadPart>),
    /// A form that cannot be read.
    Broken,
    /// Something else than a form.
    Other(Vec<u8>),
}

/// The most room that is made for a body before it comes.
const ROOM_BYTES: usize = 64 << 20;

impl Form {
    /// The parts, none where there is no form.
    pub(crate) fn parts(self) -> Vec<ReadPart> {
        match self {
            Self::Parts(parts) => parts,
            Self::Broken | Self::Other(_) => Vec::new(),
        }
    }
}

impl<S: Sync> FromRequest<S> for Form {
    type Rejection = Response;

    async fn from_request(request: Request, _: &S) -> Result<Self, Response> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.to_owned();
        // The limit of the route holds for it as for any other body.
        let body = request.into_limited_body();
        let length = usize::try_from(body.size_hint().lower()).unwrap_or(ROOM_BYTES).min(ROOM_BYTES);
        let mut pieces = body.into_data_stream();
        if !kind.starts_with("multipart/") {
            let mut whole = Vec::with_capacity(length);
            while let Some(piece) = pieces.next().await {
                whole.extend_from_slice(&piece.map_err(|_| too_long())?);
            }
            return Ok(Self::Other(whole));
        }
        let mut reader = PartReader::new(&kind, length);
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(|_| too_long())?;
            // What is broken is read to its end all the same, as its client writes on.
            if reader.as_mut().is_some_and(|reader| reader.push(&piece).is_none()) {
                reader = None;
            }
        }
        Ok(reader.and_then(PartReader::finish).map_or(Self::Broken, Self::Parts))
    }
}

/// The body is longer than the route takes, or its client has gone and hears nothing.
fn too_long() -> Response {
    StatusCode::PAYLOAD_TOO_LARGE.into_response()
}
