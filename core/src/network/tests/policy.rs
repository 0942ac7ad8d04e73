use super::super::*;
use super::{allow, deny_reason};
use crate::{ErrorKind, Secret};

fn target(url: &str) -> Target {
    Target::parse(url).unwrap_or_else(|denied| panic!("{url}: {denied}"))
}

fn why(policy: &NetworkPolicy, method: &str, url: &str) -> Option<DenyReason> {
    policy.check(&target(url), method).err().map(|denied| denied.kind)
}

#[test]
fn a_new_policy_denies_everything_and_a_new_rule_is_narrow() {
    assert_eq!(why(&NetworkPolicy::new(), "GET", "https://example.com/"), Some(DenyReason::Host));
    let policy = NetworkPolicy::new().allow(allow("example.com"));
    assert_eq!(why(&policy, "GET", "https://example.com/a?b"), None);
    assert_eq!(why(&policy, "HEAD", "https://EXAMPLE.com./"), None);
    assert_eq!(why(&policy, "POST", "https://example.com/"), Some(DenyReason::Method));
    assert_eq!(why(&policy, "get", "https://example.com/"), Some(DenyReason::Method));
    assert_eq!(why(&policy, "GET", "http://example.com/"), Some(DenyReason::Scheme));
    assert_eq!(why(&policy, "GET", "https://example.com:8443/"), Some(DenyReason::Port));
    assert_eq!(why(&policy, "GET", "https://www.example.com/"), Some(DenyReason::Host));
    assert_eq!(why(&policy, "GET", "https://example.com.evil.net/"), Some(DenyReason::Host));
}

#[test]
fn a_single_rule_must_allow_the_whole_request() {
    let policy = NetworkPolicy::new()
        .allow(allow("example.com").http().methods(["GET"]))
        .allow(allow("example.com").port(8443).methods(["POST"]));
    assert_eq!(why(&policy, "POST", "https://example.com:8443/"), None);
    assert_eq!(why(&policy, "GET", "http://example.com/"), None);
    assert_eq!(why(&policy, "POST", "http://example.com/"), Some(DenyReason::Method));
    assert_eq!(why(&policy, "GET", "https://example.com:8443/"), Some(DenyReason::Method));
}

#[test]
fn a_star_matches_subdomains_and_alone_every_host() {
    let below = NetworkPolicy::new().allow(allow("*.example.com"));
    assert_eq!(why(&below, "GET", "https://a.example.com/"), None);
    assert_eq!(why(&below, "GET", "https://a.b.Example.COM/"), None);
    for url in ["https://example.com/", "https://aexample.com/", "https://example.com.net/"] {
        assert_eq!(why(&below, "GET", url), Some(DenyReason::Host), "{url}");
    }
    let any = NetworkPolicy::new().allow(allow("*"));
    assert_eq!(why(&any, "GET", "https://anything.example/"), None);
    assert_eq!(why(&any, "GET", "https://[2606:4700::1]/"), None);
}

#[test]
fn names_are_compared_in_their_ascii_form() {
    let policy = NetworkPolicy::new().allow(allow("bücher.example"));
    assert_eq!(why(&policy, "GET", "https://xn--bcher-kva.example/"), None);
    assert_eq!(why(&policy, "GET", "https://B%C3%BCCHER.example/"), None);
}

#[test]
fn invalid_host_patterns_are_rejected() {
    for pattern in ["", "*.", "**.a", "a.*.b", "https://a.b", "a.b/c", "a.b:443", "*.10.0.0.1", "a b", "a..b", "*.*"] {
        let error = AllowRule::host(pattern).expect_err(pattern);
        assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{pattern}");
    }
}

#[test]
fn connect_and_trace_are_never_allowed() {
    let policy = NetworkPolicy::new().allow(allow("example.com").any_method());
    assert_eq!(why(&policy, "PROPFIND", "https://example.com/"), None);
    for method in ["CONNECT", "connect", "TRACE", "TRACK", "", "GET /x HTTP/1.1\r\nA: b", "G E T", "G\u{e9}T"] {
        assert_eq!(why(&policy, method, "https://example.com/"), Some(DenyReason::Method), "{method}");
    }
}

