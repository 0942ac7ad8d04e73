//! Compares preview1 with wasmtime-wasi's: the same guest, the same tree, and the same results of every call.

mod component;
mod difference;
mod expected_differences;
mod tidebox;
mod tree;
mod wasmtime;

use std::path::Path;
use std::sync::LazyLock;

use self::tidebox::TideboxProbe;
use self::wasmtime::WasmtimeProbe;
use difference::{Difference, unexplained, unused};
use tree::Tree;

/// Number of random sequences. `TIDEBOX_ORACLE_SEEDS` sets another number; they take 10 ms each.
const SEEDS: u64 = 200;
const STEPS: u32 = 200;

/// Arguments of one probe run.
#[derive(Clone, Debug)]
pub(crate) struct Call(Vec<String>);

impl Call {
    /// `fd` is the preopened directory to use: 3 is `/` and 4 is the working directory, which is `/` here.
    fn new(fd: u32, arguments: &str) -> Self {
        Self(std::iter::once(fd.to_string()).chain(arguments.split(' ').map(str::to_owned)).collect())
    }

    fn arguments(&self) -> Vec<String> {
        let name = "probe".to_owned();
        std::iter::once(name).chain(self.0.iter().cloned()).collect()
    }

    fn environment(&self) -> Vec<(String, String)> {
        [("HOME", "/"), ("EMPTY", ""), ("TEXT", "two words = \u{fc}")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec()
    }

    fn input(&self) -> &'static [u8] {
        b"a line of input\nand another\n"
    }
}

/// Exit of the probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProbeExit {
    Exit(i32),
    /// The host terminated it with this message.
    Terminated(String),
}

/// Result of one probe run.
#[derive(Debug)]
pub(crate) struct Run {
    text: String,
    exit: ProbeExit,
    tree: Tree,
}

/// Both implementations, each with the probe compiled once.
static BOTH: LazyLock<(WasmtimeProbe, TideboxProbe)> = LazyLock::new(|| {
    let probe = guest("probe.wasm");
    (WasmtimeProbe::new(&probe), TideboxProbe::new(&probe))
});

/// Both implementations, with the probe as a component.
static BOTH_COMPONENTS: LazyLock<(component::WasmtimeComponentProbe, TideboxProbe)> = LazyLock::new(|| {
    let probe = guest("probe.component.wasm");
    (component::WasmtimeComponentProbe::new(&probe), TideboxProbe::new(&probe))
});

fn guest(name: &str) -> Vec<u8> {
    // Read at run time, not at build time: several clones may share a target directory.
    let package = std::env::var("CARGO_MANIFEST_DIR").expect("cargo and nextest set it for tests");
    let path = Path::new(&package).join("../userland/dist").join(name);
    std::fs::read(&path).unwrap_or_else(|error| {
        panic!("{}: {error}\nthe guest programs are not built; run `cargo xtask userland`", path.display())
    })
}

/// Scenario names printed by `probe FD list`, with invalid calls separate.
fn list_scenarios() -> (Vec<String>, Vec<String>) {
    let list = BOTH.0.run(&Call::new(3, "list")).text;
    list.lines().map(str::to_owned).partition(|name| !name.starts_with("fault "))
}

/// Runs `name` on both and returns the differences that `table` does not explain.
fn compare(fd: u32, name: &str, table: &[Difference]) -> Vec<String> {
    let (wasmtime_run, tidebox_run) = &*BOTH;
    let call = Call::new(fd, name);
    compare_runs(name, wasmtime_run.run(&call), tidebox_run.run(&call), table)
}

/// Like [`compare`], for components. Where the adapter terminates the probe, for example for a path that is not UTF-8,
/// it does so on both.
fn compare_components(name: &str, table: &[Difference]) -> Vec<String> {
    let (wasmtime_run, tidebox_run) = &*BOTH_COMPONENTS;
    let call = Call::new(3, name);
    let (wasmtime_run, tidebox_run) = (wasmtime_run.run(&call), tidebox_run.run(&call));
    let mut found = unexplained(name, &wasmtime_run, &tidebox_run, table);
    match (&wasmtime_run.exit, &tidebox_run.exit) {
        (ProbeExit::Terminated(_), ProbeExit::Terminated(_)) => {}
        (wasmtime_run, tidebox_run) if wasmtime_run == tidebox_run => {}
        (wasmtime_run, tidebox_run) => {
            found.push(format!("{name}: wasmtime exits with {wasmtime_run:?}, Tidebox with {tidebox_run:?}"))
        }
    }
    found
}

fn compare_runs(name: &str, wasmtime_run: Run, tidebox_run: Run, table: &[Difference]) -> Vec<String> {
    let mut found = unexplained(name, &wasmtime_run, &tidebox_run, table);
    for (host, exit) in [("wasmtime", wasmtime_run.exit), ("Tidebox", tidebox_run.exit)] {
        if exit != ProbeExit::Exit(0) {
            found.push(format!("{name}: {host} terminated it: {exit:?}"));
        }
    }
    found
}

