//! Many sandboxes in one process: their cost while they exist, and a check that they leave nothing.
//!
//! - `cargo bench --bench load -- soak --minutes 10`: a thousand sandboxes live, and commands of every kind run in them at random;
//! - `cargo bench --bench load -- idle 10000`: idle sandboxes;
//! - `cargo bench --bench load -- hibernated 1000000`: sandboxes in a store, and the provider that finds them;
//! - `cargo bench --bench load -- churn 100000`: sandboxes created, used and dropped;
//! - `cargo bench --bench load -- live --minutes 10`: residents, sockets, exposed ports and terminals that end at any moment;
//! - `cargo bench --bench load -- servers 1000`: processes that outlive their call and wait for input.
//!
//! Each prints its figures and ends with 1 on a failed command, a wrong output, or a leak of memory, descriptors or threads.
//! Without arguments all run on a small scale.
//!
//! Memory is compared after two equal rounds: the first one fills what is kept on purpose (pool slots, native code, the allocator),
//! and growth after it is a leak.

#![allow(clippy::print_stdout, reason = "the figures are what this program is for")]

#[path = "load/cpu_time.rs"]
mod cpu_time;
#[path = "load/hibernated.rs"]
mod hibernated;
#[path = "load/live.rs"]
mod live;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tidebox::{
    ExecuteRequest, Limits, OutputCursor, Process, ReadOutput, Sandbox, SandboxBackend, SpawnInput, SpawnRequest,
    WriteRequest,
};
use tokio::task::JoinSet;

/// Number of sandboxes in a soak.
const LIVE: usize = 1000;

/// Allowed growth of memory, as a fraction of the warm size.
const GROWTH: f64 = 0.10;

/// Resident bytes, descriptors and threads of this process.
#[derive(Clone, Copy, Debug)]
struct Footprint {
    resident: u64,
    descriptors: usize,
    threads: usize,
}

impl Footprint {
    /// Returns `None` on hosts without `/proc`.
    fn now() -> Option<Self> {
        let count = |dir| std::fs::read_dir(dir).map(Iterator::count).ok();
        let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
        let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
        Some(Self { resident: pages * 4096, descriptors: count("/proc/self/fd")?, threads: count("/proc/self/task")? })
    }

    fn mib(self) -> f64 {
        self.resident as f64 / f64::from(1 << 20)
    }
}

/// A reproducible random number generator.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Commands with their output; `None` if the output is random or a limit ends the command.
const COMMANDS: [(&str, Option<&str>); 14] = [
    ("echo hi", Some("hi\n")),
    ("seq 1 1000 | grep 7 | sort -r | head -1", Some("997\n")),
    ("for i in 1 2 3; do echo $i; done | wc -l", Some("3\n")),
    ("printf '%s\\n' b a | sort > s; cat s; rm s", Some("a\nb\n")),
    ("awk 'BEGIN { for (i = 0; i < 1000; i++) s += i; print s }'", Some("499500\n")),
    ("echo '{\"a\": [1, 2]}' | jq -c .a", Some("[1,2]\n")),
    ("mkdir -p d/e; tar cf t d; tar tf t | wc -l; rm -r d t", Some("2\n")),
    ("(exit 3) & wait $!; echo $?", Some("3\n")),
    ("x=$(head -c 100000 /dev/zero | tr '\\0' x); echo ${#x}", Some("100000\n")),
    ("false || nothing-by-that-name 2> /dev/null; echo $?", Some("127\n")),
    ("yes | head -c 10000 | wc -c", Some("10000\n")),
    (":() { : | : & }; :", None),
    ("f() { f; }; f", None),
    ("while :; do :; done", None),
];

fn sandbox() -> Sandbox {
    let mut limits = Limits::default();
    limits.processes = 24;
    tidebox::sandbox().and_then(|builder| builder.limits(limits).build()).expect("the sandbox is built")
}

