//! Concurrent sandboxes and commands: agents start several tools in one step, and servers run many agents.

use std::sync::Arc;
use std::time::Duration;

use tidebox::{ExecuteRequest, Runtime, RuntimeConfig, Sandbox, SandboxBackend, Upload};
use tokio::task::JoinSet;

const SANDBOXES: usize = 4;
const COMMANDS: usize = 8;

fn sandbox() -> Arc<Sandbox> {
    Arc::new(tidebox::sandbox().and_then(|sandbox| sandbox.build()).expect("a sandbox is created"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn commands_of_one_sandbox_run_concurrently_and_share_files() {
    let mut running = JoinSet::new();
    for which in 0..SANDBOXES {
        let sandbox = sandbox();
        for number in 0..COMMANDS {
            let sandbox = Arc::clone(&sandbox);
            running.spawn(async move {
                let command =
                    format!("(seq 1 200 | grep 7 | sort -r | head -1; echo {which}) > out{number}; cat out{number}");
                let response = sandbox.execute(ExecuteRequest::new(command)).await.expect("the command runs");
                assert_eq!(response.output_text(), format!("97\n{which}\n"));
                let seen = sandbox.execute(ExecuteRequest::new(format!("wc -l < out{number}"))).await.expect("it runs");
                assert_eq!(seen.stdout_text().trim(), "2");
            });
        }
    }
    while let Some(ended) = running.join_next().await {
        ended.expect("no command failed");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_busy_loop_does_not_block_others_on_its_thread() {
    let (spinning, quick) = (sandbox(), sandbox());
    let spin = tokio::spawn(async move { spinning.execute(ExecuteRequest::new("while :; do :; done")).await });
    tokio::task::yield_now().await;
    let response = quick.execute(ExecuteRequest::new("seq 3 | tail -1")).await.expect("the command runs");
    assert_eq!(response.stdout, b"3\n");
    assert!(!spin.is_finished(), "the quick command waited for the endless one");
    spin.abort();
}

#[tokio::test(flavor = "current_thread")]
async fn a_dropped_execute_leaves_nothing_running() {
    let sandbox = sandbox();
    let theirs = Arc::clone(&sandbox);
    let endless = "sleep 1000 & echo begun > mark; while :; do :; done";
    let endless = tokio::spawn(async move { theirs.execute(ExecuteRequest::new(endless)).await });
    while sandbox.download_files(vec!["/workspace/mark".into()]).await.expect("download responds")[0].result.is_err() {
        tokio::task::yield_now().await;
    }
    endless.abort();
    assert!(endless.await.is_err_and(|ended| ended.is_cancelled()), "the endless command ended by itself");
    let response = sandbox.execute(ExecuteRequest::new("set -- /proc/[0-9]*; echo $#")).await.expect("it runs");
    // Only init and the shell itself exist.
    assert_eq!(response.stdout_text(), "2\n");
}

#[tokio::test]
async fn processes_run_outside_the_pool_when_it_is_full() {
    let mut config = RuntimeConfig::default();
    config.pool_slots = 3;
    let runtime = Runtime::new(config).expect("the engine starts");
    let sandbox = runtime.sandbox().build().expect("the sandbox is built");
    let guest = r#"(module (memory (export "memory") 1) (func (export "_start")))"#;
    let component = r#"(component
        (core module $m (memory 1) (func (export "run") (result i32) (i32.const 1)))
        (core instance $i (instantiate $m))
        (func $run (result (result)) (canon lift (core func $i "run")))
        (instance $r (export "run" (func $run)))
        (export "wasi:cli/run@0.2.0" (instance $r)))"#;
    let uploads = [("guest", guest), ("component", component)].map(|(name, text)| {
        Upload::new(format!("/workspace/{name}"), wat::parse_str(text).expect("the guest is valid"))
    });
    sandbox.upload_files(uploads.into()).await.expect("the sandbox responds");
    for (command, expected) in [
        ("seq 9 | cat | cat | cat | cat | cat | tail -1", "9\n"),
        ("( ( ( ( (echo deep; x=$(echo in; (echo side)); echo $x) ) ) ) )", "deep\nin side\n"),
        (
            "for i in 1 2 3 4 5 6 7 8; do (read -r x; echo $i) < <(sleep 0.01; echo) & done; wait",
            "1\n2\n3\n4\n5\n6\n7\n8\n",
        ),
        ("chmod +x component; sleep 1000 & sleep 1000 & sleep 1000 & ./component; echo $?", "1\n"),
        ("chmod +x guest; ./guest | ./guest | ./guest | ./guest; echo ${PIPESTATUS[@]}", "0 0 0 0\n"),
        (
            "sleep 1000 | sleep 1000 | sleep 1000 | sleep 1000 & kill %1; wait; timeout 0.01 yes | cat | cat | cat > /dev/null",
            "",
        ),
    ] {
        let response = sandbox.execute(ExecuteRequest::new(command)).await.expect("the sandbox responds");
        let mut lines: Vec<&str> = std::str::from_utf8(&response.stdout).expect("text").lines().collect();
        if command.starts_with("for") {
            lines.sort_unstable();
        }
        let seen: String = lines.into_iter().flat_map(|line| [line, "\n"]).collect();
        assert_eq!(seen, expected, "{command}: {}", response.output_text());
        assert_eq!(runtime.processes(), 0, "{command}");
    }
    let endless =
        ExecuteRequest::new("yes | cat | cat | cat | while :; do :; done").with_timeout(Duration::from_millis(50));
    let response = sandbox.execute(endless).await.expect("the sandbox responds");
    assert_eq!((response.exit_code, runtime.processes()), (Some(124), 0));
}

#[tokio::test]
async fn a_large_memory_is_freed_after_its_command() {
    let runtime = Runtime::new(RuntimeConfig::default()).expect("the engine starts");
    let sandbox = runtime.sandbox().build().expect("the sandbox is built");
    let guest = r#"(module (memory (export "memory") 1000) (func (export "_start") (loop (br 0))))"#;
    let upload = Upload::new("/workspace/guest", wat::parse_str(guest).expect("the guest is valid"));
    sandbox.upload_files(vec![upload]).await.expect("the sandbox responds");
    for _ in 0..4 {
        let endless = ExecuteRequest::new("chmod +x guest; ./guest").with_timeout(Duration::from_millis(100));
        assert_eq!(sandbox.execute(endless).await.expect("the sandbox responds").exit_code, Some(124));
        assert_eq!(sandbox.resource_usage().memory_bytes, 0, "the sandbox is not charged for it any more");
    }
    let started = std::time::Instant::now();
    while runtime.processes() > 0 {
        assert!(started.elapsed() < Duration::from_secs(60), "{} processes stay", runtime.processes());
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Runs commands of two sandboxes on one thread until their time is up. Returns the processor time of each sandbox.
async fn compete(first: &[&str], second: &[&str]) -> [Duration; 2] {
    let mut running = JoinSet::new();
    for (which, commands) in [first, second].into_iter().enumerate() {
        let sandbox = sandbox();
        for command in commands {
            let request = ExecuteRequest::new(*command).with_timeout(Duration::from_millis(1500));
            let sandbox = Arc::clone(&sandbox);
            running.spawn(async move { (which, sandbox.execute(request).await.expect("it runs").cpu_time) });
        }
    }
    let mut times = [Duration::ZERO; 2];
    while let Some(ended) = running.join_next().await {
        let (which, time) = ended.expect("no task panics");
        times[which] += time.expect("processor time is measured");
    }
    times
}

/// A sandbox may not get more of a thread by starting more processes or more commands.
#[tokio::test(flavor = "current_thread")]
async fn busy_sandboxes_get_equal_shares_of_processor_time() {
    let spin = "while :; do :; done";
    let many_processes = format!("for i in {{1..30}}; do {spin} & done; wait");
    for greedy in [&[many_processes.as_str()][..], &[spin; 8]] {
        let [greedy, modest] = compete(greedy, &[spin]).await;
        assert!(greedy < modest * 3 / 2 && modest < greedy * 3 / 2, "{greedy:?} of one, {modest:?} of the other");
    }
}
