//! Errors of the policy, the server and the network.

use crate::Test;
use crate::fetching::noise;
use crate::gateway;
use crate::git_server::AUTHORIZATION;
use crate::site::Site;

pub(crate) const TESTS: &[Test] = &[
    ("denied_requests_name_what_must_be_allowed", denied_requests_name_what_must_be_allowed),
    ("a_missing_credential_is_not_asked_for", a_missing_credential_is_not_asked_for),
    ("a_credential_is_never_printed_or_stored", a_credential_is_never_printed_or_stored),
    ("errors_of_the_server_are_reported", errors_of_the_server_are_reported),
    ("redirects_of_the_first_request_are_followed", redirects_of_the_first_request_are_followed),
    ("incomplete_responses_fail", incomplete_responses_fail),
    ("an_endless_list_of_references_is_cut", an_endless_list_of_references_is_cut),
    ("other_commands_end_with_an_error", other_commands_end_with_an_error),
];

fn denied_requests_name_what_must_be_allowed() {
    let site = Site::new("no-network").with_env(gateway::MODE, "absent");
    let url = site.url("git", "a.git");
    site.git(".", &format!("clone {url} a")).fails(
        128,
        &[&format!(
            "fatal: unable to access '{url}': the sandbox has no network; the application that runs it can allow git fetch of \
             127.0.0.1/git/a.git by a network policy\n"
        )],
    );
    site.git("work", &format!("push {url} main"))
        .fails(128, &["can allow git push of 127.0.0.1/git/a.git by a network policy"]);
    for rule in ["host", "method", "path"] {
        let site = Site::new("denied").with_env(gateway::MODE, &format!("refused {rule}"));
        let url = site.url("git", "a.git");
        site.git(".", &format!("clone {url} a")).fails(
            128,
            &[&format!(
                "fatal: unable to access '{url}': the policy does not allow GET of it; the application that runs the sandbox can \
                 allow git fetch of 127.0.0.1/git/a.git by a rule for Git\n"
            )],
        );
    }
    let site = Site::new("denied").with_env(gateway::MODE, "refused limit");
    site.git(".", &format!("ls-remote {}", site.url("git", "a.git")))
        .fails(128, &["the policy does not allow GET of it\n"]);
}

fn a_missing_credential_is_not_asked_for() {
    let site = Site::new("private");
    let url = site.url("private", "a.git");
    let host = format!("127.0.0.1:{}", site.server.port);
    for words in [format!("clone {url} a"), format!("ls-remote {url}"), format!("-C work push {url} main")] {
        site.git(".", &words).fails(
            128,
            &[
                "remote: authentication is required\n",
                &format!(
                    "fatal: authentication failed for '{url}': {host} requires a valid credential; the application"
                ),
            ],
        );
    }
    let wrong = url.replace("://", "://me:wrong-token@");
    let ran = site.git(".", &format!("clone {wrong} a")).fails(128, &["authentication failed"]);
    assert!(!ran.stderr.contains("wrong-token"), "{ran:#?}");
    assert!(!site.dir.join("a").exists());
}

fn a_credential_is_never_printed_or_stored() {
    let site = Site::new("credential").with_env(gateway::INJECTED, AUTHORIZATION);
    let url = site.url("private", "a.git");
    site.git(".", &format!("clone -v {url} a")).ok();
    site.commit("a", "new", b"1\n");
    let ran = site.git("a", "push -v").ok();
    assert_eq!(site.id("root/a.git", "main"), site.id("a", "HEAD"));
    assert!(!ran.stderr.contains("token") && !ran.stderr.contains("bWU6"));
    let site = Site::new("credential-in-url");
    let url = site.url("private", "a.git").replace("://", "://me:canary-token@");
    let ran = site.git(".", &format!("-c protocol.version=0 ls-remote {url}")).ok();
    assert!(!ran.stderr.contains("token"));
    site.git("work", &format!("push {url} main:copied")).ok();
    assert!(site.has("root/a.git", "copied"));
}

