//! Python in the sandbox and on the host in one run: medians and their ratio.
//!
//! `cargo bench --bench python`. If the pack or the host's `python3` is missing, it prints that and measures the other one.

use std::process::Command;
use std::time::{Duration, Instant};

use tidebox::{ExecuteRequest, Limits, Packs, PythonExt, Sandbox, SandboxBackend, SavedPythonSession};

/// Measured programs: name, source and number of runs.
const WORK: [(&str, &str, usize); 7] = [
    ("start", "print(1)", 30),
    ("loop of 10 million", "t = 0\nfor i in range(10**7): t += i", 3),
    ("sum of a million squares", "print(sum(i * i for i in range(10**6)))", 5),
    ("a dictionary of a million", "d = {i: str(i) for i in range(10**6)}; print(len(d))", 3),
    (
        "100,000 lines written and read",
        "open('/tmp/lines', 'w').writelines(f'{i}\\n' for i in range(10**5)); print(sum(map(int, open('/tmp/lines'))))",
        5,
    ),
    ("import numpy, a product of 500 x 500", "import numpy as n; a = n.ones((500, 500)); print((a @ a).sum())", 5),
    (
        "import pandas, 100,000 rows grouped",
        "import pandas as p; print(p.DataFrame({'a': [1, 2] * 50000, 'b': range(10**5)}).groupby('a').b.mean().sum())",
        5,
    ),
];

fn main() {
    // `cargo test --bench` only checks that it works.
    let once = std::env::args().any(|argument| argument == "--test") || !std::env::args().any(|a| a == "--bench");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let sandbox = Packs::user()
        .ready()
        .iter()
        .any(|pack| pack.name() == "python")
        .then(|| tidebox::sandbox().expect("the engine starts").build().expect("the sandbox is built"));
    if sandbox.is_none() {
        eprintln!("the pack python is not installed; run `tidebox pack add python`");
    }
    eprintln!("{:38} {:>10} {:>10} {:>7}", "", "sandbox", "host", "ratio");
    for (name, program, times) in WORK {
        let times = if once { 1 } else { times };
        let ours = sandbox.as_ref().and_then(|sandbox| median(times, || runtime.block_on(inside(sandbox, program))));
        let theirs = median(times, || outside(program));
        let ratio = ours.zip(theirs).map(|(ours, theirs)| ours.as_secs_f64() / theirs.as_secs_f64());
        let ratio = ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
        eprintln!("{name:38} {:>10} {:>10} {ratio:>7}", format_time(ours), format_time(theirs));
    }
    if let Some(sandbox) = &sandbox {
        runtime.block_on(measure_saved_sessions(sandbox, if once { 1 } else { 30 }));
    }
}

/// Variables and modules of a saved session.
const SESSION: &str =
    "import json, re, collections, datetime; rows = [{'id': i, 'name': f'row {i}'} for i in range(1000)]";

/// Measures saving a session, and continuing it up to its first result from bytes and in a fork.
async fn measure_saved_sessions(sandbox: &Sandbox, times: usize) {
    let mut session = sandbox.python_session().expect("python is installed");
    session.run(SESSION).await.expect("the interpreter runs");
    let (mut save, mut resume, mut fork) = (Vec::new(), Vec::new(), Vec::new());
    let mut size = 0;
    for _ in 0..times {
        let start = Instant::now();
        let bytes = session.save().await.expect("it can be saved").to_bytes();
        save.push(start.elapsed());
        size = bytes.len();

        let start = Instant::now();
        let saved = SavedPythonSession::from_bytes(&bytes, &Limits::default()).expect("it is a saved session");
        let mut resumed = sandbox.resume_python_session(&saved).await.expect("it continues");
        resumed.run("len(rows)").await.expect("the interpreter runs");
        resume.push(start.elapsed());

        let start = Instant::now();
        let saved = session.save().await.expect("it can be saved");
        let forked = sandbox.fork().expect("it can be forked");
        let session = forked.resume_python_session(&saved).await.expect("it continues");
        fork.push(start.elapsed());
        drop(session);
    }
    eprintln!("{:38} {:>10}", "save a session to bytes", format_time(median_of(save)));
    eprintln!("{:38} {:>10}", "resume it from bytes, first result", format_time(median_of(resume)));
    eprintln!("{:38} {:>10}", "fork a sandbox and its session", format_time(median_of(fork)));
    eprintln!("{:38} {:>10}", "size of a saved session", format!("{} KiB", size >> 10));
}

fn median_of(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

/// Returns the median of some runs after one warm-up run, or `None` if one fails.
fn median(times: usize, mut run: impl FnMut() -> Option<Duration>) -> Option<Duration> {
    run()?;
    median_of((0..times).map(|_| run()).collect::<Option<_>>()?)
}

async fn inside(sandbox: &Sandbox, program: &str) -> Option<Duration> {
    let request = ExecuteRequest::new("exec python3 -c \"$PROGRAM\"").with_env("PROGRAM", program);
    let start = Instant::now();
    let response = sandbox.execute(request).await.expect("the sandbox runs");
    (response.exit_code == Some(0)).then(|| start.elapsed())
}

fn outside(program: &str) -> Option<Duration> {
    let start = Instant::now();
    let output = Command::new("python3").args(["-c", program]).output().ok()?;
    output.status.success().then(|| start.elapsed())
}

fn format_time(time: Option<Duration>) -> String {
    time.map_or_else(|| "-".to_owned(), |time| format!("{:.2} ms", time.as_secs_f64() * 1e3))
}
