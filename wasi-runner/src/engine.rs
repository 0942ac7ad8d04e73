//! The engine: Wasmtime configuration, linked system calls, and compiled programs.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tidebox_kernel::engine::{Engine as EnginePort, EngineError};
use tidebox_kernel::fs::FileBytes;
use tidebox_kernel::{ExecutionId, OutputChunk, SharedKernel};
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::aot::{ArchiveCompiler, CacheDir, ProgramArchive};
use crate::guest::Guest;
use crate::preinit::{PreinitSource, PrepareSource};
use crate::process_count::{ProcessCount, ProcessGuard};
use crate::program::{CompilePool, Linkers, NativeCode, Programs, digest};
use crate::scheduler;
use crate::ticker::Ticker;

/// Native stack available to guest code. The shell allows 1,000 nested calls of a function; with 2 MiB it failed
/// between 900 and 950. QuickJS reaches 3,100 nested calls with 2 MiB, where its own limit is. With 4 MiB the stack in
/// the program's linear memory overflows first, which shows as an out-of-bounds access.
const GUEST_STACK_BYTES: usize = 3 << 20;

/// Fiber stack size of a process. The part not available to the guest is reserved for host calls.
const FIBER_STACK_BYTES: usize = 4 << 20;

/// Linear memory that a pool slot keeps resident after a process exits, so that the next one starts without page
/// faults. The shell and the tools write less than this. With 1,000 slots, at most 1 GiB stays resident after many
/// large processes.
const KEEP_RESIDENT_MEMORY: usize = 1 << 20;

/// Fiber stack that a pool slot keeps resident. The shell uses 12 KiB to run a builtin. The kept part is zeroed after
/// each process.
const KEEP_RESIDENT_STACK: usize = 32 << 10;

/// Table memory that a pool slot keeps resident.
const KEEP_RESIDENT_TABLE: usize = 64 << 10;

/// Engine configuration.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Number of pool slots for processes, over all sandboxes. Default 1,000, which takes 2 ms to set up and reserves 4
    /// TiB of address space, not memory. When the pool is full, processes use memory allocated on demand and start more
    /// slowly. 0 disables the pool.
    pub pool_slots: u32,
    /// Cache for native code of installed programs. Default `None`: programs are compiled again in every host process.
    pub cache: Option<CacheDir>,
    /// Native code that the application ships, searched before the cache. Default `None`.
    pub archive: Option<ProgramArchive>,
    /// Called before an installed program is compiled, which takes up to seconds. Default `None`.
    pub on_compile: Option<fn()>,
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self { pool_slots: 1000, cache: None, archive: None, on_compile: None }
    }
}

/// Error of setting up an engine.
#[derive(Debug)]
pub struct SetupError(String);

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the WebAssembly engine cannot start: {}", self.0)
    }
}

impl std::error::Error for SetupError {}

/// Runs guests with Wasmtime. Cheap to clone; the sandboxes of a host process share one engine.
#[derive(Clone)]
pub struct WasmtimeEngine {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) engine: Engine,
    pub(crate) programs: Programs,
    /// Threads that compile guest-supplied programs.
    pub(crate) compiling: CompilePool,
    pub(crate) ticker: Ticker,
    process_count: ProcessCount,
    /// Set while one large linear memory is being freed on a background thread.
    deferred_drop: Arc<AtomicBool>,
    /// Overflow engine with on-demand allocation, used when the pool is full. Created on first use.
    overflow: Option<OnceLock<Option<Arc<Self>>>>,
}

impl Inner {
    fn new(
        engine: Engine,
        sources: NativeCode,
        process_count: ProcessCount,
        is_pooled: bool,
    ) -> Result<Self, SetupError> {
        let linkers = Linkers::new(&engine).map_err(|error| SetupError(format!("{error:#}")))?;
        let ticker = Ticker::start(&engine).map_err(|error| SetupError(error.to_string()))?;
        let programs = Programs::new(linkers, sources);
        let overflow_cell = is_pooled.then(OnceLock::new);
        let (compiling, deferred_drop_flag) = (CompilePool::default(), Arc::default());
        Ok(Self {
            engine,
            programs,
            compiling,
            ticker,
            process_count,
            deferred_drop: deferred_drop_flag,
            overflow: overflow_cell,
        })
    }

    /// Counts a process until the returned guard is dropped.
    pub(crate) fn count_process(&self) -> ProcessGuard {
        self.process_count.register()
    }

