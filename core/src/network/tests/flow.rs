use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::super::*;
use super::{Chunks, ScriptedGateway, allow, body, deny_reason, get, network, now};
use crate::Secret;

fn post(url: &str, chunks: &[&str], length: Option<u64>) -> NetworkRequest {
    let body = Chunks::boxed(chunks.iter().copied());
    NetworkRequest { method: "POST".to_owned(), body: Some((body, length)), ..get(url) }
}

fn any() -> NetworkPolicy {
    NetworkPolicy::new().allow(allow("*").any_method())
}

fn limited(change: impl FnOnce(&mut NetworkLimits)) -> NetworkPolicy {
    let mut limits = NetworkLimits::default();
    change(&mut limits);
    any().with_limits(limits)
}

#[test]
fn the_checked_address_is_the_one_connected_to() {
    // The second response is the attack: a client that resolves again after the check connects to a private address.
    let gateway = ScriptedGateway::new(&[&["1.1.1.1"], &["127.0.0.1"]]);
    gateway.add_reply(200, &[], &["hello"]);
    let network = network(any(), &gateway);
    let reply = now(network.begin(get("https://rebind.example/"))).expect("the first look-up is public");
    assert_eq!(body(reply), Ok(b"hello".to_vec()));
    assert_eq!(gateway.sent_requests()[0].addresses, ["1.1.1.1".parse::<core::net::IpAddr>().unwrap()]);
    assert_eq!(deny_reason(now(network.begin(get("https://rebind.example/")))), DenyReason::Address);
    assert_eq!(gateway.sent_requests().len(), 1, "no connection to the private address");
}

#[test]
fn private_addresses_of_a_mixed_answer_are_ignored() {
    let gateway = ScriptedGateway::new(&[&["10.0.0.1", "1.1.1.1", "169.254.169.254"]]);
    gateway.add_reply(200, &[], &[]);
    now(network(any(), &gateway).begin(get("https://mixed.example/"))).expect("one address is public");
    assert_eq!(gateway.sent_requests()[0].addresses.len(), 1);
}

#[test]
fn a_private_address_is_denied_in_every_notation() {
    for host in ["127.0.0.1", "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0"] {
        let gateway = ScriptedGateway::new(&[]);
        let outcome = now(network(any(), &gateway).begin(get(&format!("https://{host}/"))));
        assert_eq!(deny_reason(outcome), DenyReason::Address, "{host}");
        assert!(gateway.sent_requests().is_empty(), "{host}");
    }
}

#[test]
fn a_pinned_name_is_not_resolved() {
    let gateway = ScriptedGateway::new(&[&["1.1.1.1"]]);
    gateway.add_reply(200, &[], &[]);
    let policy = any().pin_address("local.test", "127.0.0.1".parse().unwrap()).expect("pinned");
    now(network(policy, &gateway).begin(get("https://local.test/"))).expect("allowed");
    assert_eq!(gateway.sent_requests()[0].addresses, ["127.0.0.1".parse::<core::net::IpAddr>().unwrap()]);
    assert_eq!(gateway.lookups.lock().unwrap().len(), 1);
}

#[test]
fn a_redirect_does_not_carry_the_credential() {
    let gateway = ScriptedGateway::new(&[&["1.1.1.1"], &["1.0.0.1"]]);
    gateway.add_reply(302, &[("Location", "https://other.example/next")], &[]);
    gateway.add_reply(200, &[], &[]);
    let policy = any().inject("api.example", "Authorization", Secret::new("Bearer canary-token")).expect("good");
    let network = network(policy, &gateway);
    let first = now(network.begin(get("https://api.example/"))).expect("allowed");
    let next = first.redirect.as_ref().expect("a redirect").to_string();
    drop(first);
    now(network.begin(get(&next))).expect("allowed");
    let sent_requests = gateway.sent_requests();
    assert_eq!(sent_requests[0].headers, [("Authorization".to_owned(), "Bearer canary-token".to_owned())]);
    assert_eq!(sent_requests[1].url, "https://other.example/next");
    assert_eq!(sent_requests[1].headers, []);
}

