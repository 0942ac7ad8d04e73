use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use futures_executor::block_on;
use tidebox_core::{
    ErrorKind, ExecuteRequest, ExecuteResponse, Limits, OutputEvent, OutputStream, SandboxBackend, StopReason,
};
use tidebox_kernel::{Signal, Stream};

use super::engine::{Play, Stage, told};
use super::{builder, js, path, read, write};
use crate::backend::lock;
use crate::{BaseImage, SandboxBuilder, VfsBackend};

fn playing(play: impl IntoIterator<Item = Play>) -> VfsBackend {
    builder(Stage::new(play)).build().unwrap()
}

fn run(sandbox: &VfsBackend, request: ExecuteRequest) -> ExecuteResponse {
    block_on(sandbox.execute(request)).unwrap()
}

fn out(text: &str) -> Play {
    Play::Print(Stream::Stdout, text.into())
}

fn err(text: &str) -> Play {
    Play::Print(Stream::Stderr, text.into())
}

#[test]
fn output_is_kept_by_stream_and_in_arrival_order_with_the_exit_code() {
    let sandbox = playing([out("a"), err("b"), out("c"), Play::Exit(3)]);
    let response = run(&sandbox, ExecuteRequest::new("x"));
    assert_eq!((response.stdout_text(), response.stderr_text()), ("ac".into(), "b".into()));
    assert_eq!(response.output_text(), "abc");
    assert_eq!((response.exit_code, response.stopped_by, response.truncated), (Some(3), None, false));
}

#[test]
fn streamed_events_are_the_response() {
    let sandbox = playing([out("a"), err("b"), out("c"), Play::RunOutOfTime]);
    let mut seen = ExecuteResponse::default();
    let mut events = 0;
    let mut sink = |event: OutputEvent| {
        events += 1;
        seen.push(&event);
    };
    let response = block_on(sandbox.execute_streaming(ExecuteRequest::new("x"), &mut sink)).unwrap();
    assert_eq!(events, 4, "three of the command and one of ours");
    assert_eq!((seen.output, seen.stdout, seen.stderr), (response.output, response.stdout, response.stderr));
}

#[test]
fn the_time_limit_is_124_with_a_message_and_the_output_so_far() {
    let sandbox = playing([out("so far"), Play::RunOutOfTime]);
    let response = run(&sandbox, ExecuteRequest::new("x").with_timeout(Duration::from_secs(2)));
    assert_eq!((response.exit_code, response.stopped_by), (Some(124), Some(StopReason::Timeout)));
    assert_eq!(response.stdout_text(), "so far");
    assert!(response.output_text().starts_with("so far\ntidebox: the command was stopped because it ran for 2s;"));
    assert!(response.stderr_text().contains("timeout"));
}

#[test]
fn the_wall_time_of_the_limits_holds_where_the_request_names_none() {
    let mut limits = Limits::default();
    limits.wall_time = Duration::from_secs(7);
    let stage = Arc::new(Stage::new([Play::Exit(0)]));
    let base = BaseImage::new(&[crate::Program::new(["bash"], b"\0asm\x01\0\0\0".to_vec())]).unwrap();
    let engine = Arc::<Stage>::clone(&stage);
    let clock = Box::new(tidebox_kernel::FixedClock::new(0));
    let entropy = Box::new(tidebox_kernel::SeededEntropy::new(1));
    let sandbox = SandboxBuilder::new(engine, &base, clock, entropy).limits(limits).build().unwrap();
    run(&sandbox, ExecuteRequest::new("x"));
    run(&sandbox, ExecuteRequest::new("x").with_timeout(Duration::from_millis(1)));
    assert_eq!(*stage.wall_times.lock().unwrap(), [Duration::from_secs(7), Duration::from_millis(1)]);
}

#[test]
fn running_out_of_memory_is_137_and_says_so_once() {
    let response = run(&playing([Play::RunOutOfMemory]), ExecuteRequest::new("x"));
    assert_eq!((response.exit_code, response.stopped_by), (Some(137), Some(StopReason::Memory)));
    assert_eq!(response.stderr_text(), "bash: out of memory\n");
}

#[test]
fn death_by_signal_is_128_and_its_number() {
    let response = run(&playing([Play::Die(Signal::Pipe)]), ExecuteRequest::new("x"));
    assert_eq!((response.exit_code, response.stopped_by), (Some(141), None));
}

#[test]
fn output_beyond_the_limit_is_dropped_and_reported() {
    let mut limits = Limits::default();
    limits.output_bytes = 5;
    let play = [out("1234"), err("5678"), Play::RunOutOfTime];
    let sandbox = builder(Stage::new(play)).limits(limits).build().unwrap();
    let response = run(&sandbox, ExecuteRequest::new("x"));
    assert!(response.truncated);
    assert!(response.output_text().starts_with("12345\ntidebox: "), "our own message is not dropped");
}

