//! Control plane routes.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::ExecuteRequest;

use super::previews::TRAFFIC_TOKEN;
use super::snapshots::Origin;
use super::{ENVD_VERSION, HOME, Shared, USER, absent_response, error_response};
use crate::entries::{self, timestamp_millis, wall_clock};
use crate::preview::is_same;
use crate::registry::{FileSnapshot, NewSandbox, SandboxRecord, random_token};
use crate::tenants::creation_status;

/// Default lifetime of a sandbox.
const DEFAULT_SECONDS: u64 = 300;

/// Default number of entries per page.
const PAGE: usize = 100;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Create {
    #[serde(rename = "templateID")]
    template_id: Option<String>,
    timeout: Option<u64>,
    metadata: BTreeMap<String, String>,
    env_vars: BTreeMap<String, String>,
    network: Option<Network>,
}

/// Access to the servers of a sandbox. Other rules have no effect: local sandboxes have no network.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Network {
    allow_public_traffic: Option<bool>,
}

fn is_idempotency_key(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=255).contains(&text.len()) && text.bytes().all(is_allowed)
}

/// `POST /v2/sandboxes`
pub(super) async fn create(State(shared): State<Shared>, headers: HeaderMap, Json(create): Json<Create>) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let attempt = headers.get("idempotency-key").map(|key| String::from_utf8_lossy(key.as_bytes()).into_owned());
    if attempt.as_deref().is_some_and(|attempt| !is_idempotency_key(attempt)) {
        return error_response(400, "Idempotency-Key has 1 to 255 of the characters a-z, 0-9 and -");
    }
    if let Some(id) = attempt.as_ref().and_then(|attempt| shared.made_before(attempt)) {
        return match shared.registry.find(&id).await {
            Some(sandbox) => (StatusCode::CREATED, Json(shared.access(&id, &sandbox))).into_response(),
            None => missing(&id),
        };
    }
    let template = create.template_id.unwrap_or_else(|| "base".to_owned());
    let files = match shared.origin(&template) {
        Origin::Template => None,
        Origin::Snapshot(files) => Some(files),
        Origin::Deleted => return error_response(404, &format!("template '{template}' not found")),
    };
    let new = New {
        template: &template,
        labels: create.metadata,
        env: create.env_vars.into_iter().collect(),
        files,
        seconds: create.timeout.unwrap_or(DEFAULT_SECONDS),
        is_public: create.network.and_then(|network| network.allow_public_traffic).unwrap_or(true),
    };
    match shared.start_sandbox(new).await {
        Ok((id, sandbox)) => {
            if let Some(attempt) = attempt {
                shared.created.lock().insert(attempt, id.clone());
            }
            (StatusCode::CREATED, Json(shared.access(&id, &sandbox))).into_response()
        }
        Err(error) => error_response(creation_status(&error), &error.to_string()),
    }
}

/// A sandbox to create.
struct New<'a> {
    template: &'a str,
    labels: BTreeMap<String, String>,
    env: Vec<(String, String)>,
    files: Option<FileSnapshot>,
    /// Lifetime.
    seconds: u64,
    /// Its servers need no credential.
    is_public: bool,
}

impl Shared {
    /// Creates a sandbox.
    async fn start_sandbox(&self, new: New<'_>) -> tidebox_core::Result<(String, SandboxRecord)> {
        let New { template, labels, env, files, seconds, is_public } = new;
        // Not to be guessed: it is the whole credential of the servers in a public sandbox.
        let new_id = || random_token().map(|token| std::iter::once('i').chain(token.chars().take(19)).collect());
        let id: String = self.registry.draw_id(new_id)?;
        let noted = json!(env).to_string();
        let new = NewSandbox { env, user: Some(USER), snapshot: files, ..NewSandbox::default() };
        let sandbox = self.registry.create_from(id.clone(), labels, new).await?;
        // E2B's templates have this directory; if it cannot be created, commands that start in it fail with an error.
        let _ = sandbox.sandbox.execute(ExecuteRequest::new(format!("mkdir -p {HOME}"))).await;
        let traffic_token = if is_public { None } else { Some(random_token()?) };
        self.registry.update(&id, |sandbox| {
            sandbox.metadata.insert("template".to_owned(), template.to_owned());
            sandbox.metadata.insert("env".to_owned(), noted);
            sandbox.metadata.extend(traffic_token.map(|token| (TRAFFIC_TOKEN.to_owned(), token)));
            sandbox.set_ttl(Duration::from_secs(seconds));
        });
        let sandbox = self.registry.find(&id).await.unwrap_or(sandbox);
        Ok((id, sandbox))
    }