#[test]
fn a_redirect_to_a_private_address_is_denied() {
    let gateway = ScriptedGateway::new(&[&["1.1.1.1"]]);
    gateway.add_reply(302, &[("location", "http://169.254.169.254/latest/meta-data/")], &[]);
    let network = network(NetworkPolicy::new().allow(allow("*").http()), &gateway);
    let first = now(network.begin(get("https://api.example/"))).expect("allowed");
    let next = first.redirect.as_ref().expect("a redirect").to_string();
    assert_eq!(deny_reason(now(network.begin(get(&next)))), DenyReason::Address);
}

#[test]
fn the_credential_replaces_the_header_of_the_guest() {
    let gateway = ScriptedGateway::new(&[&["1.1.1.1"]]);
    gateway.add_reply(200, &[], &[]);
    let policy = any().inject("api.example", "X-Key", Secret::new("canary-key")).expect("good");
    let mut request = get("https://api.example/");
    request.headers = vec![("x-key".to_owned(), b"mine".to_vec()), ("Accept".to_owned(), b"*/*".to_vec())];
    now(network(policy, &gateway).begin(request)).expect("allowed");
    let sent = [("Accept", "*/*"), ("X-Key", "canary-key")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(gateway.sent_requests()[0].headers, sent);
}

#[test]
fn a_returned_credential_is_masked_across_chunks() {
    let gateway = ScriptedGateway::new(&[&["1.1.1.1"]]);
    let chunks = ["you sent Bearer canar", "y-to", "ken, and canar"];
    gateway.add_reply(200, &[("X-Echo", "Bearer canary-token")], &chunks);
    let policy = any().inject("api.example", "authorization", Secret::new("Bearer canary-token")).expect("good");
    let reply = now(network(policy, &gateway).begin(get("https://api.example/"))).expect("allowed");
    assert_eq!(reply.headers[0].1, b"Bearer ************");
    assert_eq!(body(reply), Ok(b"you sent Bearer ************, and canar".to_vec()));
}

#[test]
fn a_request_body_over_the_limit_is_aborted() {
    let gateway = ScriptedGateway::new(&[&["1.1.1.1"]]);
    let network = network(limited(|limits| limits.request_bytes = 6), &gateway);
    let outcome = now(network.begin(post("https://a.example/", &["abcd", "efgh"], None)));
    let Err(NetworkError::Denied(denied)) = outcome else { panic!("denied, but {outcome:?}") };
    assert_eq!(denied.message, "the request body exceeds the limit of 6 bytes");
    assert_eq!(network.log().events[0].outcome, RequestOutcome::Denied(DenyReason::Limit, denied.message));
}

#[test]
fn a_body_must_have_its_declared_length() {
    for (chunks, length) in [(&["abc", "d"][..], 3), (&["ab"], 3)] {
        let gateway = ScriptedGateway::new(&[&["1.1.1.1"]]);
        let outcome = now(network(any(), &gateway).begin(post("https://a.example/", chunks, Some(length))));
        assert_eq!(deny_reason(outcome), DenyReason::Header);
        assert!(gateway.sent_requests().is_empty());
    }
    let gateway = ScriptedGateway::new(&[&["1.1.1.1"]]);
    gateway.add_reply(200, &[], &[]);
    now(network(any(), &gateway).begin(post("https://a.example/", &["ab", "c"], Some(3))))
        .expect("the declared length");
    assert_eq!(gateway.sent_requests()[0].body, b"abc");
}

#[test]
fn a_response_over_the_limit_is_aborted() {
    let gateway = ScriptedGateway::new(&[&["1.1.1.1"]]);
    gateway.add_reply(200, &[], &["abcd", "efgh", "ijkl"]);
    let network = network(limited(|limits| limits.reply_bytes = 6), &gateway);
    let mut reply = now(network.begin(get("https://a.example/"))).expect("a response head");
    assert_eq!(now(reply.chunk()), Some(Ok(b"abcd".to_vec())));
    assert_eq!(deny_reason(now(reply.chunk()).expect("an end")), DenyReason::Limit);
    assert_eq!(now(reply.chunk()), None);
    assert!(matches!(network.log().events[0].outcome, RequestOutcome::Denied(DenyReason::Limit, _)));
}

#[test]
fn total_bytes_of_a_sandbox_are_limited() {
    let gateway = ScriptedGateway::new(&[&["1.1.1.1"], &["1.1.1.1"], &["1.1.1.1"]]);
    gateway.add_reply(200, &[], &["0123456789"]);
    gateway.add_reply(200, &[], &["0123456789"]);
    let network = network(limited(|limits| limits.total_received_bytes = 15), &gateway);
    assert!(body(now(network.begin(get("https://a.example/"))).expect("the head")).is_ok());
    let second = body(now(network.begin(get("https://a.example/"))).expect("the head"));
    assert_eq!(deny_reason(second), DenyReason::Limit);

    let network = super::network(limited(|limits| limits.total_sent_bytes = 10), &gateway);
    assert_eq!(deny_reason(now(network.begin(post("https://a.example/", &["0123456789"], None)))), DenyReason::Limit);
}

#[test]
fn denied_requests_are_counted() {
    let gateway = ScriptedGateway::new(&[]);
    let network = network(limited(|limits| limits.requests = 2), &gateway);
    assert_eq!(deny_reason(now(network.begin(get("https://127.0.0.1/")))), DenyReason::Address);
    assert_eq!(deny_reason(now(network.begin(get("nonsense")))), DenyReason::Url);
    assert_eq!(deny_reason(now(network.begin(get("https://1.1.1.1/")))), DenyReason::Limit);
    let log = network.log();
    assert_eq!((log.events.len(), log.omitted), (2, 1));
}

#[test]
fn concurrent_requests_are_limited() {
    let gateway = ScriptedGateway::new(&[]);
    (0..3).for_each(|_| gateway.add_reply(200, &[], &[]));
    let network = network(limited(|limits| limits.concurrent = 1), &gateway);
    let first = now(network.begin(get("https://1.1.1.1/"))).expect("below the limit");
    assert_eq!(deny_reason(now(network.begin(get("https://1.1.1.1/")))), DenyReason::Limit);
    drop(first);
    assert!(body(now(network.begin(get("https://1.1.1.1/"))).expect("below the limit again")).is_ok());
    assert!(now(network.begin(get("https://1.1.1.1/"))).is_ok());
}

#[test]
fn a_guest_may_shorten_but_not_extend_timeouts() {
    #[derive(Debug)]
    struct Times(std::sync::Mutex<Vec<(Duration, Duration)>>);
    impl HttpGateway for Times {
        fn resolve(
            &self,
            _: String,
            _: Duration,
        ) -> crate::BoxFuture<'static, Result<Vec<core::net::IpAddr>, GatewayError>> {
            Box::pin(async { Ok(Vec::new()) })
        }

        fn send(&self, request: GatewayRequest) -> crate::BoxFuture<'static, Result<GatewayReply, GatewayError>> {
            self.0.lock().unwrap().push((request.connect_time, request.request_time));
            Box::pin(async { Err(GatewayError::new(GatewayErrorKind::Timeout, "timed out")) })
        }
    }
    let times = Arc::new(Times(std::sync::Mutex::default()));
    let gateway: Arc<dyn HttpGateway> = Arc::<Times>::clone(&times);
    let network = Network::new(Arc::new(any()), gateway, Arc::new(super::Ticking::default()));
    let ask = |connect_time, request_time| {
        let request = NetworkRequest { connect_time, request_time, ..get("https://1.1.1.1/") };
        assert!(matches!(now(network.begin(request)), Err(NetworkError::Failed(_))));
    };
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    ask(seconds(2), seconds(7));
    ask(seconds(1000), seconds(100_000));
    // The clock advances by a second between the start and the connection.
    let expected = [(2, 6), (30, 299)].map(|(a, b)| (Duration::from_secs(a), Duration::from_secs(b)));
    assert_eq!(*times.0.lock().unwrap(), expected);
}

