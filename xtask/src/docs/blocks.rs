//! Code blocks of the pages that users copy: a test runs each, or a comment before it states why not.
//!
//! `<!-- not run: REASON -->` in the line before a block exempts it.

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result, bail};

use super::pages::Pages;
use crate::project::Project;

/// Directories and pages whose blocks must run.
const CHECKED: [&str; 4] = ["docs/start/", "docs/guides/", "docs/index.md", "docs/comparison.md"];

/// Pages whose Python blocks run: `xtask/src/python_package.rs` copies them next to `python-bindings/tests/test_docs.py`.
pub(crate) const PYTHON_PAGES: [&str; 5] = [
    "python-bindings/README.md",
    "docs/python-package.md",
    "docs/start/python.md",
    "docs/guides/test-an-agent.md",
    "docs/guides/secrets.md",
];

/// Pages whose JavaScript blocks run: `xtask/src/npm_tests/test_dir.rs` copies them for `js-bindings/tests/docs.test.mjs`.
pub(crate) const JAVASCRIPT_PAGES: [&str; 1] = ["docs/start/javascript.md"];

/// Marks a block that no test runs.
const NOT_RUN: &str = "<!-- not run: ";

/// Result of the check.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// Number of blocks that tests run.
    pub(super) run: usize,
    /// Page, line and reason of the others.
    pub(super) not_run: Vec<String>,
}

/// Fails if a block neither runs nor has a reason.
pub(super) fn check(project: &Project, pages: &Pages) -> Result<Blocks> {
    let path = project.root.join("src/doc_tests.rs");
    let doc_tests = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut blocks = Blocks::default();
    let mut errors = String::new();
    for (page, text) in pages.iter().filter(|(page, _)| CHECKED.iter().any(|prefix| page.starts_with(prefix))) {
        for (line, language, reason) in fences(text) {
            match (reason, runner(&language, page, &doc_tests)) {
                (Some(reason), _) => blocks.not_run.push(format!("{page}:{line}: {reason}")),
                (None, Ok(())) => blocks.run += 1,
                (None, Err(error)) => drop(writeln!(errors, "{page}:{line}: {error}")),
            }
        }
    }
    if !errors.is_empty() {
        bail!("code blocks that no test runs; run them, or add `{NOT_RUN}REASON -->` before them:\n{errors}");
    }
    Ok(blocks)
}

/// Returns an error unless a test runs the blocks of this language in this page.
fn runner(language: &str, page: &str, doc_tests: &str) -> Result<(), String> {
    let (known, list) = match language.split(',').next().unwrap_or_default() {
        // `tests/readme/console.rs` runs the blocks of all checked pages.
        "console" => return Ok(()),
        "rust" => (doc_tests.contains(&format!("\"../{page}\"")), "src/doc_tests.rs"),
        "python" => (PYTHON_PAGES.contains(&page), "PYTHON_PAGES"),
        "js" => (JAVASCRIPT_PAGES.contains(&page), "JAVASCRIPT_PAGES"),
        other => return Err(format!("no test runs blocks of the language `{other}`")),
    };
    if known { Ok(()) } else { Err(format!("add the page to {list}")) }
}

/// Line from 1, language, and the reason why it does not run, of every block.
fn fences(text: &str) -> Vec<(usize, String, Option<String>)> {
    let mut blocks = Vec::new();
    let (mut in_block, mut before) = (false, "");
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(language) = line.strip_prefix("```") {
            in_block = !in_block;
            if in_block {
                let reason = before.strip_prefix(NOT_RUN).and_then(|rest| rest.strip_suffix(" -->"));
                blocks.push((number, language.to_owned(), reason.map(str::to_owned)));
            }
        }
        before = line;
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_its_line_language_and_reason() {
        let text = "a\n```rust\n```\n<!-- not run: it needs an account -->\n```sh\n```\n";
        let found = fences(text);
        assert_eq!(found[0], (2, "rust".to_owned(), None));
        assert_eq!(found[1], (5, "sh".to_owned(), Some("it needs an account".to_owned())));
    }

    #[test]
    fn a_block_without_a_test_is_an_error() {
        assert!(
            runner("rust,no_run", "docs/start/rust.md", "#[doc = include_str!(\"../docs/start/rust.md\")]").is_ok()
        );
        assert!(runner("rust", "docs/start/rust.md", "").is_err());
        assert!(runner("sh", "docs/start/rust.md", "").is_err());
    }
}
