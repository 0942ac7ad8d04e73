//! Processes that outlive a call: what ends them, what they may use, and that nothing remains of them.

use std::sync::Arc;
use std::time::Duration;

use tidebox::{
    Background, ErrorKind, ExecuteRequest, Limits, OutputCursor, Process, ProcessInput, ProcessSignal, ProcessState,
    ReadOutput, Sandbox, SandboxBackend, SpawnInput, SpawnRequest, StopReason,
};

/// Maximum time for which a test waits.
const PATIENCE: Duration = Duration::from_secs(30);

fn sandbox_with(limits: impl FnOnce(&mut Limits)) -> Arc<Sandbox> {
    let mut all = Limits::default();
    limits(&mut all);
    Arc::new(tidebox::sandbox().expect("the engine starts").limits(all).build().expect("the sandbox is built"))
}

fn sandbox() -> Arc<Sandbox> {
    sandbox_with(|_| {})
}

async fn spawn(sandbox: &Arc<Sandbox>, command: &str) -> Process {
    let backend: Arc<dyn SandboxBackend> = Arc::<Sandbox>::clone(sandbox);
    Process::spawn(backend, SpawnRequest::new(command)).await.expect("the process starts")
}

async fn output(process: &Process) -> (String, ProcessState) {
    let state = process.wait().await.expect("the sandbox responds");
    let page = process.read(ReadOutput::default()).await.expect("the sandbox responds");
    (String::from_utf8_lossy(&page.bytes()).into_owned(), state)
}

async fn run(sandbox: &Sandbox, command: &str) -> String {
    let response = sandbox.execute(ExecuteRequest::new(command)).await.expect("the sandbox responds");
    response.output_text().into_owned()
}

/// Waits until the sandbox has no process.
async fn expect_no_process(sandbox: &Sandbox) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        let left = sandbox.resource_usage();
        if left.processes == 0 && left.commands == 0 && left.memory_bytes == 0 && left.pipes == 0 {
            return;
        }
        assert!(tokio::time::Instant::now() < deadline, "left behind: {left:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_server_started_with_keep_answers_the_next_call() {
    let sandbox = sandbox();
    let server = "mkfifo ask reply; while read -r line < ask; do echo \"got $line\" > reply; done & echo started";
    let request = ExecuteRequest::new(server).with_background(Background::Keep);
    let response = sandbox.execute(request).await.expect("the sandbox responds");
    assert_eq!((&*response.output_text(), response.exit_code), ("started\n", Some(0)));
    assert_eq!(run(&sandbox, "echo one > ask; cat reply").await, "got one\n");
    assert_eq!(run(&sandbox, "echo two > ask; cat reply").await, "got two\n");
    let id = response.process.expect("the server runs on");
    sandbox.signal_process(&id, ProcessSignal::Term).await.expect("the server is known");
    expect_no_process(&sandbox).await;
}

#[tokio::test]
async fn what_is_not_kept_ends_with_its_command() {
    let sandbox = sandbox();
    assert_eq!(run(&sandbox, "sleep 1000 & (sleep 1000; echo x) & echo started").await, "started\n");
    expect_no_process(&sandbox).await;
}

#[tokio::test]
async fn a_process_is_seen_and_signalled_by_later_commands() {
    let sandbox = sandbox();
    let backend: Arc<dyn SandboxBackend> = Arc::<Sandbox>::clone(&sandbox);
    let request = SpawnRequest::from_arguments(["sleep", "1000"]).expect("the request is valid");
    let process = Process::spawn(backend, request).await.expect("the process starts");
    let id = process.id().as_str();
    let shown = format!("kill -0 {id} && tr '\\0' ' ' < /proc/{id}/cmdline");
    assert_eq!(run(&sandbox, &shown).await, "sleep 1000 ");
    assert_eq!(run(&sandbox, &format!("kill -TERM {id} && echo sent")).await, "sent\n");
    let expected = ProcessState::Ended { exit_code: Some(143), stopped_by: None };
    assert_eq!(process.wait().await.expect("the sandbox responds"), expected);
}

