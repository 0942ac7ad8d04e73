//! Guests and scripts on Wasmtime and on the JavaScript engine: output, exit status and files must be identical.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde_json::{Map, json};
use tidebox::{ExecuteRequest, ExecuteResponse, Limits, Runtime, RuntimeConfig, SandboxBackend, SandboxId, StopReason};

use crate::backend::Class;
use crate::format;
use crate::guest;
use crate::node::{self, Node};

/// 2026-11-21, in milliseconds.
const TODAY: u64 = 1_795_219_200_000;

const SEED: u64 = 20_261_122;

/// Memory limit of a process: small, so that guests which exhaust it are fast.
const PROCESS_MEMORY_BYTES: u64 = 64 << 20;

const ID: &str = "sb-parity";

/// Number of random call sequences, and calls per sequence.
const SEEDS: u64 = 24;
const STEPS: u32 = 200;

/// Recorded cases in which a program is signalled by another one while it runs.
const SIGNALLED: [&str; 2] = ["dd asked how far it is", "an interrupt while a program runs that takes it"];

/// Scripts of `tests/determinism` whose results depend on the scheduling order. Without JSPI programs run one after the other.
const AT_THE_SAME_TIME: [&str; 23] = [
    "background_writers",
    "broken_pipe",
    "coprocesses_by_hand",
    "kill_background",
    "killed_by_the_end",
    "many_processes",
    "named_pipes",
    "nested_background",
    "proc_of_others",
    "process_substitution",
    "ps",
    "race_for_a_lock",
    "race_on_a_file",
    "read_with_timeout",
    "signals_in_a_loop",
    "spin_for_a_file",
    "spin_with_sleep",
    "tee_many",
    "timeout",
    "timeout_in_background",
    "wait_for_pids",
    "wait_n",
    "xargs_parallel_sleep",
];

/// One command line in a separate sandbox.
struct Play {
    name: String,
    files: Vec<(String, Vec<u8>)>,
    script: String,
}

/// The compared results.
#[derive(Debug, PartialEq, Eq)]
struct Observation {
    stdout: String,
    stderr: String,
    exit_code: Option<i32>,
    stopped_by: Option<StopReason>,
    /// The files with times and modes, as a tar archive.
    files: Vec<u8>,
}

impl Observation {
    fn new(response: ExecuteResponse, files: Vec<u8>) -> Self {
        // Escape bytes outside ASCII, so that invalid UTF-8 is compared exactly.
        let exact = |bytes: Vec<u8>| bytes.escape_ascii().to_string().replace("\\n", "\n");
        let (stdout, stderr) = (exact(response.stdout), exact(response.stderr));
        Self { stdout, stderr, exit_code: response.exit_code, stopped_by: response.stopped_by, files }
    }
}

/// The runtime of the package: without optional runtimes, whose files would change inode numbers.
fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let mut config = RuntimeConfig::default();
        config.packs.clear();
        Runtime::new(config).expect("the engine starts")
    })
}

async fn natively(play: &Play) -> Observation {
    let mut limits = Limits::default();
    limits.process_memory_bytes = PROCESS_MEMORY_BYTES;
    let id = SandboxId::parse(ID).expect("an id");
    let mut builder = runtime().sandbox().limits(limits).id(id).env("TZ", "UTC");
    builder = builder.deterministic(SEED, TODAY * 1_000_000);
    for (path, bytes) in &play.files {
        builder = builder.file(path.as_str(), bytes.as_slice());
    }
    let sandbox = builder.build().expect("the sandbox is built");
    let response = sandbox.execute(ExecuteRequest::new(&play.script)).await.expect("it responds");
    let mut files = Vec::new();
    sandbox.snapshot().expect("it is open").to_tar(&mut files).expect("memory takes what is written");
    Observation::new(response, files)
}

async fn in_javascript(node: &Arc<Node>, play: &Play) -> Observation {
    let files: Map<_, _> = play.files.iter().map(|(path, bytes)| (path.clone(), node::bytes(bytes))).collect();
    let options = json!({
        "id": ID, "files": files, "env": { "TZ": "UTC" }, "limits": { "processMemoryBytes": PROCESS_MEMORY_BYTES },
        "deterministic": { "seed": SEED, "timeMs": TODAY },
    });
    let class = Class::create(node, options).await;
    let response = class.execute(ExecuteRequest::new(&play.script)).await.expect("it responds");
    let files = class.tar().await;
    class.close().await.expect("it closes");
    Observation::new(response, files)
}

/// Runs all command lines on both engines. `left_out` returns a reason to skip one without JSPI.
async fn compare(plays: &[Play], left_out: impl Fn(&Play) -> Option<&'static str>) {
    let node = Node::start();
    let (mut same, mut skipped, mut different) = (0, 0, Vec::new());
    for play in plays {
        if let Some(reason) = left_out(play).filter(|_| !node.suspends()) {
            println!("skipped  {}\n         {reason}", play.name);
            skipped += 1;
            continue;
        }
        let (native, javascript) = (natively(play).await, in_javascript(&node, play).await);
        if native == javascript {
            same += 1;
        } else {
            different.push(format_difference(&play.name, &native, &javascript));
        }
    }
    println!("{same} the same, {} different, {skipped} skipped", different.len());
    assert!(different.is_empty(), "{} are different\n{}", different.len(), different.join("\n"));
    assert!(same > 0, "none was played");
    node.finish();
}

