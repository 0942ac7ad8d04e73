//! HTTP requests, using reqwest with hyper and rustls.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tidebox_core::{Error, ErrorKind, Result};

use super::socket::UpgradeResult;
use super::{BodyStream, Protocol, Request, Response, SendError, Transport, timeout};

/// HTTP transport that keeps connections open between requests.
#[derive(Clone, Debug)]
pub struct HttpTransport {
    client: reqwest::Client,
    http2: reqwest::Client,
}

impl HttpTransport {
    /// Creates a transport that uses only the given proxy. Proxy environment variables are ignored, so that credentials
    /// are never sent to an unexpected host.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] if the proxy is not a URL.
    pub fn new(proxy: Option<&str>) -> Result<Arc<Self>> {
        let builder = native::builder(proxy)?;
        // Downloads of one provider contain empty frames, which exceed the limits of HTTP/2.
        let client = builder.http1_only().build().map_err(|error| native::failed(&error.without_url()))?;
        let http2 = native::builder(proxy)?
            .http2_prior_knowledge()
            .http2_initial_stream_window_size(native::WINDOW)
            .http2_initial_connection_window_size(native::WINDOW * 4)
            // A command may be silent for long; keep-alive detects a lost connection.
            .http2_keep_alive_interval(native::KEEPALIVE_INTERVAL)
            .http2_keep_alive_timeout(native::KEEPALIVE_INTERVAL)
            .build()
            .map_err(|error| native::failed(&error.without_url()))?;
        Ok(Arc::new(Self { client, http2 }))
    }

    async fn exchange(&self, request: &Request) -> std::result::Result<Response, SendError> {
        let reply = self.send_with_headers(request, &[]).await?;
        let headers = headers(&reply);
        let (status, idle_timeout) = (reply.status().as_u16(), request.idle_timeout);
        Ok(Response::new(status, headers, Box::new(Incoming { body: Body::new(reply), idle_timeout })))
    }

    async fn upgrade(&self, request: &Request) -> std::result::Result<UpgradeResult, SendError> {
        use tokio_tungstenite::tungstenite::handshake::{client::generate_key, derive_accept_key};
        let key = generate_key();
        let handshake = [
            ("connection", "upgrade"),
            ("upgrade", "websocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", &key),
        ];
        let reply = self.send_with_headers(request, &handshake).await?;
        let headers = headers(&reply);
        if reply.status().as_u16() != 101 {
            let (status, idle_timeout) = (reply.status().as_u16(), request.idle_timeout);
            let body = Box::new(Incoming { body: Body::new(reply), idle_timeout });
            return Ok(UpgradeResult::Rejected(Response::new(status, headers, body)));
        }
        let expected = derive_accept_key(key.as_bytes());
        if !headers.iter().any(|(name, value)| name == "sec-websocket-accept" && *value == expected) {
            let message = "the WebSocket handshake response does not match the request";
            return Err(SendError {
                error: Error::new(ErrorKind::Protocol, "open a WebSocket", message),
                not_sent: false,
            });
        }
        let upgraded = reply.upgrade().await.map_err(|error| failed(error, "the WebSocket was not opened"))?;
        Ok(UpgradeResult::Open(super::socket::native::socket(upgraded, headers).await))
    }

