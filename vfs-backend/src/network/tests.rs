//! The command without a sandbox: frames in, frames out, a gateway that plays a part.

use core::net::IpAddr;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_executor::block_on;
use tidebox_core::network::{
    AllowRule, Body, Decision, GatewayError, GatewayErrorKind, GatewayReply, GatewayRequest, HttpGateway, Network,
    NetworkPolicy, Timings,
};
use tidebox_core::{
    BoxFuture, ByteSink, ByteSource, Disconnected, ErrorKind, HostCall, HostInput, HostOutput, SandboxId, SandboxPath,
};
use tidebox_kernel::FixedClock;

use super::frame::{DATA, END, FAILURE, HEAD, RequestHead, frame};
use super::{SandboxClock, call};

/// What a guest writes; then its way in stays open, or closes.
struct Written(VecDeque<u8>, bool);

impl ByteSource for Written {
    fn poll_read(&mut self, _: &mut Context<'_>, most: usize) -> Poll<Vec<u8>> {
        if self.0.is_empty() && !self.1 {
            return Poll::Pending;
        }
        // In pieces that fit no frame.
        let n = most.min(7).min(self.0.len());
        Poll::Ready(self.0.drain(..n).collect())
    }
}

#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<u8>>>);

impl ByteSink for Heard {
    fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Disconnected>> {
        let n = bytes.len().min(1000);
        self.0.lock().unwrap().extend_from_slice(&bytes[..n]);
        Poll::Ready(Ok(n))
    }
}

