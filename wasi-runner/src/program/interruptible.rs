//! Compilation that can be given up, for guest-supplied programs.
//!
//! Wasmtime has no call to cancel a compilation. Its incremental cache is a hook that runs before each function: this
//! one never has an entry, and unwinds the compiler if the job of the thread must stop.

use std::borrow::Cow;
use std::sync::OnceLock;

use wasmtime::{CacheStore, Engine};

use super::compile_pool;
use crate::aot::CachedArtifact;
use crate::engine::base_config;

/// A second engine that only compiles. Its native code runs in the engine of the guests, because pooling does not
/// affect native code.
#[derive(Default)]
pub(super) struct InterruptibleCompiler {
    engine: OnceLock<Option<Engine>>,
}

impl InterruptibleCompiler {
    /// Compiles on the current thread, for `engine`.
    pub(super) fn compile<T: CachedArtifact>(&self, engine: &Engine, wasm: &[u8]) -> wasmtime::Result<T> {
        let Some(compiler) = self.engine.get_or_init(|| compile_engine().ok()) else { return T::new(engine, wasm) };
        let code = T::compile(compiler, wasm)?;
        #[allow(unsafe_code, reason = "native code can only be loaded by an unsafe call")]
        // SAFETY: the bytes are the unmodified output of `compile`.
        unsafe {
            T::from_bytes(engine, &code)
        }
    }
}

fn compile_engine() -> wasmtime::Result<Engine> {
    let mut config = base_config();
    // The flag of the job belongs to the thread.
    config.parallel_compilation(false);
    config.enable_incremental_compilation(std::sync::Arc::new(StopHook))?;
    Engine::new(&config)
}

/// The hook.
#[derive(Debug)]
struct StopHook;

/// Payload of the unwinding, which the thread pool catches.
struct Stopped;

impl CacheStore for StopHook {
    fn get(&self, _: &[u8]) -> Option<Cow<'_, [u8]>> {
        // An application built with `panic = "abort"` cannot unwind; there the compilation continues with low priority.
        if cfg!(panic = "unwind") && compile_pool::check().is_err() {
            // Unlike `panic!` this prints nothing.
            std::panic::resume_unwind(Box::new(Stopped));
        }
        None
    }

    fn insert(&self, _: &[u8], _: Vec<u8>) -> bool {
        false
    }
}
