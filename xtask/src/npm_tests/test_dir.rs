//! The directory that the tests run in: the tests, their dependencies, and the package as packed by `npm pack`.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::RETRY;
use super::frameworks::FRAMEWORKS;
use crate::docs;
use crate::npm;
use crate::project::Project;
use crate::step::Progress;

/// Tests of Deep Agents' tools over any backend, and their dependencies.
const DEEP_AGENTS: &str = "tests/deepagents/javascript";
const AGENT: &str = "agent.test.mjs";

/// Directories of tests that need additional npm packages.
const WORKSPACES: [&str; 2] = ["deepagents", "browser"];

/// The directory with a user's TypeScript program.
const TYPES: &str = "types";

/// Directories of examples, and the directory that is an example itself.
const EXAMPLES: &str = "examples/javascript";
const BROWSER_EXAMPLE: &str = "examples/browser";

/// Tests that are ready to run.
#[derive(Debug)]
pub(super) struct Tests {
    pub(super) dir: PathBuf,
    /// The files of `js-bindings/tests` that hold tests.
    pub(super) files: Vec<String>,
}

/// Copies the tests and installs the archive. Keeps the npm packages of an earlier run.
pub(super) fn prepare(project: &Project, progress: &mut Progress, archive: &Path) -> Result<Tests> {
    let dir = test_dir(project);
    fs::create_dir_all(&dir).context("cannot create the directory of the tests")?;
    remove_all_but(&dir, "node_modules")?;
    let from = project.root.join("js-bindings/tests");
    let files = copy_files(&from, &dir)?;
    for workspace in workspaces() {
        copy_files(&from.join(workspace), &dir.join(workspace))?;
    }
    copy_files(&from.join(TYPES), &dir.join(TYPES))?;
    for page in docs::JAVASCRIPT_PAGES {
        let from = project.root.join(page);
        fs::copy(&from, dir.join(from.file_name().unwrap_or_default()))
            .with_context(|| format!("cannot copy {page}"))?;
    }
    for file in ["package.json", AGENT] {
        fs::copy(project.root.join(DEEP_AGENTS).join(file), dir.join("deepagents").join(file))
            .with_context(|| format!("cannot copy {DEEP_AGENTS}/{file}"))?;
    }
    let examples = examples(project)?;
    for example in &examples {
        copy_files(example, &example_copy(&dir, example))?;
    }
    copy_files(&from.join("examples"), &dir.join("examples"))?;
    install(project, progress, archive, &dir, &examples)?;
    Ok(Tests { dir, files })
}

/// The directories of tests that need additional npm packages, including those of frameworks.
fn workspaces() -> impl Iterator<Item = &'static str> {
    WORKSPACES.into_iter().chain(FRAMEWORKS.into_iter().map(|(dir, _)| dir))
}

/// The examples that are npm packages.
fn examples(project: &Project) -> Result<Vec<PathBuf>> {
    let mut examples = vec![project.root.join(BROWSER_EXAMPLE)];
    for entry in fs::read_dir(project.root.join(EXAMPLES)).context("cannot list the examples")? {
        let path = entry?.path();
        if path.is_dir() {
            examples.push(path);
        }
    }
    Ok(examples)
}

fn example_copy(dir: &Path, example: &Path) -> PathBuf {
    dir.join("examples").join(example.file_name().unwrap_or_default())
}

fn test_dir(project: &Project) -> PathBuf {
    project.target.join("npm-tests")
}

/// The module that every process of the tests loads first.
pub(super) fn guard(project: &Project) -> String {
    test_dir(project).join("guard.mjs").display().to_string()
}

fn remove_all_but(dir: &Path, kept: &str) -> Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_name() == kept {
            continue;
        }
        let removed = match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path()),
            false => fs::remove_file(entry.path()),
        };
        removed.context("cannot remove the files of an earlier run")?;
    }
    Ok(())
}

/// Installs the archive and the packages of the workspaces. npm considers a file with a known name installed, so the name
/// contains a hash of the content.
fn install(project: &Project, progress: &mut Progress, archive: &Path, dir: &Path, examples: &[PathBuf]) -> Result<()> {
    let packed = fs::read(archive).context("cannot read the packed package")?;
    let mut hasher = DefaultHasher::new();
    packed.hash(&mut hasher);
    let name = format!("tidebox-{:016x}.tgz", hasher.finish());
    fs::write(dir.join(&name), packed)?;
    let mut workspaces: Vec<String> = workspaces().map(str::to_owned).collect();
    for example in examples {
        let copy = example_copy(dir, example);
        use_archive(&copy.join("package.json"), &format!("file:../../{name}"))?;
        workspaces.push(copy.strip_prefix(dir)?.to_string_lossy().into_owned());
    }
    let dependencies = json!({ "tidebox": format!("file:{name}") });
    let manifest = json!({ "private": true, "workspaces": workspaces, "dependencies": dependencies });
    fs::write(dir.join("package.json"), serde_json::to_vec_pretty(&manifest)?)?;
    fs::copy(project.root.join("js-bindings/.npmrc"), dir.join(".npmrc"))?;
    let npm = npm::npm_command(dir, &["install", "--prefer-offline", "--no-package-lock"]);
    progress.run("install the packed package and the dependencies of its tests and examples", npm, RETRY)
}

/// Makes an example use the packed archive instead of the published version in its manifest.
fn use_archive(manifest: &Path, archive: &str) -> Result<()> {
    let text = fs::read(manifest).with_context(|| format!("cannot read {}", manifest.display()))?;
    let mut value: Value = serde_json::from_slice(&text)?;
    let version = value.pointer_mut("/dependencies/tidebox").context("an example does not depend on tidebox")?;
    *version = json!(archive);
    fs::write(manifest, serde_json::to_vec_pretty(&value)?).map_err(Into::into)
}

/// Copies the files of a directory, without its subdirectories, and returns the names of the test files.
fn copy_files(from: &Path, to: &Path) -> Result<Vec<String>> {
    fs::create_dir_all(to)?;
    let mut tests = Vec::new();
    for entry in fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !entry.file_type()?.is_file() {
            continue;
        }
        fs::copy(entry.path(), to.join(&name)).with_context(|| format!("cannot copy {name}"))?;
        if name.ends_with(".test.mjs") {
            tests.push(name);
        }
    }
    tests.sort();
    Ok(tests)
}
