//! Steps of every request: check, resolve, check the addresses, add credentials, send, count, log.

use core::net::SocketAddr;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use super::denied::{DenyReason, RequestDenied};
use super::gateway::{Body, GatewayError, GatewayErrorKind, GatewayReply, GatewayRequest, HttpGateway, Timings};
use super::header;
use super::log::{NetworkLog, RequestOutcome};
use super::mask::SecretMasker;
use super::policy::{NetworkPolicy, Permit};
use super::target::{Host, Target};
use super::usage::{RequestGuard, RequestRecord, UsageMeter};
use crate::secret::Secret;

/// The sandbox's clocks.
pub trait NetworkClock: Send + Sync {
    /// Returns the time since the Unix epoch.
    fn realtime(&self) -> Duration;
    /// Returns the time since a fixed moment. Never decreases.
    fn monotonic(&self) -> Duration;
}

/// A request from a guest. Untrusted.
#[derive(Default)]
pub struct NetworkRequest {
    /// The method.
    pub method: String,
    /// The URL.
    pub url: String,
    /// The headers in order, without those of the framing.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body, and its exact length if known.
    pub body: Option<(Box<dyn Body>, Option<u64>)>,
    /// Timeout of the connection. The policy's limit applies if this is longer or `None`.
    pub connect_time: Option<Duration>,
    /// Timeout of the whole request. The policy's limit applies if this is longer or `None`.
    pub request_time: Option<Duration>,
}

impl fmt::Debug for NetworkRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NetworkRequest").field("method", &self.method).field("url", &self.url).finish_non_exhaustive()
    }
}

/// Reason for a missing or incomplete response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkError {
    /// The policy denied the request.
    Denied(RequestDenied),
    /// The network failed.
    Failed(GatewayError),
}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied(denied) => denied.fmt(f),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NetworkError {}

impl From<RequestDenied> for NetworkError {
    fn from(denied: RequestDenied) -> Self {
        Self::Denied(denied)
    }
}

impl From<GatewayError> for NetworkError {
    fn from(error: GatewayError) -> Self {
        Self::Failed(error)
    }
}

/// The network of one sandbox: its policy, usage and log.
pub struct Network {
    policy: Arc<NetworkPolicy>,
    gateway: Arc<dyn HttpGateway>,
    clock: Arc<dyn NetworkClock>,
    meter: Arc<UsageMeter>,
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").field("policy", &self.policy).field("gateway", &self.gateway).finish_non_exhaustive()
    }
}

impl Network {
    /// Creates a network without any usage.
    pub fn new(policy: Arc<NetworkPolicy>, gateway: Arc<dyn HttpGateway>, clock: Arc<dyn NetworkClock>) -> Self {
        let meter = Arc::new(UsageMeter::new(policy.limits().clone()));
        Self { policy, gateway, clock, meter }
    }

    /// Returns the log of all requests.
    pub fn log(&self) -> NetworkLog {
        self.meter.log()
    }

    /// Sends a request and returns as soon as the head of the response has arrived. Dropping the future or the [`Exchange`]
    /// cancels the request. Every call creates one entry in the log, whatever its outcome.
    ///
    /// # Errors
    /// A [`NetworkError`], which must be reported to the guest.
    pub async fn begin(&self, request: NetworkRequest) -> Result<Exchange, NetworkError> {
        let guard = self.meter.open(&request.method, &request.url, Arc::clone(&self.clock))?;
        match self.send_once(request, &guard).await {
            Ok(parts) => Ok(Exchange::new(parts, guard)),
            Err(failure) => Err(guard.fail(failure)),
        }
    }

