//! Changes of files below a directory.
//!
//! The real daemon is notified by the kernel. The emulator compares the files with those of the last comparison, so
//! several changes of one file between two comparisons are one event.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::{FileKind, SandboxPath};
use tidebox_remote_adapters::e2b::{Frame, FrameReader};

use super::Shared;
use super::envd::call_error_response;
use super::exec::{last, streamed};
use super::filesystem::{entry, located, missing};
use crate::entries::{self, Attributes};
use crate::registry::SandboxRecord;

/// Levels below the directory in a recursive watch.
const MAX_DEPTH: u32 = 64;

/// Pause between two comparisons of a stream.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Comparisons of a stream between two keepalive events.
const KEEPALIVE: u32 = 300;

/// Watchers by sandbox and id.
pub(crate) type Watchers = BTreeMap<(String, String), Watcher>;

/// Files by path, as of the last comparison.
type Files = BTreeMap<String, Attributes>;

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Watch {
    path: String,
    #[serde(default)]
    recursive: bool,
    #[serde(default)]
    include_entry: bool,
}

/// A watched directory.
#[derive(Clone, Debug)]
pub(crate) struct Watcher {
    directory: SandboxPath,
    watch: Watch,
    files: Files,
}

/// Kind of a change, with its name in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Create,
    Write,
    Remove,
    Rename,
    Chmod,
}

impl Change {
    fn name(self) -> &'static str {
        match self {
            Self::Create => "EVENT_TYPE_CREATE",
            Self::Write => "EVENT_TYPE_WRITE",
            Self::Remove => "EVENT_TYPE_REMOVE",
            Self::Rename => "EVENT_TYPE_RENAME",
            Self::Chmod => "EVENT_TYPE_CHMOD",
        }
    }
}

/// Returns the changes between two comparisons, with the paths that they concern.
fn compare(before: &Files, after: &Files) -> Vec<(Change, String)> {
    let mut changes = Vec::new();
    for (path, old) in before {
        let is_same = after.get(path).is_some_and(|new| new.inode == old.inode);
        if is_same {
            continue;
        }
        let is_elsewhere = after.values().any(|new| new.inode == old.inode && !before.contains_key(&new.path));
        changes.push((if is_elsewhere { Change::Rename } else { Change::Remove }, path.clone()));
    }
    for (path, new) in after {
        match before.get(path).filter(|old| old.inode == new.inode) {
            None => {
                changes.push((Change::Create, path.clone()));
                let is_renamed = before.values().any(|old| old.inode == new.inode);
                if new.kind == FileKind::File && new.size > 0 && !is_renamed {
                    changes.push((Change::Write, path.clone()));
                }
            }
            Some(old) => {
                let is_written = (old.modified, old.size) != (new.modified, new.size);
                if new.kind != FileKind::Directory && is_written {
                    changes.push((Change::Write, path.clone()));
                }
                if old.mode != new.mode {
                    changes.push((Change::Chmod, path.clone()));
                }
            }
        }
    }
    changes
}

impl Watcher {
    async fn start(sandbox: &SandboxRecord, directory: SandboxPath, watch: Watch) -> Result<Self, Box<Response>> {
        match entries::stat(sandbox, &directory).await.map(|info| info.kind) {
            None => return Err(Box::new(missing(&directory))),
            Some(FileKind::File | FileKind::Other) => {
                let message = format!("path {directory} not a directory: {directory}");
                return Err(Box::new(call_error_response(400, "invalid_argument", &message)));
            }
            Some(FileKind::Directory | FileKind::Symlink) => {}
        }
        let mut watcher = Self { directory, watch, files: Files::new() };
        let internal = |error: String| Box::new(call_error_response(500, "internal", &error));
        watcher.files = watcher.list(sandbox).await.map_err(internal)?;
        Ok(watcher)
    }

    async fn list(&self, sandbox: &SandboxRecord) -> Result<Files, String> {
        let depth = if self.watch.recursive { MAX_DEPTH } else { 1 };
        let found = entries::attributes(sandbox, &self.directory, depth).await?;
        // The first entry is the directory itself.
        Ok(found.into_iter().skip(1).map(|file| (file.path.clone(), file)).collect())
    }

    /// Compares the files with those of the last comparison, and returns the events.
    async fn poll(&mut self, sandbox: &SandboxRecord) -> Result<Vec<Value>, String> {
        let after = self.list(sandbox).await?;
        let changes = compare(&self.files, &after);
        let root = self.directory.to_text();
        let describe = |(change, path): &(Change, String)| {
            let name = path.strip_prefix(&*root).unwrap_or(path).trim_start_matches('/');
            let mut event = json!({ "name": name, "type": change.name() });
            if let Some(file) = after.get(path).filter(|_| self.watch.include_entry) {
                event["entry"] = entry(file);
            }
            event
        };
        let events = changes.iter().map(describe).collect();
        self.files = after;
        Ok(events)
    }
}

