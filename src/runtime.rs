//! The engine and the userland that the sandboxes of a program share.

use std::sync::{Arc, OnceLock};

use tidebox_core::{Error, ErrorKind, Result};
use tidebox_network::NativeGateway;
use tidebox_vfs_backend::{BaseImage, Program, SandboxBuilder};
use tidebox_wasi_runner::{CacheDir, EngineConfig, WasmtimeEngine};

use crate::host::{self, HostClock, HostEntropy};
use crate::pack::{Packs, ReadyPack};

/// How a runtime is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RuntimeConfig {
    /// Processes for which places are kept, over all sandboxes. Default 1,000. Those beyond live in memory that is allocated for them,
    /// and start slower; how many a sandbox may have is in its [`Limits`](crate::Limits::processes).
    pub processes: u32,
    /// Where native code is kept between runs. Default: `tidebox/aot` in the user's cache folder.
    pub cache: Option<CacheDir>,
    /// The programs under `/bin`. Default: those of the userland. A list without `sh` makes sandboxes that run nothing.
    pub programs: Vec<Program>,
    /// Optional runtimes whose commands and files sandboxes have too. Default: those that were [added](crate::Packs::add) to the
    /// user's cache folder.
    pub packs: Vec<ReadyPack>,
}

impl Default for RuntimeConfig {
    fn default() -> Self {
        let programs = tidebox_userland_bundle::MODULES
            .iter()
            .map(|module| Program::new(module.commands.iter().copied(), module.wasm))
            .collect();
        Self {
            processes: EngineConfig::default().slots,
            cache: host::cache_dir(),
            programs,
            packs: Packs::user().ready(),
        }
    }
}

/// What sandboxes share: the WebAssembly engine, the compiled programs and the file tree that each begins with.
///
/// Most programs need one, which [`sandbox`] keeps for them. Sharing it shares no state between sandboxes.
/// A clone is the same runtime.
#[derive(Clone, Debug)]
pub struct Runtime {
    engine: Arc<WasmtimeEngine>,
    base: BaseImage,
    programs: Vec<Program>,
    gateway: Arc<NativeGateway>,
}

impl Runtime {
    /// Sets a runtime up. Programs are compiled when they are first started; [`prepare`](Self::prepare) does it ahead.
    ///
    /// # Errors
    /// [`ErrorKind::Engine`] when the engine cannot start on this machine.
    pub fn new(config: RuntimeConfig) -> Result<Self> {
        let engine = WasmtimeEngine::new(EngineConfig { slots: config.processes, cache: config.cache })
            .map_err(|error| failed("start the engine", error.to_string()))?;
        let mut programs = config.programs;
        let mut files = Vec::new();
        for pack in &config.packs {
            let (program, provision) = pack.program();
            engine.provide(&program.bytes, provision);
            // A command of a pack takes the place of one that only tells how to get it.
            for other in &mut programs {
                other.names.retain(|name| !program.names.contains(name));
            }
            programs.push(program);
            files.extend(pack.files()?);
        }
        let base = BaseImage::with_files(&programs, files)?;
        Ok(Self { engine: Arc::new(engine), base, programs, gateway: Arc::new(NativeGateway::new()) })
    }

    /// Compiles every program now, or loads it from the cache. The first time this takes a minute or two.
    /// `progress` is told the names of each program before it is compiled.
    ///
    /// # Errors
    /// [`ErrorKind::Engine`] when a program cannot be compiled.
    pub fn prepare(&self, mut progress: impl FnMut(&str)) -> Result<()> {
        for program in &self.programs {
            progress(&program.names.join(" "));
            self.engine.prepare(&program.bytes).map_err(|error| failed("prepare the programs", error.message))?;
        }
        Ok(())
    }

    /// Compiles the runtime of a pack now, or loads it from the cache.
    pub(crate) fn prepare_pack(&self, pack: &ReadyPack) -> Result<()> {
        self.engine.prepare(pack.stub()).map_err(|error| failed("prepare the pack", error.message))
    }

    /// Processes that live now, over all sandboxes of this runtime.
    pub fn processes(&self) -> u64 {
        self.engine.processes()
    }

    /// Begins a sandbox on this runtime.
    pub fn sandbox(&self) -> SandboxBuilder {
        let engine = Arc::clone(&self.engine);
        let gateway = Arc::<NativeGateway>::clone(&self.gateway);
        SandboxBuilder::new(engine, &self.base, Box::new(HostClock::new()), Box::new(HostEntropy)).gateway(gateway)
    }
}

/// Begins a sandbox on the runtime that this process shares, which the first call sets up with the defaults.
///
/// # Errors
/// [`ErrorKind::Engine`] when the engine cannot start on this machine.
pub fn sandbox() -> Result<SandboxBuilder> {
    static SHARED: OnceLock<Result<Runtime, String>> = OnceLock::new();
    match SHARED.get_or_init(|| Runtime::new(RuntimeConfig::default()).map_err(|error| error.to_string())) {
        Ok(runtime) => Ok(runtime.sandbox()),
        Err(message) => Err(failed("start the engine", message.clone())),
    }
}

fn failed(operation: &'static str, message: String) -> Error {
    Error::new(ErrorKind::Engine, operation, message)
}
