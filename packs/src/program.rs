//! Packs that are one program with its files. The program is an ordinary guest, compiled ahead of time.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::archive;
use crate::error::PackError;
use crate::fetch;
use crate::store::PackStore;
use crate::tree::{self, TreeBuilder, TreeFile};

const MANIFEST_FILE: &str = "pack.json";
const MODULE: &str = "module.wasm";

/// A pack that is one program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramPack {
    /// Name of the pack.
    pub name: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// One line for lists.
    pub about: &'static str,
    /// File name of its wheel.
    pub wheel: &'static str,
    /// Directory in the wheel with the module `NAME.wasm`, and with the files of the sandbox below `files`.
    pub package: &'static str,
    /// Names of the program in `/usr/bin`.
    pub commands: &'static [&'static str],
    /// Describes how to get the wheel.
    pub source: &'static str,
}

/// Git. Its wheel is a separate file because of its licence, GPL-2.0.
pub const GIT: ProgramPack = ProgramPack {
    name: "git",
    version: "2.39.5",
    about: "Git, with its files and its own licence, GPL-2.0",
    wheel: "tidebox_git-2.39.5-py3-none-any.whl",
    package: "tidebox_git",
    commands: &["git", "git-receive-pack", "git-upload-archive", "git-upload-pack"],
    source: "build it in the repository of Tidebox by `cargo xtask pack git`",
};

/// JavaScript as Node runs it.
pub const NODE: ProgramPack = ProgramPack {
    name: "node",
    version: "22.23.3",
    about: "JavaScript: Node's own library on the engine QuickJS",
    wheel: "tidebox_node-22.23.3-py3-none-any.whl",
    package: "tidebox_node",
    commands: &["node", "nodejs", "npm", "npx"],
    source: "build it in the repository of Tidebox by `cargo xtask pack node`",
};

/// All packs of one program.
pub const PROGRAM_PACKS: &[ProgramPack] = &[GIT, NODE];

/// Returns the program pack with a name.
#[must_use]
pub fn find_program(name: &str) -> Option<&'static ProgramPack> {
    PROGRAM_PACKS.iter().find(|pack| pack.name == name)
}

#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    name: String,
    version: String,
    /// Length of the module in bytes.
    len: usize,
    /// SHA-256 of the module, in hexadecimal digits.
    module: String,
}

/// An installed program pack.
#[derive(Clone, Debug)]
pub struct InstalledProgram {
    /// Definition of the pack.
    pub pack: &'static ProgramPack,
    /// Path of its module.
    pub module: PathBuf,
    /// Length of the module in bytes.
    pub len: usize,
    /// SHA-256 of the module, in hexadecimal digits.
    pub sha256: String,
    dir: PathBuf,
}

impl InstalledProgram {
    /// Returns its files in the sandbox.
    ///
    /// # Errors
    /// If the list of files is missing or damaged.
    pub fn files(&self) -> Result<Vec<TreeFile>, PackError> {
        tree::files(&self.dir)
    }
}

impl PackStore {
    /// Returns a program pack if it is installed.
    #[must_use]
    pub fn installed_program(&self, pack: &'static ProgramPack) -> Option<InstalledProgram> {
        let dir = self.pack_dir(pack.name);
        let Manifest { name, version, len, module: sha256 } =
            serde_json::from_slice(&fs::read(dir.join(MANIFEST_FILE)).ok()?).ok()?;
        let module = dir.join(MODULE);
        (name == pack.name && version == pack.version).then_some(InstalledProgram { pack, module, len, sha256, dir })
    }

    /// Unpacks a wheel and installs the program, replacing an installed one. The wheel is not verified: its program is a guest like every other.
    ///
    /// # Errors
    /// If the wheel is not one of this pack, or the directory is not writable.
    pub fn add_program(&self, pack: &'static ProgramPack, wheel: &Path) -> Result<InstalledProgram, PackError> {
        let bytes = fs::read(wheel).map_err(|error| PackError::file(wheel, &error))?;
        let staged = self.new_staging_dir()?;
        let mut tree = TreeBuilder::new(staged.path());
        let (program, files) = (format!("{}/{}.wasm", pack.package, pack.name), format!("{}/files", pack.package));
        let module = staged.path().join(MODULE);
        let mut len = None;
        archive::for_each_file(&bytes, &mut |name, content| {
            if name == program {
                len = Some(write(&module, content).map_err(|error| PackError::file(&module, &error))?);
            } else if let Some(path) = name.strip_prefix(&files).filter(|path| path.starts_with('/')) {
                tree.put(path, content)?;
            }
            Ok(())
        })?;
        let missing = || PackError::new(format!("{} is not a wheel of the pack {}", wheel.display(), pack.name));
        let len = len.ok_or_else(missing)?;
        tree.finish()?;
        let sha256 = fetch::hash(&module).map_err(|error| PackError::file(&module, &error))?;
        let manifest = Manifest { name: pack.name.into(), version: pack.version.into(), len, module: sha256 };
        let text = serde_json::to_vec_pretty(&manifest).map_err(|error| PackError::new(error.to_string()))?;
        let path = staged.path().join(MANIFEST_FILE);
        fs::write(&path, text).map_err(|error| PackError::file(&path, &error))?;
        self.replace(staged, pack.name)?;
        self.installed_program(pack).ok_or_else(missing)
    }

    /// Removes a program pack. Returns whether it existed.
    ///
    /// # Errors
    /// If its directory cannot be removed.
    pub fn remove_program(&self, pack: &ProgramPack) -> Result<bool, PackError> {
        self.remove_pack_dir(pack.name)
    }
}

/// Writes a file and returns its length.
fn write(path: &Path, from: &mut dyn Read) -> io::Result<usize> {
    let written = io::copy(from, &mut File::create(path)?)?;
    usize::try_from(written).map_err(io::Error::other)
}
