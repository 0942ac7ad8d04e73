//! The directory that the tests run in: the tests, their dependencies, and the package as `npm pack` made it.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::RETRY;
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
    pub(super) folder: PathBuf,
    /// The files of `js-bindings/tests` that hold tests.
    pub(super) files: Vec<String>,
}

/// Copies the tests and installs the archive. npm packages of an earlier run are kept.
pub(super) fn lay_out(project: &Project, progress: &mut Progress, archive: &Path) -> Result<Tests> {
    let folder = folder(project);
    fs::create_dir_all(&folder).context("the folder of tests cannot be made")?;
    remove_all_but(&folder, "node_modules")?;
    let from = project.root.join("js-bindings/tests");
    let files = copy_files(&from, &folder)?;
    for workspace in WORKSPACES {
        copy_files(&from.join(workspace), &folder.join(workspace))?;
    }
    copy_files(&from.join(TYPES), &folder.join(TYPES))?;
    for file in ["package.json", AGENT] {
        fs::copy(project.root.join(DEEP_AGENTS).join(file), folder.join("deepagents").join(file))
            .with_context(|| format!("{DEEP_AGENTS}/{file} is missing"))?;
    }
    let examples = examples(project)?;
    for example in &examples {
        copy_files(example, &example_copy(&folder, example))?;
    }
    copy_files(&from.join("examples"), &folder.join("examples"))?;
    install(project, progress, archive, &folder, &examples)?;
    Ok(Tests { folder, files })
}

/// The examples that are npm packages.
fn examples(project: &Project) -> Result<Vec<PathBuf>> {
    let mut examples = vec![project.root.join(BROWSER_EXAMPLE)];
    for entry in fs::read_dir(project.root.join(EXAMPLES)).context("there are no examples")? {
        let path = entry?.path();
        if path.is_dir() {
            examples.push(path);
        }
    }
    Ok(examples)
}

fn example_copy(folder: &Path, example: &Path) -> PathBuf {
    folder.join("examples").join(example.file_name().unwrap_or_default())
}

fn folder(project: &Project) -> PathBuf {
    project.target.join("npm-tests")
}

/// The module that every process of the tests loads first.
pub(super) fn guard(project: &Project) -> String {
    folder(project).join("guard.mjs").display().to_string()
}

fn remove_all_but(folder: &Path, kept: &str) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() == kept {
            continue;
        }
        let removed = match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path()),
            false => fs::remove_file(entry.path()),
        };
        removed.context("what an earlier run left in the folder of tests cannot be removed")?;
    }
    Ok(())
}

/// Installs the archive and the packages of the workspaces. npm considers a file with a known name installed, so the name
/// contains a hash of the content.
fn install(
    project: &Project,
    progress: &mut Progress,
    archive: &Path,
    folder: &Path,
    examples: &[PathBuf],
) -> Result<()> {
    let packed = fs::read(archive).context("the packed package cannot be read")?;
    let mut hasher = DefaultHasher::new();
    packed.hash(&mut hasher);
    let name = format!("tidebox-{:016x}.tgz", hasher.finish());
    fs::write(folder.join(&name), packed)?;
    let mut workspaces = WORKSPACES.map(str::to_owned).to_vec();
    for example in examples {
        let copy = example_copy(folder, example);
        take_from_archive(&copy.join("package.json"), &format!("file:../../{name}"))?;
        workspaces.push(copy.strip_prefix(folder)?.to_string_lossy().into_owned());
    }
    let dependencies = json!({ "tidebox": format!("file:{name}") });
    let manifest = json!({ "private": true, "workspaces": workspaces, "dependencies": dependencies });
    fs::write(folder.join("package.json"), serde_json::to_vec_pretty(&manifest)?)?;
    fs::copy(project.root.join("js-bindings/.npmrc"), folder.join(".npmrc"))?;
    let npm = npm::npm_command(folder, &["install", "--prefer-offline", "--no-package-lock"]);
    progress.run("install the packed package, and what its tests and examples need", npm, RETRY)
}

/// Makes the examples use the packed archive instead of the published version that they name.
fn take_from_archive(manifest: &Path, archive: &str) -> Result<()> {
    let text = fs::read(manifest).with_context(|| format!("{} is missing", manifest.display()))?;
    let mut value: Value = serde_json::from_slice(&text)?;
    let version = value.pointer_mut("/dependencies/tidebox").context("an example does not depend on tidebox")?;
    *version = json!(archive);
    fs::write(manifest, serde_json::to_vec_pretty(&value)?).map_err(Into::into)
}

/// Copies the files of a directory, without its subdirectories, and returns the names of the test files.
fn copy_files(from: &Path, to: &Path) -> Result<Vec<String>> {
    fs::create_dir_all(to)?;
    let mut tests = Vec::new();
    for entry in fs::read_dir(from).with_context(|| format!("{} cannot be read", from.display()))? {
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
