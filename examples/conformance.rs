//! Proves a backend: says what it can do, runs the shared suite, and prints what was skipped and what failed.

#![allow(clippy::print_stdout, reason = "the report is what this program is for")]

use tidebox::conformance::{self, Capabilities};
use tidebox::{Dialect, SandboxPath};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidebox::Error> {
    // Any `SandboxBackend` will do; this one is the development backend.
    let backend = tidebox::sandbox()?.dialect(Dialect::Python).build()?;
    let root = SandboxPath::parse("/workspace")?;

    // Begin with everything and take back what does not hold. Timeouts are left out here because they take their time.
    let capabilities =
        Capabilities { dialect: Dialect::Python, timeout: false, nothing_outlives: false, ..Capabilities::FULL };
    let report = conformance::run(&backend, &capabilities, &root).await;

    println!("{report}");
    report.assert();
    assert!(report.skipped.iter().any(|skipped| skipped.reason.ends_with("ends commands whose time is up")));
    Ok(())
}
