//! Tests that need an interpreter and packages, which may be missing.

use libtest_mimic::{Failed, Trial};

/// Returns a test, or an ignored one whose name states the missing program.
pub(crate) fn trial<P: Clone + Send + 'static>(
    name: &str,
    prepared: &Result<P, String>,
    run: impl FnOnce(P) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    match prepared {
        Ok(prepared) => {
            let prepared = prepared.clone();
            Trial::test(name, move || run(prepared))
        }
        Err(missing) => {
            eprintln!("skipped: {name}: {missing}");
            let missing = missing.clone();
            let kind = format!("skipped, {missing}");
            Trial::test(name, move || Err(Failed::from(missing))).with_kind(kind).with_ignored_flag(true)
        }
    }
}
