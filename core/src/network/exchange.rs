//! The way of every request: check, resolve, check the addresses, add credentials, send, count, log.

use core::net::SocketAddr;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use super::account::{Account, Driven, Ticket};
use super::gateway::{Body, GatewayError, GatewayErrorKind, GatewayReply, GatewayRequest, HttpGateway, Timings};
use super::header;
use super::log::{Decision, NetworkLog};
use super::policy::{NetworkPolicy, Permit};
use super::refusal::{Refusal, RefusalKind};
use super::scrub::Scrubber;
use super::target::{Host, Target};
use crate::secret::Secret;

/// The sandbox's clocks.
pub trait NetworkClock: Send + Sync {
    /// Time since the Unix epoch.
    fn realtime(&self) -> Duration;
    /// Time since some fixed moment, never going back.
    fn monotonic(&self) -> Duration;
}

/// A request as a guest asks for it. Nothing in it is believed.
#[derive(Default)]
pub struct NetworkRequest {
    /// The method.
    pub method: String,
    /// The URL.
    pub url: String,
    /// The headers in order, without those of the frame.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body, and its exact length when that is known.
    pub body: Option<(Box<dyn Body>, Option<u64>)>,
    /// Time for the connection; the policy's limit holds when this is longer or `None`.
    pub connect_time: Option<Duration>,
    /// Time for everything; the policy's limit holds when this is longer or `None`.
    pub request_time: Option<Duration>,
}

impl fmt::Debug for NetworkRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NetworkRequest").field("method", &self.method).field("url", &self.url).finish_non_exhaustive()
    }
}

/// Why there is no reply, or not all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The policy says no.
    Refused(Refusal),
    /// The network failed.
    Failed(GatewayError),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<GatewayError> for Failure {
    fn from(error: GatewayError) -> Self {
        Self::Failed(error)
    }
}

/// The network of one sandbox: its policy, what it has used, and its log.
pub struct Network {
    policy: Arc<NetworkPolicy>,
    gateway: Arc<dyn HttpGateway>,
    clock: Arc<dyn NetworkClock>,
    account: Arc<Account>,
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").field("policy", &self.policy).field("gateway", &self.gateway).finish_non_exhaustive()
    }
}

impl Network {
    /// A network that nothing has used yet.
    pub fn new(policy: Arc<NetworkPolicy>, gateway: Arc<dyn HttpGateway>, clock: Arc<dyn NetworkClock>) -> Self {
        let account = Arc::new(Account::new(policy.limits().clone()));
        Self { policy, gateway, clock, account }
    }

    /// What was asked so far.
    pub fn log(&self) -> NetworkLog {
        self.account.log()
    }

    /// Sends a request and returns when the head of the reply is there. Dropping the future or the [`Exchange`] ends the
    /// request. Every call is one entry in the log, whatever comes of it.
    ///
    /// # Errors
    /// A [`Failure`], which the guest is to be told.
    pub async fn begin(&self, request: NetworkRequest) -> Result<Exchange, Failure> {
        let driven = self.account.open(&request.method, &request.url, Arc::clone(&self.clock))?;
        match self.attempt(request, &driven).await {
            Ok(begun) => Ok(Exchange::new(begun, driven)),
            Err(failure) => Err(driven.fail(failure)),
        }
    }

    async fn attempt(&self, request: NetworkRequest, driven: &Driven) -> Result<Begun, Failure> {
        let limits = self.policy.limits();
        let target = Target::parse(&request.url)?;
        driven.describe(target.to_string());
        let permit = self.policy.check(&target, &request.method)?;
        let head_bytes = header::check_headers(&request.headers, limits.head_bytes)?;
        let request_time = request.request_time.unwrap_or(limits.request_time).min(limits.request_time);
        let connect_time = request.connect_time.unwrap_or(limits.connect_time).min(limits.connect_time);
        let addresses = match permit.known() {
            Some(addresses) => permit.admit(&addresses)?,
            None if self.gateway.connects_by_name() => Vec::new(),
            None => permit.admit(&self.look_up(&target.host, connect_time.min(request_time)).await?)?,
        };
        let resolved = driven.passed();
        driven.send(head_bytes + (request.method.len() + target.path.len()) as u64)?;
        let (headers, scrubber) = inject(request.headers, &permit, driven);
        let body = request.body.map(|(body, length)| {
            let counted: Box<dyn Body> = Box::new(Sent { body, ticket: driven.ticket(), length, sent: 0 });
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
                head_bytes: limits.head_bytes,
                connect_time,
                request_time: request_time.saturating_sub(resolved),
            })
            .await?;
        let (headers, redirect) = take_head(&reply, &target, driven, &scrubber, limits.head_bytes)?;
        Ok(Begun { reply, headers, redirect, target, resolved, scrubber })
    }

    async fn look_up(&self, host: &Host, within: Duration) -> Result<Vec<core::net::IpAddr>, GatewayError> {
        let addresses = self.gateway.resolve(host.to_string(), within).await?;
        if addresses.is_empty() {
            return Err(GatewayError::new(GatewayErrorKind::Resolve, format!("{host} has no address")));
        }
        Ok(addresses)
    }
}

