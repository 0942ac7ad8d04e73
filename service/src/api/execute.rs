//! Running commands, with their output as one response or as a stream of events.

use std::convert::Infallible;
use std::pin::pin;
use std::str::FromStr as _;

use axum::Json;
use axum::extract::Path;
use axum::extract::rejection::JsonRejection;
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use futures_util::stream::{self, Stream};
use serde_json::{Value, json};
use tidebox_core::{
    Background, Error, ExecuteRequest, ExecuteResponse, OutputChunk, OutputOverflow, OutputStream, ShellMode,
};
use tidebox_emulators::SandboxRecord;
use tokio::sync::mpsc;

use super::auth::Caller;
use super::error::{ApiError, ApiResult};
use super::openapi::{Api, Operation};
use super::values::{Execute, ExecuteValue, path, seconds};

/// Media type of the stream.
const EVENTS: &str = "text/event-stream";

pub(super) fn add(api: &mut Api) {
    let description = "The result. With `Accept: text/event-stream` events: `stdout` and `stderr` with base64 in `data`, then \
                       `result` with the same value without output, or `error`.";
    let operation = Operation::new("post", "Runs a command to its end")
        .json::<Execute>(api)
        .returns::<ExecuteValue>(api, 200, description)
        .returns_media(200, description, EVENTS, json!({}));
    api.route("/v1/sandboxes/{id}/execute", vec![operation], post(execute));
}

impl Execute {
    fn into_request(self) -> ApiResult<ExecuteRequest> {
        let mut request = match (self.command, self.arguments) {
            (Some(command), None) => ExecuteRequest::new(command),
            (None, Some(arguments)) => ExecuteRequest::from_arguments(arguments)?,
            _ => return Err(ApiError::invalid("a command needs one of the keys command and arguments")),
        };
        request.cwd = self.cwd.map(|cwd| path(&cwd)).transpose()?;
        request.env = self.env.into_iter().collect();
        request.stdin = self.stdin.map(|stdin| stdin.decode("stdin")).transpose()?.unwrap_or_default();
        request.timeout = self.timeout_seconds.map(|value| seconds("timeout_seconds", value)).transpose()?;
        if self.persistent {
            request.shell_mode = Some(ShellMode::Persistent);
        }
        if self.background {
            request.background = Background::Keep;
        }
        if let Some(action) = self.output_overflow {
            request.output_overflow = OutputOverflow::from_str(&action).map_err(ApiError::invalid)?;
        }
        Ok(request)
    }
}

async fn execute(
    caller: Caller,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Result<Json<Execute>, JsonRejection>,
) -> ApiResult<Response> {
    let Json(request) = body?;
    let sandbox = caller.sandbox(&id).await?;
    let request = request.into_request()?;
    let accepts = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    if accepts.contains(EVENTS) {
        let keep_alive = KeepAlive::default();
        return Ok(Sse::new(events(sandbox, request)).keep_alive(keep_alive).into_response());
    }
    let response = sandbox.sandbox.execute(request).await?;
    Ok(Json(ExecuteValue::new(&response)).into_response())
}

/// State of a stream of events. Dropping it drops the command, which ends it.
enum Step {
    Running(Running),
    Done,
}

struct Running {
    chunks: mpsc::UnboundedReceiver<OutputChunk>,
    command: std::pin::Pin<Box<dyn Future<Output = Result<ExecuteResponse, Error>> + Send>>,
    /// Set after the end, until all output was sent.
    ended: Option<Result<ExecuteResponse, Error>>,
}

/// Runs a command and returns its events. The list of chunks needs no bound: the output limit of the sandbox bounds it.
fn events(sandbox: SandboxRecord, request: ExecuteRequest) -> impl Stream<Item = Result<Event, Infallible>> + Send {
    let (sender, chunks) = mpsc::unbounded_channel();
    let command = Box::pin(async move {
        let mut sink = |chunk: OutputChunk| {
            // The receiver lives as long as this future.
            let _ = sender.send(chunk);
        };
        sandbox.sandbox.execute_streaming(request, &mut sink).await
    });
    let start = Step::Running(Running { chunks, command, ended: None });
    stream::unfold(start, |step| async move {
        let Step::Running(mut running) = step else { return None };
        let next = running.next().await;
        Some(match next {
            Some(chunk) => (Ok(chunk_event(&chunk)), Step::Running(running)),
            None => (Ok(end_event(running.ended)), Step::Done),
        })
    })
}

impl Running {
    /// Returns the next chunk, or `None` after the last one.
    async fn next(&mut self) -> Option<OutputChunk> {
        if self.ended.is_none() {
            let mut command = pin!(&mut self.command);
            tokio::select! {
                biased;
                chunk = self.chunks.recv() => if chunk.is_some() { return chunk },
                result = &mut command => self.ended = Some(result),
            }
            if self.ended.is_none() {
                // All senders are dropped before the command has ended only if it panicked.
                self.ended = Some((&mut self.command).await);
            }
        }
        self.chunks.try_recv().ok()
    }
}

fn chunk_event(chunk: &OutputChunk) -> Event {
    let name = match chunk.stream {
        OutputStream::Stdout => "stdout",
        OutputStream::Stderr => "stderr",
    };
    Event::default().event(name).data(BASE64.encode(&chunk.bytes))
}

fn end_event(ended: Option<Result<ExecuteResponse, Error>>) -> Event {
    let (name, value) = match ended {
        Some(Ok(response)) => ("result", result_without_output(&response)),
        Some(Err(error)) => ("error", ApiError::from(error).value()),
        None => ("error", json!({ "kind": "engine", "message": "the command has no result" })),
    };
    Event::default().event(name).data(value.to_string())
}

fn result_without_output(response: &ExecuteResponse) -> Value {
    let mut value = json!(ExecuteValue::new(response));
    if let Some(value) = value.as_object_mut() {
        value.remove("stdout");
        value.remove("stderr");
    }
    value
}
