//! Our preview1 against wasmtime-wasi's: the same guest, the same tree, and the same answers to every call.

mod component;
mod difference;
mod known;
mod ours;
mod theirs;
mod tree;

use std::path::Path;
use std::sync::LazyLock;

use difference::{Difference, unexplained, unused};
use ours::Ours;
use theirs::Theirs;
use tree::Tree;

/// Random sequences, and the calls of each. `TIDEBOX_ORACLE_SEEDS` asks for more of them; they take 10 ms each.
const SEEDS: u64 = 200;
const STEPS: u32 = 200;

/// One way to start the probe.
#[derive(Clone, Debug)]
pub(crate) struct Call(Vec<String>);

impl Call {
    /// `fd` is the preopened directory to play in: 3 is `/` and 4 is the working directory, which is `/` here.
    fn new(fd: u32, words: &str) -> Self {
        Self(std::iter::once(fd.to_string()).chain(words.split(' ').map(str::to_owned)).collect())
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

/// How the probe ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Exit(i32),
    /// It was ended, with what the host said about it.
    Ended(String),
}

/// What came of one start.
#[derive(Debug)]
pub(crate) struct Run {
    text: String,
    end: End,
    tree: Tree,
}

/// Both implementations, each with the probe compiled once.
static BOTH: LazyLock<(Theirs, Ours)> = LazyLock::new(|| {
    let probe = guest("probe.wasm");
    (Theirs::new(&probe), Ours::new(&probe))
});

/// Both again, with the probe as a component.
static BOTH_COMPONENTS: LazyLock<(component::Theirs, Ours)> = LazyLock::new(|| {
    let probe = guest("probe.component.wasm");
    (component::Theirs::new(&probe), Ours::new(&probe))
});

fn guest(name: &str) -> Vec<u8> {
    // As it is now, and not when this was built: a folder for builds may serve several clones.
    let package = std::env::var("CARGO_MANIFEST_DIR").expect("cargo and nextest set it for tests");
    let path = Path::new(&package).join("../userland/dist").join(name);
    std::fs::read(&path).unwrap_or_else(|error| {
        panic!("{}: {error}\nthe guest programs are not built; run `cargo xtask userland`", path.display())
    })
}

/// The names that `probe FD list` prints, faulty calls apart.
fn names() -> (Vec<String>, Vec<String>) {
    let list = BOTH.0.run(&Call::new(3, "list")).text;
    list.lines().map(str::to_owned).partition(|name| !name.starts_with("fault "))
}

/// Plays `name` on both and collects what `table` does not explain.
fn compare(fd: u32, name: &str, table: &[Difference]) -> Vec<String> {
    let (theirs, ours) = &*BOTH;
    let call = Call::new(fd, name);
    judge(name, theirs.run(&call), ours.run(&call), table)
}

/// The same for components. Where the adapter ends the probe, for a path that is not UTF-8 for example, it does so on both.
fn compare_components(name: &str, table: &[Difference]) -> Vec<String> {
    let (theirs, ours) = &*BOTH_COMPONENTS;
    let call = Call::new(3, name);
    let (theirs, ours) = (theirs.run(&call), ours.run(&call));
    let mut found = unexplained(name, &theirs, &ours, table);
    match (&theirs.end, &ours.end) {
        (End::Ended(_), End::Ended(_)) => {}
        (theirs, ours) if theirs == ours => {}
        (theirs, ours) => found.push(format!("{name}: they end with {theirs:?}, we with {ours:?}")),
    }
    found
}

fn judge(name: &str, theirs: Run, ours: Run, table: &[Difference]) -> Vec<String> {
    let mut found = unexplained(name, &theirs, &ours, table);
    for (who, end) in [("they", theirs.end), ("we", ours.end)] {
        if end != End::Exit(0) {
            found.push(format!("{name}: {who} ended it: {end:?}"));
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
fn every_scenario_is_answered_as_wasmtime_wasi_does_but_for_listed_differences() {
    let (scenarios, _) = names();
    assert!(scenarios.len() > 70, "the probe plays {} scenarios", scenarios.len());
    let table = known::in_scenarios();
    let mut found: Vec<String> = scenarios.iter().flat_map(|name| compare(3, name, &table)).collect();
    found.extend(unused(&table));
    expect_none(&found);
}

#[test]
fn the_working_directory_of_a_plain_guest_answers_like_the_root_that_it_is() {
    let (scenarios, _) = names();
    let table = known::in_scenarios();
    let found: Vec<String> = scenarios.iter().flat_map(|name| compare(4, name, &table)).collect();
    expect_none(&found);
}

#[test]
fn random_sequences_are_answered_as_wasmtime_wasi_does_but_for_listed_differences() {
    let table = known::in_random_sequences();
    let mut found = Vec::new();
    let wanted = std::env::var("TIDEBOX_ORACLE_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    for seed in 0..wanted.unwrap_or(SEEDS).max(SEEDS) {
        let name = format!("random {seed} {STEPS}");
        let fd = if seed % 4 < 2 { 3 } else { 4 };
        found.extend(compare(fd, &name, &table));
    }
    found.extend(unused(&table));
    expect_none(&found);
}

/// They end a guest that passes an address outside its memory or a value that the witx lacks. A program should not die
/// of what it can be told, so we answer an error, mostly.
#[test]
fn what_wasmtime_wasi_ends_a_guest_for_is_answered_with_an_error() {
    let (theirs, ours) = &*BOTH;
    let (_, faults) = names();
    let mut table = known::faults();
    let mut found = Vec::new();
    for name in &faults {
        let call = Call::new(3, name);
        let (theirs, ours) = (theirs.run(&call), ours.run(&call));
        let said = ours.text.lines().last().unwrap_or_default();
        let (what, answer) = said.trim_start_matches("fault in ").split_once(": ").unwrap_or((said, "nothing"));
        let expected = table.remove(what).unwrap_or("fault");
        if answer != expected || ours.end != End::Exit(0) {
            found.push(format!("{what}: we answer {answer} and end with {:?}, not {expected}", ours.end));
        }
        if !matches!(theirs.end, End::Ended(_)) {
            found.push(format!("{what}: they no longer end the guest"));
        }
        if theirs.tree != ours.tree {
            found.push(format!("{what}: the tree changed"));
        }
    }
    found.extend(table.keys().map(|what| format!("listed but not seen: {what}")));
    assert!(faults.len() > 50, "the probe knows {} faulty calls", faults.len());
    expect_none(&found);
}

#[test]
fn exit_codes_are_the_guests_own() {
    let (theirs, ours) = &*BOTH;
    for code in [0, 1, 2, 42, 125] {
        let call = Call::new(3, &format!("exit {code}"));
        assert_eq!(theirs.run(&call).end, End::Exit(code));
        assert_eq!(ours.run(&call).end, End::Exit(code));
    }
    // They allow no code from 126 on; a shell needs 126, 127 and 128 + n.
    for (code, kept) in [(126, 126), (127, 127), (143, 143), (255, 255), (256, 0)] {
        let call = Call::new(3, &format!("exit {code}"));
        assert!(matches!(theirs.run(&call).end, End::Ended(_)), "they refuse {code}");
        assert_eq!(ours.run(&call).end, End::Exit(kept));
    }
}

#[test]
fn a_component_is_answered_as_wasmtime_wasi_does_but_for_listed_differences() {
    let (scenarios, _) = names();
    let own = known::in_components();
    let table: Vec<Difference> = known::in_scenarios().into_iter().chain(own).collect();
    let mut found: Vec<String> = scenarios.iter().flat_map(|name| compare_components(name, &table)).collect();
    // Of what modules differ in, components have no more than some.
    let own = table.get(known::in_scenarios().len()..).unwrap_or_default();
    found.extend(unused(own));
    expect_none(&found);
}
