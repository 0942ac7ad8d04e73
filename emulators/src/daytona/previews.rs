//! Preview links: addresses of the servers in sandboxes. `PORT-ID.DOMAIN` needs a token unless the sandbox is public; in
//! `PORT-TOKEN.DOMAIN` the address is the credential, for one port and a time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tidebox_core::BoxFuture;
use tidebox_core::lock::Mutex;

use super::control::missing;
use super::{Shared, error_response};
use crate::preview::{FindPreview, PreviewAddress, PreviewTarget, Unavailable, is_same};
use crate::registry::{SandboxRecord, random_token};

/// Credential of a private sandbox, as a header or a parameter of the query.
const TOKEN_HEADER: &str = "x-daytona-preview-token";
const TOKEN_QUERY: &str = "DAYTONA_SANDBOX_AUTH_KEY";

/// Headers for Daytona's proxy: a server does not get them.
const PROXY_HEADERS: [&str; 4] =
    [TOKEN_HEADER, "x-daytona-skip-preview-warning", "x-daytona-disable-cors", SKIP_ACTIVITY_HEADER];

/// A request with this header does not count as a use of the sandbox.
const SKIP_ACTIVITY_HEADER: &str = "x-daytona-skip-last-activity-update";

/// Entry of a sandbox's metadata with its token.
const PREVIEW_TOKEN: &str = "preview_token";

/// Default and maximum lifetime of a signed link, in seconds.
const SIGNED_SECONDS: u64 = 60;
const MAX_SIGNED_SECONDS: u64 = 24 * 60 * 60;

/// Signed links by the SHA-256 of their token, so that the time of a search reveals nothing about a token.
pub(crate) type SignedPreviews = Arc<Mutex<BTreeMap<[u8; 32], SignedPreview>>>;

#[derive(Clone, Debug)]
pub(crate) struct SignedPreview {
    id: String,
    port: u16,
    expires_at: Instant,
}

