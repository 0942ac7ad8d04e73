//! Notices with the licences of all packages that an archive contains: for the Python wheel those of the library and those of the guest
//! programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::licences::{self, Package};
use crate::project::Project;
use crate::step;
use crate::userland;

const RETRY: &str = "cargo xtask python";

/// Prefixes of the names of licence files, in lower case.
const LICENCE_FILES: [&str; 5] = ["licen", "copying", "notice", "unlicense", "copyright"];

/// Returns the notice: each licence text once, after the packages that it belongs to.
pub(crate) fn text(project: &Project, package: &str) -> Result<String> {
    let host =
        packages(project.cargo(&["tree", "--locked", "--package", package]), project.cargo(&["metadata", "--locked"]))?;
    let tree = project.guest_cargo(&["tree", "--locked", "--workspace", "--target", userland::TARGET]);
    let guests = packages(tree, project.guest_cargo(&["metadata", "--locked"]))?;
    let mut texts = Texts::default();
    for package in host.iter().chain(&guests) {
        texts.add_package(package)?;
    }
    texts.write("Tidebox contains the following packages, under their licences.")
}

/// Licence texts, each with the packages that it belongs to.
#[derive(Default)]
pub(crate) struct Texts(BTreeMap<String, BTreeSet<String>>);

impl Texts {
    /// Adds a text of a package.
    pub(crate) fn add(&mut self, text: &str, title: &str) {
        self.0.entry(text.replace("\r\n", "\n")).or_default().insert(title.to_owned());
    }

    fn add_package(&mut self, package: &Package) -> Result<()> {
        let title =
            format!("{} {} ({})", package.name, package.version, package.license.as_deref().unwrap_or("no licence"));
        for text in licence_texts(package)? {
            self.add(&text, &title);
        }
        Ok(())
    }

    /// Adds the packages that `cargo tree` prints, described by `cargo metadata`.
    pub(crate) fn add_packages(&mut self, tree: Command, metadata: Command) -> Result<()> {
        packages(tree, metadata)?.iter().try_for_each(|package| self.add_package(package))
    }

    /// Returns the notice: each text once, after the names of its packages.
    pub(crate) fn write(self, heading: &str) -> Result<String> {
        ensure!(!self.0.is_empty(), "no package has a licence file");
        let mut notice = format!("{heading}\n");
        for (text, packages) in self.0 {
            let titles: Vec<String> = packages.into_iter().collect();
            notice.push_str(&format!("\n{}\n{}\n\n{}\n", "=".repeat(80), titles.join("\n"), text.trim_end()));
        }
        Ok(notice)
    }
}

/// Returns the packages of other projects that `tree` prints.
fn packages(mut tree: Command, mut metadata: Command) -> Result<Vec<Package>> {
    tree.args(["--edges", "normal", "--prefix", "none", "--format", "{p}"]);
    let tree = String::from_utf8(step::output(&mut tree, RETRY)?)?;
    // A line is `name v1.2.3`, and more for packages of this repository.
    let linked: BTreeSet<(&str, &str)> = tree
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?, words.next()?.strip_prefix('v')?))
        })
        .collect();
    let packages = licences::packages(&mut metadata, RETRY)?;
    let is_linked = |package: &Package| linked.contains(&(package.name.as_str(), package.version.as_str()));
    Ok(packages.into_iter().filter(|package| package.source.is_some() && is_linked(package)).collect())
}

/// Returns the texts of the licence files of a package, or its SPDX expression if it has no file.
fn licence_texts(package: &Package) -> Result<Vec<String>> {
    let dir = package.manifest_path.parent().unwrap_or(Path::new("."));
    let mut texts = Vec::new();
    for entry in fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if entry.file_type()?.is_file() && LICENCE_FILES.iter().any(|prefix| name.starts_with(prefix)) {
            texts.push(String::from_utf8_lossy(&fs::read(entry.path())?).into_owned());
        }
    }
    if texts.is_empty() {
        texts.push(format!("Licence: {}", package.license.as_deref().unwrap_or("unknown")));
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notice_names_linked_packages_and_has_each_text_once() {
        let notice =
            text(&Project::find().expect("the workspace exists"), "tidebox-python").expect("packages have licences");
        for package in ["\nwasmtime ", "\npyo3 ", "\ntokio ", "\njaq-core ", "Permission is hereby granted"] {
            assert!(notice.contains(package), "{package}");
        }
        // Packages of this repository, and those that only tests use.
        for package in ["\ntidebox-core ", "\ncriterion "] {
            assert!(!notice.contains(package), "{package}");
        }
        assert!(notice.len() < 2 << 20, "{} bytes", notice.len());
    }
}
