//! Shell sessions: the state that persists between commands in one sandbox, and the state that does not.

use std::sync::Arc;
use std::time::Duration;

use tidebox::{
    Background, ExecuteRequest, ExecuteResponse, Limits, Sandbox, SandboxBackend, SandboxBuilder, SandboxPath,
    ShellMode, StopReason,
};

fn builder() -> SandboxBuilder {
    tidebox::sandbox().expect("the runtime starts").shell_mode(ShellMode::Persistent)
}

fn sandbox() -> Sandbox {
    builder().build().expect("a sandbox is created")
}

async fn ask(sandbox: &Sandbox, request: ExecuteRequest) -> ExecuteResponse {
    sandbox.execute(request).await.expect("the command runs")
}

/// Output and exit code of a command.
async fn run(sandbox: &Sandbox, command: &str) -> (String, i32) {
    let response = ask(sandbox, ExecuteRequest::new(command)).await;
    (response.output_text().into_owned(), response.exit_code.expect("it ended"))
}

async fn check_output(sandbox: &Sandbox, command: &str, expected: &str) {
    assert_eq!(run(sandbox, command).await, (expected.to_owned(), 0), "{command}");
}

fn path(text: &str) -> SandboxPath {
    SandboxPath::parse(text).expect("absolute")
}

#[tokio::test]
async fn directory_variables_functions_and_aliases_persist() {
    let s = sandbox();
    check_output(&s, "mkdir -p src && cd src; n=1; export E=x; f() { echo f$1 $n; }; alias ll='echo listing'", "")
        .await;
    check_output(&s, "pwd; echo $n; env | grep ^E=; f 2; ll here", "/workspace/src\n1\nE=x\nf2 1\nlisting here\n")
        .await;
    check_output(&s, "n=$((n+1)); cd ..; unset E; unset -f f; unalias ll", "").await;
    check_output(&s, "pwd; echo $n ${E-gone}; type -t f ll || echo none", "/workspace\n2 gone\nnone\n").await;
}

#[tokio::test]
async fn options_traps_parameters_and_umask_do_not_persist() {
    let s = sandbox();
    let command = "set -eu -o pipefail; shopt -s nullglob; trap 'echo bye' EXIT; umask 077; exec 5>/tmp/five; set -- a b; \
                   sleep 100 & (exit 7) || true";
    assert_eq!(run(&s, command).await, ("bye\n".to_owned(), 0));
    check_output(
        &s,
        "echo $? $# $-; shopt nullglob; umask; trap -p; jobs; echo ${!-none}",
        "0 0 hBc\nnullglob       \toff\n0022\nnone\n",
    )
    .await;
    assert_eq!(run(&s, "echo x >&5").await.1, 1);
    check_output(&s, "false; echo still here", "still here\n").await;
}

#[tokio::test]
async fn computed_shell_variables_are_reset() {
    let s = sandbox();
    check_output(&s, "SHLVL=7; RANDOM=1; SECONDS=1000; first=$RANDOM; pid=$PPID", "").await;
    check_output(&s, "echo $SHLVL; (( SECONDS < 900 )) && [ $PPID = \"$pid\" ] && echo anew", "1\nanew\n").await;
    let state = s.shell_state();
    for name in ["SHLVL", "SECONDS", "RANDOM", "PPID", "BASHOPTS", "BASH_VERSION", "PWD"] {
        // `first` and `pid` are the only variables.
        assert!(!state.windows(name.len()).any(|bytes| bytes == name.as_bytes()), "{name}");
    }
}

#[tokio::test]
async fn every_regular_exit_saves_the_state() {
    let s = sandbox();
    for (command, code, expected) in [
        ("a=1; exit 3", 3, "1"),
        ("f() { local a=local; b=2; exit 4; }; f", 4, "1 2"),
        ("set -e; c=3; false; c=not", 1, "1 2 3"),
        ("d=4\nif", 2, "1 2 3 4"),
        ("e=5; (exit 9); exec false", 1, "1 2 3 4 5"),
        ("shopt -s execfail; f() { local a=local; exec /nowhere; }; f; e=5; exit 7", 7, "1 2 3 4 5"),
        ("set -u; g=6; echo $unknown", 127, "1 2 3 4 5 6"),
        ("trap 'h=7' EXIT; exit 0", 0, "1 2 3 4 5 6 7"),
        ("cd /nowhere; i=8; cd /tmp; return", 2, "1 2 3 4 5 6 7 8"),
    ] {
        assert_eq!(run(&s, command).await.1, code, "{command}");
        check_output(&s, "echo $a $b $c $d $e $g $h $i", &format!("{expected}\n")).await;
    }
    check_output(&s, "pwd", "/tmp\n").await;
}