/// Returns a new token, or the response to a request that needs one.
pub(super) fn new_token() -> Result<String, Box<Response>> {
    random_token().map_err(|error| Box::new(error_response(500, "INTERNAL", &error.to_string())))
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

impl SandboxRecord {
    /// Replaces the token of the preview links, as each start of a sandbox does.
    pub(super) fn set_preview_token(&mut self, token: String) {
        self.metadata.insert(PREVIEW_TOKEN.to_owned(), token);
    }

    fn is_public(&self) -> bool {
        self.metadata.get("public").is_some_and(|public| public == "true")
    }
}

/// Parses the port of a path.
fn parse_port(port: &str) -> Result<u16, Box<Response>> {
    port.parse().ok().filter(|port| *port != 0).ok_or_else(|| {
        Box::new(error_response(400, "BAD_REQUEST", "Invalid port: expected a number between 1 and 65535"))
    })
}

/// `GET /sandbox/{id}/ports/{port}/preview-url`
pub(super) async fn link(
    State(shared): State<Shared>,
    Path((id, port)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let found = shared.sandbox_port(&id, &port, &headers).await;
    let (id, sandbox, port) = match found {
        Ok(found) => found,
        Err(rejected) => return *rejected,
    };
    let url = format!("http://{}", shared.domain.host_of(port, &id));
    Json(json!({ "sandboxId": id, "url": url, "token": sandbox.metadata.get(PREVIEW_TOKEN) })).into_response()
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Lifetime {
    expires_in_seconds: Option<u64>,
}

/// `GET /sandbox/{id}/ports/{port}/signed-preview-url`
pub(super) async fn sign(
    State(shared): State<Shared>,
    Path((id, port)): Path<(String, String)>,
    Query(lifetime): Query<Lifetime>,
    headers: HeaderMap,
) -> Response {
    let (id, _, port) = match shared.sandbox_port(&id, &port, &headers).await {
        Ok(found) => found,
        Err(rejected) => return *rejected,
    };
    let seconds = lifetime.expires_in_seconds.unwrap_or(SIGNED_SECONDS);
    if !(1..=MAX_SIGNED_SECONDS).contains(&seconds) {
        let message = format!("expiresInSeconds must be between 1 and {MAX_SIGNED_SECONDS}");
        return error_response(400, "BAD_REQUEST", &message);
    }
    let token = match new_token() {
        Ok(token) => token,
        Err(rejected) => return *rejected,
    };
    let now = Instant::now();
    let signed = SignedPreview { id: id.clone(), port, expires_at: now + Duration::from_secs(seconds) };
    {
        let mut all = shared.signed_previews.lock();
        all.retain(|_, signed| signed.expires_at > now);
        all.insert(digest(&token), signed);
    }
    let url = format!("http://{}", shared.domain.host_of(port, &token));
    Json(json!({ "sandboxId": id, "port": port, "token": token, "url": url })).into_response()
}

/// `POST /sandbox/{id}/ports/{port}/signed-preview-url/{token}/expire`
pub(super) async fn expire(
    State(shared): State<Shared>,
    Path((id, port, token)): Path<(String, String, String)>,
    headers: HeaderMap,
) -> Response {
    let (id, _, port) = match shared.sandbox_port(&id, &port, &headers).await {
        Ok(found) => found,
        Err(rejected) => return *rejected,
    };
    let mut all = shared.signed_previews.lock();
    let key = digest(&token);
    if all.get(&key).is_some_and(|signed| signed.id == id && signed.port == port) {
        all.remove(&key);
    }
    StatusCode::OK.into_response()
}

impl Shared {
    /// Returns the id, the sandbox and the port of a request for a link.
    async fn sandbox_port(
        &self,
        id: &str,
        port: &str,
        headers: &HeaderMap,
    ) -> Result<(String, SandboxRecord, u16), Box<Response>> {
        self.authorised(headers)?;
        let port = parse_port(port)?;
        let (id, sandbox) = self.resolve(id).await.ok_or_else(|| Box::new(missing(id)))?;
        Ok((id, sandbox, port))
    }

    /// Returns the sandbox of a signed link that has not expired.
    async fn signed_preview(&self, address: &PreviewAddress) -> Option<(String, SandboxRecord)> {
        let signed = self.signed_previews.lock().get(&digest(&address.key)).cloned()?;
        if signed.port != address.port || signed.expires_at <= Instant::now() {
            return None;
        }
        Some((signed.id.clone(), self.registry.find(&signed.id).await?))
    }

    /// Returns whether the key or one of the tokens opens a sandbox. Removes the key from the request.
    fn takes_credential(&self, head: &mut Parts, sandbox: &SandboxRecord, tokens: &[Option<String>]) -> bool {
        let key =
            head.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        if key.is_some_and(|key| is_same(key, &*self.key)) {
            head.headers.remove(header::AUTHORIZATION);
            return true;
        }
        let Some(expected) = sandbox.metadata.get(PREVIEW_TOKEN) else { return false };
        tokens.iter().flatten().any(|token| is_same(token, expected))
    }
}

/// Removes the token from the query, and returns it.
fn take_query_token(head: &mut Parts) -> Option<String> {
    let query = head.uri.query()?;
    let is_token = |pair: &&str| pair.split('=').next() == Some(TOKEN_QUERY);
    let token = query.split('&').find(is_token)?.split_once('=').map_or("", |(_, token)| token).to_owned();
    let rest: Vec<&str> = query.split('&').filter(|pair| !is_token(pair)).collect();
    let mut path = head.uri.path().to_owned();
    if !rest.is_empty() {
        path = format!("{path}?{}", rest.join("&"));
    }
    // Parts of a valid path are a valid path. The host is known from the address.
    head.uri = path.parse::<PathAndQuery>().map(Uri::from).ok()?;
    Some(token)
}

/// Returns whether a key has the form of the id of a sandbox.
fn is_id(key: &str) -> bool {
    key.len() == 36 && key.split('-').count() == 5
}

impl FindPreview for Shared {
    fn find<'a>(
        &'a self,
        address: &'a PreviewAddress,
        head: &'a mut Parts,
    ) -> BoxFuture<'a, Result<PreviewTarget, Box<Response>>> {
        Box::pin(async move {
            let counts = !head.headers.contains_key(SKIP_ACTIVITY_HEADER);
            let sent = head.headers.get(TOKEN_HEADER).and_then(|token| token.to_str().ok()).map(str::to_owned);
            let tokens = [sent, take_query_token(head)];
            for name in PROXY_HEADERS {
                head.headers.remove(name);
            }
            let unauthorized = |message: &str| Err(Box::new(error_response(401, "UNAUTHORIZED", message)));
            let (id, sandbox) = if is_id(&address.key) {
                let Some(sandbox) = self.registry.find(&address.key).await else {
                    return Err(Box::new(missing(&address.key)));
                };
                if !sandbox.is_public() && !self.takes_credential(head, &sandbox, &tokens) {
                    return unauthorized("Unauthorized");
                }
                (address.key.clone(), sandbox)
            } else {
                match self.signed_preview(address).await {
                    Some(found) => found,
                    None => return unauthorized("The signed preview URL is invalid or has expired"),
                }
            };
            let sandbox = Self::running(sandbox)?;
            if counts {
                self.registry.update(&id, SandboxRecord::note_change);
            }
            Ok(self.registry.preview_target(&id, &sandbox, address.port))
        })
    }

    fn unavailable(&self, target: &PreviewTarget, why: Unavailable) -> Response {
        let port = target.port;
        match why {
            Unavailable::Closed => error_response(
                502,
                "BAD_GATEWAY",
                &format!("connection refused: is the application started and listening on port {port}?"),
            ),
            Unavailable::Busy => {
                error_response(429, "TOO_MANY_REQUESTS", "the Sandbox has too many connections; try again")
            }
            Unavailable::Broken => {
                error_response(502, "BAD_GATEWAY", &format!("the server on port {port} did not respond"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_taken_out_of_the_query() {
        for (uri, token, rest) in [
            ("/a?DAYTONA_SANDBOX_AUTH_KEY=t", Some("t"), "/a"),
            ("/a?x=1&DAYTONA_SANDBOX_AUTH_KEY=t&y=%20", Some("t"), "/a?x=1&y=%20"),
            ("/?DAYTONA_SANDBOX_AUTH_KEY", Some(""), "/"),
            ("/a?x=DAYTONA_SANDBOX_AUTH_KEY", None, "/a?x=DAYTONA_SANDBOX_AUTH_KEY"),
            ("/a", None, "/a"),
        ] {
            let request = axum::http::Request::builder().uri(uri).body(()).expect("a request");
            let (mut head, ()) = request.into_parts();
            assert_eq!(take_query_token(&mut head).as_deref(), token, "{uri}");
            assert_eq!(head.uri.to_string(), rest);
        }
    }
}
