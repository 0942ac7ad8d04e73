//! Pre-initialized programs: interpreters whose memory is initialized ahead of time.
//!
//! Such a program is two files. One is its module without data segments, compiled once. The other is a memory image,
//! mapped copy-on-write into each process. A process starts in the state in which the image was saved, so expensive
//! initialization is done once, and processes share every page that none of them changes.
//!
//! The module is a *reactor*: it exports `run`, which acts on the arguments and returns the exit code.

mod host_call;
mod image;
#[cfg(unix)]
mod memory;
#[cfg(not(unix))]
#[path = "preinit/unsupported.rs"]
mod memory;
mod saved_memory;
mod signal_flags;

use std::future::poll_fn;
use std::path::PathBuf;
use std::sync::Arc;
use std::task::Poll;

use tidebox_core::lock::Mutex;

use tidebox_kernel::{ExitStatus, PendingProcess, Pid, RestEvent, SavedMemory, SharedKernel, Wait};
use tidebox_pack_split::PAGE;
pub use tidebox_pack_split::{SplitModule, split_module};
use wasmtime::{Engine, Instance, InstancePre, Memory, Module, TypedFunc, UpdateDeadline};

use crate::aot::CacheDir;
use crate::call::GuestExit;
use crate::engine::{Store, base_config};
use crate::guest::{Guest, interrupt};
use crate::instance;
use crate::process::{self, FailurePhase, ProcessContext};
use crate::program::{Digest, LoadError, Program};
use crate::ticker::Ticker;
pub use image::write_first_image;
use image::{MemoryImage, write_image};
pub(crate) use signal_flags::SignalFlags;

/// Native stack available to such a program. CPython limits its recursion by the stack in its linear memory; the native
/// one must be larger.
const GUEST_STACK_BYTES: usize = 64 << 20;

/// Fiber stack size. Only touched pages take memory.
const FIBER_STACK_BYTES: usize = 66 << 20;

/// Export that runs the program and returns the exit code.
const RUN: &str = "run";

/// Export that handles one request of an interactive process. Called with an empty range of memory: the program gets the request
/// by `listen`.
const TURN: &str = "turn";

/// Files of a pre-initialized program.
#[derive(Clone, Debug)]
pub struct PreinitSource {
    /// Path of the module, as written by [`split_module`].
    pub module: PathBuf,
    /// SHA-256 of the module's bytes. The file itself is read only to compile it.
    pub digest: [u8; 32],
    /// Path of the initial memory image.
    pub image: PathBuf,
    /// SHA-256 of the image. It is not verified: it is part of saved processes, which only continue on an equal image.
    pub image_digest: [u8; 32],
    /// Cache for its native code. Default `None`: the engine's cache.
    pub native: Option<CacheDir>,
    /// Called before the module is compiled, which takes up to minutes. Default `None`.
    pub on_compile: Option<fn()>,
    /// Mode of the program's processes.
    pub task: PreinitMode,
}

/// Function that creates the files of a pre-initialized program when it is first started. It may take minutes.
pub type PrepareSource = Box<dyn Fn() -> Result<PreinitSource, String> + Send + Sync>;

/// Mode of a process with the initial memory.
#[derive(Clone, Debug)]
pub enum PreinitMode {
    /// Calls `run`; the result is the exit code.
    Run,
    /// Creates the memory image for other processes.
    Initialize {
        /// Exports to call first, without arguments and results.
        setup: Vec<String>,
        /// Export that is then called with the address of each of `arguments`, NUL-terminated. Returns 0 on failure.
        function: String,
        /// Arguments of that function: for the first call, and for the call after signal detection.
        arguments: [String; 2],
        /// Export that records a signal, the signals to detect, and the size in bytes of the stack at the start of the
        /// memory.
        signals: Option<(String, Vec<u32>, usize)>,
        /// Path of the image to write.
        keep: PathBuf,
    },
}

/// A registered pre-initialized program, read and compiled on first start.
pub(crate) struct RegisteredPreinit {
    source: PrepareSource,
    loaded: Mutex<Option<Arc<PreinitProgram>>>,
}

impl RegisteredPreinit {
    pub(crate) fn new(source: PrepareSource) -> Self {
        Self { source, loaded: Mutex::default() }
    }

    /// Returns the program. Concurrent callers wait for one preparation or compilation. After a failure the next call tries again.
    pub(crate) fn program(&self, cache: Option<&CacheDir>) -> Result<Program, LoadError> {
        let mut loaded = self.loaded.lock();
        let program = match &*loaded {
            Some(program) => Arc::clone(program),
            None => {
                let source = (self.source)().map_err(LoadError::new)?;
                let cache = source.native.as_ref().or(cache);
                let program = PreinitProgram::new(&source, cache).map(Arc::new).map_err(LoadError::new)?;
                Arc::clone(loaded.insert(program))
            }
        };
        Ok(Program::Preinit(program))
    }
}

