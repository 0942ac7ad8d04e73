//! Rules for Git, with the paths of clients that try to reach more than the rule allows.

use super::super::*;
use super::allow;
use crate::ErrorKind;

fn deny_reason(policy: &NetworkPolicy, method: &str, url: &str) -> Option<DenyReason> {
    let target = Target::parse(url).unwrap_or_else(|denied| panic!("{url}: {denied}"));
    policy.check(&target, method).err().map(|denied| denied.kind)
}

fn fetch(repository: &str) -> NetworkPolicy {
    NetworkPolicy::new().allow(AllowRule::git_fetch(repository).expect("a good rule"))
}

fn push(repository: &str) -> NetworkPolicy {
    NetworkPolicy::new().allow(AllowRule::git_push(repository).expect("a good rule"))
}

/// Methods and URLs.
type Requests = [(&'static str, String); 2];

/// The requests of a fetch and those that only a push sends.
fn requests(repository: &str) -> (Requests, Requests) {
    let of = |service| {
        [
            ("GET", format!("https://{repository}/info/refs?service={service}")),
            ("POST", format!("https://{repository}/{service}")),
        ]
    };
    (of("git-upload-pack"), of("git-receive-pack"))
}

#[test]
fn a_fetch_rule_allows_fetching_and_not_pushing() {
    for rule in ["github.com", "github.com/org/repo", "github.com/org/repo.git", "github.com/org/*"] {
        for repository in ["github.com/org/repo", "github.com/org/repo.git", "GitHub.com:443/org/repo"] {
            let (fetching, pushing) = requests(repository);
            for (method, url) in fetching {
                assert_eq!(deny_reason(&fetch(rule), method, &url), None, "{rule}: {method} {url}");
                assert_eq!(deny_reason(&push(rule), method, &url), None, "{rule}: {method} {url}");
            }
            for (method, url) in pushing {
                assert_eq!(deny_reason(&fetch(rule), method, &url), Some(DenyReason::Path), "{rule}: {method} {url}");
                assert_eq!(deny_reason(&push(rule), method, &url), None, "{rule}: {method} {url}");
            }
        }
    }
}

#[test]
fn other_repositories_and_hosts_are_denied() {
    for policy in [fetch("github.com/org/repo"), push("github.com/org/repo")] {
        for path in
            ["org/repos", "org/repo.git.git", "Org/repo", "org", "repo", "a/org/repo", "org/repo/b", "org/repo.wiki"]
        {
            let (fetching, pushing) = requests(&format!("github.com/{path}"));
            for (method, url) in fetching.iter().chain(&pushing) {
                assert_eq!(deny_reason(&policy, method, url), Some(DenyReason::Path), "{method} {url}");
            }
        }
        let (fetching, _) = requests("github.com.evil.net/org/repo");
        assert_eq!(deny_reason(&policy, "GET", &fetching[0].1), Some(DenyReason::Host));
        assert_eq!(deny_reason(&policy, "GET", &fetching[0].1.replace("https", "http")), Some(DenyReason::Host));
    }
    let below = fetch("gitlab.com/group/*");
    for (path, reason) in [
        ("group/a", None),
        ("group/sub/a", None),
        ("group", Some(DenyReason::Path)),
        ("groups/a", Some(DenyReason::Path)),
        ("other/group/a", Some(DenyReason::Path)),
    ] {
        let (fetching, _) = requests(&format!("gitlab.com/{path}"));
        assert_eq!(deny_reason(&below, "GET", &fetching[0].1), reason, "{path}");
    }
}

#[test]
fn paths_that_servers_read_differently_are_denied() {
    let deny = Some(DenyReason::Path);
    for policy in [fetch("h.example"), push("h.example"), fetch("h.example/a/b"), fetch("h.example/a/*")] {
        for url in [
            "https://h.example/a/%62/info/refs?service=git-upload-pack",
            "https://h.example/a/b%2finfo/refs?service=git-upload-pack",
            "https://h.example/a/b/info%2Frefs?service=git-upload-pack",
            "https://h.example/a/x/..%2fb/info/refs?service=git-upload-pack",
            "https://h.example/a/b%00/info/refs?service=git-upload-pack",
            "https://h.example/a/%252e%252e/b/info/refs?service=git-upload-pack",
            "https://h.example/a//b/info/refs?service=git-upload-pack",
            "https://h.example//a/b/info/refs?service=git-upload-pack",
            "https://h.example/a/b//info/refs?service=git-upload-pack",
            "https://h.example/a/b/info//refs?service=git-upload-pack",
            "https://h.example/a/b/info/refs/?service=git-upload-pack",
            "https://h.example/a/b;x/info/refs?service=git-upload-pack",
            "https://h.example/a/b/info/refs;x?service=git-upload-pack",
            "https://h.example/a/b/info/refs?service=git-upload-pack&service=git-receive-pack",
            "https://h.example/a/b/info/refs?service=git-receive-pack&service=git-upload-pack",
            "https://h.example/a/b/info/refs?service=git-upload-pack;service=git-receive-pack",
            "https://h.example/a/b/info/refs?service=git%2dreceive-pack",
            "https://h.example/a/b/info/refs?service=git-upload-pack?",
            "https://h.example/a/b/info/refs?service=git-upload-archive",
            "https://h.example/a/b/info/refs?service=",
            "https://h.example/a/b/info/refs??service=git-upload-pack",
            "https://h.example/a/b/info/refs?",
            "https://h.example/a/b/info/refs",
            "https://h.example/info/refs?service=git-upload-pack",
            "https://h.example/a/b/git-receive-pack/info/refs?service=git-upload-pack",
            "https://h.example/a/b/HEAD",
            "https://h.example/a/b/objects/info/packs",
            "https://h.example/a/b",
            "https://h.example/",
        ] {
            assert_eq!(deny_reason(&policy, "GET", url), deny, "{url}");
        }
        for url in [
            "https://h.example/a/b/git-upload-pack?x",
            "https://h.example/a/b/git-upload-pack?",
            "https://h.example/a/b/git-upload-pack/",
            "https://h.example/a/b/git-upload-pack%2f",
            "https://h.example/a/b/git-upload-pack;x",
            "https://h.example/a/b//git-upload-pack",
            "https://h.example/a/b/git%2dupload-pack",
            "https://h.example/a/b/git-receive-pack/git-upload-pack",
            "https://h.example/a/b/Git-Upload-Pack",
            "https://h.example/git-upload-pack",
            "https://h.example/a/b/info/refs?service=git-upload-pack",
            "https://h.example/a/b/info/lfs/objects/batch",
            "https://h.example/graphql",
        ] {
            assert_eq!(deny_reason(&policy, "POST", url), deny, "{url}");
        }
    }
}

#[test]
fn dot_segments_are_resolved_before_the_check() {
    let policy = fetch("h.example/a/b");
    for (path, reason) in [
        ("a/x/../b", None),
        ("a/./b", None),
        ("x/%2e%2e/a/b", None),
        ("a/b/../c", Some(DenyReason::Path)),
        ("a/b/%2E%2e/c", Some(DenyReason::Path)),
        ("a/b/.%2e/.%2e/c/d", Some(DenyReason::Path)),
        ("a\\..\\c", Some(DenyReason::Path)),
    ] {
        let url = format!("https://h.example/{path}/info/refs?service=git-upload-pack");
        assert_eq!(deny_reason(&policy, "GET", &url), reason, "{url}");
    }
    let url = "https://h.example/a/b/git-upload-pack/../git-receive-pack";
    assert_eq!(deny_reason(&policy, "POST", url), Some(DenyReason::Path));
}

#[test]
fn other_methods_are_denied_even_if_the_rule_is_widened() {
    let rule = || AllowRule::git_push("h.example/a/b").expect("a good rule");
    let narrow = NetworkPolicy::new().allow(rule());
    let wide = NetworkPolicy::new().allow(rule().any_method().methods(["GET", "PUT", "HEAD"]).any_method());
    let (fetching, pushing) = requests("h.example/a/b");
    for (_, url) in fetching.iter().chain(&pushing) {
        for method in ["HEAD", "PUT", "DELETE", "OPTIONS", "get", "post"] {
            assert_eq!(deny_reason(&narrow, method, url), Some(DenyReason::Method), "{method} {url}");
            assert_eq!(deny_reason(&wide, method, url), Some(DenyReason::Path), "{method} {url}");
        }
    }
    let reading = NetworkPolicy::new().allow(rule().methods(["GET"]));
    assert_eq!(deny_reason(&reading, "POST", &fetching[1].1), Some(DenyReason::Method));
    assert_eq!(deny_reason(&reading, "GET", &fetching[0].1), None);
}

#[test]
fn scheme_and_port_of_a_git_rule_are_those_of_every_rule() {
    let (fetching, _) = requests("h.example/a/b");
    let http = fetching[0].1.replace("https", "http");
    assert_eq!(deny_reason(&fetch("h.example/a/b"), "GET", &http), Some(DenyReason::Scheme));
    let rule = AllowRule::git_fetch("h.example/a/b").expect("a good rule").http().port(8080);
    let policy = NetworkPolicy::new().allow(rule);
    assert_eq!(deny_reason(&policy, "GET", &http), Some(DenyReason::Port));
    assert_eq!(deny_reason(&policy, "GET", &http.replace("h.example", "h.example:8080")), None);
}

#[test]
fn a_git_rule_does_not_narrow_another_rule() {
    let policy = fetch("h.example/a/b").allow(allow("h.example"));
    assert_eq!(deny_reason(&policy, "GET", "https://h.example/any?thing"), None);
    assert_eq!(deny_reason(&policy, "POST", "https://h.example/a/b/git-upload-pack"), None);
    assert_eq!(deny_reason(&policy, "POST", "https://h.example/a/b/git-receive-pack"), Some(DenyReason::Path));
    let both = fetch("h.example/a/b").allow(AllowRule::git_push("h.example/a/c").expect("a good rule"));
    assert_eq!(deny_reason(&both, "POST", "https://h.example/a/b/git-receive-pack"), Some(DenyReason::Path));
    assert_eq!(deny_reason(&both, "POST", "https://h.example/a/c/git-receive-pack"), None);
}

#[test]
fn a_denied_path_is_named_with_what_is_allowed() {
    let policy = fetch("h.example/a/b").allow(AllowRule::git_push("h.example/c/*").expect("a good rule"));
    let message = |url: &str| {
        let target = Target::parse(url).expect("a good URL");
        policy.check(&target, "POST").expect_err("a denial").message
    };
    assert_eq!(
        message("https://h.example/a/b/git-receive-pack"),
        "the sandbox's network policy does not allow POST /a/b/git-receive-pack at h.example, only git fetch of /a/b, git fetch \
         and push of /c/*"
    );
    assert!(message(&format!("https://h.example/{}", "x".repeat(9000))).len() < 400);
}

#[test]
fn invalid_repositories_are_rejected() {
    for repository in [
        "",
        "/",
        "/a/b",
        "h.example/",
        "h.example//",
        "h.example/a//b",
        "h.example/../b",
        "h.example/a/./b",
        "h.example/a%2fb",
        "h.example/a b",
        "h.example/a?b",
        "h.example/a;b",
        "h.example/a#b",
        "h.example/*",
        "h.example/a/*/b",
        "h.example/a*",
        "h.example/a\\b",
        "h.example/é",
        "https://h.example/a/b",
        "h.example:443/a/b",
        "git@h.example:a/b",
        "u@h.example/a",
        "h.example/a/git-upload-pack",
        "a..b/c",
    ] {
        for rule in [AllowRule::git_fetch(repository), AllowRule::git_push(repository)] {
            let error = rule.err().unwrap_or_else(|| panic!("{repository} must be rejected"));
            assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{repository}");
        }
    }
}

#[test]
fn a_redirect_to_another_repository_is_denied() {
    let policy = fetch("h.example/a/b");
    let from = Target::parse("https://h.example/a/b/info/refs?service=git-upload-pack").expect("a good URL");
    for (location, reason) in [
        ("/a/b.git/info/refs?service=git-upload-pack", None),
        ("/a/c/info/refs?service=git-upload-pack", Some(DenyReason::Path)),
        ("https://other.example/a/b/info/refs?service=git-upload-pack", Some(DenyReason::Host)),
        ("/a/b/info/refs", Some(DenyReason::Path)),
    ] {
        let to = from.follow(location).expect("a target");
        assert_eq!(policy.check(&to, "GET").err().map(|denied| denied.kind), reason, "{location}");
    }
}
