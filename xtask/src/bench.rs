//! `cargo xtask bench`: Tidebox next to other sandboxes and the programs of the host, each surface in one run.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::npm;
use crate::project::Project;
use crate::python_package;
use crate::setup;
use crate::step::{self, Progress};

const RETRY: &str = "cargo xtask bench";

/// Interpreters that the other Python packages support, the newest first.
const INTERPRETERS: [&str; 4] = ["python3.14", "python3.13", "python3.12", "python3"];

/// Oldest minor version of Python 3 that they support.
const MINOR_VERSION: u32 = 12;

/// Section of docs/performance.md for the table of each surface.
const SECTIONS: [(&str, &str); 2] = [("python", "Python package"), ("javascript", "JavaScript package")];

/// Measures the named surfaces, or all, prints the tables and keeps them in `bench` in the target directory. `write` puts them
/// into docs/performance.md.
pub(crate) fn bench(project: &Project, progress: &mut Progress, arguments: &[&str]) -> Result<()> {
    let write = arguments.contains(&"--write");
    let mut surfaces: Vec<&str> = arguments.iter().copied().filter(|argument| *argument != "--write").collect();
    if surfaces.is_empty() {
        surfaces = SECTIONS.map(|(surface, _)| surface).to_vec();
    }
    if let Some(unknown) = surfaces.iter().find(|name| SECTIONS.iter().all(|(surface, _)| surface != *name)) {
        bail!("cannot measure {unknown}: `{RETRY}` measures python and javascript");
    }
    setup::guests(project, progress)?;
    let tables = project.target.join("bench");
    fs::create_dir_all(&tables)?;
    for (surface, section) in SECTIONS.iter().filter(|(surface, _)| surfaces.contains(surface)) {
        let printed = match *surface {
            "python" => python(project, progress)?,
            _ => javascript(project, progress)?,
        };
        let file = tables.join(format!("{surface}.md"));
        fs::write(&file, &printed).with_context(|| format!("cannot write {}", file.display()))?;
        println!("{printed}");
        if write {
            let page = project.root.join("docs/performance.md");
            let text = replace_table(&fs::read_to_string(&page)?, section, &printed)?;
            fs::write(&page, text).with_context(|| format!("cannot write {}", page.display()))?;
        }
    }
    if write { crate::docs::drawings(project) } else { Ok(()) }
}

/// Measures the wheel in an environment with the other packages.
fn python(project: &Project, progress: &mut Progress) -> Result<String> {
    let interpreter = INTERPRETERS.into_iter().find(|name| is_supported(name)).with_context(|| {
        format!("cannot measure the Python package: the packages next to it need Python 3.{MINOR_VERSION}; install it")
    })?;
    let wheel = python_package::wheel(project, progress)?;
    let benches = project.root.join("python-bindings/benches");
    let environment = project.target.join("python-bench");
    let mut create = Command::new(interpreter);
    create.args(["-m", "venv", "--clear"]).arg(&environment);
    progress.run("create the environment of the benchmark", create, RETRY)?;
    let program = environment.join(if cfg!(windows) { "Scripts/python" } else { "bin/python" });
    let mut install = Command::new(&program);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
    install.arg(benches.join("requirements.txt")).arg(wheel);
    progress.run("install the packages next to it", install, RETRY)?;
    progress.step("measure the Python package", |_| print_of(Command::new(&program).arg(benches.join("compare.py"))))
}

/// Returns whether a program is a Python that the packages support.
fn is_supported(program: &str) -> bool {
    let check = format!("import sys; sys.exit(sys.version_info < (3, {MINOR_VERSION}))");
    Command::new(program).args(["-c", &check]).output().is_ok_and(|output| output.status.success())
}

/// Measures the npm package in a copy of `js-bindings/bench`.
fn javascript(project: &Project, progress: &mut Progress) -> Result<String> {
    let archive = npm::pack(project, progress, npm::Types::Check)?;
    let dir = copy_bench(project)?;
    let mut install = Command::new("npm");
    install.args(["install", "--prefer-offline", "--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund"]);
    install.arg(archive).current_dir(&dir);
    progress.run("install the packages next to it", install, RETRY)?;
    progress.step("measure the npm package", |_| print_of(Command::new("node").arg("bench.mjs").current_dir(&dir)))
}

fn copy_bench(project: &Project) -> Result<PathBuf> {
    let dir = project.target.join("npm-bench");
    fs::create_dir_all(&dir)?;
    for entry in fs::read_dir(project.root.join("js-bindings/bench"))? {
        let path = entry?.path();
        if path.is_file() {
            fs::copy(&path, dir.join(path.file_name().unwrap_or_default()))?;
        }
    }
    Ok(dir)
}

fn print_of(command: &mut Command) -> Result<String> {
    let printed = String::from_utf8(step::output(command, RETRY)?).context("the benchmark printed invalid UTF-8")?;
    ensure!(table_of(&printed).is_some(), "the benchmark printed no table:\n{printed}");
    Ok(printed)
}

/// Returns the first Markdown table of a text.
fn table_of(text: &str) -> Option<&str> {
    let start = if text.starts_with('|') { 0 } else { text.find("\n|")? + 1 };
    let rest = text.get(start..)?;
    let end =
        rest.match_indices('\n').find(|(at, _)| !rest[at + 1..].starts_with('|')).map_or(rest.len(), |(at, _)| at);
    rest.get(..end)
}

/// Replaces the first table of a section of a page.
fn replace_table(page: &str, section: &str, printed: &str) -> Result<String> {
    let title = format!("\n## {section}\n");
    let start = page.find(&title).with_context(|| format!("docs/performance.md has no section {section}"))?;
    let (before, rest) = page.split_at(start + title.len());
    let end = rest.find("\n## ").unwrap_or(rest.len());
    let (body, after) = rest.split_at(end);
    let new = table_of(printed).context("the benchmark printed no table")?;
    let body = match table_of(body) {
        Some(old) => body.replacen(old, new, 1),
        None => format!("{}\n\n{new}\n", body.trim_end()),
    };
    Ok(format!("{before}{body}{after}"))
}

#[cfg(test)]
mod tests {
    use super::{replace_table, table_of};

    #[test]
    fn a_table_ends_at_the_first_other_line() {
        assert_eq!(table_of("Node 24\n\n| a |\n|---|\n| 1 |\n\nlater\n| b |"), Some("| a |\n|---|\n| 1 |"));
        assert_eq!(table_of("| a |\n"), Some("| a |"));
        assert_eq!(table_of("no table"), None);
    }

    #[test]
    fn only_the_table_of_the_section_is_replaced() {
        let page = "# Page\n\n## One\n| a |\n\n## Two\ntext\n\n| b |\n| 1 |\n\nmore\n\n## Three\n| c |\n";
        let replaced = replace_table(page, "Two", "heading\n| x |\n| 2 |\n").expect("the section exists");
        assert_eq!(replaced, "# Page\n\n## One\n| a |\n\n## Two\ntext\n\n| x |\n| 2 |\n\nmore\n\n## Three\n| c |\n");
        let added = replace_table("# Page\n\n## Two\ntext\n", "Two", "| x |\n").expect("the section exists");
        assert_eq!(added, "# Page\n\n## Two\ntext\n\n| x |\n");
        assert!(replace_table(page, "Four", "| x |\n").is_err());
    }
}
