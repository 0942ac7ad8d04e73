//! Requests over HTTP, by reqwest with hyper and rustls.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tidebox_core::{BoxFuture, Error, ErrorKind, Result};

use super::socket::Opening;
use super::{Pieces, Protocol, Reply, Request, Transport, Unsent, within};

/// Keeps connections open between requests.
#[derive(Clone, Debug)]
pub struct HttpTransport {
    client: reqwest::Client,
    http2: reqwest::Client,
}

impl HttpTransport {
    /// A transport that uses the proxy that the caller names, and no other: variables of the environment are not read, so
    /// that credentials go nowhere by surprise.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] when the proxy is no URL.
    pub fn new(proxy: Option<&str>) -> Result<Arc<Self>> {
        let builder = native::builder(proxy)?;
        // Downloads of one provider send empty frames, which trip the limits of HTTP/2.
        let client = builder.http1_only().build().map_err(|error| native::failed(&error.without_url()))?;
        let http2 = native::builder(proxy)?
            .http2_prior_knowledge()
            .http2_initial_stream_window_size(native::WINDOW)
            .http2_initial_connection_window_size(native::WINDOW * 4)
            // A command may be silent for long; a connection that is gone is noticed all the same.
            .http2_keep_alive_interval(native::ALIVE)
            .http2_keep_alive_timeout(native::ALIVE)
            .build()
            .map_err(|error| native::failed(&error.without_url()))?;
        Ok(Arc::new(Self { client, http2 }))
    }

    async fn exchange(&self, request: &Request) -> std::result::Result<Reply, Unsent> {
        let reply = self.answer(request, &[]).await?;
        let headers = headers(&reply);
        let (status, silence) = (reply.status().as_u16(), request.silence);
        Ok(Reply::new(status, headers, Box::new(Incoming { body: Body::new(reply), silence })))
    }

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
            let body = Box::new(Incoming { body: Body::new(reply), silence });
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
        let mut builder = self.client_of(request.protocol).request(method, &request.url);
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

    fn client_of(&self, protocol: Protocol) -> &reqwest::Client {
        match protocol {
            Protocol::Http1 => &self.client,
            Protocol::Http2 => &self.http2,
        }
    }
}

/// The headers of a reply, names in lower case.
fn headers(reply: &reqwest::Response) -> Vec<(String, String)> {
    reply.headers().iter().map(named).collect()
}

impl Transport for HttpTransport {
    fn send<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, std::result::Result<Reply, Unsent>> {
        Box::pin(self.exchange(request))
    }

    fn open<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, std::result::Result<Opening, Unsent>> {
        Box::pin(self.upgrade(request))
    }
}

fn with_body(builder: reqwest::RequestBuilder, body: &[Bytes]) -> reqwest::RequestBuilder {
    if let [whole] = body {
        return builder.body(whole.clone());
    }
    let length: usize = body.iter().map(Bytes::len).sum();
    let body: Vec<_> = body.iter().cloned().map(Ok::<_, std::convert::Infallible>).collect();
    let pieces = futures_util::stream::iter(body);
    // With a length the body is not sent in chunks, which not every server takes.
    builder.header("content-length", length).body(reqwest::Body::wrap_stream(pieces))
}

/// The body of a reply, with the trailers that it ended with.
struct Body {
    body: reqwest::Body,
    trailers: Vec<(String, String)>,
}

impl Body {
    fn new(reply: reqwest::Response) -> Self {
        Self { body: http::Response::<reqwest::Body>::from(reply).into_body(), trailers: Vec::new() }
    }

    async fn next(&mut self) -> Option<reqwest::Result<Bytes>> {
        use http_body_util::BodyExt as _;
        loop {
            let frame = match self.body.frame().await? {
                Ok(frame) => frame,
                Err(error) => return Some(Err(error)),
            };
            match frame.into_data() {
                Ok(piece) => return Some(Ok(piece)),
                Err(frame) => {
                    if let Ok(trailers) = frame.into_trailers() {
                        self.trailers.extend(trailers.iter().map(named));
                    }
                }
            }
        }
    }
}

fn named((name, value): (&reqwest::header::HeaderName, &reqwest::header::HeaderValue)) -> (String, String) {
    (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
}

struct Incoming {
    body: Body,
    silence: Duration,
}

impl Pieces for Incoming {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Bytes>>> {
        Box::pin(async move {
            match within(self.silence, self.body.next()).await {
                Some(Some(Ok(piece))) => Ok(Some(piece)),
                Some(Some(Err(error))) => Err(failed(error, "the connection broke in the middle of a reply").error),
                Some(None) => Ok(None),
                None => Err(late("the provider fell silent in the middle of a reply").error),
            }
        })
    }

    fn trailers(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.body.trailers)
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

fn is_unseen(error: &reqwest::Error) -> bool {
    error.is_connect()
}

fn late(what: &str) -> Unsent {
    Unsent { error: Error::new(ErrorKind::Timeout, "send a request", what), unseen: false }
}

fn invalid(error: &dyn std::fmt::Display) -> Unsent {
    let message = format!("the request cannot be written: {error}");
    Unsent { error: Error::new(ErrorKind::InvalidRequest, "send a request", message), unseen: true }
}

mod native {
    use std::sync::Arc;
    use std::time::Duration;

    use rustls::ClientConfig;
    use rustls::crypto::ring;
    use rustls_platform_verifier::BuilderVerifierExt as _;
    use tidebox_core::{Error, ErrorKind, Result};

    /// How long a connection may take to be made.
    const CONNECT_TIME: Duration = Duration::from_secs(20);

    /// What may be on its way in one stream of HTTP/2.
    pub(super) const WINDOW: u32 = 4 << 20;

    /// How often a connection with calls in progress is asked whether it is there, and how long it may take to answer.
    pub(super) const ALIVE: Duration = Duration::from_secs(20);

    /// What both kinds of connections have in common.
    pub(super) fn builder(proxy: Option<&str>) -> Result<reqwest::ClientBuilder> {
        let builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls().map_err(|error| failed(&error))?)
            .user_agent(concat!("tidebox/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIME)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy();
        match proxy {
            Some(proxy) => Ok(builder.proxy(reqwest::Proxy::all(proxy).map_err(|error| failed(&error.without_url()))?)),
            None => Ok(builder),
        }
    }

    pub(super) fn failed(error: &dyn std::fmt::Display) -> Error {
        Error::new(ErrorKind::InvalidRequest, "set up HTTP", format!("the connection cannot be set up: {error}"))
    }

    /// TLS 1.2 and 1.3 with the platform's roots, by ring, which the rest of the program links already.
    fn tls() -> std::result::Result<ClientConfig, rustls::Error> {
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        Ok(builder.with_safe_default_protocol_versions()?.with_platform_verifier()?.with_no_client_auth())
    }
}
