//! The gateway: requests that the policy has allowed are sent by JavaScript, in the thread of whoever owns the Worker.
//!
//! Everything is pulled: JavaScript reads a piece of a request's body when it can send one, and this side reads a piece of the
//! reply when the guest has taken the one before.

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

use crate::answer::object;
use crate::host;
use crate::inbox::Inboxes;
use crate::options::{bytes, count, duration, get, list, text};

/// What JavaScript tells of a request.
#[derive(Debug)]
enum Told {
    Addresses(Vec<IpAddr>),
    /// The next piece of the request's body is wanted.
    Wants,
    Head(Box<Head>),
    Piece(Vec<u8>),
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
    static TOLD: Inboxes<u32, Told> = const { Inboxes::new() };
    static LAST: Cell<u32> = const { Cell::new(0) };
}

/// Sends through JavaScript.
#[derive(Debug)]
pub(crate) struct JsGateway {
    by_name: bool,
}

impl JsGateway {
    /// `given.byName` says that JavaScript connects to names and cannot be told an address.
    pub(crate) fn new(given: &JsValue) -> Self {
        Self { by_name: get(given, "byName").is_truthy() }
    }
}

/// A request or a look-up that goes on. When it is dropped, JavaScript gives it up.
#[derive(Debug)]
struct Underway(u32);

impl Underway {
    fn begin() -> Self {
        let number = LAST.with(|last| {
            let number = last.get().wrapping_add(1);
            last.set(number);
            number
        });
        TOLD.with(|told| told.open(number));
        Self(number)
    }

    fn poll(&self, cx: &mut Context<'_>) -> Poll<Told> {
        TOLD.with(|told| told.poll(self.0, cx.waker()))
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        TOLD.with(|told| told.close(self.0));
        host::net_over(self.0);
    }
}

fn confused() -> GatewayError {
    GatewayError::new(GatewayErrorKind::Internal, "the application's side of the network lost its place")
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

impl HttpGateway for JsGateway {
    fn connects_by_name(&self) -> bool {
        self.by_name
    }

    fn resolve(&self, name: String, within: Duration) -> BoxFuture<'static, Result<Vec<IpAddr>, GatewayError>> {
        Box::pin(async move {
            let underway = Underway::begin();
            host::net_resolve(underway.0, &name, milliseconds(within));
            match poll_fn(|cx| underway.poll(cx)).await {
                Told::Addresses(addresses) => Ok(addresses),
                Told::Failed(error) => Err(error),
                _ => Err(confused()),
            }
        })
    }

    fn send(&self, request: GatewayRequest) -> BoxFuture<'static, Result<GatewayReply, GatewayError>> {
        Box::pin(async move {
            let underway = Underway::begin();
            host::net_send(underway.0, &described(&request));
            let mut exchange = Exchange { underway, body: request.body.map(|(body, _)| body), wanted: false };
            match poll_fn(|cx| exchange.poll(cx)).await {
                Told::Head(head) => Ok(reply(*head, exchange)),
                Told::Failed(error) => Err(error),
                _ => Err(confused()),
            }
        })
    }
}

/// A request for JavaScript, credentials included: it leaves the Worker, and never enters a guest.
fn described(request: &GatewayRequest) -> JsValue {
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
        body: Box::new(Incoming { exchange, asked: false }),
    }
}

/// A request of which the body may still be on its way while the reply comes.
struct Exchange {
    underway: Underway,
    body: Option<Box<dyn Body>>,
    wanted: bool,
}

impl Exchange {
    /// The next news that is not about the request's body.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Told> {
        loop {
            self.send(cx);
            match ready!(self.underway.poll(cx)) {
                Told::Wants => self.wanted = true,
                other => return Poll::Ready(other),
            }
        }
    }

    /// Hands the next piece of the body over, when it is wanted and there.
    fn send(&mut self, cx: &mut Context<'_>) {
        if !self.wanted {
            return;
        }
        let piece = match &mut self.body {
            Some(body) => match body.poll_chunk(cx) {
                Poll::Pending => return,
                Poll::Ready(piece) => piece,
            },
            None => None,
        };
        self.wanted = false;
        match piece {
            Some(Ok(piece)) => host::net_body(self.underway.0, &piece, false),
            None => {
                self.body = None;
                host::net_body(self.underway.0, &[], true);
            }
            Some(Err(_)) => {
                // A body that was cut must not arrive as a whole one.
                self.body = None;
                host::net_broken(self.underway.0);
            }
        }
    }
}

/// The body of a reply.
struct Incoming {
    exchange: Exchange,
    asked: bool,
}

impl Body for Incoming {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, GatewayError>>> {
        if !self.asked {
            self.asked = true;
            host::net_pull(self.exchange.underway.0);
        }
        let told = ready!(self.exchange.poll(cx));
        self.asked = false;
        Poll::Ready(match told {
            Told::Piece(piece) => Some(Ok(piece)),
            Told::End => None,
            Told::Failed(error) => Some(Err(error)),
            _ => Some(Err(confused())),
        })
    }
}

fn tell(request: u32, what: Told) {
    TOLD.with(|told| told.put(request, what));
}

/// The addresses of a name.
#[wasm_bindgen(js_name = netResolved)]
pub fn net_resolved(request: u32, addresses: Vec<String>) {
    tell(request, Told::Addresses(addresses.iter().filter_map(|address| address.parse().ok()).collect()));
}

/// The next piece of a request's body can be sent.
#[wasm_bindgen(js_name = netWants)]
pub fn net_wants(request: u32) {
    tell(request, Told::Wants);
}

/// The head of a reply.
#[wasm_bindgen(js_name = netHead)]
pub fn net_head(request: u32, head: &JsValue) {
    let time = |name| duration(head, name).unwrap_or_default();
    let header = |pair: JsValue| {
        let [name, value] = <[JsValue; 2]>::try_from(list(&pair)).unwrap_or_default();
        (name.as_string().unwrap_or_default(), bytes(&value))
    };
    let told = Head {
        status: count(head, "status").and_then(|status| u16::try_from(status).ok()).unwrap_or(0),
        reason: text(head, "reason").unwrap_or_default(),
        minor_version: u8::from(count(head, "minorVersion") != Some(0)),
        headers: list(&get(head, "headers")).into_iter().map(header).collect(),
        peer: text(head, "peer").and_then(|peer| peer.parse().ok()),
        timings: Timings {
            connected: time("connectedMs"),
            encrypted: time("encryptedMs"),
            answered: time("answeredMs"),
        },
    };
    tell(request, Told::Head(Box::new(told)));
}

/// A piece of a reply's body.
#[wasm_bindgen(js_name = netPiece)]
pub fn net_piece(request: u32, piece: Vec<u8>) {
    tell(request, if piece.is_empty() { Told::End } else { Told::Piece(piece) });
}

/// A request has failed, or its reply broke off.
#[wasm_bindgen(js_name = netFailed)]
pub fn net_failed(request: u32, kind: &str, message: &str) {
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
    tell(request, Told::Failed(GatewayError::new(kind, message)));
}