#[tokio::test]
async fn a_dropped_command_that_keeps_processes_stops_everything() {
    let sandbox = sandbox();
    let request = ExecuteRequest::new("sleep 1000 & sleep 1000").with_background(Background::Keep);
    tokio::time::timeout(Duration::from_millis(100), sandbox.execute(request)).await.expect_err("it waits");
    expect_no_process(&sandbox).await;
}

#[tokio::test]
async fn a_timeout_stops_a_command_and_the_processes_it_would_keep() {
    let sandbox = sandbox();
    let request = ExecuteRequest::new("sleep 1000 & echo begun; sleep 1000")
        .with_timeout(Duration::from_millis(200))
        .with_background(Background::Keep);
    let response = sandbox.execute(request).await.expect("the sandbox responds");
    assert_eq!((response.exit_code, response.stopped_by), (Some(124), Some(StopReason::Timeout)));
    assert!(response.output_text().starts_with("begun\ntidebox: the command was stopped"), "{response:?}");
    assert_eq!(response.process, None);
    expect_no_process(&sandbox).await;
}

#[tokio::test]
async fn kept_processes_do_not_end_at_the_timeout_of_their_command() {
    let sandbox = sandbox();
    let request = ExecuteRequest::new("(sleep 0.5; echo late) & echo begun")
        .with_timeout(Duration::from_millis(300))
        .with_background(Background::Keep);
    let response = sandbox.execute(request).await.expect("the sandbox responds");
    let backend: Arc<dyn SandboxBackend> = Arc::<Sandbox>::clone(&sandbox);
    let process = Process::new(backend, response.process.expect("a process runs on"));
    assert_eq!(output(&process).await, ("late\n".into(), ProcessState::Ended { exit_code: Some(0), stopped_by: None }));
}

#[tokio::test]
async fn close_asks_processes_to_end_and_leaves_none() {
    let sandbox = sandbox();
    let polite = spawn(&sandbox, "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done").await;
    polite.wait_for_output("ready").await.expect("the sandbox responds").expect("the process is ready");
    let stubborn = spawn(&sandbox, "trap '' TERM; echo ready; while :; do sleep 0.01; done").await;
    stubborn.wait_for_output("ready").await.expect("the sandbox responds").expect("the process is ready");
    let reading = tokio::spawn({
        let polite = polite.clone();
        async move { polite.read(ReadOutput::after(OutputCursor::new(6)).with_wait(PATIENCE)).await }
    });
    tokio::task::yield_now().await;
    sandbox.close().await.expect("the sandbox closes");
    let page = reading.await.expect("the reader does not panic").expect("it was called before the close");
    assert!(page.bytes().ends_with(b"bye\n"), "{page:?}");
    let error = polite.wait().await.expect_err("the sandbox is closed");
    assert_eq!(error.kind(), ErrorKind::Closed);
}

