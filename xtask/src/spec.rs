//! Records and compares the cases in `tests/spec` and generates the page of their differences.

use anyhow::{Result, bail};

use crate::project::Project;
use crate::step::Progress;

/// Runs the test `spec` in one of its modes on the cases whose file name contains `files`. `record` and `compare` need bash and
/// the tools on the host; `compare` also accepts the path of another file of cases. `differences` rewrites
/// `tests/spec/DIFFERENCES.md`.
pub(crate) fn run(project: &Project, progress: &mut Progress, mode: &str, files: &str) -> Result<()> {
    if !["record", "compare", "differences"].contains(&mode) {
        bail!("unknown mode `{mode}` of `cargo xtask spec`: use `record`, `compare` or `differences`");
    }
    // The whole workspace, like all other tests, so that its packages are built with the same features.
    let mut test = project.cargo(&["test", "--locked", "--workspace", "--test", "spec"]);
    test.env("TIDEBOX_SPEC", mode).env("TIDEBOX_SPEC_FILES", files);
    progress.run(&format!("{mode} of tests/spec"), test, &format!("cargo xtask spec {mode}"))
}
