//! Command output as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Deserialize;
use serde_json::json;

use super::Shared;
use super::executions::{Execution, Progress, find_execution};

/// Maximum bytes of output in one event.
const CHUNK_BYTES: usize = 64 << 10;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct From {
    offset: Option<String>,
}

/// `GET /v1/devboxes/{id}/executions/{execution}/stream_stdout_updates`
pub(super) async fn stdout(
    State(shared): State<Shared>,
    Path((devbox, id)): Path<(String, String)>,
    Query(from): Query<From>,
    headers: HeaderMap,
) -> Response {
    match find_execution(&shared, &headers, &devbox, &id) {
        Ok(execution) => streamed(execution, from, |progress| &progress.stdout),
        Err(rejected) => *rejected,
    }
}

/// `GET /v1/devboxes/{id}/executions/{execution}/stream_stderr_updates`
pub(super) async fn stderr(
    State(shared): State<Shared>,
    Path((devbox, id)): Path<(String, String)>,
    Query(from): Query<From>,
    headers: HeaderMap,
) -> Response {
    match find_execution(&shared, &headers, &devbox, &id) {
        Ok(execution) => streamed(execution, from, |progress| &progress.stderr),
        Err(rejected) => *rejected,
    }
}

/// Selects a stream of a command.
type Which = fn(&Progress) -> &Vec<u8>;

fn streamed(execution: Arc<Execution>, from: From, which: Which) -> Response {
    let from = from.offset.and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
    let events = stream::unfold((execution, from), move |(execution, at)| async move {
        let (event, next) = next(&execution, at, which).await?;
        Some((Ok::<_, Infallible>(event), (execution, next)))
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(events)).into_response()
}

/// Returns the next event and its end offset; `None` at the end.
async fn next(execution: &Execution, at: usize, which: Which) -> Option<(Bytes, usize)> {
    loop {
        let changed = execution.changed.notified();
        let mut changed = std::pin::pin!(changed);
        changed.as_mut().enable();
        {
            let progress = execution.progress.lock();
            let rest = which(&progress).get(at..).unwrap_or_default();
            let chunk = complete_utf8(rest.get(..CHUNK_BYTES).unwrap_or(rest), progress.is_over);
            if !chunk.is_empty() {
                let update = json!({ "output": String::from_utf8_lossy(chunk), "offset": at });
                return Some((Bytes::from(format!("data: {update}\n\n")), at + chunk.len()));
            }
            if progress.is_over {
                return None;
            }
        }
        changed.await;
    }
}

/// Removes an incomplete UTF-8 character at the end.
fn complete_utf8(bytes: &[u8], is_over: bool) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() && !(is_over && error.valid_up_to() == 0) => {
            bytes.get(..error.valid_up_to()).unwrap_or_default()
        }
        _ => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::complete_utf8;

    #[test]
    fn a_character_is_sent_when_complete() {
        assert_eq!(complete_utf8(b"a\xc3", false), b"a");
        assert_eq!(complete_utf8(b"\xc3\xa9", false), "é".as_bytes());
        assert_eq!(complete_utf8(b"\xffa", false), b"\xffa", "invalid UTF-8 is passed on");
        assert_eq!(complete_utf8(b"\xc3", false), b"");
        assert_eq!(complete_utf8(b"\xc3", true), b"\xc3", "no more bytes follow");
    }
}
