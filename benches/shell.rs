//! The shell and the start of every tool, compared with native bash and the native tools in the same run.
//!
//! `TIDEBOX_USERLAND=userland cargo bench --bench shell` uses the guest programs of that directory, so that a change of one does
//! not need a new host build.

#![allow(clippy::print_stdout, reason = "the table is what this program is for")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use serde::Deserialize;
use tidebox::{ExecuteRequest, Program, Runtime, RuntimeConfig, Sandbox, SandboxBackend};

/// Typical work of scripts. Each is one line of bash that ends with exit code 0.
const SCRIPTS: &[(&str, &str)] = &[
    ("while of 1,000 steps", "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done"),
    ("while of 100,000 steps", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"),
    ("for (( )) of 100,000 steps", "for ((i=0; i<100000; i++)); do :; done"),
    ("for over {1..20000}", "for i in {1..20000}; do :; done"),
    ("for over $(seq 100000)", "for i in $(seq 100000); do :; done"),
    ("appending to a string", "s=; for ((i=0; i<20000; i++)); do s+=abcdefghij; done; [ ${#s} = 200000 ]"),
    ("length of a long string", "printf -v s '%1000000s' x; for ((i=0; i<50; i++)); do n=${#s}; done"),
    ("appending to an array", "a=(); for ((i=0; i<20000; i++)); do a+=($i); done; [ ${#a[@]} = 20000 ]"),
    ("reading an array", "a=({1..10000}); n=0; for ((i=0; i<10000; i++)); do ((n += a[i])); done; [ $n = 50005000 ]"),
    ("all of an array of 100,000", "a=({1..100000}); set -- \"${a[@]}\"; b=(\"$@\"); [ ${#b[@]} = 100000 ]"),
    ("calling a function", "f() { local x=$1; r=$((x+1)); }; for ((i=0; i<10000; i++)); do f $i; done; [ $r = 10000 ]"),
    ("case", "for ((i=0; i<10000; i++)); do case $i in *1) a=1;; *[2-4]) a=2;; 5*|6*) a=3;; *) a=4;; esac; done"),
    ("replacing in a string", "printf -v s '%50000s' x; t=${s// /ab}; [ ${#t} = 99999 ]"),
    ("short replacements", "for ((i=0; i<10000; i++)); do t=a.b.c.$i; t=${t//./_}; u=${t##*_}; done; [ $u = 9999 ]"),
    (
        "while read over 10,000 lines",
        "n=0; while read -r a b; do n=$((n+1)); done < <(seq -f '%g words here' 10000); [ $n = 10000 ]",
    ),
    ("mapfile of 100,000 lines", "mapfile -t a < <(seq 100000); [ ${#a[@]} = 100000 ]"),
    ("substituting a builtin", "for ((i=0; i<1000; i++)); do x=$(echo $i); done; [ $x = 999 ]"),
    (
        "[[ =~ ]]",
        "for ((i=0; i<5000; i++)); do [[ line-$i-x =~ ^line-([0-9]+)-(.)$ ]]; done; [ ${BASH_REMATCH[1]} = 4999 ]",
    ),
    ("printf", "for ((i=0; i<10000; i++)); do printf '%05d %s\\n' $i text; done >/dev/null"),
    ("echo", "for ((i=0; i<20000; i++)); do echo line $i; done >/dev/null"),
    (
        "counting in an associative array",
        "declare -A c; for ((i=0; i<10000; i++)); do ((c[k$((i%100))]++)); done; [ ${#c[@]} = 100 ]",
    ),
    ("a here-document of 1 MB", "printf -v s '%1000000s' x; cat <<<\"$s\" | wc -c"),
    ("seq 1 300000 | wc -l", "seq 1 300000 | wc -l"),
    ("subshells", "for i in {1..50}; do (:); done"),
    ("pipelines of builtins", "for i in {1..20}; do echo a | read -r x; done"),
    ("pipelines of programs", "for i in {1..10}; do seq 9 | sort -r | head -1; done >/dev/null"),
];

fn sandbox() -> Sandbox {
    let mut config = RuntimeConfig::default();
    if let Some(userland) = std::env::var_os("TIDEBOX_USERLAND") {
        config.programs = tools(Path::new(&userland))
            .into_iter()
            .map(|module| {
                let wasm = std::fs::read(Path::new(&userland).join("dist").join(&module.file));
                Program::new(module.commands, wasm.unwrap_or_else(|error| panic!("{}: {error}", module.file)))
            })
            .collect();
    }
    let runtime = Runtime::new(config).expect("the engine starts");
    runtime.sandbox().build().expect("the sandbox is built")
}

#[derive(Deserialize)]
struct Tools {
    module: Vec<Module>,
}

#[derive(Deserialize)]
struct Module {
    file: String,
    commands: Vec<String>,
}

fn tools(userland: &Path) -> Vec<Module> {
    let registry = std::fs::read_to_string(userland.join("tools.toml")).expect("the directory has a tools.toml");
    toml::from_str::<Tools>(&registry).expect("the registry is well formed").module
}

fn waiting() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the runtime starts")
}

