use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use futures_executor::block_on;
use tidebox_core::{
    ErrorKind, ExecuteRequest, ExecuteResponse, Limits, OutputChunk, OutputOverflow, OutputStream, SandboxBackend,
    StopReason,
};
use tidebox_kernel::Signal;

use super::scripted_engine::{ScriptedEngine, Step, parse_engine_log};
use super::{builder, js, path, read, write};
use crate::{BaseImage, SandboxBuilder, VfsBackend};

fn scripted(steps: impl IntoIterator<Item = Step>) -> VfsBackend {
    builder(ScriptedEngine::new(steps)).build().unwrap()
}

fn run(sandbox: &VfsBackend, request: ExecuteRequest) -> ExecuteResponse {
    block_on(sandbox.execute(request)).unwrap()
}

fn out(text: &str) -> Step {
    Step::Print(OutputStream::Stdout, text.into())
}

fn err(text: &str) -> Step {
    Step::Print(OutputStream::Stderr, text.into())
}

#[test]
fn output_is_returned_by_stream_and_in_arrival_order() {
    let sandbox = scripted([out("a"), err("b"), out("c"), Step::Exit(3)]);
    let response = run(&sandbox, ExecuteRequest::new("x"));
    assert_eq!((response.stdout_text(), response.stderr_text()), ("ac".into(), "b".into()));
    assert_eq!(response.output_text(), "abc");
    assert_eq!((response.exit_code, response.stopped_by, response.truncated), (Some(3), None, false));
}

#[test]
fn streamed_chunks_equal_the_response() {
    let sandbox = scripted([out("a"), err("b"), out("c"), Step::RunOutOfTime]);
    let mut streamed = ExecuteResponse::default();
    let mut events = 0;
    let mut sink = |event: OutputChunk| {
        events += 1;
        streamed.push_chunk(&event);
    };
    let response = block_on(sandbox.execute_streaming(ExecuteRequest::new("x"), &mut sink)).unwrap();
    assert_eq!(events, 4, "three of the command and one of Tidebox");
    assert_eq!(
        (streamed.output, streamed.stdout, streamed.stderr),
        (response.output, response.stdout, response.stderr)
    );
}

#[test]
fn a_timeout_returns_124_a_message_and_the_output() {
    let sandbox = scripted([out("so far"), Step::RunOutOfTime]);
    let response = run(&sandbox, ExecuteRequest::new("x").with_timeout(Duration::from_secs(2)));
    assert_eq!((response.exit_code, response.stopped_by), (Some(124), Some(StopReason::Timeout)));
    assert_eq!(response.stdout_text(), "so far");
    assert!(response.output_text().starts_with("so far\ntidebox: the command was stopped because it ran for 2s;"));
    assert!(response.stderr_text().contains("timeout"));
}

#[test]
fn the_wall_time_limit_is_the_default_timeout() {
    let mut limits = Limits::default();
    limits.wall_time = Duration::from_secs(7);
    let engine = Arc::new(ScriptedEngine::new([Step::Exit(0)]));
    let base = BaseImage::new(&[crate::Program::new(["bash"], b"\0asm\x01\0\0\0".to_vec())]).unwrap();
    let shared = Arc::<ScriptedEngine>::clone(&engine);
    let clock = Box::new(tidebox_kernel::VirtualClock::new(0));
    let entropy = Box::new(tidebox_kernel::SeededEntropy::new(1));
    let sandbox = SandboxBuilder::new(shared, &base, clock, entropy).limits(limits).build().unwrap();
    run(&sandbox, ExecuteRequest::new("x"));
    run(&sandbox, ExecuteRequest::new("x").with_timeout(Duration::from_millis(1)));
    assert_eq!(*engine.wall_times.lock().unwrap(), [Duration::from_secs(7), Duration::from_millis(1)]);
}

#[test]
fn running_out_of_memory_returns_137_and_one_message() {
    let response = run(&scripted([Step::RunOutOfMemory]), ExecuteRequest::new("x"));
    assert_eq!((response.exit_code, response.stopped_by), (Some(137), Some(StopReason::Memory)));
    assert_eq!(response.stderr_text(), "bash: out of memory\n");
}

#[test]
fn death_by_signal_returns_128_plus_its_number() {
    let response = run(&scripted([Step::Die(Signal::Pipe)]), ExecuteRequest::new("x"));
    assert_eq!((response.exit_code, response.stopped_by), (Some(141), None));
}

#[test]
fn output_over_the_limit_is_dropped_and_reported() {
    let mut limits = Limits::default();
    limits.output_bytes = 5;
    let steps = [out("1234"), err("5678"), Step::RunOutOfTime];
    let sandbox = builder(ScriptedEngine::new(steps)).limits(limits).build().unwrap();
    let response = run(&sandbox, ExecuteRequest::new("x"));
    assert!(response.truncated);
    assert!(response.output_text().starts_with("12345\ntidebox: "), "Tidebox's message is not dropped");
}

