//! `cargo xtask release`: everything that a tag publishes, in `release-files` in the target directory.

mod archive;
mod crates;
mod formula;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use sha2::{Digest as _, Sha256};

use crate::npm;
use crate::project::{Project, empty_dir};
use crate::python_package;
use crate::setup;
use crate::step::{self, Progress};

const RETRY: &str = "cargo xtask release";

/// File with the SHA-256 of every other file, in the format of `sha256sum`.
const CHECKSUMS: &str = "SHA256SUMS";

/// File name of the Homebrew formula.
const FORMULA: &str = "tidebox.rb";

/// Files of `release/` that are published as they are.
const SCRIPTS: [&str; 2] = ["install.sh", "Containerfile"];

/// Prepares all files. Nothing is uploaded.
pub(crate) fn release(project: &Project, progress: &mut Progress) -> Result<()> {
    setup::guests(project, progress)?;
    let files = empty_dir(project.target.join("release-files"))?;
    for package in crates::package(project, progress)? {
        keep(&package, &files)?;
    }
    archive::build(project, progress, &files)?;
    keep(&npm::pack(project, progress, npm::Types::Check)?, &files)?;
    keep(&python_package::wheel(project, progress)?, &files)?;
    for name in SCRIPTS {
        keep(&project.root.join("release").join(name), &files)?;
    }
    let sums = checksums(&files)?;
    fs::write(files.join(CHECKSUMS), &sums)?;
    progress.print(&format!("the files of the release are in {}", files.display()));
    print!("{sums}");
    Ok(())
}

/// Checks that all public crates build from what would be uploaded.
pub(crate) fn crates(project: &Project, progress: &mut Progress) -> Result<()> {
    setup::guests(project, progress)?;
    for package in crates::package(project, progress)? {
        let bytes = fs::metadata(&package)?.len();
        println!("{:>9} bytes  {}", bytes, package.display());
    }
    Ok(())
}

/// Builds the archive of the command for this platform.
pub(crate) fn archive(project: &Project, progress: &mut Progress) -> Result<()> {
    setup::guests(project, progress)?;
    let files = project.target.join("release-files");
    fs::create_dir_all(&files)?;
    let archive = archive::build(project, progress, &files)?;
    progress.print(&format!("{}: {} bytes", archive.display(), fs::metadata(&archive)?.len()));
    Ok(())
}

/// Completes a directory with the files of all platforms: writes the checksums, and the Homebrew formula for files at `base`.
pub(crate) fn finish(project: &Project, dir: &Path, base: &str) -> Result<()> {
    for name in [CHECKSUMS, FORMULA] {
        let _ = fs::remove_file(dir.join(name));
    }
    let sums = checksums(dir)?;
    fs::write(dir.join(CHECKSUMS), &sums)?;
    fs::write(dir.join(FORMULA), formula::write(project, base, &sums)?)?;
    println!("{CHECKSUMS} and {FORMULA} are in {}", dir.display());
    Ok(())
}

/// Returns the version of the package `tidebox`.
fn version(project: &Project) -> Result<String> {
    let mut id = project.cargo(&["pkgid", "--locked", "--package", "tidebox"]);
    let id = String::from_utf8(step::output(&mut id, RETRY)?)?;
    let version = id.trim().rsplit(['#', '@']).next().unwrap_or_default().to_owned();
    ensure!(version.starts_with(|first: char| first.is_ascii_digit()), "`cargo pkgid` printed no version: {id}");
    Ok(version)
}

fn keep(file: &Path, dir: &Path) -> Result<()> {
    let name = file.file_name().with_context(|| format!("{} has no file name", file.display()))?;
    fs::copy(file, dir.join(name)).with_context(|| format!("cannot copy {}", file.display()))?;
    Ok(())
}

fn checksums(dir: &Path) -> Result<String> {
    let mut names = fs::read_dir(dir)?.map(|entry| Ok(entry?.file_name())).collect::<Result<Vec<_>>>()?;
    names.sort();
    let mut lines = String::new();
    for name in names {
        let digest = Sha256::digest(fs::read(dir.join(&name))?);
        lines.push_str(&format!("{}  {}\n", step::hex(&digest), name.to_string_lossy()));
    }
    Ok(lines)
}