/// Runs a command line and returns its exit code.
fn run(waiting: &tokio::runtime::Runtime, sandbox: &Sandbox, command: &str) -> Option<i32> {
    waiting.block_on(sandbox.execute(ExecuteRequest::new(command))).expect("the command runs").exit_code
}

/// Runs a command line with the host's bash.
fn native(command: &str) -> Option<i32> {
    let mut bash = Command::new("bash");
    bash.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    bash.status().expect("bash runs").code()
}

fn scripts(c: &mut Criterion) {
    let (waiting, sandbox) = (waiting(), sandbox());
    let mut group = c.benchmark_group("shell");
    group.sample_size(10).measurement_time(Duration::from_millis(800)).warm_up_time(Duration::from_millis(200));
    for (name, script) in SCRIPTS {
        assert_eq!(run(&waiting, &sandbox, script), Some(0), "{script}");
        group.bench_function(*name, |b| b.iter(|| run(&waiting, &sandbox, script)));
        group.bench_function(format!("{name}, native"), |b| b.iter(|| native(script)));
    }
    group.finish();
}

/// Number of program starts in one measurement.
const STARTS: u32 = 20;

/// Number of repetitions. The shortest one counts, because other load on the host only adds time.
const ROUNDS: usize = 5;

/// Duration of the repetitions for the shells, long enough to outlast bursts of other load on the host.
const SHELL_TIME: Duration = Duration::from_secs(4);

/// Measures one more start in a script: a loop that starts the program minus one that does not, alternately.
fn start(run: &dyn Fn(&str), command: &str, at_least: Duration) -> Duration {
    let script =
        |command: &str| format!("for i in {{1..{STARTS}}}; do {command}; done >/dev/null 2>&1 </dev/null; true");
    let timed = |script: &str| {
        let started = Instant::now();
        run(script);
        started.elapsed()
    };
    let (with, without) = (script(command), script(":"));
    run(command);
    let started = Instant::now();
    let (mut shortest, mut empty) = (Duration::MAX, Duration::MAX);
    for _ in (0..).take_while(|&round| round < ROUNDS || started.elapsed() < at_least) {
        shortest = shortest.min(timed(&with));
        empty = empty.min(timed(&without));
    }
    shortest.saturating_sub(empty) / STARTS
}

/// Prints a table with one start of every command, and of the native command if the host has it.
fn starts(_: &mut Criterion) {
    let (waiting, sandbox) = (waiting(), sandbox());
    let ours = |script: &str| {
        run(&waiting, &sandbox, script);
    };
    let theirs = |script: &str| {
        native(script);
    };
    println!("{:14} {:>10} {:>10}", "start of", "here", "native");
    let modules = tools(&Path::new(env!("CARGO_MANIFEST_DIR")).join("userland"));
    // `yes` does not end, and the shells have a separate row.
    let names = modules.into_iter().flat_map(|module| module.commands);
    let names = names.filter(|name| !matches!(name.as_str(), "yes" | "bash" | "sh"));
    let shells = ["(:)", "sh -c :"].map(|command| (command.to_owned(), command.to_owned(), SHELL_TIME));
    // Every program accepts or rejects `--version`; either way it only starts.
    let programs = names.map(|name| (format!("/bin/{name} --version"), name, Duration::ZERO));
    for (command, name, time) in shells.into_iter().chain(programs) {
        let (here, native) = (start(&ours, &command, time), start(&theirs, &command, time));
        println!("{name:14} {here:>8.0?} {native:>10.0?}");
    }
}

criterion_group!(benches, scripts, starts);
criterion_main!(benches);
