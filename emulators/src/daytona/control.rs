//! Control plane routes.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tidebox_core::ExecuteRequest;
use tidebox_core::shell_backend::quote;

use super::previews::new_token;
use super::snapshots::Origin;
use super::{HOME, Shared, USER, absent_response, error_response};
use crate::entries::{timestamp_millis, wall_clock};
use crate::registry::{FileSnapshot, NewSandbox, SandboxRecord};
use crate::tenants::{QUOTA_STATUS, creation_status};

/// Default and maximum number of entries per page.
const PAGE: usize = 100;
const MAX_PAGE: usize = 200;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Create {
    name: Option<String>,
    snapshot: Option<String>,
    env: BTreeMap<String, String>,
    labels: BTreeMap<String, String>,
    ttl_minutes: Option<u64>,
    /// Fields that are only echoed.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Fields of a create request that are echoed in the sandbox's description.
const ECHOED_FIELDS: [&str; 13] = [
    "user",
    "public",
    "networkBlockAll",
    "networkAllowList",
    "domainAllowList",
    "target",
    "cpu",
    "memory",
    "disk",
    "autoStopInterval",
    "autoArchiveInterval",
    "autoDeleteInterval",
    "autoPauseInterval",
];

/// `GET /config`, without a key: addresses of a deployment.
pub(super) async fn config(State(shared): State<Shared>) -> Response {
    let url = &*shared.toolbox_url;
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "oidc": { "provider": "", "issuer": "", "clientId": "", "audience": "" },
        "linkedAccountsEnabled": false,
        "announcements": {},
        "proxyTemplateUrl": url,
        "proxyToolboxUrl": url,
        "defaultSnapshot": "default",
        "dashboardUrl": "",
        "maxAutoArchiveInterval": 43200,
        "maintananceMode": false,
        "environment": "tidebox",
    }))
    .into_response()
}

/// `POST /sandbox`
pub(super) async fn create(State(shared): State<Shared>, headers: HeaderMap, Json(create): Json<Create>) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    if let Some(wrong) = validate_create(&create) {
        return error_response(400, "BAD_REQUEST", wrong);
    }
    if let Some(instruction) = build_instruction(&create.rest) {
        return absent_response(&format!("builds of images: the instruction {instruction} cannot be executed"));
    }
    let files = match create.snapshot.as_deref().map(|snapshot| shared.origin(snapshot)) {
        None | Some(Origin::Image) => None,
        Some(Origin::Files(files)) => Some(files),
        Some(Origin::Deleted) => {
            let snapshot = create.snapshot.unwrap_or_default();
            return error_response(400, "BAD_REQUEST", &format!("Snapshot {snapshot} not found"));
        }
        Some(Origin::Inactive) => {
            let snapshot = create.snapshot.unwrap_or_default();
            return error_response(400, "BAD_REQUEST", &format!("Snapshot {snapshot} is inactive"));
        }
    };
    match shared.start_sandbox(create, files).await {
        Ok(id) => shared.described(&id).await,
        Err(rejected) => *rejected,
    }
}

/// Returns the first instruction of a Dockerfile that needs a build. Only the base image is named without a build.
pub(super) fn build_instruction(fields: &Map<String, Value>) -> Option<String> {
    let text = fields.get("buildInfo")?.get("dockerfileContent")?.as_str()?;
    let instructions = text.lines().filter_map(|line| line.split_whitespace().next());
    let mut others = instructions.filter(|word| !word.starts_with('#') && !word.eq_ignore_ascii_case("from"));
    others.next().map(str::to_owned)
}