    async fn send_once(&self, request: NetworkRequest, guard: &RequestGuard) -> Result<ResponseParts, NetworkError> {
        let limits = self.policy.limits();
        let target = Target::parse(&request.url)?;
        guard.describe(target.to_string());
        let permit = self.policy.check(&target, &request.method)?;
        let head_bytes = header::check_headers(&request.headers, limits.header_bytes)?;
        let request_time = request.request_time.unwrap_or(limits.request_time).min(limits.request_time);
        let connect_time = request.connect_time.unwrap_or(limits.connect_time).min(limits.connect_time);
        let addresses = match permit.static_addresses() {
            Some(addresses) => permit.filter_addresses(&addresses)?,
            None if self.gateway.connects_by_name() => Vec::new(),
            None => permit.filter_addresses(&self.resolve(&target.host, connect_time.min(request_time)).await?)?,
        };
        let resolved = guard.elapsed();
        guard.send(head_bytes + (request.method.len() + target.path.len()) as u64)?;
        let (headers, masker) = inject(request.headers, &permit, guard);
        let body = request.body.map(|(body, length)| {
            let counted: Box<dyn Body> = Box::new(MeteredBody { body, record: guard.record(), length, sent: 0 });
            (counted, length)
        });
        let reply = self
            .gateway
            .send(GatewayRequest {
                method: request.method,
                target: target.clone(),
                addresses,
                headers,
                body,
                head_bytes: limits.header_bytes,
                connect_time,
                request_time: request_time.saturating_sub(resolved),
            })
            .await?;
        let (headers, redirect) = check_response_head(&reply, &target, guard, &masker, limits.header_bytes)?;
        Ok(ResponseParts { reply, headers, redirect, target, resolved, masker })
    }

    async fn resolve(&self, host: &Host, within: Duration) -> Result<Vec<core::net::IpAddr>, GatewayError> {
        let addresses = self.gateway.resolve(host.to_string(), within).await?;
        if addresses.is_empty() {
            return Err(GatewayError::new(GatewayErrorKind::Resolve, format!("{host} has no address")));
        }
        Ok(addresses)
    }
}

/// Replaces headers of the guest by credentials with the same names.
fn inject(
    mut headers: Vec<(String, Vec<u8>)>,
    permit: &Permit<'_>,
    record: &RequestRecord,
) -> (Vec<(String, Secret)>, SecretMasker) {
    let injections = permit.injections();
    headers.retain(|(name, _)| !injections.iter().any(|injection| injection.header().eq_ignore_ascii_case(name)));
    let mut headers: Vec<(String, Secret)> =
        headers.into_iter().map(|(name, value)| (name, Secret::new(value))).collect();
    for injection in injections {
        headers.push((injection.header().to_owned(), injection.value().clone()));
        record.credential(injection.name());
    }
    (headers, SecretMasker::new(injections.iter().map(|injection| injection.value())))
}

/// Body of a request, which is counted and must have the declared length.
struct MeteredBody {
    body: Box<dyn Body>,
    record: Arc<RequestRecord>,
    length: Option<u64>,
    sent: u64,
}

impl MeteredBody {
    fn take(&mut self, bytes: u64) -> Result<(), RequestDenied> {
        self.sent = self.sent.saturating_add(bytes);
        if self.length.is_some_and(|length| self.sent > length) {
            return Err(RequestDenied::new(DenyReason::Header, "the body is longer than its declared length"));
        }
        self.record.send_body(self.sent, bytes)
    }
}

impl Body for MeteredBody {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, GatewayError>>> {
        let outcome = match ready!(self.body.poll_chunk(cx)) {
            Some(Ok(chunk)) => self.take(chunk.len() as u64).map(|()| chunk),
            None if self.length.is_some_and(|length| self.sent < length) => {
                Err(RequestDenied::new(DenyReason::Header, "the body is shorter than its declared length"))
            }
            other => return Poll::Ready(other),
        };
        Poll::Ready(Some(outcome.map_err(|denied| {
            // The gateway reports an aborted body; the reason is stored in the request record.
            self.record.set_body_error(denied.clone());
            GatewayError::new(GatewayErrorKind::Send, denied.message)
        })))
    }
}

type Headers = Vec<(String, Vec<u8>)>;