/// Puts the credentials in place of what the guest sent under their names.
fn inject(
    mut headers: Vec<(String, Vec<u8>)>,
    permit: &Permit<'_>,
    ticket: &Ticket,
) -> (Vec<(String, Secret)>, Scrubber) {
    let injections = permit.injections();
    headers.retain(|(name, _)| !injections.iter().any(|injection| injection.header().eq_ignore_ascii_case(name)));
    let mut headers: Vec<(String, Secret)> =
        headers.into_iter().map(|(name, value)| (name, Secret::new(value))).collect();
    for injection in injections {
        headers.push((injection.header().to_owned(), injection.value().clone()));
        ticket.credential(injection.name());
    }
    (headers, Scrubber::new(injections.iter().map(|injection| injection.value())))
}

/// The body of a request, counted and held to the length that was announced.
struct Sent {
    body: Box<dyn Body>,
    ticket: Arc<Ticket>,
    length: Option<u64>,
    sent: u64,
}

impl Sent {
    fn take(&mut self, bytes: u64) -> Result<(), Refusal> {
        self.sent = self.sent.saturating_add(bytes);
        if self.length.is_some_and(|length| self.sent > length) {
            return Err(Refusal::new(RefusalKind::Header, "the body is longer than the length that was announced"));
        }
        self.ticket.send_body(self.sent, bytes)
    }
}

impl Body for Sent {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, GatewayError>>> {
        let outcome = match ready!(self.body.poll_chunk(cx)) {
            Some(Ok(piece)) => self.take(piece.len() as u64).map(|()| piece),
            None if self.length.is_some_and(|length| self.sent < length) => {
                Err(Refusal::new(RefusalKind::Header, "the body is shorter than the length that was announced"))
            }
            other => return Poll::Ready(other),
        };
        Poll::Ready(Some(outcome.map_err(|refusal| {
            // The gateway reports a broken body; the reason waits for it in the ticket.
            self.ticket.note(refusal.clone());
            GatewayError::new(GatewayErrorKind::Send, refusal.message)
        })))
    }
}

type Headers = Vec<(String, Vec<u8>)>;

/// What an exchange is made of.
struct Begun {
    reply: GatewayReply,
    headers: Headers,
    redirect: Option<Target>,
    target: Target,
    resolved: Duration,
    scrubber: Scrubber,
}

/// Checks, charges and cleans the head of a reply: its headers, and where a redirect leads to.
fn take_head(
    reply: &GatewayReply,
    target: &Target,
    ticket: &Ticket,
    scrubber: &Scrubber,
    most: u32,
) -> Result<(Headers, Option<Target>), Failure> {
    let bad = |message: &str| GatewayError::new(GatewayErrorKind::Protocol, message);
    let mut headers = reply.headers.clone();
    let bytes = headers.iter().map(|(name, value)| name.len() + value.len() + 4).sum::<usize>() as u64;
    if bytes > u64::from(most) {
        return Err(bad("the head of the reply is larger than the policy allows").into());
    }
    if !(100..=999).contains(&reply.status)
        || !headers.iter().all(|(name, value)| header::is_name(name) && header::is_value(value))
    {
        return Err(bad("the head of the reply is malformed").into());
    }
    ticket.answered(reply.status);
    ticket.receive(bytes)?;
    for (_, value) in &mut headers {
        scrubber.mask(value);
    }
    let redirect = matches!(reply.status, 301 | 302 | 303 | 307 | 308)
        .then(|| headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("location")))
        .flatten()
        .and_then(|(_, value)| target.follow(&String::from_utf8_lossy(value)));
    Ok((headers, redirect))
}

/// A reply whose head is there.
pub struct Exchange {
    /// What was asked.
    pub target: Target,
    /// Minor version of HTTP/1.
    pub minor_version: u8,
    /// Status code, 100 to 999.
    pub status: u16,
    /// The words after the code, printable.
    pub reason: String,
    /// The headers in order; names are tokens and values hold no line ends.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Where a redirect leads to, when it can be followed by another request.
    pub redirect: Option<Target>,
    /// Who answered.
    pub peer: Option<SocketAddr>,
    /// How long resolving took, by the sandbox's clock.
    pub resolved: Duration,
    /// How long the gateway took.
    pub timings: Timings,
    body: Box<dyn Body>,
    scrubber: Scrubber,
    ticket: Driven,
    ended: bool,
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange").field("target", &self.target).field("status", &self.status).finish_non_exhaustive()
    }
}

impl Exchange {
    fn new(begun: Begun, ticket: Driven) -> Self {
        let Begun { reply, headers, redirect, target, resolved, scrubber } = begun;
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
            scrubber,
            ticket,
            target,
            ended: false,
        }
    }

    /// The next piece of the body; `None` at the end, and ever after.
    pub async fn chunk(&mut self) -> Option<Result<Vec<u8>, Failure>> {
        poll_fn(|cx| self.poll_chunk(cx)).await
    }

    /// As [`chunk`](Self::chunk), for those who poll.
    pub fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, Failure>>> {
        while !self.ended {
            let shown = match ready!(self.body.poll_chunk(cx)) {
                Some(Ok(piece)) => match self.ticket.receive_body(piece.len() as u64) {
                    Ok(()) => self.scrubber.push(piece),
                    Err(refusal) => return self.fail(refusal.into()),
                },
                Some(Err(error)) => return self.fail(error.into()),
                None => {
                    self.ended = true;
                    self.ticket.settle(Decision::Answered);
                    self.scrubber.finish()
                }
            };
            if !shown.is_empty() {
                return Poll::Ready(Some(Ok(shown)));
            }
        }
        Poll::Ready(None)
    }

    fn fail(&mut self, failure: Failure) -> Poll<Option<Result<Vec<u8>, Failure>>> {
        self.ended = true;
        Poll::Ready(Some(Err(self.ticket.fail(failure))))
    }
}
