//! Sandboxes: made, found, listed and ended.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use tidebox_core::ExecuteRequest;
use tidebox_core::shell_backend::quote;
use tidebox_remote_adapters::modal::messages::*;
use tidebox_remote_adapters::modal::wire;

use super::Shared;
use super::answer::{Answered, code, read, refuse, unary};
use crate::house::Room;

/// Entries on a page.
const PAGE: usize = 100;

/// Life of a sandbox whose maker names none.
const DEFAULT_SECONDS: u32 = 300;

/// The longest that one call waits for an end.
const LONGEST_WAIT: Duration = Duration::from_secs(55);

/// How a sandbox ended.
const TERMINATED: i32 = 3;
const TIMED_OUT: i32 = 4;

/// The name of what runs a sandbox.
pub(super) fn task_of(sandbox_id: &str) -> String {
    sandbox_id.replacen("sb-", "ta-", 1)
}

/// The sandbox that a task runs.
pub(super) fn sandbox_of(task_id: &str) -> String {
    task_id.replacen("ta-", "sb-", 1)
}

impl Shared {
    fn access(&self, room: &Room) -> RouterAccess {
        RouterAccess { jwt: room.token.clone(), url: self.url.to_string() }
    }

    /// How a sandbox ended, if it did; a refusal when there never was one of this name.
    fn end_of(&self, sandbox_id: &str) -> Answered<GenericResult> {
        let known = self.known();
        if !known.sandboxes.contains(sandbox_id) {
            return Err(refuse(code::NOT_FOUND, format!("Sandbox '{sandbox_id}' not found")));
        }
        let status = known.ended.get(sandbox_id).copied().unwrap_or(TIMED_OUT);
        // Whatever ended it, its processes were killed.
        Ok(GenericResult { status, exitcode: 137, ..GenericResult::default() })
    }
}

/// `SandboxCreateV2`
pub(super) async fn create(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    unary(made(&shared, &headers, &body).await)
}

async fn made(shared: &Shared, headers: &HeaderMap, body: &Bytes) -> Answered<SandboxCreateV2Response> {
    shared.authorised_with_token(headers)?;
    let asked: SandboxCreateV2Request = read(body)?;
    let definition = asked.definition.unwrap_or_default();
    let app = shared.known().apps.iter().find(|(_, id)| **id == asked.app_id).map(|(name, _)| name.clone());
    let app = app.ok_or_else(|| refuse(code::NOT_FOUND, format!("App '{}' not found", asked.app_id)))?;
    if !shared.has_image(&definition.image_id) {
        return Err(refuse(code::NOT_FOUND, format!("Image '{}' not found", definition.image_id)));
    }
    let attempt = headers.get("x-idempotency-key").and_then(|key| key.to_str().ok()).map(str::to_owned);
    let before = attempt.as_ref().and_then(|attempt| shared.known().created.get(attempt).cloned());
    if let Some(sandbox_id) = before
        && let Some(room) = shared.house.find(&sandbox_id).await
    {
        return Ok(created(shared, sandbox_id, &room));
    }
    let random: String = (0..24).map(|_| fastrand::alphanumeric()).collect();
    // The last letter says what kind of sandbox it is, and the length that it is none of the first kind.
    let sandbox_id = format!("sb-{random}V");
    let labels = asked.tags.into_iter().map(|tag| (tag.tag_name, tag.tag_value)).collect();
    let env = variables(asked.secret_sources);
    // Until the new one has its name, nobody else looks for it.
    let _naming = shared.naming.lock().await;
    if let Some(name) = &definition.name
        && in_app(shared, &app, name).await.is_some()
    {
        return Err(refuse(code::ALREADY_EXISTS, format!("Sandbox with name '{name}' already exists")));
    }
    let opened = shared.house.open(sandbox_id.clone(), labels, env.into_iter().collect()).await;
    let room = opened.map_err(|error| refuse(code::INTERNAL, error.to_string()))?;
    if let Some(workdir) = &definition.workdir {
        // Where it cannot be made, commands that begin there say so.
        let _ = room.sandbox.execute(ExecuteRequest::new(format!("mkdir -p -- {}", quote(workdir)))).await;
    }
    let seconds = if definition.timeout_secs == 0 { DEFAULT_SECONDS } else { definition.timeout_secs };
    shared.house.change(&sandbox_id, |room| {
        room.notes.insert("app".to_owned(), app);
        room.notes.extend(definition.name.map(|name| ("name".to_owned(), name)));
        room.notes.extend(definition.workdir.map(|workdir| ("workdir".to_owned(), workdir)));
        room.live(Duration::from_secs(seconds.into()));
    });
    let mut known = shared.known();
    known.sandboxes.insert(sandbox_id.clone());
    if let Some(attempt) = attempt {
        known.created.insert(attempt, sandbox_id.clone());
    }
    drop(known);
    Ok(created(shared, sandbox_id, &room))
}

