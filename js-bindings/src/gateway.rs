//! The gateway: JavaScript sends the requests that the policy has allowed, in the thread that owns the worker.
//!
//! Both directions are pull-based: JavaScript requests a chunk of the request body when it can send one, and this side requests a
//! chunk of the response when the guest has consumed the previous one.

use std::cell::Cell;
use std::future::poll_fn;
use std::net::IpAddr;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use js_sys::{Array, Uint8Array};
use tidebox_core::BoxFuture;
use tidebox_core::network::{
    Body, GatewayError, GatewayErrorKind, GatewayReply, GatewayRequest, HttpGateway, Scheme, Timings,
};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::inbox::Mailboxes;
use crate::js::object;
use crate::js_imports;
use crate::options::{bytes, count, duration, get, list, text};

/// Messages of JavaScript about a request.
#[derive(Debug)]
enum GatewayEvent {
    Addresses(Vec<IpAddr>),
    /// JavaScript can send the next chunk of the request body.
    BodyRequested,
    Head(Box<Head>),
    Chunk(Vec<u8>),
    End,
    Failed(GatewayError),
}

#[derive(Debug)]
struct Head {
    status: u16,
    reason: String,
    minor_version: u8,
    headers: Vec<(String, Vec<u8>)>,
    peer: Option<std::net::SocketAddr>,
    timings: Timings,
}

thread_local! {
    /// By sandbox and request, so that a message never reaches a request of another sandbox.
    static EVENTS: Mailboxes<(u32, u32), GatewayEvent> = const { Mailboxes::new() };
    static LAST: Cell<u32> = const { Cell::new(0) };
}

/// Sends requests through JavaScript.
#[derive(Debug)]
pub(crate) struct JsGateway {
    sandbox: u32,
    by_name: bool,
}

impl JsGateway {
    /// `given.byName`: JavaScript connects to host names and does not accept addresses.
    pub(crate) fn new(sandbox: u32, given: &JsValue) -> Self {
        Self { sandbox, by_name: get(given, "byName").is_truthy() }
    }
}

/// A request or name lookup in progress. Dropping it cancels it in JavaScript.
#[derive(Debug)]
struct PendingRequest {
    sandbox: u32,
    number: u32,
}

impl PendingRequest {
    fn start(sandbox: u32) -> Self {
        let number = LAST.with(|last| {
            let number = last.get().wrapping_add(1);
            last.set(number);
            number
        });
        EVENTS.with(|event| event.open((sandbox, number)));
        Self { sandbox, number }
    }

    fn poll(&self, cx: &mut Context<'_>) -> Poll<GatewayEvent> {
        EVENTS.with(|event| event.poll((self.sandbox, self.number), cx.waker()))
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        EVENTS.with(|event| event.close((self.sandbox, self.number)));
        js_imports::net_cancelled(self.sandbox, self.number);
    }
}

fn unexpected_event() -> GatewayError {
    GatewayError::new(GatewayErrorKind::Internal, "unexpected message from the gateway of the application")
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

impl HttpGateway for JsGateway {
    fn connects_by_name(&self) -> bool {
        self.by_name
    }

    fn resolve(&self, name: String, within: Duration) -> BoxFuture<'static, Result<Vec<IpAddr>, GatewayError>> {
        let sandbox = self.sandbox;
        Box::pin(async move {
            let pending = PendingRequest::start(sandbox);
            js_imports::net_resolve(sandbox, pending.number, &name, milliseconds(within));
            match poll_fn(|cx| pending.poll(cx)).await {
                GatewayEvent::Addresses(addresses) => Ok(addresses),
                GatewayEvent::Failed(error) => Err(error),
                _ => Err(unexpected_event()),
            }
        })
    }

    fn send(&self, request: GatewayRequest) -> BoxFuture<'static, Result<GatewayReply, GatewayError>> {
        let sandbox = self.sandbox;
        Box::pin(async move {
            let pending = PendingRequest::start(sandbox);
            js_imports::net_send(sandbox, pending.number, &request_to_js(&request));
            let mut exchange = Exchange { pending, body: request.body.map(|(body, _)| body), body_requested: false };
            match poll_fn(|cx| exchange.poll(cx)).await {
                GatewayEvent::Head(head) => Ok(reply(*head, exchange)),
                GatewayEvent::Failed(error) => Err(error),
                _ => Err(unexpected_event()),
            }
        })
    }
}

/// Converts a request for JavaScript. It includes credentials: it leaves the worker and never enters a guest.
fn request_to_js(request: &GatewayRequest) -> JsValue {
    let header = |(name, value): &(String, tidebox_core::Secret)| {
        JsValue::from(Array::of2(&JsValue::from_str(name), &Uint8Array::from(value.expose())))
    };
    let target = &request.target;
    let length = request.body.as_ref().and_then(|(_, length)| *length);
    object([
        ("method", JsValue::from_str(&request.method)),
        ("url", JsValue::from_str(&target.to_string())),
        ("host", JsValue::from_str(target.host.to_string().trim_matches(['[', ']']))),
        ("port", target.port.into()),
        ("encrypted", (target.scheme == Scheme::Https).into()),
        ("path", JsValue::from_str(&target.path)),
        (
            "addresses",
            request.addresses.iter().map(|address| JsValue::from_str(&address.to_string())).collect::<Array>().into(),
        ),
        ("headers", request.headers.iter().map(header).collect::<Array>().into()),
        ("hasBody", request.body.is_some().into()),
        ("length", length.map_or(JsValue::UNDEFINED, |length| JsValue::from_f64(length as f64))),
        ("headBytes", request.head_bytes.into()),
        ("connectMs", milliseconds(request.connect_time).into()),
        ("totalMs", milliseconds(request.request_time).into()),
    ])
}

