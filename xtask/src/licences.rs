//! The check that all linked packages have MIT, Apache-2.0 or more permissive licences.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::project::Project;
use crate::step::{self, Progress};

/// Licences that require no more than a notice. Copyleft licences (GPL, LGPL, MPL) are absent on purpose: users link Tidebox
/// into closed programs.
const ACCEPTED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// A package of `cargo metadata`.
#[derive(Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    /// `None`: a package of this repository.
    pub(crate) source: Option<String>,
    pub(crate) manifest_path: PathBuf,
}

/// Runs `cargo metadata` and returns the packages.
pub(crate) fn packages(cargo: &mut Command, retry: &str) -> Result<Vec<Package>> {
    let json = step::output(cargo.args(["--format-version", "1"]), retry)?;
    let metadata: Metadata = serde_json::from_slice(&json).context("cannot parse the output of `cargo metadata`")?;
    Ok(metadata.packages)
}

/// Checks the packages of the host workspace and of the guests, tests and tooling included.
pub(crate) fn step(project: &Project, progress: &mut Progress) -> Result<()> {
    let arguments = ["metadata", "--locked", "--filter-platform"];
    progress.step("licences", |_| {
        let mut rejected = Vec::new();
        for (mut cargo, platform) in [
            (project.cargo(&arguments), "x86_64-unknown-linux-gnu"),
            (project.guest_cargo(&arguments), crate::userland::TARGET),
        ] {
            let packages = packages(cargo.arg(platform), "cargo xtask test")?;
            rejected.extend(packages.iter().filter(|package| !is_free(package)).map(|package| {
                let licence = package.license.as_deref().unwrap_or("none");
                format!("{} {}: {licence}", package.name, package.version)
            }));
        }
        if !rejected.is_empty() {
            bail!("these packages have licences that are not accepted (ACCEPTED in xtask/src/licences.rs); choose other packages:\n  {}", rejected.join("\n  "));
        }
        Ok(())
    })
}

fn is_free(package: &Package) -> bool {
    package.license.as_deref().is_some_and(accepts)
}

/// Returns whether an SPDX expression can be satisfied by accepted licences. `/` is the old spelling of `OR`.
fn accepts(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    matches!(any(&tokens), Some((true, [])))
}

/// Parses `a OR b`: returns whether it is accepted and the remaining tokens, or `None` if it is not an expression.
fn any<'a>(tokens: &'a [&'a str]) -> Option<(bool, &'a [&'a str])> {
    let (mut accepted, mut rest) = all(tokens)?;
    while let ["OR", after @ ..] = rest {
        let (next, after) = all(after)?;
        (accepted, rest) = (accepted || next, after);
    }
    Some((accepted, rest))
}

/// Parses `a AND b`, which binds tighter than `OR`.
fn all<'a>(tokens: &'a [&'a str]) -> Option<(bool, &'a [&'a str])> {
    let (mut accepted, mut rest) = one(tokens)?;
    while let ["AND", after @ ..] = rest {
        let (next, after) = one(after)?;
        (accepted, rest) = (accepted && next, after);
    }
    Some((accepted, rest))
}

fn one<'a>(tokens: &'a [&'a str]) -> Option<(bool, &'a [&'a str])> {
    match tokens {
        ["(", inner @ ..] => match any(inner)? {
            (accepted, [")", rest @ ..]) => Some((accepted, rest)),
            _ => None,
        },
        [licence, "WITH", exception, rest @ ..] => {
            Some((ACCEPTED.contains(&format!("{licence} WITH {exception}").as_str()), rest))
        }
        [licence, rest @ ..] => Some((ACCEPTED.contains(licence), rest)),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_accepted_choice_is_enough() {
        for expression in [
            "MIT",
            "MIT/Apache-2.0",
            "Apache-2.0 OR GPL-2.0-only",
            "Apache-2.0 WITH LLVM-exception OR MPL-2.0",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
        ] {
            assert!(accepts(expression), "{expression}");
        }
    }

    #[test]
    fn copyleft_licences_are_rejected() {
        for expression in [
            "GPL-3.0",
            "MPL-2.0",
            "MIT AND MPL-2.0",
            "(MIT OR Apache-2.0) AND LGPL-3.0",
            "MIT WITH Some-exception",
            "GPL-2.0 OR MIT AND MPL-2.0",
        ] {
            assert!(!accepts(expression), "{expression}");
        }
    }

    #[test]
    fn malformed_expressions_are_rejected() {
        for expression in ["", "(MIT", "MIT)", "MIT OR", "MIT Apache-2.0"] {
            assert!(!accepts(expression), "{expression}");
        }
        let (name, version, manifest_path) = ("p".into(), "1".into(), PathBuf::new());
        assert!(!is_free(&Package { name, version, license: None, source: None, manifest_path }));
    }
}