/// Parts of an [`Exchange`].
struct ResponseParts {
    reply: GatewayReply,
    headers: Headers,
    redirect: Option<Target>,
    target: Target,
    resolved: Duration,
    masker: SecretMasker,
}

/// Checks, charges and masks the head of a response: its headers and the redirect target.
fn check_response_head(
    reply: &GatewayReply,
    target: &Target,
    record: &RequestRecord,
    masker: &SecretMasker,
    most: u32,
) -> Result<(Headers, Option<Target>), NetworkError> {
    let bad = |message: &str| GatewayError::new(GatewayErrorKind::Protocol, message);
    let mut headers = reply.headers.clone();
    let bytes = headers.iter().map(|(name, value)| name.len() + value.len() + 4).sum::<usize>() as u64;
    if bytes > u64::from(most) {
        return Err(bad("the response head is larger than the policy allows").into());
    }
    if !(100..=999).contains(&reply.status)
        || !headers.iter().all(|(name, value)| header::is_name(name) && header::is_value(value))
    {
        return Err(bad("the response head is malformed").into());
    }
    record.set_status(reply.status);
    record.receive(bytes)?;
    for (_, value) in &mut headers {
        masker.mask(value);
    }
    let redirect = matches!(reply.status, 301 | 302 | 303 | 307 | 308)
        .then(|| headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("location")))
        .flatten()
        .and_then(|(_, value)| target.follow(&String::from_utf8_lossy(value)));
    Ok((headers, redirect))
}

/// A response whose head has arrived.
pub struct Exchange {
    /// The requested target.
    pub target: Target,
    /// Minor version of HTTP/1.
    pub minor_version: u8,
    /// Status code, 100 to 999.
    pub status: u16,
    /// The reason phrase, printable.
    pub reason: String,
    /// The headers in order; names are tokens and values contain no newlines.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The redirect target, if another request can follow it.
    pub redirect: Option<Target>,
    /// The address of the server.
    pub peer: Option<SocketAddr>,
    /// Duration of name resolution, by the sandbox's clock.
    pub resolved: Duration,
    /// Durations reported by the gateway.
    pub timings: Timings,
    body: Box<dyn Body>,
    masker: SecretMasker,
    record: RequestGuard,
    ended: bool,
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange").field("target", &self.target).field("status", &self.status).finish_non_exhaustive()
    }
}

impl Exchange {
    fn new(parts: ResponseParts, record: RequestGuard) -> Self {
        let ResponseParts { reply, headers, redirect, target, resolved, masker } = parts;
        Self {
            minor_version: reply.minor_version.min(1),
            status: reply.status,
            reason: reply.reason.chars().filter(|char| !char.is_control()).take(256).collect(),
            headers,
            redirect,
            peer: reply.peer,
            resolved,
            timings: reply.timings,
            body: reply.body,
            masker,
            record,
            target,
            ended: false,
        }
    }

    /// Returns the next chunk of the body; `None` at the end and for every later call.
    pub async fn chunk(&mut self) -> Option<Result<Vec<u8>, NetworkError>> {
        poll_fn(|cx| self.poll_chunk(cx)).await
    }

    /// Polling form of [`chunk`](Self::chunk).
    pub fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, NetworkError>>> {
        while !self.ended {
            let visible = match ready!(self.body.poll_chunk(cx)) {
                Some(Ok(chunk)) => match self.record.receive_body(chunk.len() as u64) {
                    Ok(()) => self.masker.push(chunk),
                    Err(denied) => return self.fail(denied.into()),
                },
                Some(Err(error)) => return self.fail(error.into()),
                None => {
                    self.ended = true;
                    self.record.finish(RequestOutcome::Completed);
                    self.masker.finish()
                }
            };
            if !visible.is_empty() {
                return Poll::Ready(Some(Ok(visible)));
            }
        }
        Poll::Ready(None)
    }

    fn fail(&mut self, failure: NetworkError) -> Poll<Option<Result<Vec<u8>, NetworkError>>> {
        self.ended = true;
        Poll::Ready(Some(Err(self.record.fail(failure))))
    }
}
