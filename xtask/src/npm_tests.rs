//! Tests of the npm package as users get it: packed, installed into an empty directory, and run by several versions of Node, by
//! Deno and by Chromium.

mod chromium;
mod emulators;
pub(crate) mod engines;
mod frameworks;
mod test_dir;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::npm;
use crate::pack_git;
use crate::pack_node;
use crate::project::Project;
use crate::step::{self, Progress, Run};

use emulators::Emulators;
use engines::Node;
use test_dir::Tests;

pub(crate) const RETRY: &str = "cargo xtask npm test";

/// Tests that watch for unhandled errors.
const GUARD: &str = "guard.test.mjs";

/// Tests for every version: the REPL-like use of the package, the file tools, and sandboxes at providers.
const MAIN: [&str; 4] = ["execute.test.mjs", "files.test.mjs", "remote.test.mjs", GUARD];

/// Tests of sandboxes with network access.
const NETWORK_TESTS: [&str; 10] = [
    "git.test.mjs",
    "mounts.test.mjs",
    "network.test.mjs",
    "node.test.mjs",
    "packs.test.mjs",
    "ports.test.mjs",
    "python.test.mjs",
    "python_sessions.test.mjs",
    "remote.test.mjs",
    "seed.test.mjs",
];

/// The value of the option `thread` that requires JSPI.
const CALLER: &str = "caller";

/// Tests that run once more with another value of the option `thread`: their sandboxes share a Worker by default, or do not, or
/// run in the caller's thread.
const THREADS: [(&str, &[&str]); 3] = [
    (
        "own",
        &[
            "abort.test.mjs",
            "connections.test.mjs",
            "execute.test.mjs",
            "hostile.test.mjs",
            "many.test.mjs",
            "ports.test.mjs",
            "restart.test.mjs",
        ],
    ),
    ("pool", &["mounts.test.mjs", "python.test.mjs", "python_sessions.test.mjs"]),
    (
        CALLER,
        &[
            "abort.test.mjs",
            "connections.test.mjs",
            "execute.test.mjs",
            "files.test.mjs",
            "hostile.test.mjs",
            "limits.test.mjs",
            "ports.test.mjs",
            "processes.test.mjs",
            "streaming.test.mjs",
        ],
    ),
];

/// The driver of Chromium.
const BROWSER: [&str; 7] = [
    "suite.test.mjs",
    "terminal.test.mjs",
    "bundlers.test.mjs",
    "workers.test.mjs",
    "requests.test.mjs",
    "packs.test.mjs",
    "providers.test.mjs",
];

/// The path of Deno below the directory of the package.
const DENO: &str = "node_modules/.bin/deno";

/// One of this many recorded cases runs; see `js-bindings/tests/spec_folder.mjs`.
const SPEC_EVERY: &str = "TIDEBOX_SPEC_EVERY";

/// Number of sandboxes that come and go in `js-bindings/tests/many.test.mjs`.
const MANY: &str = "TIDEBOX_MANY";

/// Packs the package and runs `js-bindings/tests`.
pub(crate) fn npm_tests(project: &Project, progress: &mut Progress) -> Result<()> {
    let archive = npm::pack(project, progress, npm::Types::Check)?;
    let tests = test_dir::prepare(project, progress, &archive)?;
    types(project, progress, &tests)?;
    let setting = Setting { project, emulators: Emulators::start(project, progress)? };
    let nodes = engines::nodes(project, progress);
    let runs = runs(progress, &setting, &tests, &nodes)?;
    progress.run_tests_in_parallel(runs, RETRY)
}