#[test]
fn a_denial_lists_what_is_allowed() {
    let policy = NetworkPolicy::new().allow(allow("a.example")).allow(allow("b.example").methods(["GET", "PUT"]));
    let message = |method, url| policy.check(&target(url), method).expect_err("a denial").message;
    assert!(message("GET", "https://c.example/").ends_with("does not allow c.example; it allows a.example, b.example"));
    assert!(message("POST", "https://b.example/").ends_with("does not allow POST to b.example, only GET, PUT"));
}

#[test]
fn equivalent_urls_parse_to_the_same_target() {
    for (written, meant) in [
        ("HTTPS://Example.COM", "https://example.com/"),
        ("https://example.com:443/a/../b", "https://example.com/b"),
        ("https://example.com:8443#x", "https://example.com:8443/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://[::FFFF:127.0.0.1]/", "http://[::ffff:127.0.0.1]/"),
        ("http:\\\\example.com\\a", "http://example.com/a"),
        ("https://example.com/%2e%2e/a\u{e9}?q=\u{e9}", "https://example.com/a%C3%A9?q=%C3%A9"),
    ] {
        assert_eq!(target(written).to_string(), meant, "{written}");
    }
}

#[test]
fn ambiguous_urls_are_rejected() {
    for url in [
        "",
        "example.com",
        "//example.com/",
        "https://",
        "https://a b/",
        "https://example.com/a b",
        "https://example.com/\r\nHost: x",
        "https://user@example.com/",
        "https://user:pass@example.com/",
        "https://:pass@example.com/",
        "https://exa\tmple.com/",
        "https://a..b/",
        "https://[::1/",
        "http://1.2.3.4.5/",
        "https://example.com:99999/",
        "https://a%00b/",
    ] {
        let denied = Target::parse(url).expect_err(url);
        assert_eq!(denied.kind, DenyReason::Url, "{url}: {denied}");
    }
    for url in ["ftp://example.com/", "file:///etc/passwd", "data:,x", "javascript:1", "ws://example.com/"] {
        assert_eq!(Target::parse(url).expect_err(url).kind, DenyReason::Scheme, "{url}");
    }
    let long = format!("https://example.com/{}", "a".repeat(20_000));
    assert_eq!(Target::parse(&long).expect_err("long").kind, DenyReason::Url);
}

#[test]
fn a_redirect_is_resolved_against_its_request() {
    let from = target("https://example.com/a/b?c");
    let to = |location| from.follow(location).map(|target| target.to_string());
    assert_eq!(to("d").as_deref(), Some("https://example.com/a/d"));
    assert_eq!(to("//other.example/x").as_deref(), Some("https://other.example/x"));
    assert_eq!(to(" http://127.0.0.1/ ").as_deref(), Some("http://127.0.0.1/"));
    assert_eq!(to("ftp://example.com/"), None);
    assert_eq!(to("https://u:p@example.com/"), None);
}

#[test]
fn only_public_and_pinned_addresses_are_allowed() {
    let addresses = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<core::net::IpAddr>>();
    let policy = NetworkPolicy::new()
        .allow(allow("*"))
        .pin_address("db.internal", "10.1.2.3".parse().unwrap())
        .expect("a name can be pinned");
    let open = target("https://example.com/");
    let permit = policy.check(&open, "GET").expect("allowed");
    assert_eq!(permit.filter_addresses(&addresses(&["127.0.0.1", "1.1.1.1"])), Ok(addresses(&["1.1.1.1"])));
    assert_eq!(
        permit.filter_addresses(&addresses(&["10.1.2.3"])).map_err(|denied| denied.kind),
        Err(DenyReason::Address)
    );
    let pinned = target("https://DB.internal/");
    let permit = policy.check(&pinned, "GET").expect("allowed");
    assert_eq!(permit.filter_addresses(&addresses(&["10.1.2.3", "10.1.2.4"])), Ok(addresses(&["10.1.2.3"])));
    assert!(NetworkPolicy::new().pin_address("10.0.0.1", "10.0.0.1".parse().unwrap()).is_err());
}

