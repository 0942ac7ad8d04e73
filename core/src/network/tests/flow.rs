use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::super::*;
use super::{Pieces, Stage, allow, body, get, network, now, refused};
use crate::Secret;

fn post(url: &str, pieces: &[&str], length: Option<u64>) -> NetworkRequest {
    let body = Pieces::boxed(pieces.iter().copied());
    NetworkRequest { method: "POST".to_owned(), body: Some((body, length)), ..get(url) }
}

fn any() -> NetworkPolicy {
    NetworkPolicy::new().allow(allow("*").any_method())
}

fn limited(change: impl FnOnce(&mut NetworkLimits)) -> NetworkPolicy {
    let mut limits = NetworkLimits::default();
    change(&mut limits);
    any().limited(limits)
}

#[test]
fn the_address_that_was_checked_is_the_address_that_is_used() {
    // The second answer is the attack: whoever looks up again, after the check, connects inside.
    let stage = Stage::new(&[&["1.1.1.1"], &["127.0.0.1"]]);
    stage.play(200, &[], &["hello"]);
    let network = network(any(), &stage);
    let reply = now(network.begin(get("https://rebind.example/"))).expect("the first answer is good");
    assert_eq!(body(reply), Ok(b"hello".to_vec()));
    assert_eq!(stage.left()[0].addresses, ["1.1.1.1".parse::<core::net::IpAddr>().unwrap()]);
    assert_eq!(refused(now(network.begin(get("https://rebind.example/")))), RefusalKind::Address);
    assert_eq!(stage.left().len(), 1, "nothing left for the private address");
}

#[test]
fn a_mixed_answer_is_used_without_its_private_part() {
    let stage = Stage::new(&[&["10.0.0.1", "1.1.1.1", "169.254.169.254"]]);
    stage.play(200, &[], &[]);
    now(network(any(), &stage).begin(get("https://mixed.example/"))).expect("one address is good");
    assert_eq!(stage.left()[0].addresses.len(), 1);
}

#[test]
fn a_private_address_in_a_url_is_refused_however_it_is_written() {
    for host in ["127.0.0.1", "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0"] {
        let stage = Stage::new(&[]);
        let outcome = now(network(any(), &stage).begin(get(&format!("https://{host}/"))));
        assert_eq!(refused(outcome), RefusalKind::Address, "{host}");
        assert!(stage.left().is_empty(), "{host}");
    }
}

#[test]
fn a_pinned_name_is_not_looked_up() {
    let stage = Stage::new(&[&["1.1.1.1"]]);
    stage.play(200, &[], &[]);
    let policy = any().resolve("local.test", "127.0.0.1".parse().unwrap()).expect("pinned");
    now(network(policy, &stage).begin(get("https://local.test/"))).expect("allowed");
    assert_eq!(stage.left()[0].addresses, ["127.0.0.1".parse::<core::net::IpAddr>().unwrap()]);
    assert_eq!(stage.lookups.lock().unwrap().len(), 1);
}

#[test]
fn a_redirect_is_another_request_and_does_not_carry_the_credential() {
    let stage = Stage::new(&[&["1.1.1.1"], &["1.0.0.1"]]);
    stage.play(302, &[("Location", "https://other.example/next")], &[]);
    stage.play(200, &[], &[]);
    let policy = any().inject("api.example", "Authorization", Secret::new("Bearer planted-token")).expect("good");
    let network = network(policy, &stage);
    let first = now(network.begin(get("https://api.example/"))).expect("allowed");
    let next = first.redirect.as_ref().expect("it leads somewhere").to_string();
    drop(first);
    now(network.begin(get(&next))).expect("allowed");
    let left = stage.left();
    assert_eq!(left[0].headers, [("Authorization".to_owned(), "Bearer planted-token".to_owned())]);
    assert_eq!(left[1].url, "https://other.example/next");
    assert_eq!(left[1].headers, []);
}

#[test]
fn a_redirect_to_a_private_address_is_refused() {
    let stage = Stage::new(&[&["1.1.1.1"]]);
    stage.play(302, &[("location", "http://169.254.169.254/latest/meta-data/")], &[]);
    let network = network(NetworkPolicy::new().allow(allow("*").http()), &stage);
    let first = now(network.begin(get("https://api.example/"))).expect("allowed");
    let next = first.redirect.as_ref().expect("it leads somewhere").to_string();
    assert_eq!(refused(now(network.begin(get(&next)))), RefusalKind::Address);
}

