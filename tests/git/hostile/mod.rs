//! Hostile repositories. The Git of the host builds each, the sandbox receives it, and the real commands run on it.
//!
//! After every case: each command ended with an exit code of Git, no file outside of the work trees has changed, no lock file
//! remains, and the sandbox still works. `reports` are messages of Git that show that it met the attack.

mod configuration;
mod histories;
mod metadata;
mod objects;
mod packs;
mod submodules;
mod trees;

use std::collections::BTreeSet;

use tempfile::TempDir;
use tidebox::{Limits, Sandbox};

use crate::setup::{configure, is_ready, native_succeed, run, succeed, upload};

/// Returns whether an exit code is one of Git: `fsck` adds up bits, and fatal errors and wrong options are 128 and 129. Others are
/// signals, traps, time limits and programs that did not start.
fn is_of_git(code: i32) -> bool {
    (0..64).contains(&code) || code == 128 || code == 129
}

/// Functions of the scripts that build repositories. `entry MODE NAME ID` prints one entry of a tree.
const BUILD: &str = r#"
set -e
bytes() { printf "$(printf %s "$1" | sed 's/../\\x&/g')"; }
entry() { printf '%s %b\0' "$1" "$2"; bytes "$3"; }
tree() { git hash-object --literally -t tree -w --stdin; }
blob() { printf %s "$1" | git hash-object -w --stdin; }
point() { git update-ref refs/heads/evil "$(git commit-tree -p HEAD -m evil "$1")"; }
checksum() { bytes "$(sha1sum "$1" | cut -d' ' -f1)"; }
git init -q repo
cd repo
echo base > file
git add file
git commit -qm base
"#;

/// Commands on the uploaded repository, and on two clones of it: by files and by packs.
const COMMANDS: &str = r#"
cd /workspace/repo
step git status --short
step git log --oneline --all -3
step git fsck --full
step git checkout -f -q evil
step git diff --stat HEAD
step git grep -c base
step git checkout -f -q main
step git merge -q -m merged evil
step git reset -q --hard
step git add -A
step git stash
step git count-objects -v
step git clone -q /workspace/repo /workspace/work/files
step git clone -q --no-local /workspace/repo /workspace/work/packs
for clone in files packs; do
  cd "/workspace/work/$clone" || continue
  step git checkout -f -q origin/evil
  step git status --short
  step git log --oneline -p -2
  step git merge -q -m merged origin/evil
  step git gc -q
done
"#;

const STEP: &str = r#"
step() { timeout 100 "$@" </dev/null; echo "[exit $?] $*"; }
mkdir -p /workspace/work
"#;

/// All files outside of the work trees, with sizes and times.
const OUTSIDE: &str = r"find / \( -path /proc -o -path /dev -o -path /workspace/repo -o -path /workspace/work \) -prune -o \
                      \( -type f -printf '%p %s %T@\n' -o -printf '%p %y %l\n' \) 2>/dev/null || :";

/// A hostile repository.
#[derive(Clone, Copy, Debug)]
struct Case {
    name: &'static str,
    /// Continues [`BUILD`] in the directory `repo`, which has one commit.
    build: &'static str,
    /// Commands in the sandbox. Empty: [`COMMANDS`].
    commands: &'static str,
    /// Texts that the output must contain.
    reports: &'static [&'static str],
    /// Texts that the output must not contain.
    never: &'static [&'static str],
    /// Exit codes in addition to [those of Git](is_of_git).
    exits: &'static [i32],
}

impl Case {
    const fn new(name: &'static str, build: &'static str, reports: &'static [&'static str]) -> Self {
        Self { name, build, commands: "", reports, never: &[], exits: &[] }
    }

    const fn commands(mut self, commands: &'static str) -> Self {
        self.commands = commands;
        self
    }

    const fn never(mut self, never: &'static [&'static str]) -> Self {
        self.never = never;
        self
    }

    const fn exits(mut self, exits: &'static [i32]) -> Self {
        self.exits = exits;
        self
    }
}

/// Runs all cases with the default limits. The error lists every broken promise.
async fn check(cases: &[Case]) {
    check_with(cases, Limits::default()).await;
}

/// Runs all cases, each in its own sandbox with these limits.
async fn check_with(cases: &[Case], limits: Limits) {
    if !is_ready() {
        return;
    }
    let mut broken = Vec::new();
    for case in cases {
        let dir = tempfile::tempdir().expect("a directory is created");
        native_succeed(dir.path(), &format!("{BUILD}{}", case.build));
        let sandbox = configure(|builder| builder.limits(limits.clone()));
        broken.extend(broken_promises(case, &dir, &sandbox).await);
    }
    assert!(broken.is_empty(), "{}", broken.join("\n\n"));
}

async fn broken_promises(case: &Case, dir: &TempDir, sandbox: &Sandbox) -> Vec<String> {
    upload(sandbox, &dir.path().join("repo"), "/workspace/repo").await;
    let before = succeed(sandbox, OUTSIDE).await;
    let commands = if case.commands.is_empty() { COMMANDS } else { case.commands };
    let response = run(sandbox, &format!("{STEP}{commands}\n:")).await;
    let output = response.output_text();
    let mut broken = Vec::new();
    let mut fail = |what: String| broken.push(format!("{}: {what}", case.name));
    if response.exit_code != Some(0) && response.stopped_by.is_none() {
        fail(format!("the shell exited with {:?}", response.exit_code));
    }
    for line in output.lines() {
        let code = line.split_once("[exit ").and_then(|(_, rest)| rest.split_once(']')?.0.parse::<i32>().ok());
        if code.is_some_and(|code| !is_of_git(code) && !case.exits.contains(&code)) {
            fail(format!("unexpected end of a command: {line}"));
        }
    }
    for text in case.reports.iter().filter(|text| !output.contains(**text)) {
        fail(format!("nothing reports {text:?}"));
    }
    for text in case.never.iter().filter(|text| output.contains(**text)) {
        fail(format!("the output contains {text:?}"));
    }
    let after = succeed(sandbox, OUTSIDE).await;
    let (before, after): (BTreeSet<&str>, BTreeSet<&str>) = (before.lines().collect(), after.lines().collect());
    for line in before.symmetric_difference(&after) {
        fail(format!("a file outside of the work tree changed: {line}"));
    }
    let locks = succeed(sandbox, "find /workspace -name '*.lock'").await;
    if !locks.is_empty() {
        fail(format!("locks remain: {locks}"));
    }
    let usage = sandbox.resource_usage();
    if usage.processes != 0 {
        fail(format!("processes remain: {usage:?}"));
    }
    succeed(sandbox, "cd /tmp && git init -q fresh && cd fresh && git commit -q --allow-empty -m works && git fsck")
        .await;
    if !broken.is_empty() {
        broken.push(format!("output:\n{}", shorten(&output)));
    }
    broken
}

/// Returns the last lines of an output for a message.
fn shorten(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    let shown = lines.len().saturating_sub(120);
    lines[shown..].iter().map(|line| line.chars().take(300).collect::<String>()).collect::<Vec<_>>().join("\n")
}
