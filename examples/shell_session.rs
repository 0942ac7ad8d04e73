//! Commands of one sandbox that run as lines of one shell: directory, variables, functions and aliases persist.

use tidebox::{ExecuteRequest, SandboxBackend, SandboxPath, ShellMode};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidebox::Error> {
    let sandbox = tidebox::sandbox()?.shell_mode(ShellMode::Persistent).build()?;
    sandbox.execute(ExecuteRequest::new("mkdir app && cd app; export STAGE=test; set -e")).await?;
    sandbox.execute(ExecuteRequest::new("say() { echo \"$STAGE in ${PWD##*/}: $1\"; }")).await?;
    let response = sandbox.execute(ExecuteRequest::new("false; say 'options do not stay'")).await?;
    assert_eq!(response.stdout_text(), "test in app: options do not stay\n");

    // Variables of a request apply to its command only.
    let elsewhere = ExecuteRequest::new("say there").with_cwd(SandboxPath::parse("/tmp")?).with_env("STAGE", "live");
    assert_eq!(sandbox.execute(elsewhere).await?.stdout_text(), "live in tmp: there\n");
    assert_eq!(sandbox.execute(ExecuteRequest::new("say here")).await?.stdout_text(), "test in app: here\n");

    // A command can run outside the session.
    let apart = ExecuteRequest::new("pwd; type say").with_shell_mode(ShellMode::Fresh);
    assert_eq!(sandbox.execute(apart).await?.stdout_text(), "/workspace\n");
    Ok(())
}
