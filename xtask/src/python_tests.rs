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

/// Modules that run by default.
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

/// Runs `cargo xtask python-tests`: the named modules, or the default selection. `--suite DIR` is the directory of the package
/// `test`.
pub(crate) fn python_tests(project: &Project, progress: &mut Progress, arguments: &[&str]) -> Result<()> {
    let (suite, modules) = match arguments {
        ["--suite", dir, modules @ ..] => (PathBuf::from(dir), modules),
        modules => (suite::suite_dir()?, modules),
    };
    if let Some(option) = modules.iter().find(|argument| argument.starts_with('-')) {
        bail!("`cargo xtask python-tests` accepts --suite DIR and names of modules, not {option}");
    }
    // Built with all tests, so that the features of its packages match and no package is built twice.
    let build = project.cargo(&["test", "--locked", "--workspace", "--test", "python", "--no-run"]);
    progress.run("build the command tidebox", build, RETRY)?;
    setup::packs(project, progress)?;
    run(project, progress, &suite, if modules.is_empty() { &MODULES } else { modules })
}

/// Runs the quick modules where the tests can be fetched: the repository does not contain them.
pub(crate) fn quick(project: &Project, progress: &mut Progress) -> Result<()> {
    match suite::suite_dir() {
        Ok(suite) => run(project, progress, &suite, &QUICK),
        Err(error) => {
            progress.print(&format!("CPython's own tests are skipped: {error:#}"));
            Ok(())
        }
    }
}

fn run(project: &Project, progress: &mut Progress, suite: &Path, modules: &[&str]) -> Result<()> {
    let list = project.root.join(EXPECTED);
    let text = fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let expected = Expected::parse(&text);
    let dir = project.target.join("python-tests");
    fs::create_dir_all(&dir)?;
    fs::write(dir.join("run.py"), RUN)?;
    progress.step("CPython's own tests", |progress| {
        let mut differences = Vec::new();
        for module in modules {
            let found = outcomes(project, suite, &dir, module, &expected)?;
            progress.print(&found.line(module));
            differences.extend(found.differences);
        }
        ensure!(
            differences.is_empty(),
            "{} tests differ from {EXPECTED}:\n{}",
            differences.len(),
            differences.join("\n")
        );
        Ok(())
    })
}

/// The result of the tests of a module.
#[derive(Debug, Default)]
struct Outcomes {
    counts: BTreeMap<String, usize>,
    seconds: String,
    /// Differences from the expected results.
    differences: Vec<String>,
}

impl Outcomes {
    fn line(&self, module: &str) -> String {
        let count = |how: &str| self.counts.get(how).copied().unwrap_or_default();
        let all: usize = self.counts.values().sum();
        let (passed, failed, skipped) = (count("passed"), count("failed"), count("skipped"));
        let excluded = match count("excluded") {
            0 => String::new(),
            some => format!(", {some} excluded"),
        };
        format!(
            "{module}: {all} tests, {passed} passed, {failed} failed, {skipped} skipped{excluded}, {} s",
            self.seconds
        )
    }

    fn add(&mut self, line: &str, expected: &Expected) -> Result<()> {
        let (test, how, why): (String, String, String) =
            serde_json::from_str(line).with_context(|| format!("cannot parse a line of the test runner: {line}"))?;
        if how == "seconds" {
            self.seconds = why;
            return Ok(());
        }
        match (how.as_str(), expected.reason(&test)) {
            ("failed", None) => self.differences.push(format!("  {test} failed: {why}")),
            ("passed", Some(_)) => self.differences.push(format!("  {test} passes; remove it from the list")),
            _ => {}
        }
        *self.counts.entry(how).or_default() += 1;
        Ok(())
    }
}

fn outcomes(project: &Project, suite: &Path, dir: &Path, module: &str, expected: &Expected) -> Result<Outcomes> {
    let mounted = format!("{}:/tests/test:ro", suite.join("test").display());
    let program = format!("{}:/workspace/run.py", dir.join("run.py").display());
    let mut line = format!("mkdir -p /tmp/tests; cd /tmp/tests; PYTHONPATH=/tests python3 /workspace/run.py {module}");
    for test in expected.excluded() {
        line.push(' ');
        line.push_str(test);
    }
    let mut command = Command::new(project.tidebox());
    // The tests print many messages; only their results matter.
    let log = dir.join(format!("{module}.log"));
    command.args(["exec", "--timeout", SECONDS, "--mount", &mounted, "--file", &program, &line]);
    command.stderr(Stdio::from(fs::File::create(&log)?)).stdin(Stdio::null()).stdout(Stdio::piped());
    let output = command.output().with_context(|| format!("cannot start {}", project.tidebox().display()))?;
    ensure!(
        output.status.success(),
        "the interpreter exited with {} in {module}; its messages are in {}",
        output.status,
        log.display()
    );
    let mut found = Outcomes::default();
    for line in String::from_utf8(output.stdout)?.lines() {
        found.add(line, expected)?;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unexpected_failures_and_passes_are_reported() {
        let expected = Expected::parse("# a reason\nm.C.known\nm.C.fixed\n");
        let mut found = Outcomes::default();
        for line in [
            r#"["m.C.fine", "passed", ""]"#,
            r#"["m.C.known", "failed", "x"]"#,
            r#"["m.C.fixed", "passed", ""]"#,
            r#"["m.C.fresh", "failed", "y"]"#,
            r#"["m.C.later", "skipped", "z"]"#,
            r#"["", "seconds", "1.5"]"#,
        ] {
            found.add(line, &expected).unwrap();
        }
        assert_eq!(found.differences, ["  m.C.fixed passes; remove it from the list", "  m.C.fresh failed: y"]);
        assert_eq!(found.line("m"), "m: 5 tests, 2 passed, 2 failed, 1 skipped, 1.5 s");
        assert!(found.add("output of a test", &expected).is_err());
    }
}