#[test]
fn a_broken_engine_is_an_error_of_ours() {
    let error = block_on(playing([Play::Break]).execute(ExecuteRequest::new("x"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Engine);
    assert!(error.to_string().contains("the pool is broken; restart the program"), "{error}");
}

#[test]
fn a_command_gets_its_line_its_input_and_nothing_of_the_hosts_environment() {
    let sandbox = playing([Play::Tell, Play::Exit(0)]);
    let response = run(&sandbox, ExecuteRequest::new("echo 'é' \"$@\"").with_stdin("typed"));
    let (arguments, environment, stdin) = told(&response.stdout);
    assert_eq!(arguments, ["bash", "-c", "echo 'é' \"$@\""]);
    assert_eq!(
        environment,
        [
            "HOME=/workspace",
            "LANG=C.UTF-8",
            "LOGNAME=tidebox",
            "PATH=/usr/local/bin:/usr/bin:/bin",
            "PWD=/workspace",
            "SHELL=/bin/bash",
            "TERM=dumb",
            "USER=tidebox",
        ]
    );
    assert_eq!(stdin, "typed");
}

#[test]
fn variables_of_the_request_win_over_the_sandbox_and_those_over_the_defaults() {
    let stage = Stage::new([Play::Tell, Play::Exit(0)]);
    let sandbox = builder(stage).env("HOME", "/tmp").env("A", "1").env("AB", "2").build().unwrap();
    let request = ExecuteRequest::new("x").with_env("A", "3").with_env("A", "4").with_cwd(path("/tmp"));
    let (_, environment, _) = told(&run(&sandbox, request).stdout);
    for expected in ["HOME=/tmp", "A=4", "AB=2", "PWD=/tmp"] {
        assert!(environment.iter().any(|variable| variable == expected), "{expected} in {environment:?}");
    }
    assert_eq!(environment.iter().filter(|variable| variable.starts_with("A=")).count(), 1);
}

#[test]
fn a_variable_that_cannot_be_is_the_callers_error() {
    let sandbox = js();
    for (name, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "\0")] {
        let error = block_on(sandbox.execute(ExecuteRequest::new("x").with_env(name, value))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{name:?}={value:?}");
    }
}

#[test]
fn what_cannot_begin_is_an_answer_with_a_message() {
    let sandbox = js();
    write(&sandbox, "/workspace/file", "x").unwrap();
    let cases = [
        (ExecuteRequest::new("a\0b"), 126, "NUL byte"),
        (ExecuteRequest::new("x").with_cwd(path("/nowhere")), 126, "working directory '/nowhere': No such file"),
        (ExecuteRequest::new("x").with_cwd(path("/workspace/file")), 126, "'/workspace/file': Not a directory"),
        (ExecuteRequest::new("x".repeat(3 << 20)), 126, "too long"),
    ];
    for (request, exit_code, message) in cases {
        let response = run(&sandbox, request);
        assert_eq!(response.exit_code, Some(exit_code), "{message}");
        assert!(response.stderr_text().contains(message), "{message:?} in {:?}", response.stderr_text());
        assert_eq!(response.output, response.stderr);
    }
}

#[test]
fn a_base_image_without_a_shell_is_127_and_says_what_is_missing() {
    let base = BaseImage::new(&[]).unwrap();
    let clock = Box::new(tidebox_kernel::FixedClock::new(0));
    let entropy = Box::new(tidebox_kernel::SeededEntropy::new(1));
    let sandbox = SandboxBuilder::new(Arc::new(Stage::new([])), &base, clock, entropy).build().unwrap();
    let response = run(&sandbox, ExecuteRequest::new("x"));
    assert_eq!(response.exit_code, Some(127));
    assert!(response.stderr_text().contains("cannot start /bin/bash"), "{}", response.stderr_text());
}

#[test]
fn a_dropped_execute_leaves_no_process() {
    let sandbox = playing([Play::Hang]);
    let kernel = sandbox.kernel("test").unwrap();
    let mut running = sandbox.execute(ExecuteRequest::new("x"));
    assert!(running.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert_eq!(lock(&kernel).process_count(), 1);
    drop(running);
    assert_eq!(lock(&kernel).process_count(), 0);
}

#[test]
fn commands_and_file_tools_work_while_a_command_runs() {
    let sandbox = playing([Play::Hang]);
    let mut running = sandbox.execute(ExecuteRequest::new("x"));
    assert!(running.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    write(&sandbox, "/workspace/a", "x").unwrap();
    assert!(read(&sandbox, "/workspace/a").is_ok());
    let mut second = sandbox.execute(ExecuteRequest::new("y"));
    assert!(second.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

#[test]
fn closing_stops_what_runs_and_refuses_the_rest() {
    let sandbox = playing([Play::Hang]);
    let kernel = sandbox.kernel("test").unwrap();
    let mut running = sandbox.execute(ExecuteRequest::new("x"));
    assert!(running.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    let pid = tidebox_kernel::Pid(2);
    block_on(sandbox.close()).unwrap();
    block_on(sandbox.close()).unwrap();
    let doomed = lock(&kernel).read(pid, 0, &mut []);
    assert_eq!(doomed, Err(tidebox_kernel::wasi::Halt::Kill(Signal::Kill)), "its next call ends it");
    drop(running);
    let errors = [
        block_on(sandbox.execute(ExecuteRequest::new("x"))).map(drop),
        block_on(sandbox.ls(&path("/"))).map(drop),
        block_on(sandbox.upload_files(vec![])).map(drop),
        block_on(sandbox.download_files(vec![])).map(drop),
    ];
    for error in errors {
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Closed);
    }
}

#[test]
fn a_message_of_ours_goes_to_standard_error() {
    let sandbox = playing([Play::RunOutOfTime]);
    let mut streams = Vec::new();
    let mut sink = |event: OutputEvent| streams.push(event.stream);
    block_on(sandbox.execute_streaming(ExecuteRequest::new("x"), &mut sink)).unwrap();
    assert_eq!(streams, [OutputStream::Stderr]);
}
