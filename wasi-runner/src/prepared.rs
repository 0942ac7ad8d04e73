//! Programs that were initialised before they start: an interpreter whose memory is there already.
//!
//! Such a program is two files. One is its module without data, compiled once; the other is a memory, mapped copy-on-write
//! into each process. A process begins where the one ended whose memory was kept, so what it takes long to make ready is
//! made ready once, and processes share what none of them changes.
//!
//! The module is a *reactor*: it exports `run`, which does what the arguments say and returns the exit code.

mod door;
mod image;
mod interrupt;
#[cfg(unix)]
mod memory;
#[cfg(not(unix))]
#[path = "prepared/no_memory.rs"]
mod memory;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tidebox_kernel::{Start, Status};
use tidebox_pack_module::PAGE;
pub use tidebox_pack_module::{Parts, take_apart};
use wasmtime::{Engine, Instance, InstancePre, Memory, Module, UpdateDeadline};

use crate::aot::CacheDir;
use crate::call::Leave;
use crate::engine::{Store, base_config};
use crate::guest::{Guest, interrupt};
use crate::instance;
use crate::process::{self, Reason, Surroundings};
use crate::program::{Digest, NotAProgram, Program};
use crate::ticker::Ticker;
pub use image::write_first_image;
use image::{MemoryImage, write_image};
pub(crate) use interrupt::Interrupts;

/// Native stack that such a program may use. CPython bounds its own recursion by the stack in its memory, which the
/// native one must outlast.
const GUEST_STACK_BYTES: usize = 64 << 20;

/// Size of its fiber, of which only what is touched takes memory.
const FIBER_STACK_BYTES: usize = 66 << 20;

/// The function that does the work and returns the exit code.
const RUN: &str = "run";

/// A prepared program, as its files.
#[derive(Clone, Debug)]
pub struct Provision {
    /// The module, as [`take_apart`] leaves it.
    pub module: PathBuf,
    /// What the module's bytes hash to, by SHA-256. The file is only read to be compiled.
    pub digest: [u8; 32],
    /// The memory that processes begin with.
    pub image: PathBuf,
    /// Where its native code is kept between runs. Default `None`: where the engine keeps that of other programs.
    pub native: Option<CacheDir>,
    /// What a process does.
    pub task: Task,
}

/// What a process of a prepared program does with the memory that it begins with.
#[derive(Clone, Debug)]
pub enum Task {
    /// Its work: it calls `run`, and the result is its exit code.
    Run,
    /// It makes the memory that others begin with.
    Prepare {
        /// Exported functions to call first, which take and return nothing.
        setup: Vec<String>,
        /// An exported function that is then called with the address of each of `arguments`, and a NUL behind it. It returns
        /// 0 when it failed.
        function: String,
        /// What that function is told: first, and after the signals were found out.
        arguments: [String; 2],
        /// An exported function that notes a signal, for each of these, and the bytes of stack at the memory's beginning.
        signals: Option<(String, Vec<u32>, usize)>,
        /// Where the memory is kept.
        keep: PathBuf,
    },
}

/// A prepared program of which an engine knows, read and compiled when it is first started.
#[derive(Debug)]
pub(crate) struct Provided {
    provision: Provision,
    made: Mutex<Option<Arc<Prepared>>>,
}

impl Provided {
    pub(crate) fn new(provision: Provision) -> Self {
        Self { provision, made: Mutex::default() }
    }

    /// The program. Whoever asks while another compiles it waits.
    pub(crate) fn program(&self, cache: Option<&CacheDir>) -> Result<Program, NotAProgram> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let prepared = match &*made {
            Some(prepared) => Arc::clone(prepared),
            None => {
                let cache = self.provision.native.as_ref().or(cache);
                let prepared = Prepared::new(&self.provision, cache).map(Arc::new).map_err(NotAProgram::because)?;
                Arc::clone(made.insert(prepared))
            }
        };
        Ok(Program::Prepared(prepared))
    }
}

/// A prepared program that is ready to run.
pub(crate) struct Prepared {
    pre: InstancePre<Guest>,
    image: Arc<MemoryImage>,
    interrupts: Arc<Interrupts>,
    task: Task,
    ticker: Ticker,
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared").field("image", &self.image).field("task", &self.task).finish_non_exhaustive()
    }
}

impl Prepared {
    fn new(provision: &Provision, cache: Option<&CacheDir>) -> Result<Self, String> {
        let image = Arc::new(MemoryImage::open(&provision.image).map_err(|error| error.to_string())?);
        let creator = Arc::new(memory::Creator::new(Arc::clone(&image)));
        let mut config = base_config();
        config.max_wasm_stack(GUEST_STACK_BYTES).async_stack_size(FIBER_STACK_BYTES);
        memory::install(&mut config, &creator)?;
        let engine = Engine::new(&config).map_err(words)?;
        let module = module(&engine, provision, cache)?;
        creator.know(first_memory(&module).ok_or("it exports no memory")?);
        let mut linker = crate::guest::linker(&engine).map_err(words)?;
        door::link(&mut linker).map_err(words)?;
        let pre = linker.instantiate_pre(&module).map_err(words)?;
        let ticker = Ticker::start(&engine).map_err(|error| error.to_string())?;
        let interrupts = Arc::new(Interrupts::open(&provision.image));
        Ok(Self { pre, image, interrupts, task: provision.task.clone(), ticker })
    }
}

