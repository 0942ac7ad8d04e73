//! Node in the sandbox and on the host in one run: times, their ratio, and memory.
//!
//! `cargo bench --bench node` runs each script five times and prints the best. Without the pack `node` it prints that and ends, and
//! without Node on the host it omits that column. `TIDEBOX_NATIVE_NODE` is another program of Node. `TIDEBOX_JUST_BASH` is a directory
//! with the npm package `just-bash`, whose command `js-exec` runs the same scripts. `cargo test --bench node` runs everything once.

use std::ffi::OsStr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tidebox::{ExecuteRequest, Packs, Sandbox, SandboxBackend, Upload};

/// The measured scripts, each with its label.
const ROWS: [(&str, &str); 9] = [
    ("start", "0"),
    (
        "start, and ten modules",
        "for (const id of ['fs', 'path', 'os', 'util', 'events', 'stream', 'crypto', 'http', 'zlib', 'child_process']) require(id);",
    ),
    (
        "loop of 10 million steps",
        "let sum = 0; for (let at = 0; at < 1e7; at++) sum = (sum + at * 7) % 1000003; console.log(sum)",
    ),
    ("fib(25)", "const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2)); console.log(fib(25))"),
    (
        "1 MB of JSON, parsed and written",
        "const text = JSON.stringify(Array.from({ length: 16000 }, (_, id) => ({ id, name: `name ${id}`, tags: ['a', 'b'] }))); \
         console.log(text.length, JSON.stringify(JSON.parse(text)).length)",
    ),
    ("string of 300,000 parts", "let text = ''; for (let at = 0; at < 3e5; at++) text += at; console.log(text.length)"),
    (
        "sort 100,000 numbers",
        "console.log(Array.from({ length: 1e5 }, (_, at) => (at * 7919) % 100003).sort((a, b) => a - b)[5])",
    ),
    ("SHA-256 of 10 MB", "console.log(require('crypto').createHash('sha256').update(Buffer.alloc(1e7)).digest('hex'))"),
    (
        "50 requests to a server in the same process",
        "const server = require('http').createServer((q, s) => s.end('x')).listen(0, async () => { for (let at = 0; at < 50; at++) \
         await (await fetch(`http://127.0.0.1:${server.address().port}`)).text(); server.close(); server.closeAllConnections(); })",
    ),
];

/// Processor time is shared with other programs, so the best run counts.
const RUNS: usize = 5;

fn main() {
    let runs = if std::env::args().any(|argument| argument == "--bench") { RUNS } else { 1 };
    if !Packs::user().ready().iter().any(|pack| pack.name() == "node") {
        eprintln!("skipped: the pack node is not installed; run `cargo xtask pack node`, then `tidebox pack add node`");
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let sandbox = tidebox::sandbox().and_then(|builder| builder.build()).expect("the sandbox is built");
    let program = std::env::var("TIDEBOX_NATIVE_NODE").unwrap_or_else(|_| "node".into());
    let version = Command::new(&program).arg("--version").output().ok();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    eprintln!("host: {}", version.as_deref().unwrap_or("no Node"));
    let just_bash = std::env::var_os("TIDEBOX_JUST_BASH");
    eprintln!("| script | sandbox | host | ratio | js-exec | ratio | memory |\n|---|---|---|---|---|---|---|");
    for (label, script) in ROWS {
        let ours = (0..runs).map(|_| runtime.block_on(inside(&sandbox, script))).min().expect("at least one run");
        let theirs = version.as_ref().and_then(|_| (0..runs).map(|_| outside(&program, script)).min());
        let memory = ours.1 as f64 / f64::from(1 << 20);
        let other = just_bash.as_ref().and_then(|dir| js_exec(&program, dir, script, runs));
        let [theirs, other] = [theirs, other].map(|time| match time {
            Some(time) => format!("{} | {:.2}", format_time(time), ours.0.as_secs_f64() / time.as_secs_f64()),
            None => "- | -".into(),
        });
        eprintln!("| {label} | {} | {theirs} | {other} | {memory:.1} MiB |", format_time(ours.0));
    }
}

/// Returns the time and the peak memory of a script in the sandbox.
async fn inside(sandbox: &Sandbox, script: &str) -> (Duration, u64) {
    let upload = Upload::new("/workspace/script.js", script.as_bytes().to_vec());
    sandbox.upload_files(vec![upload]).await.expect("the sandbox responds");
    let start = Instant::now();
    let response = sandbox.execute(ExecuteRequest::new("exec node script.js")).await.expect("the sandbox runs");
    assert_eq!(response.exit_code, Some(0), "{script}: {}", response.stderr_text());
    (start.elapsed(), response.peak_memory_bytes)
}

/// Returns the time of a script on the host.
fn outside(program: &str, script: &str) -> Duration {
    let dir = tempfile::tempdir().expect("a directory is created");
    let path = dir.path().join("script.js");
    std::fs::write(&path, script).expect("written");
    let start = Instant::now();
    let status = Command::new(program).arg(&path).stdout(Stdio::null()).stdin(Stdio::null()).status();
    assert!(status.expect("Node starts").success(), "{script}");
    start.elapsed()
}

/// Returns the shortest time of a script by `js-exec`, or nothing if it fails.
fn js_exec(program: &str, dir: &OsStr, script: &str, runs: usize) -> Option<Duration> {
    let driver = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/js_exec.mjs");
    let mut command = Command::new(program);
    command.args(["--no-warnings", driver]).arg(dir).args([script, &runs.to_string()]).stdin(Stdio::null());
    let output = command.output().expect("Node starts");
    let ms: f64 = output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().parse().ok())??;
    Some(Duration::from_secs_f64(ms / 1e3))
}

fn format_time(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    if ms < 10.0 { format!("{ms:.2} ms") } else { format!("{ms:.0} ms") }
}
