//! A gateway that plays a part instead of connecting.

mod address;
mod flow;
mod policy;

use core::net::IpAddr;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::*;
use crate::backend::BoxFuture;

/// Drives a future in which nothing waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = Box::pin(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing here waits"),
    }
}

/// A body of these pieces.
struct Pieces(VecDeque<Result<Vec<u8>, GatewayError>>);

impl Pieces {
    fn boxed<P: Into<Vec<u8>>>(pieces: impl IntoIterator<Item = P>) -> Box<dyn Body> {
        Box::new(Self(pieces.into_iter().map(|piece| Ok(piece.into())).collect()))
    }
}

impl Body for Pieces {
    fn poll_chunk(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, GatewayError>>> {
        Poll::Ready(self.0.pop_front())
    }
}

/// What a request looked like when it left.
#[derive(Clone, Debug)]
struct Left {
    url: String,
    addresses: Vec<IpAddr>,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// Answers names from a list, one answer per look-up, and requests from another.
#[derive(Debug, Default)]
struct Stage {
    lookups: Mutex<VecDeque<Vec<IpAddr>>>,
    replies: Mutex<VecDeque<Play>>,
    left: Mutex<Vec<Left>>,
}

#[derive(Debug)]
struct Play {
    status: u16,
    headers: Vec<(String, Vec<u8>)>,
    pieces: Vec<Vec<u8>>,
}

impl Stage {
    fn new(lookups: &[&[&str]]) -> Arc<Self> {
        let lookups = lookups.iter().map(|answer| answer.iter().map(|text| text.parse().unwrap()).collect());
        Arc::new(Self { lookups: Mutex::new(lookups.collect()), ..Self::default() })
    }

    fn play(&self, status: u16, headers: &[(&str, &str)], pieces: &[&str]) {
        self.replies.lock().unwrap().push_back(Play {
            status,
            headers: headers.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect(),
            pieces: pieces.iter().map(|piece| piece.as_bytes().to_vec()).collect(),
        });
    }

    fn left(&self) -> Vec<Left> {
        self.left.lock().unwrap().clone()
    }
}

impl HttpGateway for Stage {
    fn resolve(&self, _: String, _: Duration) -> BoxFuture<'static, Result<Vec<IpAddr>, GatewayError>> {
        let answer = self.lookups.lock().unwrap().pop_front().unwrap_or_default();
        Box::pin(async move { Ok(answer) })
    }

    fn send(&self, mut request: GatewayRequest) -> BoxFuture<'static, Result<GatewayReply, GatewayError>> {
        let mut sent = Vec::new();
        if let Some((body, _)) = &mut request.body {
            loop {
                match body.poll_chunk(&mut Context::from_waker(Waker::noop())) {
                    Poll::Ready(Some(Ok(piece))) => sent.extend(piece),
                    Poll::Ready(Some(Err(error))) => return Box::pin(async move { Err(error) }),
                    Poll::Ready(None) => break,
                    Poll::Pending => panic!("no body here waits"),
                }
            }
        }
        let text = |value: &crate::Secret| String::from_utf8_lossy(value.expose()).into_owned();
        self.left.lock().unwrap().push(Left {
            url: request.target.to_string(),
            addresses: request.addresses,
            headers: request.headers.iter().map(|(name, value)| (name.clone(), text(value))).collect(),
            body: sent,
        });
        let play = self.replies.lock().unwrap().pop_front();
        Box::pin(async move {
            let Some(play) = play else {
                return Err(GatewayError::new(GatewayErrorKind::Connect, "nobody listens"));
            };
            Ok(GatewayReply {
                minor_version: 1,
                status: play.status,
                reason: "Words".to_owned(),
                headers: play.headers,
                peer: None,
                timings: Timings::default(),
                body: Pieces::boxed(play.pieces),
            })
        })
    }
}

/// A clock that moves by a second whenever it is asked.
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

fn network(policy: NetworkPolicy, gateway: &Arc<Stage>) -> Network {
    let gateway: Arc<dyn HttpGateway> = Arc::<Stage>::clone(gateway);
    Network::new(Arc::new(policy), gateway, Arc::new(Ticking::default()))
}

fn get(url: &str) -> NetworkRequest {
    NetworkRequest { method: "GET".to_owned(), url: url.to_owned(), ..NetworkRequest::default() }
}

fn allow(host: &str) -> AllowRule {
    AllowRule::host(host).expect("the host is good")
}

/// The whole body.
fn body(mut exchange: Exchange) -> Result<Vec<u8>, Failure> {
    let mut all = Vec::new();
    while let Some(piece) = now(exchange.chunk()) {
        all.extend(piece?);
    }
    Ok(all)
}

/// Which rule refused.
fn refused<T: std::fmt::Debug>(outcome: Result<T, Failure>) -> RefusalKind {
    match outcome {
        Err(Failure::Refused(refusal)) => refusal.kind,
        other => panic!("refused by the policy, but {other:?}"),
    }
}
