//! Python in the sandbox and on the host in one run: medians and their ratio.
//!
//! `cargo bench --bench python`. If the pack or the host's `python3` is missing, it prints that and measures the other one.

use std::process::Command;
use std::time::{Duration, Instant};

use tidebox::{ExecuteRequest, Packs, Sandbox, SandboxBackend};

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
}

/// Returns the median of some runs after one warm-up run, or `None` if one fails.
fn median(times: usize, mut run: impl FnMut() -> Option<Duration>) -> Option<Duration> {
    run()?;
    let mut taken = (0..times).map(|_| run()).collect::<Option<Vec<_>>>()?;
    taken.sort_unstable();
    taken.get(times / 2).copied()
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
