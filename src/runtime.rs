//! The engine and the userland, shared by the sandboxes of a program.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use tidebox_core::{Error, ErrorKind, Result};
use tidebox_kernel::fs::FileBytes;
use tidebox_network::NativeGateway;
use tidebox_vfs_backend::{BaseImage, Program, SandboxBuilder};
use tidebox_wasi_runner::{CacheDir, EngineConfig, ProgramArchive, WasmtimeEngine};

use crate::pack::{InstalledPack, Packs};
#[cfg(feature = "ports")]
use crate::ports::LoopbackPorts;
use crate::system::{self, HostClock, HostEntropy, TokioTasks};

/// Configuration of a runtime.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RuntimeConfig {
    /// Preallocated process slots of all sandboxes. Default 1,000. Further processes use memory allocated on demand and start
    /// slower. The limit per sandbox is [`Limits::processes`](crate::Limits::processes).
    pub pool_slots: u32,
    /// Cache of native code. Default: `tidebox/aot` in the user's cache directory.
    pub cache: Option<CacheDir>,
    /// Native code that is shipped with the application, searched before the cache. Default: that of
    /// [`set_installation`].
    pub archive: Option<ProgramArchive>,
    /// Called before a program is compiled, because neither the archive nor the cache has code for this processor. Compilation
    /// takes up to seconds. Default: that of [`set_installation`].
    pub on_compile: Option<fn()>,
    /// The programs in `/bin`. Default: the userland. Without `sh`, sandboxes cannot run commands.
    pub programs: Vec<Program>,
    /// Optional runtimes whose commands and files are added to sandboxes. Default: those [installed](crate::Packs::add) in the
    /// user's cache directory. [`Packs::default_packs`](crate::Packs::default_packs) selects one per command.
    pub packs: Vec<InstalledPack>,
}

impl Default for RuntimeConfig {
    fn default() -> Self {
        Self {
            pool_slots: EngineConfig::default().pool_slots,
            cache: system::cache_dir(),
            archive: INSTALLATION.get().map(|installation| installation.archive.clone()),
            on_compile: INSTALLATION.get().map(|installation| installation.on_compile),
            programs: bundled_programs(),
            packs: Packs::user().default_packs(),
        }
    }
}

/// Returns the programs that are part of this library.
fn bundled_programs() -> Vec<Program> {
    tidebox_userland_bundle::MODULES
        .iter()
        .map(|module| {
            let bytes = FileBytes::lazy_with_digest(module.len, module.prefix, module.sha256, || module.decompress());
            Program::new(module.commands.iter().copied(), bytes)
        })
        .collect()
}

/// The parts of an installation that belong to the program, not to the user.
struct Installation {
    archive: ProgramArchive,
    on_compile: fn(),
}

static INSTALLATION: OnceLock<Installation> = OnceLock::new();

/// Sets the native code that is shipped with this program, for all runtimes with the default configuration. `on_compile` is called
/// before a program is compiled because the archive has no code for this processor. Call it before the first sandbox; only the first
/// call has an effect.
pub fn set_installation(archive: ProgramArchive, on_compile: fn()) {
    let _ = INSTALLATION.set(Installation { archive, on_compile });
}

/// Returns the directory of the native code that is shipped with this program.
#[cfg(all(target_os = "linux", feature = "confine"))]
pub(crate) fn shipped_code() -> Option<&'static Path> {
    INSTALLATION.get().map(|installation| installation.archive.path())
}

/// Compiles the programs of the userland for any processor of this architecture, into a directory that [`ProgramArchive`] reads.
/// `progress` receives the names of each program before it is compiled.
///
/// # Errors
/// [`ErrorKind::Engine`] if the directory cannot be written.
pub fn write_archive(dir: &Path, mut progress: impl FnMut(&str)) -> Result<()> {
    let programs = bundled_programs();
    WasmtimeEngine::write_archive(dir, programs.iter().map(|program| &program.bytes), |at| {
        progress(&programs[at].names.join(" "));
    })
    .map_err(|error| failed("compile the programs", error.message))
}

/// Resources shared by sandboxes: the WebAssembly engine, the compiled programs and the base files.
///
/// Most programs need only one, which [`sandbox`] manages. Sandboxes share no state through it. A clone refers to the same
/// runtime.
#[derive(Clone, Debug)]
pub struct Runtime {
    engine: Arc<WasmtimeEngine>,
    base: BaseImage,
    programs: Vec<Program>,
    gateway: Arc<NativeGateway>,
}