#[test]
fn the_caller_chooses_what_to_keep_of_long_output() {
    let mut limits = Limits::default();
    limits.output_bytes = 5;
    for (action, output, code) in [
        (OutputOverflow::KeepHead, "12345\ntidebox: the output was truncated: kept the first 5 of 8 bytes", 0),
        (OutputOverflow::KeepTail, "45678\ntidebox: the output was truncated: kept the last 5 of 8 bytes", 0),
        (OutputOverflow::Stop, "12345\ntidebox: the command was stopped because it wrote more than 5 bytes", 137),
    ] {
        let steps = [out("1234"), err("5678"), Step::Exit(0)];
        let sandbox = builder(ScriptedEngine::new(steps)).limits(limits.clone()).build().unwrap();
        let request = ExecuteRequest::new("x").with_output_overflow(action);
        let mut streamed = Vec::new();
        let mut sink = |chunk: OutputChunk| streamed.extend(chunk.bytes);
        let response = block_on(sandbox.execute_streaming(request, &mut sink)).unwrap();
        assert!(response.truncated, "{action}");
        assert!(response.output_text().starts_with(output), "{action}: {}", response.output_text());
        assert_eq!(response.exit_code, Some(code), "{action}");
        assert_eq!(response.stopped_by, (code != 0).then_some(StopReason::Output), "{action}");
        let stderr = response.stderr_text().into_owned();
        assert_eq!(response.output.len(), response.stdout.len() + stderr.len(), "{action}");
    }
}

#[test]
fn an_engine_failure_is_an_engine_error() {
    let error = block_on(scripted([Step::Fail]).execute(ExecuteRequest::new("x"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Engine);
    assert!(error.to_string().contains("the pool is broken; restart the program"), "{error}");
}

#[test]
fn a_command_gets_no_variables_of_the_host() {
    let sandbox = scripted([Step::PrintContext, Step::Exit(0)]);
    let response = run(&sandbox, ExecuteRequest::new("echo 'é' \"$@\"").with_stdin("typed"));
    let (arguments, environment, stdin) = parse_engine_log(&response.stdout);
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
fn request_variables_override_sandbox_variables_and_defaults() {
    let engine = ScriptedEngine::new([Step::PrintContext, Step::Exit(0)]);
    let sandbox = builder(engine).env("HOME", "/tmp").env("A", "1").env("AB", "2").build().unwrap();
    let request = ExecuteRequest::new("x").with_env("A", "3").with_env("A", "4").with_cwd(path("/tmp"));
    let (_, environment, _) = parse_engine_log(&run(&sandbox, request).stdout);
    for expected in ["HOME=/tmp", "A=4", "AB=2", "PWD=/tmp"] {
        assert!(environment.iter().any(|variable| variable == expected), "{expected} in {environment:?}");
    }
    assert_eq!(environment.iter().filter(|variable| variable.starts_with("A=")).count(), 1);
}

#[test]
fn an_invalid_variable_is_an_invalid_request() {
    let sandbox = js();
    for (name, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "\0")] {
        let error = block_on(sandbox.execute(ExecuteRequest::new("x").with_env(name, value))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{name:?}={value:?}");
    }
}

#[test]
fn a_command_that_cannot_start_returns_a_message() {
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
fn a_base_image_without_a_shell_returns_127_with_a_message() {
    let base = BaseImage::new(&[]).unwrap();
    let clock = Box::new(tidebox_kernel::VirtualClock::new(0));
    let entropy = Box::new(tidebox_kernel::SeededEntropy::new(1));
    let sandbox = SandboxBuilder::new(Arc::new(ScriptedEngine::new([])), &base, clock, entropy).build().unwrap();
    let response = run(&sandbox, ExecuteRequest::new("x"));
    assert_eq!(response.exit_code, Some(127));
    assert!(response.stderr_text().contains("cannot start /bin/bash"), "{}", response.stderr_text());
}

#[test]
fn a_dropped_execute_leaves_no_process() {
    let sandbox = scripted([Step::Hang]);
    let kernel = sandbox.kernel("test").unwrap();
    let mut running = sandbox.execute(ExecuteRequest::new("x"));
    assert!(running.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert_eq!(kernel.lock().process_count(), 1);
    drop(running);
    assert_eq!(kernel.lock().process_count(), 0);
}

#[test]
fn commands_and_file_tools_work_while_a_command_runs() {
    let sandbox = scripted([Step::Hang]);
    let mut running = sandbox.execute(ExecuteRequest::new("x"));
    assert!(running.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    write(&sandbox, "/workspace/a", "x").unwrap();
    assert!(read(&sandbox, "/workspace/a").is_ok());
    let mut second = sandbox.execute(ExecuteRequest::new("y"));
    assert!(second.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

#[test]
fn closing_stops_running_commands_and_rejects_new_ones() {
    let sandbox = scripted([Step::Hang]);
    let kernel = sandbox.kernel("test").unwrap();
    let mut running = sandbox.execute(ExecuteRequest::new("x"));
    assert!(running.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    let pid = tidebox_kernel::Pid(2);
    block_on(sandbox.close()).unwrap();
    block_on(sandbox.close()).unwrap();
    let doomed = kernel.lock().read(pid, 0, &mut []);
    assert_eq!(doomed, Err(tidebox_kernel::SyscallError::Kill(Signal::Kill)), "its next call ends it");
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
fn tidebox_messages_go_to_standard_error() {
    let sandbox = scripted([Step::RunOutOfTime]);
    let mut streams = Vec::new();
    let mut sink = |event: OutputChunk| streams.push(event.stream);
    block_on(sandbox.execute_streaming(ExecuteRequest::new("x"), &mut sink)).unwrap();
    assert_eq!(streams, [OutputStream::Stderr]);
}
