//! Deep Agents for JavaScript. Its standard tests are not in the package registry, so the tests call its tools directly.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Failed, Trial};

use crate::install::{installed, step};
use crate::trial::trial;
use crate::{check_summary, output};

/// Copies the sources next to the packages, because Node searches the parent directories for them.
const SOURCES: [(&str, &str); 2] = [
    ("tidebox_backend.mjs", include_str!("javascript/tidebox_backend.mjs")),
    ("agent.test.mjs", include_str!("javascript/agent.test.mjs")),
];

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial("javascript_tools_show_a_model_the_truth", &prepare(), |packages| {
        let output = node(&packages)?;
        check_summary(&output, "# pass 11\n")?;
        check_summary(&output, "# skipped 0\n")
    })]
}

fn prepare() -> Result<PathBuf, String> {
    let version = step("node", Command::new("node").arg("--version"))?;
    let major = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < 20) {
        return Err(format!("Node 20 is needed, this is {version}"));
    }
    let wanted = include_str!("javascript/package.json");
    installed("deepagents-javascript", wanted, |dir| {
        fs::write(dir.join("package.json"), wanted).map_err(|error| error.to_string())?;
        let mut npm = Command::new("npm");
        // The peer dependencies of Deep Agents contradict each other; this set of versions works.
        npm.args(["install", "--legacy-peer-deps", "--no-audit", "--no-fund", "--loglevel", "error"]);
        npm.args(["--fetch-retries", "1", "--fetch-timeout", "15000"]);
        step("npm install", npm.current_dir(dir)).map(drop)
    })
}

fn node(packages: &Path) -> Result<String, Failed> {
    let dir = tempfile::tempdir_in(packages)?;
    for (name, text) in SOURCES {
        fs::write(dir.path().join(name), text)?;
    }
    output(Command::new("node").args(["--test", "--test-reporter=tap", "agent.test.mjs"]).current_dir(dir.path()))
}
