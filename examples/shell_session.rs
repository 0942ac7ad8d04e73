//! Commands of one sandbox that work as lines of one shell: directory, variables, functions and aliases stay.

use tidebox::{ExecuteRequest, SandboxBackend, SandboxPath, ShellMode};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidebox::Error> {
    let sandbox = tidebox::sandbox()?.shell_mode(ShellMode::Persistent).build()?;
    sandbox.execute(ExecuteRequest::new("mkdir app && cd app; export STAGE=test; set -e")).await?;
    sandbox.execute(ExecuteRequest::new("say() { echo \"$STAGE in ${PWD##*/}: $1\"; }")).await?;
    let response = sandbox.execute(ExecuteRequest::new("false; say 'options do not stay'")).await?;
    assert_eq!(response.stdout_text(), "test in app: options do not stay\n");

    // What a request names holds for its command alone.
    let elsewhere = ExecuteRequest::new("say there").with_cwd(SandboxPath::parse("/tmp")?).with_env("STAGE", "live");
    assert_eq!(sandbox.execute(elsewhere).await?.stdout_text(), "live in tmp: there\n");
    assert_eq!(sandbox.execute(ExecuteRequest::new("say here")).await?.stdout_text(), "test in app: here\n");

    // A single command may stay out of the session.
    let apart = ExecuteRequest::new("pwd; type say").with_shell_mode(ShellMode::Fresh);
    assert_eq!(sandbox.execute(apart).await?.stdout_text(), "/workspace\n");
    Ok(())
}
