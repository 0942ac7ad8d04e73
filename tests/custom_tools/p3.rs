//! Components of WASI 0.3 are processes. The tests need the feature `wasi-p3`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tidebox::{ExecuteRequest, Sandbox, SandboxBackend, SandboxBuilder, StopReason};

use crate::{guest, run};

fn builder() -> SandboxBuilder {
    let builder = tidebox::sandbox().expect("the engine starts");
    builder.tool("p3", Arc::clone(&guest::COMPONENT_P3))
}

fn sandbox() -> Sandbox {
    builder().build().expect("the sandbox is built")
}

#[tokio::test]
async fn p3_streams_work_on_pipes_files_and_captured_output() {
    let sandbox = sandbox();
    for (command, text) in [
        ("p3 tell a 'b c'", "p3 tell a b c\n"),
        ("seq 3 | p3 copy", "1\n2\n3\n"),
        ("seq 100000 | p3 copy | p3 copy | tail -1", "100000\n"),
        ("seq 2000 > in; p3 copy < in > out; cmp in out && echo same", "same\n"),
        ("p3 copy < /dev/null | wc -c", "0\n"),
        ("p3 fail; echo $?", "1\n"),
        ("head -c 20000000 /dev/zero | p3 copy | wc -c", "20000000\n"),
    ] {
        assert_eq!(run(&sandbox, command).await.output_text(), text, "{command}");
    }
}

#[tokio::test]
async fn p3_files_are_kernel_files() {
    let sandbox = sandbox();
    let response = run(&sandbox, "mkdir d; cd d; p3 file; cat p3.txt; touch a; p3 list").await;
    let text = response.output_text();
    let expected = "8 \"e\\ntwo\\n\" Err(ErrorCode::NoEntry) Err(ErrorCode::Access)\none\ntwo\na p3.txt\n";
    assert_eq!(text, expected);
}

#[tokio::test]
async fn a_p3_component_can_be_killed_during_concurrent_waits() {
    let sandbox = sandbox();
    for (command, text) in [
        ("(sleep 0.1; echo late) | p3 both", "Complete(5) 5\n"),
        ("p3 nap & kill $!; wait $!; echo $?", "143\n"),
        ("timeout 0.2 p3 nap; echo $?", "124\n"),
        ("sleep 1 | timeout 0.2 p3 copy; echo $?", "124\n"),
        ("yes | p3 copy | head -1; echo ${PIPESTATUS[1]}", "y\n141\n"),
    ] {
        let response = run(&sandbox, command).await;
        let lines = response.output_text();
        let lines = lines.lines().filter(|line| !line.starts_with("bash: line "));
        assert_eq!(lines.map(|line| format!("{line}\n")).collect::<String>(), text, "{command}");
    }
    let request = ExecuteRequest::new("p3 nap").with_timeout(Duration::from_millis(300));
    let response = sandbox.execute(request).await.expect("it responds");
    assert_eq!(response.stopped_by, Some(StopReason::Timeout));
}

#[tokio::test]
async fn fixed_time_passes_while_a_p3_component_sleeps() {
    let sandbox = builder().deterministic(7, 0).build().expect("the sandbox is built");
    let start = Instant::now();
    let command = "before=$(date +%s); p3 nap; echo $(($(date +%s) - before))";
    let request = ExecuteRequest::new(command).with_timeout(Duration::from_secs(7200));
    let response = sandbox.execute(request).await.expect("it responds");
    assert_eq!(response.output_text(), "awake\n3600\n");
    assert!(start.elapsed() < Duration::from_secs(60));
}