#[test]
fn a_pin_alone_allows_nothing() {
    let policy = NetworkPolicy::new().pin_address("db.internal", "10.1.2.3".parse().unwrap()).expect("pinned");
    assert_eq!(why(&policy, "GET", "https://db.internal/"), Some(DenyReason::Host));
}

#[test]
fn a_credential_is_sent_only_to_its_host_over_https() {
    let policy = NetworkPolicy::new()
        .allow(allow("*").http())
        .inject("api.example.com", "authorization", Secret::new("Bearer canary"))
        .expect("a good credential");
    let with = |policy: &NetworkPolicy, url| policy.check(&target(url), "GET").expect("allowed").injections().len();
    assert_eq!(with(&policy, "https://api.example.com/"), 1);
    for url in [
        "http://api.example.com/",
        "https://example.com/",
        "https://x.api.example.com/",
        "https://api.example.com.evil.net/",
    ] {
        assert_eq!(with(&policy, url), 0, "{url}");
    }
    let local = HeaderInjection::new("api.example.com", "x-key", Secret::new("canary-key")).expect("good").over_http();
    assert_eq!(with(&policy.with_injection(local), "http://api.example.com/"), 1);
}

#[test]
fn unsafe_credentials_are_rejected() {
    for (host, header, value) in [
        ("*", "authorization", "Bearer abc"),
        ("https://a.b", "authorization", "Bearer abc"),
        ("a.b", "host", "abc"),
        ("a.b", "Transfer-Encoding", "abc"),
        ("a.b", "x y", "abc"),
        ("a.b", "x", "abc\r\nHost: evil"),
        ("a.b", "x", ""),
    ] {
        assert!(HeaderInjection::new(host, header, Secret::new(value)).is_err(), "{host} {header} {value}");
    }
}

#[test]
fn credentials_are_never_printed() {
    let policy = NetworkPolicy::new().inject("a.example", "authorization", Secret::new("canary-key")).expect("good");
    assert!(!format!("{policy:#?}").contains("canary"));
    let error = HeaderInjection::new("a.b", "x", Secret::new("canary\n")).expect_err("a newline");
    assert!(!format!("{error} {error:?}").contains("canary"));
}

#[test]
fn a_guest_cannot_set_framing_headers() {
    for (name, value) in [
        ("Host", "evil.example"),
        ("content-length", "5"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "upgrade"),
        ("Upgrade", "websocket"),
        ("TE", "trailers"),
        ("Proxy-Authorization", "x"),
        ("", "x"),
        ("a b", "x"),
        ("a:b", "x"),
        ("a\r\nb", "x"),
        ("x", "a\r\nHost: evil"),
        ("x", "a\0b"),
    ] {
        let gateway = super::ScriptedGateway::new(&[]);
        gateway.add_reply(200, &[], &[]);
        let network = super::network(NetworkPolicy::new().allow(allow("1.1.1.1")), &gateway);
        let mut request = super::get("https://1.1.1.1/");
        request.headers.push((name.to_owned(), value.as_bytes().to_vec()));
        assert_eq!(deny_reason(super::now(network.begin(request))), DenyReason::Header, "{name}: {value}");
        assert!(gateway.sent_requests().is_empty());
    }
}

#[test]
fn a_percent_encoded_url_obeys_the_length_limit() {
    let long = format!("https://a.example.com/{}", "\u{e9}".repeat(5_000));
    let denied = Target::parse(&long).unwrap_err();
    assert_eq!(denied.kind, DenyReason::Url);
    assert!(denied.to_string().contains("longer than"), "{denied}");
    // A redirect is limited like a request.
    let target = Target::parse("https://a.example.com/").unwrap();
    assert_eq!(target.follow(&long), None);
    let next = target.follow(&format!("/{}", "\u{e9}".repeat(2_000))).unwrap();
    assert_eq!(Target::parse(&next.to_string()).unwrap(), next);
}