#[test]
fn the_credential_takes_the_place_of_what_the_guest_sent() {
    let stage = Stage::new(&[&["1.1.1.1"]]);
    stage.play(200, &[], &[]);
    let policy = any().inject("api.example", "X-Key", Secret::new("planted-key")).expect("good");
    let mut request = get("https://api.example/");
    request.headers = vec![("x-key".to_owned(), b"mine".to_vec()), ("Accept".to_owned(), b"*/*".to_vec())];
    now(network(policy, &stage).begin(request)).expect("allowed");
    let sent = [("Accept", "*/*"), ("X-Key", "planted-key")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(stage.left()[0].headers, sent);
}

#[test]
fn a_credential_that_comes_back_is_masked_also_across_pieces() {
    let stage = Stage::new(&[&["1.1.1.1"]]);
    let pieces = ["you sent Bearer plant", "ed-to", "ken, and plant"];
    stage.play(200, &[("X-Echo", "Bearer planted-token")], &pieces);
    let policy = any().inject("api.example", "authorization", Secret::new("Bearer planted-token")).expect("good");
    let reply = now(network(policy, &stage).begin(get("https://api.example/"))).expect("allowed");
    assert_eq!(reply.headers[0].1, b"Bearer *************");
    assert_eq!(body(reply), Ok(b"you sent Bearer *************, and plant".to_vec()));
}

#[test]
fn a_body_that_is_too_large_is_broken_off_with_the_reason() {
    let stage = Stage::new(&[&["1.1.1.1"]]);
    let network = network(limited(|limits| limits.request_bytes = 6), &stage);
    let outcome = now(network.begin(post("https://a.example/", &["abcd", "efgh"], None)));
    let Err(Failure::Refused(refusal)) = outcome else { panic!("refused, but {outcome:?}") };
    assert_eq!(refusal.message, "the body is larger than the 6 bytes that one request may send");
    assert_eq!(network.log().events[0].decision, Decision::Refused(RefusalKind::Limit, refusal.message));
}

#[test]
fn a_body_is_held_to_the_length_that_was_announced() {
    for (pieces, length) in [(&["abc", "d"][..], 3), (&["ab"], 3)] {
        let stage = Stage::new(&[&["1.1.1.1"]]);
        let outcome = now(network(any(), &stage).begin(post("https://a.example/", pieces, Some(length))));
        assert_eq!(refused(outcome), RefusalKind::Header);
        assert!(stage.left().is_empty());
    }
    let stage = Stage::new(&[&["1.1.1.1"]]);
    stage.play(200, &[], &[]);
    now(network(any(), &stage).begin(post("https://a.example/", &["ab", "c"], Some(3)))).expect("as announced");
    assert_eq!(stage.left()[0].body, b"abc");
}

#[test]
fn a_reply_that_is_too_large_is_broken_off_with_the_reason() {
    let stage = Stage::new(&[&["1.1.1.1"]]);
    stage.play(200, &[], &["abcd", "efgh", "ijkl"]);
    let network = network(limited(|limits| limits.reply_bytes = 6), &stage);
    let mut reply = now(network.begin(get("https://a.example/"))).expect("the head is there");
    assert_eq!(now(reply.chunk()), Some(Ok(b"abcd".to_vec())));
    assert_eq!(refused(now(reply.chunk()).expect("an end")), RefusalKind::Limit);
    assert_eq!(now(reply.chunk()), None);
    assert!(matches!(network.log().events[0].decision, Decision::Refused(RefusalKind::Limit, _)));
}

#[test]
fn a_sandbox_has_a_budget_over_all_its_requests() {
    let stage = Stage::new(&[&["1.1.1.1"], &["1.1.1.1"], &["1.1.1.1"]]);
    stage.play(200, &[], &["0123456789"]);
    stage.play(200, &[], &["0123456789"]);
    let network = network(limited(|limits| limits.total_received_bytes = 15), &stage);
    assert!(body(now(network.begin(get("https://a.example/"))).expect("the head")).is_ok());
    let second = body(now(network.begin(get("https://a.example/"))).expect("the head"));
    assert_eq!(refused(second), RefusalKind::Limit);

    let network = super::network(limited(|limits| limits.total_sent_bytes = 10), &stage);
    assert_eq!(refused(now(network.begin(post("https://a.example/", &["0123456789"], None)))), RefusalKind::Limit);
}

#[test]
fn requests_are_counted_also_when_they_are_refused() {
    let stage = Stage::new(&[]);
    let network = network(limited(|limits| limits.requests = 2), &stage);
    assert_eq!(refused(now(network.begin(get("https://127.0.0.1/")))), RefusalKind::Address);
    assert_eq!(refused(now(network.begin(get("nonsense")))), RefusalKind::Url);
    assert_eq!(refused(now(network.begin(get("https://1.1.1.1/")))), RefusalKind::Limit);
    let log = network.log();
    assert_eq!((log.events.len(), log.left_out), (2, 1));
}

#[test]
fn only_so_many_requests_are_on_their_way_at_once() {
    let stage = Stage::new(&[]);
    (0..3).for_each(|_| stage.play(200, &[], &[]));
    let network = network(limited(|limits| limits.concurrent = 1), &stage);
    let first = now(network.begin(get("https://1.1.1.1/"))).expect("there is room");
    assert_eq!(refused(now(network.begin(get("https://1.1.1.1/")))), RefusalKind::Limit);
    drop(first);
    assert!(body(now(network.begin(get("https://1.1.1.1/"))).expect("there is room again")).is_ok());
    assert!(now(network.begin(get("https://1.1.1.1/"))).is_ok());
}

#[test]
fn a_guest_may_ask_for_less_time_and_not_for_more() {
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
            Box::pin(async { Err(GatewayError::new(GatewayErrorKind::Timeout, "time is up")) })
        }
    }
    let times = Arc::new(Times(std::sync::Mutex::default()));
    let gateway: Arc<dyn HttpGateway> = Arc::<Times>::clone(&times);
    let network = Network::new(Arc::new(any()), gateway, Arc::new(super::Ticking::default()));
    let ask = |connect_time, request_time| {
        let request = NetworkRequest { connect_time, request_time, ..get("https://1.1.1.1/") };
        assert!(matches!(now(network.begin(request)), Err(Failure::Failed(_))));
    };
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    ask(seconds(2), seconds(7));
    ask(seconds(1000), seconds(100_000));
    // The clock moves by a second between the beginning and the connection.
    let expected = [(2, 6), (30, 299)].map(|(a, b)| (Duration::from_secs(a), Duration::from_secs(b)));
    assert_eq!(*times.0.lock().unwrap(), expected);
}

