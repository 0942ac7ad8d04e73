//! Memory of an idle sandbox: the growth of the resident size with a thousand of them, or with `TIDEBOX_FOOTPRINT`, each after its
//! first command; and the time of a command in one of them.

#![allow(clippy::print_stdout, reason = "the figure is what this program is for")]

use std::time::{Duration, Instant};

use tidebox::Sandbox;
use tidebox_core::{ExecuteRequest, SandboxBackend};

fn main() {
    let count = std::env::var("TIDEBOX_FOOTPRINT").ok().and_then(|count| count.parse().ok()).unwrap_or(1000_u64);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the runtime starts");
    let make = || {
        let sandbox = tidebox::sandbox().and_then(|sandbox| sandbox.build()).expect("the sandbox is built");
        let response = runtime.block_on(sandbox.execute(ExecuteRequest::new("echo hi"))).expect("the command runs");
        assert_eq!(response.stdout, b"hi\n");
        sandbox
    };
    // Warm up shared resources: native code, pool slots, the allocator.
    let warm: Vec<Sandbox> = (0..50).map(|_| make()).collect();
    match resident_bytes() {
        None => println!("footprint: skipped, the host has no /proc/self/statm"),
        Some(before) => {
            let one = time_commands(&runtime, &warm);
            let idle: Vec<Sandbox> = (0..count).map(|_| make()).collect();
            let grown = resident_bytes().unwrap_or(before).saturating_sub(before);
            println!("footprint: {} sandboxes, {:.1} KiB each", idle.len(), grown as f64 / count as f64 / 1024.0);
            println!("a command: {one:.1} us among 50 sandboxes, {:.1} us among these", time_commands(&runtime, &warm));
            if let Ok(maps) = std::fs::read_to_string("/proc/self/maps") {
                println!("memory mappings of the process: {}", maps.lines().count());
            }
            let closing = Instant::now();
            drop(idle);
            println!("closing: {:.1} us each", closing.elapsed().as_secs_f64() * 1e6 / count as f64);
        }
    }
    drop(warm);
}

/// Returns the median time of `true` in some sandboxes, in microseconds.
fn time_commands(runtime: &tokio::runtime::Runtime, sandboxes: &[Sandbox]) -> f64 {
    let mut times: Vec<Duration> = sandboxes
        .iter()
        .map(|sandbox| {
            let start = Instant::now();
            runtime.block_on(sandbox.execute(ExecuteRequest::new("true"))).expect("the command runs");
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1e6)
}

fn resident_bytes() -> Option<u64> {
    let pages: u64 = std::fs::read_to_string("/proc/self/statm").ok()?.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}