    /// Acquires the permit to free one large memory in the background. Returns `None` if another thread holds it, which
    /// bounds the memory awaiting release.
    pub(crate) fn try_defer_drop(&self) -> Option<DeferredDropPermit> {
        let free = !self.deferred_drop.swap(true, Ordering::AcqRel);
        free.then(|| DeferredDropPermit(Arc::clone(&self.deferred_drop)))
    }

    /// Returns the overflow engine, used when the pool is full. `None` without a pool, or if a second engine cannot be
    /// created.
    pub(crate) fn overflow(&self) -> Option<&Arc<Self>> {
        let make = || {
            let engine = Engine::new(&base_config()).ok()?;
            let sources = self.programs.sources().clone();
            Self::new(engine, sources, self.process_count.clone(), false).ok().map(Arc::new)
        };
        self.overflow.as_ref()?.get_or_init(make).as_ref()
    }
}

/// Permit to free one large memory in the background; released on drop.
pub(crate) struct DeferredDropPermit(Arc<AtomicBool>);

impl Drop for DeferredDropPermit {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl fmt::Debug for WasmtimeEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WasmtimeEngine").finish_non_exhaustive()
    }
}

impl WasmtimeEngine {
    /// Returns whether this host resets the memory of ended processes with `PAGEMAP_SCAN` (Linux 6.7), which reads only the pages
    /// that they changed.
    #[must_use]
    pub fn resets_memory_by_page_scan() -> bool {
        PoolingAllocationConfig::is_pagemap_scan_available()
    }

    /// Sets up an engine.
    ///
    /// If the host denies the pool's address space (`ulimit -v`, small containers), the engine falls back to on-demand
    /// allocation.
    ///
    /// # Errors
    ///
    /// If Wasmtime does not support this host, or a thread cannot be started.
    pub fn new(config: EngineConfig) -> Result<Self, SetupError> {
        let pooled = (config.pool_slots > 0).then(|| Engine::new(&pooled(config.pool_slots)).ok()).flatten();
        let is_pooled = pooled.is_some();
        let engine = match pooled {
            Some(engine) => engine,
            None => Engine::new(&base_config()).map_err(|error| SetupError(format!("{error:#}")))?,
        };
        let sources = NativeCode { cache: config.cache, archive: config.archive, on_compile: config.on_compile };
        let inner = Inner::new(engine, sources, ProcessCount::default(), is_pooled)?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Number of live processes, over all sandboxes of this engine.
    pub fn processes(&self) -> u64 {
        self.inner.process_count.count()
    }

    /// Registers a pre-initialized program for a file: executing the file starts the program, whatever the file
    /// contains. The program is read, and compiled if the cache does not have it, on its first start or by
    /// [`precompile`](Self::precompile).
    pub fn register_preinit(&self, file: &FileBytes, source: PreinitSource) {
        self.register_preinit_on_use(file, Box::new(move || Ok(source.clone())));
    }

    /// Like [`register_preinit`](Self::register_preinit) for a program whose files are created on its first start. The time
    /// counts for the command that starts it; if that is stopped, `prepare` still runs to its end.
    pub fn register_preinit_on_use(&self, file: &FileBytes, prepare: PrepareSource) {
        self.inner.programs.register_preinit(file, prepare);
    }

    /// Compiles an installed program, or loads it from the cache, ahead of its first start.
    ///
    /// # Errors
    ///
    /// If the bytes are not a valid module.
    pub fn precompile(&self, wasm: &FileBytes) -> Result<(), EngineError> {
        self.inner
            .programs
            .installed_program(&self.inner.engine, wasm)
            .map(|_| ())
            .map_err(|error| EngineError::new(format!("cannot compile the program: {error}")))
    }

    /// Compiles programs for any processor of this architecture, into a directory that [`ProgramArchive`] reads. `progress`
    /// receives the position of each program before it is compiled. Existing files are kept.
    ///
    /// # Errors
    ///
    /// If a program is not a valid module, or the directory cannot be written.
    pub fn write_archive<'a>(
        dir: &Path,
        programs: impl IntoIterator<Item = &'a FileBytes>,
        mut progress: impl FnMut(usize),
    ) -> Result<(), EngineError> {
        let failed = |error: String| EngineError::new(format!("cannot write the archive of programs: {error}"));
        let compiler = ArchiveCompiler::new().map_err(|error| failed(format!("{error:#}")))?;
        std::fs::create_dir_all(dir).map_err(|error| failed(error.to_string()))?;
        for (at, program) in programs.into_iter().enumerate() {
            progress(at);
            let digest = program.sha256().unwrap_or_else(|| digest(program));
            compiler.add(dir, &program.load_once(), &digest).map_err(|error| failed(error.to_string()))?;
        }
        Ok(())
    }
}

