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
    ("tidebox-service", &["tidebox-core", "tidebox-emulators", "tidebox-remote-adapters"]),
    ("tidebox-mcp", &["tidebox-core", "tidebox-vfs-backend"]),
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
            "tidebox-mcp",
            "tidebox-service",
            "tidebox-userland-bundle",
        ],
    ),
    ("tidebox-python", &["tidebox"]),
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
    let mut violations = check_graph(&graph);
    for (_, dir) in NO_IO_PACKAGES {
        check_sources(&project.root, &project.root.join(dir).join("src"), &mut violations)?;
    }
    if violations.is_empty() {
        return Ok(());
    }
    bail!(
        "dependencies between packages break the layers:\n  {}\nmove the code to the package that is responsible for it \
         (docs/architecture.md), then run `cargo xtask layers` again",
        violations.join("\n  ")
    )
}

fn check_graph(graph: &Graph) -> Vec<String> {
    let mut violations = Vec::new();
    for member in graph.members() {
        let Some((_, allowed)) = ALLOWED_DEPENDENCIES.iter().find(|(name, _)| *name == member) else {
            violations.push(format!("{member} has no layer: add it to ALLOWED_DEPENDENCIES in xtask/src/layers.rs"));
            continue;
        };
        for dependency in graph.dependencies(member) {
            if graph.is_member(dependency) && !allowed.contains(&dependency) {
                violations.push(format!("{member} may not depend on {dependency}"));
            }
            if dependency == PROGRAMS_ONLY && !matches!(member, "tidebox" | "xtask") {
                violations.push(format!("{member} is a library and may not use {PROGRAMS_ONLY} in its errors"));
            }
        }
    }
    for (package, _) in NO_IO_PACKAGES {
        for path in graph.paths_to(package, does_io) {
            violations.push(format!("{package} must not do I/O but depends on {}", path.join(" -> ")));
        }
    }
    violations
}

fn does_io(package: &str) -> bool {
    BANNED_PACKAGES.iter().any(|banned| match banned.strip_suffix('-') {
        Some(_) => package.starts_with(banned),
        None => package == *banned,
    })
}

/// Reads every source file below `dir` except `tests.rs` files, which run on the host only.
fn check_sources(root: &Path, dir: &Path, violations: &mut Vec<String>) -> Result<()> {
    let entries = fs::read_dir(dir).with_context(|| format!("cannot list {}", dir.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            if path.file_name().is_none_or(|name| name != "tests") {
                check_sources(root, &path, violations)?;
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
            violations.push(format!("{shown}:{line} uses {name}: accept it from the embedder instead"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
