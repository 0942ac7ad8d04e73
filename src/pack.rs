//! Installation of packs: compiles the runtime and pre-initializes its memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tidebox_core::{Error, ErrorKind, ExecuteRequest, Limits, Result, SandboxBackend};
use tidebox_kernel::fs::FileBytes;
use tidebox_packs::{
    InstalledPack as StoredPack, InstalledProgram, PACKS, PROGRAM_PACKS, PYTHON_SOURCES, Pack, PackProgress, PackStore,
    ProgramPack, StagedPack, TreeFile, find_program,
};
use tidebox_vfs_backend::{BaseFile, Program};
use tidebox_wasi_runner::{
    CacheDir, PreinitMode, PreinitSource, PrepareSource, split_module as split_wasm, write_first_image,
};

use crate::runtime::{Runtime, RuntimeConfig};
use crate::system;

/// Functions of the interpreter that Tidebox calls and that its module does not export.
const IMPORT: &str = "PyImport_ImportModule";
const INTERRUPT: &str = "PyErr_SetInterruptEx";

/// Functions that initialize the interpreter, before Tidebox's modules are imported.
const SETUP: [&str; 2] = ["_initialize", "wizer.initialize"];
const IMAGE_MODULES: [&str; 2] = ["_tidebox.image", "_tidebox.finalize"];

/// Signals that a program may handle: those of terminals, of `kill` and of timers, and the user-defined ones.
const SIGNALS: [u32; 8] = [1, 2, 3, 10, 12, 14, 15, 28];

/// Size of the interpreter's stack, which is at the start of its memory.
const STACK_BYTES: usize = 16 << 20;

const MODULE: &str = "module.wasm";
const FIRST_IMAGE: &str = "first.image";
const IMAGE: &str = "main.image";

/// Path where the interpreter initially searches its library.
const FIRST_PATH: &str = "/usr/local/lib/python315.zip";

/// Time of day in the sandbox of the pre-initialization: 2026-01-01, in nanoseconds since the epoch.
const IMAGE_TIME: u64 = 1_767_225_600_000_000_000;

/// Memory limit of the pre-initialization, in bytes: all modules are imported into it.
const PREINIT_MEMORY_BYTES: u64 = 3 << 30;
const PREINIT_TIMEOUT: Duration = Duration::from_secs(3600);

/// Packs on this host: optional runtimes that are downloaded and prepared once, and then used offline.
#[derive(Clone, Debug)]
pub struct Packs {
    store: Option<PackStore>,
}

/// State of a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackState {
    /// Its name.
    pub name: &'static str,
    /// The version supported by this version of Tidebox.
    pub version: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// True if it is installed and ready.
    pub ready: bool,
    /// True if it is not ready, and its first use [prepares](set_pack_support) it without a download.
    pub ready_on_use: bool,
    /// Additional packages, as requested.
    pub with: Vec<String>,
}

/// A pack that sandboxes can use.
#[derive(Clone, Debug)]
pub struct InstalledPack {
    name: &'static str,
    commands: &'static [&'static str],
    files: Vec<TreeFile>,
    /// Content of its command files: the program, or a unique module that identifies the runtime.
    stub: FileBytes,
    runtime: PackRuntime,
}

