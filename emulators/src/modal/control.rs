//! Apps, images and tokens.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use tidebox_remote_adapters::modal::messages::*;

use super::grpc::{RpcResult, code, read, status, streamed, unary, unary_with_warning};
use super::{Shared, TOKEN_ID};
use crate::preview::is_same;

/// Lifetime of a token for sandbox calls.
const TOKEN_LIFE: Duration = Duration::from_secs(20 * 60);

/// Reported version of the image builder.
const BUILDER: &str = "2025.06";

impl Shared {
    /// Rejects a call without the right key.
    pub(super) fn authorised(&self, headers: &HeaderMap) -> RpcResult<()> {
        let header = |name: &str| headers.get(name).map(|value| value.as_bytes()).unwrap_or_default();
        if header("x-modal-token-id") == TOKEN_ID.as_bytes() && is_same(header("x-modal-token-secret"), &*self.key) {
            return Ok(());
        }
        Err(status(code::UNAUTHENTICATED, "Token ID or secret is malformed or unknown"))
    }

    /// Rejects a sandbox call without a valid token.
    pub(super) fn authorised_with_token(&self, headers: &HeaderMap) -> RpcResult<()> {
        self.authorised(headers)?;
        let token = headers.get("x-modal-auth-token").and_then(|token| token.to_str().ok()).unwrap_or_default();
        let mut parts = token.splitn(3, '.').skip(1);
        let claims = parts.next().and_then(|claims| URL_SAFE_NO_PAD.decode(claims).ok()).unwrap_or_default();
        let claims: serde_json::Value = serde_json::from_slice(&claims).unwrap_or_default();
        let is_ours = parts.next() == Some(self.signature().as_str());
        let today = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        if is_ours && claims["exp"].as_u64().is_some_and(|end| end > today) {
            return Ok(());
        }
        Err(status(code::UNAUTHENTICATED, "the auth token is missing or has expired"))
    }

    /// Returns a new token for sandbox calls.
    pub(super) fn auth_token(&self) -> String {
        let end = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + TOKEN_LIFE;
        let part = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let claims = part(json!({ "exp": end.as_secs() }));
        format!("{}.{claims}.{}", part(json!({ "alg": "none" })), self.signature())
    }

    /// Stand-in for a token signature, checked only by the emulator.
    fn signature(&self) -> String {
        URL_SAFE_NO_PAD.encode(format!("signed with {}", self.key))
    }
}

/// `ClientHello`
pub(super) async fn hello(State(shared): State<Shared>, headers: HeaderMap) -> Response {
    std::future::ready(unary(shared.authorised(&headers).map(|()| Empty {}))).await
}

/// `AppGetOrCreate`
pub(super) async fn app(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = || {
        shared.authorised(&headers)?;
        let request: AppGetOrCreateRequest = read(&body)?;
        let mut known = shared.state();
        if request.object_creation_type == 0 && !known.apps.contains_key(&request.app_name) {
            return Err(status(code::NOT_FOUND, format!("App '{}' not found", request.app_name)));
        }
        let number = known.apps.len() + 1;
        let app_id = known.apps.entry(request.app_name).or_insert_with(|| format!("ap-{number:022}")).clone();
        Ok(AppGetOrCreateResponse { app_id })
    };
    std::future::ready(unary(reply())).await
}

/// `EnvironmentGetOrCreate`
pub(super) async fn environment(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = || {
        shared.authorised(&headers)?;
        let request: EnvironmentGetOrCreateRequest = read(&body)?;
        let name = if request.deployment_name.is_empty() { "main".to_owned() } else { request.deployment_name };
        let settings = Some(EnvironmentSettings { image_builder_version: BUILDER.to_owned() });
        let metadata = Some(EnvironmentMetadata { name, settings });
        Ok(EnvironmentGetOrCreateResponse { environment_id: "en-main".to_owned(), metadata })
    };
    std::future::ready(unary(reply())).await
}

/// `ImageGetOrCreate`: a new image is reported as built once a client waits for it.
pub(super) async fn image(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let mut builds = false;
    let mut reply = || {
        shared.authorised(&headers)?;
        let request: ImageGetOrCreateRequest = read(&body)?;
        let commands = request.image.unwrap_or_default().dockerfile_commands;
        builds = commands.iter().any(|line| !line.trim_start().to_ascii_uppercase().starts_with("FROM"));
        let mut known = shared.state();
        let number = known.images.len() + 1;
        let name = commands.join("\n");
        let result = known.images.contains_key(&name).then(done);
        let image_id = known.images.entry(name).or_insert_with(|| format!("im-{number:022}")).clone();
        let metadata = result.as_ref().map(|_| Empty {});
        Ok(ImageGetOrCreateResponse { image_id, result, metadata })
    };
    let reply = reply();
    let warning = builds.then_some(
        "tidebox builds no images: the sandbox has its own programs, and commands other than FROM were not run",
    );
    std::future::ready(unary_with_warning(reply, warning)).await
}

fn done() -> GenericResult {
    GenericResult { status: 1, ..GenericResult::default() }
}

/// `ImageFromId`
pub(super) async fn image_by_id(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = || {
        shared.authorised(&headers)?;
        let request: SandboxRequest = read(&body)?;
        let image_id = request.sandbox_id;
        if !shared.has_image(&image_id) {
            return Err(status(code::NOT_FOUND, format!("Image '{image_id}' not found")));
        }
        Ok(ImageGetOrCreateResponse { image_id, result: None, metadata: None })
    };
    std::future::ready(unary(reply())).await
}

impl Shared {
    pub(super) fn has_image(&self, image_id: &str) -> bool {
        let known = self.state();
        known.snapshots.contains_key(image_id) || known.images.values().any(|known| known == image_id)
    }
}

/// `ImageDelete`
pub(super) async fn delete_image(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = || {
        shared.authorised(&headers)?;
        let request: SandboxRequest = read(&body)?;
        let image_id = request.sandbox_id;
        if !shared.has_image(&image_id) {
            return Err(status(code::NOT_FOUND, format!("Image '{image_id}' not found")));
        }
        let mut known = shared.state();
        known.snapshots.remove(&image_id);
        known.images.retain(|_, known| *known != image_id);
        Ok(Empty {})
    };
    std::future::ready(unary(reply())).await
}

/// `ImageJoinStreaming`
pub(super) async fn image_join(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = || {
        shared.authorised(&headers)?;
        let request: ImageJoinStreamingRequest = read(&body)?;
        if !shared.has_image(&request.image_id) {
            return Err(status(code::NOT_FOUND, format!("Image '{}' not found", request.image_id)));
        }
        let metadata = Some(Empty {});
        Ok(ImageJoinStreamingResponse { result: Some(done()), entry_id: "1".to_owned(), metadata })
    };
    std::future::ready(streamed(futures_util::stream::iter([reply()]))).await
}

/// `AuthTokenGet`
pub(super) async fn token(State(shared): State<Shared>, headers: HeaderMap) -> Response {
    let reply = || {
        shared.authorised(&headers)?;
        Ok(AuthTokenGetResponse { token: shared.auth_token() })
    };
    std::future::ready(unary(reply())).await
}
