//! Tests of the npm package as users get it: packed, installed into an empty folder, and run by several versions of Node, by
//! Deno and by Chromium.

mod chromium;
mod engines;
mod folder;

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::npm;
use crate::project::Project;
use crate::step::Progress;

use engines::Node;

pub(crate) const RETRY: &str = "cargo xtask npm test";

/// What runs in every version: what a person types and what comes back, and the file tools.
const MAIN: [&str; 3] = ["execute.test.mjs", "files.test.mjs", "guard.test.mjs"];

/// Deno, below the folder of the package.
const DENO: &str = "node_modules/.bin/deno";

/// Packs the package and runs what is in `js-bindings/tests`.
pub(crate) fn npm_tests(project: &Project, progress: &mut Progress) -> Result<()> {
    let archive = npm::pack(project, progress, npm::Types::Check)?;
    let tests = folder::lay_out(project, progress, &archive)?;
    let nodes = engines::nodes(project, progress);
    let fullest = engines::one_of_each_kind(&nodes);
    for node in &nodes {
        let everything: Vec<&str> = tests.files.iter().map(String::as_str).collect();
        let files = if fullest.contains(&node.version.as_str()) { everything.as_slice() } else { &MAIN };
        run(progress, project, &tests.folder, node, files)?;
    }
    if let Some(node) = nodes.iter().find(|node| node.jspi) {
        // Calls that overlap are among what is tested, which takes JSPI.
        run(progress, project, &tests.folder.join("deepagents"), node, &["agent.test.mjs", "tools.test.mjs"])?;
        run(progress, project, &tests.folder.join("examples"), node, &["examples.test.mjs"])?;
        if chromium::is_there(progress) {
            run(
                progress,
                project,
                &tests.folder.join("browser"),
                node,
                &["suite.test.mjs", "terminal.test.mjs", "bundlers.test.mjs"],
            )?;
        }
    }
    deno(progress, &project.root.join("js-bindings").join(DENO), &tests.folder)
}

/// Runs test files in a folder by one version of Node; says how many passed.
fn run(progress: &mut Progress, project: &Project, folder: &Path, node: &Node, files: &[&str]) -> Result<()> {
    let mut command = Command::new(&node.program);
    // The reporter that prints totals in lines of their own, of which the runner of steps knows the form.
    command.current_dir(folder).args(["--test", "--test-reporter=tap"]).args(files);
    command.env("TIDEBOX_SPEC_CASES", project.root.join("tests/spec/cases"));
    command.env("TIDEBOX_DENO", project.root.join("js-bindings").join(DENO));
    command.env("NODE_OPTIONS", format!("--import={}", folder::guard(project)));
    let before = progress.totals.clone();
    progress.run_tests(
        &format!("tests of the npm package in Node {}: {}", node.version, files.join(" ")),
        command,
        RETRY,
    )?;
    let (passed, skipped) = (progress.totals.passed - before.passed, progress.totals.skipped - before.skipped);
    progress.say(&format!("Node {}: {passed} passed, {skipped} skipped", node.version));
    Ok(())
}

/// Deno runs the walk through what depends on the platform.
fn deno(progress: &mut Progress, program: &Path, folder: &Path) -> Result<()> {
    let mut deno = Command::new(program);
    deno.current_dir(folder).args(["run", "--allow-read", "smoke.deno.mjs"]);
    progress.run("the npm package in Deno", deno, RETRY)
}