/// The test runs, the longest first, so that none of them is alone at the end.
fn runs(progress: &mut Progress, setting: &Setting<'_>, tests: &Tests, nodes: &[Node]) -> Result<Vec<Run>> {
    let fullest = engines::one_of_each_kind(nodes);
    let (full, partial): (Vec<&Node>, Vec<&Node>) =
        nodes.iter().partition(|node| fullest.contains(&node.version.as_str()));
    let jspi = nodes.iter().find(|node| node.jspi);
    let mut runs = Vec::new();
    if let Some(node) = jspi {
        runs.extend(browser(progress, setting, tests, node));
    }
    runs.extend(full.iter().rev().map(|node| everything(setting, tests, node)));
    runs.extend(full.iter().map(|node| compare_with_native(setting, &tests.dir, node, None)));
    runs.extend(deno(progress, setting, tests)?);
    runs.extend(partial.iter().map(|node| run(setting, &tests.dir, node, &MAIN)));
    runs.extend(full.iter().flat_map(|node| threads(setting, &tests.dir, node)));
    if let Some(node) = jspi {
        runs.push(compare_with_native(setting, &tests.dir, node, Some(CALLER)));
        // The tests include overlapping calls, which need JSPI.
        runs.push(run(setting, &tests.dir.join("deepagents"), node, &["agent.test.mjs", "tools.test.mjs"]));
        runs.extend(frameworks::runs(setting, tests, node));
        runs.push(run(setting, &tests.dir.join("examples"), node, &["examples.test.mjs"]));
    }
    Ok(runs)
}

/// Runs all test files with one version of Node.
fn everything(setting: &Setting<'_>, tests: &Tests, node: &Node) -> Run {
    let files: Vec<&str> = tests.files.iter().map(String::as_str).collect();
    let mut run = run(setting, &tests.dir, node, &files);
    if node.jspi && std::env::var_os(SPEC_EVERY).is_none() {
        // One engine runs all recorded cases and a thousand sandboxes, the others a part.
        run.command.env(SPEC_EVERY, "1").env(MANY, "1000");
    }
    run
}

/// Checks that public members are documented, and compiles a user's program in strict TypeScript, for each kind of module
/// resolution, with and without the types of Node.
fn types(project: &Project, progress: &mut Progress, tests: &Tests) -> Result<()> {
    let bindings = project.root.join("js-bindings");
    let mut documented = Command::new("node");
    documented.current_dir(&bindings).arg("build/documented.mjs");
    progress.run("check the documentation of the types", documented, RETRY)?;
    for config in ["nodenext", "node16", "bundler", "page"] {
        let mut tsc = npm::npm_command(&bindings, &["exec", "--", "tsc", "--typeRoots", "node_modules/@types", "-p"]);
        tsc.arg(tests.dir.join(format!("types/{config}.json")));
        progress.run(&format!("check a program of a user ({config})"), tsc, RETRY)?;
    }
    Ok(())
}

/// The servers and directories that all tests share.
#[derive(Debug)]
struct Setting<'a> {
    project: &'a Project,
    emulators: Emulators,
}

/// Runs test files in a directory with one version of Node.
fn run(setting: &Setting<'_>, dir: &Path, node: &Node, files: &[&str]) -> Run {
    of_engine(&format!("Node {}", node.version), &files.join(" "), command(setting, dir, node, files))
}

/// Runs tests with each value of the option `thread`.
fn threads(setting: &Setting<'_>, dir: &Path, node: &Node) -> Vec<Run> {
    let usable = THREADS.into_iter().filter(|(thread, _)| node.jspi || *thread != CALLER);
    let runs = usable.map(|(thread, files)| {
        let mut command = command(setting, dir, node, files);
        command.env("TIDEBOX_THREAD", thread);
        let what = format!("{} with the thread {thread}", files.join(" "));
        of_engine(&format!("Node {}", node.version), &what, command)
    });
    runs.collect()
}

/// Test of `tests/javascript` that runs with another value of the option `thread`.
const THREAD_TEST: &str = "conformance_suite";