#[tokio::test]
async fn a_dropped_sandbox_stops_its_processes() {
    let runtime = tidebox::Runtime::new(tidebox::RuntimeConfig::default()).expect("the engine starts");
    let sandbox = Arc::new(runtime.sandbox().build().expect("the sandbox is built"));
    let process = spawn(&sandbox, "echo ready; while :; do sleep 0.01; done").await;
    process.wait_for_output("ready").await.expect("the sandbox responds").expect("the process is ready");
    drop(process);
    assert!(runtime.processes() > 0);
    drop(sandbox);
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while runtime.processes() > 0 {
        assert!(tokio::time::Instant::now() < deadline, "{} processes are left", runtime.processes());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn restore_stops_processes_and_forks_begin_without_them() {
    let sandbox = sandbox();
    let snapshot = sandbox.snapshot().expect("the sandbox is open");
    let process = spawn(&sandbox, "while :; do sleep 0.01; date > now; done").await;
    let fork = sandbox.fork().expect("the sandbox is open");
    assert_eq!(fork.processes().await.expect("the fork responds"), []);
    sandbox.restore(&snapshot).expect("the sandbox is open");
    let ended = ProcessState::Ended { exit_code: Some(137), stopped_by: Some(StopReason::Cancelled) };
    assert_eq!(process.wait().await.expect("the sandbox responds"), ended);
    assert_eq!(run(&sandbox, "ls").await, "");
    expect_no_process(&sandbox).await;
}

#[tokio::test]
async fn a_flood_of_output_keeps_the_newest_and_counts_the_rest() {
    let sandbox = sandbox_with(|limits| limits.background_output_bytes = 1000);
    let process = spawn(&sandbox, "seq 100000; echo last").await;
    process.wait().await.expect("the sandbox responds");
    let page = process.read(ReadOutput::default()).await.expect("the sandbox responds");
    let text = String::from_utf8_lossy(&page.bytes()).into_owned();
    assert!(text.ends_with("99999\n100000\nlast\n"), "{text}");
    let written: usize = (1..=100_000).map(|n: u32| n.to_string().len() + 1).sum::<usize>() + 5;
    assert_eq!((text.len(), page.dropped), (1000, written as u64 - 1000));
    assert_eq!(page.next.bytes(), written as u64);
}

#[tokio::test]
async fn input_waits_for_a_reader_and_fails_after_the_end() {
    let sandbox = sandbox();
    let backend: Arc<dyn SandboxBackend> = Arc::<Sandbox>::clone(&sandbox);
    let request = SpawnRequest::new("until [ -e go ]; do sleep 0.01; done; wc -c").with_input(SpawnInput::Open);
    let process = Process::spawn(backend, request).await.expect("the process starts");
    let bytes = vec![b'x'; 300_000];
    let writing = process.write_all(&bytes);
    let mut writing = std::pin::pin!(writing);
    tokio::time::timeout(Duration::from_millis(100), &mut writing).await.expect_err("the pipe is full");
    run(&sandbox, "touch go").await;
    writing.await.expect("the process reads");
    process.close_input().await.expect("the process is known");
    assert_eq!(output(&process).await.0.trim(), "300000");
    let id = process.id();
    let error = sandbox.write_process(id, ProcessInput::Bytes(b"x".to_vec())).await.expect_err("it has ended");
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
}

#[tokio::test]
async fn the_number_of_processes_is_limited() {
    let sandbox = sandbox_with(|limits| limits.background_processes = 2);
    let first = spawn(&sandbox, "sleep 1000").await;
    spawn(&sandbox, "sleep 1000").await;
    let error = sandbox.spawn(SpawnRequest::new("echo x")).await.expect_err("the third is too many");
    assert_eq!(error.kind(), ErrorKind::QuotaExceeded);
    assert!(error.to_string().contains("background_processes"), "{error}");
    let request = ExecuteRequest::new("sleep 1000 & echo begun").with_background(Background::Keep);
    let response = sandbox.execute(request).await.expect("the sandbox responds");
    let expected = "begun\ntidebox: the processes that the command left were stopped: \
                    the sandbox has 2 background processes, the maximum\n";
    assert_eq!((&*response.output_text(), &response.process), (expected, &None));
    first.kill().await.expect("the process is known");
    first.wait().await.expect("the sandbox responds");
    spawn(&sandbox, "echo x").await;
}

#[tokio::test]
async fn the_memory_of_all_processes_together_is_limited() {
    let sandbox = sandbox_with(|limits| limits.background_memory_bytes = 32 << 20);
    let hungry = "awk 'BEGIN { s = \"x\"; while (length(s) < 20000000) s = s s; print length(s) }'";
    assert_eq!(run(&sandbox, hungry).await.trim(), "33554432", "a command may use more");
    let (output, state) = output(&spawn(&sandbox, hungry).await).await;
    assert!(output.contains("memory"), "{output}");
    let ProcessState::Ended { exit_code, stopped_by } = state else { panic!("it has ended: {state:?}") };
    assert_ne!(exit_code, Some(0));
    assert_eq!(stopped_by, Some(StopReason::Memory));
}

#[tokio::test]
async fn the_time_of_a_process_is_limited() {
    let sandbox = sandbox_with(|limits| limits.background_time = Duration::from_millis(200));
    let (output, state) = output(&spawn(&sandbox, "echo begun; sleep 1000").await).await;
    assert!(output.starts_with("begun\ntidebox: the command was stopped because it ran for 200ms"), "{output}");
    assert_eq!(state, ProcessState::Ended { exit_code: Some(124), stopped_by: Some(StopReason::Timeout) });
}

#[tokio::test]
async fn a_process_that_cannot_start_is_an_error_with_the_reason() {
    let sandbox = sandbox();
    let request = SpawnRequest::from_arguments(["no-such-program"]).expect("the request is valid");
    let error = sandbox.spawn(request).await.expect_err("there is no such program");
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert!(error.to_string().contains("no-such-program"), "{error}");
    let error = sandbox.spawn(SpawnRequest::new("echo \0")).await.expect_err("a NUL byte");
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    expect_no_process(&sandbox).await;
}

#[tokio::test]
async fn a_deterministic_sandbox_has_no_processes_that_outlive_a_call() {
    let builder = tidebox::sandbox().expect("the engine starts").deterministic(1, 0);
    let sandbox = builder.build().expect("the sandbox is built");
    let error = sandbox.spawn(SpawnRequest::new("echo x")).await.expect_err("it is not supported");
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let request = ExecuteRequest::new("echo x").with_background(Background::Keep);
    assert_eq!(sandbox.execute(request).await.expect_err("not supported").kind(), ErrorKind::Unsupported);
}

#[test]
fn processes_end_with_the_executor_that_runs_them() {
    let sandbox = sandbox();
    let runtime = tokio::runtime::Runtime::new().expect("the runtime starts");
    let id = runtime.block_on(async {
        let process = spawn(&sandbox, "echo ready; while :; do sleep 0.01; done").await;
        process.wait_for_output("ready").await.expect("the sandbox responds").expect("the process is ready");
        process.id().clone()
    });
    drop(runtime);
    let runtime = tokio::runtime::Runtime::new().expect("the runtime starts");
    runtime.block_on(async {
        let page = sandbox.read_process(&id, ReadOutput::default().with_wait(PATIENCE)).await;
        let state = page.expect("the process is known").state;
        assert_eq!(state, ProcessState::Ended { exit_code: Some(137), stopped_by: Some(StopReason::Cancelled) });
        expect_no_process(&sandbox).await;
    });
}

#[tokio::test]
async fn a_process_that_computes_uses_its_share_and_no_more() {
    let sandbox = sandbox_with(|limits| limits.background_cpu_percent = 10);
    let process = spawn(&sandbox, "while :; do :; done").await;
    // The burst is 10 seconds of processor time; next to a command it gets at most half of a thread until then.
    let used = async |command: &str| run(&sandbox, command).await.trim().parse::<u64>().expect("a number of ticks");
    let ticks = format!("awk '{{ print $14 }}' /proc/{}/stat", process.id());
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    while used(&ticks).await < 1000 {
        assert!(tokio::time::Instant::now() < deadline, "the burst is not used");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let (before, started) = (used(&ticks).await, tokio::time::Instant::now());
    tokio::time::sleep(Duration::from_secs(5)).await;
    let (after, elapsed) = (used(&ticks).await, started.elapsed());
    let share = Duration::from_millis((after - before) * 10).div_duration_f64(elapsed);
    // A turn is charged when it ends, and a busy host makes turns long; without the limit it is a whole core.
    assert!(share < 0.6, "{share} of a core");
    process.kill().await.expect("the process is known");
    let ended = ProcessState::Ended { exit_code: Some(137), stopped_by: None };
    assert_eq!(process.wait().await.expect("the sandbox responds"), ended);
}