impl Runtime {
    /// Creates a runtime. Programs are compiled when they are first started; [`precompile`](Self::precompile) does it in advance.
    ///
    /// # Errors
    /// [`ErrorKind::Engine`] if the engine cannot start on this host, and [`ErrorKind::InvalidRequest`] if two packs have the same
    /// commands.
    pub fn new(config: RuntimeConfig) -> Result<Self> {
        reject_conflicts(&config.packs)?;
        let RuntimeConfig { pool_slots, cache, archive, on_compile, .. } = config;
        let engine = WasmtimeEngine::new(EngineConfig { pool_slots, cache, archive, on_compile })
            .map_err(|error| failed("start the engine", error.to_string()))?;
        let mut programs = config.programs;
        let mut files = Vec::new();
        for pack in &config.packs {
            let (program, source) = pack.program();
            if let Some(source) = source {
                engine.register_preinit_on_use(&program.bytes, source);
            }
            // A command of a pack replaces the placeholder that explains how to install it.
            for other in &mut programs {
                other.names.retain(|name| !program.names.contains(name));
            }
            programs.push(program);
            files.extend(pack.files()?);
        }
        let base = BaseImage::with_files(&programs, files)?;
        Ok(Self { engine: Arc::new(engine), base, programs, gateway: Arc::new(NativeGateway::new()) })
    }

    /// Compiles all programs, or loads them from the cache. The first time this takes one to two minutes. `progress` receives the
    /// names of each program before it is compiled.
    ///
    /// # Errors
    /// [`ErrorKind::Engine`] if a program cannot be compiled.
    pub fn precompile(&self, mut progress: impl FnMut(&str)) -> Result<()> {
        for program in &self.programs {
            progress(&program.names.join(" "));
            self.engine.precompile(&program.bytes).map_err(|error| failed("compile the programs", error.message))?;
        }
        Ok(())
    }

    /// Compiles the runtime of a pack, or loads it from the cache.
    pub(crate) fn precompile_pack(&self, pack: &InstalledPack) -> Result<()> {
        self.engine.precompile(pack.stub()).map_err(|error| failed("compile the pack", error.message))
    }

    /// Returns the number of live processes of all sandboxes of this runtime.
    pub fn processes(&self) -> u64 {
        self.engine.processes()
    }

    /// Returns a builder of a sandbox on this runtime.
    pub fn sandbox(&self) -> SandboxBuilder {
        let engine = Arc::clone(&self.engine);
        let gateway = Arc::<NativeGateway>::clone(&self.gateway);
        let builder = SandboxBuilder::new(engine, &self.base, Box::new(HostClock::new()), Box::new(HostEntropy))
            .gateway(gateway)
            .tasks(Arc::new(TokioTasks));
        #[cfg(feature = "ports")]
        let builder = builder.ports(Arc::new(LoopbackPorts));
        builder
    }
}

/// Returns a builder of a sandbox on the shared runtime of this process, which the first call creates with the default
/// configuration.
///
/// # Errors
/// [`ErrorKind::Engine`] if the engine cannot start on this host.
pub fn sandbox() -> Result<SandboxBuilder> {
    static SHARED: OnceLock<Result<Runtime, String>> = OnceLock::new();
    match SHARED.get_or_init(|| Runtime::new(RuntimeConfig::default()).map_err(|error| error.to_string())) {
        Ok(runtime) => Ok(runtime.sandbox()),
        Err(message) => Err(failed("start the engine", message.clone())),
    }
}

/// Rejects packs that have the same commands: a sandbox could use only one of them.
fn reject_conflicts(packs: &[InstalledPack]) -> Result<()> {
    for (at, pack) in packs.iter().enumerate() {
        if let Some(other) = packs.iter().skip(at + 1).find(|other| pack.conflicts_with(other)) {
            let (pack, other) = (pack.name(), other.name());
            let message =
                format!("the packs {pack} and {other} have the same commands; a sandbox can have only one of them");
            return Err(Error::new(ErrorKind::InvalidRequest, "create the runtime", message));
        }
    }
    Ok(())
}

fn failed(operation: &'static str, message: String) -> Error {
    Error::new(ErrorKind::Engine, operation, message)
}