/// Runs one random command in a sandbox and returns an error message on failure.
async fn step(sandbox: &Sandbox, dice: &mut Dice) -> Option<String> {
    let (command, expected) = COMMANDS[dice.below(COMMANDS.len())];
    let endless = expected.is_none();
    let wall_time = if endless { Duration::from_millis(20) } else { Duration::from_secs(300) };
    let request = ExecuteRequest::new(command).with_timeout(wall_time);
    if endless && dice.below(2) == 0 {
        // Cancelled at a random point.
        let _ = tokio::time::timeout(Duration::from_millis(5), sandbox.execute(request)).await;
        return None;
    }
    match (sandbox.execute(request).await, expected) {
        (Err(error), _) => Some(format!("{command}: {error}")),
        (Ok(response), Some(expected)) if response.output_text() != expected => {
            Some(format!("{command}: {:?} {}", response.exit_code, response.output_text()))
        }
        _ => None,
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse().expect("a number");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("the runtime starts");
    let errors = match arguments.as_slice() {
        ["soak", "--minutes", minutes] => {
            runtime.block_on(soak(Duration::from_secs_f64(minutes.parse::<f64>().expect("a number") * 60.0), LIVE))
        }
        ["live", "--minutes", minutes] => {
            runtime.block_on(live::soak(minutes.parse().expect("a whole number"), Duration::from_secs(60)))
        }
        ["idle", count] => runtime.block_on(idle(number(count))),
        ["hibernated", count] => runtime.block_on(hibernated::hibernated(number(count))),
        ["churn", count] => runtime.block_on(churn(number(count))),
        ["servers", count] => runtime.block_on(servers(number(count), Duration::from_secs(10))),
        _ => runtime.block_on(async {
            let soaked = soak(Duration::from_secs(2), 20).await;
            let servers = servers(20, Duration::from_secs(1)).await;
            let live = live::soak(2, Duration::from_secs(1)).await;
            let hibernated = hibernated::hibernated(50).await;
            [soaked, idle(50).await, churn(50).await, servers, live, hibernated].concat()
        }),
    };
    for error in &errors {
        println!("error: {error}");
    }
    std::process::exit(i32::from(!errors.is_empty()));
}

/// Returns the open descriptors of this process.
fn open_now() -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    entries.filter_map(|entry| std::fs::read_link(entry.path()).ok()).collect()
}

/// Warms up shared resources: native code, the allocator, the threads.
///
/// Every program that the commands use is started once. The file of its native code stays open as long as the engine, because initial
/// memory is mapped from it; no other descriptor is opened late.
async fn warm(workers: usize) {
    let first = sandbox();
    for (command, _) in COMMANDS.iter().filter(|(_, expected)| expected.is_some()) {
        drop(first.execute(ExecuteRequest::new(*command)).await);
    }
    drop(first.execute(ExecuteRequest::new("cat /dev/null; sleep 0; tail /dev/null")).await);
    drop(first);
    let mut running = JoinSet::new();
    for seed in 0..workers as u64 {
        running.spawn(async move {
            let (sandbox, mut dice) = (sandbox(), Dice(seed));
            for _ in 0..30 {
                step(&sandbox, &mut dice).await;
            }
        });
    }
    while running.join_next().await.is_some() {}
}

/// Concurrent processes over all sandboxes: the default of `tidebox::RuntimeConfig`.
const POOL_SLOTS: usize = 1000;

/// Processes of the pipeline below, with the shell and the first command.
const STAGES: usize = 20;

/// Runs the maximum number of concurrent processes. Each writes more memory than a pool slot keeps resident, so that all slots
/// hold their maximum afterwards and the rest of the soak cannot add to it.
async fn fill_all_pool_slots() {
    let stage = " | { x=$(printf '%1500000d' 1); cat; }";
    let line = format!("sleep 5{}", stage.repeat(STAGES - 2));
    let mut running = JoinSet::new();
    for _ in 0..POOL_SLOTS / STAGES {
        let line = line.clone();
        running.spawn(async move { drop(sandbox().execute(ExecuteRequest::new(line)).await) });
    }
    while running.join_next().await.is_some() {}
}

/// Number of sandboxes of one worker.
const EACH: usize = 20;

/// Rounds of a soak, each with new sandboxes. The first is the baseline for the others.
const ROUNDS: u32 = 5;

async fn soak(length: Duration, live: usize) -> Vec<String> {
    warm(live.div_ceil(EACH)).await;
    if live >= LIVE {
        fill_all_pool_slots().await;
    }
    let mut errors = Vec::new();
    let mut before = None;
    for number in 1..=ROUNDS {
        errors.extend(round(length / ROUNDS, live, number).await);
        match before {
            None => before = Some(Footprint::now()),
            Some(before) => errors.extend(compare(&format!("round {number}"), before, live)),
        }
    }
    errors
}