fn module(engine: &Engine, provision: &Provision, cache: Option<&CacheDir>) -> Result<Module, String> {
    let digest: &Digest = &provision.digest;
    if let Some(module) = cache.and_then(|cache| cache.find(engine, digest)) {
        return Ok(module);
    }
    let wasm = std::fs::read(&provision.module).map_err(|error| format!("{}: {error}", provision.module.display()))?;
    if crate::program::digest(&wasm) != *digest {
        return Err(format!("{}: the file is not as it was made; add the pack again", provision.module.display()));
    }
    match cache {
        Some(cache) => cache.load(engine, &wasm, digest),
        None => Module::new(engine, &wasm),
    }
    .map_err(words)
}

fn first_memory(module: &Module) -> Option<usize> {
    let memory = module.get_export("memory")?.memory()?.minimum();
    usize::try_from(memory.checked_mul(PAGE)?).ok()
}

fn words(error: wasmtime::Error) -> String {
    format!("{error:#}")
}

/// Runs a process of such a program to its end.
pub(crate) async fn run(around: &Surroundings, start: &Start, prepared: &Prepared) -> Status {
    let _ticking = prepared.ticker.keep_ticking();
    let mut store = instance::store(around, start, &prepared.pre);
    let kill_flag = Arc::clone(&start.kill_flag);
    store.epoch_deadline_callback(move |mut store| match process::fatal(&kill_flag) {
        Some(signal) => Err(wasmtime::Error::new(Leave::Killed(signal))),
        None => {
            interrupt(&mut store);
            Ok(UpdateDeadline::Yield(instance::TURN))
        }
    });
    let ended = match begin(&mut store, prepared).await {
        Ok((instance, memory)) => {
            work(&mut store, instance, memory, prepared).await.map_err(|error| (Reason::Run, error))
        }
        Err(error) => Err((Reason::Start, error)),
    };
    match ended {
        // Only the low eight bits of an exit code reach the parent, as in POSIX.
        Ok(code) => Status::Exited((code & 0xff) as u8),
        Err((when, error)) => process::status_of(&around.kernel, start.pid, store.data().limiter.refused, when, &error),
    }
}

async fn begin(store: &mut Store, prepared: &Prepared) -> wasmtime::Result<(Instance, Memory)> {
    let instance = prepared.pre.instantiate_async(&mut *store).await?;
    let memory =
        instance.get_memory(&mut *store, "memory").ok_or_else(|| wasmtime::Error::msg("it exports no memory"))?;
    let missing = prepared.image.bytes.saturating_sub(memory.data_size(&*store));
    if missing > 0 {
        memory.grow_async(&mut *store, missing as u64 / PAGE).await?;
    }
    store.data_mut().memory = Some(memory);
    store.data_mut().interrupts = Some(Arc::clone(&prepared.interrupts));
    Ok((instance, memory))
}

async fn work(store: &mut Store, instance: Instance, memory: Memory, prepared: &Prepared) -> wasmtime::Result<i32> {
    let Task::Prepare { setup, function, arguments, signals, keep } = &prepared.task else {
        return instance.get_typed_func::<(), i32>(&mut *store, RUN)?.call_async(&mut *store, ()).await;
    };
    for name in setup {
        instance.get_typed_func::<(), ()>(&mut *store, name)?.call_async(&mut *store, ()).await?;
    }
    let mut interrupts = Interrupts::default();
    for (first, argument) in [true, false].into_iter().zip(arguments) {
        if !told(store, instance, memory, function, argument).await? {
            return Ok(1);
        }
        if let Some((function, signals, stack)) = signals.as_ref().filter(|_| first) {
            interrupts = Interrupts::learn(store, instance, memory, function, signals, *stack).await?;
        }
    }
    let kept = write_image(keep, memory.data(&*store)).and_then(|()| interrupts.keep(keep));
    kept.map_err(|error| wasmtime::Error::msg(format!("{}: {error}", keep.display())))?;
    Ok(0)
}

/// Calls a function with a string, and tells whether it answered something.
async fn told(
    store: &mut Store,
    instance: Instance,
    memory: Memory,
    function: &str,
    argument: &str,
) -> wasmtime::Result<bool> {
    let mut bytes = argument.as_bytes().to_vec();
    bytes.push(0);
    let room = instance.get_typed_func::<u32, u32>(&mut *store, door::ROOM)?;
    let at = room.call_async(&mut *store, bytes.len() as u32).await?;
    memory.write(&mut *store, at as usize, &bytes)?;
    let function = instance.get_typed_func::<u32, u32>(&mut *store, function)?;
    Ok(function.call_async(&mut *store, at).await? != 0)
}