/// `filesystem.Filesystem/CreateWatcher`
pub(super) async fn create(State(shared): State<Shared>, headers: HeaderMap, Json(watch): Json<Watch>) -> Response {
    let (sandbox, directory) = match located(&shared, &headers, &watch.path).await {
        Ok(located) => located,
        Err(rejected) => return *rejected,
    };
    let sandbox_id = match shared.authorized_sandbox(&headers).await {
        Ok((id, _)) => id,
        Err(rejected) => return *rejected,
    };
    let watcher = match Watcher::start(&sandbox, directory, watch).await {
        Ok(watcher) => watcher,
        Err(rejected) => return *rejected,
    };
    let id: String = std::iter::once('w').chain((0..19).map(|_| fastrand::alphanumeric())).collect();
    shared.watchers.lock().insert((sandbox_id, id.clone()), watcher);
    Json(json!({ "watcherId": id })).into_response()
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WatcherId {
    watcher_id: String,
}

fn no_watcher(id: &str) -> Response {
    call_error_response(404, "not_found", &format!("watcher with id {id} not found"))
}

/// `filesystem.Filesystem/GetWatcherEvents`: the events since the last call.
pub(super) async fn events(
    State(shared): State<Shared>,
    headers: HeaderMap,
    Json(WatcherId { watcher_id }): Json<WatcherId>,
) -> Response {
    let (sandbox_id, sandbox) = match shared.authorized_sandbox(&headers).await {
        Ok(found) => found,
        Err(rejected) => return *rejected,
    };
    let key = (sandbox_id, watcher_id);
    let watcher = shared.watchers.lock().get(&key).cloned();
    let Some(mut watcher) = watcher else { return no_watcher(&key.1) };
    match watcher.poll(&sandbox).await {
        Ok(events) => {
            // It may have been removed in the meantime.
            if let Some(known) = shared.watchers.lock().get_mut(&key) {
                *known = watcher;
            }
            Json(json!({ "events": events })).into_response()
        }
        Err(error) => call_error_response(500, "internal", &error),
    }
}

/// `filesystem.Filesystem/RemoveWatcher`
pub(super) async fn remove(
    State(shared): State<Shared>,
    headers: HeaderMap,
    Json(WatcherId { watcher_id }): Json<WatcherId>,
) -> Response {
    let sandbox_id = match shared.authorized_sandbox(&headers).await {
        Ok((id, _)) => id,
        Err(rejected) => return *rejected,
    };
    match shared.watchers.lock().remove(&(sandbox_id, watcher_id.clone())) {
        Some(_) => Json(json!({})).into_response(),
        None => no_watcher(&watcher_id),
    }
}

/// `filesystem.Filesystem/WatchDir`: a stream of events, until the client disconnects.
pub(super) async fn stream(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let frames = FrameReader::default().push(&body);
    let message = frames.and_then(|frames| frames.into_iter().next()).map(|frame| frame.message);
    let Some(Ok(watch)) = message.map(|message| serde_json::from_slice::<Watch>(&message)) else {
        return streamed(Body::from(last(Some(("invalid_argument", "the message cannot be read")))));
    };
    let (sandbox, directory) = match located(&shared, &headers, &watch.path).await {
        Ok(located) => located,
        Err(rejected) => return *rejected,
    };
    let watcher = match Watcher::start(&sandbox, directory, watch.clone()).await {
        Ok(watcher) => watcher,
        Err(_) => {
            let message = format!("path {} is not a directory", watch.path);
            return streamed(Body::from(last(Some(("not_found", &message)))));
        }
    };
    let started = message_of(json!({ "start": {} }));
    let rest = futures_util::stream::unfold(Some((watcher, sandbox)), |state| async move {
        let (mut watcher, sandbox) = state?;
        for _ in 0..KEEPALIVE {
            match watcher.poll(&sandbox).await {
                Ok(events) if events.is_empty() => tokio::time::sleep(POLL_INTERVAL).await,
                Ok(events) => {
                    let messages: Vec<Bytes> =
                        events.into_iter().map(|event| message_of(json!({ "filesystem": event }))).collect();
                    return Some((Ok(Bytes::from(messages.concat())), Some((watcher, sandbox))));
                }
                Err(error) => return Some((Ok::<_, Infallible>(last(Some(("unavailable", &error)))), None)),
            }
        }
        Some((Ok(message_of(json!({ "keepalive": {} }))), Some((watcher, sandbox))))
    });
    let all = futures_util::StreamExt::chain(futures_util::stream::iter([Ok(started)]), rest);
    streamed(Body::from_stream(all))
}

fn message_of(message: Value) -> Bytes {
    Bytes::from(Frame::write(0, message.to_string().as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn files(entries: &[(&str, u64, u64, u32)]) -> Files {
        let file = |(path, inode, size, mode): &(&str, u64, u64, u32)| Attributes {
            path: (*path).to_owned(),
            kind: FileKind::File,
            mode: *mode,
            size: *size,
            modified: SystemTime::UNIX_EPOCH,
            inode: *inode,
            uid: 1000,
            target: None,
        };
        entries.iter().map(|entry| (entry.0.to_owned(), file(entry))).collect()
    }

    #[test]
    fn changes_are_found_between_two_comparisons() {
        let before = files(&[("/a", 1, 0, 0o644), ("/b", 2, 1, 0o644), ("/c", 3, 1, 0o644)]);
        let after = files(&[("/a", 1, 5, 0o755), ("/d", 2, 1, 0o644), ("/e", 4, 0, 0o644), ("/f", 5, 9, 0o644)]);
        let found = compare(&before, &after);
        let expected = [
            (Change::Rename, "/b"),
            (Change::Remove, "/c"),
            (Change::Write, "/a"),
            (Change::Chmod, "/a"),
            (Change::Create, "/d"),
            (Change::Create, "/e"),
            (Change::Create, "/f"),
            (Change::Write, "/f"),
        ];
        assert_eq!(found, expected.map(|(change, path)| (change, path.to_owned())));
        assert_eq!(compare(&after, &after), []);
    }
}
