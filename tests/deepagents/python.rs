//! Deep Agents for Python: its 86 standard tests in two dialects. Two need the pack `python` and fail as expected without it; in
//! the default dialect seven that require Deep Agents 0.6 behaviour fail, too.

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Failed, Trial};

use crate::install::{installed, step};
use crate::trial::trial;
use crate::{check_summary, output};

pub(crate) fn trials() -> Vec<Trial> {
    let environment = prepare();
    vec![
        trial("python_standard_tests_pass", &environment, |environment| {
            let has_python = tidebox::Packs::user().ready().iter().any(|pack| pack.name() == "python");
            let counts = if has_python { "165 passed, 7 xfailed in " } else { "161 passed, 11 xfailed in " };
            check_summary(&pytest(&environment, "test_standard.py")?, counts)
        }),
        trial("python_tools_show_a_model_the_truth", &environment, |environment| {
            let has_git = tidebox::Packs::user().ready().iter().any(|pack| pack.name() == "git");
            let counts = if has_git { "11 passed in " } else { "10 passed, 1 skipped in " };
            check_summary(&pytest(&environment, "test_agent.py")?, counts)
        }),
    ]
}

fn python_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/deepagents/python")
}

fn prepare() -> Result<PathBuf, String> {
    let new = "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 is needed, this is ' + sys.version)";
    step("python3", Command::new("python3").args(["-c", new]))?;
    let wanted = include_str!("python/requirements.txt");
    installed("deepagents-python", wanted, |environment| {
        step("python3 -m venv", Command::new("python3").args(["-m", "venv", "--clear"]).arg(environment.join("venv")))?;
        let mut pip = python(environment);
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--retries",
            "1",
            "--timeout",
            "15",
        ]);
        step("pip install", pip.arg("-r").arg(python_dir().join("requirements.txt")))?;
        Ok(())
    })
}

fn python(environment: &Path) -> Command {
    Command::new(environment.join("venv/bin/python"))
}

fn pytest(environment: &Path, file: &str) -> Result<String, Failed> {
    // Do not write bytecode next to the sources.
    output(
        python(environment).args(["-m", "pytest", file]).current_dir(python_dir()).env("PYTHONDONTWRITEBYTECODE", "1"),
    )
}
