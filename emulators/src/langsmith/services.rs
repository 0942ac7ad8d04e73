//! Addresses of the servers in sandboxes. `PORT-ID.DOMAIN` needs a token in a header; in `PORT-TOKEN.DOMAIN`, for browsers, the
//! address is the credential. A token is for one port and a time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tidebox_core::BoxFuture;
use tidebox_core::lock::Mutex;

use super::{Shared, absent_response, error_response};
use crate::entries::{timestamp_millis, wall_clock};
use crate::preview::{FindPreview, PreviewAddress, PreviewTarget, Unavailable};
use crate::registry::random_token;

/// Credential of a server.
const TOKEN_HEADER: &str = "x-langsmith-sandbox-service-token";

/// Default and maximum lifetime of a token, in seconds.
const SECONDS: u64 = 600;
const MAX_SECONDS: u64 = 24 * 60 * 60;

/// Services by the SHA-256 of their token, so that the time of a search reveals nothing about a token.
pub(super) type Services = Arc<Mutex<BTreeMap<[u8; 32], Service>>>;

/// A port that a token opens.
#[derive(Clone, Debug)]
pub(super) struct Service {
    sandbox: String,
    port: u16,
    expires_at: Instant,
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Create {
    port: u64,
    expires_in_seconds: Option<u64>,
    access: Option<Value>,
    embed_origins: Vec<Value>,
}

impl Create {
    /// Returns the port and the lifetime of the token.
    fn check(&self) -> Result<(u16, Duration), Box<Response>> {
        let invalid = |message: &str| Box::new(error_response(422, "ValidationError", message));
        if self.access.is_some() || !self.embed_origins.is_empty() {
            return Err(Box::new(absent_response("services behind a login, or in frames of other pages")));
        }
        let port = u16::try_from(self.port).ok().filter(|port| *port != 0);
        let port = port.ok_or_else(|| invalid("port must be between 1 and 65535"))?;
        let seconds = self.expires_in_seconds.unwrap_or(SECONDS);
        if !(1..=MAX_SECONDS).contains(&seconds) {
            return Err(invalid(&format!("expires_in_seconds must be between 1 and {MAX_SECONDS}")));
        }
        Ok((port, Duration::from_secs(seconds)))
    }
}

/// `POST /boxes/{name}/service-url`
pub(super) async fn create(
    State(shared): State<Shared>,
    Path(text): Path<String>,
    headers: HeaderMap,
    Json(create): Json<Create>,
) -> Response {
    let (id, _) = match shared.one(&headers, &text).await {
        Ok(found) => found,
        Err(rejected) => return *rejected,
    };
    let (port, lifetime) = match create.check() {
        Ok(checked) => checked,
        Err(rejected) => return *rejected,
    };
    let token = match random_token() {
        Ok(token) => token,
        Err(error) => return error_response(500, "InternalError", &error.to_string()),
    };
    let now = Instant::now();
    let expires_at = now + lifetime;
    {
        let mut services = shared.services.lock();
        services.retain(|_, service| service.expires_at > now);
        services.insert(digest(&token), Service { sandbox: id.clone(), port, expires_at });
    }
    Json(json!({
        "browser_url": format!("http://{}", shared.domain.host_of(port, &token)),
        "service_url": format!("http://{}", shared.domain.host_of(port, &id)),
        "token": token,
        "expires_at": timestamp_millis(wall_clock(expires_at)),
        "embed_url": "",
        "embed_origins": [],
    }))
    .into_response()
}

impl FindPreview for Shared {
    fn find<'a>(
        &'a self,
        address: &'a PreviewAddress,
        head: &'a mut Parts,
    ) -> BoxFuture<'a, Result<PreviewTarget, Box<Response>>> {
        Box::pin(async move {
            let sent = head.headers.remove(TOKEN_HEADER);
            let token = sent.as_ref().and_then(|token| token.to_str().ok()).unwrap_or(&address.key);
            let service = self.services.lock().get(&digest(token)).cloned();
            let is_it = |service: &Service| {
                let names_it = sent.is_none() || service.sandbox.eq_ignore_ascii_case(&address.key);
                names_it && service.port == address.port && service.expires_at > Instant::now()
            };
            let Some(service) = service.filter(is_it) else {
                return Err(Box::new(error_response(
                    401,
                    "Unauthorized",
                    "the service token is invalid or has expired",
                )));
            };
            let sandbox = self.wake(&service.sandbox).await?;
            Ok(self.registry.preview_target(&service.sandbox, &sandbox, service.port))
        })
    }

    fn unavailable(&self, target: &PreviewTarget, why: Unavailable) -> Response {
        let port = target.port;
        match why {
            Unavailable::Closed => {
                error_response(502, "BadGateway", &format!("nothing listens on port {port} of the sandbox"))
            }
            Unavailable::Busy => error_response(429, "TooManyRequests", "the sandbox has too many connections"),
            Unavailable::Broken => {
                error_response(502, "BadGateway", &format!("the server on port {port} did not respond"))
            }
        }
    }
}
