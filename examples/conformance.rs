//! Verifies a backend: declares its capabilities, runs the conformance suite, and prints skipped and failed cases.

#![allow(clippy::print_stdout, reason = "the report is what this program is for")]

use tidebox::conformance::{self, Capabilities};
use tidebox::{Dialect, SandboxPath};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidebox::Error> {
    // Any `SandboxBackend` will do; this one is the local backend.
    let backend = tidebox::sandbox()?.dialect(Dialect::Python).build()?;
    let root = SandboxPath::parse("/workspace")?;

    // Start with all capabilities and remove what the backend lacks. Timeouts are disabled here because they take long.
    let capabilities = Capabilities {
        dialect: Dialect::Python,
        timeout: false,
        kills_background: false,
        processes: false,
        terminals: false,
        keeps_background: false,
        ..Capabilities::FULL
    };
    let report = conformance::run(&backend, &capabilities, &root).await;

    println!("{report}");
    report.assert_success();
    assert!(report.skipped.iter().any(|skipped| skipped.reason.ends_with("stops commands at their timeout")));
    Ok(())
}
