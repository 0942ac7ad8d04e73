//! The latencies that a user sees: creating a sandbox, running a command, starting a process, moving bytes.
//!
//! `native` rows run the same command line with `sh -c` on the host in the same run; compare with those, not with figures
//! of another host.

use std::hint::black_box;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use tidebox::{Sandbox, ShellMode};
use tidebox_core::{ExecuteRequest, ExecuteResponse, ReadRequest, SandboxBackend, SandboxPath, WriteRequest};
use tokio::runtime::Runtime;

const PIPELINE: &str = "seq 1 1000 | grep 7 | sort -r | head -5";

/// Bytes through the pipe in one measured run.
const PIPED: u64 = 64 << 20;

/// Processes started in one measured run.
const STARTED: u32 = 50;

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the runtime starts")
}

fn sandbox() -> Sandbox {
    tidebox::sandbox().and_then(|sandbox| sandbox.build()).expect("the sandbox is built")
}

fn run(runtime: &Runtime, sandbox: &Sandbox, command: &str) -> ExecuteResponse {
    let response = runtime.block_on(sandbox.execute(ExecuteRequest::new(command))).expect("the command runs");
    assert_eq!(response.exit_code, Some(0), "{command}: {}", response.output_text());
    response
}

fn native(command: &str) {
    let status = Command::new("sh").args(["-c", command]).stdout(Stdio::null()).status().expect("sh runs");
    assert!(status.success());
}

fn create(c: &mut Criterion) {
    let runtime = runtime();
    run(&runtime, &sandbox(), "true");
    let mut group = c.benchmark_group("create");
    group.bench_function("a sandbox", |b| b.iter(|| black_box(sandbox())));
    group.bench_function("a sandbox and its first echo", |b| b.iter(|| run(&runtime, &sandbox(), "echo hi")));
    group.bench_function("a sandbox and its first true", |b| b.iter(|| run(&runtime, &sandbox(), "true")));
    group.finish();
}

fn execute(c: &mut Criterion) {
    let (runtime, sandbox) = (runtime(), sandbox());
    let mut group = c.benchmark_group("execute");
    group.bench_function("true", |b| b.iter(|| run(&runtime, &sandbox, "true")));
    group.bench_function("echo", |b| b.iter(|| run(&runtime, &sandbox, "echo hi")));
    group.bench_function("pipeline", |b| b.iter(|| run(&runtime, &sandbox, PIPELINE)));
    let counting = "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done";
    group.bench_function("loop of 1000", |b| b.iter(|| run(&runtime, &sandbox, counting)));
    group.bench_function("native true", |b| b.iter(|| native("true")));
    group.bench_function("native pipeline", |b| b.iter(|| native(PIPELINE)));
    group.bench_function("native loop of 1000", |b| b.iter(|| native(counting)));
    group.finish();
}

/// The cost of a shell session in addition to `execute/true`.
fn session(c: &mut Criterion) {
    let runtime = runtime();
    let session = || {
        let sandbox = tidebox::sandbox().map(|sandbox| sandbox.shell_mode(ShellMode::Persistent));
        sandbox.and_then(|sandbox| sandbox.build()).expect("the sandbox is built")
    };
    let mut group = c.benchmark_group("session");
    let empty = session();
    group.bench_function("true in an empty one", |b| b.iter(|| run(&runtime, &empty, "true")));
    let full = session();
    run(&runtime, &full, "for i in {1..100}; do declare variable_$i=\"value of variable $i\"; done");
    group.bench_function("true with 100 variables", |b| b.iter(|| run(&runtime, &full, "true")));
    group.bench_function("a change among 100 variables", |b| {
        b.iter(|| run(&runtime, &full, "changed=$((changed + 1))"))
    });
    let functions = session();
    run(
        &runtime,
        &functions,
        "for i in {1..100}; do eval \"f$i() { for x in \\$@; do echo \\\"\\$x\\\" | cat; done; }\"; done",
    );
    group.bench_function("true with 100 functions", |b| b.iter(|| run(&runtime, &functions, "true")));
    group.finish();
}

/// Measures one more process: a run that starts many minus a run that starts none.
fn spawn(c: &mut Criterion) {
    let runtime = runtime();
    let own = |name: &str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("userland/dist").join(name);
        std::fs::read(path).expect("`cargo xtask userland` has built the guest programs")
    };
    // One program of the standard library for each WASI version, under the name that makes it print its arguments.
    let sandbox = tidebox::sandbox().and_then(|sandbox| {
        let sandbox = sandbox.host_tool("answer", |_| async { 0 }).tool("tell", own("test_tool.wasm"));
        sandbox.file("/tmp/0.2/tell", own("test_tool.component.wasm")).build()
    });
    let sandbox = sandbox.expect("the sandbox is built");
    let starting = |program: &str| format!("for i in {{1..{STARTED}}}; do {program}; done");
    let mut group = c.benchmark_group("spawn and wait");
    for (name, program) in [
        ("a program", "/bin/true"),
        ("a module of one's own", "tell"),
        ("a component", "/tmp/0.2/tell"),
        ("a host tool", "answer"),
        ("a subshell", "(:)"),
        ("a shell", "sh -c :"),
    ] {
        let (many, none) = (starting(program), starting(":"));
        group.bench_function(name, |b| {
            b.iter_custom(|runs| {
                let mut spent = Duration::ZERO;
                for _ in 0..runs {
                    let start = Instant::now();
                    run(&runtime, &sandbox, &many);
                    let with = start.elapsed();
                    let start = Instant::now();
                    run(&runtime, &sandbox, &none);
                    spent += with.saturating_sub(start.elapsed()) / STARTED;
                }
                spent
            });
        });
    }
    group.finish();
}

fn pipe(c: &mut Criterion) {
    let (runtime, sandbox) = (runtime(), sandbox());
    let mut group = c.benchmark_group("pipe");
    group.throughput(Throughput::Bytes(PIPED)).sample_size(10);
    let command = format!("head -c {PIPED} /dev/zero | cat >/dev/null");
    group.bench_function("head to cat", |b| b.iter(|| run(&runtime, &sandbox, &command)));
    group.bench_function("native head to cat", |b| b.iter(|| native(&command)));
    group.finish();
}

fn file(c: &mut Criterion) {
    let (runtime, sandbox) = (runtime(), sandbox());
    let path = SandboxPath::parse("/workspace/notes.txt").expect("the path is valid");
    let text: String = (0..1000).map(|line| format!("line {line} of a file that an agent reads\n")).collect();
    let mut group = c.benchmark_group("file");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("write", |b| {
        b.iter_batched(
            || WriteRequest::new(path.clone(), text.clone()),
            |request| runtime.block_on(sandbox.write(request)).expect("write responds").expect("the file is written"),
            BatchSize::SmallInput,
        );
    });
    group.bench_function("read", |b| {
        b.iter(|| {
            runtime.block_on(sandbox.read(ReadRequest::new(path.clone()))).expect("read responds").expect("it reads")
        })
    });
    group.finish();
}

criterion_group!(benches, create, execute, session, spawn, pipe, file);
criterion_main!(benches);
