//! Who may depend on whom, held by a check instead of by memory.
//!
//! Three rules. Our packages depend on each other only along the arrows of `docs/architecture.md`. What the pure
//! packages depend on, however far away, does no I/O. And the sources of the pure packages do not name what a browser
//! does not have: files, environment, clock, threads, processes.

mod graph;
mod source;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::project::Project;
use crate::step::{self, Progress};
use graph::Graph;

/// A package and the packages of ours that its library may depend on. A package that is not listed may not exist:
/// whoever adds one decides here where it stands.
const ARROWS: &[(&str, &[&str])] = &[
    ("tidebox-core", &[]),
    ("tidebox-kernel", &["tidebox-core"]),
    ("tidebox-pack-module", &[]),
    ("tidebox-wasi-runner", &["tidebox-core", "tidebox-kernel", "tidebox-pack-module"]),
    ("tidebox-vfs-backend", &["tidebox-core", "tidebox-kernel"]),
    ("tidebox-mounts", &["tidebox-core", "tidebox-kernel", "tidebox-vfs-backend"]),
    ("tidebox-network", &["tidebox-core"]),
    ("tidebox-packs", &[]),
    ("tidebox-js-shapes", &["tidebox-core"]),
    (
        "tidebox-js-bindings",
        &["tidebox-core", "tidebox-js-shapes", "tidebox-kernel", "tidebox-pack-module", "tidebox-vfs-backend"],
    ),
    ("tidebox-js-remote", &["tidebox-core", "tidebox-js-shapes", "tidebox-remote-adapters"]),
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

/// Packages that know no I/O and build for `wasm32-unknown-unknown`: name, folder.
pub(crate) const PURE: &[(&str, &str)] =
    &[("tidebox-core", "core"), ("tidebox-kernel", "kernel"), ("tidebox-vfs-backend", "vfs-backend")];

/// Packages that a pure package may not reach. A name ending in `-` stands for everything that begins with it.
const IMPURE: &[&str] = &[
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

/// Packages that only programs, tests and tooling may use: a library's errors have a type of their own.
const PROGRAMS_ONLY: &str = "anyhow";

/// Paths that the sources of a pure package may not name.
const ABSENT: &[&str] = &[
    "std::env",
    "std::fs",
    "std::net",
    "std::os",
    "std::process",
    "std::thread",
    "std::time::Instant",
    // The type is a plain value; asking it for the time is what a browser cannot do.
    "std::time::SystemTime::now",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
];

/// The check as a step of its own.
pub(crate) fn step(project: &Project, progress: &mut Progress) -> Result<()> {
    progress.step("layers", |_| check(project))
}

fn check(project: &Project) -> Result<()> {
    let mut metadata = project.cargo(&["metadata", "--format-version", "1", "--locked"]);
    // Two platforms are enough to see every edge of ours, and cargo need not fetch what only others use.
    for platform in ["x86_64-unknown-linux-gnu", "wasm32-unknown-unknown"] {
        metadata.args(["--filter-platform", platform]);
    }
    let json = step::output(&mut metadata, "cargo xtask layers")?;
    let graph = Graph::parse(&json)?;
    let mut broken = check_graph(&graph);
    for (_, folder) in PURE {
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
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == member) else {
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
    for (pure, _) in PURE {
        for path in graph.paths_to(pure, is_impure) {
            broken.push(format!("{pure} is pure but reaches {}", path.join(" -> ")));
        }
    }
    broken
}

fn is_impure(package: &str) -> bool {
    IMPURE.iter().any(|impure| match impure.strip_suffix('-') {
        Some(_) => package.starts_with(impure),
        None => package == *impure,
    })
}

/// Reads every source file below `folder` but `tests.rs` files, which run on the host only.
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
        for (line, name) in source::named(&text, ABSENT) {
            broken.push(format!("{shown}:{line} names {name}: the embedder hands such things in"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
