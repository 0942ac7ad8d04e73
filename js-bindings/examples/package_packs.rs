//! Writes the pack manifest of the npm package: `package_packs PACKS FILE` writes the definitions of `packs/src/pack.rs`, and
//! Tidebox's part of their runtimes from the directory `packs`, as JSON. Run by `cargo xtask npm`.

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use serde_json::{Value, json};
use tidebox_packs::{PACKS, PROGRAM_PACKS, Pack, ProgramPack, Wheel};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [packs, file] = arguments.as_slice() else {
        eprintln!("usage: package_packs PACKS FILE");
        return ExitCode::from(2);
    };
    if let Err(error) = write(Path::new(packs), Path::new(file)) {
        eprintln!("package_packs: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn write(dir: &Path, file: &Path) -> io::Result<()> {
    let packs = PACKS.iter().map(|pack| definition(dir, pack)).collect::<io::Result<Vec<_>>>()?;
    let programs: Vec<_> = PROGRAM_PACKS.iter().map(program).collect();
    let manifest = json!({ "version": env!("CARGO_PKG_VERSION"), "packs": packs, "programs": programs });
    fs::write(file, serde_json::to_vec(&manifest)?)
}

/// Creates a `PackDefinition` of `js/packs.ts`.
fn definition(dir: &Path, pack: &Pack) -> io::Result<Value> {
    Ok(json!({
        "name": pack.name, "version": pack.version, "about": pack.about, "commands": pack.commands,
        "runtime": wheel(&pack.runtime), "module": pack.module, "library": pack.library, "libraryDir": pack.library_dir,
        "inner": pack.inner, "excluded": pack.excluded, "wheels": pack.wheels.iter().map(wheel).collect::<Vec<_>>(), "siteDir": pack.site_dir,
        "own": own(&dir.join(pack.sources))?,
    }))
}

/// Creates a `ProgramDefinition` of `js/packs.ts`.
fn program(pack: &ProgramPack) -> Value {
    json!({
        "name": pack.name, "version": pack.version, "about": pack.about, "wheel": pack.wheel, "package": pack.package,
        "commands": pack.commands, "source": pack.source,
    })
}

fn wheel(wheel: &Wheel) -> Value {
    json!({ "project": wheel.project, "version": wheel.version, "file": wheel.file, "sha256": wheel.sha256 })
}

/// Returns pairs of path and content, in the order of the paths. Their hash is part of the fingerprint of a pack.
fn own(dir: &Path) -> io::Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    gather(dir, "", &mut files)?;
    files.sort();
    Ok(files)
}

fn gather(dir: &Path, prefix: &str, files: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            gather(&entry.path(), &format!("{path}/"), files)?;
        } else if entry.path().extension().is_some_and(|ending| ending == "py") {
            files.push((path, fs::read_to_string(entry.path())?));
        }
    }
    Ok(())
}
