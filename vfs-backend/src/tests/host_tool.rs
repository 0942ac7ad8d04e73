use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use futures_executor::block_on;
use tidebox_core::{ErrorKind, FileErrorCode, HostCall, HostTool, Limits, SandboxBackend};
use tidebox_kernel::{ExecutionId, ExecutionSpec, HostProcess, SharedKernel};

use super::scripted_engine::{ScriptedEngine, Step};
use super::{builder, chmod, mode, path, text, write};
use crate::{SandboxBuilder, VfsBackend};

fn engine() -> ScriptedEngine {
    ScriptedEngine::new([Step::Exit(0)])
}

/// Starts `/usr/local/bin/<name>` in `/workspace`, as an engine would.
fn start_tool(sandbox: &VfsBackend, name: &str) -> (SharedKernel, ExecutionId, HostProcess) {
    let kernel = sandbox.kernel("test").unwrap();
    let spec = ExecutionSpec {
        argv: [name].into_iter().collect(),
        cwd: b"/workspace".to_vec(),
        program: format!("/usr/local/bin/{name}").into_bytes(),
        output_bytes: 1 << 20,
        output_overflow: Default::default(),
        ..ExecutionSpec::default()
    };
    let (session, _) = kernel.lock().start_execution(spec).unwrap();
    let start = kernel.lock().take_pending(session).pop().unwrap();
    let process = HostProcess::new(&kernel, &start).expect("the application runs it");
    (kernel, session, process)
}

/// Returns the output of a call and its exit code.
fn call(sandbox: &VfsBackend, name: &str) -> (String, i32) {
    let (kernel, session, process) = start_tool(sandbox, name);
    block_on(process);
    let output = kernel.lock().take_output(session);
    let report = kernel.lock().finish_execution(session);
    let text = output.iter().map(|chunk| String::from_utf8_lossy(&chunk.bytes)).collect();
    (text, report.status.expect("it ended").code())
}