impl EnginePort for WasmtimeEngine {
    fn drive<'a>(
        &'a self,
        kernel: &'a SharedKernel,
        execution: ExecutionId,
        wall_time: Duration,
        on_output: Option<&'a mut (dyn FnMut(OutputChunk) + Send)>,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<(), EngineError>> + Send + 'a>> {
        Box::pin(scheduler::drive(&self.inner, kernel, execution, wall_time, on_output))
    }

    fn supports_rest(&self) -> bool {
        true
    }
}

pub(crate) fn base_config() -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .max_wasm_stack(GUEST_STACK_BYTES)
        .async_stack_size(FIBER_STACK_BYTES)
        .memory_guaranteed_dense_image_size(128 << 20)
        // A guest exits through an error on every `proc_exit`; its backtrace is not used.
        .wasm_backtrace_max_frames(None);
    #[cfg(feature = "wasi-p3")]
    config.wasm_component_model_async(true);
    config
}

pub(crate) fn pooled(slots: u32) -> Config {
    let mut pool = PoolingAllocationConfig::new();
    // A component has several core modules; one has the memory. Only memories reserve significant address
    // space.
    pool.total_core_instances(slots.saturating_mul(4))
        .total_component_instances(slots)
        .total_memories(slots)
        .total_tables(slots.saturating_mul(2))
        // A process without a memory also takes a stack, and a process that has a memory slot must find a stack.
        .total_stacks(slots.saturating_mul(2))
        .table_elements(64_000)
        .max_core_instance_size(4 << 20)
        .max_unused_warm_slots(256)
        .linear_memory_keep_resident(KEEP_RESIDENT_MEMORY)
        .async_stack_keep_resident(KEEP_RESIDENT_STACK)
        .table_keep_resident(KEEP_RESIDENT_TABLE)
        .pagemap_scan(Enabled::Auto);
    let mut config = base_config();
    // Without this a stack keeps every page that a recursion touched for the lifetime of the engine: megabytes per
    // slot.
    config.async_stack_zeroing(true);
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

/// The store of a process.
pub(crate) type Store = wasmtime::Store<Guest>;

#[cfg(test)]
mod tests {
    use wasmtime::{Instance, Module, Store};

    use super::*;

    #[tokio::test]
    async fn stack_and_memory_are_released_on_exit() {
        let engine = Engine::new(&pooled(4)).expect("the pool fits");
        let wat = r#"(module
            (memory (export "memory") 100)
            (func $deep (export "deep") (param i32) (call $deep (i32.add (local.get 0) (i32.const 1))))
            (func (export "fill") (memory.fill (i32.const 0) (i32.const 1) (i32.const 6553600))))"#;
        let wasm = wat::parse_str(wat).expect("the text is a module");
        let module = Module::new(&engine, wasm).expect("the module is valid");
        for _ in 0..3 {
            let mut store = Store::new(&engine, ());
            store.set_epoch_deadline(1 << 40);
            let instance = Instance::new_async(&mut store, &module, &[]).await.expect("a slot is free");
            let fill = instance.get_typed_func::<(), ()>(&mut store, "fill").expect("it is exported");
            fill.call_async(&mut store, ()).await.expect("the memory is exported");
            let deep = instance.get_typed_func::<i32, ()>(&mut store, "deep").expect("it is exported");
            deep.call_async(&mut store, 0).await.expect_err("recursion ends");
        }
        let pool = engine.pooling_allocator_metrics().expect("the engine has a pool");
        // Stacks that are not reset have no statistics and keep every page ever used.
        let stacks = pool.unused_stack_bytes_resident().expect("stacks are reset");
        assert!(stacks <= 4 * KEEP_RESIDENT_STACK, "{stacks} bytes of stacks");
        let memory = pool.unused_memory_bytes_resident();
        assert!(memory <= 4 * KEEP_RESIDENT_MEMORY, "{memory} bytes of memory");
    }
}