#[tokio::test]
async fn a_stopped_command_does_not_change_the_session() {
    let s = sandbox();
    check_output(&s, "a=before; cd /tmp", "").await;
    let endless = ExecuteRequest::new("a=lost; cd /; while :; do :; done").with_timeout(Duration::from_millis(200));
    assert_eq!(ask(&s, endless).await.stopped_by, Some(StopReason::Timeout));
    check_output(&s, "echo $a; pwd", "before\n/tmp\n").await;
    assert_eq!(run(&s, "a=lost; kill -9 $$; sleep 9").await.1, 137);
    check_output(&s, "echo $a; pwd", "before\n/tmp\n").await;
    assert_eq!(run(&s, "a=lost; trap 'echo trapped' EXIT; kill $$; sleep 9").await, ("trapped\n".to_owned(), 143));
    check_output(&s, "echo $a", "before\n").await;
    let endless = ask(&s, ExecuteRequest::new("a=kept; exec sleep 100").with_timeout(Duration::from_millis(300))).await;
    assert_eq!(endless.stopped_by, Some(StopReason::Timeout));
    check_output(&s, "echo $a", "kept\n").await;
}

#[tokio::test]
async fn subshells_and_scripts_do_not_change_the_session() {
    let s = sandbox();
    check_output(&s, "a=1; (a=2; cd /); echo x | { read a; }; bash -c 'a=3; cd /tmp; f() { :; }'; echo $a", "1\n")
        .await;
    check_output(&s, "printf '#!/bin/sh\\na=4\\ncd /tmp\\n' > s.sh; chmod +x s.sh; ./s.sh; { a=5; cd /; } & wait", "")
        .await;
    check_output(
        &s,
        "echo $a; pwd; type -t f || echo none; bash -c 'echo ${a-unknown}'",
        "1\n/workspace\nnone\nunknown\n",
    )
    .await;
}

#[tokio::test]
async fn cwd_and_env_of_a_request_apply_to_one_command() {
    let s = sandbox();
    check_output(&s, "cd /tmp; A=session; export B=session", "").await;
    let request = |command: &str| {
        let request = ExecuteRequest::new(command).with_cwd(path("/usr"));
        request.with_env("A", "request").with_env("B", "request").with_env("C", "request")
    };
    let reported = ask(&s, request("pwd; echo $A $B $C; bash -c 'echo $A $B $C'")).await;
    assert_eq!(reported.output_text(), "/usr\nrequest request request\nrequest request request\n");
    check_output(
        &s,
        "pwd; echo $A $B ${C-none}; bash -c 'echo ${A-none} $B'",
        "/tmp\nsession session none\nnone session\n",
    )
    .await;
    // State that the command itself changes is saved.
    ask(&s, request("cd /bin; A=command; C=$C-command")).await;
    check_output(&s, "pwd; echo $A $B $C", "/bin\ncommand session request-command\n").await;
    check_output(&s, "readonly B", "").await;
    assert_eq!(ask(&s, request("echo $B")).await.stdout_text(), "request\n");
    assert_eq!(run(&s, "B=other").await.1, 1);
}

#[tokio::test]
async fn a_deleted_cwd_is_reported_once_and_the_session_resets() {
    let s = sandbox();
    check_output(&s, "mkdir -p /tmp/d; cd /tmp/d; a=1", "").await;
    s.delete(&path("/tmp/d")).await.expect("responded").expect("deleted");
    let response = ask(&s, ExecuteRequest::new("pwd; echo $a")).await;
    assert_eq!(response.stdout_text(), "/workspace\n1\n");
    assert_eq!(
        response.stderr_text(),
        "bash: /tmp/d: No such file or directory; the session continues in /workspace\n"
    );
    check_output(&s, "pwd", "/workspace\n").await;
    s.delete(&path("/workspace")).await.expect("responded").expect("deleted");
    let response = ask(&s, ExecuteRequest::new("pwd; mkdir /workspace")).await;
    assert_eq!(response.stdout_text(), "/\n", "{}", response.stderr_text());
    assert!(response.stderr_text().contains("working directory is missing"), "{}", response.stderr_text());
    check_output(&s, "pwd; echo $a", "/workspace\n1\n").await;
}

