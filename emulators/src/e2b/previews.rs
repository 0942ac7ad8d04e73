//! Addresses of the servers in sandboxes: `PORT-ID.DOMAIN`, public unless the sandbox was created otherwise.

use axum::Json;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tidebox_core::BoxFuture;

use super::Shared;
use crate::preview::{FindPreview, PreviewAddress, PreviewTarget, Unavailable, is_same};

/// Credential of a private sandbox.
const TOKEN_HEADER: &str = "e2b-traffic-access-token";

/// Headers that name a sandbox and its port at the address of all sandboxes.
const SANDBOX_HEADER: &str = "e2b-sandbox-id";
const PORT_HEADER: &str = "e2b-sandbox-port";

/// Port of the daemon, whose calls the emulator executes itself.
const ENVD_PORT: u16 = 49983;

/// Entry of a sandbox's metadata with the credential of its servers.
pub(super) const TRAFFIC_TOKEN: &str = "traffic_token";

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Response of E2B's proxy.
fn proxy_response(status: StatusCode, id: &str, message: &str, port: Option<u16>) -> Response {
    let mut body = json!({ "sandboxId": id, "message": message, "code": status.as_u16() });
    if let Some(port) = port {
        body["port"] = Value::from(port);
    }
    (status, Json(body)).into_response()
}

impl FindPreview for Shared {
    fn address_in_headers(&self, head: &Parts) -> Option<PreviewAddress> {
        let port = text(&head.headers, PORT_HEADER)?.parse::<u16>().ok().filter(|port| *port != ENVD_PORT)?;
        let id = text(&head.headers, SANDBOX_HEADER)?;
        let host = text(&head.headers, header::HOST.as_str()).unwrap_or_default();
        PreviewAddress::from_label(&format!("{port}-{id}"), host)
    }

    fn find<'a>(
        &'a self,
        address: &'a PreviewAddress,
        head: &'a mut Parts,
    ) -> BoxFuture<'a, Result<PreviewTarget, Box<Response>>> {
        Box::pin(async move {
            let id = &address.key;
            let given = head.headers.remove(TOKEN_HEADER);
            for name in [SANDBOX_HEADER, PORT_HEADER] {
                head.headers.remove(name);
            }
            let refuse = |status, message: &str| Err(Box::new(proxy_response(status, id, message, None)));
            // E2B's proxy does not find a paused sandbox either.
            let Some(sandbox) = self.registry.find(id).await.filter(|sandbox| !sandbox.paused) else {
                return refuse(StatusCode::BAD_GATEWAY, "The sandbox was not found");
            };
            if let Some(token) = sandbox.metadata.get(TRAFFIC_TOKEN) {
                let secured = "Sandbox is secured with traffic access token.";
                let Some(given) = given.as_ref().and_then(|given| given.to_str().ok()) else {
                    return refuse(
                        StatusCode::FORBIDDEN,
                        &format!("{secured} Token header '{TOKEN_HEADER}' is missing"),
                    );
                };
                if !is_same(given, token) {
                    return refuse(
                        StatusCode::FORBIDDEN,
                        &format!("{secured} Provided token in header '{TOKEN_HEADER}' is invalid"),
                    );
                }
            }
            Ok(self.registry.preview_target(id, &sandbox, address.port))
        })
    }

    fn unavailable(&self, target: &PreviewTarget, why: Unavailable) -> Response {
        let (status, message) = match why {
            Unavailable::Closed => (StatusCode::BAD_GATEWAY, "The sandbox is running but port is not open"),
            Unavailable::Busy => (StatusCode::TOO_MANY_REQUESTS, "The sandbox has too many connections; try again"),
            Unavailable::Broken => (StatusCode::BAD_GATEWAY, "The server in the sandbox did not respond"),
        };
        proxy_response(status, &target.id, message, Some(target.port))
    }
}