#[track_caller]
fn expect_none(found: &[String]) {
    let shown: Vec<&str> = found.iter().take(40).map(String::as_str).collect();
    assert!(found.is_empty(), "{} differences\n{}", found.len(), shown.join("\n"));
}

#[test]
fn scenarios_match_wasmtime_wasi_except_listed_differences() {
    let (scenarios, _) = list_scenarios();
    assert!(scenarios.len() > 70, "the probe has {} scenarios", scenarios.len());
    let table = expected_differences::in_scenarios();
    let mut found: Vec<String> = scenarios.iter().flat_map(|name| compare(3, name, &table)).collect();
    found.extend(unused(&table));
    expect_none(&found);
}

#[test]
fn a_plain_guests_working_directory_behaves_like_the_root() {
    let (scenarios, _) = list_scenarios();
    let table = expected_differences::in_scenarios();
    let found: Vec<String> = scenarios.iter().flat_map(|name| compare(4, name, &table)).collect();
    expect_none(&found);
}

#[test]
fn random_sequences_match_wasmtime_wasi() {
    let table = expected_differences::in_random_sequences();
    let mut found = Vec::new();
    let requested = std::env::var("TIDEBOX_ORACLE_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    for seed in 0..requested.unwrap_or(SEEDS).max(SEEDS) {
        let name = format!("random {seed} {STEPS}");
        let fd = if seed % 4 < 2 { 3 } else { 4 };
        found.extend(compare(fd, &name, &table));
    }
    found.extend(unused(&table));
    expect_none(&found);
}

/// wasmtime-wasi terminates a guest that passes an address outside its memory or a value that the witx lacks. Tidebox
/// mostly returns an error instead, because a program can handle that.
#[test]
fn invalid_calls_return_errors_instead_of_traps() {
    let (wasmtime_run, tidebox_run) = &*BOTH;
    let (_, faults) = list_scenarios();
    let mut table = expected_differences::faults();
    let mut found = Vec::new();
    for name in &faults {
        let call = Call::new(3, name);
        let (wasmtime_run, tidebox_run) = (wasmtime_run.run(&call), tidebox_run.run(&call));
        let message = tidebox_run.text.lines().last().unwrap_or_default();
        let (what, result) = message.trim_start_matches("fault in ").split_once(": ").unwrap_or((message, "nothing"));
        let expected = table.remove(what).unwrap_or("fault");
        if result != expected || tidebox_run.exit != ProbeExit::Exit(0) {
            found.push(format!(
                "{what}: Tidebox returns {result} and exits with {:?}, not {expected}",
                tidebox_run.exit
            ));
        }
        if !matches!(wasmtime_run.exit, ProbeExit::Terminated(_)) {
            found.push(format!("{what}: wasmtime no longer terminates the guest"));
        }
        if wasmtime_run.tree != tidebox_run.tree {
            found.push(format!("{what}: the tree changed"));
        }
    }
    found.extend(table.keys().map(|what| format!("listed but not observed: {what}")));
    assert!(faults.len() > 50, "the probe has {} invalid calls", faults.len());
    expect_none(&found);
}

#[test]
fn exit_codes_are_passed_through() {
    let (wasmtime_run, tidebox_run) = &*BOTH;
    for code in [0, 1, 2, 42, 125] {
        let call = Call::new(3, &format!("exit {code}"));
        assert_eq!(wasmtime_run.run(&call).exit, ProbeExit::Exit(code));
        assert_eq!(tidebox_run.run(&call).exit, ProbeExit::Exit(code));
    }
    // wasmtime-wasi allows no exit code from 126 up; a shell needs 126, 127 and 128 + n.
    for (code, expected_code) in [(126, 126), (127, 127), (143, 143), (255, 255), (256, 0)] {
        let call = Call::new(3, &format!("exit {code}"));
        assert!(matches!(wasmtime_run.run(&call).exit, ProbeExit::Terminated(_)), "wasmtime rejects {code}");
        assert_eq!(tidebox_run.run(&call).exit, ProbeExit::Exit(expected_code));
    }
}

#[test]
fn components_match_wasmtime_wasi_except_listed_differences() {
    let (scenarios, _) = list_scenarios();
    let own = expected_differences::in_components();
    let table: Vec<Difference> = expected_differences::in_scenarios().into_iter().chain(own).collect();
    let mut found: Vec<String> = scenarios.iter().flat_map(|name| compare_components(name, &table)).collect();
    // Components show only some of the differences of modules.
    let own = table.get(expected_differences::in_scenarios().len()..).unwrap_or_default();
    found.extend(unused(own));
    expect_none(&found);
}
