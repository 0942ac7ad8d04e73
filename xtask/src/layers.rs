//! The check of dependencies between the packages.
//!
//! Three rules: the packages depend on each other only along the arrows of `docs/architecture.md`; the dependencies of the
//! packages without I/O, direct or not, do no I/O; and the sources of these packages do not name what a browser does not
//! have: files, environment, clock, threads, processes.

mod graph;
mod source;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::project::Project;
use crate::step::{self, Progress};
use graph::Graph;

/// A package and the packages of this workspace that its library may depend on. Every package must be listed, so that adding
/// one is a decision about its layer.
const ALLOWED_DEPENDENCIES: &[(&str, &[&str])] = &[
    ("tidebox-core", &[]),
    ("tidebox-kernel", &["tidebox-core"]),
    ("tidebox-pack-split", &[]),
    ("tidebox-wasi-runner", &["tidebox-core", "tidebox-kernel", "tidebox-pack-split"]),
    ("tidebox-vfs-backend", &["tidebox-core", "tidebox-kernel"]),
    ("tidebox-mounts", &["tidebox-core", "tidebox-kernel", "tidebox-vfs-backend"]),
    ("tidebox-network", &["tidebox-core"]),
    ("tidebox-packs", &[]),
    ("tidebox-js-values", &["tidebox-core"]),
    (
        "tidebox-js-bindings",
        &["tidebox-core", "tidebox-js-values", "tidebox-kernel", "tidebox-pack-split", "tidebox-vfs-backend"],
    ),
    ("tidebox-js-remote", &["tidebox-core", "tidebox-js-values", "tidebox-remote-adapters"]),
    ("tidebox-remote-adapters", &["tidebox-core"]),
    ("tidebox-emulators", &["tidebox-core", "tidebox-remote-adapters"]),
    ("tidebox-userland-bundle", &[]),
    (
        "tidebox",
        &[
            "tidebox-core",
            "tidebox-kernel",
            "tidebox-wasi-runner",
            "tidebox-vfs-backend",
            "tidebox-mounts",
            "tidebox-network",
            "tidebox-packs",
            "tidebox-remote-adapters",
            "tidebox-emulators",
            "tidebox-userland-bundle",
        ],
    ),
    ("xtask", &[]),
];

/// Packages without I/O, which build for `wasm32-unknown-unknown`: name and directory.
pub(crate) const NO_IO_PACKAGES: &[(&str, &str)] =
    &[("tidebox-core", "core"), ("tidebox-kernel", "kernel"), ("tidebox-vfs-backend", "vfs-backend")];

/// Packages that a package without I/O must not depend on, directly or not. A name ending in `-` is a prefix.
const BANNED_PACKAGES: &[&str] = &[
    "anyhow",
    "async-std",
    "cap-",
    "cranelift-",
    "getrandom",
    "hyper",
    "mio",
    "reqwest",
    "rustix",
    "smol",
    "tokio",
    "wasi-common",
    "wasmtime",
    "wasmtime-",
];

/// The package that only programs, tests and tooling may use: a library defines its own error types.
const PROGRAMS_ONLY: &str = "anyhow";

/// Paths that the sources of a package without I/O must not name.
const BANNED_PATHS: &[&str] = &[
    "std::env",
    "std::fs",
    "std::net",
    "std::os",
    "std::process",
    "std::thread",
    "std::time::Instant",
    // The type is a plain value; only reading the clock is unavailable in a browser.
    "std::time::SystemTime::now",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
];

/// Runs the check as a step.
pub(crate) fn step(project: &Project, progress: &mut Progress) -> Result<()> {
    progress.step("layers", |_| check(project))
}

fn check(project: &Project) -> Result<()> {
    let mut metadata = project.cargo(&["metadata", "--format-version", "1", "--locked"]);
    // Two platforms cover every edge between our packages, and cargo need not fetch what only other platforms use.
    for platform in ["x86_64-unknown-linux-gnu", "wasm32-unknown-unknown"] {
        metadata.args(["--filter-platform", platform]);
    }
    let json = step::output(&mut metadata, "cargo xtask layers")?;
    let graph = Graph::parse(&json)?;
    let mut broken = check_graph(&graph);
    for (_, folder) in NO_IO_PACKAGES {
        check_sources(&project.root, &project.root.join(folder).join("src"), &mut broken)?;
    }
    if broken.is_empty() {
        return Ok(());
    }
    bail!(
        "the layers do not hold:\n  {}\nmove the code to the package whose job it is (docs/architecture.md), then run \
         `cargo xtask layers` again",
        broken.join("\n  ")
    )
}

fn check_graph(graph: &Graph) -> Vec<String> {
    let mut broken = Vec::new();
    for member in graph.members() {
        let Some((_, allowed)) = ALLOWED_DEPENDENCIES.iter().find(|(name, _)| *name == member) else {
            broken.push(format!("{member} has no place yet: add it to ARROWS in xtask/src/layers.rs"));
            continue;
        };
        for dependency in graph.dependencies(member) {
            if graph.is_member(dependency) && !allowed.contains(&dependency) {
                broken.push(format!("{member} may not depend on {dependency}"));
            }
            if dependency == PROGRAMS_ONLY && !matches!(member, "tidebox" | "xtask") {
                broken.push(format!("{member} is a library and may not use {PROGRAMS_ONLY} in its errors"));
            }
        }
    }
    for (pure, _) in NO_IO_PACKAGES {
        for path in graph.paths_to(pure, is_impure) {
            broken.push(format!("{pure} is pure but reaches {}", path.join(" -> ")));
        }
    }
    broken
}

fn is_impure(package: &str) -> bool {
    BANNED_PACKAGES.iter().any(|impure| match impure.strip_suffix('-') {
        Some(_) => package.starts_with(impure),
        None => package == *impure,
    })
}

/// Reads every source file below `folder` except `tests.rs` files, which run on the host only.
fn check_sources(root: &Path, folder: &Path, broken: &mut Vec<String>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            if path.file_name().is_none_or(|name| name != "tests") {
                check_sources(root, &path, broken)?;
            }
            continue;
        }
        let is_test = path.file_name().is_some_and(|name| name == "tests.rs");
        if is_test || path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        for (line, name) in source::named(&text, BANNED_PATHS) {
            broken.push(format!("{shown}:{line} names {name}: the embedder hands such things in"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
