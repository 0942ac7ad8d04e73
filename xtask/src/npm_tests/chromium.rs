//! The browser that the tests drive.

use std::process::{Command, Stdio};

use super::RETRY;
use crate::step::Progress;

/// Debian's package, and the font that screenshots are compared in.
const PACKAGES: [&str; 2] = ["chromium", "fonts-dejavu-core"];

/// Returns the version of Chromium. Installs it if it is missing and the host is a Debian with root access; otherwise prints the reason and returns `None`.
pub(super) fn version(progress: &mut Progress) -> Option<String> {
    if let Some(version) = installed_version() {
        return Some(version);
    }
    let skipped = "tests in Chromium are skipped: Chromium is not installed";
    if !is_root() || stdout_of(Command::new("apt-get").arg("--version")).is_none() {
        progress.print(&format!(
            "{skipped}; run `apt-get install {}` as root, or set TIDEBOX_CHROMIUM to the path of its program",
            PACKAGES.join(" ")
        ));
        return None;
    }
    if let Err(error) = install(progress) {
        progress.print(&format!("{skipped}, and the installation failed: {error:#}"));
        return None;
    }
    let version = installed_version();
    if version.is_none() {
        progress.print(&format!("{skipped}, although its package was installed"));
    }
    version
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

fn installed_version() -> Option<String> {
    let program = std::env::var_os("TIDEBOX_CHROMIUM").unwrap_or_else(|| "chromium".into());
    let printed = stdout_of(Command::new(program).arg("--version"))?;
    // `Chromium 156.0.8078.79 built on Debian GNU/Linux 12 (bookworm)`
    Some(printed.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
}

fn is_root() -> bool {
    stdout_of(Command::new("id").arg("-u")).is_some_and(|id| id.trim() == "0")
}

/// Returns the output of a program, or `None` if it is missing or fails.
fn stdout_of(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
