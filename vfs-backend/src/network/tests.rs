//! Tests of the command without a sandbox: frames in, frames out, with a fake gateway.

use core::net::IpAddr;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_executor::block_on;
use tidebox_core::network::{
    AllowRule, Body, GatewayError, GatewayErrorKind, GatewayReply, GatewayRequest, HttpGateway, Network, NetworkPolicy,
    RequestOutcome, Timings,
};
use tidebox_core::{
    BoxFuture, BrokenPipe, ByteSink, ByteSource, ErrorKind, HostCall, HostInput, HostOutput, SandboxId, SandboxPath,
};
use tidebox_kernel::VirtualClock;

use super::frame::{DATA, END, FAILURE, HEAD, RequestHead, frame};
use super::{SandboxClock, call};

/// Input from a guest; afterwards the pipe stays open, or closes.
struct Input(VecDeque<u8>, bool);

impl ByteSource for Input {
    fn poll_read(&mut self, _: &mut Context<'_>, most: usize) -> Poll<Vec<u8>> {
        if self.0.is_empty() && !self.1 {
            return Poll::Pending;
        }
        // In chunks that do not match frame boundaries.
        let n = most.min(7).min(self.0.len());
        Poll::Ready(self.0.drain(..n).collect())
    }
}

#[derive(Clone, Default)]
struct SentBody(Arc<Mutex<Vec<u8>>>);

impl ByteSink for SentBody {
    fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, BrokenPipe>> {
        let n = bytes.len().min(1000);
        self.0.lock().unwrap().extend_from_slice(&bytes[..n]);
        Poll::Ready(Ok(n))
    }
}

/// Returns the body of every request, or never responds.
#[derive(Debug)]
struct Echo {
    responds: bool,
}

struct Never;

impl Body for Never {
    fn poll_chunk(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, GatewayError>>> {
        Poll::Pending
    }
}

struct Nothing;

impl Body for Nothing {
    fn poll_chunk(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, GatewayError>>> {
        Poll::Ready(None)
    }
}

impl HttpGateway for Echo {
    fn resolve(&self, host: String, _: Duration) -> BoxFuture<'static, Result<Vec<IpAddr>, GatewayError>> {
        Box::pin(async move { Err(GatewayError::new(GatewayErrorKind::Resolve, format!("no {host}\nhere"))) })
    }

    fn send(&self, request: GatewayRequest) -> BoxFuture<'static, Result<GatewayReply, GatewayError>> {
        let none: Box<dyn Body> = if self.responds { Box::new(Nothing) } else { Box::new(Never) };
        Box::pin(async move {
            Ok(GatewayReply {
                minor_version: 1,
                status: 302,
                reason: "Fine".to_owned(),
                headers: vec![("Location".to_owned(), b"next".to_vec()), ("X-A".to_owned(), b"b c".to_vec())],
                peer: Some("1.1.1.1:443".parse().unwrap()),
                timings: Timings { connected: Duration::from_millis(2), ..Timings::default() },
                body: request.body.map_or(none, |(body, _)| body),
            })
        })
    }
}

/// Kind and payload of each frame.
type Frames = Vec<(u8, Vec<u8>)>;

/// Makes a call and returns exit code, frames and the network.
fn run_call(written: Vec<u8>, closes: bool, responds: bool) -> (u8, Frames, Arc<Network>) {
    let policy = NetworkPolicy::new().allow(AllowRule::host("*").unwrap().any_method());
    let clock = SandboxClock(tidebox_core::lock::Mutex::new(Box::new(VirtualClock::new(5))));
    let network = Arc::new(Network::new(Arc::new(policy), Arc::new(Echo { responds }), Arc::new(clock)));
    let heard = SentBody::default();
    let input = HostInput::new(Input(written.into(), closes));
    let output = || HostOutput::new(heard.clone());
    let sandbox = SandboxId::parse("sb").unwrap();
    let call = HostCall::new(sandbox, SandboxPath::root(), input, output(), HostOutput::new(SentBody::default()));
    let code = block_on(call::handle_call(Arc::clone(&network), call));
    let bytes = heard.0.lock().unwrap().clone();
    let (mut frames, mut rest) = (Vec::new(), bytes.as_slice());
    while let Some(([kind, a, b, c, d], after)) = rest.split_first_chunk::<5>() {
        let (payload, after) = after.split_at(u32::from_le_bytes([*a, *b, *c, *d]) as usize);
        frames.push((*kind, payload.to_vec()));
        rest = after;
    }
    (code, frames, network)
}

fn head(lines: &str) -> Vec<u8> {
    frame(HEAD, format!("tidebox-http 1\n{lines}").as_bytes())
}

#[test]
fn a_response_has_a_head_chunks_and_an_end() {
    let mut written = head("method POST\nurl https://1.1.1.1/a/b\nheader X: y\nbody stream\n");
    written.extend(frame(DATA, b"hello "));
    written.extend(frame(DATA, b""));
    written.extend(frame(DATA, &vec![b'x'; 100_000]));
    written.extend(frame(END, b""));
    let (code, frames, network) = run_call(written, false, true);
    assert_eq!(code, 0);
    let expected = "tidebox-http 1\nurl https://1.1.1.1/a/b\nredirect https://1.1.1.1/a/next\npeer 1.1.1.1 443\n\
        resolved-us 0\nconnected-us 2000\nencrypted-us 0\nanswered-us 0\nstatus 1.1 302 Fine\n\
        header Location: next\nheader X-A: b c\n";
    assert_eq!(frames[0], (HEAD, expected.as_bytes().to_vec()));
    assert_eq!(frames.last(), Some(&(END, Vec::new())));
    let chunks = &frames[1..frames.len() - 1];
    assert!(chunks.iter().all(|(kind, chunk)| *kind == DATA && chunk.len() <= 64 << 10));
    assert_eq!(chunks.iter().map(|(_, chunk)| chunk.len()).sum::<usize>(), 100_006);
    let event = network.log().events.remove(0);
    assert_eq!((event.outcome, event.at), (RequestOutcome::Completed, Duration::from_nanos(5)));
}

