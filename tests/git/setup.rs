//! Sandboxes with Git, the Git of the host, and directories that are moved between both.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tidebox::{ExecuteRequest, ExecuteResponse, Packs, Sandbox, SandboxBackend, Upload};

/// Fixed identities and times, so that both sides create equal objects, and no configuration of the host.
const VARIABLES: &[(&str, &str)] = &[
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_AUTHOR_NAME", "A U Thor"),
    ("GIT_AUTHOR_EMAIL", "author@example.com"),
    ("GIT_AUTHOR_DATE", "1700000000 +0000"),
    ("GIT_COMMITTER_NAME", "C O Mitter"),
    ("GIT_COMMITTER_EMAIL", "committer@example.com"),
    ("GIT_COMMITTER_DATE", "1700000000 +0000"),
    ("GIT_CONFIG_COUNT", "2"),
    ("GIT_CONFIG_KEY_0", "init.defaultBranch"),
    ("GIT_CONFIG_VALUE_0", "main"),
    ("GIT_CONFIG_KEY_1", "gc.auto"),
    ("GIT_CONFIG_VALUE_1", "0"),
    ("LANG", "C.UTF-8"),
    ("TZ", "UTC"),
];

/// Path of archives in the sandbox, outside of all directories that the tests compare.
const ARCHIVE: &str = "/tmp/moved.tar";

/// Returns whether both Gits exist, and prints the missing one.
pub(crate) fn is_ready() -> bool {
    let missing = if !Packs::user().ready().iter().any(|pack| pack.name() == "git") {
        Some("the pack git is not installed; run `cargo xtask pack git`, then `tidebox pack add git`")
    } else if Command::new("git").arg("--version").output().is_err() {
        Some("the host has no Git, which builds the repositories of these tests")
    } else {
        None
    };
    if let Some(missing) = missing {
        eprintln!("skipped: {missing}");
    }
    missing.is_none()
}

/// Creates a sandbox with Git and its fixed variables.
pub(crate) fn sandbox() -> Sandbox {
    configure(|builder| builder)
}

/// Creates a sandbox with other settings.
pub(crate) fn configure(settings: impl FnOnce(tidebox::SandboxBuilder) -> tidebox::SandboxBuilder) -> Sandbox {
    let mut builder = tidebox::sandbox().expect("the engine starts");
    for (name, value) in VARIABLES {
        builder = builder.env(*name, *value);
    }
    settings(builder).build().expect("the sandbox is built")
}

/// Runs a command in the sandbox.
pub(crate) async fn run(sandbox: &Sandbox, command: &str) -> ExecuteResponse {
    sandbox.execute(ExecuteRequest::new(command)).await.expect("the sandbox responds")
}

/// Runs a command in the sandbox that must succeed, and returns its standard output.
pub(crate) async fn succeed(sandbox: &Sandbox, command: &str) -> String {
    let response = run(sandbox, command).await;
    assert_eq!(response.exit_code, Some(0), "{command}: {}", response.output_text());
    response.stdout_text().into_owned()
}

/// Runs a script with the shell and the Git of the host, in a directory.
pub(crate) fn native(dir: &Path, script: &str) -> Output {
    let mut command = Command::new("bash");
    command.args(["-c", script]).current_dir(dir).env_clear().envs(VARIABLES.iter().copied());
    // The Git of Debian is the one that recorded the cases; `/usr/local` may have another version.
    command.env("PATH", "/usr/bin:/bin:/usr/local/bin").env("HOME", dir);
    command.stdin(Stdio::null()).output().expect("bash starts")
}

/// Like [`native`] for a script that must succeed. Returns its standard output.
pub(crate) fn native_succeed(dir: &Path, script: &str) -> String {
    let output = native(dir, script);
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Copies a directory of the host to a directory of the sandbox, which is created.
pub(crate) async fn upload(sandbox: &Sandbox, from: &Path, to: &str) {
    let packed = Command::new("tar").arg("-C").arg(from).args(["-cf", "-", "."]).output().expect("tar starts");
    assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    let sent = sandbox.upload_files(vec![Upload::new(ARCHIVE, packed.stdout)]).await.expect("the sandbox responds");
    assert!(sent.iter().all(|file| file.result.is_ok()), "{sent:?}");
    succeed(sandbox, &format!("mkdir -p {to} && tar -C {to} -xf {ARCHIVE} && rm {ARCHIVE}")).await;
}

/// Copies a directory of the sandbox to an existing directory of the host.
pub(crate) async fn download(sandbox: &Sandbox, from: &str, to: &Path) {
    succeed(sandbox, &format!("tar -C {from} -cf {ARCHIVE} .")).await;
    let mut received = sandbox.download_files(vec![ARCHIVE.into()]).await.expect("the sandbox responds");
    let archive = received.remove(0).result.expect("the archive exists");
    succeed(sandbox, &format!("rm {ARCHIVE}")).await;
    let mut tar = Command::new("tar");
    // As the user of the tests, also if that is root: Git refuses directories of other owners.
    let mut tar =
        tar.arg("-C").arg(to).args(["--no-same-owner", "-xf", "-"]).stdin(Stdio::piped()).spawn().expect("tar starts");
    tar.stdin.take().expect("piped").write_all(&archive).expect("tar reads the archive");
    assert!(tar.wait().expect("tar ends").success());
}
