//! All checks and tests of the workspace, the quick ones first.

use std::process::Command;

use anyhow::Result;

use crate::audit;
use crate::docs;
use crate::fuzz;
use crate::layers;
use crate::licences;
use crate::npm_tests;
use crate::pack_git;
use crate::pack_node;
use crate::project::Project;
use crate::python_package;
use crate::python_tests;
use crate::setup;
use crate::step::Progress;
use crate::userland;
use crate::words;

const RETRY: &str = "cargo xtask test";

/// Runs everything that CI runs.
pub(crate) fn test(project: &Project, progress: &mut Progress) -> Result<()> {
    format(project, progress)?;
    layers::step(project, progress)?;
    licences::step(project, progress)?;
    audit::audit(project, progress)?;
    words::step(project, progress)?;
    docs::check(project, progress)?;
    setup::guests(project, progress)?;
    lint(project, progress)?;
    lint_guests(project, progress)?;
    build_no_io_packages(project, progress)?;
    document(project, progress)?;
    host_tests(project, progress)?;
    python_tests::quick(project, progress)?;
    python_package::step(project, progress, python_package::Frameworks::Quick)?;
    guest_tests(project, progress)?;
    fuzz::step(project, progress)?;
    npm_tests::npm_tests(project, progress)?;
    benches(project, progress)?;
    progress.print_times();
    let totals = &progress.totals;
    progress.print("everything passed");
    println!("{} passed, {} failed, {} skipped", totals.passed, totals.failed, totals.skipped);
    Ok(())
}

fn format(project: &Project, progress: &mut Progress) -> Result<()> {
    progress.run("formatting", project.cargo(&["fmt", "--all", "--check"]), "cargo fmt --all")?;
    progress.run(
        "formatting of the guests",
        project.guest_cargo(&["fmt", "--all", "--check"]),
        "cargo fmt --all --manifest-path userland/Cargo.toml",
    )?;
    progress.run("formatting of the fuzz targets", fuzz::cargo(project, &["fmt", "--check"]), "cargo fmt in fuzz/")
}

fn lint(project: &Project, progress: &mut Progress) -> Result<()> {
    let arguments = ["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"];
    progress.run("lints", project.cargo(&arguments), RETRY)
}

fn lint_guests(project: &Project, progress: &mut Progress) -> Result<()> {
    let arguments =
        ["clippy", "--locked", "--workspace", "--bins", "--target", userland::TARGET, "--", "-D", "warnings"];
    progress.run("lints of the guests", project.guest_cargo(&arguments), RETRY)
}

/// Builds the packages without I/O for a target without files, clock and threads.
fn build_no_io_packages(project: &Project, progress: &mut Progress) -> Result<()> {
    let mut arguments = vec!["build", "--locked", "--target", "wasm32-unknown-unknown"];
    for (package, _) in layers::NO_IO_PACKAGES {
        arguments.extend(["--package", package]);
    }
    progress.run("builds for wasm32-unknown-unknown", project.cargo(&arguments), RETRY)
}

fn document(project: &Project, progress: &mut Progress) -> Result<()> {
    let mut rustdoc = project.cargo(&["doc", "--locked", "--workspace", "--no-deps", "--document-private-items"]);
    rustdoc.env("RUSTDOCFLAGS", "-D warnings");
    progress.run("documentation", rustdoc, RETRY)
}

fn host_tests(project: &Project, progress: &mut Progress) -> Result<()> {
    let has_nextest = project.cargo(&["nextest", "--version"]).output().is_ok_and(|output| output.status.success());
    let runner: &[&str] = if has_nextest { &["nextest", "run"] } else { &["test"] };
    let runner = |more: &[&str]| {
        let mut command = project.cargo(runner);
        command.args(["--locked", "--workspace"]).args(more);
        command
    };
    progress.run("build the tests", runner(&["--no-run"]), RETRY)?;
    setup::precompile(project, progress)?;
    setup::packs(project, progress)?;
    pack_git::add(project, progress)?;
    pack_node::add(project, progress)?;
    progress.run_tests("tests", runner(&["--no-fail-fast"]), RETRY)?;
    progress.run_tests("tests of object storage and NATS", tests_of_features(project, has_nextest), RETRY)?;
    if has_nextest {
        // nextest does not run the examples in doc comments; `cargo test` did.
        let doc_tests = project.cargo(&["test", "--locked", "--workspace", "--doc"]);
        progress.run_tests("examples in the documentation", doc_tests, RETRY)?;
    }
    Ok(())
}

/// Tests of features that are not in the default build. All packages are selected, because a selection has other features of shared
/// packages, which would be built again.
fn tests_of_features(project: &Project, has_nextest: bool) -> Command {
    let runner: &[&str] = if has_nextest { &["nextest", "run"] } else { &["test"] };
    let mut command = project.cargo(runner);
    command.args(["--locked", "--workspace", "--lib", "--features", "tidebox/object-store,tidebox/nats"]);
    // `cargo test` itself accepts one filter only.
    if has_nextest {
        command.args(["stores::tests::storages", "fleet::tests::"]);
    } else {
        command.args(["--", "stores::tests::storages", "fleet::tests::"]);
    }
    command
}

/// Runs the unit tests of guest code as host programs, without a sandbox.
fn guest_tests(project: &Project, progress: &mut Progress) -> Result<()> {
    let arguments = ["test", "--locked", "--workspace", "--no-fail-fast"];
    progress.run_tests("tests of the guests", project.guest_cargo(&arguments), RETRY)
}

/// Runs every benchmark once, without measuring, to find those that no longer work.
fn benches(project: &Project, progress: &mut Progress) -> Result<()> {
    let arguments = ["test", "--locked", "--workspace", "--bench", "*"];
    progress.run("benchmarks, once each", project.cargo(&arguments), RETRY)
}