fn created(shared: &Shared, sandbox_id: String, room: &Room) -> SandboxCreateV2Response {
    SandboxCreateV2Response {
        task_id: task_of(&sandbox_id),
        sandbox_id,
        command_router_access: Some(shared.access(room)),
        sandbox_token: String::new(),
    }
}

/// The variables of all sources.
pub(super) fn variables(sources: Vec<SecretSource>) -> BTreeMap<String, String> {
    sources.into_iter().filter_map(|source| source.env).flat_map(|env| env.contents).collect()
}

/// The running sandbox of an app with this name.
async fn in_app(shared: &Shared, app: &str, name: &str) -> Option<String> {
    let all = shared.house.list(&BTreeMap::new()).await;
    let note = |room: &Room, note: &str, value: &str| room.notes.get(note).is_some_and(|noted| noted == value);
    all.into_iter().find(|(_, room)| note(room, "app", app) && note(room, "name", name)).map(|(id, _)| id)
}

/// `SandboxGetFromNameV2`
pub(super) async fn by_name(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let answer = async {
        shared.authorised_with_token(&headers)?;
        let asked: SandboxGetFromNameRequest = read(&body)?;
        let sandbox_id = in_app(&shared, &asked.app_name, &asked.sandbox_name).await;
        let missing = || refuse(code::NOT_FOUND, format!("Sandbox '{}' not found", asked.sandbox_name));
        Ok(SandboxGetFromNameResponse { sandbox_id: sandbox_id.ok_or_else(missing)? })
    };
    unary(answer.await)
}

/// `SandboxGetFromName`: of the older kind there are none.
pub(super) async fn by_older_name(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let answer = || {
        shared.authorised(&headers)?;
        let asked: SandboxGetFromNameRequest = read(&body)?;
        Err::<Empty, _>(refuse(code::NOT_FOUND, format!("Sandbox '{}' not found", asked.sandbox_name)))
    };
    std::future::ready(unary(answer())).await
}

/// `SandboxGetTaskIdV2`
pub(super) async fn task(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let answer = async {
        shared.authorised_with_token(&headers)?;
        let asked: SandboxRequest = read(&body)?;
        let (task_id, task_result) = match shared.house.find(&asked.sandbox_id).await {
            Some(_) => (Some(task_of(&asked.sandbox_id)), None),
            None => (None, Some(shared.end_of(&asked.sandbox_id)?)),
        };
        Ok(SandboxGetTaskIdResponse { task_id, task_result })
    };
    unary(answer.await)
}

/// `SandboxGetCommandRouterAccess`
pub(super) async fn router(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let answer = async {
        shared.authorised_with_token(&headers)?;
        let asked: RouterAccessRequest = read(&body)?;
        let id = if asked.task_id.is_empty() { asked.sandbox_id } else { sandbox_of(&asked.task_id) };
        match shared.house.find(&id).await {
            Some(room) => Ok(shared.access(&room)),
            None => {
                shared.end_of(&id)?;
                Err(refuse(code::FAILED_PRECONDITION, format!("Sandbox '{id}' has finished")))
            }
        }
    };
    unary(answer.await)
}

