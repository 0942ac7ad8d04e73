//! A scripted gateway.

mod address;
mod flow;
mod git_rule;
mod policy;

use core::net::IpAddr;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::*;
use crate::backend::BoxFuture;

/// Runs a future that never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = Box::pin(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the future must not wait"),
    }
}

/// A body of these chunks.
struct Chunks(VecDeque<Result<Vec<u8>, GatewayError>>);

impl Chunks {
    fn boxed<P: Into<Vec<u8>>>(chunks: impl IntoIterator<Item = P>) -> Box<dyn Body> {
        Box::new(Self(chunks.into_iter().map(|chunk| Ok(chunk.into())).collect()))
    }
}

impl Body for Chunks {
    fn poll_chunk(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, GatewayError>>> {
        Poll::Ready(self.0.pop_front())
    }
}

/// A request as passed to the gateway.
#[derive(Clone, Debug)]
struct SentRequest {
    url: String,
    addresses: Vec<IpAddr>,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// Returns addresses from a list, one entry per look-up, and responses from another list.
#[derive(Debug, Default)]
struct ScriptedGateway {
    lookups: Mutex<VecDeque<Vec<IpAddr>>>,
    replies: Mutex<VecDeque<Reply>>,
    sent_requests: Mutex<Vec<SentRequest>>,
}

#[derive(Debug)]
struct Reply {
    status: u16,
    headers: Vec<(String, Vec<u8>)>,
    chunks: Vec<Vec<u8>>,
}

impl ScriptedGateway {
    fn new(lookups: &[&[&str]]) -> Arc<Self> {
        let lookups = lookups.iter().map(|response| response.iter().map(|text| text.parse().unwrap()).collect());
        Arc::new(Self { lookups: Mutex::new(lookups.collect()), ..Self::default() })
    }

    fn add_reply(&self, status: u16, headers: &[(&str, &str)], chunks: &[&str]) {
        self.replies.lock().unwrap().push_back(Reply {
            status,
            headers: headers.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect(),
            chunks: chunks.iter().map(|chunk| chunk.as_bytes().to_vec()).collect(),
        });
    }

    fn sent_requests(&self) -> Vec<SentRequest> {
        self.sent_requests.lock().unwrap().clone()
    }
}

impl HttpGateway for ScriptedGateway {
    fn resolve(&self, _: String, _: Duration) -> BoxFuture<'static, Result<Vec<IpAddr>, GatewayError>> {
        let response = self.lookups.lock().unwrap().pop_front().unwrap_or_default();
        Box::pin(async move { Ok(response) })
    }

    fn send(&self, mut request: GatewayRequest) -> BoxFuture<'static, Result<GatewayReply, GatewayError>> {
        let mut sent = Vec::new();
        if let Some((body, _)) = &mut request.body {
            loop {
                match body.poll_chunk(&mut Context::from_waker(Waker::noop())) {
                    Poll::Ready(Some(Ok(chunk))) => sent.extend(chunk),
                    Poll::Ready(Some(Err(error))) => return Box::pin(async move { Err(error) }),
                    Poll::Ready(None) => break,
                    Poll::Pending => panic!("the body must not wait"),
                }
            }
        }
        let text = |value: &crate::Secret| String::from_utf8_lossy(value.expose()).into_owned();
        self.sent_requests.lock().unwrap().push(SentRequest {
            url: request.target.to_string(),
            addresses: request.addresses,
            headers: request.headers.iter().map(|(name, value)| (name.clone(), text(value))).collect(),
            body: sent,
        });
        let reply = self.replies.lock().unwrap().pop_front();
        Box::pin(async move {
            let Some(reply) = reply else {
                return Err(GatewayError::new(GatewayErrorKind::Connect, "connection refused"));
            };
            Ok(GatewayReply {
                minor_version: 1,
                status: reply.status,
                reason: "Words".to_owned(),
                headers: reply.headers,
                peer: None,
                timings: Timings::default(),
                body: Chunks::boxed(reply.chunks),
            })
        })
    }
}

/// A clock that advances by a second with every reading.
#[derive(Default)]
struct Ticking(Mutex<u64>);

impl NetworkClock for Ticking {
    fn realtime(&self) -> Duration {
        Duration::from_secs(1_700_000_000)
    }

    fn monotonic(&self) -> Duration {
        let mut seconds = self.0.lock().unwrap();
        *seconds += 1;
        Duration::from_secs(*seconds)
    }
}

fn network(policy: NetworkPolicy, gateway: &Arc<ScriptedGateway>) -> Network {
    let gateway: Arc<dyn HttpGateway> = Arc::<ScriptedGateway>::clone(gateway);
    Network::new(Arc::new(policy), gateway, Arc::new(Ticking::default()))
}

fn get(url: &str) -> NetworkRequest {
    NetworkRequest { method: "GET".to_owned(), url: url.to_owned(), ..NetworkRequest::default() }
}

fn allow(host: &str) -> AllowRule {
    AllowRule::host(host).expect("the host is good")
}

/// Returns the whole body.
fn body(mut exchange: Exchange) -> Result<Vec<u8>, NetworkError> {
    let mut all = Vec::new();
    while let Some(chunk) = now(exchange.chunk()) {
        all.extend(chunk?);
    }
    Ok(all)
}

/// Returns the violated rule.
fn deny_reason<T: std::fmt::Debug>(outcome: Result<T, NetworkError>) -> DenyReason {
    match outcome {
        Err(NetworkError::Denied(denied)) => denied.kind,
        other => panic!("expected a denial, got {other:?}"),
    }
}
