//! Creation, connection, listing and deletion.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::extract::{Path, RawQuery, State, WebSocketUpgrade};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{Sandbox, Shared, USER, absent_message, error_response, rpc};
use crate::entries::{timestamp_millis, wall_clock};
use crate::fault::SocketFault;
use crate::registry::{NewSandbox, SandboxRecord};
use crate::tenants::{QUOTA_STATUS, creation_status};

/// Maximum time to the end of a sandbox.
const MAX_LENGTH: Duration = Duration::from_secs(30 * 60);

/// Maximum bytes of a message. The JavaScript client sends a file of any size as one message.
const MESSAGE_BYTES: usize = 1 << 30;

/// Maximum bytes of a message that the clients accept.
const PYTHON_BYTES: usize = 1 << 20;
const JAVASCRIPT_BYTES: usize = 100 << 20;

/// Returns the maximum bytes of a message for the client.
fn client_limit(headers: &HeaderMap) -> usize {
    let agent = headers.get("user-agent").and_then(|agent| agent.to_str().ok()).unwrap_or_default();
    if agent.starts_with("Python/") { PYTHON_BYTES } else { JAVASCRIPT_BYTES }
}

/// Memory limits in MiB.
const MEMORY: std::ops::RangeInclusive<u64> = 768..=4096;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Config {
    stop_at_ms: Option<u64>,
    /// Sent by the Python client instead.
    timeout: Option<String>,
    memory_mb: Option<u64>,
    labels: BTreeMap<String, String>,
    env: BTreeMap<String, String>,
    volumes: Option<Value>,
    root: Option<Value>,
}

impl Config {
    /// Lifetime of the sandbox; `None` ties it to its socket.
    fn life(&self) -> Option<Duration> {
        let at = self.stop_at_ms.map(until);
        let words = self.timeout.as_deref().filter(|words| *words != "session");
        at.or_else(|| {
            words.and_then(|words| {
                let number = |words: &str| words.parse::<u64>().ok();
                match words.strip_suffix('m') {
                    Some(minutes) => number(minutes).map(|minutes| Duration::from_secs(minutes * 60)),
                    None => number(words.trim_end_matches('s')).map(Duration::from_secs),
                }
            })
        })
    }
}

/// Returns the time until a moment in milliseconds since 1970, capped at the maximum.
fn until(at: u64) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Duration::from_millis(at).saturating_sub(now).min(MAX_LENGTH)
}

/// `GET /api/v3/sandboxes/create`, a WebSocket
pub(super) async fn create(
    State(shared): State<Shared>,
    fault: Option<axum::Extension<SocketFault>>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let given = headers.get("x-deno-sandbox-config").and_then(|config| BASE64.decode(config.as_bytes()).ok());
    let config: Config = match given.map(|bytes| serde_json::from_slice(&bytes)) {
        Some(Ok(config)) => config,
        Some(Err(error)) => return error_response(400, "INVALID_CONFIG", &error.to_string()),
        None => {
            return error_response(400, "INVALID_CONFIG", "the header x-deno-sandbox-config is missing or no base64");
        }
    };
    if config.labels.len() > 5 {
        return error_response(400, "INVALID_CONFIG", "a sandbox has at most 5 labels");
    }
    if config.memory_mb.is_some_and(|memory| !MEMORY.contains(&memory)) {
        return error_response(400, "INVALID_CONFIG", "memory_mb is from 768 to 4096");
    }
    if config.root.as_ref().is_some_and(|root| !root.is_null()) {
        let message = absent_message("volumes and snapshots as root: every sandbox has Tidebox's own files");
        return error_response(501, "NOT_IMPLEMENTED", &message);
    }
    if config.volumes.as_ref().is_some_and(|volumes| !volumes.is_null() && *volumes != json!([])) {
        return error_response(501, "NOT_IMPLEMENTED", &absent_message("volumes"));
    }
    let letters = "0123456789abcdefghjkmnpqrstvwxyz".as_bytes();
    let letter = |_| char::from(letters.get(fastrand::usize(..letters.len())).copied().unwrap_or(b'0'));
    let id = format!("sbx_ord_{}", (0..20).map(letter).collect::<String>());
    let life = config.life();
    let new = NewSandbox { user: Some(USER), ..NewSandbox::default() };
    if let Err(error) = shared.registry.create_from(id.clone(), config.labels, new).await {
        let status = creation_status(&error);
        let code = if status == QUOTA_STATUS { "TOO_MANY_SANDBOXES" } else { "INTERNAL_ERROR" };
        return error_response(status, code, &error.to_string());
    }
    if let Some(life) = life {
        shared.registry.update(&id, |sandbox| sandbox.set_ttl(life));
    }
    shared.sandboxes().insert(id.clone(), Sandbox { env: config.env, end: watch::channel(false).0 });
    let fault = fault.map(|fault| fault.0).unwrap_or_default();
    socket(shared, id, life.is_none(), fault, client_limit(&headers), upgrade).await
}