/// Creates all sandboxes, runs commands in them and drops them.
async fn round(length: Duration, live: usize, number: u32) -> Vec<String> {
    let ends = Instant::now() + length;
    let commands = Arc::new(AtomicU64::new(0));
    let mut workers = JoinSet::new();
    for seed in 0..live.div_ceil(EACH) {
        let commands = Arc::clone(&commands);
        workers.spawn(async move {
            let mut dice = Dice(seed as u64 + u64::from(number) * 1000);
            let mut errors = Vec::new();
            let mut all: Vec<Sandbox> = (0..EACH.min(live)).map(|_| sandbox()).collect();
            for sandbox in &all {
                let mark = tidebox::SandboxPath::parse("/workspace/mark").expect("a path");
                let write = WriteRequest::new(mark, format!("{seed}"));
                if !matches!(sandbox.write(write).await, Ok(Ok(_))) {
                    errors.push("cannot write a file".to_owned());
                }
            }
            while Instant::now() < ends && errors.len() < 10 {
                let at = dice.below(all.len());
                match dice.below(40) {
                    // Replace a sandbox by a fork of another one.
                    0 => {
                        let from = dice.below(all.len());
                        match all[from].fork() {
                            Ok(fork) => all[at] = fork,
                            Err(error) => errors.push(error.to_string()),
                        }
                    }
                    1 => {
                        let seen = all[at].execute(ExecuteRequest::new("cat mark")).await;
                        if !seen.as_ref().is_ok_and(|seen| seen.stdout == seed.to_string().into_bytes()) {
                            errors.push(format!("wrong content of a file: {seen:?}"));
                        }
                    }
                    _ => errors.extend(step(&all[at], &mut dice).await),
                }
                commands.fetch_add(1, Ordering::Relaxed);
                let left = all[at].resource_usage();
                if (left.processes, left.open_files, left.memory_bytes) != (0, 0, 0) {
                    errors.push(format!("resources still in use after a command: {left:?}"));
                }
            }
            errors
        });
    }
    let mut errors = Vec::new();
    let mut peak: f64 = 0.0;
    while let Some(ended) = workers.join_next().await {
        peak = peak.max(Footprint::now().map_or(0.0, Footprint::mib));
        match ended {
            Ok(reported) => errors.extend(reported),
            Err(panic) => errors.push(panic.to_string()),
        }
    }
    let count = commands.load(Ordering::Relaxed);
    println!("round {number}: {live} sandboxes, {count} commands in {:.0} s, peak {peak:.0} MiB", length.as_secs_f64());
    errors
}

/// Maximum memory of ten thousand sandboxes in bytes.
const IDLE_BYTES: f64 = 2.0 * (1u64 << 30) as f64 / 10_000.0;

async fn idle(count: usize) -> Vec<String> {
    warm(8).await;
    let Some(before) = Footprint::now() else {
        println!("idle: skipped, the host has no /proc");
        return Vec::new();
    };
    let mut errors = Vec::new();
    let mut peaks = Vec::new();
    // Twice: memory that the allocator keeps is used again, a leak is not.
    for _ in 0..2 {
        let start = Instant::now();
        let all: Vec<Sandbox> = (0..count).map(|_| sandbox()).collect();
        let fresh = Footprint::now().map_or(0.0, Footprint::mib);
        let creation = start.elapsed();
        for sandbox in &all {
            sandbox.execute(ExecuteRequest::new("echo hi > file")).await.expect("the command runs");
        }
        let used = Footprint::now().map_or(0.0, Footprint::mib);
        println!(
            "idle: {count} sandboxes created in {creation:.1?}: {:.0} MiB before, {fresh:.0} MiB after creation, \
             {used:.0} MiB after one command each",
            before.mib()
        );
        peaks.push(used);
    }
    let limit = IDLE_BYTES * count as f64 / f64::from(1 << 20);
    if count >= LIVE && peaks.iter().any(|peak| *peak > limit) {
        errors.push(format!("{count} idle sandboxes use more than {limit:.0} MiB"));
    }
    if let [first, second] = peaks.as_slice()
        && *second > first * (1.0 + GROWTH)
    {
        errors.push(format!("the second {count} sandboxes used {:.0} MiB more than the first", second - first));
    }
    errors
}

