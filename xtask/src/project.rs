//! Where things are in this work tree, and how cargo is called in it.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

/// The folders that the commands work on.
#[derive(Debug)]
pub(crate) struct Project {
    /// The root of the work tree.
    pub(crate) root: PathBuf,
    /// Where host builds go: `CARGO_TARGET_DIR`, else `target`.
    pub(crate) target: PathBuf,
}

impl Project {
    pub(crate) fn find() -> Result<Self> {
        // Not the path that was compiled in: one build folder may serve several clones.
        let package = env::var_os("CARGO_MANIFEST_DIR").context("start this by `cargo xtask`")?;
        let root = Path::new(&package).parent().context("the xtask package has no parent folder")?.to_path_buf();
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(dir) => root.join(dir),
            None => root.join("target"),
        };
        Ok(Self { root, target })
    }

    /// The guest workspace.
    pub(crate) fn userland(&self) -> PathBuf {
        self.root.join("userland")
    }

    /// Where guest builds go. Apart from host builds, so that neither waits for the other's lock.
    pub(crate) fn guest_target(&self) -> PathBuf {
        self.target.join("guest")
    }

    /// Where the finished guest modules lie; the host build embeds them from here.
    pub(crate) fn dist(&self) -> PathBuf {
        self.userland().join("dist")
    }

    /// The command `tidebox` as `cargo build` leaves it.
    pub(crate) fn tidebox(&self) -> PathBuf {
        self.target.join("debug").join(format!("tidebox{}", env::consts::EXE_SUFFIX))
    }

    /// Cargo over the host workspace.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(cargo_program());
        command.current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target).args(arguments);
        command
    }

    /// Cargo over the guest workspace.
    pub(crate) fn guest_cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(cargo_program());
        command.current_dir(self.userland()).env("CARGO_TARGET_DIR", self.guest_target()).args(arguments);
        command
    }
}

/// The cargo that started us, so that a toolchain chosen on its command line stays chosen.
fn cargo_program() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}