/// The runtime of a pack.
#[derive(Clone, Debug)]
enum PackRuntime {
    /// Its commands are an ordinary program.
    Program,
    /// It exists.
    Prepared(&'static Pack, Box<PreparedRuntime>),
    /// Its first use prepares it with shipped wheels.
    OnUse(&'static Pack, Packs),
}

/// A module with initialized memory.
#[derive(Clone, Debug)]
struct PreparedRuntime {
    folder: PathBuf,
    digest: [u8; 32],
    task: PreinitMode,
    image: PathBuf,
    image_digest: [u8; 32],
    native: PathBuf,
}

/// The parts of packs that belong to the program, not to the user.
#[derive(Debug)]
struct PackSupport {
    wheels: Option<PathBuf>,
    prepare: fn(&str) -> Result<()>,
    on_compile: fn(),
}

static SUPPORT: OnceLock<PackSupport> = OnceLock::new();

/// Sets how this program prepares packs on their first use, for all runtimes with the default configuration. Without this call, a
/// pack must be [added](Packs::add), and is compiled silently if its native code is missing.
///
/// `wheels` is a directory with the wheels of packs, as [`Packs::ship`] writes it. `prepare` is called with the name of a pack whose
/// wheels exist, when a command first uses it, and must add it. `on_compile` is called before an installed
/// pack is compiled, because its native code is of another version or processor. Call it before the first sandbox; only the first call
/// has an effect.
pub fn set_pack_support(wheels: Option<PathBuf>, prepare: fn(&str) -> Result<()>, on_compile: fn()) {
    let _ = SUPPORT.set(PackSupport { wheels, prepare, on_compile });
}

impl Packs {
    /// Packs in the user's cache directory. Without one, packs cannot be installed.
    #[must_use]
    pub fn user() -> Self {
        let wheels = SUPPORT.get().and_then(|support| support.wheels.clone());
        Self { store: system::packs_dir().map(|dir| PackStore::new(dir).with_wheels(wheels)) }
    }

    /// Packs in a directory, which may be missing.
    pub fn in_dir(folder: impl Into<PathBuf>) -> Self {
        Self { store: Some(PackStore::new(folder)) }
    }

    /// Lists all packs with their state.
    #[must_use]
    pub fn list(&self) -> Vec<PackState> {
        let state = |pack: &'static Pack| {
            let installed = self.installed(pack);
            PackState {
                name: pack.name,
                version: pack.version,
                about: pack.about,
                ready: installed.is_some(),
                ready_on_use: installed.is_none() && self.on_use(pack).is_some(),
                with: installed.map(|installed| installed.manifest.extra_packages).unwrap_or_default(),
            }
        };
        let program = |pack: &'static ProgramPack| {
            let (name, version, about) = (pack.name, pack.version, pack.about);
            let ready = self.installed_program(pack).is_some();
            PackState { name, version, about, ready, ready_on_use: false, with: Vec::new() }
        };
        PACKS.iter().map(state).chain(PROGRAM_PACKS.iter().map(program)).collect()
    }

    /// Returns the packs that are ready. Without the cargo feature `python`, only ordinary programs. A pack installed by another version of Tidebox
    /// is omitted; add it again. Some may [conflict](InstalledPack::conflicts_with): see [`default_packs`](Self::default_packs).
    #[must_use]
    pub fn ready(&self) -> Vec<InstalledPack> {
        let ready = |pack| InstalledPack::of(&self.installed(pack)?, self.store.as_ref()?.native());
        let runtimes = PACKS.iter().filter(|_| cfg!(feature = "python")).filter_map(ready);
        let program = |pack| InstalledPack::of_program(&self.installed_program(pack)?);
        runtimes.chain(PROGRAM_PACKS.iter().filter_map(program)).collect()
    }

    /// Returns the packs that are ready, and those that the [first use](set_pack_support) prepares. Omits those that have the
    /// commands of an earlier one: `python` takes precedence over `python-slim`.
    #[must_use]
    pub fn default_packs(&self) -> Vec<InstalledPack> {
        let mut packs: Vec<InstalledPack> = Vec::new();
        for pack in self.ready().into_iter().chain(PACKS.iter().filter_map(|pack| self.on_use(pack))) {
            if !packs.iter().any(|earlier| earlier.conflicts_with(&pack)) {
                packs.push(pack);
            }
        }
        packs
    }

    /// Returns a pack that is prepared on its first use. `None` if its wheels are not shipped for this program.
    fn on_use(&self, pack: &'static Pack) -> Option<InstalledPack> {
        let files = self.store.as_ref()?.list_shipped(pack, &build_fingerprint(pack))?;
        let supported = cfg!(feature = "python") && SUPPORT.get().is_some();
        supported.then(|| InstalledPack::new(pack, files, PackRuntime::OnUse(pack, self.clone())))
    }

