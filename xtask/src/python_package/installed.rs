//! Tests of installed wheels whose cache directory is empty.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{RETRY, empty_dir, install};
use crate::project::{Project, list_files};
use crate::step::Progress;

/// Runs a command and a pipeline with the compiled programs of the wheel. Nothing may be compiled: the cache stays empty.
pub(super) fn test_archive(project: &Project, progress: &mut Progress, wheel: &Path) -> Result<()> {
    let (python, cache) = fresh(project, progress, "python-archive")?;
    install(progress, &python, wheel)?;
    progress.step("use the compiled programs of the wheel", |_| {
        for (script, expected) in [("echo hi", "hi\n"), ("seq 9 | sort -rn | head -2 | tr 9 x", "x\n8\n")] {
            let (stdout, stderr) = output(tidebox(&python, &cache, script))?;
            ensure!(stdout == expected && stderr.is_empty(), "{script} printed {stdout:?} and {stderr:?}");
        }
        let files = list_files(&cache)?;
        ensure!(files.is_empty(), "programs of the wheel were compiled: {files:?}");
        Ok(())
    })
}

/// Uses the pack `python` from the wheels alone: the first use prepares it and reports that, the second one does not.
pub(super) fn test_pack(project: &Project, progress: &mut Progress, wheel: &Path, pack: &Path) -> Result<()> {
    let (python, cache) = fresh(project, progress, "python-extra")?;
    let mut extra = Command::new(python.join("python"));
    extra.args(["-m", "pip", "install", "--quiet", "--no-index"]);
    extra.args([wheel, pack].map(|file| format!("--find-links={}", file.parent().unwrap_or(file).display())));
    extra.arg("tidebox[python]");
    progress.run("install tidebox[python]", extra, RETRY)?;
    progress.step("prepare the pack python on its first use", |_| {
        let script = "python3 -c 'import numpy; print(numpy.ones(2).sum())'";
        let (stdout, stderr) = output(tidebox(&python, &cache, script))?;
        ensure!(stdout == "2.0\n", "python3 printed {stdout:?} and {stderr:?}");
        for step in ["compiling", "pre-initializing the memory"] {
            ensure!(stderr.contains(&format!("first use of python: {step}")), "no line about {step}: {stderr:?}");
        }
        ensure!(!stderr.contains("downloading"), "the pack was downloaded: {stderr:?}");
        let mut again = Command::new(python.join("python"));
        again.args(["-c", &format!("import tidebox; print(tidebox.Sandbox().execute({script:?}).stdout, end='')")]);
        again.env("XDG_CACHE_HOME", &cache);
        let (stdout, stderr) = output(again)?;
        ensure!(stdout == "2.0\n" && stderr.is_empty(), "the second use printed {stdout:?} and {stderr:?}");
        Ok(())
    })
}

/// Creates an environment without packages, and an empty cache directory.
fn fresh(project: &Project, progress: &mut Progress, name: &str) -> Result<(PathBuf, PathBuf)> {
    let dir = empty_dir(project.target.join(name))?;
    let (environment, cache) = (dir.join("environment"), empty_dir(dir.join("cache"))?);
    let mut create = Command::new("python3");
    create.args(["-m", "venv"]).arg(&environment);
    progress.run(&format!("create the environment {name}"), create, RETRY)?;
    Ok((environment.join(if cfg!(windows) { "Scripts" } else { "bin" }), cache))
}

fn tidebox(python: &Path, cache: &Path, script: &str) -> Command {
    let mut command = Command::new(python.join("tidebox"));
    // The time of the preparation counts for the command. No index may be used.
    command.args(["exec", "--timeout", "3600", script]).env("XDG_CACHE_HOME", cache).env("PIP_NO_INDEX", "1");
    command
}

fn output(mut command: Command) -> Result<(String, String)> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    ensure!(output.status.success(), "{command:?} ended with {}: {}", output.status, text(&output.stderr));
    Ok((text(&output.stdout), text(&output.stderr)))
}