/// Runs the Rust tests that drive Node: the backend contract, and the engine compared with Wasmtime. With a `thread`, only the
/// contract.
fn compare_with_native(setting: &Setting<'_>, dir: &Path, node: &Node, thread: Option<&str>) -> Run {
    let mut command =
        setting.project.cargo(&["test", "--locked", "--workspace", "--test", "javascript", "--", "--nocapture"]);
    if let Some(thread) = thread {
        command.arg(THREAD_TEST).env("TIDEBOX_THREAD", thread);
    }
    command.env("TIDEBOX_NPM_DIR", dir).env("TIDEBOX_NODE", &node.program);
    command.env("TIDEBOX_NODE_SUSPENDS", u8::from(node.jspi).to_string());
    setting.emulators.point(&mut command);
    let what = match thread {
        Some(thread) => format!("contract with the thread {thread}"),
        None => "contract, and comparison with Wasmtime".to_owned(),
    };
    of_engine(&format!("Node {}", node.version), &what, command)
}

/// Runs the same tests, and those of pages, in Chromium, driven by Node.
fn browser(progress: &mut Progress, setting: &Setting<'_>, tests: &Tests, node: &Node) -> Option<Run> {
    let version = chromium::version(progress)?;
    let command = command(setting, &tests.dir.join("browser"), node, &BROWSER);
    Some(of_engine(&version, "all tests, and those of pages", command))
}

fn command(setting: &Setting<'_>, dir: &Path, node: &Node, files: &[&str]) -> Command {
    let mut command = Command::new(&node.program);
    // The reporter that prints totals in separate lines, which the step runner parses.
    command.current_dir(dir).args(["--test", "--test-reporter=tap"]).args(files);
    command.env("TIDEBOX_SPEC_CASES", cases(setting.project));
    command.env("TIDEBOX_DENO", setting.project.root.join("js-bindings").join(DENO));
    command.env("NODE_OPTIONS", format!("--import={}", test_dir::guard(setting.project)));
    set_wheels(setting.project, &mut command);
    setting.emulators.point(&mut command);
    command
}

/// Passes the wheels of program packs to their tests, which are skipped if a wheel was not built.
fn set_wheels(project: &Project, command: &mut Command) {
    let wheels = [("TIDEBOX_GIT_WHEEL", pack_git::wheel(project)), ("TIDEBOX_NODE_WHEEL", pack_node::wheel(project))];
    for (name, wheel) in wheels {
        if let Some(wheel) = wheel {
            command.env(name, wheel);
        }
    }
    command.env("TIDEBOX_NODE_CASES", project.root.join("tests/node/cases"));
}

/// Runs all tests in Deno except those that watch Node. A test that needs only the files of the package gets no other permission.
fn deno(progress: &Progress, setting: &Setting<'_>, tests: &Tests) -> Result<Vec<Run>> {
    let program = setting.project.root.join("js-bindings").join(DENO);
    let version = match step::output(Command::new(&program).arg("--version"), RETRY) {
        Ok(version) => String::from_utf8_lossy(&version).split_whitespace().nth(1).unwrap_or_default().to_owned(),
        Err(error) => {
            progress.print(&format!("tests in Deno are skipped: {error:#}"));
            return Ok(Vec::new());
        }
    };
    let uses_network = |file: &&String| NETWORK_TESTS.contains(&file.as_str());
    let (with_network, without_network): (Vec<&String>, Vec<&String>) =
        tests.files.iter().filter(|file| *file != GUARD).partition(uses_network);
    let run = |permissions: &[&str], files: &[&String]| {
        let mut command = Command::new(&program);
        command.current_dir(&tests.dir).args(["test", "--allow-read", "--allow-env"]).args(permissions).args(files);
        command.env("TIDEBOX_SPEC_CASES", cases(setting.project)).env("NO_COLOR", "1");
        set_wheels(setting.project, &mut command);
        setting.emulators.point(&mut command);
        command
    };
    let engine = format!("Deno {version}");
    let permissions = ["--allow-net", "--allow-write", "--allow-run"];
    Ok(vec![
        of_engine(&engine, "tests without network access", run(&[], &without_network)),
        of_engine(&engine, "tests with network access", run(&permissions, &with_network)),
    ])
}

fn cases(project: &Project) -> PathBuf {
    project.root.join("tests/spec/cases")
}

fn of_engine(engine: &str, what: &str, command: Command) -> Run {
    Run { name: format!("tests of the npm package in {engine}: {what}"), command }
}