/// `SandboxListV2`, the newest first.
pub(super) async fn list(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let answer = async {
        shared.authorised_with_token(&headers)?;
        let asked: SandboxListRequest = read(&body)?;
        let labels = asked.tags.into_iter().map(|tag| (tag.tag_name, tag.tag_value)).collect();
        let app = shared.known().apps.iter().find(|(_, id)| **id == asked.app_id).map(|(name, _)| name.clone());
        let is_asked_for = |room: &Room| {
            (asked.app_id.is_empty() || room.notes.get("app") == app.as_ref())
                && (asked.before_timestamp == 0.0 || shared.made_at(room) < asked.before_timestamp)
        };
        let mut found = shared.house.list(&labels).await;
        found.retain(|(_, room)| is_asked_for(room));
        found.sort_by_key(|(_, room)| std::cmp::Reverse(room.made));
        found.truncate(PAGE);
        Ok(SandboxListResponse { sandboxes: found.into_iter().map(|(id, room)| info(&shared, id, &room)).collect() })
    };
    unary(answer.await)
}

fn info(shared: &Shared, id: String, room: &Room) -> SandboxInfo {
    SandboxInfo {
        created_at: shared.made_at(room),
        task_info: Some(TaskInfo { id: task_of(&id), result: None }),
        app_id: room.notes.get("app").and_then(|app| shared.known().apps.get(app).cloned()).unwrap_or_default(),
        tags: wire::tags(&room.labels),
        name: room.notes.get("name").cloned().unwrap_or_default(),
        id,
    }
}

/// `SandboxWaitV2`
pub(super) async fn wait(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let answer = async {
        shared.authorised_with_token(&headers)?;
        let asked: SandboxWaitRequest = read(&body)?;
        let time = Duration::try_from_secs_f32(asked.timeout).unwrap_or_default().min(LONGEST_WAIT);
        let end = Instant::now() + time;
        while shared.house.find(&asked.sandbox_id).await.is_some() {
            if Instant::now() >= end {
                return Ok(SandboxWaitResponse { result: None });
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(SandboxWaitResponse { result: Some(shared.end_of(&asked.sandbox_id)?) })
    };
    unary(answer.await)
}

/// `SandboxTerminateV2`
pub(super) async fn terminate(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let answer = async {
        shared.authorised_with_token(&headers)?;
        let asked: SandboxRequest = read(&body)?;
        if shared.house.close(&asked.sandbox_id).await {
            let mut known = shared.known();
            known.commands.retain(|(sandbox, _), _| *sandbox != asked.sandbox_id);
            known.ended.insert(asked.sandbox_id, TERMINATED);
            return Ok(SandboxTerminateResponse { existing_result: None });
        }
        Ok(SandboxTerminateResponse { existing_result: Some(shared.end_of(&asked.sandbox_id)?) })
    };
    unary(answer.await)
}

/// `SandboxTagsGetV2`
pub(super) async fn tags(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let answer = async {
        shared.authorised_with_token(&headers)?;
        let asked: SandboxRequest = read(&body)?;
        let missing = || refuse(code::NOT_FOUND, format!("Sandbox '{}' not found", asked.sandbox_id));
        let room = shared.house.find(&asked.sandbox_id).await.ok_or_else(missing)?;
        Ok(SandboxTagsResponse { tags: wire::tags(&room.labels) })
    };
    unary(answer.await)
}

/// `SandboxTagsSetV2`: all of them anew.
pub(super) async fn set_tags(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let answer = || {
        shared.authorised_with_token(&headers)?;
        let asked: SandboxTagsSetRequest = read(&body)?;
        let labels = asked.tags.into_iter().map(|tag| (tag.tag_name, tag.tag_value)).collect();
        if shared.house.change(&asked.sandbox_id, |room| room.labels = labels) {
            return Ok(Empty {});
        }
        Err(refuse(code::NOT_FOUND, format!("Sandbox '{}' not found", asked.sandbox_id)))
    };
    std::future::ready(unary(answer())).await
}