impl Shared {
    /// Creates a sandbox and returns its id.
    async fn start_sandbox(&self, create: Create, files: Option<FileSnapshot>) -> Result<String, Box<Response>> {
        let drawn = self.registry.draw_id(|| Ok(uuid()));
        let id = drawn.map_err(|error| Box::new(error_response(503, "UNAVAILABLE", &error.to_string())))?;
        let name = create.name.clone().unwrap_or_else(|| id.clone());
        let preview_token = new_token()?;
        self.remove_stale_names().await;
        {
            let mut names = self.names.lock();
            if names.contains_key(&name) {
                let message = format!("Sandbox with name {name} already exists");
                return Err(Box::new(error_response(409, "CONFLICT", &message)));
            }
            names.insert(name.clone(), (id.clone(), false));
        }
        let env = create.env.clone().into_iter().collect();
        let new = NewSandbox { env, user: Some(USER), snapshot: files, ..NewSandbox::default() };
        let sandbox = match self.registry.create_from(id.clone(), create.labels, new).await {
            Ok(sandbox) => sandbox,
            Err(error) => {
                self.names.lock().remove(&name);
                let status = creation_status(&error);
                let code = if status == QUOTA_STATUS { "TOO_MANY_REQUESTS" } else { "INTERNAL" };
                return Err(Box::new(error_response(status, code, &error.to_string())));
            }
        };
        // Daytona's snapshots have this directory; if it cannot be created, commands that start in it fail with an
        // error.
        let _ = sandbox.sandbox.execute(ExecuteRequest::new(format!("mkdir -p {}", quote(HOME)))).await;
        self.names.lock().insert(name.clone(), (id.clone(), true));
        self.registry.update(&id, |sandbox| {
            sandbox.metadata.insert("name".to_owned(), name);
            sandbox.set_preview_token(preview_token);
            sandbox.metadata.insert("state".to_owned(), "creating".to_owned());
            sandbox.metadata.insert("env".to_owned(), json!(create.env).to_string());
            sandbox.metadata.insert("snapshot".to_owned(), create.snapshot.unwrap_or_else(|| "default".to_owned()));
            for (field, value) in create.rest.iter().filter(|(field, _)| ECHOED_FIELDS.contains(&field.as_str())) {
                sandbox.metadata.insert(field.clone(), value.to_string());
            }
            if let Some(minutes) = create.ttl_minutes.filter(|minutes| *minutes > 0) {
                sandbox.set_ttl(Duration::from_secs(minutes.saturating_mul(60)));
            }
            sandbox.note_change();
        });
        Ok(id)
    }
}

