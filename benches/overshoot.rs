//! The time that a command continues after its deadline: every guest of `userland/hostile` with a wall time shorter than its run,
//! several times, as a histogram and with the worst of each.
//!
//! `cargo bench --bench overshoot [-- NAME]`; run it on an idle host, because its scheduler is part of the figure.

#![allow(clippy::print_stdout, reason = "the figures are what this program is for")]

#[path = "../tests/hostile/guest.rs"]
mod guest;

use std::time::{Duration, Instant};

use guest::{Guest, Table};
use tidebox::{ExecuteRequest, Sandbox, SandboxBackend, StopReason};

/// Deadlines, to stop guests at different points.
const WALL_TIMES: [u64; 7] = [25, 50, 75, 100, 150, 220, 310];

/// Upper ends of the histogram's rows, in milliseconds.
const ROWS: [u64; 8] = [1, 2, 5, 10, 20, 50, 100, u64::MAX];

fn main() {
    let measuring = std::env::args().any(|argument| argument == "--bench");
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let wall_times = if measuring { &WALL_TIMES[..] } else { &WALL_TIMES[..1] };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the runtime starts");
    let (mut all, mut worst) = (Vec::new(), Vec::new());
    for guest in Table::read().guests.iter().filter(|guest| guest.file.contains(&wanted)) {
        runtime.block_on(overshoot(guest, WALL_TIMES[0]));
        let over: Vec<Duration> =
            wall_times.iter().filter_map(|wall_time| runtime.block_on(overshoot(guest, *wall_time))).collect();
        worst.extend(over.iter().max().map(|over| (*over, guest.file.clone())));
        all.extend(over);
    }
    worst.sort_unstable();
    println!("overshoot: {} deadlines met by {} guests", all.len(), worst.len());
    let mut below = 0;
    for row in ROWS {
        let count = all.iter().filter(|over| over.as_millis() < u128::from(row)).count();
        let name = if row == u64::MAX { "   more".to_owned() } else { format!("< {row:3} ms") };
        println!("  {name} {:5}", count - below);
        below = count;
    }
    for (over, file) in worst.iter().rev().take(12) {
        println!("  {:7.1} ms  {file}", over.as_secs_f64() * 1000.0);
    }
}

/// Returns the time between the deadline and the response, or `None` if the command ended before.
async fn overshoot(guest: &Guest, wall_time: u64) -> Option<Duration> {
    let wall_time = Duration::from_millis(wall_time);
    let mut limits = guest.limits();
    // Other limits would end the guest early.
    limits.output_bytes = 8 << 20;
    let sandbox: Sandbox =
        tidebox::sandbox().and_then(|sandbox| sandbox.limits(limits).build()).expect("the sandbox is built");
    if let Some(upload) = guest.upload() {
        sandbox.upload_files(vec![upload]).await.expect("the sandbox responds");
    }
    let started = Instant::now();
    let response = sandbox.execute(ExecuteRequest::new(guest.command()).with_timeout(wall_time)).await;
    let took = started.elapsed();
    let stopped = response.expect("the sandbox responds").stopped_by == Some(StopReason::Timeout);
    stopped.then(|| took.saturating_sub(wall_time))
}
