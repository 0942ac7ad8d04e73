//! `cargo xtask`: prepares a fresh machine, shows the sandbox and checks the whole workspace.
//!
//! Depends on no other package of the workspace, so that it builds quickly and runs before anything else is built.

#![allow(clippy::print_stdout, reason = "progress on stdout is what this program is for")]

mod demo;
mod fuzz;
mod layers;
mod licences;
mod npm;
mod npm_tests;
mod project;
mod python_tests;
mod setup;
mod spec;
mod step;
mod test;
mod totals;
mod userland;
mod words;

use std::process::ExitCode;

use anyhow::Result;

use project::Project;
use step::Progress;

const USAGE: &str = "\
usage: cargo xtask <command>

  demo      prepare what is missing, then take a short tour of the sandbox
  test      prepare what is missing, then run every check and every test
  setup     prepare what is missing: wasm targets, guest programs, compiled-module cache
  userland  build the guest programs only
  layers    check which package may depend on which
  words [--accept]
            check comments, documentation and names for banned idioms (xtask/words.toml); --accept lowers the counts
  words show PREFIX [PATTERN]
            list the matches in files whose path starts with PREFIX, of patterns that contain PATTERN
  npm       build the npm package and pack it into js-bindings/package
  npm test  the same from the guest programs that are there, then install it elsewhere and run its tests in Node
  python-tests [--suite FOLDER] [MODULE...]
            run CPython's own tests in the sandbox, or the modules of them that are named; they are fetched from Debian's
            packages, or FOLDER has the package `test`
  soak [--minutes N]
            keep a thousand sandboxes busy for ten or N minutes, and say what went wrong or did not come back
  fuzz [--minutes N [TARGET...]]
            feed what reads bytes of strangers with bytes that nobody wrote, all targets or these, for N minutes in all;
            without a number as many inputs as `test` feeds
  spec record [FILE]
            run the cases of tests/spec (those whose file name contains FILE) on this machine's bash and tools, as
            root, and write down what they do
  spec compare [FILE]
            run the same cases, or those of the file that is named, on this machine and in the sandbox, and say how
            they differ; TIDEBOX_USERLAND=userland takes the guest programs that were built last
  spec differences
            rewrite tests/spec/DIFFERENCES.md from the cases and from tests/spec/known_gaps.md
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let command: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match command.as_slice() {
        ["demo"] => run(demo::demo),
        ["test"] => run(test::test),
        ["setup"] => run(setup::setup),
        ["userland"] => run(setup::guests),
        ["layers"] => run(layers::step),
        ["words"] => run(words::step),
        ["words", "--accept"] => run(words::accept),
        ["words", "show", prefix] => run(|project, _| words::show(project, prefix, "")),
        ["words", "show", prefix, pattern] => run(|project, _| words::show(project, prefix, pattern)),
        ["npm"] => run(npm::npm),
        ["npm", "test"] => run(npm_tests::npm_tests),
        ["soak"] => run(|project, progress| soak(project, progress, "10")),
        ["soak", "--minutes", minutes] => run(|project, progress| soak(project, progress, minutes)),
        ["python-tests", words @ ..] => run(|project, progress| python_tests::python_tests(project, progress, words)),
        ["fuzz"] => run(fuzz::step),
        ["fuzz", "--minutes", minutes, targets @ ..] => run(|project, _| fuzz::run(project, minutes, targets)),
        ["spec", what] => run(|project, progress| spec::run(project, progress, what, "")),
        ["spec", what, files] => run(|project, progress| spec::run(project, progress, what, files)),
        [] | ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        [other, ..] => {
            eprintln!("xtask: there is no command {other:?} with these arguments\n\n{USAGE}");
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

/// Runs `benches/load.rs`, which prints its figures.
fn soak(project: &Project, progress: &mut Progress, minutes: &str) -> Result<()> {
    setup::guests(project, progress)?;
    let mut command =
        project.cargo(&["bench", "--locked", "--workspace", "--bench", "load", "--", "soak", "--minutes", minutes]);
    anyhow::ensure!(command.status()?.success(), "the soak found mistakes; they are listed above");
    Ok(())
}

fn run(command: impl FnOnce(&Project, &mut Progress) -> Result<()>) -> Result<()> {
    let project = Project::find()?;
    command(&project, &mut Progress::start())
}