/// A pre-initialized program that is ready to run.
pub(crate) struct PreinitProgram {
    pre: InstancePre<Guest>,
    image: Arc<MemoryImage>,
    flags: Arc<SignalFlags>,
    task: PreinitMode,
    ticker: Ticker,
}

impl std::fmt::Debug for PreinitProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared").field("image", &self.image).field("task", &self.task).finish_non_exhaustive()
    }
}

impl PreinitProgram {
    fn new(source: &PreinitSource, cache: Option<&CacheDir>) -> Result<Self, String> {
        let image = Arc::new(MemoryImage::open(&source.image, source.image_digest).map_err(|error| error.to_string())?);
        let creator = Arc::new(memory::ImageMemoryCreator::new(Arc::clone(&image)));
        let mut config = base_config();
        config.max_wasm_stack(GUEST_STACK_BYTES).async_stack_size(FIBER_STACK_BYTES);
        memory::install(&mut config, &creator)?;
        let engine = Engine::new(&config).map_err(format_error)?;
        let module = module(&engine, source, cache)?;
        creator.set_module_bytes(memory_size(&module).ok_or("it exports no memory")?);
        let mut linker = crate::guest::linker(&engine).map_err(format_error)?;
        host_call::link(&mut linker).map_err(format_error)?;
        let pre = linker.instantiate_pre(&module).map_err(format_error)?;
        let ticker = Ticker::start(&engine).map_err(|error| error.to_string())?;
        let flags = Arc::new(SignalFlags::open(&source.image));
        Ok(Self { pre, image, flags, task: source.task.clone(), ticker })
    }
}

fn module(engine: &Engine, source: &PreinitSource, cache: Option<&CacheDir>) -> Result<Module, String> {
    let digest: &Digest = &source.digest;
    if let Some(module) = cache.and_then(|cache| cache.get(engine, digest)) {
        return Ok(module);
    }
    let wasm = std::fs::read(&source.module).map_err(|error| format!("{}: {error}", source.module.display()))?;
    if crate::program::digest(&wasm) != *digest {
        return Err(format!("{}: the file was changed; add the pack again", source.module.display()));
    }
    if let Some(on_compile) = source.on_compile {
        on_compile();
    }
    match cache {
        Some(cache) => cache.load(engine, &wasm, digest),
        None => Module::new(engine, &wasm),
    }
    .map_err(format_error)
}

fn memory_size(module: &Module) -> Option<usize> {
    let memory = module.get_export("memory")?.memory()?.minimum();
    usize::try_from(memory.checked_mul(PAGE)?).ok()
}

fn format_error(error: wasmtime::Error) -> String {
    format!("{error:#}")
}

/// Runs a process of such a program to its exit.
pub(crate) async fn run(context: &ProcessContext, start: &PendingProcess, preinit: &PreinitProgram) -> ExitStatus {
    let mut store = instance::store(context, start, &preinit.pre);
    let flags = Arc::clone(&start.flags);
    store.epoch_deadline_callback(move |mut store| match flags.fatal_signal() {
        Some(signal) => Err(wasmtime::Error::new(GuestExit::Killed(signal))),
        None => {
            interrupt(&mut store);
            Ok(UpdateDeadline::Yield(instance::EPOCHS_PER_SLICE))
        }
    });
    let run = async {
        match instantiate(&mut store, preinit).await {
            Ok((instance, memory)) => {
                if let Some(saved) = &start.resume {
                    resume(&mut store, memory, preinit, &saved.memory)
                        .await
                        .map_err(|error| (FailurePhase::Start, error))?;
                }
                let is_resumed = start.resume.is_some();
                let run = run_entry(&mut store, instance, memory, preinit, is_resumed);
                run.await.map_err(|error| (FailurePhase::Run, error))
            }
            Err(error) => Err((FailurePhase::Start, error)),
        }
    };
    let ended = preinit.ticker.tick_during(run).await;
    match ended {
        // Only the low eight bits of an exit code reach the parent, as in POSIX.
        Ok(code) => ExitStatus::Exited((code & 0xff) as u8),
        Err((phase, error)) => {
            process::exit_status_of(&context.kernel, start.pid, store.data().limiter.memory_denied, phase, &error)
        }
    }
}

async fn instantiate(store: &mut Store, preinit: &PreinitProgram) -> wasmtime::Result<(Instance, Memory)> {
    let instance = preinit.pre.instantiate_async(&mut *store).await?;
    let memory =
        instance.get_memory(&mut *store, "memory").ok_or_else(|| wasmtime::Error::msg("it exports no memory"))?;
    let missing = preinit.image.bytes.saturating_sub(memory.data_size(&*store));
    if missing > 0 {
        memory.grow_async(&mut *store, missing as u64 / PAGE).await?;
    }
    store.data_mut().memory = Some(memory);
    store.data_mut().signal_flags = Some(Arc::clone(&preinit.flags));
    Ok((instance, memory))
}

