//! Running scripts in the sandbox.

use tidebox::{ExecuteRequest, SandboxBackend};

use crate::format::Outcome;

/// Runs a script in an empty sandbox.
pub(crate) fn run(script: &str) -> Outcome {
    let builder = tidebox::sandbox().expect("the engine starts").env("TZ", "UTC");
    let sandbox = builder.build().expect("a sandbox is made");
    let waiting = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime starts");
    let response = waiting.block_on(sandbox.execute(ExecuteRequest::new(script))).expect("it answers");
    Outcome { stdout: response.stdout, stderr: response.stderr, exit: response.exit_code.unwrap_or(-1) }
}
