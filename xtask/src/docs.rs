//! `cargo xtask docs`: the documentation as a book, and the checks of its pages.
//!
//! The checks, the charts and the recorded session need no other program, so `cargo xtask test` runs them. Only building
//! the book needs mdBook.

mod blocks;
mod book;
mod charts;
mod pages;
mod session;
mod svg;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use crate::project::Project;
use crate::step::Progress;

pub(crate) use blocks::{JAVASCRIPT_PAGES, PYTHON_PAGES};

const RETRY: &str = "cargo xtask docs";

/// Builds the book in `target/book`, after the checks.
pub(crate) fn docs(project: &Project, progress: &mut Progress) -> Result<()> {
    drawings(project)?;
    check(project, progress)?;
    let book = book::build(project, progress)?;
    progress.print(&format!("the book is {}", book.join("index.html").display()));
    Ok(())
}

/// Checks links, `SUMMARY.md`, code blocks and generated drawings. A part of `cargo xtask test`.
pub(crate) fn check(project: &Project, progress: &mut Progress) -> Result<()> {
    progress.step("documentation pages", |progress| {
        let pages = pages::read(project)?;
        pages::check(project, &pages)?;
        let blocks = blocks::check(project, &pages)?;
        for line in &blocks.not_run {
            progress.print(&format!("not run: {line}"));
        }
        progress.print(&format!("{} pages, {} code blocks that tests run", pages.len(), blocks.run));
        for (path, text) in generated(project)? {
            let current = fs::read_to_string(&path).unwrap_or_default();
            ensure!(current == text, "{} is outdated; run `cargo xtask docs drawings`", path.display());
        }
        Ok(())
    })
}

/// Writes the charts, and the drawing of the recorded session.
pub(crate) fn drawings(project: &Project) -> Result<()> {
    for (path, text) in generated(project)? {
        if fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
            println!("wrote {}", path.display());
        }
    }
    Ok(())
}

/// Runs the commands of the session on the first page again, records their output, and draws it.
pub(crate) fn record(project: &Project, progress: &mut Progress) -> Result<()> {
    session::record(project, progress)?;
    drawings(project)
}

/// The generated drawings with their paths.
fn generated(project: &Project) -> Result<Vec<(PathBuf, String)>> {
    let images = project.root.join("docs/images");
    let mut all = vec![(images.join("session.svg"), session::drawing(project)?)];
    let page = project.root.join("docs/performance.md");
    let text = fs::read_to_string(&page).with_context(|| format!("cannot read {}", page.display()))?;
    let charts = charts::draw(&text)?;
    if charts.is_empty() {
        bail!("{} refers to no chart; add ![...](images/chart-SECTION.svg) after a title", page.display());
    }
    all.extend(charts.into_iter().map(|(name, text)| (images.join(name), text)));
    Ok(all)
}
