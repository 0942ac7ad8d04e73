//! Memory of an idle sandbox: the growth of the resident size with a thousand of them, each after its first
//! command.

#![allow(clippy::print_stdout, reason = "the figure is what this program is for")]

use tidebox::Sandbox;
use tidebox_core::{ExecuteRequest, SandboxBackend};

const SANDBOXES: u64 = 1000;

fn main() {
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
            let idle: Vec<Sandbox> = (0..SANDBOXES).map(|_| make()).collect();
            let grown = resident_bytes().unwrap_or(before).saturating_sub(before);
            println!("footprint: {} sandboxes, {:.1} KiB each", idle.len(), grown as f64 / SANDBOXES as f64 / 1024.0);
        }
    }
    drop(warm);
}

fn resident_bytes() -> Option<u64> {
    let pages: u64 = std::fs::read_to_string("/proc/self/statm").ok()?.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}
