//! The tenant of a request.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tidebox_core::ErrorKind;
use tidebox_emulators::{SandboxRecord, SandboxRegistry};

use super::error::{ApiError, ApiResult};
use crate::account::Account;
use crate::log::RequestNotes;
use crate::service::{REST, Service};

/// Prefix of the WebSocket protocol that carries a token in base64url: browsers cannot set headers of a WebSocket, and a query
/// would be in logs.
const TOKEN_PROTOCOL: &str = "tidebox.token.";

/// The tenant of a request, and its sandboxes.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) account: Arc<Account>,
    pub(crate) registry: SandboxRegistry,
    pub(crate) notes: RequestNotes,
}

impl Caller {
    /// Returns a sandbox of the tenant.
    pub(super) async fn sandbox(&self, id: &str) -> ApiResult<SandboxRecord> {
        self.registry.find(id).await.ok_or_else(|| ApiError::sandbox_not_found(id))
    }
}

impl FromRequestParts<Service> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> ApiResult<Self> {
        let account = match token(&parts.headers) {
            Some(token) => service.account_of(&token),
            None if service.0.is_open && has_local_host(parts) => service.account("default"),
            None => None,
        };
        let Some(account) = account else {
            let message = "missing or wrong token; send the header Authorization: Bearer TOKEN";
            return Err(ApiError::new(StatusCode::UNAUTHORIZED, ErrorKind::Unauthenticated.as_str(), message));
        };
        let notes = parts.extensions.get::<RequestNotes>().cloned().unwrap_or_default();
        notes.set_tenant(&account.name);
        Ok(Self { registry: service.registry_of(&account, REST), account, notes })
    }
}

/// Returns the token of a request, of its header or of its WebSocket protocols.
fn token(headers: &HeaderMap) -> Option<Vec<u8>> {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let (scheme, token) = value.as_bytes().split_at_checked(7)?;
        return scheme.eq_ignore_ascii_case(b"bearer ").then(|| token.trim_ascii().to_vec());
    }
    let protocols = headers.get(header::SEC_WEBSOCKET_PROTOCOL)?.to_str().ok()?;
    let encoded = protocols.split(',').find_map(|protocol| protocol.trim().strip_prefix(TOKEN_PROTOCOL))?;
    URL_SAFE_NO_PAD.decode(encoded).ok()
}

fn host(headers: &HeaderMap, authority: Option<&str>) -> Option<String> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    host.or(authority).map(str::to_owned)
}

/// Returns whether the request was sent to a name of this computer. A web page can let its own name resolve to this computer (DNS
/// rebinding), so a request without a token needs one.
fn has_local_host(parts: &Parts) -> bool {
    let Some(host) = host(&parts.headers, parts.uri.authority().map(|authority| authority.as_str())) else {
        return false;
    };
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Rejects requests of web pages of other sites.
pub(super) async fn check_origin(request: Request, next: Next) -> Response {
    let headers = request.headers();
    if let Some(origin) = headers.get(header::ORIGIN) {
        let host = host(headers, request.uri().authority().map(|authority| authority.as_str()));
        let site = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, site)| site.to_owned());
        if site.is_none() || site != host {
            let message = "the request is from a web page of another site; only the page of this service may send some";
            return ApiError::new(StatusCode::FORBIDDEN, ErrorKind::Forbidden.as_str(), message).into_response();
        }
    }
    next.run(request).await
}