/// `GET /api/v3/sandbox/{id}/connect`, a WebSocket
pub(super) async fn connect(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    fault: Option<axum::Extension<SocketFault>>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    if shared.registry.find(&id).await.is_none() {
        return error_response(404, "SANDBOX_NOT_FOUND", &format!("The sandbox {id} was not found"));
    }
    let fault = fault.map(|fault| fault.0).unwrap_or_default();
    socket(shared, id, false, fault, client_limit(&headers), upgrade).await
}

/// Opens the socket of a sandbox. If `only`, the sandbox ends with its socket.
async fn socket(
    shared: Shared,
    id: String,
    only: bool,
    fault: SocketFault,
    limit: usize,
    upgrade: WebSocketUpgrade,
) -> Response {
    let (record, end) = match (shared.registry.find(&id).await, shared.sandboxes().get(&id)) {
        (Some(record), Some(sandbox)) => (record, sandbox.end.subscribe()),
        _ => return error_response(404, "SANDBOX_NOT_FOUND", &format!("The sandbox {id} was not found")),
    };
    let name = HeaderValue::from_str(&id);
    let mut response =
        upgrade.max_message_size(MESSAGE_BYTES).max_frame_size(MESSAGE_BYTES).on_upgrade(move |socket| async move {
            rpc::serve(&shared, &id, record, socket, end, (fault, limit)).await;
            if only {
                shared.remove(&id).await;
            }
        });
    if let Ok(name) = name {
        response.headers_mut().insert("x-deno-sandbox-id", name);
        response.headers_mut().insert("x-deno-trace-id", HeaderValue::from_static("0"));
    }
    response
}

#[derive(Debug, Deserialize)]
pub(super) struct Extend {
    stop_at_ms: u64,
}

/// `PATCH /api/v3/sandbox/{id}`
pub(super) async fn extend(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(extend): Json<Extend>,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let life = until(extend.stop_at_ms);
    if shared.registry.find(&id).await.is_none() || !shared.registry.update(&id, |sandbox| sandbox.set_ttl(life)) {
        return error_response(404, "SANDBOX_NOT_FOUND", &format!("The sandbox {id} was not found"));
    }
    let granted = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + life;
    Json(json!({ "stop_at_ms": u64::try_from(granted.as_millis()).unwrap_or(extend.stop_at_ms) })).into_response()
}

/// `DELETE /api/v3/sandbox/{id}`
pub(super) async fn delete(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    if shared.remove(&id).await {
        (StatusCode::OK, Json(json!({}))).into_response()
    } else {
        error_response(404, "SANDBOX_NOT_FOUND", &format!("The sandbox {id} was not found"))
    }
}

/// `GET /api/v2/sandboxes?labels[k]=v`, not paginated. The Python client encodes its labels in Python syntax.
pub(super) async fn list(State(shared): State<Shared>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let mut labels = BTreeMap::new();
    for (name, value) in query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('=')).map(plain) {
        if let Some(label) = name.strip_prefix("labels[").and_then(|name| name.strip_suffix(']')) {
            labels.insert(label.to_owned(), value);
        } else if name == "labels" {
            labels.extend(
                serde_json::from_str::<BTreeMap<String, String>>(&value.replace('\'', "\"")).unwrap_or_default(),
            );
        }
    }
    let found = shared.registry.list(&labels).await;
    let entry = |id: &String, sandbox: &SandboxRecord| {
        json!({
            "id": id,
            "createdAt": timestamp_millis(wall_clock(sandbox.created_at)),
            "region": "ord",
            "status": "running",
            "stoppedAt": null,
            "labels": sandbox.labels,
        })
    };
    Json(found.iter().map(|(id, sandbox)| entry(id, sandbox)).collect::<Vec<Value>>()).into_response()
}

/// Decodes a name and value of a query.
fn plain((name, value): (&str, &str)) -> (String, String) {
    let plain =
        |text: &str| percent_encoding::percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    (plain(name), plain(value))
}
