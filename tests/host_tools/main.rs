//! Host functions as commands, run by the real shell together with the real tools.

mod commands;
mod external_io;
mod streams;
mod stress;
mod termination;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tidebox::{ExecuteRequest, ExecuteResponse, HostCall, Limits, Sandbox, SandboxBackend, SandboxBuilder};

/// Error message of a program whose output pipe has no reader.
const BROKEN_PIPE: u8 = tidebox::BrokenPipe::EXIT_CODE;

/// Number of running calls of `hang`, and number of bytes that `gush` has written.
#[derive(Clone, Default)]
struct Counters {
    hanging: Arc<AtomicU64>,
    gushed: Arc<AtomicU64>,
}

/// Creates a sandbox with the tools that the tests call.
fn builder(seen: &Counters) -> SandboxBuilder {
    let (hanging, gushed) = (Arc::clone(&seen.hanging), Arc::clone(&seen.gushed));
    tidebox::sandbox()
        .expect("the engine starts")
        .host_tool("ask", ask)
        .host_tool("upper", upper)
        .host_tool("count", count)
        .host_tool("code", |call| async move { call.argument(1).and_then(|code| code.parse().ok()).unwrap_or(2) })
        .host_tool("gush", move |call| gush(call, Arc::clone(&gushed)))
        .host_tool("hang", move |_| hang(Arc::clone(&hanging)))
}

fn sandbox() -> Sandbox {
    builder(&Counters::default()).build().expect("the sandbox is built")
}

async fn run(sandbox: &Sandbox, command: &str) -> ExecuteResponse {
    sandbox.execute(ExecuteRequest::new(command)).await.expect("the command runs")
}

/// Runs a command and checks that it succeeds with this output.
async fn prints(sandbox: &Sandbox, command: &str, expected: &str) {
    let response = run(sandbox, command).await;
    assert_eq!((response.output_text().as_ref(), response.exit_code), (expected, Some(0)), "{command}");
}

fn limited(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

/// Prints its arguments and context.
async fn ask(mut call: HostCall) -> u8 {
    let arguments: Vec<String> =
        call.arguments.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect();
    let a = String::from_utf8_lossy(call.variable("A").unwrap_or(b"unset")).into_owned();
    let line = format!("{} in {} with A {a}\n", arguments.join("|"), call.cwd);
    call.stdout.write(line).await.map_or(BROKEN_PIPE, |()| 0)
}

/// Copies its input in upper case.
async fn upper(mut call: HostCall) -> u8 {
    loop {
        let bytes = call.stdin.read(8192).await;
        if bytes.is_empty() {
            return 0;
        }
        if call.stdout.write(bytes.to_ascii_uppercase()).await.is_err() {
            return BROKEN_PIPE;
        }
    }
}

/// Prints the number of input bytes. Reads at most the number given as its argument.
async fn count(mut call: HostCall) -> u8 {
    let most = call.argument(1).and_then(|most| most.parse().ok()).unwrap_or(usize::MAX);
    let mut total = 0;
    while total < most {
        match call.stdin.read(most - total).await.len() {
            0 => break,
            n => total += n,
        }
    }
    call.stdout.write(format!("{total}\n")).await.map_or(BROKEN_PIPE, |()| 0)
}

/// Writes a gigabyte, or the number of bytes given as its argument.
async fn gush(mut call: HostCall, gushed: Arc<AtomicU64>) -> u8 {
    let line = "y\n".repeat(500);
    let total = call.argument(1).and_then(|total| total.parse().ok()).unwrap_or(1_000_000_000);
    for _ in 0..total / line.len() {
        if call.stdout.write(&line).await.is_err() {
            return BROKEN_PIPE;
        }
        gushed.fetch_add(line.len() as u64, Ordering::Relaxed);
    }
    0
}

/// Never ends.
async fn hang(hanging: Arc<AtomicU64>) -> u8 {
    struct Leaving(Arc<AtomicU64>);
    impl Drop for Leaving {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
    hanging.fetch_add(1, Ordering::Relaxed);
    let _leaving = Leaving(hanging);
    std::future::pending().await
}
