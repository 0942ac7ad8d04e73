//! Conformance suites of an adapter with its emulator.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tidebox_core::lock::Mutex;

use tidebox::conformance::provider::{self, ProviderCapabilities, ProviderCase};
use tidebox::conformance::{self, Capabilities, Case, CaseOutcome, Report, Requirement};
use tidebox::{Dialect, SandboxPath, SandboxProvider, Selector};

use crate::coverage::Feature;
use crate::{adapter, emulator, port_probe};

/// Features of a sandbox, each verified if all of its cases pass in both dialects.
const SANDBOX: [(Feature, &[&str]); 8] = [
    (
        Feature::Run,
        &[
            "execute: a successful command returns its output and exit code 0",
            "execute: every exit code is unchanged",
            "execute: environment variables are unchanged",
            "execute: a command starts in the requested directory",
        ],
    ),
    (Feature::Streams, &["execute: standard output and standard error are separate"]),
    (Feature::Live, &["execute_streaming: output arrives while the command runs"]),
    (Feature::Limit, &["execute: a timed-out command has exit code 124", "execute: output before the timeout is kept"]),
    (
        Feature::Killed,
        &[
            "execute: a timed-out command leaves no processes",
            "execute: a command that ignores SIGTERM is stopped at its timeout",
        ],
    ),
    (
        Feature::Processes,
        &[
            "spawn: a process outlives the call that started it",
            "read_process: readers see all output from any position",
            "read_process: a reader waits for output",
            "write_process: input arrives and ends",
            "signal_process: KILL ends a process that ignores TERM and its children",
        ],
    ),
    (Feature::Upload, &["upload_files: all byte values are unchanged", "upload_files: 10 MiB arrive complete"]),
    (Feature::Download, &["upload_files: all byte values are unchanged", "upload_files: 10 MiB arrive complete"]),
];

/// Features of a provider, verified in the same way.
const PROVIDER: [(Feature, &[&str]); 5] = [
    (Feature::Make, &["get_or_create: without labels each sandbox is new and has a unique id"]),
    (
        Feature::List,
        &[
            "list: a created sandbox is listed with its labels",
            "list: pages contain every sandbox once, in a stable order",
        ],
    ),
    (
        Feature::Labels,
        &[
            "list: only sandboxes with the requested labels are listed",
            "get_or_create: the same labels find the same sandbox",
        ],
    ),
    (
        Feature::Find,
        &[
            "get_or_create: a sandbox is found by its id",
            "get_or_create: a sandbox that is found again keeps its files",
        ],
    ),
    (Feature::Delete, &["delete: a deleted sandbox is not found by its id", "delete: a deleted sandbox is not listed"]),
];

/// Returns the features whose cases all passed.
fn verified_features(cases: &[(Feature, &[&str])], report: &Report) -> Vec<Feature> {
    let passed = |cases: &[&str]| cases.iter().all(|case| report.passed.contains(case));
    cases.iter().filter(|(_, cases)| passed(cases)).map(|(feature, _)| *feature).collect()
}

/// Concurrent sandboxes per dialect. Cases mostly wait: for a one-second timeout, or a response.
const LANES: usize = 4;

/// Output limit of one `execute`, small enough for a case to exceed it.
const OUTPUT_BYTES: u64 = 1 << 20;

/// Capabilities claimed by every adapter with its emulator. All providers transfer file names in URLs or JSON.
fn claimed(dialect: Dialect) -> Capabilities {
    Capabilities {
        dialect,
        non_utf8_names: false,
        output_bytes: Some(OUTPUT_BYTES),
        glob_files: Some(10_000),
        timeout_tolerance: Duration::from_secs(20),
        allow_close: true,
        terminals: false,
        ports: Some(port_probe::get),
        keeps_background: false,
        ..Capabilities::FULL
    }
}

