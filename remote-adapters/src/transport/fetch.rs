//! HTTP requests with `fetch`, in JavaScript.
//!
//! Does not use reqwest, whose `fetch` follows redirects: the browser removes `Authorization` from a request to another
//! origin, but no other header, and so would leak a key to the redirect target.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use js_sys::{Array, Function, Object, Promise, Reflect, Uint8Array};
use send_wrapper::SendWrapper;
use tidebox_core::{Error, ErrorKind, Result};
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;

use super::{BodyStream, Request, Response, SendError, Transport, timeout};

/// Transport over a function compatible with `fetch`, which keeps connections open between requests.
#[derive(Debug)]
pub struct HttpTransport {
    fetch: SendWrapper<Function>,
}

/// Error codes of Node and Deno for requests that were not sent.
const NOT_SENT_CODES: [&str; 5] = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"];

impl HttpTransport {
    /// Creates a transport over the global `fetch`, including its proxy.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] if a proxy is specified, or if `fetch` is missing.
    pub fn new(proxy: Option<&str>) -> Result<Arc<Self>> {
        if proxy.is_some() {
            let message =
                "proxy is not supported in JavaScript: the engine uses its own proxy settings; omit the option";
            return Err(Error::new(ErrorKind::Unsupported, "set up HTTP", message));
        }
        match property(&js_sys::global(), "fetch").dyn_into() {
            Ok(fetch) => Ok(Self::with_fetch(fetch)),
            Err(_) => {
                Err(Error::new(ErrorKind::Unsupported, "set up HTTP", "this JavaScript engine has no fetch; pass one"))
            }
        }
    }

    /// Creates a transport over this function.
    pub fn with_fetch(fetch: Function) -> Arc<Self> {
        seed();
        Arc::new(Self { fetch: SendWrapper::new(fetch) })
    }

    async fn exchange(&self, request: &Request) -> std::result::Result<Response, SendError> {
        let guard = AbortGuard::new();
        let init = init(request, &guard)?;
        let called = self.fetch.call2(&JsValue::UNDEFINED, &JsValue::from_str(&request.url), &init);
        let called = called.map_err(|error| failed(&error, unreachable(), request))?;
        let response = timeout(request.header_timeout, JsFuture::from(Promise::resolve(&called))).await;
        let reply = match response {
            Some(response) => response.map_err(|error| failed(&error, unreachable(), request))?,
            None => return Err(timeout_error("the provider did not respond in time")),
        };
        let status = property(&reply, "status").as_f64().unwrap_or_default() as u16;
        if status == 0 {
            // A browser reports status 0 for a redirect that is not followed.
            let message = "the provider redirected the request, which is not followed; check api_url";
            return Err(SendError {
                error: Error::new(ErrorKind::Protocol, "send a request", message),
                not_sent: false,
            });
        }
        let incoming =
            Incoming { body: SendWrapper::new(Body::new(&reply, guard)), idle_timeout: request.idle_timeout };
        Ok(Response::new(status, headers(&reply), Box::new(incoming)))
    }
}

#[async_trait]
impl Transport for HttpTransport {
    async fn send(&self, request: &Request) -> std::result::Result<Response, SendError> {
        // JavaScript objects belong to their thread.
        SendWrapper::new(self.exchange(request)).await
    }
}

/// Seeds the random generator. Otherwise names of temporary files, and pauses, would be the same in every program.
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

/// A request in progress. Dropping it aborts the request.
struct AbortGuard {
    controller: JsValue,
}

impl AbortGuard {
    fn new() -> Self {
        let class = property(&js_sys::global(), "AbortController").dyn_into::<Function>();
        let controller = class.and_then(|class| Reflect::construct(&class, &Array::new()));
        Self { controller: controller.unwrap_or(JsValue::UNDEFINED) }
    }
}

impl Drop for AbortGuard {
    fn drop(&mut self) {
        let _ = method(&self.controller, "abort", &[]);
    }
}

fn init(request: &Request, guard: &AbortGuard) -> std::result::Result<JsValue, SendError> {
    let init = Object::new();
    set(&init, "method", &JsValue::from_str(request.method.as_str()));
    set(&init, "signal", &property(&guard.controller, "signal"));
    set(&init, "redirect", &JsValue::from_str("manual"));
    // Send no cookies of the page.
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
        for chunk in &request.body {
            // The chunks together are as long as the array.
            let end = at + chunk.len() as u32;
            body.subarray(at, end).copy_from(chunk);
            at = end;
        }
        set(&init, "body", &body);
    }
    Ok(init.into())
}

/// Converts a header value for `fetch`: one character per byte. Rejects invalid values here, because `fetch`'s own
/// error message shows the value.
fn header_text(name: &str, value: &[u8]) -> std::result::Result<String, SendError> {
    if value.iter().any(|byte| (*byte < 0x20 && *byte != b'\t') || *byte == 0x7f) {
        return Err(invalid(format!("the value of the header {name} contains a control character")));
    }
    Ok(value.iter().copied().map(char::from).collect())
}

/// Returns the headers of a response; `fetch` uses lower-case names.
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

/// Streamed body of a response. `fetch` provides no trailers.
struct Body {
    /// `None` without a body and after its end.
    reader: Option<JsValue>,
    _guard: AbortGuard,
}

impl Body {
    fn new(reply: &JsValue, guard: AbortGuard) -> Self {
        let body = property(reply, "body");
        let reader = if body.is_object() { method(&body, "getReader", &[]).ok() } else { None };
        Self { reader, _guard: guard }
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
    idle_timeout: Duration,
}

#[async_trait]
impl BodyStream for Incoming {
    async fn next(&mut self) -> Result<Option<Bytes>> {
        SendWrapper::new(async {
            match timeout(self.idle_timeout, self.body.next()).await {
                Some(Ok(chunk)) => Ok(chunk),
                Some(Err(error)) => Err(unavailable(&error, "the connection was lost during the response")),
                None => Err(timeout_error("the provider stopped sending during the response").error),
            }
        })
        .await
    }
}

/// Returns the system error code, which `fetch` stores in the cause. Messages are omitted: they may contain a whole
/// request.
fn code(error: &JsValue) -> Option<String> {
    [error.clone(), property(error, "cause")].iter().find_map(|error| property(error, "code").as_string())
}

fn unavailable(error: &JsValue, what: &str) -> Error {
    let unavailable = Error::new(ErrorKind::Unavailable, "send a request", what);
    match code(error) {
        Some(code) => unavailable.with_context("code", code),
        None => unavailable,
    }
}

/// Returns a hint. A browser hides from its page why a response may not be read. Only browsers have an `origin`.
fn unreachable() -> &'static str {
    if property(&js_sys::global(), "origin").is_string() {
        "the provider is unreachable, or does not allow this page to read its responses (CORS); set apiUrl \
         to a server of your own that forwards requests and adds the key"
    } else {
        "the provider is unreachable"
    }
}

fn failed(error: &JsValue, what: &str, request: &Request) -> SendError {
    let not_sent = code(error).is_some_and(|code| NOT_SENT_CODES.contains(&code.as_str()));
    SendError { error: unavailable(error, what).with_context("host", host(&request.url)), not_sent }
}

/// Returns the host of a URL; the rest may name a sandbox or contain a token.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}

fn timeout_error(what: &str) -> SendError {
    SendError { error: Error::new(ErrorKind::Timeout, "send a request", what), not_sent: false }
}

fn invalid(what: String) -> SendError {
    let message = format!("cannot encode the request: {what}");
    SendError { error: Error::new(ErrorKind::InvalidRequest, "send a request", message), not_sent: true }
}