fn errors_of_the_server_are_reported() {
    let site = Site::new("status");
    for (status, texts) in [
        ("403", ["remote: told\n", "denies access (403); the application that runs the sandbox can add a credential"]),
        ("404", ["remote: told\n", "' not found; if it is private, the application"]),
        ("500", ["remote: told\n", "returned the status 500\n"]),
        ("204", ["remote: told\n", "returned the status 204\n"]),
    ] {
        let url = site.url(&format!("status/{status}"), "a.git");
        site.git(".", &format!("clone {url} a")).fails(128, &texts);
        site.git("work", &format!("push {url} main")).fails(128, &texts);
    }
    for version in ["0", "2"] {
        let url = site.url("no-post", "a.git");
        let ran = site.git(".", &format!("-c protocol.version={version} clone {url} a"));
        ran.fails(128, &["remote: out of order?[2J\n", "returned the status 500"]);
    }
    let url = site.url("no-post", "a.git");
    site.commit("work", "large", &noise(4 << 20));
    site.git("work", &format!("push {url} main")).fails(1, &["returned the status 500"]);
    let dumb = site.url("dumb", "a.git");
    site.git(".", &format!("clone {dumb} a"))
        .fails(128, &["the server answers with text/plain instead of", "only Git's smart HTTP protocol is supported"]);
    let missing = site.url("git", "missing.git");
    site.git(".", &format!("clone {missing} a")).fails(128, &["' not found"]);
    site.git(".", "clone http://127.0.0.1:1/a.git a").fails(128, &["unable to access"]);
    assert!(!site.dir.join("a").exists());
}

fn redirects_of_the_first_request_are_followed() {
    let site = Site::new("redirect");
    for version in ["0", "2"] {
        let (url, to) = (site.url("moved", "a.git"), format!("moved-{version}"));
        site.server.take_requests();
        site.git(".", &format!("-c protocol.version={version} clone {url} {to}"))
            .ok()
            .prints(&[&format!("warning: redirecting to {}/\n", site.url("git", "a.git"))]);
        let posts = site.server.take_requests().into_iter().filter(|request| request.method == "POST");
        assert!(posts.map(|request| request.path).all(|path| path == "/git/a.git/git-upload-pack"));
        assert_eq!(site.id(&to, "HEAD"), site.id("work", "main"));
        assert_eq!(site.git(&to, "remote get-url origin").stdout, url);
    }
    site.git("work", &format!("push -q {} main:moved", site.url("moved", "a.git"))).ok();
    assert!(site.has("root/a.git", "moved"));
    for (mode, text) in [
        ("circle", "more than 20 redirects"),
        ("elsewhere", "' not found"),
        ("moved-post", "the server redirects a POST to"),
    ] {
        site.git(".", &format!("clone {} a", site.url(mode, "a.git"))).fails(128, &[text]);
    }
    let circle = site.url("circle", "a.git");
    site.server.take_requests();
    site.git(".", &format!("ls-remote {circle}")).fails(128, &[]);
    assert_eq!(site.server.take_requests().len(), 21);
}

fn incomplete_responses_fail() {
    let site = Site::new("incomplete");
    site.commit("work", "large", &noise(1 << 20));
    site.git("work", "push -q ../root/a.git main").ok();
    for version in ["0", "2"] {
        let cut = site.url("cut", "a.git");
        site.git(".", &format!("-c protocol.version={version} clone -q {cut} a"))
            .fails(128, &["closed the connection within its answer"]);
        let damaged = site.url("damaged", "a.git");
        site.git(".", &format!("-c protocol.version={version} clone -q {damaged} a")).fails(128, &["fatal: "]);
        assert!(!site.dir.join("a").exists());
    }
}

fn an_endless_list_of_references_is_cut() {
    let site = Site::new("endless");
    for version in ["0", "2"] {
        let url = site.url("endless", "a.git");
        site.git(".", &format!("-c protocol.version={version} clone {url} a"))
            .fails(128, &["its list of references exceeds 32 MiB"]);
    }
}

fn other_commands_end_with_an_error() {
    let site = Site::new("commands");
    let input = site.dir.join("input");
    let url = site.url("git", "a.git");
    for (text, code, stdout, stderr) in [
        ("capabilities\n", 0, "stateless-connect\nfetch\noption\npush\ncheck-connectivity\nobject-format\n\n", ""),
        ("option depth x\noption nothing x\noption depth 1\n", 0, "error invalid value\nunsupported\nok\n", ""),
        ("stateless-connect git-receive-pack\n", 0, "fallback\n", ""),
        ("import x\n", 128, "", "fatal: unknown command 'import' from Git\n"),
        ("fetch 1 x\npush y\n\n", 128, "", "fatal: Git sent an invalid batch of fetch commands\n"),
        ("fetch 1 x\n", 128, "", "fatal: Git ended within a batch of commands\n"),
        ("list", 128, "", "fatal: Git sent an incomplete command\n"),
    ] {
        std::fs::write(&input, text).expect("a file is written");
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_git-remote-http"))
            .args(["origin", &url])
            .stdin(std::fs::File::open(&input).expect("a file"))
            .output()
            .expect("the helper runs");
        assert_eq!(output.status.code(), Some(code), "{text:?}");
        assert_eq!(
            (String::from_utf8_lossy(&output.stdout).as_ref(), String::from_utf8_lossy(&output.stderr).as_ref()),
            (stdout, stderr)
        );
    }
}