#[test]
fn the_log_tells_everything_but_credentials() {
    let stage = Stage::new(&[&["1.1.1.1"], &["1.1.1.1"]]);
    stage.play(404, &[("a", "b")], &["gone"]);
    stage.play(200, &[], &["x"]);
    let policy = any().inject("api.example", "authorization", Secret::new("Bearer planted-token")).expect("good");
    let network = network(policy, &stage);
    assert!(
        body(now(network.begin(post("https://api.example/x?y=1#z", &["data"], Some(4)))).expect("a reply")).is_ok()
    );
    drop(now(network.begin(get("https://b.example/"))).expect("a reply"));
    assert!(now(network.begin(get("https://user:hunter2@b.example/"))).is_err());
    assert!(now(network.begin(get("https://1.1.1.1/"))).is_err());
    let log = network.log();
    assert!(!format!("{log:?}").contains("planted") && !format!("{log:?}").contains("hunter2"));
    let [answered, cancelled, refused, failed] = &log.events[..] else { panic!("four entries, but {log:#?}") };
    assert_eq!((answered.method.as_str(), answered.url.as_str()), ("POST", "https://api.example/x?y=1"));
    assert_eq!((answered.status, &answered.decision), (Some(404), &Decision::Answered));
    assert_eq!((answered.sent_bytes, answered.received_bytes), (4 + 4 + 6, 6 + 4));
    assert_eq!(answered.credentials, ["authorization for api.example"]);
    assert_eq!(answered.at, Duration::from_secs(1_700_000_000));
    assert!(answered.duration > Duration::ZERO);
    assert_eq!(cancelled.decision, Decision::Cancelled);
    assert_eq!(refused.url, "https://***@b.example/");
    assert!(matches!(failed.decision, Decision::Failed(GatewayErrorKind::Connect, _)));
}

#[test]
fn a_reply_cannot_smuggle_lines_into_its_own_head() {
    for headers in [[("x", "a\r\nSet-Cookie: b")], [("x y", "a")], [("", "a")]] {
        let stage = Stage::new(&[]);
        stage.play(200, &headers, &[]);
        let outcome = now(network(any(), &stage).begin(get("https://1.1.1.1/")));
        let Err(Failure::Failed(error)) = outcome else { panic!("failed, but {outcome:?}") };
        assert_eq!(error.kind, GatewayErrorKind::Protocol);
    }
    let stage = Stage::new(&[]);
    stage.play(200, &[("x", &"a".repeat(70_000))], &[]);
    assert!(matches!(now(network(any(), &stage).begin(get("https://1.1.1.1/"))), Err(Failure::Failed(_))));
}

#[test]
fn dropping_a_request_that_waits_is_logged_as_cancelled() {
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
    assert_eq!(network.log().events[0].decision, Decision::Underway);
    drop(waiting);
    assert_eq!(network.log().events[0].decision, Decision::Cancelled);
}
