//! Programs: compiled modules and components, linked and ready to be instantiated.

mod bulk_memory;
mod cache;
mod compile_pool;
mod interruptible;

use std::fmt;
use std::sync::{Arc, MutexGuard};

use tidebox_core::lock::Mutex;

use tidebox_kernel::Executable;
use tidebox_kernel::fs::{Contents, FileBytes};
use wasmtime::component::Component;
use wasmtime::{Engine, ExternType, InstancePre, Module, UnknownImportError};

use crate::aot::{CacheDir, CachedArtifact, ProgramArchive};
use crate::guest::Guest;
use crate::preinit::{PreinitProgram, PrepareSource, RegisteredPreinit};
use crate::{component, tidebox_v1};
use cache::ProgramCache;
pub(crate) use cache::{Digest, digest};
pub(crate) use compile_pool::{CompileJob, CompilePool, SandboxKey};
use interruptible::InterruptibleCompiler;

/// A program that is ready to run.
#[derive(Clone)]
pub(crate) enum Program {
    /// A preview1 module.
    Module {
        pre: InstancePre<Guest>,
        /// True if it imports `tidebox_v1`.
        tidebox_guest: bool,
    },
    /// A component.
    Component(component::Program),
    /// A pre-initialized module.
    Preinit(Arc<PreinitProgram>),
}

/// Reason why a file cannot be run. The text is for the guest's stderr.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoadError(String);

impl LoadError {
    /// Error for a panic of the compiler: a bug, but only the guest's command fails.
    pub(crate) fn compiler_failed() -> Self {
        Self("the compiler failed on this module".into())
    }

