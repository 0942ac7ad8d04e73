//! Type checks of the Python package by mypy and pyright.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use super::RETRY;
use crate::step::Progress;

pub(super) const MYPY: &str = "mypy==2.4.1";

/// The package fetches the program of the same version from the npm registry.
pub(super) const PYRIGHT: &str = "pyright==1.1.414";

/// Files outside of the package that are checked with it: they need no framework.
const EXAMPLES: [&str; 2] = ["examples/data_analysis.py", "examples/test_agent.py"];

/// Checks the package without its adapters, its tests and examples. `tests` is the directory with the sources in `source`, and
/// `bin` has the programs of an environment with the wheel.
pub(super) fn check_package(progress: &mut Progress, bin: &Path, tests: &Path) -> Result<()> {
    let mut mypy = Command::new(bin.join("mypy"));
    // The frameworks of the adapters are not installed here.
    mypy.args(["--strict", "--exclude", "integrations/", "tidebox"]).current_dir(tests.join("source"));
    progress.run("types of the Python package", mypy, RETRY)?;
    let mut mypy = Command::new(bin.join("mypy"));
    mypy.args(["--strict", "tests"]).args(EXAMPLES).current_dir(tests);
    progress.run("types of its tests", mypy, RETRY)?;
    let include = ["source/tidebox", "tests"].into_iter().chain(EXAMPLES).map(str::to_owned).collect();
    pyright(progress, bin, &bin.join("python"), tests, "package", include)
}

/// Checks the adapter of a framework, and its examples, with the packages of an environment. `tools` is the environment with the
/// type checkers.
pub(super) fn check_adapter(
    progress: &mut Progress,
    tools: &Path,
    python: &Path,
    tests: &Path,
    framework: &str,
) -> Result<()> {
    let bin = tools.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let adapter = match framework {
        "deepagents_code" => "_deepagents_provider",
        other => other,
    };
    let file = format!("tidebox/integrations/{adapter}.py");
    ensure!(tests.join("source").join(&file).is_file(), "the package has no {file}");
    let mut mypy = Command::new(bin.join("mypy"));
    // Modules of other frameworks that it imports are checked with theirs.
    mypy.args(["--strict", "--follow-imports", "silent"])
        .arg("--python-executable")
        .arg(python.join("python"))
        .arg(&file);
    mypy.current_dir(tests.join("source"));
    progress.run(&format!("types of the adapter of {framework}"), mypy, RETRY)?;
    let mut include = vec![format!("source/{file}")];
    match framework {
        "deepagents" => include.push("examples/deep_agent.py".to_owned()),
        "openai_agents" => include.push("examples/openai_agent.py".to_owned()),
        "ray" => include.push("examples/ray_rollouts.py".to_owned()),
        _ => {}
    }
    pyright(progress, &bin, &python.join("python"), tests, framework, include)
}

fn pyright(
    progress: &mut Progress,
    bin: &Path,
    python: &Path,
    dir: &Path,
    name: &str,
    include: Vec<String>,
) -> Result<()> {
    let exclude: &[&str] = if name == "package" { &["source/tidebox/integrations"] } else { &[] };
    let config = configuration(&include, exclude);
    let path = dir.join(format!("pyright-{name}.json"));
    fs::write(&path, config)?;
    let mut pyright = Command::new(bin.join("pyright"));
    pyright.args([OsStr::new("--warnings"), OsStr::new("--project"), path.as_os_str()]);
    pyright.arg("--pythonpath").arg(python).current_dir(dir);
    progress.run(&format!("types of {name} by pyright"), pyright, RETRY)
}

/// Returns a configuration of pyright. The sources have the stubs of the native module, and not the module itself.
fn configuration(include: &[String], exclude: &[&str]) -> String {
    format!(
        r#"{{ "include": {include:?}, "exclude": {exclude:?}, "extraPaths": ["source"], "reportMissingModuleSource": "none" }}"#
    )
}
