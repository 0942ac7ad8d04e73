//! The shared suites over an adapter and its emulator.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tidebox::conformance::provider::{self, ProviderCapabilities, ProviderCase};
use tidebox::conformance::{self, Capabilities, Case, Need, Outcome, Report};
use tidebox::{Dialect, SandboxPath, SandboxProvider, Selector};

use crate::proved::Feature;
use crate::{adapter, emulator};

/// What of a sandbox is shown when all of these cases were run and passed, in both dialects.
const SANDBOX: [(Feature, &[&str]); 7] = [
    (
        Feature::Run,
        &[
            "execute: a command that succeeds has its output and exit code 0",
            "execute: every exit code arrives as it is",
            "execute: environment variables arrive as they are",
            "execute: a command starts in the directory that was given",
        ],
    ),
    (Feature::Streams, &["execute: standard output and standard error are told apart"]),
    (Feature::Live, &["execute_streaming: output arrives while the command runs"]),
    (
        Feature::Limit,
        &[
            "execute: a command whose time is up has exit code 124",
            "execute: what a command wrote before its time was up is kept",
        ],
    ),
    (
        Feature::Killed,
        &[
            "execute: a command whose time was up leaves nothing running",
            "execute: a command that ignores SIGTERM is stopped when its time is up",
        ],
    ),
    (Feature::Upload, &["upload_files: every byte stays as it is", "upload_files: ten megabytes arrive whole"]),
    (Feature::Download, &["upload_files: every byte stays as it is", "upload_files: ten megabytes arrive whole"]),
];

/// The same of a provider.
const PROVIDER: [(Feature, &[&str]); 5] = [
    (Feature::Make, &["get_or_create: without labels each sandbox is new, with an id of its own"]),
    (
        Feature::List,
        &[
            "list: what was made is listed with its labels",
            "list: pages hold every sandbox exactly once, in the same order each time",
        ],
    ),
    (
        Feature::Labels,
        &[
            "list: only sandboxes with the labels asked for are listed",
            "get_or_create: the same labels find the same sandbox",
        ],
    ),
    (
        Feature::Find,
        &["get_or_create: a sandbox is found by its id", "get_or_create: a sandbox that is found again has its files"],
    ),
    (Feature::Delete, &["delete: a deleted sandbox is not found by its id", "delete: a deleted sandbox is not listed"]),
];

/// The features all of whose cases passed.
fn shown(cases: &[(Feature, &[&str])], report: &Report) -> Vec<Feature> {
    let passed = |cases: &[&str]| cases.iter().all(|case| report.passed.contains(case));
    cases.iter().filter(|(_, cases)| passed(cases)).map(|(feature, _)| *feature).collect()
}

/// Sandboxes at the same time in each dialect. Cases mostly wait: for a second until a command is stopped, for an answer.
const LANES: usize = 4;

/// What one `execute` keeps of its output, so that a case can exceed it.
const OUTPUT_BYTES: u64 = 1 << 20;

/// What every adapter claims over its emulator. Transfers of all providers name files in URLs or in JSON.
fn claimed(dialect: Dialect) -> Capabilities {
    Capabilities {
        dialect,
        byte_names: false,
        output_bytes: Some(OUTPUT_BYTES),
        glob_files: Some(10_000),
        timeout_slack: Duration::from_secs(20),
        may_close: true,
        ..Capabilities::FULL
    }
}

/// Runs the whole suite in both dialects, each case in one of several sandboxes of one emulator.
pub(crate) async fn sandboxes_keep_it(name: &str, root: &str, claim: fn(&mut Capabilities)) -> Vec<Feature> {
    let serving = emulator(name).await;
    let root = SandboxPath::parse(root).expect("the path is absolute");
    let in_dialect = |dialect| {
        let mut options = serving.options();
        options.dialect = dialect;
        options.output_bytes = OUTPUT_BYTES;
        let mut capabilities = claimed(dialect);
        claim(&mut capabilities);
        suite(adapter(name, options), capabilities, root.clone())
    };
    let (js, python) = tokio::join!(in_dialect(Dialect::Js), in_dialect(Dialect::Python));
    for report in [&js, &python] {
        println!("{report}");
        report.assert();
    }
    let python = shown(&SANDBOX, &python);
    shown(&SANDBOX, &js).into_iter().filter(|feature| python.contains(feature)).collect()
}

async fn suite(provider: Arc<dyn SandboxProvider>, capabilities: Capabilities, root: SandboxPath) -> Report {
    let (closing, cases): (Vec<&Case>, Vec<&Case>) =
        conformance::cases().partition(|case| case.needs.iter().any(|need| matches!(need, Need::MayClose)));
    // The longest first, so that nobody waits for it at the end: ten thousand files, each in a request of its own.
    let (longest, others): (Vec<&Case>, Vec<&Case>) =
        cases.into_iter().partition(|case| case.needs.iter().any(|need| matches!(need, Need::GlobFiles)));
    let lane = |queue: Arc<Queue<&'static Case>>| {
        let (provider, capabilities, root) = (Arc::clone(&provider), capabilities.clone(), root.clone());
        async move {
            let sandbox = provider.get_or_create(Selector::any_new()).await.expect("it is made");
            let mut done = Done::new();
            while let Some((place, case)) = queue.next() {
                let begun = Instant::now();
                let outcome = case.run(&*sandbox, &capabilities, &root).await;
                done.push((place, case.name, outcome, begun.elapsed()));
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
    // What closes the sandbox has one to itself.
    done.extend(lane(Queue::new(closing)).await);
    report(done)
}

/// Runs the suite of providers, several cases at a time: each makes sandboxes with labels of its own.
pub(crate) async fn provider_keeps_it(name: &str) -> Vec<Feature> {
    let serving = emulator(name).await;
    let provider = adapter(name, serving.options());
    let queue = Queue::new(provider::cases().collect());
    let lane = |queue: Arc<Queue<&'static ProviderCase>>| {
        let provider = Arc::clone(&provider);
        async move {
            let capabilities = ProviderCapabilities::full();
            let mut done = Done::new();
            while let Some((place, case)) = queue.next() {
                let begun = Instant::now();
                let outcome = case.run(&*provider, &capabilities).await;
                done.push((place, case.name, outcome, begun.elapsed()));
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
    report.assert();
    shown(&PROVIDER, &report)
}

/// Cases that were run: their places in the suite, names, outcomes and times.
type Done = Vec<(usize, &'static str, Outcome, Duration)>;

/// Cases that wait for a lane.
struct Queue<C>(Mutex<VecDeque<(usize, C)>>);

impl<C: Copy> Queue<C> {
    fn new(cases: Vec<C>) -> Arc<Self> {
        Arc::new(Self(Mutex::new(cases.into_iter().enumerate().collect())))
    }

    fn next(&self) -> Option<(usize, C)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

/// The report in the order of the suite, after the cases that took longest.
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