#[tokio::test]
async fn unchanged_variables_follow_the_sandboxs_environment() {
    let first =
        builder().env("GIVEN", "first").env("CHANGED", "first").env("DROPPED", "first").build().expect("created");
    check_output(&first, "CHANGED=session; unset DROPPED; own=1", "").await;
    let second =
        builder().env("GIVEN", "second").env("CHANGED", "second").env("DROPPED", "second").build().expect("created");
    second.set_shell_state(first.shell_state()).expect("it fits");
    check_output(&second, "echo $GIVEN $CHANGED ${DROPPED-none} $own", "second session none 1\n").await;
}

#[tokio::test]
async fn the_session_state_is_small() {
    let s = sandbox();
    check_output(&s, "local_to_the_command() { :; }; unset -f local_to_the_command; cd /tmp; cd /workspace; ls", "")
        .await;
    // `cd` set OLDPWD.
    check_output(&s, "OLDPWD=; unset OLDPWD; export OLDPWD", "").await;
    assert!(s.shell_state().is_empty(), "{:?}", s.shell_state());
    check_output(&s, "for i in {1..100}; do declare variable_$i=\"value $i\"; done; unset i", "").await;
    assert!(s.shell_state().len() < 3000, "{} bytes", s.shell_state().len());
}

#[tokio::test]
async fn values_of_every_kind_are_restored_exactly() {
    let s = sandbox();
    let all = "for i in {1..255}; do printf -v c '\\\\x%x' $i; printf -v b '%b' \"$c\"; all+=$b; done; unset i b c; big=$(seq 1 100000)";
    check_output(&s, all, "").await;
    let sums = "printf %s \"$all\" | cksum; echo ${#big}; printf %s \"$big\" | cksum";
    let fresh = tidebox::sandbox().and_then(|sandbox| sandbox.build()).expect("created");
    let (expected, _) = run(&fresh, &format!("{all}; {sums}")).await;
    assert!(expected.contains("\n588894\n"), "the values were made: {expected}");
    check_output(&s, sums, &expected).await;
}

#[tokio::test]
async fn a_state_over_the_limit_is_reported_and_discarded() {
    let mut limits = Limits::default();
    limits.shell_state_bytes = 10_000;
    let s = builder().limits(limits).build().expect("created");
    check_output(&s, "a=1", "").await;
    let response = ask(&s, ExecuteRequest::new("a=2; big=$(seq 1 10000); echo ran")).await;
    assert_eq!((&*response.stdout_text(), response.exit_code), ("ran\n", Some(1)));
    assert!(
        response.stderr_text().contains("the session stays as it was before this command: "),
        "{}",
        response.stderr_text()
    );
    assert!(response.stderr_text().contains("more than the sandbox keeps"), "{}", response.stderr_text());
    check_output(&s, "echo $a ${big-none}", "1 none\n").await;
    assert_eq!(run(&s, "a=2; big=$(seq 1 10000); exit 9").await.1, 9, "a failure of its own is not covered up");
}

