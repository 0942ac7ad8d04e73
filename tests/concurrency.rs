//! Sandboxes and commands at the same time: agents start several tools in one turn, and servers hold many agents.

use std::sync::Arc;

use tidebox::{ExecuteRequest, Sandbox, SandboxBackend};
use tokio::task::JoinSet;

const SANDBOXES: usize = 4;
const COMMANDS: usize = 8;

fn sandbox() -> Arc<Sandbox> {
    Arc::new(tidebox::sandbox().and_then(|sandbox| sandbox.build()).expect("a sandbox is made"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn commands_of_one_sandbox_run_at_once_and_share_its_files() {
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
async fn a_spinning_command_lets_others_of_its_thread_go_on() {
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
    while sandbox.download_files(vec!["/workspace/mark".into()]).await.expect("download answers")[0].result.is_err() {
        tokio::task::yield_now().await;
    }
    endless.abort();
    assert!(endless.await.is_err_and(|ended| ended.is_cancelled()), "the endless command ended by itself");
    let response = sandbox.execute(ExecuteRequest::new("ls /proc | grep -c '^[0-9]'")).await.expect("it runs");
    // The shell, `ls` and `grep` themselves are all there is.
    assert_eq!(response.stdout_text(), "3\n");
}
