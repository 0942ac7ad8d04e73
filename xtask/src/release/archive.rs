//! The archive of the command for the platform of this host, and its bill of materials.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{RETRY, crates, version};
use crate::notices;
use crate::project::{Project, empty_dir};
use crate::step::{self, Progress};

/// Builds with the list of dependencies in the binary, for scanners such as `cargo audit bin`.
const AUDITABLE: &str = "cargo-auditable@0.7.7";

/// Writes the bill of materials in the format CycloneDX.
const CYCLONEDX: &str = "cargo-cyclonedx@0.5.9";

/// Directory of native code next to the binary; `cli/main.rs` has the same name.
const PROGRAMS: &str = "tidebox-programs";

/// Shells with a completion script in the archive, and its file name.
const COMPLETIONS: [(&str, &str); 3] = [("bash", "tidebox.bash"), ("zsh", "_tidebox"), ("fish", "tidebox.fish")];

/// Files of the repository in the archive.
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Builds the command and writes `tidebox-VERSION-TARGET.tar.gz` and its bill of materials into `files`. Returns the archive.
pub(super) fn build(project: &Project, progress: &mut Progress, files: &Path) -> Result<PathBuf> {
    let tools = install(project, progress, &[AUDITABLE, CYCLONEDX])?;
    let mut build = project.cargo(&["auditable", "build", "--locked", "--release", "--bin", "tidebox"]);
    build.env("PATH", path_with(&tools)?);
    progress.run("build the command", build, RETRY)?;
    let name = format!("tidebox-{}-{}", version(project)?, project.host()?);
    let dir = empty_dir(project.target.join("release-archive").join(&name))?;
    let program = format!("tidebox{}", std::env::consts::EXE_SUFFIX);
    fs::copy(project.target.join("release").join(&program), dir.join(&program)).context("cannot copy the command")?;
    let mut compile = Command::new(dir.join(&program));
    compile.args(["warm", "--archive"]).arg(dir.join(PROGRAMS));
    progress.run("compile the programs of the archive", compile, RETRY)?;
    generate(&dir.join(&program), &dir)?;
    for document in DOCUMENTS {
        fs::copy(project.root.join(document), dir.join(document)).with_context(|| format!("cannot copy {document}"))?;
    }
    fs::write(dir.join("THIRD-PARTY-NOTICES"), notices::text(project, "tidebox")?)?;
    let archive = files.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.arg("-czf").arg(&archive).arg("-C").arg(dir.parent().context("the archive has a parent")?).arg(&name);
    progress.run("pack the archive", tar, RETRY)?;
    describe(project, progress, &tools, &files.join(format!("{name}.cdx.json")))?;
    Ok(archive)
}

/// Writes the manual pages and the completion scripts of the command into its directory.
fn generate(program: &Path, dir: &Path) -> Result<()> {
    step::run(Command::new(program).arg("man").arg(dir.join("man/man1")), RETRY)?;
    let completions = dir.join("completions");
    fs::create_dir_all(&completions)?;
    for (shell, file) in COMPLETIONS {
        let script = step::output(Command::new(program).args(["completions", shell]), RETRY)?;
        fs::write(completions.join(file), script)?;
    }
    Ok(())
}

/// Writes the bill of materials of the command. cargo-cyclonedx writes next to each manifest, so it runs in the copy of the sources.
fn describe(project: &Project, progress: &mut Progress, tools: &Path, to: &Path) -> Result<()> {
    let source = crates::stage(project)?;
    let mut list = project.cargo(&["cyclonedx", "--format", "json", "--spec-version", "1.5", "--quiet"]);
    list.args(["--override-filename", "release"]).current_dir(&source).env("PATH", path_with(tools)?);
    progress.run("list the dependencies", list, RETRY)?;
    fs::copy(source.join("release.json"), to).context("cargo cyclonedx wrote no file")?;
    Ok(())
}

/// Installs programs of crates.io into the target directory, unless it contains them, and returns the directory of the programs.
fn install(project: &Project, progress: &mut Progress, packages: &[&str]) -> Result<PathBuf> {
    let root = project.target.join("release-tools");
    for package in packages {
        let name = package.split('@').next().unwrap_or(package);
        let program = root.join("bin").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        if !program.is_file() {
            let mut cargo = project.cargo(&["install", "--locked", "--root"]);
            cargo.arg(&root).arg(package);
            progress.run(&format!("install {name}"), cargo, RETRY)?;
        }
    }
    Ok(root.join("bin"))
}

/// Returns the search path with a directory before the others.
fn path_with(dir: &Path) -> Result<std::ffi::OsString> {
    let old = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::iter::once(dir.to_owned()).chain(std::env::split_paths(OsStr::new(&old)));
    std::env::join_paths(directories).context("a directory of PATH contains the separator")
}