async fn run_entry(
    store: &mut Store,
    instance: Instance,
    memory: Memory,
    preinit: &PreinitProgram,
    is_resumed: bool,
) -> wasmtime::Result<i32> {
    let PreinitMode::Initialize { setup, function, arguments, signals, keep } = &preinit.task else {
        return run_and_rest(store, instance, memory, &preinit.image, is_resumed).await;
    };
    for name in setup {
        instance.get_typed_func::<(), ()>(&mut *store, name)?.call_async(&mut *store, ()).await?;
    }
    let mut flags = SignalFlags::default();
    for (first, argument) in [true, false].into_iter().zip(arguments) {
        if !call_with_string(store, instance, memory, function, argument).await? {
            return Ok(1);
        }
        if let Some((function, signals, stack)) = signals.as_ref().filter(|_| first) {
            flags = SignalFlags::detect(store, instance, memory, function, signals, *stack).await?;
        }
    }
    let saved = write_image(keep, memory.data(&*store)).and_then(|()| flags.save(keep));
    saved.map_err(|error| wasmtime::Error::msg(format!("{}: {error}", keep.display())))?;
    Ok(0)
}

/// The entry function of a program.
enum Entry {
    /// Called once.
    Run(TypedFunc<(), i32>),
    /// Called for each request of an interactive process, which rests in between.
    Turn(TypedFunc<(u32, u32), i32>),
}

impl Entry {
    fn of(store: &mut Store, instance: Instance) -> wasmtime::Result<Self> {
        let can_rest = store.data().kernel.lock().can_rest(store.data().pid);
        if can_rest && let Ok(turn) = instance.get_typed_func(&mut *store, TURN) {
            return Ok(Self::Turn(turn));
        }
        Ok(Self::Run(instance.get_typed_func(&mut *store, RUN)?))
    }

    async fn call(&self, store: &mut Store) -> wasmtime::Result<i32> {
        match self {
            Self::Run(run) => run.call_async(store, ()).await,
            Self::Turn(turn) => turn.call_async(store, (0, 0)).await,
        }
    }
}

/// Calls the entry function until the program exits. A resumed program rests already.
async fn run_and_rest(
    store: &mut Store,
    instance: Instance,
    memory: Memory,
    image: &MemoryImage,
    is_resumed: bool,
) -> wasmtime::Result<i32> {
    let entry = Entry::of(store, instance)?;
    let (kernel, pid) = (Arc::clone(&store.data().kernel), store.data().pid);
    let mut rests = is_resumed;
    loop {
        if !rests {
            let code = entry.call(store).await?;
            if !kernel.lock().begin_rest(pid) {
                return Ok(code);
            }
        }
        while wait_at_rest(&kernel, pid).await == RestEvent::Save {
            let saved = saved_memory::save(memory.data(&*store), image);
            kernel.lock().finish_save(pid, saved.map_err(|error| format!("its memory cannot be read: {error}")));
        }
        rests = false;
    }
}

async fn wait_at_rest(kernel: &SharedKernel, pid: Pid) -> RestEvent {
    poll_fn(|cx| {
        let mut kernel = kernel.lock();
        match kernel.rest_event(pid) {
            Some(event) => Poll::Ready(event),
            None => {
                kernel.park(pid, Wait::default(), cx.waker());
                Poll::Pending
            }
        }
    })
    .await
}

/// Gives a new instance the memory of a saved process.
async fn resume(
    store: &mut Store,
    memory: Memory,
    preinit: &PreinitProgram,
    saved: &SavedMemory,
) -> wasmtime::Result<()> {
    if saved.image != preinit.image.digest {
        let message = "the process was saved with another version of its program; start it again";
        return Err(wasmtime::Error::msg(message));
    }
    let missing = saved.bytes.saturating_sub(memory.data_size(&*store) as u64);
    if missing > 0 {
        memory.grow_async(&mut *store, missing.div_ceil(PAGE)).await?;
    }
    saved_memory::restore(memory.data_mut(&mut *store), saved).map_err(wasmtime::Error::msg)
}

/// Calls a function with a string and returns whether its result is not 0.
async fn call_with_string(
    store: &mut Store,
    instance: Instance,
    memory: Memory,
    function: &str,
    argument: &str,
) -> wasmtime::Result<bool> {
    let mut bytes = argument.as_bytes().to_vec();
    bytes.push(0);
    let alloc = instance.get_typed_func::<u32, u32>(&mut *store, host_call::ALLOC_EXPORT)?;
    let at = alloc.call_async(&mut *store, bytes.len() as u32).await?;
    memory.write(&mut *store, at as usize, &bytes)?;
    let function = instance.get_typed_func::<u32, u32>(&mut *store, function)?;
    Ok(function.call_async(&mut *store, at).await? != 0)
}