    pub(crate) fn new(reason: String) -> Self {
        Self(reason)
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Linkers with the allowed imports, per kind of program.
pub(crate) struct Linkers {
    modules: wasmtime::Linker<Guest>,
    components: wasmtime::component::Linker<component::Host>,
}

impl Linkers {
    pub(crate) fn new(engine: &Engine) -> wasmtime::Result<Self> {
        Ok(Self { modules: crate::guest::linker(engine)?, components: component::linker(engine)? })
    }
}

/// Sources of native code for installed programs.
#[derive(Clone, Default)]
pub(crate) struct NativeCode {
    pub(crate) cache: Option<CacheDir>,
    pub(crate) archive: Option<ProgramArchive>,
    pub(crate) on_compile: Option<fn()>,
}

/// All programs of an engine.
pub(crate) struct Programs {
    linkers: Linkers,
    sources: NativeCode,
    cached: Mutex<ProgramCache>,
    /// Compiles guest-supplied programs.
    interruptible: InterruptibleCompiler,
    /// Files that are registered as pre-initialized programs.
    preinits: Mutex<Vec<(FileBytes, Arc<RegisteredPreinit>)>>,
}

impl Programs {
    pub(crate) fn new(linkers: Linkers, sources: NativeCode) -> Self {
        Self {
            linkers,
            sources,
            cached: Mutex::default(),
            interruptible: InterruptibleCompiler::default(),
            preinits: Mutex::default(),
        }
    }

    pub(crate) fn sources(&self) -> &NativeCode {
        &self.sources
    }

    /// Registers a pre-initialized program for a file, replacing an earlier one.
    pub(crate) fn register_preinit(&self, file: &FileBytes, source: PrepareSource) {
        let mut preinits = self.preinits.lock();
        preinits.retain(|(registered, _)| !registered.is_same(file));
        preinits.push((file.clone(), Arc::new(RegisteredPreinit::new(source))));
    }

    fn preinit(&self, file: &FileBytes) -> Option<Arc<RegisteredPreinit>> {
        let preinits = self.preinits.lock();
        preinits.iter().find(|(registered, _)| registered.is_same(file)).map(|(_, preinit)| Arc::clone(preinit))
    }

    fn lock_programs(&self) -> MutexGuard<'_, ProgramCache> {
        self.cached.lock()
    }

    /// Returns the program that a process was started from, unless it must be compiled.
    pub(crate) fn cached(&self, image: &Executable) -> Option<Program> {
        let programs = self.lock_programs();
        match image.contents.shared() {
            Some(shared) => programs.installed(shared),
            None => programs.get_guest_program(&image.contents),
        }
    }

    /// Returns a program installed by the application. It stays cached while its bytes are in use and for some time
    /// after, in case another sandbox installs the same bytes.
    pub(crate) fn installed_program(&self, engine: &Engine, wasm: &FileBytes) -> Result<Program, LoadError> {
        if let Some(preinit) = self.preinit(wasm) {
            return preinit.program(self.sources.cache.as_ref());
        }
        if let Some(program) = self.lock_programs().installed(wasm) {
            return Ok(program);
        }
        let digest = wasm.sha256().unwrap_or_else(|| digest(wasm));
        let same = self.lock_programs().installed_by_digest(&digest);
        let program = match same {
            Some(program) => program,
            None => match self.cached_module(engine, wasm, &digest) {
                Some(module) => self.link_module(module)?,
                None => {
                    if let Some(on_compile) = self.sources.on_compile {
                        on_compile();
                    }
                    let cache = self.sources.cache.as_ref().map(|cache| (cache, &digest));
                    self.compile_and_link(engine, &wasm.load_once(), Source::Installed(cache))?
                }
            },
        };
        self.lock_programs().install(wasm, digest, program.clone());
        Ok(program)
    }

    /// Returns the compiled module from the archive or the cache without loading its bytes. Components are compiled as usual.
    fn cached_module(&self, engine: &Engine, wasm: &FileBytes, digest: &Digest) -> Option<Module> {
        if component::is_component(wasm.prefix(component::MAGIC_BYTES)) {
            return None;
        }
        let NativeCode { archive, cache, .. } = &self.sources;
        let shipped = archive.as_ref().and_then(|archive| archive.get(engine, digest));
        shipped.or_else(|| cache.as_ref()?.get(engine, digest))
    }

    /// Returns a guest-supplied program, identified by its content. Compiles it on the current thread, and stops if
    /// the job of this thread must stop.
    pub(crate) fn guest_program(&self, engine: &Engine, contents: &Contents) -> Result<Program, LoadError> {
        let wasm = contents.as_bytes();
        let digest: Digest = digest(&wasm);
        let cached = self.lock_programs().touch(&digest);
        let program = match cached {
            Some(program) => program,
            None => {
                compile_pool::check()?;
                let rewritten = bulk_memory::check_and_rewrite(&wasm, component::is_component(&wasm))?;
                compile_pool::check()?;
                self.compile_and_link(engine, &rewritten, Source::Guest(&self.interruptible))?
            }
        };
        self.lock_programs().insert_guest(digest, contents, wasm.len() as u64, program.clone());
        Ok(program)
    }

    /// Compiles a program, or loads it from the cache, and links it.
    fn compile_and_link(&self, engine: &Engine, wasm: &[u8], source: Source<'_>) -> Result<Program, LoadError> {
        if component::is_component(wasm) {
            if let Some(reason) = component::unsupported_reason(wasm) {
                return Err(LoadError(reason.to_owned()));
            }
            self.link_component(compile(engine, wasm, source, "component")?)
        } else {
            self.link_module(compile(engine, wasm, source, "module")?)
        }
    }

    fn link_module(&self, module: Module) -> Result<Program, LoadError> {
        if module.get_export("_start").and_then(|export| export.func().cloned()).is_none() {
            return Err(LoadError("the module exports no _start function; build it as a WASI command".into()));
        }
        let tidebox_guest = module.imports().any(|import| import.module() == tidebox_v1::MODULE);
        let pre = self.linkers.modules.instantiate_pre(&module).map_err(|error| missing_import(&error))?;
        Ok(Program::Module { pre, tidebox_guest })
    }

    fn link_component(&self, component: Component) -> Result<Program, LoadError> {
        component::link(&self.linkers.components, &component).map(Program::Component).map_err(LoadError)
    }
}

/// Describes the import that the host does not provide.
fn missing_import(error: &wasmtime::Error) -> LoadError {
    let what = match error.downcast_ref::<UnknownImportError>() {
        Some(import) => {
            let kind = match import.ty() {
                ExternType::Func(_) => "function",
                ExternType::Global(_) => "global",
                ExternType::Table(_) => "table",
                ExternType::Memory(_) => "memory",
                ExternType::Tag(_) => "tag",
            };
            format!("the {kind} {}::{}", import.module(), import.name())
        }
        None => format!("{error:#}"),
    };
    LoadError(format!("unsupported import of the module: {what}"))
}

/// Origin of a program that has to be compiled.
#[derive(Clone, Copy)]
enum Source<'a> {
    /// The application, with the cache and the digest of the artifact in it.
    Installed(Option<(&'a CacheDir, &'a Digest)>),
    /// A guest.
    Guest(&'a InterruptibleCompiler),
}

fn compile<T: CachedArtifact>(engine: &Engine, wasm: &[u8], source: Source<'_>, what: &str) -> Result<T, LoadError> {
    match source {
        Source::Installed(Some((cache, digest))) => cache.load(engine, wasm, digest),
        Source::Installed(None) => T::new(engine, wasm),
        Source::Guest(compiler) => compiler.compile(engine, wasm),
    }
    .map_err(|error| LoadError(format!("not a valid WebAssembly {what}: {error:#}")))
}
