//! Equal seeds give byte-identical runs: the scripts of the directory `scripts` are run repeatedly, under different conditions
//! each time.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tidebox::{ExecuteRequest, HostCall, OutputChunk, Sandbox, SandboxBackend};

/// 2026-11-21, in nanoseconds.
const TODAY: u64 = 1_795_219_200_000_000_000;

const SEED: u64 = 20_261_121;

/// All results of a run that a caller can observe.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    name: String,
    events: Vec<OutputChunk>,
    exit_code: Option<i32>,
    duration: Duration,
    /// The files with their times, as a tar archive.
    files: Vec<u8>,
}

impl Run {
    fn text(&self) -> String {
        let bytes: Vec<u8> = self.events.iter().flat_map(|event| event.bytes.clone()).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

fn scripts() -> Vec<(String, String)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/determinism/scripts");
    let mut scripts: Vec<_> = fs::read_dir(dir)
        .expect("the directory exists")
        .map(|entry| {
            let path = entry.expect("the directory can be listed").path();
            let name = path.file_stem().expect("a script has a name").to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).expect("a script is text"))
        })
        .collect();
    scripts.sort();
    assert!(scripts.len() >= 60, "there are {} scripts", scripts.len());
    scripts
}

fn sandbox() -> Sandbox {
    tidebox::sandbox().expect("the engine starts").deterministic(SEED, TODAY).build().expect("a sandbox is created")
}

async fn run_in(sandbox: &Sandbox, name: &str, script: &str) -> Run {
    let mut events = Vec::new();
    let mut sink = |event| events.push(event);
    let response = sandbox.execute_streaming(ExecuteRequest::new(script), &mut sink).await.expect("the script runs");
    assert_eq!(response.stopped_by, None, "{name} has to end by itself: {}", response.output_text());
    let files = sandbox.snapshot().expect("open").to_bytes();
    Run { name: name.to_owned(), events, exit_code: response.exit_code, duration: response.duration, files }
}

/// Runs every script in a separate sandbox.
fn run_all(scripts: &[(String, String)]) -> Vec<Run> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the runtime starts");
    scripts.iter().map(|(name, script)| runtime.block_on(run_in(&sandbox(), name, script))).collect()
}

fn compare(first: &[Run], second: &[Run], how: &str) {
    assert_eq!(first.len(), second.len());
    let mut different = Vec::new();
    for (one, other) in first.iter().zip(second) {
        if one != other {
            let files = if one.files == other.files { "" } else { " (the files differ)" };
            let text = format!("first:\n{}\nthen:\n{}", cut(&one.text()), cut(&other.text()));
            different.push(format!(
                "{}{files}: {:?} and {:?}, {} and {} events\n{text}",
                one.name,
                one.exit_code,
                other.exit_code,
                one.events.len(),
                other.events.len()
            ));
        }
    }
    assert!(different.is_empty(), "{how}, {} of {}:\n{}", different.len(), first.len(), different.join("\n"));
}

fn cut(text: &str) -> String {
    text.chars().take(600).collect()
}

/// Keeps every core busy until dropped, so that epochs and wake-ups occur at different times.
struct Load(Arc<AtomicBool>);

