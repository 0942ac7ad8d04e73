//! The versions of Node that the package supports.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::RETRY;
use crate::npm;
use crate::project::Project;
use crate::step::{self, Progress};

/// The newest version of each maintained release line, as the npm package `node` has them. The host's own Node replaces the
/// version of its line.
const LINES: [&str; 4] = ["20.20.2", "22.23.3", "24.21.0", "26.10.0"];

/// An engine that can run the tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) program: PathBuf,
    /// Without the `v`.
    pub(super) version: String,
    /// True if the engine can suspend guests (JSPI).
    pub(super) jspi: bool,
}

/// Returns one engine for each release line, in order. Prints and skips versions that cannot be installed.
pub(super) fn nodes(project: &Project, progress: &mut Progress) -> Vec<Node> {
    let own = probe_version(Path::new("node")).ok();
    let mut nodes = Vec::new();
    for wanted in LINES {
        let node = match &own {
            Some(own) if line(&own.version) == line(wanted) => Ok(own.clone()),
            _ => installed(project, progress, wanted),
        };
        match node {
            Ok(node) => nodes.push(node),
            Err(error) => progress.print(&format!("tests in Node {wanted} are skipped: {error:#}")),
        }
    }
    nodes
}

/// Returns the versions of the first engine that can suspend guests and of the first that cannot: all tests run there.
pub(super) fn one_of_each_kind(nodes: &[Node]) -> Vec<&str> {
    let first = |jspi| nodes.iter().find(|node| node.jspi == jspi).map(|node| node.version.as_str());
    [false, true].into_iter().filter_map(first).collect()
}

/// The release line of a version: its first number.
fn line(version: &str) -> &str {
    version.split('.').next().unwrap_or(version)
}

/// Returns the version that a program prints.
fn probe_version(program: &Path) -> Result<Node> {
    let mut command = Command::new(program);
    command.args(["-p", "`${process.versions.node} ${typeof WebAssembly.Suspending}`"]);
    let printed = String::from_utf8(step::output(&mut command, RETRY)?).context("node printed invalid UTF-8")?;
    let (version, suspending) = printed.trim().split_once(' ').context("cannot parse the version that node printed")?;
    Ok(Node { program: program.to_owned(), version: version.to_owned(), jspi: suspending == "function" })
}

/// Returns the program of the package of Node for this platform, for `cargo xtask pack node`.
pub(crate) fn program(project: &Project, progress: &mut Progress, version: &str) -> Result<PathBuf> {
    installed(project, progress, version).map(|node| node.program)
}

/// Installs a version into the target directory, where it outlives a clone.
fn installed(project: &Project, progress: &mut Progress, version: &str) -> Result<Node> {
    let dir = project.target.join("npm-engines").join(version);
    let program = dir.join("node_modules/node/bin/node");
    if !program.exists() {
        fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
        fs::write(dir.join("package.json"), r#"{ "private": true }"#)?;
        let mut npm = npm::npm_command(&dir, &["install", "--no-package-lock", "--no-audit", "--no-fund"]);
        npm.arg(format!("node@{version}"));
        progress.run(&format!("install Node {version}"), npm, RETRY)?;
    }
    let node = probe_version(&program)?;
    ensure!(node.version == version, "{} is version {}", program.display(), node.version);
    Ok(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(version: &str, jspi: bool) -> Node {
        Node { program: PathBuf::from("node"), version: version.to_owned(), jspi }
    }

    #[test]
    fn all_tests_run_in_one_engine_with_and_one_without_jspi() {
        let nodes = [node("20.1.0", false), node("22.1.0", false), node("24.1.0", true), node("26.1.0", true)];
        assert_eq!(one_of_each_kind(&nodes), ["20.1.0", "24.1.0"]);
        assert_eq!(one_of_each_kind(&nodes[2..]), ["24.1.0"]);
    }

    #[test]
    fn a_release_line_is_the_first_number() {
        assert_eq!([line("20.20.2"), line("26.0.0")], ["20", "26"]);
    }
}
