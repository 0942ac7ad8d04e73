//! The paths of this work tree, and calls of cargo in it.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::step;

/// The directories that the commands work on.
#[derive(Debug)]
pub(crate) struct Project {
    /// The root of the work tree.
    pub(crate) root: PathBuf,
    /// The target directory of host builds: `CARGO_TARGET_DIR`, else `target`.
    pub(crate) target: PathBuf,
}

impl Project {
    pub(crate) fn find() -> Result<Self> {
        // Not the path at compile time: one target directory may serve several clones.
        let package = env::var_os("CARGO_MANIFEST_DIR").context("CARGO_MANIFEST_DIR is not set; run `cargo xtask`")?;
        let root = Path::new(&package).parent().context("the xtask package has no parent directory")?.to_path_buf();
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(dir) => root.join(dir),
            None => root.join("target"),
        };
        Ok(Self { root, target })
    }

    /// The platform of this host, as compilers name it.
    pub(crate) fn host(&self) -> Result<String> {
        let mut rustc = Command::new("rustc");
        let text =
            String::from_utf8(step::output(rustc.arg("-vV").current_dir(&self.root), "rustup toolchain install")?)?;
        let host = text.lines().find_map(|line| line.strip_prefix("host: ")).context("`rustc -vV` names no host")?;
        Ok(host.to_owned())
    }

    /// The guest workspace.
    pub(crate) fn userland(&self) -> PathBuf {
        self.root.join("userland")
    }

    /// The target directory of guest builds. Separate from host builds, so that neither waits for the other's lock.
    pub(crate) fn guest_target(&self) -> PathBuf {
        self.target.join("guest")
    }

    /// The directory of the finished guest modules, from which the host build embeds them.
    pub(crate) fn dist(&self) -> PathBuf {
        self.userland().join("dist")
    }

    /// The command `tidebox` as `cargo build` leaves it.
    pub(crate) fn tidebox(&self) -> PathBuf {
        self.target.join("debug").join(format!("tidebox{}", env::consts::EXE_SUFFIX))
    }

    /// Returns a cargo command for the host workspace.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(cargo_program());
        command.current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target).args(arguments);
        command
    }

    /// Returns a cargo command for the guest workspace.
    pub(crate) fn guest_cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(cargo_program());
        command.current_dir(self.userland()).env("CARGO_TARGET_DIR", self.guest_target()).args(arguments);
        command
    }
}

/// Returns the cargo that started this program, so that a toolchain chosen on its command line stays in force.
fn cargo_program() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Creates a directory, without the files of the last run.
pub(crate) fn empty_dir(dir: PathBuf) -> Result<PathBuf> {
    if dir.exists() {
        fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    }
    fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
    Ok(dir)
}

/// Returns all files below a directory, sorted.
pub(crate) fn list_files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    let mut dirs = vec![dir.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).with_context(|| format!("cannot list {}", dir.display()))? {
            let path = entry?.path();
            if path.is_dir() { dirs.push(path) } else { all.push(path) }
        }
    }
    all.sort();
    Ok(all)
}