#[tokio::test]
async fn a_damaged_state_is_reported_and_the_session_restarts() {
    let s = sandbox();
    check_output(&s, "a=1; f() { echo f; }", "").await;
    let good = s.shell_state();
    let state = |bytes: &[u8]| s.set_shell_state(bytes.into()).expect("it fits");
    for bad in [&b"nonsense"[..], &good[..good.len() - 1], b"tbsh\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"] {
        state(bad);
        let response = ask(&s, ExecuteRequest::new("echo ${a-none}")).await;
        assert_eq!(response.stdout_text(), "none\n");
        let message = "bash: cannot read the state of the shell session: it is damaged; a new session starts\n";
        assert_eq!(response.stderr_text(), message);
        check_output(&s, "echo ${a-none}", "none\n").await;
    }
    // A function with an invalid body is detected when it is called.
    let hostile: Vec<u8> = good.iter().map(|byte| if *byte == b'{' { b'(' } else { *byte }).collect();
    state(&hostile);
    let (output, code) = run(&s, "echo $a; f; echo after").await;
    assert!(output.contains("f: the function's text cannot be read") && code == 1, "{output} {code}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_commands_do_not_corrupt_the_session() {
    let s = Arc::new(sandbox());
    check_output(&s, "shared=begin; f() { echo \"$shared\"; }", "").await;
    let mut running = tokio::task::JoinSet::new();
    for n in 0..16 {
        let s = Arc::clone(&s);
        running.spawn(async move {
            let filler = "x".repeat(n * 100);
            run(&s, &format!("mine={n}; filler={filler}; f >/dev/null; shared=$mine-${{#filler}}")).await
        });
    }
    while let Some(ended) = running.join_next().await {
        assert_eq!(ended.expect("no panic"), (String::new(), 0));
    }
    // The command that ended last has saved a complete state.
    let (output, _) = run(&s, "echo $shared $mine ${#filler}; f").await;
    let words: Vec<&str> = output.split_whitespace().collect();
    let [shared, mine, filler, again] = words[..] else { panic!("{output}") };
    assert_eq!(shared, format!("{mine}-{filler}"));
    assert_eq!(shared, again);
}

#[tokio::test]
async fn a_request_may_override_the_persistence_setting() {
    let s = tidebox::sandbox().and_then(|sandbox| sandbox.build()).expect("created");
    check_output(&s, "a=1; cd /tmp; alias x='echo x'", "").await;
    check_output(
        &s,
        "echo ${a-none}; pwd; shopt expand_aliases | tr -d '\\t '",
        "none\n/workspace\nexpand_aliasesoff\n",
    )
    .await;
    let session = |command: &str| ExecuteRequest::new(command).with_shell_mode(ShellMode::Persistent);
    ask(&s, session("a=2")).await;
    check_output(&s, "echo ${a-none}", "none\n").await;
    assert_eq!(ask(&s, session("echo $a")).await.stdout_text(), "2\n");
    let s = sandbox();
    check_output(&s, "a=3", "").await;
    let apart = ExecuteRequest::new("echo ${a-none}; a=4").with_shell_mode(ShellMode::Fresh);
    assert_eq!(ask(&s, apart).await.stdout_text(), "none\n");
    check_output(&s, "echo $a", "3\n").await;
}

#[tokio::test]
async fn a_session_survives_restore_and_is_separate_in_a_fork() {
    let s = sandbox();
    check_output(&s, "mkdir -p /tmp/d; cd /tmp/d; a=1; f() { echo f $a; }; alias g='f'", "").await;
    let snapshot = s.snapshot().expect("open");
    let fork = s.fork().expect("open");
    check_output(&fork, "pwd; g; a=fork; cd /", "/tmp/d\nf 1\n").await;
    check_output(&s, "pwd; g; a=2; cd /usr; unset -f f", "/tmp/d\nf 1\n").await;
    check_output(&fork, "pwd; g", "/\nf fork\n").await;
    s.restore(&snapshot).expect("restored");
    check_output(&s, "pwd; g", "/tmp/d\nf 1\n").await;
    let stored = snapshot.to_bytes();
    let other = builder().snapshot_bytes(&stored).and_then(|builder| builder.build()).expect("created");
    check_output(&other, "pwd; g", "/tmp/d\nf 1\n").await;
}

#[tokio::test]
async fn jobs_that_a_command_keeps_are_jobs_of_the_next() {
    let sandbox = sandbox();
    let keep = async |command: &str| {
        let request = ExecuteRequest::new(command).with_background(Background::Keep);
        ask(&sandbox, request).await.output_text().into_owned()
    };
    assert_eq!(keep("sleep 100 & sleep 200 & echo started").await, "started\n");
    let jobs = "[1]-  Running                 sleep 100 &\n[2]+  Running                 sleep 200 &\n";
    assert_eq!(keep("jobs").await, jobs);
    assert_eq!(keep("kill %1; wait %1; jobs").await, "[2]+  Running                 sleep 200 &\n");
    assert_eq!(keep("kill -0 $! && echo alive").await, "alive\n");
    assert_eq!(keep("kill %2; wait; jobs; echo none").await, "none\n");
}

#[tokio::test]
async fn jobs_that_ended_with_their_command_are_forgotten() {
    let sandbox = sandbox();
    check_output(&sandbox, "sleep 100 & echo started", "started\n").await;
    check_output(&sandbox, "jobs; echo none", "none\n").await;
}