fn format_difference(name: &str, native: &Observation, javascript: &Observation) -> String {
    let mut shown = format!("=== {name}\n");
    for (part, native, javascript) in [
        ("stdout", native.stdout.clone(), javascript.stdout.clone()),
        ("stderr", native.stderr.clone(), javascript.stderr.clone()),
        ("exit", format!("{:?}", native.exit_code), format!("{:?}", javascript.exit_code)),
        ("stopped by", format!("{:?}", native.stopped_by), format!("{:?}", javascript.stopped_by)),
    ] {
        if native != javascript {
            shown.push_str(&format!("--- {part} natively\n{native}\n--- {part} in JavaScript\n{javascript}\n"));
        }
    }
    if native.files != javascript.files {
        let (native, javascript) = (native.files.len(), javascript.files.len());
        shown.push_str(&format!("--- files: {native} bytes natively, {javascript} bytes in JavaScript\n"));
    }
    shown
}

fn guest_dir(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A small guest, started by the shell.
fn guest_of(name: &str, wat: &str) -> Play {
    let script = "chmod +x guest child; ./guest < input; echo \"ended with $?\"";
    let child = guest::compile(&guest::leave(42));
    let files = [("guest", guest::compile(wat)), ("child", child), ("input", b"a line of input\n".to_vec())];
    let files = files.map(|(name, bytes)| (name.to_owned(), bytes)).to_vec();
    Play { name: name.to_owned(), files, script: script.to_owned() }
}

#[tokio::test]
async fn small_guests_behave_identically() {
    let spawned = guest::spawn_and_exit_with_its_status("/workspace/child");
    let plays = [
        guest_of("nothing", guest::QUIET),
        guest_of("recursion without end", guest::DEEP),
        guest_of("memory without end", guest::HOG),
        guest_of("memory that is refused", guest::MODEST),
        guest_of("an import from nowhere", guest::FOREIGN_IMPORT),
        guest_of("a pointer without a memory", guest::WITHOUT_MEMORY),
        guest_of("a pipe that nobody reads", guest::WRITE_WITHOUT_READER),
        guest_of("an exit code of nine bits", &guest::leave(0x0107)),
        guest_of("words to standard output", &guest::print(1, "said\n")),
        guest_of("words to standard error", &guest::print(2, "careful\n")),
        guest_of("an hour's sleep", &guest::sleep(3600)),
        guest_of("a nap", &guest::sleep_milliseconds(20)),
        guest_of("a child that is spawned", &spawned),
        guest_of("a child that is forked", guest::FORK),
        guest_of("a fork without its entry", guest::FORK_WITHOUT_ENTRY),
        guest_of("no entry at all", "(module)"),
    ];
    compare(&plays, |_| None).await;
}

/// A call of the probe, which calls every function of preview1.
fn probed(name: &str) -> Play {
    let probe = std::fs::read(guest_dir("userland/dist/probe.wasm")).expect("the guest programs are built");
    let files = vec![("/data/probe".to_owned(), probe)];
    // Both preopened directories: 3 is `/`, 4 is the working directory.
    let script = format!("mkdir play; cd play; /data/probe 4 {name} < /dev/null; echo \"ended with $?\"; find . -ls");
    Play { name: name.to_owned(), files, script }
}

#[tokio::test]
async fn every_preview1_call_returns_the_same() {
    let listed = natively(&probed("list")).await.stdout;
    let names = listed.lines().take_while(|line| !line.starts_with("ended with"));
    let mut plays: Vec<Play> = names.map(probed).collect();
    assert!(plays.len() > 120, "the probe has {} scenarios", plays.len());
    plays.extend((0..SEEDS).map(|seed| probed(&format!("random {seed} {STEPS}"))));
    compare(&plays, |_| None).await;
}

#[tokio::test]
async fn deterministic_scripts_behave_identically() {
    let entries = std::fs::read_dir(guest_dir("tests/determinism/scripts")).expect("the scripts exist");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.sort();
    let play = |path: &PathBuf| {
        let script = std::fs::read_to_string(path).expect("a script is text");
        Play { name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), files: Vec::new(), script }
    };
    let plays: Vec<Play> = paths.iter().map(play).collect();
    let together = |play: &Play| AT_THE_SAME_TIME.contains(&play.name.as_str());
    compare(&plays, |play| together(play).then_some("its programs must run at the same time, which takes JSPI")).await;
}

#[tokio::test]
async fn differences_from_bash_are_identical() {
    let entries = std::fs::read_dir(guest_dir("tests/spec/cases")).expect("the cases exist");
    let mut plays = Vec::new();
    for entry in entries {
        let text = std::fs::read_to_string(entry.expect("it can be listed").path()).expect("cases are text");
        let cases = format::parse(&text).expect("cases are well formed");
        plays.extend(cases.into_iter().filter(|case| case.differs.is_some()).map(|case| {
            let script = String::from_utf8(case.script).expect("a command line is text");
            Play { name: case.name, files: case.files, script }
        }));
    }
    let together = |play: &Play| SIGNALLED.contains(&play.name.as_str());
    compare(&plays, |play| together(play).then_some("a program is signalled while it runs, which takes JSPI")).await;
}