    /// Sends a request with extra headers and returns the response once its headers have arrived.
    async fn send_with_headers(
        &self,
        request: &Request,
        more: &[(&'static str, &str)],
    ) -> std::result::Result<reqwest::Response, SendError> {
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
        match timeout(request.header_timeout, builder.send()).await {
            Some(sent) => sent.map_err(|error| failed(error, "the provider is unreachable")),
            None => Err(timeout_error("the provider did not respond in time")),
        }
    }

    fn client_of(&self, protocol: Protocol) -> &reqwest::Client {
        match protocol {
            Protocol::Http1 => &self.client,
            Protocol::Http2 => &self.http2,
        }
    }
}

/// Returns the headers of a response, names in lower case.
fn headers(reply: &reqwest::Response) -> Vec<(String, String)> {
    reply.headers().iter().map(header_pair).collect()
}

#[async_trait]
impl Transport for HttpTransport {
    async fn send(&self, request: &Request) -> std::result::Result<Response, SendError> {
        self.exchange(request).await
    }

    async fn open(&self, request: &Request) -> std::result::Result<UpgradeResult, SendError> {
        self.upgrade(request).await
    }
}

fn with_body(builder: reqwest::RequestBuilder, body: &[Bytes]) -> reqwest::RequestBuilder {
    if let [whole] = body {
        return builder.body(whole.clone());
    }
    let length: usize = body.iter().map(Bytes::len).sum();
    let body: Vec<_> = body.iter().cloned().map(Ok::<_, std::convert::Infallible>).collect();
    let chunks = futures_util::stream::iter(body);
    // With a length, the body is not sent chunked, which some servers reject.
    builder.header("content-length", length).body(reqwest::Body::wrap_stream(chunks))
}

/// Body of a response, with its trailers.
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
                Ok(chunk) => return Some(Ok(chunk)),
                Err(frame) => {
                    if let Ok(trailers) = frame.into_trailers() {
                        self.trailers.extend(trailers.iter().map(header_pair));
                    }
                }
            }
        }
    }
}

fn header_pair((name, value): (&reqwest::header::HeaderName, &reqwest::header::HeaderValue)) -> (String, String) {
    (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
}

struct Incoming {
    body: Body,
    idle_timeout: Duration,
}

#[async_trait]
impl BodyStream for Incoming {
    async fn next(&mut self) -> Result<Option<Bytes>> {
        match timeout(self.idle_timeout, self.body.next()).await {
            Some(Some(Ok(chunk))) => Ok(Some(chunk)),
            Some(Some(Err(error))) => Err(failed(error, "the connection was lost during the response").error),
            Some(None) => Ok(None),
            None => Err(timeout_error("the provider stopped sending during the response").error),
        }
    }

    fn trailers(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.body.trailers)
    }
}

fn failed(error: reqwest::Error, what: &str) -> SendError {
    let unseen = was_not_sent(&error);
    // Remove the URL: it may name a sandbox, and its host is in the context anyway.
    let host = error.url().and_then(|url| url.host_str()).unwrap_or_default().to_owned();
    let error = Error::new(ErrorKind::Unavailable, "send a request", what)
        .with_context("host", host)
        .with_source(error.without_url());
    SendError { error, not_sent: unseen }
}

fn was_not_sent(error: &reqwest::Error) -> bool {
    error.is_connect()
}

fn timeout_error(what: &str) -> SendError {
    SendError { error: Error::new(ErrorKind::Timeout, "send a request", what), not_sent: false }
}

fn invalid(error: &dyn std::fmt::Display) -> SendError {
    let message = format!("cannot encode the request: {error}");
    SendError { error: Error::new(ErrorKind::InvalidRequest, "send a request", message), not_sent: true }
}

mod native {
    use std::sync::Arc;
    use std::time::Duration;

    use rustls::ClientConfig;
    use rustls::crypto::ring;
    use rustls_platform_verifier::BuilderVerifierExt as _;
    use tidebox_core::{Error, ErrorKind, Result};

    /// Connect timeout.
    const CONNECT_TIME: Duration = Duration::from_secs(20);

    /// HTTP/2 flow control window of one stream.
    pub(super) const WINDOW: u32 = 4 << 20;

    /// Interval and timeout of HTTP/2 keep-alive pings on connections with calls in progress.
    pub(super) const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(20);

    /// Settings common to both kinds of connections.
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
        Error::new(ErrorKind::InvalidRequest, "set up HTTP", format!("cannot set up the connection: {error}"))
    }

    /// TLS 1.2 and 1.3 with the platform's root certificates, using ring, which the rest of the program already links.
    fn tls() -> std::result::Result<ClientConfig, rustls::Error> {
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        Ok(builder.with_safe_default_protocol_versions()?.with_platform_verifier()?.with_no_client_auth())
    }
}