    /// Returns a pack, which it prepares if it is not ready. Other processes wait for the first one that does.
    fn prepare(&self, pack: &'static Pack) -> std::result::Result<InstalledPack, String> {
        let ready = || InstalledPack::of(&self.installed(pack)?, self.store.as_ref()?.native());
        if let Some(pack) = ready() {
            return Ok(pack);
        }
        let store = self.store().map_err(|error| error.message().to_owned())?;
        let _lock = store.lock().map_err(|error| error.to_string())?;
        if let Some(pack) = ready() {
            return Ok(pack);
        }
        let support = SUPPORT.get().ok_or("it is not installed")?;
        (support.prepare)(pack.name).map_err(|error| error.message().to_owned())?;
        ready().ok_or_else(|| format!("the pack {} was removed while it was prepared", pack.name))
    }

    /// Writes the wheels of a pack and a list of its files into a directory, for [`set_pack_support`]. Downloads them if necessary.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] for an unknown name; [`ErrorKind::Engine`] if a file cannot be downloaded or written.
    pub fn ship(&self, name: &str, dir: &Path, mut progress: impl FnMut(PackProgress<'_>)) -> Result<()> {
        let (store, pack) = (self.store()?, find_pack(name)?);
        let staged = store.stage(pack, &[], PYTHON_SOURCES, &mut progress).map_err(|error| failed(&error))?;
        store.ship(&staged, &build_fingerprint(pack), dir).map_err(|error| failed(&error))
    }

    fn installed(&self, pack: &'static Pack) -> Option<StoredPack> {
        self.store.as_ref()?.installed(pack).filter(|installed| installed.manifest.built_by == build_fingerprint(pack))
    }

    fn installed_program(&self, pack: &'static ProgramPack) -> Option<InstalledProgram> {
        self.store.as_ref()?.installed_program(pack)
    }

    /// Installs a pack that is an ordinary program (`git`, `node`) from its wheel, and compiles it, which takes some seconds. Without
    /// `from`, the wheel that `cargo xtask` built next to this program is used. Existing runtimes are not affected.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] for another pack, and if the wheel is missing; [`ErrorKind::Engine`] for all other errors.
    pub fn add_program(&self, name: &str, from: Option<&Path>) -> Result<()> {
        let (store, pack) = (self.store()?, find_program(name).ok_or_else(|| unknown(name))?);
        let built =
            || Some(std::env::current_exe().ok()?.ancestors().nth(2)?.join(format!("pack-{name}")).join(pack.wheel));
        let wheel = from.map(Path::to_owned).or_else(|| built().filter(|wheel| wheel.is_file()));
        let wheel = wheel.ok_or_else(|| {
            let (file, source) = (pack.wheel, pack.source);
            let message = format!("cannot add the pack {name}: no wheel; pass --from {file}, or {source}");
            Error::new(ErrorKind::InvalidRequest, "pack", message)
        })?;
        store.add_program(pack, &wheel).map_err(|error| failed(&error))?;
        self.compile(name)
    }

    /// Downloads a pack with the host's `pip`, verifies it, compiles it and pre-initializes it. Completed steps are kept, so call
    /// it again after a failure. `with` names additional packages (`NAME` or `NAME==VERSION`). `progress` receives each step and
    /// the progress of downloads. Compilation takes one to two minutes on all processors and blocks the calling task. Existing
    /// runtimes are not affected; create a new one.
    ///
    /// Like [`execute`](SandboxBackend::execute), it must be awaited inside a Tokio runtime.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] for an unknown name; [`ErrorKind::Engine`] for all other errors, with a hint.
    pub async fn add(&self, name: &str, with: &[String], mut progress: impl FnMut(PackProgress<'_>)) -> Result<()> {
        if find_program(name).is_some() {
            progress(PackProgress::step("unpacking and compiling"));
            return self.add_program(name, None);
        }
        let (store, pack) = (self.store()?, find_pack(name)?);
        if !cfg!(feature = "python") {
            return Err(failed(&"cannot add packs: this program was built without the cargo feature `python`"));
        }
        let staged = store.stage(pack, with, PYTHON_SOURCES, &mut progress).map_err(|error| failed(&error))?;
        progress(PackProgress::step("splitting code and memory"));
        let digest = split_module(&staged).map_err(|message| failed(&message))?;
        let runtime = |task, image: &str| {
            let folder = staged.dir().to_owned();
            let image = folder.join(image);
            let files = staged.files().map_err(|error| failed(&error))?;
            // The first image is never part of a saved process.
            let (image_digest, native) = ([0; 32], store.native());
            let prepared = PreparedRuntime { folder, digest, task, image, image_digest, native };
            let ready = InstalledPack::new(pack, files, PackRuntime::Prepared(pack, Box::new(prepared)));
            let config = RuntimeConfig { packs: vec![ready.clone()], ..RuntimeConfig::default() };
            Ok::<_, Error>((Runtime::new(config)?, ready))
        };
        let keep = staged.dir().join(IMAGE);
        let task = PreinitMode::Initialize {
            setup: SETUP.map(str::to_owned).to_vec(),
            function: IMPORT.to_owned(),
            arguments: IMAGE_MODULES.map(str::to_owned),
            signals: Some((INTERRUPT.to_owned(), SIGNALS.to_vec(), STACK_BYTES)),
            keep,
        };
        let (initializing, ready) = runtime(task, FIRST_IMAGE)?;
        progress(PackProgress::step("compiling"));
        initializing.precompile_pack(&ready)?;
        progress(PackProgress::step("pre-initializing the memory"));
        let mut limits = Limits::default();
        (limits.process_memory_bytes, limits.sandbox_memory_bytes) = (PREINIT_MEMORY_BYTES, PREINIT_MEMORY_BYTES);
        limits.wall_time = PREINIT_TIMEOUT;
        // Equal packs have equal memory on all hosts, so that a saved process can continue on another one.
        let sandbox = initializing.sandbox().limits(limits).deterministic(0, IMAGE_TIME).build()?;
        let response = sandbox.execute(ExecuteRequest::new(pack.commands.first().copied().unwrap_or_default())).await?;
        if response.exit_code != Some(0) {
            let output = response.output_text().trim().to_owned();
            let code = response.exit_code.map_or_else(|| "none".to_owned(), |code| code.to_string());
            return Err(failed(&format!("cannot initialize the runtime: exit code {code}: {output}")));
        }
        let _ = fs::remove_file(staged.dir().join(FIRST_IMAGE));
        let image_digest = file_digest(&staged.dir().join(IMAGE)).map_err(|error| failed(&error))?;
        let finished = store.finish(staged, build_fingerprint(pack), hex(&digest), hex(&image_digest));
        finished.map_err(|error| failed(&error))?;
        Ok(())
    }

    /// Compiles an installed pack for this program, unless its native code is stored: that of another version, or of another
    /// processor, cannot be used. Compilation takes one to two minutes and blocks the calling task. Without this call, the first command
    /// that uses the pack compiles it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] for an unknown name; [`ErrorKind::Engine`] if the pack is not installed or cannot be compiled.
    pub fn compile(&self, name: &str) -> Result<()> {
        if find_program(name).is_none() {
            find_pack(name)?;
        }
        let installed = self.ready().into_iter().find(|installed| installed.name() == name);
        let installed = installed.ok_or_else(|| failed(&format!("the pack {name} is not installed")))?;
        let config = RuntimeConfig { packs: vec![installed.clone()], ..RuntimeConfig::default() };
        Runtime::new(config)?.precompile_pack(&installed)
    }

    /// Removes a pack. Returns whether it was installed.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] for an unknown name; [`ErrorKind::Engine`] if its directory cannot be removed.
    pub fn remove(&self, name: &str) -> Result<bool> {
        let removed = match find_program(name) {
            Some(pack) => self.store()?.remove_program(pack),
            None => self.store()?.remove(find_pack(name)?),
        };
        removed.map_err(|error| failed(&error))
    }

    fn store(&self) -> Result<&PackStore> {
        self.store.as_ref().ok_or_else(|| failed(&"cannot store packs: no cache directory; set XDG_CACHE_HOME to one"))
    }
}

impl InstalledPack {
    fn of(installed: &StoredPack, native: PathBuf) -> Option<Self> {
        let (files, digest) = (installed.files().ok()?, unhex(&installed.manifest.module)?);
        let image_digest = unhex(&installed.manifest.image)?;
        let (folder, image) = (installed.dir.clone(), installed.dir.join(IMAGE));
        let prepared = PreparedRuntime { folder, digest, task: PreinitMode::Run, image, image_digest, native };
        Some(Self::new(installed.pack, files, PackRuntime::Prepared(installed.pack, Box::new(prepared))))
    }

    fn new(pack: &'static Pack, files: Vec<TreeFile>, runtime: PackRuntime) -> Self {
        Self { name: pack.name, commands: pack.commands, files, stub: stub(pack), runtime }
    }

    fn of_program(installed: &InstalledProgram) -> Option<Self> {
        let (files, digest) = (installed.files().ok()?, unhex(&installed.sha256)?);
        let module = installed.module.clone();
        let read = move || fs::read(&module).unwrap_or_default();
        let stub = FileBytes::lazy_with_digest(installed.len, b"\0asm", digest, read);
        let InstalledProgram { pack, .. } = installed;
        Some(Self { name: pack.name, commands: pack.commands, files, stub, runtime: PackRuntime::Program })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns whether a sandbox can have only one of both packs, because they have the same commands.
    #[must_use]
    pub fn conflicts_with(&self, other: &Self) -> bool {
        self.commands.iter().any(|command| other.commands.contains(command))
    }

    /// Returns its commands, and the source of their runtime unless they are an ordinary program.
    pub(crate) fn program(&self) -> (Program, Option<PrepareSource>) {
        let program = Program::new(self.commands.iter().copied(), self.stub.clone());
        let source: Option<PrepareSource> = match self.runtime.clone() {
            PackRuntime::Program => None,
            PackRuntime::Prepared(_, runtime) => Some(Box::new(move || Ok(runtime.source()))),
            PackRuntime::OnUse(pack, packs) => Some(Box::new(move || packs.prepare_source(pack))),
        };
        (program, source)
    }

    /// Returns its files. Their content is read when they are opened.
    pub(crate) fn files(&self) -> Result<Vec<BaseFile>> {
        let initializing = match &self.runtime {
            PackRuntime::Prepared(pack, runtime) if matches!(runtime.task, PreinitMode::Initialize { .. }) => {
                Some(*pack)
            }
            _ => None,
        };
        let mut files = Vec::with_capacity(self.files.len());
        for file in &self.files {
            let host = file.host.clone();
            let executable = matches!(self.runtime, PackRuntime::Program) && is_program(&host);
            let bytes = match &self.runtime {
                PackRuntime::OnUse(pack, packs) => {
                    let (pack, packs) = (*pack, packs.clone());
                    // The file is written by the preparation.
                    let read = move || packs.prepare(pack).ok().and_then(|_| fs::read(&host).ok());
                    FileBytes::lazy(file.len, b"", move || read().unwrap_or_default())
                }
                PackRuntime::Program | PackRuntime::Prepared(..) => {
                    FileBytes::lazy(file.len, b"", move || fs::read(&host).unwrap_or_default())
                }
            };
            // During initialization the interpreter searches the path that its module was built with.
            if let Some(name) = initializing.and_then(|runtime| file.path.strip_prefix(runtime.library_dir)) {
                let path = format!("{FIRST_PATH}{name}");
                files.push(BaseFile { path, bytes: bytes.clone(), executable });
            }
            files.push(BaseFile { path: file.path.clone(), bytes, executable });
        }
        Ok(files)
    }

    pub(crate) fn stub(&self) -> &FileBytes {
        &self.stub
    }
}

impl PreparedRuntime {
    fn source(&self) -> PreinitSource {
        // The steps of an installation are reported by its caller.
        let on_compile = (matches!(self.task, PreinitMode::Run)).then(|| SUPPORT.get()).flatten();
        PreinitSource {
            module: self.folder.join(MODULE),
            digest: self.digest,
            image: self.image.clone(),
            image_digest: self.image_digest,
            // Stored with the packs, so that removing a pack removes it.
            native: CacheDir::open(&self.native).ok(),
            on_compile: on_compile.map(|support| support.on_compile),
            task: self.task.clone(),
        }
    }
}

impl Packs {
    /// Prepares a pack if necessary, and returns the files of its runtime.
    fn prepare_source(&self, pack: &'static Pack) -> std::result::Result<PreinitSource, String> {
        let prepared = self.prepare(pack);
        let prepared = prepared.map_err(|error| format!("cannot prepare the pack {}: {error}", pack.name))?;
        match prepared.runtime {
            PackRuntime::Prepared(_, runtime) => Ok(runtime.source()),
            PackRuntime::OnUse(..) | PackRuntime::Program => Err(format!("the pack {} was not prepared", pack.name)),
        }
    }
}

/// Returns whether a file is a module, or begins with the line of an interpreter. A wheel has no execute bits.
fn is_program(host: &Path) -> bool {
    let mut start = [0; 4];
    let read = fs::File::open(host).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut start));
    read.is_ok() && (start.starts_with(b"#!") || start == *b"\0asm")
}

/// Returns a module that contains only the name of the pack.
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

/// Splits the downloaded module into the module that is compiled and its initial memory. Returns the digest of the former.
fn split_module(staged: &StagedPack) -> std::result::Result<[u8; 32], String> {
    let raw = staged.raw_module();
    let path_error = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let wasm = fs::read(&raw).map_err(|error| path_error(&raw, error))?;
    let parts = split_wasm(&wasm, &[IMPORT, INTERRUPT])?;
    let (module, image) = (staged.dir().join(MODULE), staged.dir().join(FIRST_IMAGE));
    fs::write(&module, &parts.module).map_err(|error| path_error(&module, error))?;
    write_first_image(&image, &parts).map_err(|error| path_error(&image, error))?;
    fs::remove_file(&raw).map_err(|error| path_error(&raw, error))?;
    Ok(Sha256::digest(&parts.module).into())
}

/// Returns a fingerprint of the build inputs of an image: the Python sources, the pinned wheels, the omitted names, and the
/// version. `buildFingerprint` of the npm package returns the same.
fn build_fingerprint(pack: &Pack) -> String {
    let mut hasher = Sha256::new();
    for (path, content) in PYTHON_SOURCES {
        hasher.update(path.as_bytes());
        hasher.update([0]);
        hasher.update(content.as_bytes());
        hasher.update([0]);
    }
    let wheels = [&pack.runtime].into_iter().chain(pack.wheels).map(|wheel| wheel.sha256);
    for name in wheels.chain(pack.excluded.iter().copied()) {
        hasher.update(name.as_bytes());
        hasher.update([0]);
    }
    let digest: [u8; 32] = hasher.finalize().into();
    format!("{} {}", env!("CARGO_PKG_VERSION"), hex(&digest).get(..16).unwrap_or_default())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the SHA-256 of a file.
fn file_digest(path: &Path) -> std::io::Result<[u8; 32]> {
    let mut hasher = Sha256::new();
    std::io::copy(&mut fs::File::open(path)?, &mut hasher)?;
    Ok(hasher.finalize().into())
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

fn find_pack(name: &str) -> Result<&'static Pack> {
    tidebox_packs::find(name).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> Error {
    let programs = PROGRAM_PACKS.iter().map(|pack| pack.name);
    let names: Vec<&str> = PACKS.iter().map(|pack| pack.name).chain(programs).collect();
    let message = format!("unknown pack '{}'; expected one of: {}", name.escape_debug(), names.join(", "));
    Error::new(ErrorKind::InvalidRequest, "pack", message)
}

fn failed(error: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Engine, "pack", error.to_string())
}
