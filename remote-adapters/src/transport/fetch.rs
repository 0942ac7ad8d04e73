//! Requests over HTTP by `fetch`, in JavaScript.
//!
//! By its own words and not by reqwest, whose `fetch` follows redirects: the browser takes `Authorization` off a request that
//! is sent elsewhere, but no other header, and so would hand a key to whoever it was sent to.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use js_sys::{Array, Function, Object, Promise, Reflect, Uint8Array};
use send_wrapper::SendWrapper;
use tidebox_core::{BoxFuture, Error, ErrorKind, Result};
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;

use super::{Pieces, Reply, Request, Transport, Unsent, within};

/// Sends by a function that is used as `fetch` is, which keeps connections open between requests.
#[derive(Debug)]
pub struct HttpTransport {
    fetch: SendWrapper<Function>,
}

/// Why nobody saw a request, as Node and Deno tell it.
const UNSEEN: [&str; 5] = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"];

impl HttpTransport {
    /// A transport over the `fetch` of the engine, which has its proxy too.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] when a proxy is named, and where there is no `fetch`.
    pub fn new(proxy: Option<&str>) -> Result<Arc<Self>> {
        if proxy.is_some() {
            let message = "requests of JavaScript take the proxy of their engine; leave the option out";
            return Err(Error::new(ErrorKind::Unsupported, "set up HTTP", message));
        }
        match property(&js_sys::global(), "fetch").dyn_into() {
            Ok(fetch) => Ok(Self::over(fetch)),
            Err(_) => Err(Error::new(ErrorKind::Unsupported, "set up HTTP", "this engine has no fetch; give one")),
        }
    }

    /// A transport over this function.
    pub fn over(fetch: Function) -> Arc<Self> {
        seed();
        Arc::new(Self { fetch: SendWrapper::new(fetch) })
    }

    async fn exchange(&self, request: &Request) -> std::result::Result<Reply, Unsent> {
        let sending = Sending::new();
        let init = init(request, &sending)?;
        let called = self.fetch.call2(&JsValue::UNDEFINED, &JsValue::from_str(&request.url), &init);
        let called = called.map_err(|error| failed(&error, unreachable(), request))?;
        let answered = within(request.head_time, JsFuture::from(Promise::resolve(&called))).await;
        let reply = match answered {
            Some(answered) => answered.map_err(|error| failed(&error, unreachable(), request))?,
            None => return Err(late("the provider did not answer in time")),
        };
        let status = property(&reply, "status").as_f64().unwrap_or_default() as u16;
        if status == 0 {
            // What a browser shows of a redirect that is not followed.
            let message = "the provider sent the request elsewhere, where it does not follow; look at api_url";
            return Err(Unsent { error: Error::new(ErrorKind::Protocol, "send a request", message), unseen: false });
        }
        let incoming = Incoming { body: SendWrapper::new(Body::of(&reply, sending)), silence: request.silence };
        Ok(Reply::new(status, headers(&reply), Box::new(incoming)))
    }
}

impl Transport for HttpTransport {
    fn send<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, std::result::Result<Reply, Unsent>> {
        // What JavaScript hands out belongs to its one thread.
        Box::pin(SendWrapper::new(self.exchange(request)))
    }
}

/// Names of temporary files, and pauses, would be the same in every program otherwise.
fn seed() {
    let random = Uint8Array::new_with_length(8);
    let crypto = property(&js_sys::global(), "crypto");
    if method(&crypto, "getRandomValues", &[&random]).is_ok() {
        let mut bytes = [0; 8];
        random.copy_to(&mut bytes);
        fastrand::seed(u64::from_le_bytes(bytes));
    }
}

fn property(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED)
}

fn set(object: &Object, name: &str, value: &JsValue) {
    // Setting a property of a plain object cannot fail.
    let _ = Reflect::set(object, &JsValue::from_str(name), value);
}

fn method(object: &JsValue, name: &str, arguments: &[&JsValue]) -> std::result::Result<JsValue, JsValue> {
    let method: Function = property(object, name).dyn_into()?;
    method.apply(object, &arguments.iter().copied().collect::<Array>())
}

/// A request under way. Dropped, it is given up.
struct Sending {
    controller: JsValue,
}

impl Sending {
    fn new() -> Self {
        let class = property(&js_sys::global(), "AbortController").dyn_into::<Function>();
        let made = class.and_then(|class| Reflect::construct(&class, &Array::new()));
        Self { controller: made.unwrap_or(JsValue::UNDEFINED) }
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        let _ = method(&self.controller, "abort", &[]);
    }
}

