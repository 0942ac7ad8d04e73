//! Tests of the npm package as users get it: packed, installed into an empty folder, and run by several versions of Node.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::npm;
use crate::project::Project;
use crate::step::{self, Progress};

const RETRY: &str = "cargo xtask npm test";

/// What a model sees of a sandbox through the tools of Deep Agents: tests that take any backend.
const DEEP_AGENTS: &str = "tests/deepagents/javascript";
const AGENT: &str = "agent.test.mjs";
/// The file that those tests take their backend from.
const BACKEND: &str = "tidebox_backend.mjs";

/// Packs the package and runs what is in `js-bindings/tests`.
pub(crate) fn npm_tests(project: &Project, progress: &mut Progress) -> Result<()> {
    let archive = npm::pack(project, progress, npm::Types::Check)?;
    let bindings = project.root.join("js-bindings");
    let folder = project.target.join("npm-tests");
    install(project, progress, &archive, &folder)?;
    let tests = lay_out(&bindings.join("tests"), &folder)?;
    let newer = bindings.join("node_modules/node/bin/node");
    let cases = project.root.join("tests/spec/cases");
    run(progress, Path::new("node"), &folder, &tests, &cases)?;
    run(progress, &newer, &folder, &tests, &cases)?;
    // Among them are calls that overlap, which takes JSPI.
    let agent = folder.join(AGENT);
    fs::copy(project.root.join(DEEP_AGENTS).join(AGENT), &agent).context("the tests of Deep Agents are missing")?;
    fs::copy(bindings.join("tests/deepagents").join(BACKEND), folder.join(BACKEND))?;
    run(progress, &newer, &folder, &[AGENT.to_owned()], &cases)?;
    let mut deno = Command::new(bindings.join("node_modules/.bin/deno"));
    deno.current_dir(&folder).args(["run", "--allow-read", "smoke.deno.mjs"]);
    progress.run("the npm package in Deno", deno, RETRY)
}

/// A project that has Deep Agents and nothing else, and then the archive.
fn install(project: &Project, progress: &mut Progress, archive: &Path, folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).context("the old folder of tests cannot be removed")?;
    }
    fs::create_dir_all(folder).context("the folder of tests cannot be made")?;
    fs::copy(project.root.join(DEEP_AGENTS).join("package.json"), folder.join("package.json"))?;
    fs::copy(project.root.join("js-bindings/.npmrc"), folder.join(".npmrc"))?;
    let mut npm = npm::npm_command(folder, &["install", "--ignore-scripts", "--no-package-lock"]);
    npm.arg(archive);
    progress.run("install the packed package", npm, RETRY)
}

/// Copies the tests beside the installed package; answers the names of their files.
fn lay_out(from: &Path, folder: &Path) -> Result<Vec<String>> {
    let mut tests = Vec::new();
    for entry in fs::read_dir(from).context("js-bindings/tests cannot be read")? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !entry.file_type()?.is_file() {
            continue;
        }
        fs::copy(entry.path(), folder.join(&name)).with_context(|| format!("cannot copy {name}"))?;
        if name.ends_with(".test.mjs") {
            tests.push(name);
        }
    }
    tests.sort();
    Ok(tests)
}

fn run(progress: &mut Progress, node: &Path, folder: &Path, tests: &[String], cases: &Path) -> Result<()> {
    let version = match step::output(Command::new(node).arg("--version"), RETRY) {
        Ok(version) => String::from_utf8_lossy(&version).trim().to_owned(),
        Err(error) => {
            progress.say(&format!("tests in {} are left out: {error:#}", node.display()));
            return Ok(());
        }
    };
    let mut command = Command::new(node);
    // The reporter that prints totals in lines of their own, of which the runner of steps knows the form.
    command.current_dir(folder).args(["--test", "--test-reporter=tap"]).args(tests);
    command.env("TIDEBOX_SPEC_CASES", cases);
    progress.run_tests(&format!("tests of the npm package in Node {version}"), command, RETRY)
}