#[test]
fn the_log_contains_everything_except_credentials() {
    let gateway = ScriptedGateway::new(&[&["1.1.1.1"], &["1.1.1.1"]]);
    gateway.add_reply(404, &[("a", "b")], &["gone"]);
    gateway.add_reply(200, &[], &["x"]);
    let policy = any().inject("api.example", "authorization", Secret::new("Bearer canary-token")).expect("good");
    let network = network(policy, &gateway);
    assert!(
        body(now(network.begin(post("https://api.example/x?y=1#z", &["data"], Some(4)))).expect("a reply")).is_ok()
    );
    drop(now(network.begin(get("https://b.example/"))).expect("a reply"));
    assert!(now(network.begin(get("https://user:hunter2@b.example/"))).is_err());
    assert!(now(network.begin(get("https://1.1.1.1/"))).is_err());
    let log = network.log();
    assert!(!format!("{log:?}").contains("canary") && !format!("{log:?}").contains("hunter2"));
    let [completed, cancelled, denied, failed] = &log.events[..] else { panic!("four entries, but {log:#?}") };
    assert_eq!((completed.method.as_str(), completed.url.as_str()), ("POST", "https://api.example/x?y=1"));
    assert_eq!((completed.status, &completed.outcome), (Some(404), &RequestOutcome::Completed));
    assert_eq!((completed.sent_bytes, completed.received_bytes), (4 + 4 + 6, 6 + 4));
    assert_eq!(completed.credentials, ["authorization for api.example"]);
    assert_eq!(completed.at, Duration::from_secs(1_700_000_000));
    assert!(completed.duration > Duration::ZERO);
    assert_eq!(cancelled.outcome, RequestOutcome::Cancelled);
    assert_eq!(denied.url, "https://***@b.example/");
    assert!(matches!(failed.outcome, RequestOutcome::Failed(GatewayErrorKind::Connect, _)));
}