/// Runs the whole suite in both dialects, with several sandboxes of one emulator in parallel.
pub(crate) async fn sandbox_suite_passes(name: &str, root: &str, claim: fn(&mut Capabilities)) -> Vec<Feature> {
    let serving = emulator(name).await;
    let root = SandboxPath::parse(root).expect("the path is absolute");
    let in_dialect = |dialect| {
        let mut options = serving.options();
        if name == "modal" {
            // Modal opens ports only when it creates a sandbox.
            options = options.with_extra("ports", "8731,8732");
        }
        options.dialect = dialect;
        options.output_bytes = OUTPUT_BYTES;
        let mut capabilities = claimed(dialect);
        capabilities.terminals = ["daytona", "e2b"].contains(&name);
        claim(&mut capabilities);
        suite(adapter(name, options), capabilities, root.clone())
    };
    let (js, python) = tokio::join!(in_dialect(Dialect::Js), in_dialect(Dialect::Python));
    for report in [&js, &python] {
        println!("{report}");
        report.assert_success();
    }
    let python = verified_features(&SANDBOX, &python);
    verified_features(&SANDBOX, &js).into_iter().filter(|feature| python.contains(feature)).collect()
}

async fn suite(provider: Arc<dyn SandboxProvider>, capabilities: Capabilities, root: SandboxPath) -> Report {
    let (closing, cases): (Vec<&Case>, Vec<&Case>) = conformance::cases()
        .partition(|case| case.requirements.iter().any(|need| matches!(need, Requirement::AllowClose)));
    // Slowest case first, so that it does not run alone at the end: ten thousand files, one request each.
    let (longest, others): (Vec<&Case>, Vec<&Case>) =
        cases.into_iter().partition(|case| case.requirements.iter().any(|need| matches!(need, Requirement::GlobFiles)));
    let lane = |queue: Arc<Queue<&'static Case>>| {
        let (provider, capabilities, root) = (Arc::clone(&provider), capabilities.clone(), root.clone());
        async move {
            let sandbox = provider.get_or_create(Selector::any_new()).await.expect("created");
            let mut done = Done::new();
            while let Some((place, case)) = queue.next() {
                let started = Instant::now();
                let outcome = case.run(&*sandbox, &capabilities, &root).await;
                done.push((place, case.name, outcome, started.elapsed()));
            }
            done
        }
    };
    let mut done = Done::new();
    let queue = Queue::new([longest, others].concat());
    let lanes: Vec<_> = (0..LANES).map(|_| tokio::spawn(lane(Arc::clone(&queue)))).collect();
    for lane in lanes {
        done.extend(lane.await.expect("a case does not panic"));
    }
    // A case that closes the sandbox gets its own.
    done.extend(lane(Queue::new(closing)).await);
    report(done)
}

/// Runs the provider suite with several cases in parallel; each case creates sandboxes with its own labels.
pub(crate) async fn provider_suite_passes(name: &str) -> Vec<Feature> {
    let serving = emulator(name).await;
    let provider = adapter(name, serving.options());
    let queue = Queue::new(provider::cases().collect());
    let lane = |queue: Arc<Queue<&'static ProviderCase>>| {
        let provider = Arc::clone(&provider);
        async move {
            let capabilities = ProviderCapabilities::full();
            let mut done = Done::new();
            while let Some((place, case)) = queue.next() {
                let started = Instant::now();
                let outcome = case.run(&*provider, &capabilities).await;
                done.push((place, case.name, outcome, started.elapsed()));
            }
            done
        }
    };
    let lanes: Vec<_> = (0..LANES).map(|_| tokio::spawn(lane(Arc::clone(&queue)))).collect();
    let mut done = Done::new();
    for lane in lanes {
        done.extend(lane.await.expect("a case does not panic"));
    }
    let report = report(done);
    println!("{report}");
    report.assert_success();
    verified_features(&PROVIDER, &report)
}

/// Finished cases: index in the suite, name, outcome and duration.
type Done = Vec<(usize, &'static str, CaseOutcome, Duration)>;

/// Cases waiting for a sandbox.
struct Queue<C>(Mutex<VecDeque<(usize, C)>>);

impl<C: Copy> Queue<C> {
    fn new(cases: Vec<C>) -> Arc<Self> {
        Arc::new(Self(Mutex::new(cases.into_iter().enumerate().collect())))
    }

    fn next(&self) -> Option<(usize, C)> {
        self.0.lock().pop_front()
    }
}

/// Returns the report in suite order, after the slowest cases.
fn report(mut done: Done) -> Report {
    done.sort_by_key(|(.., time)| std::cmp::Reverse(*time));
    for (_, name, _, time) in done.iter().take(8) {
        println!("{:6.1} s  {name}", time.as_secs_f64());
    }
    done.sort_by_key(|(place, ..)| *place);
    let mut report = Report::default();
    for (_, name, outcome, _) in done {
        report.add(name, outcome);
    }
    report
}
