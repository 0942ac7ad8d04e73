//! Requests over HTTP, by reqwest: hyper and rustls natively, `fetch` in JavaScript.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use tidebox_core::{BoxFuture, Error, ErrorKind, Result};

#[cfg(not(target_family = "wasm"))]
use super::socket::Opening;
use super::{Pieces, Reply, Request, Transport, Unsent, within};

/// Keeps connections open between requests.
#[derive(Clone, Debug)]
pub struct HttpTransport {
    client: reqwest::Client,
}

impl HttpTransport {
    /// A transport that uses the proxy that the caller names, and no other: variables of the environment are not read, so
    /// that credentials go nowhere by surprise.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] when the proxy is no URL.
    #[cfg(not(target_family = "wasm"))]
    pub fn new(proxy: Option<&str>) -> Result<Arc<Self>> {
        let failed = |error: &dyn std::fmt::Display| {
            Error::new(ErrorKind::InvalidRequest, "set up HTTP", format!("the connection cannot be set up: {error}"))
        };
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(native::tls().map_err(|error| failed(&error))?)
            .user_agent(concat!("tidebox/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIME)
            .redirect(reqwest::redirect::Policy::none())
            // Downloads of one provider send empty frames, which trip the limits of HTTP/2.
            .http1_only()
            .no_proxy();
        if let Some(proxy) = proxy {
            builder = builder.proxy(reqwest::Proxy::all(proxy).map_err(|error| failed(&error.without_url()))?);
        }
        let client = builder.build().map_err(|error| failed(&error.without_url()))?;
        Ok(Arc::new(Self { client }))
    }

    /// A transport over `fetch`, which has the proxy of its engine.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] when a proxy is named.
    #[cfg(target_family = "wasm")]
    pub fn new(proxy: Option<&str>) -> Result<Arc<Self>> {
        if proxy.is_some() {
            let message = "requests of JavaScript take the proxy of their engine; leave the option out";
            return Err(Error::new(ErrorKind::Unsupported, "set up HTTP", message));
        }
        Ok(Arc::new(Self { client: reqwest::Client::new() }))
    }

    async fn exchange(&self, request: &Request) -> std::result::Result<Reply, Unsent> {
        let reply = self.answer(request, &[]).await?;
        let headers = headers(&reply);
        let (status, silence) = (reply.status().as_u16(), request.silence);
        Ok(Reply::new(status, headers, Box::new(Incoming { stream: Box::pin(stream(reply)), silence })))
    }

    #[cfg(not(target_family = "wasm"))]
    async fn upgrade(&self, request: &Request) -> std::result::Result<Opening, Unsent> {
        use tokio_tungstenite::tungstenite::handshake::{client::generate_key, derive_accept_key};
        let key = generate_key();
        let handshake = [
            ("connection", "upgrade"),
            ("upgrade", "websocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", &key),
        ];
        let reply = self.answer(request, &handshake).await?;
        let headers = headers(&reply);
        if reply.status().as_u16() != 101 {
            let (status, silence) = (reply.status().as_u16(), request.silence);
            let body = Box::new(Incoming { stream: Box::pin(stream(reply)), silence });
            return Ok(Opening::Refused(Reply::new(status, headers, body)));
        }
        let expected = derive_accept_key(key.as_bytes());
        if !headers.iter().any(|(name, value)| name == "sec-websocket-accept" && *value == expected) {
            let message = "the provider answered a handshake of WebSockets that was not ours";
            return Err(Unsent { error: Error::new(ErrorKind::Protocol, "open a WebSocket", message), unseen: false });
        }
        let upgraded = reply.upgrade().await.map_err(|error| failed(error, "the WebSocket was not opened"))?;
        Ok(Opening::Open(super::socket::native::socket(upgraded, headers).await))
    }

    /// The reply whose head is there, to a request with some headers more.
    async fn answer(
        &self,
        request: &Request,
        more: &[(&'static str, &str)],
    ) -> std::result::Result<reqwest::Response, Unsent> {
        let method = reqwest::Method::from_bytes(request.method.as_str().as_bytes());
        let method = method.map_err(|error| invalid(&error))?;
        let mut builder = self.client.request(method, &request.url);
        for (name, value) in &request.headers {
            let mut text = reqwest::header::HeaderValue::from_bytes(value.expose()).map_err(|error| invalid(&error))?;
            text.set_sensitive(matches!(value, super::HeaderValue::Secret(_)));
            builder = builder.header(*name, text);
        }
        for (name, value) in more {
            builder = builder.header(*name, *value);
        }
        if !request.body.is_empty() {
            builder = with_body(builder, &request.body);
        }
        match within(request.head_time, builder.send()).await {
            Some(sent) => sent.map_err(|error| failed(error, "the provider cannot be reached")),
            None => Err(late("the provider did not answer in time")),
        }
    }
}

/// The headers of a reply, names in lower case.
fn headers(reply: &reqwest::Response) -> Vec<(String, String)> {
    let header = |(name, value): (&reqwest::header::HeaderName, &reqwest::header::HeaderValue)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    reply.headers().iter().map(header).collect()
}

/// How long a connection may take to be made.
#[cfg(not(target_family = "wasm"))]
const CONNECT_TIME: Duration = Duration::from_secs(20);

impl Transport for HttpTransport {
    fn send<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, std::result::Result<Reply, Unsent>> {
        Box::pin(on_this_thread(self.exchange(request)))
    }

    #[cfg(not(target_family = "wasm"))]
    fn open<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, std::result::Result<Opening, Unsent>> {
        Box::pin(self.upgrade(request))
    }
}

#[cfg(not(target_family = "wasm"))]
fn on_this_thread<F>(future: F) -> F {
    future
}

/// What JavaScript hands out belongs to its one thread.
#[cfg(target_family = "wasm")]
fn on_this_thread<F>(future: F) -> send_wrapper::SendWrapper<F> {
    send_wrapper::SendWrapper::new(future)
}

#[cfg(not(target_family = "wasm"))]
fn with_body(builder: reqwest::RequestBuilder, body: &[Bytes]) -> reqwest::RequestBuilder {
    if let [whole] = body {
        return builder.body(whole.clone());
    }
    let length: usize = body.iter().map(Bytes::len).sum();
    let pieces = futures_util::stream::iter(body.to_vec()).map(Ok::<_, std::convert::Infallible>);
    // With a length the body is not sent in chunks, which not every server takes.
    builder.header("content-length", length).body(reqwest::Body::wrap_stream(pieces))
}

#[cfg(target_family = "wasm")]
fn with_body(builder: reqwest::RequestBuilder, body: &[Bytes]) -> reqwest::RequestBuilder {
    builder.body(body.concat())
}

#[cfg(not(target_family = "wasm"))]
fn stream(reply: reqwest::Response) -> impl Stream<Item = reqwest::Result<Bytes>> + Send {
    reply.bytes_stream()
}

#[cfg(target_family = "wasm")]
fn stream(reply: reqwest::Response) -> impl Stream<Item = reqwest::Result<Bytes>> + Send {
    send_wrapper::SendWrapper::new(reply.bytes_stream())
}

struct Incoming {
    stream: std::pin::Pin<Box<dyn Stream<Item = reqwest::Result<Bytes>> + Send>>,
    silence: Duration,
}

impl Pieces for Incoming {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Bytes>>> {
        Box::pin(async move {
            match within(self.silence, self.stream.next()).await {
                Some(Some(Ok(piece))) => Ok(Some(piece)),
                Some(Some(Err(error))) => Err(failed(error, "the connection broke in the middle of a reply").error),
                Some(None) => Ok(None),
                None => Err(late("the provider fell silent in the middle of a reply").error),
            }
        })
    }
}

fn failed(error: reqwest::Error, what: &str) -> Unsent {
    let unseen = is_unseen(&error);
    // A URL may name a sandbox, and its host is in the context anyway.
    let host = error.url().and_then(|url| url.host_str()).unwrap_or_default().to_owned();
    let error = Error::new(ErrorKind::Unavailable, "send a request", what)
        .with_context("host", host)
        .with_source(error.without_url());
    Unsent { error, unseen }
}

#[cfg(not(target_family = "wasm"))]
fn is_unseen(error: &reqwest::Error) -> bool {
    error.is_connect()
}

/// `fetch` does not tell whether anything was sent.
#[cfg(target_family = "wasm")]
fn is_unseen(_: &reqwest::Error) -> bool {
    false
}

fn late(what: &str) -> Unsent {
    Unsent { error: Error::new(ErrorKind::Timeout, "send a request", what), unseen: false }
}

fn invalid(error: &dyn std::fmt::Display) -> Unsent {
    let message = format!("the request cannot be written: {error}");
    Unsent { error: Error::new(ErrorKind::InvalidRequest, "send a request", message), unseen: true }
}

#[cfg(not(target_family = "wasm"))]
mod native {
    use std::sync::Arc;

    use rustls::ClientConfig;
    use rustls::crypto::ring;
    use rustls_platform_verifier::BuilderVerifierExt as _;

    /// TLS 1.2 and 1.3 with the platform's roots, by ring, which the rest of the program links already.
    pub(super) fn tls() -> Result<ClientConfig, rustls::Error> {
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        Ok(builder.with_safe_default_protocol_versions()?.with_platform_verifier()?.with_no_client_auth())
    }
}
