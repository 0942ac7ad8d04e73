//! `cargo xtask`: prepares a fresh host, shows the sandbox and checks the whole workspace.
//!
//! Depends on no other package of the workspace, so that it builds quickly and runs before anything else is built.

#![allow(clippy::print_stdout, reason = "progress on stdout is the purpose of this program")]

mod audit;
mod bench;
mod c_runtime;
mod demo;
mod docs;
mod fleet;
mod fuzz;
mod git_suite;
mod layers;
mod licences;
mod notices;
mod npm;
mod npm_tests;
mod pack_git;
mod pack_node;
mod project;
mod python_package;
mod python_tests;
mod release;
mod setup;
mod spec;
mod step;
mod test;
mod test_pack;
mod totals;
mod userland;
mod words;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use project::Project;
use step::Progress;

const USAGE: &str = "\
usage: cargo xtask <command>

  setup     install what is missing: wasm targets, guest programs, the cache of compiled programs, packs
  demo      run setup, then show the sandbox in a few commands
  test      run setup, then every check and every test
  userland  build the guest programs
  docs      check the documentation and build the book into target/book, with mdBook, which is installed if it is missing
  docs check | drawings | record
            only check links, code blocks and drawings; write the charts; run the session of the first page again
  layers    check the dependencies between packages
  audit     check the dependencies with `cargo deny`, known vulnerabilities included, and the public interface with
            `cargo semver-checks`, where these are installed
  words [--accept]
            check comments, documentation and names for banned idioms (xtask/words.toml); --accept lowers the counts
            in that file to the current ones
  words show PREFIX [PATTERN]
            list the matches in files whose path starts with PREFIX, of patterns that contain PATTERN
  npm       build the npm package and pack it into js-bindings/package
  npm test  build and pack the npm package from the current guest programs, install it elsewhere and run its tests
  python    build the wheel of the Python package, install it into a fresh virtual environment and test it there
  python --dev
            the same with the unoptimised library that the tests of the workspace share
  release   prepare all files that a tag publishes, in release-files in the target directory: crates, the archive of
            the command for this platform, the npm package, the wheel, scripts, checksums
  release crates | archive
            only build the crates from their packages, or only the archive
  release finish DIR BASE
            write the checksums and the Homebrew formula for the files of all platforms in DIR, published at BASE
  python-tests [--suite DIR] [MODULE...]
            run modules of CPython's own tests in the sandbox [default: ten of them]; DIR contains the package `test`
            [default: fetched from Debian's packages]
  pack git  compile Git for the sandbox and write the archives of the pack `git`
  pack node compile the program `node` for the sandbox and write the archives of the pack `node`
  git-suite [--sample N] [--again] [--release] [SCRIPT...]
            run scripts of Git's own tests with Git of the host and in the sandbox [default: all, or N random ones], and
            compare; results are kept in the target directory, and --again replaces them
  fleet [--over folder | nats] [--minutes N]
            run three nodes of `tidebox serve` behind a proxy, over one directory or over three NATS servers and one of S3, let
            nodes, servers, links and clocks fail at random, and check that every acknowledged write stays
            [default: folder, 10 minutes]
  pack c-runtime
            compile the runtime of programs in C and its tests
  bench [--write] [python | javascript]
            measure the wheel and the npm package next to other sandboxes and the programs of the host, print the tables, and
            with --write put them into docs/performance.md with its charts
  soak [--minutes N]
            run random commands in a thousand sandboxes, then processes, sockets and terminals, and report
            errors and leaks [default: 10 minutes each]
  fuzz [--minutes N [TARGET...]]
            run the fuzz targets, all or the named ones, for N minutes in total [default: a fixed number of inputs]
  fuzz --coverage --minutes N TARGET...
            run the named fuzz targets with libFuzzer, each for N minutes; needs a C++ compiler
  spec record [FILE]
            record the cases of tests/spec whose file name contains FILE with the bash and tools of this host, as root
  spec compare [FILE]
            run the same cases, or those of the file FILE, on this host and in the sandbox, and report differences;
            TIDEBOX_USERLAND=userland selects the guest programs that were built last
  spec differences
            rewrite tests/spec/DIFFERENCES.md from the cases and from tests/spec/known_gaps.md
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let command: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match command.as_slice() {
        ["demo"] => run(demo::demo),
        ["test"] => run(test::test),
        ["audit"] => run(audit::audit),
        ["setup"] => run(setup::setup),
        ["userland"] => run(setup::guests),
        ["docs"] => run(docs::docs),
        ["docs", "check"] => run(docs::check),
        ["docs", "drawings"] => run(|project, _| docs::drawings(project)),
        ["docs", "record"] => run(docs::record),
        ["layers"] => run(layers::step),
        ["words"] => run(words::step),
        ["words", "--accept"] => run(words::accept),
        ["words", "show", prefix] => run(|project, _| words::show(project, prefix, "")),
        ["words", "show", prefix, pattern] => run(|project, _| words::show(project, prefix, pattern)),
        ["npm"] => run(npm::npm),
        ["npm", "test"] => run(npm_tests::npm_tests),
        ["python"] => run(python_package::python),
        ["python", "--dev"] => {
            run(|project, progress| python_package::step(project, progress, python_package::Frameworks::All))
        }
        ["release"] => run(release::release),
        ["release", "crates"] => run(release::crates),
        ["release", "finish", dir, base] => run(|project, _| release::finish(project, Path::new(dir), base)),
        ["release", "archive"] => run(release::archive),
        ["bench", arguments @ ..] => run(|project, progress| bench::bench(project, progress, arguments)),
        ["pack", "git"] => run(|project, progress| pack_git::pack_git(project, progress).map(drop)),
        ["pack", "node"] => run(pack_node::pack_node),
        ["git-suite", arguments @ ..] => run(|project, progress| git_suite::git_suite(project, progress, arguments)),
        ["pack", "c-runtime"] => run(c_runtime::c_runtime),
        ["soak"] => run(|project, progress| soak(project, progress, "10")),
        ["soak", "--minutes", minutes] => run(|project, progress| soak(project, progress, minutes)),
        ["python-tests", arguments @ ..] => {
            run(|project, progress| python_tests::python_tests(project, progress, arguments))
        }
        ["fleet", arguments @ ..] => run(|project, progress| fleet::fleet(project, progress, arguments)),
        ["fuzz"] => run(fuzz::step),
        ["fuzz", "--coverage", "--minutes", minutes, targets @ ..] if !targets.is_empty() => {
            run(|project, _| fuzz::run_with_coverage(project, minutes, targets))
        }
        ["fuzz", "--minutes", minutes, targets @ ..] => run(|project, _| fuzz::run(project, minutes, targets)),
        ["spec", mode] => run(|project, progress| spec::run(project, progress, mode, "")),
        ["spec", mode, files] => run(|project, progress| spec::run(project, progress, mode, files)),
        [] | ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        [other, ..] => {
            eprintln!("xtask: unknown command or invalid arguments: {other:?}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs both soaks of `benches/load.rs`, which prints its figures.
fn soak(project: &Project, progress: &mut Progress, minutes: &str) -> Result<()> {
    setup::guests(project, progress)?;
    for kind in ["soak", "live"] {
        let bench = ["bench", "--locked", "--workspace", "--bench", "load", "--", kind, "--minutes", minutes];
        anyhow::ensure!(project.cargo(&bench).status()?.success(), "the soak found errors; they are listed above");
    }
    Ok(())
}

fn run(command: impl FnOnce(&Project, &mut Progress) -> Result<()>) -> Result<()> {
    let project = Project::find()?;
    command(&project, &mut Progress::start())
}
