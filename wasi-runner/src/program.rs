//! Programs: compiled modules and components, linked and ready to be instantiated.

mod bulk;
mod compiling;
mod known;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidebox_kernel::Image;
use tidebox_kernel::fs::{Contents, FileBytes};
use wasmtime::component::Component;
use wasmtime::{Engine, ExternType, InstancePre, Module, UnknownImportError};

use crate::aot::{CacheDir, Native};
use crate::guest::Guest;
use crate::prepared::{Prepared, Provided, Provision};
use crate::{component, ext};
pub(crate) use compiling::Compiling;
use known::Known;
pub(crate) use known::{Digest, digest};

/// A program that is ready to run.
#[derive(Clone)]
pub(crate) enum Program {
    /// A module of preview1.
    Module {
        pre: InstancePre<Guest>,
        /// Whether it imports `tidebox_v1`.
        aware: bool,
    },
    /// A component of WASI 0.2.
    Component(component::Program),
    /// A module whose memory is there already.
    Prepared(Arc<Prepared>),
}

/// Why a file is no program that can run here. The text is for the guest's stderr.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotAProgram(String);

impl NotAProgram {
    /// The compiler itself panicked: a defect, but the guest's command is all that it may end.
    pub(crate) fn compiler_failed() -> Self {
        Self("the compiler failed on this module".into())
    }

    pub(crate) fn because(reason: String) -> Self {
        Self(reason)
    }
}

impl fmt::Display for NotAProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What programs of each kind may import.
pub(crate) struct Linkers {
    modules: wasmtime::Linker<Guest>,
    components: wasmtime::component::Linker<component::Host>,
}

impl Linkers {
    pub(crate) fn new(engine: &Engine) -> wasmtime::Result<Self> {
        Ok(Self { modules: crate::guest::linker(engine)?, components: component::linker(engine)? })
    }
}

/// All programs of an engine.
pub(crate) struct Programs {
    linkers: Linkers,
    cache: Option<CacheDir>,
    known: Mutex<Known>,
    /// Files that stand for prepared programs.
    provided: Mutex<Vec<(FileBytes, Arc<Provided>)>>,
}

impl Programs {
    pub(crate) fn new(linkers: Linkers, cache: Option<CacheDir>) -> Self {
        Self { linkers, cache, known: Mutex::default(), provided: Mutex::default() }
    }

    pub(crate) fn cache(&self) -> Option<&CacheDir> {
        self.cache.as_ref()
    }

    /// Has a file stand for a prepared program, in the place of what it stood for before.
    pub(crate) fn provide(&self, file: &FileBytes, provision: Provision) {
        let mut provided = self.provided.lock().unwrap_or_else(PoisonError::into_inner);
        provided.retain(|(known, _)| !known.is_same(file));
        provided.push((file.clone(), Arc::new(Provided::new(provision))));
    }

    fn provided(&self, file: &FileBytes) -> Option<Arc<Provided>> {
        let provided = self.provided.lock().unwrap_or_else(PoisonError::into_inner);
        provided.iter().find(|(known, _)| known.is_same(file)).map(|(_, provided)| Arc::clone(provided))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The program that a process was started from, if it needs no compiling.
    pub(crate) fn ready(&self, image: &Image) -> Option<Program> {
        let known = self.known();
        match image.contents.shared() {
            Some(shared) => known.installed(shared),
            None => known.seen(&image.contents),
        }
    }

    /// An installed program: one the application put there. It is kept as long as its bytes are, and some time longer, in
    /// case the same bytes come again in another sandbox.
    pub(crate) fn installed(&self, engine: &Engine, wasm: &FileBytes) -> Result<Program, NotAProgram> {
        if let Some(provided) = self.provided(wasm) {
            return provided.program(self.cache.as_ref());
        }
        if let Some(program) = self.known().installed(wasm) {
            return Ok(program);
        }
        let digest = digest(wasm);
        let program = match self.known().installed_before(&digest) {
            Some(program) => program,
            None => self.make(engine, wasm, self.cache.as_ref().map(|cache| (cache, &digest)))?,
        };
        self.known().install(wasm, digest, program.clone());
        Ok(program)
    }

    /// A program that a guest brought, known by its content.
    pub(crate) fn of_guest(&self, engine: &Engine, contents: &Contents) -> Result<Program, NotAProgram> {
        let wasm = contents.as_bytes();
        let digest: Digest = digest(&wasm);
        let known = self.known().touch(&digest);
        let program = match known {
            Some(program) => program,
            None => self.make(engine, &bulk::bound(&wasm, component::is_component(&wasm))?, None)?,
        };
        self.known().keep(digest, contents, wasm.len() as u64, program.clone());
        Ok(program)
    }

    /// Compiles a program, or loads it where a cache has it, and links it.
    fn make(&self, engine: &Engine, wasm: &[u8], cache: Cached<'_>) -> Result<Program, NotAProgram> {
        if component::is_component(wasm) {
            if let Some(reason) = component::left_out(wasm) {
                return Err(NotAProgram(reason.to_owned()));
            }
            self.link_component(compile(engine, wasm, cache, "component")?)
        } else {
            self.link_module(compile(engine, wasm, cache, "module")?)
        }
    }

    fn link_module(&self, module: Module) -> Result<Program, NotAProgram> {
        if module.get_export("_start").and_then(|export| export.func().cloned()).is_none() {
            return Err(NotAProgram("the module exports no _start function; build it as a WASI command".into()));
        }
        let aware = module.imports().any(|import| import.module() == ext::MODULE);
        let pre = self.linkers.modules.instantiate_pre(&module).map_err(|error| absent(&error))?;
        Ok(Program::Module { pre, aware })
    }

    fn link_component(&self, component: Component) -> Result<Program, NotAProgram> {
        component::link(&self.linkers.components, &component).map(Program::Component).map_err(NotAProgram)
    }
}

/// What a module wants from its host and does not get.
fn absent(error: &wasmtime::Error) -> NotAProgram {
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
    NotAProgram(format!("the module imports what this sandbox does not have: {what}"))
}

/// A cache, for what is kept there, and the digest that it is kept under.
type Cached<'a> = Option<(&'a CacheDir, &'a Digest)>;

fn compile<T: Native>(engine: &Engine, wasm: &[u8], cache: Cached<'_>, what: &str) -> Result<T, NotAProgram> {
    match cache {
        Some((cache, digest)) => cache.load(engine, wasm, digest),
        None => T::new(engine, wasm),
    }
    .map_err(|error| NotAProgram(format!("not a valid WebAssembly {what}: {error:#}")))
}
