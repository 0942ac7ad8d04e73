//! Termination of calls that do not return.

use std::time::Duration;

use tidebox::StopReason;

use super::*;

/// A sandbox, and the number of running calls of its `hang`.
fn hanging() -> (Arc<Sandbox>, Arc<AtomicU64>) {
    let seen = Counters::default();
    (Arc::new(builder(&seen).build().expect("the sandbox is built")), seen.hanging)
}

#[tokio::test]
async fn timeout_and_kill_end_it_and_the_future_is_dropped() {
    let (sandbox, hanging) = hanging();
    prints(&sandbox, "timeout 0.1 hang; echo $?", "124\n").await;
    assert_eq!(hanging.load(Ordering::Relaxed), 0);
    prints(&sandbox, "hang & sleep 0.1; kill $!; wait $!; echo $?", "143\n").await;
    assert_eq!(hanging.load(Ordering::Relaxed), 0);
    prints(&sandbox, "hang & sleep 0.1; kill -9 $!; wait $! 2>/dev/null; echo $?", "137\n").await;
    prints(&sandbox, "(timeout -s KILL 0.1 sh -c 'hang; true'; echo $?) 2>/dev/null", "137\n").await;
    assert_eq!(hanging.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn the_deadline_and_the_end_of_the_command_cancel_it() {
    let (sandbox, hanging) = hanging();
    let request = ExecuteRequest::new("echo so far; hang").with_timeout(Duration::from_millis(200));
    let response = sandbox.execute(request).await.expect("the command runs");
    assert_eq!((response.exit_code, response.stopped_by), (Some(124), Some(StopReason::Timeout)));
    assert_eq!(response.stdout_text(), "so far\n");
    assert_eq!(hanging.load(Ordering::Relaxed), 0);
    prints(&sandbox, "hang & sleep 0.1; echo over", "over\n").await;
    assert_eq!(hanging.load(Ordering::Relaxed), 0, "nothing outlives its command");
}

#[tokio::test]
async fn dropping_the_command_cancels_it() {
    let (sandbox, hanging) = hanging();
    let theirs = Arc::clone(&sandbox);
    let running = tokio::spawn(async move { run(&theirs, "hang").await });
    while hanging.load(Ordering::Relaxed) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    running.abort();
    assert!(running.await.is_err_and(|error| error.is_cancelled()));
    assert_eq!(hanging.load(Ordering::Relaxed), 0);
    let theirs = Arc::clone(&sandbox);
    let running = tokio::spawn(async move { run(&theirs, "hang").await });
    while hanging.load(Ordering::Relaxed) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    sandbox.close().await.expect("it closes");
    let response = running.await.expect("the command responds");
    assert_eq!(response.stopped_by, Some(StopReason::Cancelled));
    assert_eq!(hanging.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_panic_ends_only_the_call() {
    let sandbox = tidebox::sandbox()
        .expect("the engine starts")
        .host_tool("boom", |mut call| async move {
            let _ = call.stdout.write("before\n").await;
            assert!(call.arguments.is_empty(), "token swordfish was refused");
            0
        })
        .build()
        .expect("it is built");
    let response = run(&sandbox, "boom; echo $?; boom | cat; echo ${PIPESTATUS[0]}; echo still here").await;
    assert_eq!(response.stdout_text(), "before\n134\nbefore\n134\nstill here\n");
    let stderr = response.stderr_text();
    assert!(stderr.contains("boom: the application panicked while running this command"), "{stderr}");
    assert!(!stderr.contains("swordfish"), "{stderr}");
    prints(&sandbox, "echo next", "next\n").await;
}