fn reply(head: Head, exchange: Exchange) -> GatewayReply {
    let Head { status, reason, minor_version, headers, peer, timings } = head;
    GatewayReply {
        minor_version,
        status,
        reason,
        headers,
        peer,
        timings,
        body: Box::new(ResponseBody { exchange, requested: false }),
    }
}

/// A request whose body may still be in transfer while the response arrives.
struct Exchange {
    pending: PendingRequest,
    body: Option<Box<dyn Body>>,
    body_requested: bool,
}

impl Exchange {
    /// Polls for the next message other than a request for the body.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<GatewayEvent> {
        loop {
            self.send(cx);
            match ready!(self.pending.poll(cx)) {
                GatewayEvent::BodyRequested => self.body_requested = true,
                other => return Poll::Ready(other),
            }
        }
    }

    /// Sends the next chunk of the body, if one is requested and available.
    fn send(&mut self, cx: &mut Context<'_>) {
        if !self.body_requested {
            return;
        }
        let chunk = match &mut self.body {
            Some(body) => match body.poll_chunk(cx) {
                Poll::Pending => return,
                Poll::Ready(chunk) => chunk,
            },
            None => None,
        };
        self.body_requested = false;
        match chunk {
            Some(Ok(chunk)) => js_imports::net_body(self.pending.sandbox, self.pending.number, &chunk, false),
            None => {
                self.body = None;
                js_imports::net_body(self.pending.sandbox, self.pending.number, &[], true);
            }
            Some(Err(_)) => {
                // An incomplete body must not arrive as a complete one.
                self.body = None;
                js_imports::net_body_failed(self.pending.sandbox, self.pending.number);
            }
        }
    }
}

/// The body of a response.
struct ResponseBody {
    exchange: Exchange,
    requested: bool,
}

impl Body for ResponseBody {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, GatewayError>>> {
        if !self.requested {
            self.requested = true;
            js_imports::net_pull(self.exchange.pending.sandbox, self.exchange.pending.number);
        }
        let event = ready!(self.exchange.poll(cx));
        self.requested = false;
        Poll::Ready(match event {
            GatewayEvent::Chunk(chunk) => Some(Ok(chunk)),
            GatewayEvent::End => None,
            GatewayEvent::Failed(error) => Some(Err(error)),
            _ => Some(Err(unexpected_event())),
        })
    }
}

fn post_event(sandbox: u32, request: u32, event: GatewayEvent) {
    EVENTS.with(|events| events.put((sandbox, request), event));
}

/// Receives the addresses of a name.
#[wasm_bindgen(js_name = netResolved)]
pub fn net_resolved(sandbox: u32, request: u32, addresses: Vec<String>) {
    post_event(
        sandbox,
        request,
        GatewayEvent::Addresses(addresses.iter().filter_map(|address| address.parse().ok()).collect()),
    );
}

/// The next chunk of a request body can be sent.
#[wasm_bindgen(js_name = netBodyRequested)]
pub fn net_body_requested(sandbox: u32, request: u32) {
    post_event(sandbox, request, GatewayEvent::BodyRequested);
}

/// Receives the head of a response.
#[wasm_bindgen(js_name = netHead)]
pub fn net_head(sandbox: u32, request: u32, head: &JsValue) {
    let time = |name| duration(head, name).unwrap_or_default();
    let header = |pair: JsValue| {
        let [name, value] = <[JsValue; 2]>::try_from(list(&pair)).unwrap_or_default();
        (name.as_string().unwrap_or_default(), bytes(&value))
    };
    let event = Head {
        status: count(head, "status").and_then(|status| u16::try_from(status).ok()).unwrap_or(0),
        reason: text(head, "reason").unwrap_or_default(),
        minor_version: u8::from(count(head, "minorVersion") != Some(0)),
        headers: list(&get(head, "headers")).into_iter().map(header).collect(),
        peer: text(head, "peer").and_then(|peer| peer.parse().ok()),
        timings: Timings {
            connected: time("connectedMs"),
            encrypted: time("encryptedMs"),
            responded: time("answeredMs"),
        },
    };
    post_event(sandbox, request, GatewayEvent::Head(Box::new(event)));
}

/// Receives a chunk of a response body; an empty chunk is the end.
#[wasm_bindgen(js_name = netChunk)]
pub fn net_chunk(sandbox: u32, request: u32, chunk: Vec<u8>) {
    post_event(sandbox, request, if chunk.is_empty() { GatewayEvent::End } else { GatewayEvent::Chunk(chunk) });
}

/// A request has failed, or its response is incomplete.
#[wasm_bindgen(js_name = netFailed)]
pub fn net_failed(sandbox: u32, request: u32, kind: &str, message: &str) {
    let kinds = [
        GatewayErrorKind::Resolve,
        GatewayErrorKind::Connect,
        GatewayErrorKind::Tls,
        GatewayErrorKind::Certificate,
        GatewayErrorKind::Timeout,
        GatewayErrorKind::Send,
        GatewayErrorKind::Empty,
        GatewayErrorKind::Receive,
        GatewayErrorKind::Protocol,
    ];
    let kind = kinds.into_iter().find(|known| known.as_str() == kind).unwrap_or(GatewayErrorKind::Internal);
    post_event(sandbox, request, GatewayEvent::Failed(GatewayError::new(kind, message)));
}
