use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_executor::block_on;

use super::{Counting, Sandboxes, output, path};
use crate::backend::{BoxFuture, OutputSink};
use crate::error::{ErrorKind, Result};
use crate::execute::{ExecuteRequest, ExecuteResponse};
use crate::layer::{
    Call, CallEnd, Layer, Response, TraceEvent, from_layer, map_sandboxes, output_limit, timeout, trace,
};
use crate::provider::{SandboxId, Selector};

/// Returns the timeout of the request as output.
#[derive(Debug)]
struct Timed(SandboxId);

impl Layer for Timed {
    fn id(&self) -> &SandboxId {
        &self.0
    }

    fn call<'a>(&'a self, call: Call, _: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Response>> {
        Box::pin(async move {
            let (Call::Execute(request) | Call::ExecuteStreaming(request)) = call else { return Ok(Response::Close) };
            let duration = request.timeout.unwrap_or(Duration::MAX);
            Ok(Response::Execute(ExecuteResponse { duration, ..ExecuteResponse::default() }))
        })
    }
}

#[test]
fn timeouts_are_set_and_limited_in_both_forms_of_execute() {
    let seconds = Duration::from_secs;
    for (default, requested, given) in [
        (Some(5), None, 5),
        (Some(5), Some(7), 7),
        (Some(5), Some(99), 10),
        (Some(50), None, 10),
        (None, None, 10),
        (None, Some(0), 0),
    ] {
        let backend = timeout(from_layer(Timed(super::id("sb"))), default.map(seconds), seconds(10));
        let mut request = ExecuteRequest::new("x");
        request.timeout = requested.map(seconds);
        let waited = block_on(backend.execute(request.clone())).unwrap();
        let watched = block_on(backend.execute_streaming(request, &mut |_| {})).unwrap();
        assert_eq!((waited.duration, watched.duration), (seconds(given), seconds(given)));
    }
}

#[test]
fn output_limit_keeps_the_start_and_sets_truncated() {
    for (most, kept, truncated) in [(0, "", true), (1, "1", true), (4, "1 wo", true), (7, "1 words", false)] {
        let backend = output_limit(Counting::backend("sb"), most);
        let waited = block_on(backend.execute(ExecuteRequest::new("words"))).unwrap();
        assert_eq!((&*waited.output_text(), waited.truncated), (kept, truncated));
        assert_eq!(waited.stdout.len() + waited.stderr.len(), waited.output.len());
        let backend = output_limit(Counting::backend("sb"), most);
        let mut seen = ExecuteResponse::default();
        let watched =
            block_on(backend.execute_streaming(ExecuteRequest::new("words"), &mut |event| seen.push_chunk(&event)));
        assert_eq!((watched.unwrap().output, seen.output), (waited.output.clone(), waited.output));
    }
}

#[test]
fn a_trace_reports_responses_failures_and_dropped_calls() {
    let reported = Arc::new(Mutex::new(Vec::new()));
    let observer = Arc::clone(&reported);
    let backend = trace(Counting::backend("sb-1"), move |event| {
        observer.lock().unwrap().push(match event {
            TraceEvent::Begin { number, sandbox, call } => format!("{sandbox} {number} {}", call.method()),
            TraceEvent::End { number, method, end, .. } => format!(
                "{number} {method} {}",
                match end {
                    CallEnd::Completed(response) => response.method().to_owned(),
                    CallEnd::Failed(error) => error.kind().to_string(),
                    CallEnd::Dropped => "dropped".to_owned(),
                }
            ),
        });
    });
    block_on(output(&*backend, "a")).unwrap();
    assert_eq!(block_on(backend.ls(&path("/"))).unwrap_err().kind(), ErrorKind::Unsupported);
    let mut dropped = Box::pin(output(&*backend, "b"));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(dropped.as_mut().poll(&mut context).is_pending());
    drop(dropped);
    assert_eq!(
        *reported.lock().unwrap(),
        ["sb-1 1 execute", "1 execute execute", "sb-1 2 ls", "2 ls unsupported", "sb-1 3 execute", "3 execute dropped",]
    );
}

#[test]
fn a_mismatched_response_of_a_layer_is_an_error() {
    let backend = from_layer(Timed(super::id("sb")));
    let error = block_on(backend.ls(&path("/"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    assert!(error.message().contains("`close`"), "{error}");
}

#[test]
fn map_sandboxes_wraps_every_sandbox() {
    let provider = map_sandboxes(Arc::new(Sandboxes::default()), |sandbox| output_limit(sandbox, 3));
    let sandbox = block_on(provider.get_or_create(Selector::Labels([].into()))).unwrap();
    assert_eq!(block_on(output(&*sandbox, "words")).unwrap(), "1 w");
    let again = block_on(provider.get_or_create(Selector::Id(sandbox.id().clone()))).unwrap();
    assert_eq!(block_on(output(&*again, "words")).unwrap(), "2 w");
    block_on(provider.delete(sandbox.id())).unwrap();
    let not_found = block_on(provider.get_or_create(Selector::Id(sandbox.id().clone())));
    assert_eq!(not_found.unwrap_err().kind(), ErrorKind::SandboxNotFound);
}
