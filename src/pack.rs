//! Packs made ready: the runtime compiled, and the memory that its processes begin with.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tidebox_core::{Error, ErrorKind, ExecuteRequest, Limits, Result, SandboxBackend};
use tidebox_kernel::fs::FileBytes;
use tidebox_packs::{Installed, PACKS, Pack, Staged, Store, TreeFile};
use tidebox_vfs_backend::Program;
use tidebox_wasi_runner::{CacheDir, Provision, Task, take_apart, write_first_image};

use crate::host;
use crate::runtime::{Runtime, RuntimeConfig};

/// Our part of the interpreter, put beside its library.
const OWN: &[(&str, &str)] = &[
    ("_multiprocessing.py", include_str!("../packs/python/_multiprocessing.py")),
    ("_tidebox/__init__.py", include_str!("../packs/python/_tidebox/__init__.py")),
    ("_tidebox/command.py", include_str!("../packs/python/_tidebox/command.py")),
    ("_tidebox/door.py", include_str!("../packs/python/_tidebox/door.py")),
    ("_tidebox/image.py", include_str!("../packs/python/_tidebox/image.py")),
    ("_tidebox/memory.py", include_str!("../packs/python/_tidebox/memory.py")),
    ("_tidebox/network.py", include_str!("../packs/python/_tidebox/network.py")),
    ("_tidebox/numbers.py", include_str!("../packs/python/_tidebox/numbers.py")),
    ("_tidebox/packages.py", include_str!("../packs/python/_tidebox/packages.py")),
    ("_tidebox/parked.py", include_str!("../packs/python/_tidebox/parked.py")),
    ("_tidebox/processes.py", include_str!("../packs/python/_tidebox/processes.py")),
    ("_tidebox/session.py", include_str!("../packs/python/_tidebox/session.py")),
    ("_tidebox/settle.py", include_str!("../packs/python/_tidebox/settle.py")),
    ("_tidebox/system.py", include_str!("../packs/python/_tidebox/system.py")),
    ("grp.py", include_str!("../packs/python/grp.py")),
    ("pwd.py", include_str!("../packs/python/pwd.py")),
    ("venv.py", include_str!("../packs/python/venv.py")),
];

/// Functions of the interpreter that we call and that its module does not export.
const IMPORT: &str = "PyImport_ImportModule";
const INTERRUPT: &str = "PyErr_SetInterruptEx";

/// What makes an interpreter's memory, before our part is imported.
const SETUP: [&str; 2] = ["_initialize", "wizer.initialize"];
const IMAGE_MODULES: [&str; 2] = ["_tidebox.image", "_tidebox.settle"];

/// Signals that a program may handle: those of a terminal, of `kill` and of timers, and those that are free.
const SIGNALS: [u32; 8] = [1, 2, 3, 10, 12, 14, 15, 28];

/// The interpreter's stack, which lies first in its memory.
const STACK_BYTES: usize = 16 << 20;

const MODULE: &str = "module.wasm";
const FIRST_IMAGE: &str = "first.image";
const IMAGE: &str = "main.image";

/// Where the interpreter looks for its library at first.
const FIRST_PATH: &str = "/usr/local/lib/python315.zip";

/// Memory for making the image: all that is imported into it at once.
const PREPARING_BYTES: u64 = 3 << 30;
const PREPARING_TIME: Duration = Duration::from_secs(3600);

/// Packs on this machine: optional runtimes, fetched and made ready once, and used offline from then on.
#[derive(Clone, Debug)]
pub struct Packs {
    store: Option<Store>,
}

/// How a pack is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackState {
    /// Its name.
    pub name: &'static str,
    /// The version that this version of Tidebox knows.
    pub version: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Whether it is there and ready.
    pub ready: bool,
    /// What was added to it, as it was asked for.
    pub with: Vec<String>,
}

/// A pack that sandboxes can use.
#[derive(Clone, Debug)]
pub struct ReadyPack {
    pack: &'static Pack,
    folder: PathBuf,
    digest: [u8; 32],
    files: Vec<TreeFile>,
    task: Task,
    image: PathBuf,
    native: PathBuf,
    /// What the commands' file holds: it only has to be a module of its own, for which the engine starts the runtime.
    stub: FileBytes,
}

impl Packs {
    /// Those in the user's cache folder. Without such a folder there are none, and none can be added.
    #[must_use]
    pub fn user() -> Self {
        Self { store: host::packs_dir().map(Store::new) }
    }

