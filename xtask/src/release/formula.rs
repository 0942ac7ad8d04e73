//! The Homebrew formula, from the template `release/tidebox.rb.in`.

use std::fs;

use anyhow::{Context, Result, ensure};

use super::version;
use crate::project::Project;

/// Returns the formula for files at `base`, with the checksum of each archive that `sums` lists.
pub(super) fn write(project: &Project, base: &str, sums: &str) -> Result<String> {
    let template = fs::read_to_string(project.root.join("release/tidebox.rb.in"))?;
    fill(&template, base, &version(project)?, sums)
}

/// Replaces `@BASE@`, `@VERSION@`, and `@TARGET@` of every platform by the checksum of its archive.
fn fill(template: &str, base: &str, version: &str, sums: &str) -> Result<String> {
    let mut text = template.replace("@BASE@", base).replace("@VERSION@", version);
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").context("a checksum has no file name")?;
        let target = name.strip_prefix(&format!("tidebox-{version}-")).and_then(|rest| rest.strip_suffix(".tar.gz"));
        if let Some(target) = target {
            text = text.replace(&format!("@{target}@"), sum);
        }
    }
    let missing: Vec<&str> = text.split('"').filter(|word| word.starts_with('@') && word.ends_with('@')).collect();
    ensure!(
        missing.is_empty(),
        "cannot write the formula: there is no archive for {}; run `cargo xtask release archive` on each platform and collect the files",
        missing.join(", ").replace('@', "")
    );
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::fill;

    const TEMPLATE: &str =
        "url \"@BASE@/tidebox-@VERSION@-x86_64-apple-darwin.tar.gz\"\nsha256 \"@x86_64-apple-darwin@\"\n";

    #[test]
    fn the_formula_gets_the_checksum_of_each_platform() {
        let sums = "11aa  tidebox-1.2.3-x86_64-apple-darwin.tar.gz\n22bb  tidebox-core-1.2.3.crate\n";
        let filled = fill(TEMPLATE, "https://example.com", "1.2.3", sums).expect("every platform has an archive");
        assert_eq!(filled, "url \"https://example.com/tidebox-1.2.3-x86_64-apple-darwin.tar.gz\"\nsha256 \"11aa\"\n");
    }

    #[test]
    fn a_platform_without_an_archive_is_an_error() {
        let error = fill(TEMPLATE, "https://example.com", "1.2.3", "22bb  tidebox-core-1.2.3.crate\n");
        let message = error.expect_err("an archive is missing").to_string();
        assert!(message.contains("no archive for x86_64-apple-darwin"), "{message}");
    }
}
