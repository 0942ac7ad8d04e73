//! The remote helper of Git in a sandbox, under rules for Git. The tests of the helper itself run the real Git with it.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use tidebox::network::{AllowRule, DenyReason, HeaderInjection, NetworkPolicy, RequestOutcome};
use tidebox::{ExecuteRequest, ExecuteResponse, Sandbox, SandboxBackend, Secret};

use crate::git_server::{AUTHORIZATION, GitServer};

const NAME: &str = "git.test";

/// A server with the repository `a.git`, which has one commit.
fn server() -> (TempDir, GitServer) {
    let dir = tempfile::tempdir().expect("a directory is created");
    let script = "git init -q --bare -b main root/a.git && git -C root/a.git config http.receivepack true && \
                  git init -q -b main work && cd work && git -c user.name=A -c user.email=a@example.com commit -q \
                  --allow-empty -m one && git push -q ../root/a.git main";
    let status = Command::new("sh").args(["-c", script]).current_dir(dir.path()).status().expect("a shell");
    assert!(status.success());
    let server = GitServer::start(&dir.path().join("root"));
    (dir, server)
}

fn sandbox(server: &GitServer, rules: impl IntoIterator<Item = AllowRule>) -> Sandbox {
    let injection = HeaderInjection::new(NAME, "authorization", Secret::new(AUTHORIZATION)).expect("valid").over_http();
    let mut policy = NetworkPolicy::new()
        .pin_address(NAME, [127, 0, 0, 1].into())
        .expect("a name can be pinned")
        .with_injection(injection);
    for rule in rules {
        policy = policy.allow(rule.http().port(server.port));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("userland/dist/git-remote-http.wasm");
    let helper = std::fs::read(path).expect("the guest programs are built");
    tidebox::sandbox()
        .and_then(|builder| builder.executable("/workspace/git-remote-http", helper).network(policy).build())
        .expect("a sandbox is created")
}

/// Runs one command of the helper for a repository.
async fn run(sandbox: &Sandbox, server: &GitServer, repository: &str, command: &str) -> ExecuteResponse {
    let url = format!("http://{NAME}:{}/{repository}", server.port);
    let line = format!("printf '{command}\\n' | ./git-remote-http origin {url}");
    sandbox.execute(ExecuteRequest::new(line)).await.expect("the command runs")
}

#[tokio::test]
async fn a_fetch_rule_lists_references_and_denies_a_push() {
    let (_dir, server) = server();
    let sandbox = sandbox(&server, [AllowRule::git_fetch("git.test/git/a").expect("valid")]);
    let listed = run(&sandbox, &server, "git/a.git", "list").await;
    assert_eq!(listed.exit_code, Some(0), "{}", listed.stderr_text());
    assert!(listed.stdout_text().contains(" refs/heads/main\n"), "{}", listed.stdout_text());
    let denied = run(&sandbox, &server, "git/a.git", "list for-push").await;
    assert_eq!(denied.exit_code, Some(128));
    let message = "the sandbox's network policy does not allow GET /git/a.git/info/refs?service=git-receive-pack at git.test, \
                   only git fetch of /git/a; the application that runs the sandbox can allow git push of git.test/git/a.git by \
                   a rule for Git\n";
    assert!(denied.stderr_text().ends_with(message), "{}", denied.stderr_text());
    let other = run(&sandbox, &server, "v0/a.git", "list").await;
    assert_eq!(other.exit_code, Some(128));
    let outcomes: Vec<RequestOutcome> = sandbox.network_log().events.into_iter().map(|event| event.outcome).collect();
    assert!(
        matches!(
            outcomes.as_slice(),
            [
                RequestOutcome::Completed,
                RequestOutcome::Denied(DenyReason::Path, _),
                RequestOutcome::Denied(DenyReason::Path, _)
            ]
        ),
        "{outcomes:?}"
    );
}

#[tokio::test]
async fn a_push_rule_lists_references_for_both() {
    let (_dir, server) = server();
    let sandbox = sandbox(&server, [AllowRule::git_push("git.test/git/*").expect("valid")]);
    for command in ["list", "list for-push"] {
        let listed = run(&sandbox, &server, "git/a.git", command).await;
        assert_eq!(listed.exit_code, Some(0), "{}", listed.stderr_text());
        assert!(listed.stdout_text().contains(" refs/heads/main\n"), "{}", listed.stdout_text());
    }
}

#[tokio::test]
async fn redirects_are_bound_to_the_rules() {
    let (_dir, server) = server();
    let narrow = sandbox(&server, [AllowRule::git_fetch("git.test/moved/a").expect("valid")]);
    let denied = run(&narrow, &server, "moved/a.git", "list").await;
    assert_eq!(denied.exit_code, Some(128));
    assert!(denied.stderr_text().contains("does not allow GET /git/a.git/info/refs"), "{}", denied.stderr_text());
    let wide = sandbox(&server, [AllowRule::git_fetch(NAME).expect("valid")]);
    let listed = run(&wide, &server, "moved/a.git", "list").await;
    assert_eq!(listed.exit_code, Some(0), "{}", listed.stderr_text());
}

#[tokio::test]
async fn an_injected_credential_is_nowhere_in_the_sandbox() {
    let (_dir, server) = server();
    let sandbox = sandbox(&server, [AllowRule::git_push(NAME).expect("valid")]);
    let listed = run(&sandbox, &server, "private/a.git", "list for-push").await;
    assert_eq!(listed.exit_code, Some(0), "{}", listed.stderr_text());
    assert!(server.take_requests().iter().all(|request| request.headers["authorization"] == AUTHORIZATION));
    let search = "env; cat /proc/self/environ /proc/self/cmdline; grep -rl 'bWU6Y2FuYXJ5\\|canary-token' /workspace /tmp /etc \
                  /root /home 2>/dev/null";
    let found = sandbox.execute(ExecuteRequest::new(search)).await.expect("it runs");
    for text in [listed.stdout_text(), listed.stderr_text(), found.stdout_text()] {
        assert!(!text.contains("bWU6") && !text.contains("canary"), "{text}");
    }
    assert!(!format!("{:?}", sandbox.network_log()).contains("bWU6"));
}
