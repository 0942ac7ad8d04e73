//! Spans of requests and commands.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value as Json, json};
use tidebox_core::lock::Mutex;

/// Spans that wait for their export. Further ones are dropped, so that a slow collector costs no memory.
const MAX_SPANS: usize = 4096;

tokio::task_local! {
    /// The span of the current request.
    static CURRENT: Context;
}

/// Ids of a span.
#[derive(Clone, Copy, Debug)]
struct Context {
    trace: u128,
    span: u64,
}

/// Value of an attribute.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Number(f64),
}

impl Value {
    pub(super) fn to_json(&self) -> Json {
        match self {
            Self::Text(text) => json!({ "stringValue": text }),
            // Protobuf's JSON has 64-bit integers as text.
            Self::Integer(number) => json!({ "intValue": number.to_string() }),
            Self::Number(number) => json!({ "doubleValue": number }),
        }
    }
}

/// Kind of a span: a request that was received, or work within it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Internal = 1,
    Server = 2,
}

/// Ended spans.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    is_enabled: AtomicBool,
    ended: Mutex<VecDeque<Json>>,
}

impl Spans {
    pub(crate) fn enable(&self) {
        self.is_enabled.store(true, Ordering::Release);
    }

    /// Removes all ended spans.
    pub(super) fn take(&self) -> Vec<Json> {
        self.ended.lock().drain(..).collect()
    }

    /// Starts the span of a request. `parent` is the header `traceparent`. `None` if nothing is exported.
    pub(crate) fn start_request(self: &Arc<Self>, name: String, parent: Option<&str>) -> Option<ActiveSpan> {
        let parent = parent.and_then(parse_parent);
        self.start(name, Kind::Server, parent)
    }

    /// Starts the span of work within the current request, if any.
    pub(crate) fn start_child(self: &Arc<Self>, name: &str) -> Option<ActiveSpan> {
        self.start(name.to_owned(), Kind::Internal, CURRENT.try_with(|current| *current).ok())
    }

    fn start(self: &Arc<Self>, name: String, kind: Kind, parent: Option<Context>) -> Option<ActiveSpan> {
        if !self.is_enabled.load(Ordering::Acquire) {
            return None;
        }
        let mut random = [0; 24];
        // Without random numbers a span has no ids, and is dropped.
        getrandom::fill(&mut random).ok()?;
        let (trace, span) = random.split_first_chunk::<16>()?;
        let trace = parent.map_or(u128::from_le_bytes(*trace), |parent| parent.trace);
        let span = u64::from_le_bytes(span.try_into().ok()?);
        let context = Context { trace, span };
        let (spans, start) = (Arc::clone(self), nanoseconds());
        Some(ActiveSpan { spans, context, parent, name, kind, start, attributes: Vec::new(), is_error: false })
    }
}

/// A span until it is dropped.
#[derive(Debug)]
pub(crate) struct ActiveSpan {
    spans: Arc<Spans>,
    context: Context,
    parent: Option<Context>,
    name: String,
    kind: Kind,
    start: u128,
    attributes: Vec<(&'static str, Value)>,
    is_error: bool,
}

impl ActiveSpan {
    pub(crate) fn set(&mut self, name: &'static str, value: Value) {
        self.attributes.push((name, value));
    }

    pub(crate) fn fail(&mut self) {
        self.is_error = true;
    }

    /// Runs a future in which this span is the parent of others.
    pub(crate) async fn scope<F: Future>(&self, future: F) -> F::Output {
        CURRENT.scope(self.context, future).await
    }

    fn to_json(&self) -> Json {
        let attributes: Vec<Json> =
            self.attributes.iter().map(|(name, value)| json!({ "key": name, "value": value.to_json() })).collect();
        let mut span = json!({
            "traceId": format!("{:032x}", self.context.trace),
            "spanId": format!("{:016x}", self.context.span),
            "name": self.name,
            "kind": self.kind as u8,
            "startTimeUnixNano": self.start.to_string(),
            "endTimeUnixNano": nanoseconds().to_string(),
            "attributes": attributes,
            "status": if self.is_error { json!({ "code": 2 }) } else { json!({}) },
        });
        if let Some(parent) = self.parent {
            span["parentSpanId"] = json!(format!("{:016x}", parent.span));
        }
        span
    }
}

impl Drop for ActiveSpan {
    fn drop(&mut self) {
        let span = self.to_json();
        let mut ended = self.spans.ended.lock();
        if ended.len() < MAX_SPANS {
            ended.push_back(span);
        }
    }
}

/// Returns the nanoseconds since 1970.
pub(super) fn nanoseconds() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}

/// Parses `00-TRACE-SPAN-FLAGS`.
fn parse_parent(header: &str) -> Option<Context> {
    let mut parts = header.split('-');
    let (version, trace, span) = (parts.next()?, parts.next()?, parts.next()?);
    if version.len() != 2 || trace.len() != 32 || span.len() != 16 {
        return None;
    }
    let context = Context { trace: u128::from_str_radix(trace, 16).ok()?, span: u64::from_str_radix(span, 16).ok()? };
    (context.trace != 0 && context.span != 0).then_some(context)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_continues_the_trace_of_its_client() {
        let spans = Arc::new(Spans::default());
        assert!(spans.start_child("execute").is_none(), "not enabled");
        spans.enable();
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        drop(spans.start_request("GET /".to_owned(), Some(parent)));
        for invalid in ["", "00-0-0-01", "00-00000000000000000000000000000000-b7ad6b7169203331-01", "x-y-z"] {
            assert!(parse_parent(invalid).is_none(), "{invalid}");
        }
        let ended = spans.take();
        assert_eq!(ended[0]["traceId"], "0af7651916cd43dd8448eb211c80319c");
        assert_eq!((&ended[0]["parentSpanId"], &ended[0]["kind"]), (&json!("b7ad6b7169203331"), &json!(2)));
    }

    #[test]
    fn spans_beyond_the_maximum_are_dropped() {
        let spans = Arc::new(Spans::default());
        spans.enable();
        for _ in 0..MAX_SPANS + 10 {
            drop(spans.start_child("execute"));
        }
        assert_eq!(spans.take().len(), MAX_SPANS);
    }
}