#[test]
fn a_response_cannot_inject_header_lines() {
    for headers in [[("x", "a\r\nSet-Cookie: b")], [("x y", "a")], [("", "a")]] {
        let gateway = ScriptedGateway::new(&[]);
        gateway.add_reply(200, &headers, &[]);
        let outcome = now(network(any(), &gateway).begin(get("https://1.1.1.1/")));
        let Err(NetworkError::Failed(error)) = outcome else { panic!("failed, but {outcome:?}") };
        assert_eq!(error.kind, GatewayErrorKind::Protocol);
    }
    let gateway = ScriptedGateway::new(&[]);
    gateway.add_reply(200, &[("x", &"a".repeat(70_000))], &[]);
    assert!(matches!(now(network(any(), &gateway).begin(get("https://1.1.1.1/"))), Err(NetworkError::Failed(_))));
}

#[test]
fn a_dropped_request_is_logged_as_cancelled() {
    #[derive(Debug)]
    struct Never;
    impl HttpGateway for Never {
        fn resolve(
            &self,
            _: String,
            _: Duration,
        ) -> crate::BoxFuture<'static, Result<Vec<core::net::IpAddr>, GatewayError>> {
            Box::pin(std::future::pending())
        }

        fn send(&self, _: GatewayRequest) -> crate::BoxFuture<'static, Result<GatewayReply, GatewayError>> {
            Box::pin(std::future::pending())
        }
    }
    let network = Network::new(Arc::new(any()), Arc::new(Never), Arc::new(super::Ticking::default()));
    let mut waiting = Box::pin(network.begin(get("https://slow.example/")));
    assert!(matches!(waiting.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop())), Poll::Pending));
    assert_eq!(network.log().events[0].outcome, RequestOutcome::InProgress);
    drop(waiting);
    assert_eq!(network.log().events[0].outcome, RequestOutcome::Cancelled);
}