/// A sandbox with the tool `t` implemented by `f`.
fn with_tool<Answer>(f: impl Fn(HostCall) -> Answer + Send + Sync + 'static) -> SandboxBuilder
where
    Answer: Future<Output = u8> + Send + 'static,
{
    builder(engine()).host_tool("t", f)
}

#[test]
fn a_host_tool_is_an_uncharged_executable_of_root() {
    let sandbox = with_tool(|_| async { 0 }).tool("wasm", b"\0asm\x01\0\0\0".as_slice()).build().unwrap();
    let entries = block_on(sandbox.ls(&path("/usr/local/bin"))).unwrap().unwrap().entries;
    let names: Vec<_> = entries.iter().map(|entry| String::from_utf8_lossy(&entry.path).into_owned()).collect();
    assert_eq!(names, ["/usr/local/bin/t", "/usr/local/bin/wasm"]);
    assert_eq!(mode(&sandbox, "/usr/local/bin/t"), 0o755);
    assert!(write(&sandbox, "/usr/local/bin/t", "x").is_err());
    let kernel = sandbox.kernel("stat").unwrap();
    assert_eq!(kernel.lock().fs().usage().file_bytes, 0);
}

#[test]
fn a_call_has_the_id_of_its_sandbox_or_fork() {
    let sandbox = with_tool(|mut call| async move {
        let id = call.sandbox.to_string();
        call.stdout.write(id).await.map_or(1, |()| 0)
    })
    .build()
    .unwrap();
    assert_eq!(call(&sandbox, "t"), (sandbox.id().to_string(), 0));
    let fork = sandbox.fork().unwrap();
    assert_ne!(fork.id(), sandbox.id());
    assert_eq!(call(&fork, "t"), (fork.id().to_string(), 0));
}

#[test]
fn tools_survive_restoring_any_snapshot() {
    let sandbox = with_tool(|_| async { 5 }).build().unwrap();
    let stranger = builder(engine()).host_tool("other", |_| async { 6 }).build().unwrap();
    for snapshot in [sandbox.snapshot().unwrap(), stranger.snapshot().unwrap()] {
        sandbox.restore(&snapshot).unwrap();
        assert_eq!(call(&sandbox, "t"), (String::new(), 5));
    }
    // A tool's file in another sandbox's snapshot is restored as an ordinary file, not as a tool.
    assert!(text(&sandbox, "/usr/local/bin/other").starts_with("#!/bin/sh\n"));
    let again = with_tool(|_| async { 7 }).snapshot(&sandbox.snapshot().unwrap()).build().unwrap();
    assert_eq!(call(&again, "t").1, 7, "a sandbox's own tool, not that of the snapshot");
}

#[test]
fn a_tool_accesses_the_sandboxs_files_as_its_user() {
    let sandbox = with_tool(|call| async move {
        assert_eq!(call.files.read("in.txt", 5).await.unwrap(), b"input");
        assert_eq!(call.files.read("/workspace/in.txt", 100).await.unwrap(), b"input");
        let code = |result: Result<Vec<u8>, tidebox_core::FileError>| result.unwrap_err().code;
        assert_eq!(code(call.files.read("in.txt", 4).await), FileErrorCode::TooLarge);
        assert_eq!(code(call.files.read("nothing", 4).await), FileErrorCode::FileNotFound);
        assert_eq!(code(call.files.read("", 4).await), FileErrorCode::InvalidPath);
        assert_eq!(code(call.files.read("/tmp", 4).await), FileErrorCode::IsDirectory);
        assert_eq!(code(call.files.read("closed", 9).await), FileErrorCode::PermissionDenied);
        assert_eq!(code(call.files.read("/dev/zero", 9).await), FileErrorCode::NotARegularFile);
        call.files.write("new/out.txt", "output").await.unwrap();
        let long = vec![b'x'; 101];
        assert_eq!(call.files.write("long", long).await.unwrap_err().code, FileErrorCode::TooLarge);
        assert_eq!(call.files.write("/bin/x", "").await.unwrap_err().code, FileErrorCode::PermissionDenied);
        0
    });
    let mut limits = Limits::default();
    limits.single_file_bytes = 100;
    let sandbox = sandbox.limits(limits).file("in.txt", "input").file("closed", "secret").build().unwrap();
    chmod(&sandbox, "/workspace/closed", 0);
    assert_eq!(call(&sandbox, "t"), (String::new(), 0));
    assert_eq!(text(&sandbox, "/workspace/new/out.txt"), "output");
}

#[test]
fn a_task_of_an_ended_call_cannot_change_anything() {
    let kept = Arc::new(Mutex::new(None));
    let keeping = Arc::clone(&kept);
    let sandbox = with_tool(move |call| {
        *keeping.lock().unwrap() = Some(call.files);
        std::future::pending()
    })
    .build()
    .unwrap();
    let (_, _, mut process) = start_tool(&sandbox, "t");
    let waits = Pin::new(&mut process).poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(waits, Poll::Pending);
    let files = kept.lock().unwrap().take().unwrap();
    block_on(files.write("before", "x")).unwrap();
    sandbox.restore(&sandbox.snapshot().unwrap()).unwrap();
    let error = block_on(files.write("after", "x")).unwrap_err();
    assert_eq!((error.code, error.message.contains("the call")), (FileErrorCode::PermissionDenied, true));
    assert!(block_on(files.read("before", 1)).is_err());
    drop(process);
    assert!(block_on(files.read("before", 1)).is_err());
    let entries = block_on(sandbox.ls(&path("/workspace"))).unwrap().unwrap().entries;
    assert_eq!(entries.len(), 1);
}

#[test]
fn a_tool_object_can_be_shared_by_sandboxes() {
    let tool: Arc<dyn HostTool> = Arc::new(|_: HostCall| async { 9 });
    for _ in 0..2 {
        let tool = Arc::clone(&tool);
        let sandbox = with_tool(move |call| tool.call(call)).build().unwrap();
        assert_eq!(call(&sandbox, "t").1, 9);
    }
}

#[test]
fn an_invalid_host_tool_is_rejected_with_a_reason() {
    let bad = |name: &str| builder(engine()).host_tool(name, |_| async { 0 });
    for (builder, why) in [
        (bad(""), "file name without slashes"),
        (bad("a/b"), "file name without slashes"),
        (bad(".."), "file name without slashes"),
        (bad("a\0"), "file name without slashes"),
        (bad("t").host_tool("t", |_| async { 1 }), "two programs"),
        (bad("t").tool("t", b"\0asm\x01\0\0\0".as_slice()), "two programs"),
    ] {
        let error = builder.build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        assert!(error.to_string().contains(why), "{error}");
    }
    assert!(bad(&"x".repeat(300)).build().unwrap_err().to_string().contains("cannot create"));
}
