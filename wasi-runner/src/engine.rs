//! The engine: one Wasmtime configuration, the linked system calls, and the programs it has compiled.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tidebox_kernel::engine::{Engine as EnginePort, EngineError};
use tidebox_kernel::fs::FileBytes;
use tidebox_kernel::{Chunk, SessionId, SharedKernel};
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::aot::CacheDir;
use crate::guest::Guest;
use crate::living::{Living, Population};
use crate::prepared::Provision;
use crate::program::{Compiling, Linkers, Programs};
use crate::scheduler;
use crate::ticker::Ticker;

/// Native stack that guest code may use. With 2 MiB the shell ended between 900 and 950 calls of a plain function, and it allows 1,000;
/// QuickJS reaches 3,100 nested calls with 2 MiB, where its own stack ends. With 4 MiB the stack that a program keeps in its
/// memory ends first, which shows as an access out of bounds.
const GUEST_STACK_BYTES: usize = 3 << 20;

/// Size of a process's fiber. What the guest may not use is left for host calls at their deepest.
const FIBER_STACK_BYTES: usize = 4 << 20;

/// What a place of the pool keeps of the memory of a process that ended, so that the next one starts without faults: the shell and the
/// tools write less. With a thousand places it bounds what a crowd of large processes leaves behind to 1 GiB.
const KEPT_MEMORY_BYTES: usize = 1 << 20;

/// The same of its fiber's stack, of which the shell uses 12 KiB to run a builtin: what is kept is overwritten with zeros each time.
const KEPT_STACK_BYTES: usize = 32 << 10;

/// The same of its table.
const KEPT_TABLE_BYTES: usize = 64 << 10;

/// How an engine is set up.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Processes for which the engine keeps places, over all its sandboxes. Default 1,000, which takes 2 ms and address
    /// space for 4 TiB, not memory. Those that find all places taken live in memory that is allocated on demand: they start slower.
    /// 0 asks for no places at all.
    pub slots: u32,
    /// Where native code of installed programs is kept. Default `None`: compiled anew in every process.
    pub cache: Option<CacheDir>,
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self { slots: 1000, cache: None }
    }
}

/// Why an engine could not be set up.
#[derive(Debug)]
pub struct SetupError(String);

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the WebAssembly engine cannot start: {}", self.0)
    }
}

impl std::error::Error for SetupError {}

/// Runs guests with Wasmtime. Cheap to clone; sandboxes of one process share one.
#[derive(Clone)]
pub struct WasmtimeEngine {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) engine: Engine,
    pub(crate) programs: Programs,
    /// Where programs of guests are compiled.
    pub(crate) compiling: Compiling,
    pub(crate) ticker: Ticker,
    population: Population,
    /// Held by who gives a large memory back.
    giving_back: Arc<AtomicBool>,
    /// Where processes live for which the pool has no place: an engine that allocates on demand, set up when it is first needed.
    beyond: Option<OnceLock<Option<Arc<Self>>>>,
}

impl Inner {
    fn new(
        engine: Engine,
        cache: Option<CacheDir>,
        population: Population,
        is_pooled: bool,
    ) -> Result<Self, SetupError> {
        let linkers = Linkers::new(&engine).map_err(|error| SetupError(format!("{error:#}")))?;
        let ticker = Ticker::start(&engine).map_err(|error| SetupError(error.to_string()))?;
        let programs = Programs::new(linkers, cache);
        let beyond = is_pooled.then(OnceLock::new);
        let (compiling, giving_back) = (Compiling::default(), Arc::default());
        Ok(Self { engine, programs, compiling, ticker, population, giving_back, beyond })
    }

    /// Counts a process in, as long as what is returned lives.
    pub(crate) fn admit(&self) -> Living {
        self.population.admit(self.ticker.keep_ticking())
    }

    /// Has the caller give a large memory back while others go on, unless somebody does that already.
    pub(crate) fn begin_giving_back(&self) -> Option<GivingBack> {
        let free = !self.giving_back.swap(true, Ordering::AcqRel);
        free.then(|| GivingBack(Arc::clone(&self.giving_back)))
    }

    /// The engine for processes that find the pool full; nothing where there is no pool, or no room for a second engine.
    pub(crate) fn beyond(&self) -> Option<&Arc<Self>> {
        let make = || {
            let engine = Engine::new(&base_config()).ok()?;
            let cache = self.programs.cache().cloned();
            Self::new(engine, cache, self.population.clone(), false).ok().map(Arc::new)
        };
        self.beyond.as_ref()?.get_or_init(make).as_ref()
    }
}

/// Until it is dropped, nobody else gives a large memory back beside the commands.
pub(crate) struct GivingBack(Arc<AtomicBool>);

