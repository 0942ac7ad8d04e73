//! Signed URLs of files, which clients use without a key.

use std::time::SystemTime;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::control::missing;
use super::{Shared, error_response};
use crate::registry::SandboxRecord;

/// Bytes of a block of SHA-256.
const BLOCK: usize = 64;

/// HMAC with SHA-256 (RFC 2104), for keys of at most one block.
fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let pad = |byte: u8| -> Vec<u8> {
        key.iter().copied().chain(std::iter::repeat(0)).take(BLOCK).map(|part| part ^ byte).collect()
    };
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().into()
}

fn sign(key: &str, method: &Method, path: &str, expires: u64) -> String {
    let message = format!("v1:files:{method}:{path}:{expires}");
    format!("v1_{}", BASE64.encode(hmac(key.as_bytes(), message.as_bytes())))
}

/// Signature of a request.
#[derive(Debug)]
pub(super) struct Signature {
    method: Method,
    query: SignedQuery,
}

#[derive(Debug, Deserialize)]
struct SignedQuery {
    path: String,
    expires: u64,
    signature: String,
}

impl Signature {
    /// Returns the signature of a request of a file without a key.
    pub(super) fn of(parts: &Parts) -> Option<Self> {
        let path = parts.uri.path();
        let is_file = path.ends_with("/files/download") || path.ends_with("/files/upload-v2");
        if !is_file || parts.headers.contains_key(header::AUTHORIZATION) {
            return None;
        }
        let Query(query) = Query::<SignedQuery>::try_from_uri(&parts.uri).ok()?;
        Some(Self { method: parts.method.clone(), query })
    }
}

impl Shared {
    /// Returns the running sandbox with this id if its key signed the request.
    pub(super) async fn signed_sandbox(&self, id: &str, signature: &Signature) -> Result<SandboxRecord, Box<Response>> {
        let unauthorized = |message: &str| Box::new(error_response(401, "UNAUTHORIZED", message));
        let Some((_, sandbox)) = self.resolve(id).await else { return Err(Box::new(missing(id))) };
        let SignedQuery { path, expires, signature: given } = &signature.query;
        if sign(&sandbox.token, &signature.method, path, *expires) != *given {
            return Err(unauthorized("invalid signature"));
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        // 0 never expires.
        if *expires != 0 && *expires < now {
            return Err(unauthorized("the signed URL has expired"));
        }
        Self::running(sandbox)
    }
}

/// `GET /sandbox/{id}/signing-key`
pub(super) async fn key(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    match shared.resolve(&id).await {
        Some((_, sandbox)) => Json(sandbox.token).into_response(),
        None => missing(&id),
    }
}

/// `POST /sandbox/{id}/signing-key/rotate`: invalidates all signed URLs.
pub(super) async fn rotate(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let Some((id, _)) = shared.resolve(&id).await else { return missing(&id) };
    let token: String = (0..40).map(|_| fastrand::alphanumeric()).collect();
    shared.registry.update(&id, |sandbox| sandbox.token.clone_from(&token));
    Json(token).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_equals_that_of_the_client() {
        // Computed with `compute_file_url_signature` of daytona 0.226.1.
        assert_eq!(
            sign("key", &Method::GET, "/home/daytona/a b", 17),
            "v1_BeFe0fDHk9wLdzLo2U8BuA8iEkBN7t6jm8fCC01WGjQ"
        );
    }
}