/// Sends a line to a server and waits for the reply.
async fn ask(server: &Process, after: OutputCursor) -> OutputCursor {
    server.write_all(b"ask\n").await.expect("the server reads");
    let page = server.read(ReadOutput::after(after).with_wait(Duration::from_secs(30))).await;
    let page = page.expect("the sandbox responds");
    assert_eq!(page.bytes(), b"ask\n", "the server replies");
    page.next
}

/// Servers that wait use no processor time, and reply quickly.
async fn servers(count: usize, time: Duration) -> Vec<String> {
    warm(8).await;
    let start = Instant::now();
    let mut all = Vec::new();
    for _ in 0..count {
        let sandbox: Arc<dyn SandboxBackend> = Arc::new(sandbox());
        let request = SpawnRequest::new("while read -r line; do echo \"$line\"; done").with_input(SpawnInput::Open);
        let server = Process::spawn(sandbox, request).await.expect("the server starts");
        let cursor = ask(&server, OutputCursor::START).await;
        all.push((server, cursor));
    }
    let started = start.elapsed() / u32::try_from(count).unwrap_or(u32::MAX);
    // The thread that ends time slices stays awake for a moment.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let Some(before) = cpu_time::cpu_time() else {
        println!("servers: skipped, the host has no /proc");
        return Vec::new();
    };
    tokio::time::sleep(time).await;
    let used = cpu_time::cpu_time().unwrap_or_default().saturating_sub(before);
    let share = used.div_duration_f64(time) * 100.0;
    let start = Instant::now();
    for (server, cursor) in &mut all {
        *cursor = ask(server, *cursor).await;
    }
    let asked = start.elapsed() / u32::try_from(count).unwrap_or(u32::MAX);
    let resident = Footprint::now().map_or(0.0, Footprint::mib);
    println!(
        "servers: {count} started and asked in {started:.1?} each; idle they used {share:.2} % of one core in {time:?}; \
         asked again in {asked:.1?} each; {resident:.0} MiB"
    );
    // The clock has steps of 10 ms, and a busy host lets other threads of the process run at the same time.
    let allowed = time / 100 + Duration::from_millis(50);
    if used >= allowed { vec![format!("{count} idle servers used {share:.2} % of one core")] } else { Vec::new() }
}

async fn churn(count: usize) -> Vec<String> {
    warm(8).await;
    let before = Footprint::now();
    let start = Instant::now();
    let workers = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    let mut running = JoinSet::new();
    for worker in 0..workers {
        running.spawn(async move {
            let mut errors = Vec::new();
            let mut dice = Dice(worker as u64);
            for _ in 0..count.div_ceil(workers) {
                let sandbox = sandbox();
                let command = ["echo hi > f; cat f", "seq 9 | tail -1 > f; echo hi", "(echo hi) | cat"][dice.below(3)];
                match sandbox.execute(ExecuteRequest::new(command)).await {
                    Ok(response) if response.stdout == b"hi\n" => {}
                    other => errors.push(format!("{command}: {other:?}")),
                }
            }
            errors
        });
    }
    let mut errors = Vec::new();
    while let Some(ended) = running.join_next().await {
        errors.extend(ended.expect("no worker panics"));
    }
    println!("churn: {count} sandboxes created, used and dropped in {:.1?}", start.elapsed());
    errors.extend(compare("churn", before, count));
    errors
}

/// Returns a description of the leaks.
fn compare(what: &str, before: Option<Footprint>, scale: usize) -> Vec<String> {
    let Some((before, after)) = before.zip(Footprint::now()) else { return Vec::new() };
    println!(
        "{what}: {:.0} MiB, {} descriptors, {} threads before; {:.0} MiB, {} descriptors, {} threads after",
        before.mib(),
        before.descriptors,
        before.threads,
        after.mib(),
        after.descriptors,
        after.threads
    );
    let mut errors = Vec::new();
    // On a small scale the noise of the allocator exceeds the measured growth.
    if scale >= LIVE && after.mib() > before.mib() * (1.0 + GROWTH) {
        errors.push(format!("{what}: leaked {:.0} MiB", after.mib() - before.mib()));
    }
    if after.descriptors > before.descriptors {
        let leaked = after.descriptors - before.descriptors;
        errors.push(format!("{what}: leaked {leaked} descriptors; open: {:?}", open_now()));
    }
    // Tokio ends its blocking threads after some idle seconds.
    if after.threads > before.threads + 8 {
        errors.push(format!("{what}: leaked {} threads", after.threads - before.threads));
    }
    errors
}