    /// Those in a folder, which need not be there yet.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { store: Some(Store::new(folder)) }
    }

    /// All packs that there are, and whether they are here.
    #[must_use]
    pub fn list(&self) -> Vec<PackState> {
        let state = |pack: &'static Pack| {
            let installed = self.installed(pack);
            PackState {
                name: pack.name,
                version: pack.version,
                about: pack.about,
                ready: installed.is_some(),
                with: installed.map(|installed| installed.record.with).unwrap_or_default(),
            }
        };
        PACKS.iter().map(state).collect()
    }

    /// Those that can be used now: none without the cargo feature `python`. One that another version of Tidebox made ready is left out: add it again.
    #[must_use]
    pub fn ready(&self) -> Vec<ReadyPack> {
        if !cfg!(feature = "python") {
            return Vec::new();
        }
        let ready = |pack| ReadyPack::of(&self.installed(pack)?, self.store.as_ref()?.native());
        PACKS.iter().filter_map(ready).collect()
    }

    fn installed(&self, pack: &'static Pack) -> Option<Installed> {
        self.store.as_ref()?.installed(pack).filter(|installed| installed.record.made_by == made_by())
    }

    /// Fetches a pack with the machine's `pip`, verifies it, compiles it and makes it ready; what was done before is not done
    /// again, so after a failure call it again. `with` names further packages of the same kind (`NAME` or `NAME==VERSION`).
    /// `progress` is told what is being done. Compiling takes a minute or two of all processors, during which this does not
    /// yield. Runtimes that are there already do not notice; make a new one.
    ///
    /// Like [`execute`](SandboxBackend::execute), it must be awaited inside a Tokio runtime.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] for a name that is no pack's; [`ErrorKind::Engine`] for everything else, with what to do.
    pub async fn add(&self, name: &str, with: &[String], mut progress: impl FnMut(&str)) -> Result<()> {
        let (store, pack) = (self.store()?, known(name)?);
        if !cfg!(feature = "python") {
            return Err(failed(&"this program was built without the cargo feature `python`"));
        }
        let staged = store.stage(pack, with, OWN, &mut progress).map_err(|error| failed(&error))?;
        progress("splitting code and memory");
        let digest = split(&staged).map_err(|message| failed(&message))?;
        let runtime = |task, image: &str| {
            let folder = staged.folder().to_owned();
            let image = folder.join(image);
            let files = staged.files().map_err(|error| failed(&error))?;
            let ready = ReadyPack::new(pack, folder, digest, files, task, image, store.native());
            let config = RuntimeConfig { packs: vec![ready.clone()], ..RuntimeConfig::default() };
            Ok::<_, Error>((Runtime::new(config)?, ready))
        };
        let keep = staged.folder().join(IMAGE);
        let task = Task::Prepare {
            setup: SETUP.map(str::to_owned).to_vec(),
            function: IMPORT.to_owned(),
            arguments: IMAGE_MODULES.map(str::to_owned),
            signals: Some((INTERRUPT.to_owned(), SIGNALS.to_vec(), STACK_BYTES)),
            keep,
        };
        let (preparing, ready) = runtime(task, FIRST_IMAGE)?;
        progress("compiling");
        preparing.prepare_pack(&ready)?;
        progress("preparing the memory that processes begin with");
        let mut limits = Limits::default();
        (limits.process_memory_bytes, limits.sandbox_memory_bytes) = (PREPARING_BYTES, PREPARING_BYTES);
        limits.wall_time = PREPARING_TIME;
        let sandbox = preparing.sandbox().limits(limits).build()?;
        let response = sandbox.execute(ExecuteRequest::new(pack.commands.first().copied().unwrap_or_default())).await?;
        if response.exit_code != Some(0) {
            let said = response.output_text().trim().to_owned();
            let code = response.exit_code.map_or_else(|| "none".to_owned(), |code| code.to_string());
            return Err(failed(&format!("the runtime could not be initialised, exit code {code}: {said}")));
        }
        let _ = fs::remove_file(staged.folder().join(FIRST_IMAGE));
        store.finish(staged, made_by(), hex(&digest)).map_err(|error| failed(&error))?;
        Ok(())
    }

    /// Removes a pack, and tells whether it was there.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] for a name that is no pack's; [`ErrorKind::Engine`] when its folder cannot be removed.
    pub fn remove(&self, name: &str) -> Result<bool> {
        self.store()?.remove(known(name)?).map_err(|error| failed(&error))
    }

    fn store(&self) -> Result<&Store> {
        self.store.as_ref().ok_or_else(|| failed(&"there is no folder to keep packs in; set XDG_CACHE_HOME to one"))
    }
}

