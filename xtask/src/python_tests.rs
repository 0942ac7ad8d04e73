//! CPython's own tests, run by the `python3` of the sandbox.

mod expected;
mod suite;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::project::Project;
use crate::setup;
use crate::step::Progress;
use expected::Expected;

/// Modules to run when none is named.
const MODULES: [&str; 10] = [
    "test_json",
    "test_re",
    "test_csv",
    "test_datetime",
    "test_collections",
    "test_itertools",
    "test_pathlib",
    "test_argparse",
    "test_os",
    "test_io",
];

/// The quick ones, which `cargo xtask test` runs.
const QUICK: [&str; 3] = ["test_json", "test_csv", "test_collections"];

const EXPECTED: &str = "tests/python/cpython.txt";
const RUN: &str = include_str!("python_tests/run.py");
const SECONDS: &str = "900";
const RETRY: &str = "cargo xtask python-tests";

/// Runs `cargo xtask python-tests`: the named modules, or the default selection. `--suite FOLDER` is the directory of the package
/// `test`.
pub(crate) fn python_tests(project: &Project, progress: &mut Progress, words: &[&str]) -> Result<()> {
    let (suite, modules) = match words {
        ["--suite", folder, modules @ ..] => (PathBuf::from(folder), modules),
        modules => (suite::folder()?, modules),
    };
    if let Some(option) = modules.iter().find(|word| word.starts_with('-')) {
        bail!("`cargo xtask python-tests` takes --suite FOLDER and names of modules, not {option}");
    }
    // Built with all tests, so that the features of its packages match and nothing is built twice.
    let build = project.cargo(&["test", "--locked", "--workspace", "--test", "python", "--no-run"]);
    progress.run("build the command tidebox", build, RETRY)?;
    setup::packs(project, progress)?;
    run(project, progress, &suite, if modules.is_empty() { &MODULES } else { modules })
}

/// Runs the quick modules where the tests can be fetched: the repository does not contain them.
pub(crate) fn quick(project: &Project, progress: &mut Progress) -> Result<()> {
    match suite::folder() {
        Ok(suite) => run(project, progress, &suite, &QUICK),
        Err(error) => {
            progress.say(&format!("CPython's own tests are left out: {error:#}"));
            Ok(())
        }
    }
}

fn run(project: &Project, progress: &mut Progress, suite: &Path, modules: &[&str]) -> Result<()> {
    let list = project.root.join(EXPECTED);
    let text = fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let expected = Expected::parse(&text);
    let folder = project.target.join("python-tests");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("run.py"), RUN)?;
    progress.step("CPython's own tests", |progress| {
        let mut wrong = Vec::new();
        for module in modules {
            let found = outcomes(project, suite, &folder, module, &expected)?;
            progress.say(&found.line(module));
            wrong.extend(found.wrong);
        }
        ensure!(wrong.is_empty(), "{} tests are not as {EXPECTED} has it:\n{}", wrong.len(), wrong.join("\n"));
        Ok(())
    })
}

/// The result of the tests of a module.
#[derive(Debug, Default)]
struct Outcomes {
    counts: BTreeMap<String, usize>,
    seconds: String,
    /// Differences from the expected results.
    wrong: Vec<String>,
}

impl Outcomes {
    fn line(&self, module: &str) -> String {
        let count = |how: &str| self.counts.get(how).copied().unwrap_or_default();
        let all: usize = self.counts.values().sum();
        let (passed, failed, skipped) = (count("passed"), count("failed"), count("skipped"));
        let left_out = match count("left out") {
            0 => String::new(),
            some => format!(", {some} left out"),
        };
        format!(
            "{module}: {all} tests, {passed} passed, {failed} failed, {skipped} skipped{left_out}, {} s",
            self.seconds
        )
    }

    fn take(&mut self, line: &str, expected: &Expected) -> Result<()> {
        let (test, how, why): (String, String, String) =
            serde_json::from_str(line).with_context(|| format!("the tests printed a line of their own: {line}"))?;
        if how == "seconds" {
            self.seconds = why;
            return Ok(());
        }
        match (how.as_str(), expected.why(&test)) {
            ("failed", None) => self.wrong.push(format!("  {test} failed: {why}")),
            ("passed", Some(_)) => self.wrong.push(format!("  {test} passes by now; take it off the list")),
            _ => {}
        }
        *self.counts.entry(how).or_default() += 1;
        Ok(())
    }
}

fn outcomes(project: &Project, suite: &Path, folder: &Path, module: &str, expected: &Expected) -> Result<Outcomes> {
    let mounted = format!("{}:/tests/test:ro", suite.join("test").display());
    let program = format!("{}:/workspace/run.py", folder.join("run.py").display());
    let mut line = format!("mkdir -p /tmp/tests; cd /tmp/tests; PYTHONPATH=/tests python3 /workspace/run.py {module}");
    for test in expected.left_out() {
        line.push(' ');
        line.push_str(test);
    }
    let mut command = Command::new(project.tidebox());
    // The tests print many messages; only their results matter.
    let complaints = folder.join(format!("{module}.log"));
    command.args(["exec", "--timeout", SECONDS, "--mount", &mounted, "--file", &program, &line]);
    command.stderr(Stdio::from(fs::File::create(&complaints)?)).stdin(Stdio::null()).stdout(Stdio::piped());
    let output = command.output().with_context(|| format!("cannot start {}", project.tidebox().display()))?;
    ensure!(
        output.status.success(),
        "the interpreter ended with {} in {module}; what it said is in {}",
        output.status,
        complaints.display()
    );
    let mut found = Outcomes::default();
    for line in String::from_utf8(output.stdout)?.lines() {
        found.take(line, expected)?;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_fails_unexpectedly_or_passes_unexpectedly_is_told() {
        let expected = Expected::parse("# a reason\nm.C.known\nm.C.mended\n");
        let mut found = Outcomes::default();
        for line in [
            r#"["m.C.fine", "passed", ""]"#,
            r#"["m.C.known", "failed", "x"]"#,
            r#"["m.C.mended", "passed", ""]"#,
            r#"["m.C.fresh", "failed", "y"]"#,
            r#"["m.C.later", "skipped", "z"]"#,
            r#"["", "seconds", "1.5"]"#,
        ] {
            found.take(line, &expected).unwrap();
        }
        assert_eq!(found.wrong, ["  m.C.mended passes by now; take it off the list", "  m.C.fresh failed: y"]);
        assert_eq!(found.line("m"), "m: 5 tests, 2 passed, 2 failed, 1 skipped, 1.5 s");
        assert!(found.take("what a test printed", &expected).is_err());
    }
}
