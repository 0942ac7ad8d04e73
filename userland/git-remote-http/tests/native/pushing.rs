//! Push.

use std::os::unix::fs::PermissionsExt;

use crate::Test;
use crate::fetching::noise;
use crate::site::Site;

pub(crate) const TESTS: &[Test] = &[
    ("branches_are_created_updated_and_deleted", branches_are_created_updated_and_deleted),
    ("a_rejected_push_is_reported_and_a_forced_one_works", a_rejected_push_is_reported_and_a_forced_one_works),
    ("an_atomic_push_updates_all_or_nothing", an_atomic_push_updates_all_or_nothing),
    ("hooks_print_and_reject", hooks_print_and_reject),
    ("options_of_a_push_reach_the_server", options_of_a_push_reach_the_server),
    ("a_large_push_is_streamed", a_large_push_is_streamed),
];

fn branches_are_created_updated_and_deleted() {
    let site = Site::new("push");
    let url = site.url("git", "a.git");
    site.git("work", &format!("remote add origin {url}")).ok();
    site.git("work", "checkout -q -b topic").ok();
    site.commit("work", "topic", b"1\n");
    site.git("work", "push -u origin topic").ok().prints(&["[new branch]      topic -> topic"]);
    assert_eq!(site.id("root/a.git", "topic"), site.id("work", "topic"));
    assert_eq!(site.id("work", "@{upstream}"), site.id("work", "topic"));
    site.server.take_requests();
    site.git("work", "push").ok().prints(&["Everything up-to-date"]);
    assert_eq!(site.server.take_requests().len(), 1);
    site.commit("work", "topic", b"2\n");
    site.git("work", "push --dry-run").ok();
    assert_ne!(site.id("root/a.git", "topic"), site.id("work", "topic"));
    site.git("work", "push").ok().prints(&["topic -> topic"]);
    assert_eq!(site.id("root/a.git", "topic"), site.id("work", "topic"));
    site.git("work", "push origin :topic").ok().prints(&["[deleted]         topic"]);
    assert!(!site.has("root/a.git", "topic"));
    site.git("work", "push origin --delete missing").fails(1, &["remote ref does not exist"]);
    site.git("work", "push --tags --all origin").fails(128, &[]);
    site.git("work", "tag light").ok();
    site.git("work", "push -q --tags origin").ok();
    assert_eq!(site.id("root/a.git", "light"), site.id("work", "topic"));
    site.git("root/a.git", "fsck --strict").ok();
}

fn a_rejected_push_is_reported_and_a_forced_one_works() {
    let site = Site::new("forced");
    let url = site.url("git", "a.git");
    site.git(".", &format!("clone -q {url} second")).ok();
    site.commit("second", "second", b"1\n");
    site.git("second", "push -q").ok();
    let theirs = site.id("second", "HEAD");
    site.commit("work", "mine", b"1\n");
    let push = |words: &str| site.git("work", &format!("push {words}"));
    push(&format!("{url} main")).fails(1, &["! [rejected]        main -> main (fetch first)"]);
    assert_eq!(site.id("root/a.git", "main"), theirs);
    let lease = format!("--force-with-lease=main:{}", "1".repeat(40));
    push(&format!("{lease} {url} main")).fails(1, &["! [rejected]        main -> main (stale info)"]);
    push(&format!("--force-with-lease=main:{theirs} {url} main")).ok().prints(&["(forced update)"]);
    assert_eq!(site.id("root/a.git", "main"), site.id("work", "main"));
    site.git("work", "reset -q --hard HEAD~2").ok();
    push(&format!("{url} main")).fails(1, &["(non-fast-forward)"]);
    push(&format!("{url} +main")).ok().prints(&["(forced update)"]);
    push(&format!("--force {url} side:main")).ok();
    assert_eq!(site.id("root/a.git", "main"), site.id("work", "side"));
}

fn an_atomic_push_updates_all_or_nothing() {
    let site = Site::new("atomic");
    let url = site.url("git", "a.git");
    let before = site.id("root/a.git", "main");
    site.commit("work", "new", b"1\n");
    site.git("work", "branch -f side HEAD~3").ok();
    site.git("work", &format!("push --atomic {url} main side"))
        .fails(1, &["(atomic push failed)", "(non-fast-forward)"]);
    assert_eq!(site.id("root/a.git", "main"), before);
    site.git("work", &format!("push --atomic {url} main +side another:another")).fails(1, &[]);
    site.git("work", &format!("push --atomic {url} main +side")).ok();
    assert_eq!(site.id("root/a.git", "main"), site.id("work", "main"));
    assert_eq!(site.id("root/a.git", "side"), site.id("work", "side"));
}

fn hook(site: &Site, name: &str, script: &str) {
    let path = site.dir.join("root/a.git/hooks").join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a hook is written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it is executable");
}

fn hooks_print_and_reject() {
    let site = Site::new("hooks");
    let url = site.url("git", "a.git");
    hook(&site, "pre-receive", "echo 'checking things'");
    hook(&site, "update", "case $1 in *bad) echo 'no bad names' >&2; exit 1;; esac");
    site.commit("work", "new", b"1\n");
    site.git("work", &format!("push {url} main")).ok().prints(&["remote: checking things", "main -> main"]);
    site.git("work", &format!("push {url} main:bad main:good")).fails(
        1,
        &["remote: no bad names", "! [remote rejected] main -> bad (hook declined)", "[new branch]      main -> good"],
    );
    assert!(site.has("root/a.git", "good") && !site.has("root/a.git", "bad"));
    hook(&site, "pre-receive", "exit 1");
    site.commit("work", "new", b"2\n");
    site.git("work", &format!("push {url} main")).fails(1, &["(pre-receive hook declined)"]);
}

fn options_of_a_push_reach_the_server() {
    let site = Site::new("push-options");
    let url = site.url("git", "a.git");
    hook(&site, "pre-receive", "echo \"$GIT_PUSH_OPTION_COUNT:$GIT_PUSH_OPTION_0\"");
    site.commit("work", "new", b"1\n");
    site.run("work", &["push", "--push-option", "a \"b\" \\ é", &url, "main"]).ok().prints(&["remote: 1:a \"b\" \\ é"]);
    let ran = site.git("work", &format!("push -q {url} HEAD~1:refs/heads/quiet")).ok();
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", "remote: 0:        \n"));
    assert_eq!(site.id("root/a.git", "quiet"), site.id("work", "HEAD~1"));
}

fn a_large_push_is_streamed() {
    let site = Site::new("large-push");
    let url = site.url("git", "a.git");
    site.commit("work", "large", &noise(8 << 20));
    site.server.take_requests();
    site.git("work", &format!("push -q {url} main")).ok();
    let requests = site.server.take_requests();
    let post = requests.last().expect("a request");
    assert_eq!(post.headers.get("transfer-encoding").map(String::as_str), Some("chunked"));
    assert_eq!(site.id("root/a.git", "main:large"), site.id("work", "HEAD:large"));
    site.git("root/a.git", "fsck").ok();
    site.commit("work", "small", b"1\n");
    site.git("work", &format!("push -q {url} main")).ok();
    assert!(site.server.take_requests().last().expect("a request").headers.contains_key("content-length"));
}