/// Answers every request with its own body, or never.
#[derive(Debug)]
struct Echo {
    answers: bool,
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
        let none: Box<dyn Body> = if self.answers { Box::new(Nothing) } else { Box::new(Never) };
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

/// What came of a call: exit code, frames, and the network.
fn ask(written: Vec<u8>, closes: bool, answers: bool) -> (u8, Frames, Arc<Network>) {
    let policy = NetworkPolicy::new().allow(AllowRule::host("*").unwrap().any_method());
    let clock = SandboxClock(Mutex::new(Box::new(FixedClock::new(5))));
    let network = Arc::new(Network::new(Arc::new(policy), Arc::new(Echo { answers }), Arc::new(clock)));
    let heard = Heard::default();
    let input = HostInput::new(Written(written.into(), closes));
    let output = || HostOutput::new(heard.clone());
    let sandbox = SandboxId::parse("sb").unwrap();
    let call = HostCall::new(sandbox, SandboxPath::root(), input, output(), HostOutput::new(Heard::default()));
    let code = block_on(call::answer(Arc::clone(&network), call));
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
fn a_request_is_answered_with_a_head_pieces_and_an_end() {
    let mut written = head("method POST\nurl https://1.1.1.1/a/b\nheader X: y\nbody stream\n");
    written.extend(frame(DATA, b"hello "));
    written.extend(frame(DATA, b""));
    written.extend(frame(DATA, &vec![b'x'; 100_000]));
    written.extend(frame(END, b""));
    let (code, frames, network) = ask(written, false, true);
    assert_eq!(code, 0);
    let expected = "tidebox-http 1\nurl https://1.1.1.1/a/b\nredirect https://1.1.1.1/a/next\npeer 1.1.1.1 443\n\
        resolved-us 0\nconnected-us 2000\nencrypted-us 0\nanswered-us 0\nstatus 1.1 302 Fine\n\
        header Location: next\nheader X-A: b c\n";
    assert_eq!(frames[0], (HEAD, expected.as_bytes().to_vec()));
    assert_eq!(frames.last(), Some(&(END, Vec::new())));
    let pieces = &frames[1..frames.len() - 1];
    assert!(pieces.iter().all(|(kind, piece)| *kind == DATA && piece.len() <= 64 << 10));
    assert_eq!(pieces.iter().map(|(_, piece)| piece.len()).sum::<usize>(), 100_006);
    let event = network.log().events.remove(0);
    assert_eq!((event.decision, event.at), (Decision::Answered, Duration::from_nanos(5)));
}

#[test]
fn a_refusal_and_a_failure_are_told_in_one_line_each() {
    let (code, frames, _) = ask(head("method GET\nurl https://127.0.0.1/\n"), false, true);
    let [(FAILURE, refusal)] = &frames[..] else { panic!("one failure, but {frames:?}") };
    assert!(refusal.starts_with(b"refused address\nmessage 127.0.0.1 is not an address of the public internet"));
    assert_eq!(code, 0);
    let (_, frames, _) = ask(head("method GET\nurl https://nowhere.example/\n"), false, true);
    assert_eq!(frames, [(FAILURE, b"failed resolve\nmessage no nowhere.example here\n".to_vec())]);
}

#[test]
fn a_request_that_cannot_be_read_is_told_so() {
    for (written, words) in [
        (Vec::new(), "ended before its head"),
        (b"H\x04\0".to_vec(), "ended before its head"),
        (b"H\xff\xff\xff\xff".to_vec(), "too large"),
        (frame(DATA, b"x"), "first frame must be a head"),
        (frame(HEAD, b"tidebox-http 2\n"), "must begin with the line"),
        (head("method GET\nnonsense\n"), "the line 'nonsense'"),
        (head("header no-colon\n"), "the line 'header no-colon'"),
        (head("body -1\n"), "the line 'body -1'"),
    ] {
        let (code, frames, network) = ask(written, true, true);
        let [(FAILURE, told)] = &frames[..] else { panic!("one failure, but {frames:?}") };
        let told = String::from_utf8_lossy(told);
        assert!(told.starts_with("failed internal\nmessage ") && told.contains(words), "{told}");
        assert_eq!((code, network.log().events.len()), (0, 0));
    }
}

#[test]
fn a_body_that_breaks_off_does_not_pass_for_a_whole_one() {
    let mut written = head("method POST\nurl https://1.1.1.1/\nbody stream\n");
    written.extend(frame(DATA, b"half"));
    let (_, frames, network) = ask(written, true, true);
    assert!(!frames.iter().any(|(kind, _)| *kind == END), "{frames:?}");
    assert_ne!(network.log().events[0].decision, Decision::Answered);
}

#[test]
fn closing_the_way_in_cancels_a_request_that_waits() {
    let (code, frames, network) = ask(head("method GET\nurl https://1.1.1.1/\n"), true, false);
    assert_eq!(code, 141);
    assert_eq!(frames.len(), 1, "the head alone came");
    assert_eq!(network.log().events[0].decision, Decision::Cancelled);
}

#[test]
fn a_head_says_how_long_the_body_is_and_how_much_time_there_is() {
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

/// An engine that is never asked.
#[derive(Debug)]
struct Idle;

impl tidebox_kernel::engine::Engine for Idle {
    fn drive<'a>(
        &'a self,
        _: &'a tidebox_kernel::SharedKernel,
        _: tidebox_kernel::SessionId,
        _: Duration,
        _: Option<&'a mut (dyn FnMut(tidebox_kernel::Chunk) + Send)>,
    ) -> BoxFuture<'a, Result<(), tidebox_kernel::engine::EngineError>> {
        Box::pin(async { Ok(()) })
    }
}

fn builder() -> crate::SandboxBuilder {
    let base = crate::BaseImage::new(&[]).unwrap();
    let entropy = Box::new(tidebox_kernel::SeededEntropy::new(1));
    crate::SandboxBuilder::new(Arc::new(Idle), &base, Box::new(FixedClock::new(5)), entropy)
}

#[test]
fn a_policy_without_a_gateway_is_refused() {
    let built = builder().network(NetworkPolicy::new()).build();
    assert_eq!(built.expect_err("it has nothing to send with").kind(), ErrorKind::Unsupported);
}

#[test]
fn the_command_is_there_only_with_a_policy() {
    use tidebox_core::SandboxBackend;
    let there = |sandbox: &crate::VfsBackend| {
        let files = block_on(sandbox.download_files(vec![b"/usr/libexec/tidebox/http".to_vec()])).unwrap();
        files[0].result.is_ok()
    };
    let without = builder().build().unwrap();
    assert!(!there(&without));
    let with = builder().network(NetworkPolicy::new()).gateway(Arc::new(Echo { answers: true }));
    let with = with.build().unwrap();
    assert!(there(&with));
    assert_eq!(with.network_log(), without.network_log());
}
