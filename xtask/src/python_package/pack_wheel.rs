//! The wheel `tidebox-python`: the files of the pack `python`, for the extra `tidebox[python]`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{RETRY, WHEEL, empty_dir, pack, venv};
use crate::project::Project;
use crate::step::Progress;

/// Maximum size of a file in the index, by default.
const MAX_BYTES: u64 = 100 * 1024 * 1024;

/// Builds the wheel with the library of the wheel `tidebox`, which lists the files of its version of the pack.
pub(super) fn build(project: &Project, progress: &mut Progress, wheel: &Path) -> Result<PathBuf> {
    let version = version(wheel)?;
    let pin = format!("\"tidebox-python=={version}\"");
    let pyproject = fs::read_to_string(project.root.join("python-bindings/pyproject.toml"))?;
    ensure!(pyproject.contains(&pin), "pyproject.toml does not have the extra {pin}");
    let tools = venv(project, progress, "python-pack", &[WHEEL])?;
    let dir = empty_dir(project.target.join("wheels/python-pack"))?;
    let (own, tree) = (dir.join("tidebox"), dir.join("tree"));
    let mut unpack = Command::new(tools.join("python"));
    unpack.args(["-m", "wheel", "unpack", "--dest"]).arg(&own).arg(wheel);
    progress.run("unpack the wheel", unpack, RETRY)?;
    let library = fs::read_dir(&own)?.next().context("the wheel is empty")??.path();
    let mut ship = Command::new(tools.join("python"));
    ship.args(["-B", "-m", "tidebox", "pack", "ship", "python"]).arg(tree.join("tidebox_python")).current_dir(library);
    progress.run("collect the files of the pack python", ship, RETRY)?;
    let mut complete = Command::new(tools.join("python"));
    complete.args(["-c", include_str!("pack_wheel.py")]).arg(&tree).arg(&version);
    progress.run("write the licences of the pack python", complete, RETRY)?;
    pack(progress, &tools, &tree, &dir)?;
    let built = dir.join(format!("tidebox_python-{version}-py3-none-any.whl"));
    let bytes = fs::metadata(&built).with_context(|| format!("{} is missing", built.display()))?.len();
    ensure!(bytes <= MAX_BYTES, "{} has {bytes} bytes, more than {MAX_BYTES}", built.display());
    progress.print(&format!("{}: {:.1} MiB", built.display(), bytes as f64 / f64::from(1 << 20)));
    Ok(built)
}

/// Returns the version in the name of a wheel.
fn version(wheel: &Path) -> Result<String> {
    let name = wheel.file_name().unwrap_or_default().to_string_lossy();
    Ok(name.split('-').nth(1).with_context(|| format!("{name} is not the name of a wheel"))?.to_owned())
}
