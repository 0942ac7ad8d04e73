//! Recording what real bash and the GNU tools make of the cases in `tests/spec`, and comparing.

use anyhow::{Result, bail};

use crate::project::Project;
use crate::step::Progress;

/// Records or compares the cases whose file name contains `files`; the test itself does the work, because it knows the
/// cases. `compare` takes the path of another file of cases, too.
pub(crate) fn run(project: &Project, progress: &mut Progress, what: &str, files: &str) -> Result<()> {
    if !["record", "compare"].contains(&what) {
        bail!("`cargo xtask spec` knows `record` and `compare`, not `{what}`");
    }
    // The whole workspace, as all other tests: its packages would be built with other features otherwise.
    let mut test = project.cargo(&["test", "--locked", "--workspace", "--test", "spec"]);
    test.env("TIDEBOX_SPEC", what).env("TIDEBOX_SPEC_FILES", files);
    progress.run(&format!("{what} the cases of tests/spec"), test, &format!("cargo xtask spec {what}"))
}
