//! Programs: compiled modules, linked and ready to be instantiated.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};
use tidebox_kernel::Image;
use tidebox_kernel::fs::Contents;
use wasmtime::{Engine, InstancePre, Linker, Module};

use crate::aot::CacheDir;
use crate::ext;
use crate::guest::Guest;

/// Compiled modules of guests that are kept, so that a program which a script starts a thousand times is compiled once.
/// Each holds several times its own size in native code.
const KEPT_GUEST_MODULES: usize = 32;

/// A module that is ready to run.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) pre: InstancePre<Guest>,
    /// Whether it imports `tidebox_v1`.
    pub(crate) aware: bool,
}

/// Why a file is no program that can run here. The text is for the guest's stderr.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotAProgram(String);

impl NotAProgram {
    /// The compiler itself panicked: a defect, but the guest's command is all that it may end.
    pub(crate) fn compiler_failed() -> Self {
        Self("the compiler failed on this module".into())
    }
}

impl fmt::Display for NotAProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// All programs of an engine.
pub(crate) struct Programs {
    linker: Linker<Guest>,
    cache: Option<CacheDir>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// By the address of the shared bytes, which the entry keeps alive and therefore unique.
    installed: HashMap<usize, (Arc<[u8]>, Program)>,
    /// What guests brought, by its place in memory: the same file started again is neither read nor hashed.
    seen: VecDeque<(Contents, Program)>,
    /// The same by content: a file written anew with the same bytes is not compiled again.
    by_digest: HashMap<[u8; 32], (u64, Program)>,
    clock: u64,
}

impl Programs {
    pub(crate) fn new(linker: Linker<Guest>, cache: Option<CacheDir>) -> Self {
        Self { linker, cache, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The program that a process was started from, if it needs no compiling.
    pub(crate) fn ready(&self, image: &Image) -> Option<Program> {
        let known = self.known();
        match image.contents.shared() {
            Some(shared) => known.installed.get(&address(shared)).map(|(_, program)| program.clone()),
            None => {
                known.seen.iter().find(|(seen, _)| seen.is_same(&image.contents)).map(|(_, program)| program.clone())
            }
        }
    }

    /// An installed program: one the application put there, kept for good.
    pub(crate) fn installed(&self, engine: &Engine, wasm: &Arc<[u8]>) -> Result<Program, NotAProgram> {
        if let Some((_, program)) = self.known().installed.get(&address(wasm)) {
            return Ok(program.clone());
        }
        let module = match &self.cache {
            Some(cache) => cache.load(engine, wasm),
            None => Module::new(engine, wasm),
        };
        let program = self.link(module)?;
        self.known().installed.insert(address(wasm), (Arc::clone(wasm), program.clone()));
        Ok(program)
    }

    /// A program that a guest brought, known by its content.
    pub(crate) fn of_guest(&self, engine: &Engine, contents: &Contents) -> Result<Program, NotAProgram> {
        let wasm = contents.as_bytes();
        let digest: [u8; 32] = Sha256::digest(&wasm).into();
        let known = self.known().touch(&digest);
        let program = match known {
            Some(program) => program,
            None => self.link(Module::new(engine, &wasm))?,
        };
        self.known().keep(digest, contents, program.clone());
        Ok(program)
    }

    fn link(&self, module: wasmtime::Result<Module>) -> Result<Program, NotAProgram> {
        let module = module.map_err(|error| NotAProgram(format!("not a valid WebAssembly module: {error:#}")))?;
        if module.get_export("_start").and_then(|export| export.func().cloned()).is_none() {
            return Err(NotAProgram("the module exports no _start function; build it as a WASI command".into()));
        }
        let aware = module.imports().any(|import| import.module() == ext::MODULE);
        let pre = self
            .linker
            .instantiate_pre(&module)
            .map_err(|error| NotAProgram(format!("the module imports what this sandbox does not have: {error:#}")))?;
        Ok(Program { pre, aware })
    }
}

impl Known {
    fn touch(&mut self, digest: &[u8; 32]) -> Option<Program> {
        self.clock += 1;
        let (used, program) = self.by_digest.get_mut(digest)?;
        *used = self.clock;
        Some(program.clone())
    }

    fn keep(&mut self, digest: [u8; 32], contents: &Contents, program: Program) {
        self.clock += 1;
        self.seen.truncate(KEPT_GUEST_MODULES - 1);
        self.seen.push_front((contents.clone(), program.clone()));
        if self.by_digest.len() >= KEPT_GUEST_MODULES && !self.by_digest.contains_key(&digest) {
            let oldest = self.by_digest.iter().min_by_key(|(_, (used, _))| *used).map(|(digest, _)| *digest);
            if let Some(oldest) = oldest {
                self.by_digest.remove(&oldest);
            }
        }
        self.by_digest.insert(digest, (self.clock, program));
    }
}

fn address(bytes: &Arc<[u8]>) -> usize {
    bytes.as_ptr().addr()
}
