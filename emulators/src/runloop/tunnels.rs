//! Tunnels: addresses of the servers in devboxes, `PORT-KEY.tunnel.DOMAIN`.

use std::time::{Duration, SystemTime};

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::BoxFuture;

use super::{Shared, error_response};
use crate::entries::millis;
use crate::preview::{FindPreview, PreviewAddress, PreviewTarget, Unavailable, is_same};
use crate::registry::random_token;

/// Credential of an authenticated tunnel, as a bearer token.
const TOKEN_HEADER: &str = "x-runloop-tunnel-authorization";

/// Options of a tunnel. A missing or `null` field has the default.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TunnelOptions {
    auth_mode: Option<String>,
    http_keep_alive: Option<bool>,
    wake_on_http: Option<bool>,
}

impl TunnelOptions {
    /// Returns the description of a new tunnel.
    pub(super) fn new_tunnel(&self) -> Result<Value, Box<Response>> {
        let mode = self.auth_mode.as_deref().unwrap_or("open");
        if !["open", "authenticated"].contains(&mode) {
            return Err(Box::new(error_response(400, "bad_request", "auth_mode must be open or authenticated")));
        }
        let token = || random_token().map_err(|error| Box::new(error_response(500, "internal", &error.to_string())));
        let mut tunnel = json!({
            "tunnel_key": token()?,
            "auth_mode": mode,
            "create_time_ms": millis(SystemTime::now()),
            "http_keep_alive": self.http_keep_alive.unwrap_or(true),
            "wake_on_http": self.wake_on_http.unwrap_or(false),
        });
        if mode == "authenticated" {
            tunnel["auth_token"] = json!(token()?);
        }
        Ok(tunnel)
    }
}

/// `POST /v1/devboxes/{id}/enable_tunnel`: a devbox has one tunnel, for all of its ports. A repeated request returns it.
pub(super) async fn enable(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if let Err(rejected) = shared.authorized_sandbox(&id, &headers).await {
        return *rejected;
    }
    let options = if body.is_empty() { Ok(TunnelOptions::default()) } else { serde_json::from_slice(&body) };
    let tunnel = match options {
        Ok(options) => options.new_tunnel(),
        Err(error) => Err(Box::new(error_response(400, "bad_request", &error.to_string()))),
    };
    let tunnel = match tunnel {
        Ok(tunnel) => tunnel,
        Err(rejected) => return *rejected,
    };
    let mut known = shared.known.lock();
    let Some(view) = known.get_mut(&id) else { return error_response(404, "not_found", "Devbox not found") };
    if view["tunnel"].is_null() {
        view["tunnel"] = tunnel;
    }
    Json(view["tunnel"].clone()).into_response()
}

/// `POST /v1/devboxes/{id}/remove_tunnel`
pub(super) async fn remove(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    let sandbox = match shared.authorized_sandbox(&id, &headers).await {
        Ok(sandbox) => sandbox,
        Err(rejected) => return *rejected,
    };
    if let Some(view) = shared.known.lock().get_mut(&id) {
        view["tunnel"] = Value::Null;
    }
    sandbox.traffic.end_all();
    Json(json!({})).into_response()
}

impl Shared {
    /// Returns the devbox with this tunnel, and the tunnel.
    fn tunnel(&self, key: &str) -> Option<(String, Value)> {
        let known = self.known.lock();
        let is_it = |view: &Value| view["tunnel"]["tunnel_key"].as_str().is_some_and(|known| is_same(key, known));
        known.iter().find(|(_, view)| is_it(view)).map(|(id, view)| (id.clone(), view["tunnel"].clone()))
    }
}

impl FindPreview for Shared {
    fn find<'a>(
        &'a self,
        address: &'a PreviewAddress,
        head: &'a mut Parts,
    ) -> BoxFuture<'a, Result<PreviewTarget, Box<Response>>> {
        Box::pin(async move {
            let sent = head.headers.remove(TOKEN_HEADER);
            let not_found = || Box::new(error_response(404, "not_found", "Tunnel not found"));
            let (id, tunnel) = self.tunnel(&address.key).ok_or_else(not_found)?;
            if let Some(token) = tunnel["auth_token"].as_str() {
                let sent = sent.as_ref().and_then(|sent| sent.to_str().ok()?.strip_prefix("Bearer "));
                if !sent.is_some_and(|sent| is_same(sent, token)) {
                    return Err(Box::new(error_response(401, "unauthorized", "Invalid tunnel authorization")));
                }
            }
            let seconds = self.keep_alive(&id);
            let is_set = |option: &str| tunnel[option] == true;
            self.registry.update(&id, |devbox| {
                if devbox.paused && is_set("wake_on_http") {
                    devbox.paused = false;
                    devbox.set_ttl(Duration::from_secs(seconds));
                    devbox.metadata.insert("status".to_owned(), "running".to_owned());
                } else if !devbox.paused && is_set("http_keep_alive") {
                    devbox.set_ttl(Duration::from_secs(seconds));
                }
            });
            match self.registry.find(&id).await {
                Some(devbox) if devbox.paused => {
                    Err(Box::new(error_response(502, "bad_gateway", "Devbox is not running")))
                }
                Some(devbox) => Ok(self.registry.preview_target(&id, &devbox, address.port)),
                None => Err(not_found()),
            }
        })
    }

    fn unavailable(&self, target: &PreviewTarget, why: Unavailable) -> Response {
        let port = target.port;
        match why {
            Unavailable::Closed => error_response(
                StatusCode::BAD_GATEWAY.as_u16(),
                "bad_gateway",
                &format!("nothing listens on port {port} of the devbox"),
            ),
            Unavailable::Busy => error_response(429, "too_many_requests", "the devbox has too many connections"),
            Unavailable::Broken => {
                error_response(502, "bad_gateway", &format!("the server on port {port} did not respond"))
            }
        }
    }
}