impl Drop for GivingBack {
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
    /// Sets an engine up.
    ///
    /// Where the machine refuses the address space of the pool (`ulimit -v`, small containers), the engine falls back to
    /// allocation on demand by itself.
    ///
    /// # Errors
    /// When Wasmtime does not support this machine, or no thread can be started.
    pub fn new(config: EngineConfig) -> Result<Self, SetupError> {
        let pooled = (config.slots > 0).then(|| Engine::new(&pooled(config.slots)).ok()).flatten();
        let is_pooled = pooled.is_some();
        let engine = match pooled {
            Some(engine) => engine,
            None => Engine::new(&base_config()).map_err(|error| SetupError(format!("{error:#}")))?,
        };
        let inner = Inner::new(engine, config.cache, Population::default(), is_pooled)?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Processes that live now, over all sandboxes of this engine.
    pub fn processes(&self) -> u64 {
        self.inner.population.count()
    }

    /// Has a file of a sandbox stand for a prepared program: starting it starts that, whatever the file holds. The program
    /// is read, and compiled where the cache does not have it, when it is first started or [prepared](Self::prepare).
    pub fn provide(&self, file: &FileBytes, provision: Provision) {
        self.inner.programs.provide(file, provision);
    }

    /// Compiles an installed program now, or loads it from the cache, so that its first start does not have to.
    ///
    /// # Errors
    /// When the bytes are no valid module.
    pub fn prepare(&self, wasm: &FileBytes) -> Result<(), EngineError> {
        self.inner
            .programs
            .installed(&self.inner.engine, wasm)
            .map(|_| ())
            .map_err(|error| EngineError::new(format!("the program cannot be compiled: {error}")))
    }
}

impl EnginePort for WasmtimeEngine {
    fn drive<'a>(
        &'a self,
        kernel: &'a SharedKernel,
        session: SessionId,
        wall_time: Duration,
        on_output: Option<&'a mut (dyn FnMut(Chunk) + Send)>,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<(), EngineError>> + Send + 'a>> {
        Box::pin(scheduler::drive(&self.inner, kernel, session, wall_time, on_output))
    }
}

pub(crate) fn base_config() -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .max_wasm_stack(GUEST_STACK_BYTES)
        .async_stack_size(FIBER_STACK_BYTES)
        .memory_guaranteed_dense_image_size(128 << 20)
        // A guest ends by an error whenever it calls `proc_exit`; nobody reads its backtrace.
        .wasm_backtrace_max_frames(None);
    #[cfg(feature = "wasi-p3")]
    config.wasm_component_model_async(true);
    config
}

fn pooled(slots: u32) -> Config {
    let mut pool = PoolingAllocationConfig::new();
    // A component is a handful of core modules around one that has the memory. Only memories reserve address space worth
    // counting.
    pool.total_core_instances(slots.saturating_mul(4))
        .total_component_instances(slots)
        .total_memories(slots)
        .total_tables(slots.saturating_mul(2))
        // A process without a memory takes a stack, too, and one that has its memory must find one.
        .total_stacks(slots.saturating_mul(2))
        .table_elements(64_000)
        .max_core_instance_size(4 << 20)
        .max_unused_warm_slots(256)
        .linear_memory_keep_resident(KEPT_MEMORY_BYTES)
        .async_stack_keep_resident(KEPT_STACK_BYTES)
        .table_keep_resident(KEPT_TABLE_BYTES)
        .pagemap_scan(Enabled::Auto);
    let mut config = base_config();
    // Without this a stack keeps every page that a recursion has touched, for as long as the engine lives: megabytes for each place.
    config.async_stack_zeroing(true);
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

/// What a process's store holds.
pub(crate) type Store = wasmtime::Store<Guest>;

#[cfg(test)]
mod tests {
    use wasmtime::{Instance, Module, Store};

    use super::*;

    #[tokio::test]
    async fn what_a_process_used_of_its_stack_and_memory_is_given_back_when_it_ends() {
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
            let instance = Instance::new_async(&mut store, &module, &[]).await.expect("there is a place");
            let fill = instance.get_typed_func::<(), ()>(&mut store, "fill").expect("it is exported");
            fill.call_async(&mut store, ()).await.expect("the memory is there");
            let deep = instance.get_typed_func::<i32, ()>(&mut store, "deep").expect("it is exported");
            deep.call_async(&mut store, 0).await.expect_err("recursion ends");
        }
        let pool = engine.pooling_allocator_metrics().expect("the engine has a pool");
        // Nothing is known of stacks that are not reset, and they keep all that was ever used.
        let stacks = pool.unused_stack_bytes_resident().expect("stacks are reset");
        assert!(stacks <= 4 * KEPT_STACK_BYTES, "{stacks} bytes of stacks");
        let memory = pool.unused_memory_bytes_resident();
        assert!(memory <= 4 * KEPT_MEMORY_BYTES, "{memory} bytes of memory");
    }
}