impl ReadyPack {
    fn of(installed: &Installed, native: PathBuf) -> Option<Self> {
        let (files, digest) = (installed.files().ok()?, unhex(&installed.record.module)?);
        let image = installed.folder.join(IMAGE);
        Some(Self::new(installed.pack, installed.folder.clone(), digest, files, Task::Run, image, native))
    }

    fn new(
        pack: &'static Pack,
        folder: PathBuf,
        digest: [u8; 32],
        files: Vec<TreeFile>,
        task: Task,
        image: PathBuf,
        native: PathBuf,
    ) -> Self {
        Self { pack, folder, digest, files, task, image, native, stub: stub(pack) }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.pack.name
    }

    /// Its commands, and what the engine starts for them.
    pub(crate) fn program(&self) -> (Program, Provision) {
        let program = Program::new(self.pack.commands.iter().copied(), self.stub.clone());
        let module = self.folder.join(MODULE);
        let provision = Provision {
            module,
            digest: self.digest,
            image: self.image.clone(),
            // Beside the packs, so that it comes and goes with them.
            native: CacheDir::open(&self.native).ok(),
            task: self.task.clone(),
        };
        (program, provision)
    }

    /// Its files. They are read when somebody opens them.
    pub(crate) fn files(&self) -> Result<Vec<(String, FileBytes)>> {
        let preparing = matches!(self.task, Task::Prepare { .. });
        let mut files = Vec::with_capacity(self.files.len());
        for file in &self.files {
            let host = file.host.clone();
            let bytes = FileBytes::elsewhere(file.len, b"", move || fs::read(&host).unwrap_or_default());
            // Until the image says otherwise, the interpreter looks where the makers of its module had an archive.
            if let Some(name) = file.path.strip_prefix(self.pack.library_dir).filter(|_| preparing) {
                files.push((format!("{FIRST_PATH}{name}"), bytes.clone()));
            }
            files.push((file.path.clone(), bytes));
        }
        Ok(files)
    }

    pub(crate) fn stub(&self) -> &FileBytes {
        &self.stub
    }
}

/// A module that holds nothing but the name of the pack.
fn stub(pack: &Pack) -> FileBytes {
    let text = format!("the runtime of the pack {} {}", pack.name, pack.version);
    let name = b"tidebox.pack";
    let mut bytes = b"\0asm\x01\0\0\0\0".to_vec();
    bytes.push((1 + name.len() + text.len()) as u8);
    bytes.push(name.len() as u8);
    bytes.extend_from_slice(name);
    bytes.extend_from_slice(text.as_bytes());
    bytes.into()
}

/// Makes of the module as it was fetched the one that is compiled, and the memory that it begins with.
fn split(staged: &Staged) -> std::result::Result<[u8; 32], String> {
    let raw = staged.raw_module();
    let told = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let wasm = fs::read(&raw).map_err(|error| told(&raw, error))?;
    let parts = take_apart(&wasm, &[IMPORT, INTERRUPT])?;
    let (module, image) = (staged.folder().join(MODULE), staged.folder().join(FIRST_IMAGE));
    fs::write(&module, &parts.module).map_err(|error| told(&module, error))?;
    write_first_image(&image, &parts).map_err(|error| told(&image, error))?;
    fs::remove_file(&raw).map_err(|error| told(&raw, error))?;
    Ok(Sha256::digest(&parts.module).into())
}

/// What an image depends on beside the pack itself: our part of the interpreter, and how images are made.
fn made_by() -> String {
    let mut hasher = Sha256::new();
    for (path, content) in OWN {
        hasher.update(path.as_bytes());
        hasher.update([0]);
        hasher.update(content.as_bytes());
        hasher.update([0]);
    }
    let digest: [u8; 32] = hasher.finalize().into();
    format!("{} {}", env!("CARGO_PKG_VERSION"), hex(&digest).get(..16).unwrap_or_default())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (byte, at) in bytes.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

fn known(name: &str) -> Result<&'static Pack> {
    tidebox_packs::find(name).ok_or_else(|| {
        let names: Vec<&str> = PACKS.iter().map(|pack| pack.name).collect();
        let message = format!("there is no pack '{}'; there are: {}", name.escape_debug(), names.join(", "));
        Error::new(ErrorKind::InvalidRequest, "pack", message)
    })
}

fn failed(error: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Engine, "pack", error.to_string())
}