impl SandboxRecord {
    /// Notes the time of a change.
    pub(super) fn note_change(&mut self) {
        self.metadata.insert("updatedAt".to_owned(), timestamp_millis(SystemTime::now()));
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Fork {
    name: Option<String>,
}

/// `POST /sandbox/{id}/fork`: a copy of the files. Processes are not copied.
pub(super) async fn fork(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(fork): Json<Fork>,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let Some((id, source)) = shared.resolve(&id).await else { return missing(&id) };
    let files = match shared.registry.take_snapshot(&id) {
        Ok(files) => files,
        Err(error) => return error_response(500, "INTERNAL", &error.to_string()),
    };
    let note = |name: &str| source.metadata.get(name).cloned();
    let parsed = |field: &str| note(field).and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let create = Create {
        name: fork.name,
        snapshot: note("snapshot"),
        env: note("env").and_then(|env| serde_json::from_str(&env).ok()).unwrap_or_default(),
        labels: source.labels.clone(),
        ttl_minutes: None,
        rest: ECHOED_FIELDS.iter().filter_map(|field| Some(((*field).to_owned(), parsed(field)?))).collect(),
    };
    match shared.start_sandbox(create, Some(files)).await {
        Ok(id) => shared.described(&id).await,
        Err(rejected) => *rejected,
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Resize {
    cpu: Option<u64>,
    memory: Option<u64>,
    disk: Option<u64>,
}

/// `POST /sandbox/{id}/resize`: changes the reported quotas, which the emulator does not enforce.
pub(super) async fn resize(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(resize): Json<Resize>,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let Some((id, sandbox)) = shared.resolve(&id).await else { return missing(&id) };
    let described = describe(&shared, &id, &sandbox);
    let bad = |message: &str| error_response(400, "BAD_REQUEST", message);
    let state = sandbox.metadata.get("state").map_or("started", String::as_str);
    let asked = [("cpu", resize.cpu), ("memory", resize.memory), ("disk", resize.disk)];
    if asked.iter().all(|(_, wanted)| wanted.is_none()) {
        return bad("At least one of cpu, memory and disk must be provided");
    }
    for (field, wanted) in asked {
        let (Some(wanted), Some(now)) = (wanted, described[field].as_u64()) else { continue };
        if field == "disk" && state == "started" {
            return bad("Disk resize requires a stopped sandbox");
        }
        if wanted == 0 || wanted < now && (field == "disk" || state == "started") {
            return bad(&format!("Sandbox {field} cannot be decreased from {now} to {wanted}"));
        }
    }
    shared.registry.update(&id, |sandbox| {
        for (field, wanted) in asked {
            if let Some(wanted) = wanted {
                sandbox.metadata.insert(field.to_owned(), wanted.to_string());
            }
        }
        sandbox.note_change();
    });
    shared.described(&id).await
}

/// `POST /sandbox/{id}/last-activity`. Automatic stops are not performed.
pub(super) async fn refresh_activity(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let Some((id, _)) = shared.resolve(&id).await else { return missing(&id) };
    shared.registry.update(&id, SandboxRecord::note_change);
    StatusCode::CREATED.into_response()
}

/// Returns the error message for an invalid create request.
fn validate_create(create: &Create) -> Option<&'static str> {
    let sized =
        ["cpu", "memory", "disk", "gpu"].iter().any(|field| create.rest.get(*field).is_some_and(Value::is_number));
    if create.snapshot.is_some() && sized {
        return Some("Cannot specify Sandbox resources when using a snapshot");
    }
    if create.snapshot.is_some() && create.rest.get("buildInfo").is_some_and(Value::is_object) {
        return Some("Cannot specify both a snapshot and a build info entry");
    }
    None
}

/// Returns a random version 4 UUID.
pub(super) fn uuid() -> String {
    let bits = fastrand::u128(..) & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
    let digits = format!("{bits:032x}");
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default().to_owned();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

fn describe(shared: &Shared, id: &str, sandbox: &SandboxRecord) -> Value {
    let note = |name: &str| sandbox.metadata.get(name).cloned();
    let created = timestamp_millis(wall_clock(sandbox.created_at));
    let mut described = json!({
        "id": id,
        "organizationId": "00000000-0000-4000-8000-000000000000",
        "name": note("name").unwrap_or_else(|| id.to_owned()),
        "snapshot": note("snapshot"),
        "user": USER.name,
        "env": note("env").and_then(|env| serde_json::from_str::<Value>(&env).ok()).unwrap_or_else(|| json!({})),
        "labels": sandbox.labels,
        "public": false,
        "networkBlockAll": false,
        "kvm": false,
        "target": "us",
        "cpu": 1,
        "gpu": 0,
        "memory": 1,
        "disk": 3,
        "state": note("state").unwrap_or_else(|| "started".to_owned()),
        "autoStopInterval": 15,
        "autoArchiveInterval": 10080,
        "autoDeleteInterval": -1,
        "volumes": [],
        "toolboxProxyUrl": &*shared.toolbox_url,
        "sandboxClass": "container",
        "runnerId": "emulator",
        "createdAt": created,
        "updatedAt": note("updatedAt").unwrap_or_else(|| created.clone()),
        "lastActivityAt": note("updatedAt").unwrap_or_else(|| created.clone()),
        "autoDestroyAt": sandbox.expires_at.map(|end| timestamp_millis(wall_clock(end))),
    });
    for field in ECHOED_FIELDS {
        if let Some(value) = note(field).and_then(|text| serde_json::from_str::<Value>(&text).ok()) {
            described[field] = value;
        }
    }
    described
}

impl Shared {
    /// Returns the sandbox with this id or name, and its id.
    pub(super) async fn resolve(&self, given: &str) -> Option<(String, SandboxRecord)> {
        if let Some(sandbox) = self.registry.find(given).await {
            return Some((given.to_owned(), sandbox));
        }
        let named = self.names.lock().get(given).map(|(id, _)| id.clone());
        let id = match named {
            Some(id) => id,
            None if self.registry.has_store() => self.find_by_name(given).await?,
            None => return None,
        };
        let sandbox = self.registry.find(&id).await?;
        Some((id, sandbox))
    }

    /// Returns the id of a saved sandbox, whose name this program may not have seen.
    async fn find_by_name(&self, given: &str) -> Option<String> {
        let all = self.registry.list(&BTreeMap::new()).await;
        let is_named =
            |(_, sandbox): &(String, SandboxRecord)| sandbox.metadata.get("name").is_some_and(|n| n == given);
        all.into_iter().find(is_named).map(|(id, _)| id)
    }

    /// Removes the names of deleted sandboxes. A sandbox being created has no record yet.
    async fn remove_stale_names(&self) {
        let loaded = self.registry.list_loaded(&BTreeMap::new()).await;
        let there: Vec<String> = loaded.into_iter().map(|(id, _)| id).collect();
        let mut names = self.names.lock();
        names.retain(|_, (id, is_made)| !*is_made || there.contains(id));
    }

    pub(super) async fn described(&self, id: &str) -> Response {
        match self.registry.find(id).await {
            Some(sandbox) => Json(describe(self, id, &sandbox)).into_response(),
            None => missing(id),
        }
    }
}

pub(super) fn missing(id: &str) -> Response {
    error_response(404, "NOT_FOUND", &format!("Sandbox with ID or name {id} not found"))
}

/// Advances a transitional state.
fn advance_state(sandbox: &mut SandboxRecord) {
    let next = match sandbox.metadata.get("state").map(String::as_str) {
        Some("creating" | "starting") => "started",
        Some("stopping") => "stopped",
        Some("archiving") => "archived",
        Some("pausing") => "paused",
        _ => return,
    };
    sandbox.metadata.insert("state".to_owned(), next.to_owned());
}

/// `GET /sandbox/{id}`: each request advances the state.
pub(super) async fn info(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let deleting = shared.deleting.lock().remove(&id);
    if let Some(deleting) = deleting {
        return Json(deleting).into_response();
    }
    let Some((id, _)) = shared.resolve(&id).await else { return missing(&id) };
    shared.registry.update(&id, advance_state);
    shared.described(&id).await
}

/// `DELETE /sandbox/{id}`
pub(super) async fn delete(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let Some((id, sandbox)) = shared.resolve(&id).await else { return missing(&id) };
    let mut described = describe(&shared, &id, &sandbox);
    described["state"] = json!("destroying");
    shared.registry.close(&id).await;
    shared.names.lock().retain(|_, (named, _)| *named != id);
    shared.contexts.lock().retain(|(sandbox, _), _| *sandbox != id);
    shared.deleting.lock().insert(id, described.clone());
    Json(described).into_response()
}

/// `POST /sandbox/{id}/start`, and `stop`, `pause`, `archive`, `recover`.
pub(super) async fn change_state(
    State(shared): State<Shared>,
    Path((id, verb)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let Some((id, sandbox)) = shared.resolve(&id).await else { return missing(&id) };
    let state = sandbox.metadata.get("state").map_or("started", String::as_str);
    let asleep = matches!(state, "stopped" | "archived" | "paused");
    let next = match verb.as_str() {
        "start" if asleep => "starting",
        "start" | "recover" => {
            return error_response(400, "BAD_REQUEST", &format!("Sandbox is not in valid state: {state}"));
        }
        "stop" if state == "started" => "stopping",
        "pause" if state == "started" => "pausing",
        "archive" if state == "stopped" => "archiving",
        "stop" | "pause" | "archive" => {
            return error_response(400, "BAD_REQUEST", &format!("Sandbox is not in valid state: {state}"));
        }
        unknown => return super::absent_call(&format!("/sandbox/{id}/{unknown}")),
    };
    let preview_token = match new_token() {
        Ok(token) => token,
        Err(rejected) => return *rejected,
    };
    shared.registry.update(&id, |sandbox| {
        sandbox.paused = next != "starting";
        if !sandbox.paused {
            sandbox.set_preview_token(preview_token);
        }
        sandbox.metadata.insert("state".to_owned(), next.to_owned());
        sandbox.note_change();
    });
    shared.described(&id).await
}

/// `POST /sandbox/{id}/autostop/{minutes}` and similar intervals.
pub(super) async fn set_interval(
    State(shared): State<Shared>,
    Path((id, verb, number)): Path<(String, String, String)>,
    headers: HeaderMap,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let Some((id, _)) = shared.resolve(&id).await else { return missing(&id) };
    let field = match verb.as_str() {
        "autostop" => "autoStopInterval",
        "autoarchive" => "autoArchiveInterval",
        "autodelete" => "autoDeleteInterval",
        "autopause" => "autoPauseInterval",
        "public" => "public",
        "ttl" => "ttl",
        unknown => return super::absent_call(&format!("/sandbox/{id}/{unknown}/{number}")),
    };
    let fits = if field == "public" { number.parse::<bool>().is_ok() } else { number.parse::<i64>().is_ok() };
    if !fits {
        return error_response(400, "BAD_REQUEST", "Validation failed (numeric string is expected)");
    }
    shared.registry.update(&id, |sandbox| match (field, number.parse::<u64>()) {
        ("ttl", Ok(0)) => sandbox.expires_at = None,
        ("ttl", Ok(minutes)) => sandbox.set_ttl(Duration::from_secs(minutes.saturating_mul(60))),
        ("ttl", Err(_)) => {}
        _ => drop(sandbox.metadata.insert(field.to_owned(), number.clone())),
    });
    shared.described(&id).await
}

#[derive(Debug, Deserialize)]
pub(super) struct Labels {
    labels: BTreeMap<String, String>,
}

/// `PUT /sandbox/{id}/labels`
pub(super) async fn set_labels(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(Labels { labels }): Json<Labels>,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let Some((id, _)) = shared.resolve(&id).await else { return missing(&id) };
    shared.registry.update(&id, |sandbox| sandbox.labels.clone_from(&labels));
    Json(json!({ "labels": labels })).into_response()
}

/// `GET /sandbox/{id}/toolbox-proxy-url`
pub(super) async fn toolbox_proxy_url(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    match shared.resolve(&id).await {
        Some(_) => Json(json!({ "url": &*shared.toolbox_url })).into_response(),
        None => missing(&id),
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct List {
    labels: Option<String>,
    states: Option<String>,
    limit: Option<usize>,
    cursor: Option<String>,
}

/// `GET /sandbox`
pub(super) async fn list(State(shared): State<Shared>, Query(list): Query<List>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let labels = match list.labels.as_deref().map(serde_json::from_str) {
        None => BTreeMap::new(),
        Some(Ok(labels)) => labels,
        Some(Err(_)) => return error_response(400, "BAD_REQUEST", "Invalid labels JSON format"),
    };
    let mut found = shared.registry.list(&labels).await;
    let behind = |id: &str| list.cursor.as_deref().is_none_or(|last| id > last);
    let described = |(id, sandbox): &(String, SandboxRecord)| describe(&shared, id, sandbox);
    found.retain(|(id, sandbox)| {
        let state = sandbox.metadata.get("state").map_or("started", String::as_str);
        behind(id) && list.states.as_deref().is_none_or(|states| states.split(',').any(|wanted| wanted == state))
    });
    let limit = list.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|(id, _)| id.clone());
    let items: Vec<Value> = found.iter().map(described).collect();
    Json(json!({ "items": items, "nextCursor": next })).into_response()
}