fn init(request: &Request, sending: &Sending) -> std::result::Result<JsValue, Unsent> {
    let init = Object::new();
    set(&init, "method", &JsValue::from_str(request.method.as_str()));
    set(&init, "signal", &property(&sending.controller, "signal"));
    set(&init, "redirect", &JsValue::from_str("manual"));
    // No cookies of the page.
    set(&init, "credentials", &JsValue::from_str("omit"));
    set(&init, "cache", &JsValue::from_str("no-store"));
    let headers = Array::new();
    for (name, value) in &request.headers {
        headers.push(&Array::of2(&JsValue::from_str(name), &JsValue::from_str(&header_text(name, value.expose())?)));
    }
    set(&init, "headers", &headers);
    if !request.body.is_empty() {
        let length: usize = request.body.iter().map(Bytes::len).sum();
        let Ok(length) = u32::try_from(length) else {
            return Err(invalid("the body is longer than 4 GiB".to_owned()));
        };
        let body = Uint8Array::new_with_length(length);
        let mut at = 0;
        for piece in &request.body {
            // Together they are as long as the array.
            let end = at + piece.len() as u32;
            body.subarray(at, end).copy_from(piece);
            at = end;
        }
        set(&init, "body", &body);
    }
    Ok(init.into())
}

/// A header as `fetch` takes it: a character for each byte. What it would refuse is refused here, because its own message
/// shows the value.
fn header_text(name: &str, value: &[u8]) -> std::result::Result<String, Unsent> {
    if value.iter().any(|byte| (*byte < 0x20 && *byte != b'\t') || *byte == 0x7f) {
        return Err(invalid(format!("the value of the header {name} has a line break or another control character")));
    }
    Ok(value.iter().copied().map(char::from).collect())
}

/// The headers of a reply; `fetch` gives their names in lower case.
fn headers(reply: &JsValue) -> Vec<(String, String)> {
    let Ok(entries) = method(&property(reply, "headers"), "entries", &[]) else { return Vec::new() };
    let Ok(Some(entries)) = js_sys::try_iter(&entries) else { return Vec::new() };
    entries
        .filter_map(std::result::Result::ok)
        .map(|entry| {
            let pair = Array::from(&entry);
            (pair.get(0).as_string().unwrap_or_default(), pair.get(1).as_string().unwrap_or_default())
        })
        .collect()
}

/// The body of a reply, read piece by piece. `fetch` tells of no trailers.
struct Body {
    /// `None` when there is no body, and behind its end.
    reader: Option<JsValue>,
    _sending: Sending,
}

impl Body {
    fn of(reply: &JsValue, sending: Sending) -> Self {
        let body = property(reply, "body");
        let reader = if body.is_object() { method(&body, "getReader", &[]).ok() } else { None };
        Self { reader, _sending: sending }
    }

    async fn next(&mut self) -> std::result::Result<Option<Bytes>, JsValue> {
        let Some(reader) = &self.reader else { return Ok(None) };
        let read = JsFuture::from(Promise::resolve(&method(reader, "read", &[])?)).await?;
        if property(&read, "done").is_truthy() {
            self.reader = None;
            return Ok(None);
        }
        Ok(Some(Uint8Array::new(&property(&read, "value")).to_vec().into()))
    }
}

struct Incoming {
    body: SendWrapper<Body>,
    silence: Duration,
}

impl Pieces for Incoming {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Bytes>>> {
        Box::pin(SendWrapper::new(async move {
            match within(self.silence, self.body.next()).await {
                Some(Ok(piece)) => Ok(piece),
                Some(Err(error)) => Err(unavailable(&error, "the connection broke in the middle of a reply")),
                None => Err(late("the provider fell silent in the middle of a reply").error),
            }
        }))
    }
}

/// The code of a system's error, which `fetch` hides in the cause. Messages are not passed on: they may show a whole request.
fn code(error: &JsValue) -> Option<String> {
    [error.clone(), property(error, "cause")].iter().find_map(|error| property(error, "code").as_string())
}

fn unavailable(error: &JsValue, what: &str) -> Error {
    let told = Error::new(ErrorKind::Unavailable, "send a request", what);
    match code(error) {
        Some(code) => told.with_context("code", code),
        None => told,
    }
}

/// A browser does not tell its page why it may not read an answer. Only browsers have an `origin`.
fn unreachable() -> &'static str {
    if property(&js_sys::global(), "origin").is_string() {
        "the provider cannot be reached, or does not let this page read what it answers (CORS); have a server of your own in between, which \
         adds the key, and name it in apiUrl"
    } else {
        "the provider cannot be reached"
    }
}

fn failed(error: &JsValue, what: &str, request: &Request) -> Unsent {
    let unseen = code(error).is_some_and(|code| UNSEEN.contains(&code.as_str()));
    Unsent { error: unavailable(error, what).with_context("host", host(&request.url)), unseen }
}

/// The host of an address; the rest of it may name a sandbox or hold a token.
fn host(url: &str) -> &str {
    let behind = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = behind.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}

fn late(what: &str) -> Unsent {
    Unsent { error: Error::new(ErrorKind::Timeout, "send a request", what), unseen: false }
}

fn invalid(what: String) -> Unsent {
    let message = format!("the request cannot be written: {what}");
    Unsent { error: Error::new(ErrorKind::InvalidRequest, "send a request", message), unseen: true }
}
