//! Packages for other languages, in a subdirectory of the user's cache that is kept between test runs.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the directory with the packages of `wanted`, installed by `install` if missing. The error is one line.
pub(crate) fn installed(
    name: &str,
    wanted: &str,
    install: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let dir = cache()?.join("tidebox").join("tests").join(name);
    let failed = |error: std::io::Error| format!("{} cannot be used: {error}", dir.display());
    fs::create_dir_all(&dir).map_err(failed)?;
    // The runner starts one process per test, all concurrently.
    let lock = File::create(dir.join("lock")).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let stamp = dir.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|done| done == wanted) {
        return Ok(dir);
    }
    install(&dir)?;
    fs::write(&stamp, wanted).map_err(failed)?;
    Ok(dir)
}

fn cache() -> Result<PathBuf, String> {
    let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    cache.ok_or_else(|| "cannot find a directory for packages: set HOME or XDG_CACHE_HOME".to_owned())
}

/// Runs a step of an installation. The error is its last line on standard error.
pub(crate) fn step(what: &str, command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{what} does not start: {error}"))?;
    let stdout = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() {
        return Ok(stdout);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let last = stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no reason given");
    Err(format!("{what} failed: {}", last.trim()))
}