    /// Describes how clients reach a sandbox.
    fn access(&self, id: &str, sandbox: &SandboxRecord) -> Value {
        json!({
            "sandboxID": id,
            "templateID": sandbox.metadata.get("template").map_or("base", String::as_str),
            "clientID": "",
            "envdVersion": ENVD_VERSION,
            "envdAccessToken": sandbox.token,
            "trafficAccessToken": sandbox.metadata.get(TRAFFIC_TOKEN),
            "domain": self.domain.name_with_port(),
            "alias": "base",
        })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Fork {
    timeout: Option<u64>,
    count: Option<usize>,
}

/// Maximum number of sandboxes that one request creates.
const MAX_FORKS: usize = 100;

/// `POST /sandboxes/{id}/fork`: copies of the files. Processes are not copied.
pub(super) async fn fork(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(fork): Json<Fork>,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let Some(source) = shared.registry.find(&id).await else { return missing(&id) };
    let count = fork.count.unwrap_or(1);
    if !(1..=MAX_FORKS).contains(&count) {
        return error_response(400, &format!("count must be between 1 and {MAX_FORKS}"));
    }
    let files = match shared.registry.take_snapshot(&id) {
        Ok(files) => files,
        Err(error) => return error_response(500, &error.to_string()),
    };
    let template = source.metadata.get("template").map_or("base", String::as_str);
    let env = source.metadata.get("env").and_then(|env| serde_json::from_str(env).ok()).unwrap_or_else(Vec::new);
    let seconds = fork.timeout.unwrap_or(DEFAULT_SECONDS);
    let mut forks = Vec::new();
    for _ in 0..count {
        let new = New {
            template,
            labels: source.labels.clone(),
            env: env.clone(),
            files: Some(files.clone()),
            seconds,
            is_public: !source.metadata.contains_key(TRAFFIC_TOKEN),
        };
        forks.push(match shared.start_sandbox(new).await {
            Ok((id, sandbox)) => json!({ "sandbox": shared.access(&id, &sandbox) }),
            Err(error) => json!({ "error": { "code": 500, "message": error.to_string() } }),
        });
    }
    (StatusCode::CREATED, Json(forks)).into_response()
}

/// `GET /sandboxes/{id}/metrics`: one sample, taken now.
pub(super) async fn metrics(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let Some(sandbox) = shared.registry.find(&id).await else { return missing(&id) };
    let now = std::time::SystemTime::now();
    match entries::usage(&sandbox).await {
        Ok(usage) => Json(json!([{
            "timestamp": timestamp_millis(now),
            "timestampUnix": entries::millis(now) / 1000,
            "cpuCount": usage.processors,
            // Processor time is not measured.
            "cpuUsedPct": 0.0,
            "memUsed": usage.memory_used,
            "memTotal": usage.memory_total,
            "memCache": usage.memory_cache,
            "diskUsed": usage.disk_used,
            "diskTotal": usage.disk_total,
        }]))
        .into_response(),
        Err(error) => error_response(500, &error),
    }
}

pub(super) fn missing(id: &str) -> Response {
    error_response(404, &format!("sandbox {id} not found"))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Connect {
    timeout: Option<u64>,
}

/// `POST /v2/sandboxes/{id}/connect`
pub(super) async fn connect(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(connect): Json<Connect>,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let Some(sandbox) = shared.registry.find(&id).await else {
        return missing(&id);
    };
    shared.registry.update(&id, |sandbox| {
        sandbox.paused = false;
        sandbox.set_ttl(Duration::from_secs(connect.timeout.unwrap_or(DEFAULT_SECONDS)));
    });
    let status = if sandbox.paused { StatusCode::CREATED } else { StatusCode::OK };
    (status, Json(shared.access(&id, &sandbox))).into_response()
}

/// `POST /sandboxes/{id}/timeout`
pub(super) async fn set_timeout(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(connect): Json<Connect>,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let time = Duration::from_secs(connect.timeout.unwrap_or(DEFAULT_SECONDS));
    if shared.registry.update(&id, |sandbox| sandbox.set_ttl(time)) {
        StatusCode::NO_CONTENT.into_response()
    } else {
        missing(&id)
    }
}

/// `POST /sandboxes/{id}/pause`
pub(super) async fn pause(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let mut was_paused = false;
    let paused = |sandbox: &mut SandboxRecord| {
        was_paused = std::mem::replace(&mut sandbox.paused, true);
        if !was_paused {
            sandbox.metadata.insert("paused_at".to_owned(), timestamp_millis(std::time::SystemTime::now()));
        }
        // A paused sandbox does not expire.
        sandbox.expires_at = None;
    };
    match shared.registry.update(&id, paused) {
        true if was_paused => error_response(409, &format!("sandbox {id} is already paused")),
        true => StatusCode::NO_CONTENT.into_response(),
        false => missing(&id),
    }
}

/// `DELETE /sandboxes/{id}`
pub(super) async fn delete(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    shared.watchers.lock().retain(|(sandbox, _), _| *sandbox != id);
    if shared.registry.close(&id).await { StatusCode::NO_CONTENT.into_response() } else { missing(&id) }
}

/// `GET /sandboxes/{id}`
pub(super) async fn info(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    match shared.registry.find(&id).await {
        Some(sandbox) => {
            let mut entry = entry(&id, &sandbox);
            entry["envdAccessToken"] = json!(sandbox.token);
            entry["domain"] = json!(shared.domain.name_with_port());
            entry["network"] = json!({ "allowPublicTraffic": !sandbox.metadata.contains_key(TRAFFIC_TOKEN) });
            Json(entry).into_response()
        }
        None => missing(&id),
    }
}

fn entry(id: &str, sandbox: &SandboxRecord) -> Value {
    let started = timestamp_millis(wall_clock(sandbox.created_at));
    let end = sandbox.expires_at.map(|end| timestamp_millis(wall_clock(end)));
    let end = end.or_else(|| sandbox.metadata.get("paused_at").cloned()).unwrap_or_else(|| started.clone());
    json!({
        "sandboxID": id,
        "templateID": sandbox.metadata.get("template").map_or("base", String::as_str),
        "clientID": "",
        "envdVersion": ENVD_VERSION,
        "alias": "base",
        "startedAt": started,
        "endAt": end,
        "cpuCount": 1,
        "memoryMB": 512,
        "diskSizeMB": 512,
        "state": if sandbox.paused { "paused" } else { "running" },
        "metadata": sandbox.labels,
    })
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct List {
    metadata: Option<String>,
    state: Option<String>,
    template: Option<String>,
    started_after: Option<String>,
    order: Option<String>,
    limit: Option<usize>,
    next_token: Option<String>,
}

/// `GET /v2/sandboxes`
pub(super) async fn list(State(shared): State<Shared>, Query(list): Query<List>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let labels = list.metadata.as_deref().map(labels).unwrap_or_default();
    let wanted = list.state.as_deref().unwrap_or("running,paused");
    let is_wanted = |sandbox: &SandboxRecord| {
        wanted.split(',').any(|state| state == if sandbox.paused { "paused" } else { "running" })
    };
    if list.started_after.is_some() {
        return absent_response("lists by start time (`started_after`)");
    }
    let mut found = shared.registry.list(&labels).await;
    match list.order.as_deref() {
        Some("asc") => found.sort_by_key(|(_, sandbox)| sandbox.created_at),
        Some("desc") => found.sort_by_key(|(_, sandbox)| std::cmp::Reverse(sandbox.created_at)),
        _ => {}
    }
    if let Some(last) = &list.next_token {
        let behind = found.iter().position(|(id, _)| id == last).map_or(0, |at| at + 1);
        found.drain(..behind);
    }
    let has_template = |sandbox: &SandboxRecord| {
        list.template.as_ref().is_none_or(|wanted| sandbox.metadata.get("template") == Some(wanted))
    };
    found.retain(|(_, sandbox)| is_wanted(sandbox) && has_template(sandbox));
    let limit = list.limit.unwrap_or(PAGE).clamp(1, PAGE);
    let more = found.len() > limit;
    found.truncate(limit);
    let entries: Vec<Value> = found.iter().map(|(id, sandbox)| entry(id, sandbox)).collect();
    let next = found.last().filter(|_| more).map(|(id, _)| [("x-next-token", id.clone())]);
    match next {
        Some(header) => (header, Json(entries)).into_response(),
        None => Json(entries).into_response(),
    }
}

/// Decodes labels from a query parameter, whose value is itself a query string with escaped names and values.
fn labels(query: &str) -> BTreeMap<String, String> {
    let plain = |text: &str| {
        let once = percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
        percent_encoding::percent_decode_str(&once).decode_utf8_lossy().into_owned()
    };
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (plain(name), plain(value))).collect()
}

impl Shared {
    /// Rejects a request without the right key.
    pub(super) fn authorised(&self, headers: &HeaderMap) -> Result<(), Box<Response>> {
        match headers.get("x-api-key").map(|key| key.as_bytes()) {
            Some(key) if is_same(key, &*self.key) => Ok(()),
            Some(_) => Err(Box::new(error_response(401, "authorization header is malformed or the key is invalid"))),
            None => Err(Box::new(error_response(401, "no credentials found"))),
        }
    }

    fn made_before(&self, attempt: &str) -> Option<String> {
        self.created.lock().get(attempt).cloned()
    }
}