#[test]
fn a_denial_and_an_error_are_one_line_each() {
    let (code, frames, _) = run_call(head("method GET\nurl https://127.0.0.1/\n"), false, true);
    let [(FAILURE, denial)] = &frames[..] else { panic!("one failure, but {frames:?}") };
    assert!(denial.starts_with(b"refused address\nmessage 127.0.0.1 has no address of the public internet"));
    assert_eq!(code, 0);
    let (_, frames, _) = run_call(head("method GET\nurl https://nowhere.example/\n"), false, true);
    assert_eq!(frames, [(FAILURE, b"failed resolve\nmessage no nowhere.example here\n".to_vec())]);
}

#[test]
fn an_unreadable_request_fails_with_a_message() {
    for (written, words) in [
        (Vec::new(), "ended before its head"),
        (b"H\x04\0".to_vec(), "ended before its head"),
        (b"H\xff\xff\xff\xff".to_vec(), "too large"),
        (frame(DATA, b"x"), "first frame must be a head"),
        (frame(HEAD, b"tidebox-http 2\n"), "must start with the line"),
        (head("method GET\nnonsense\n"), "invalid line 'nonsense'"),
        (head("header no-colon\n"), "invalid line 'header no-colon'"),
        (head("body -1\n"), "invalid line 'body -1'"),
    ] {
        let (code, frames, network) = run_call(written, true, true);
        let [(FAILURE, message)] = &frames[..] else { panic!("one failure, but {frames:?}") };
        let message = String::from_utf8_lossy(message);
        assert!(message.starts_with("failed internal\nmessage ") && message.contains(words), "{message}");
        assert_eq!((code, network.log().events.len()), (0, 0));
    }
}

#[test]
fn a_truncated_body_is_an_error() {
    let mut written = head("method POST\nurl https://1.1.1.1/\nbody stream\n");
    written.extend(frame(DATA, b"half"));
    let (_, frames, network) = run_call(written, true, true);
    assert!(!frames.iter().any(|(kind, _)| *kind == END), "{frames:?}");
    assert_ne!(network.log().events[0].outcome, RequestOutcome::Completed);
}

#[test]
fn closing_the_input_cancels_a_pending_request() {
    let (code, frames, network) = run_call(head("method GET\nurl https://1.1.1.1/\n"), true, false);
    assert_eq!(code, 141);
    assert_eq!(frames.len(), 1, "only the head arrives");
    assert_eq!(network.log().events[0].outcome, RequestOutcome::Cancelled);
}

#[test]
fn a_head_has_the_body_length_and_the_timeout() {
    let parse =
        |lines: &str| RequestHead::parse(format!("tidebox-http 1\n{lines}").as_bytes()).expect("it can be read");
    let read = parse("method PUT\nurl u\nbody 12\nconnect-ms 5\ntotal-ms 70\nheader A:b\nheader C: d: e \n");
    assert_eq!((read.body, read.connect_time), (Some(Some(12)), Some(Duration::from_millis(5))));
    assert_eq!(read.request_time, Some(Duration::from_millis(70)));
    let headers = [("A".to_owned(), b"b".to_vec()), ("C".to_owned(), b"d: e".to_vec())];
    assert_eq!((read.method.as_str(), read.headers), ("PUT", headers.to_vec()));
    assert_eq!(parse("body none\n").body, None);
    assert_eq!(parse("body stream\n").body, Some(None));
}

/// An engine that is never called.
#[derive(Debug)]
struct Idle;

impl tidebox_kernel::engine::Engine for Idle {
    fn drive<'a>(
        &'a self,
        _: &'a tidebox_kernel::SharedKernel,
        _: tidebox_kernel::ExecutionId,
        _: Duration,
        _: Option<&'a mut (dyn FnMut(tidebox_kernel::OutputChunk) + Send)>,
    ) -> BoxFuture<'a, Result<(), tidebox_kernel::engine::EngineError>> {
        Box::pin(async { Ok(()) })
    }
}

fn builder() -> crate::SandboxBuilder {
    let base = crate::BaseImage::new(&[]).unwrap();
    let entropy = Box::new(tidebox_kernel::SeededEntropy::new(1));
    crate::SandboxBuilder::new(Arc::new(Idle), &base, Box::new(VirtualClock::new(5)), entropy)
}

#[test]
fn a_policy_without_a_gateway_is_rejected() {
    let built = builder().network(NetworkPolicy::new()).build();
    assert_eq!(built.expect_err("it has nothing to send with").kind(), ErrorKind::Unsupported);
}

#[test]
fn the_command_exists_only_with_a_policy() {
    use tidebox_core::SandboxBackend;
    let there = |sandbox: &crate::VfsBackend| {
        let files = block_on(sandbox.download_files(vec![b"/usr/libexec/tidebox/http".to_vec()])).unwrap();
        files[0].result.is_ok()
    };
    let without = builder().build().unwrap();
    assert!(!there(&without));
    let with = builder().network(NetworkPolicy::new()).gateway(Arc::new(Echo { responds: true }));
    let with = with.build().unwrap();
    assert!(there(&with));
    assert_eq!(with.network_log(), without.network_log());
}
