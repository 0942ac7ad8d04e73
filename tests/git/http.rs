//! The real `git` with `git http-backend` of the host: clone, fetch, push, shallow and partial clones, and the credential.

use std::path::Path;

use tempfile::TempDir;
use tidebox::network::{AllowRule, HeaderInjection, NetworkPolicy};
use tidebox::{Sandbox, Secret};

use crate::git_server::{AUTHORIZATION, GitServer};
use crate::setup::{configure, is_ready, native_succeed, run, succeed};

const NAME: &str = "git.test";

/// The forms in which the credential could appear: its Base64, and what it encodes.
const TOKENS: [&str; 3] = ["bWU6Y2FuYXJ5LXRva2Vu", "me:canary", "canary-token"];

/// Twelve commits, a large file and a tag.
const CREATE: &str = "set -e; git init -q work; cd work; for i in $(seq 12); do echo $i > f$i; seq $((i * 500)) > large; git add -A; git commit -qm \"commit $i\"; \
                      done; git tag -m one v1; git switch -qc side HEAD~4; echo side > s; git add s; git commit -qm side; git switch -q main; mkdir ../root; git clone -q \
                      --bare . ../root/a.git; cd ../root/a.git; git config http.receivepack true; git config uploadpack.allowFilter true; git config \
                      uploadpack.allowAnySHA1InWant true; git update-server-info";

/// A server, and a sandbox that may fetch from and push to it.
struct Setup {
    dir: TempDir,
    server: GitServer,
    sandbox: Sandbox,
}

impl Setup {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory is created");
        native_succeed(dir.path(), CREATE);
        let server = GitServer::start(&dir.path().join("root"));
        let injection =
            HeaderInjection::new(NAME, "authorization", Secret::new(AUTHORIZATION)).expect("valid").over_http();
        let policy = NetworkPolicy::new()
            .pin_address(NAME, [127, 0, 0, 1].into())
            .expect("a name can be pinned")
            .with_injection(injection)
            .allow(AllowRule::git_push(NAME).expect("valid").http().port(server.port));
        let url = format!("http://{NAME}:{}", server.port);
        let sandbox = configure(|builder| builder.network(policy).env("URL", url));
        Self { dir, server, sandbox }
    }

    fn repository(&self) -> std::path::PathBuf {
        self.dir.path().join("root/a.git")
    }
}

fn native_head(repository: &Path, reference: &str) -> String {
    native_succeed(repository, &format!("git rev-parse {reference}"))
}

#[tokio::test]
async fn a_clone_over_http_is_equal_to_the_original() {
    if !is_ready() {
        return;
    }
    let setup = Setup::new();
    for path in ["git", "v0"] {
        let list =
            "git rev-list --objects --all | sort; git for-each-ref --format='%(objectname) %(objecttype)' refs/tags";
        let ours = succeed(
            &setup.sandbox,
            &format!("git clone -q $URL/{path}/a.git {path} && cd {path} && git fsck --full --strict && git status --porcelain && {list}"),
        )
        .await;
        assert_eq!(ours, native_succeed(&setup.repository(), list), "{path}");
    }
}

#[tokio::test]
async fn commits_travel_in_both_directions_over_http() {
    if !is_ready() {
        return;
    }
    let setup = Setup::new();
    let sandbox = &setup.sandbox;
    succeed(sandbox, "git clone -q $URL/git/a.git a && cd a && echo new > new && git add new && git commit -qm new && git push -q origin main").await;
    let head = succeed(sandbox, "git -C a rev-parse HEAD").await;
    assert_eq!(head, native_head(&setup.repository(), "main"));
    native_succeed(&setup.repository(), "git fsck --full --strict");
    native_succeed(
        setup.dir.path(),
        "git clone -q root/a.git other && cd other && echo theirs > theirs && git add -A && git commit -qm theirs && git push -q",
    );
    let pulled = succeed(sandbox, "cd a && git pull -q && cat theirs && git status --porcelain --branch").await;
    assert_eq!(pulled, "theirs\n## main...origin/main\n");
    // A push that is not a fast-forward is rejected; a forced one, a deletion and an atomic one are not.
    let script = "cd a; git reset -q --hard HEAD~2; git commit -q --allow-empty -m forced; git push -q; echo $?; git push -q -f; echo $?; git push -q origin :side; echo $?; git \
                  push -q --atomic origin main:x main:y; echo $?; git fetch -q --prune; git branch -r";
    let pushed = run(sandbox, script).await;
    assert!(pushed.stdout_text().starts_with("1\n0\n0\n0\n"), "{}", pushed.output_text());
    assert!(pushed.stderr_text().contains("[rejected]"), "{}", pushed.stderr_text());
    assert!(!pushed.stdout_text().contains("origin/side"), "{}", pushed.stdout_text());
    let heads = native_succeed(&setup.repository(), "git for-each-ref --format='%(refname)' refs/heads");
    assert_eq!(heads, "refs/heads/main\nrefs/heads/x\nrefs/heads/y\n");
}

