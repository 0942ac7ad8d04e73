//! The browser that the tests drive.

use std::process::{Command, Stdio};

use super::RETRY;
use crate::step::Progress;

/// Debian's package, and the font that screenshots are compared in.
const PACKAGES: [&str; 2] = ["chromium", "fonts-dejavu-core"];

/// Whether Chromium is there. On a Debian where we are root it is installed; elsewhere the reason is said.
pub(super) fn is_there(progress: &mut Progress) -> bool {
    if starts() {
        return true;
    }
    let left_out = "tests in Chromium are left out: there is no Chromium";
    if !is_root() || !exists("apt-get") {
        progress.say(&format!(
            "{left_out}, and only root can install it here; `apt-get install {}` does, or name its program in \
             TIDEBOX_CHROMIUM",
            PACKAGES.join(" ")
        ));
        return false;
    }
    match install(progress) {
        Ok(()) if starts() => true,
        Ok(()) => {
            progress.say(&format!("{left_out}, although its package was installed"));
            false
        }
        Err(error) => {
            progress.say(&format!("{left_out}, and it cannot be installed: {error:#}"));
            false
        }
    }
}

fn install(progress: &mut Progress) -> anyhow::Result<()> {
    let apt = |arguments: &[&str]| {
        let mut apt = Command::new("apt-get");
        apt.env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null()).args(["-qq"]).args(arguments);
        apt
    };
    progress.run("Chromium is missing: read the lists of packages (apt-get update)", apt(&["update"]), RETRY)?;
    let mut install = apt(&["install", "-y", "--no-install-recommends"]);
    install.args(PACKAGES);
    progress.run("install Chromium (apt-get install chromium fonts-dejavu-core)", install, RETRY)
}

fn starts() -> bool {
    match std::env::var_os("TIDEBOX_CHROMIUM") {
        Some(program) => runs(Command::new(program).arg("--version")),
        None => exists("chromium"),
    }
}

fn exists(program: &str) -> bool {
    runs(Command::new(program).arg("--version"))
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

fn runs(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