impl Load {
    fn new(threads: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        for _ in 0..threads {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::black_box((0..1000_u64).sum::<u64>());
                }
            });
        }
        Self(stop)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn scripts_give_identical_bytes_under_different_load() {
    let scripts = scripts();
    let first = run_all(&scripts);
    if let Ok(dir) = std::env::var("DETERMINISM_OUT") {
        for run in &first {
            fs::write(Path::new(&dir).join(&run.name), format!("{:?}\n{}", run.exit_code, run.text()))
                .expect("written");
        }
    }
    compare(&first, &run_all(&scripts), "again in the same thread");

    let mut reversed = scripts.clone();
    reversed.reverse();
    let mut backwards = run_all(&reversed);
    backwards.reverse();
    compare(&first, &backwards, "in the other order");

    let _load = Load::new(4);
    let (half, other_half) = scripts.split_at(scripts.len() / 2);
    let runs: Vec<Run> = std::thread::scope(|threads| {
        let running = [half, other_half].map(|part| threads.spawn(move || run_all(part)));
        running.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    compare(&first, &runs, "in two threads under load");
}

#[test]
fn concurrent_sandboxes_do_not_affect_each_others_output() {
    let scripts: Vec<_> = scripts().into_iter().step_by(5).collect();
    let first = run_all(&scripts);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(3).enable_all().build().expect("starts");
    let runs = runtime.block_on(async {
        let tasks: Vec<_> = scripts
            .iter()
            .cloned()
            .map(|(name, script)| tokio::spawn(async move { run_in(&sandbox(), &name, &script).await }))
            .collect();
        let mut runs = Vec::new();
        for task in tasks {
            runs.push(task.await.expect("no panic"));
        }
        runs
    });
    compare(&first, &runs, "all at once");
}

#[test]
fn a_long_lived_sandbox_and_its_fork_are_repeatable() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the runtime starts");
    let scripts: Vec<_> = scripts().into_iter().step_by(4).collect();
    let life = |fork_after: Option<usize>| {
        runtime.block_on(async {
            let (mut sandbox, mut runs) = (sandbox(), Vec::new());
            for (at, (name, script)) in scripts.iter().enumerate() {
                let script = format!("mkdir -p {name}; cd {name}; {script}");
                runs.push(run_in(&sandbox, name, &script).await);
                if fork_after == Some(at) {
                    sandbox = sandbox.fork().expect("open");
                }
            }
            runs
        })
    };
    let first = life(None);
    compare(&first, &life(None), "a second life");
    compare(&first, &life(Some(scripts.len() / 2)), "a life that a fork goes on with");
}

#[test]
fn different_seeds_give_different_runs() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the runtime starts");
    let run = |seed| {
        let sandbox = tidebox::sandbox().expect("starts").deterministic(seed, TODAY).build().expect("is created");
        let script =
            "echo $RANDOM; head -c 8 /dev/urandom | od -An -tx1; mktemp -u; shuf -n 1 -i 1-1000000; (echo $RANDOM)";
        runtime.block_on(run_in(&sandbox, "random", script))
    };
    assert_eq!(run(1), run(1));
    let (one, two) = (run(1).text(), run(2).text());
    for (one, two) in one.lines().zip(two.lines()) {
        assert_ne!(one, two);
    }
    assert_eq!(one.lines().count(), 5, "{one}");
}

#[test]
fn a_program_without_system_calls_stops_at_its_deadline() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the runtime starts");
    let sandbox = sandbox();
    runtime.block_on(sandbox.execute(ExecuteRequest::new("true"))).expect("runs");
    let started = Instant::now();
    let request =
        ExecuteRequest::new("while :; do :; done & while :; do :; done").with_timeout(Duration::from_millis(300));
    let response = runtime.block_on(sandbox.execute(request)).expect("runs");
    assert_eq!(response.exit_code, Some(124), "{}", response.output_text());
    let taken = started.elapsed();
    assert!((Duration::from_millis(300)..Duration::from_secs(10)).contains(&taken), "{taken:?}");
}

#[test]
fn other_tasks_of_the_caller_run_while_a_program_computes() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the runtime starts");
    let sandbox = sandbox();
    let ticks = runtime.block_on(async {
        let computing = sandbox.execute(ExecuteRequest::new("i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done"));
        let mut ticks = 0;
        let ticking = async {
            loop {
                tokio::time::sleep(Duration::from_millis(1)).await;
                ticks += 1;
            }
        };
        tokio::select! {
            response = computing => assert_eq!(response.expect("runs").exit_code, Some(0)),
            () = ticking => {}
        }
        ticks
    });
    assert!(ticks > 3, "{ticks} ticks");
}

#[test]
fn a_slow_host_tool_does_not_change_the_output() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the runtime starts");
    let script =
        "for n in 1 2 3; do slow $n & done; for i in 1 2 3 4; do (echo line $i) & done; wait; echo x | slow end";
    let run = |pause: u64| {
        let builder = tidebox::sandbox().expect("starts").deterministic(SEED, TODAY);
        let sandbox = builder.host_tool("slow", move |mut call: HostCall| async move {
            tokio::time::sleep(Duration::from_millis(pause)).await;
            let line = format!("slow {}\n", call.argument(1).unwrap_or_default());
            u8::from(call.stdout.write(line).await.is_err())
        });
        runtime.block_on(run_in(&sandbox.build().expect("a sandbox is created"), "slow", script))
    };
    let first = run(0);
    assert!(first.text().contains("line 4"), "{}", first.text());
    assert_eq!(run(7), first);
    assert_eq!(run(30), first);
}