#[tokio::test]
async fn shallow_and_partial_clones_fetch_what_is_missing() {
    if !is_ready() {
        return;
    }
    let setup = Setup::new();
    let sandbox = &setup.sandbox;
    let script = "set -e; git clone -q --depth 2 $URL/git/a.git shallow; cd shallow; git log --oneline | wc -l; git fetch -q --deepen 3; git log --oneline | wc -l; git \
                  fetch -q --unshallow; git log --oneline | wc -l; git fsck --full";
    let counts = succeed(sandbox, script).await;
    assert_eq!(counts.split_whitespace().collect::<Vec<_>>(), ["2", "5", "12"]);
    let script = "set -e; git clone -q --filter=blob:none --no-checkout $URL/git/a.git partial; cd partial; git rev-list --objects --all --missing=print | grep -c '^?'; git \
                  checkout -q main; cat f7; git show HEAD~8:large | tail -1; git rev-list --objects --all --missing=print | grep -c '^?'";
    let partial = succeed(sandbox, script).await;
    let lines: Vec<&str> = partial.lines().collect();
    assert_eq!(lines[1..3], ["7", "2000"], "{partial}");
    let missing: Vec<u32> = [lines[0], lines[3]].iter().map(|line| line.parse().expect("a number")).collect();
    assert!(missing[1] < missing[0] && missing[1] > 0, "{partial}");
    let sparse = succeed(sandbox, "git clone -q --filter=tree:0 --sparse --depth 1 $URL/git/a.git sparse && cd sparse && git status --porcelain && ls f1").await;
    assert_eq!(sparse, "f1\n");
}

/// The guest sees its own request headers in traces, but the host adds the credential later.
#[tokio::test]
async fn the_credential_is_nowhere_that_the_guest_reads() {
    if !is_ready() {
        return;
    }
    let setup = Setup::new();
    let traced = "export GIT_TRACE=1 GIT_TRACE_CURL=1 GIT_CURL_VERBOSE=1 GIT_TRACE_CURL_NO_DATA=0 GIT_TRACE_REDACT=0 GIT_TRACE_PACKET=1 GIT_TRACE2=1 \
                  GIT_TRACE2_EVENT=/workspace/events GIT_TRACE2_ENV_VARS=HOME,PATH GIT_TRACE_SETUP=1";
    let script = format!(
        "{traced}; git clone $URL/private/a.git p; cd p; git commit -q --allow-empty -m pushed; git push -v origin main; git fetch -v; git remote -v; git config \
         --list --show-origin; git ls-remote; git var -l; git credential fill < /dev/null; git bugreport -o /workspace; git fetch $URL/status/403/a.git; git \
         fetch $URL/git/none.git; cat .git/config .git/logs/HEAD .git/FETCH_HEAD"
    );
    let response = run(&setup.sandbox, &script).await;
    assert_eq!(native_head(&setup.repository(), "main"), succeed(&setup.sandbox, "git -C p rev-parse HEAD").await);
    let requests = setup.server.take_requests();
    let private: Vec<_> = requests.iter().filter(|request| request.path.starts_with("/private/")).collect();
    assert!(private.len() >= 5, "{private:?}");
    assert!(
        private.iter().all(|request| request.headers["authorization"] == AUTHORIZATION),
        "the host adds the credential"
    );
    assert!(response.output_text().contains("trace: built-in: git"), "the traces are on");
    let pattern = TOKENS.map(|token| format!("-e {token}")).join(" ");
    let search = format!(
        "env; for f in /proc/[0-9]*/environ /proc/[0-9]*/cmdline /proc/[0-9]*/status /proc/mounts; do cat $f; done; find / \\( -path /proc -o -path /dev \\) -prune \
         -o -type f -print0 | xargs -0 grep -laF {pattern} | sed s/^/found:/"
    );
    let found = run(&setup.sandbox, &search).await;
    assert!(found.stdout_text().contains("HOME="), "{}", found.output_text());
    for text in [response.output_text(), found.output_text()] {
        // The command line of the search itself contains the patterns.
        let leaks = text.lines().filter(|line| {
            let has_token = TOKENS.iter().any(|token| line.contains(token)) && !line.contains("grep -laF");
            line.starts_with("found:") || has_token
        });
        assert_eq!(leaks.collect::<Vec<_>>(), Vec::<&str>::new());
    }
    // The search finds what exists.
    let planted = run(&setup.sandbox, &format!("echo {} > /tmp/planted; {search}", TOKENS[0])).await;
    assert!(planted.stdout_text().contains("found:/tmp/planted"), "{}", planted.output_text());
}

#[tokio::test]
async fn failures_of_the_server_leave_no_lock_and_no_object() {
    if !is_ready() {
        return;
    }
    let setup = Setup::new();
    succeed(&setup.sandbox, "git clone -q $URL/git/a.git a").await;
    native_succeed(
        setup.dir.path(),
        "git clone -q root/a.git o && cd o && seq 5000 > more && git add -A && git commit -qm more && git push -q",
    );
    for path in ["cut", "damaged", "no-post", "status/500", "status/404", "endless", "dumb", "circle", "elsewhere"] {
        let script = format!(
            "cd a; timeout 60 git fetch -q $URL/{path}/a.git main; echo $?; git clone -q $URL/{path}/a.git ../{path}; echo $?; ls ../{path}"
        );
        let response = run(&setup.sandbox, &script).await;
        let codes: Vec<String> = response.stdout_text().lines().take(2).map(str::to_owned).collect();
        assert!(codes.iter().all(|code| code == "128" || code == "1"), "{path}: {}", response.output_text());
        let rest = succeed(
            &setup.sandbox,
            "find /workspace -name '*.lock' -o -name 'tmp_*' -o -name '*.tmp'; git -C a fsck --full --no-dangling",
        )
        .await;
        assert_eq!(rest, "", "{path}");
    }
    succeed(&setup.sandbox, "cd a && git pull -q && tail -1 more").await;
}
