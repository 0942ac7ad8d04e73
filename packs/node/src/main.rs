//! `node` in a Tidebox sandbox: the engine QuickJS-ng runs Node's own library, whose native part is here.
//!
//! `library.bin` has the JavaScript: Node's modules, taken from the pinned program of Node, and `js/`, which replaces Node's C++.
//! `docs/node.md` lists what works.

mod address;
mod brotli_streams;
mod bytes;
mod ciphers;
mod compression;
mod curves;
mod engine;
mod files;
mod hashing;
mod library;
mod modules;
mod numbers;
mod processes;
mod rsa;
mod sockets;
mod values;

use std::cell::RefCell;

use rquickjs::{CatchResultExt as _, Context, Ctx, Function, Object, Persistent, Runtime};

/// Stack of the engine in bytes. A function of a script needs three times as much of the host's stack, which has 3 MiB.
const STACK: usize = 768 << 10;

/// Bytes that a script allocates before the first garbage collection.
const FIRST_GARBAGE: usize = 16 << 20;

/// The engine with Node's library.
struct Engine {
    context: Context,
    /// Runs the program.
    main: Persistent<Function<'static>>,
}

thread_local! {
    /// Set in the memory that the program of the pack starts with.
    static ENGINE: RefCell<Option<Engine>> = const { RefCell::new(None) };
}

fn main() {
    tidebox_rt::init();
    let code = run().unwrap_or_else(|error| {
        // A failure to write the message cannot be reported.
        let _ = tidebox_rt::write_all(2, format!("node: cannot start: {error}\n").as_bytes());
        70
    });
    tidebox_rt::exit(code);
}

/// Loads the library, so that `packs/node/preinit.js` can store the memory. Returns 0 on success.
#[cfg(target_family = "wasm")]
#[expect(unsafe_code, reason = "an exported function")]
#[unsafe(no_mangle)]
extern "C" fn tidebox_preinit() -> i32 {
    match load() {
        Ok(engine) => {
            ENGINE.set(Some(engine));
            clear_free_memory();
            0
        }
        Err(error) => {
            let _ = tidebox_rt::write_all(2, format!("{error}\n").as_bytes());
            1
        }
    }
}

/// Smallest free block that the program may use, in bytes.
#[cfg(target_family = "wasm")]
const MIN_FREE: usize = 16 << 10;

/// Writes zeros into the free memory, so that the stored memory does not contain what was freed. Small free blocks stay taken: a process
/// that used them would write to one page for each of them, and each page that is written first is copied by the host.
#[cfg(target_family = "wasm")]
fn clear_free_memory() {
    let mut taken: Vec<Vec<u8>> = Vec::with_capacity(1 << 16);
    let mut size = 1 << 20;
    while size >= 32 && taken.len() < taken.capacity() {
        let pages = core::arch::wasm32::memory_size(0);
        taken.push(core::hint::black_box(vec![0; size]));
        // If the memory grew, no free block has this size.
        if core::arch::wasm32::memory_size(0) > pages {
            size /= 2;
        }
    }
    taken.into_iter().filter(|block| block.len() < MIN_FREE).for_each(core::mem::forget);
}

/// Runs the program, which ends the process.
fn run() -> Result<u8, String> {
    let engine = ENGINE.take().map_or_else(load, Ok)?;
    engine.context.with(|ctx| {
        #[cfg(target_family = "wasm")]
        engine::patched::seed_random(&ctx, seed());
        let main = engine.main.clone().restore(&ctx).map_err(|error| error.to_string())?;
        main.call::<_, ()>(()).catch(&ctx).map_err(|error| error.to_string())
    })?;
    Ok(0)
}

#[cfg(target_family = "wasm")]
fn seed() -> u64 {
    let mut bytes = [0; 8];
    // Without random numbers of the kernel the time is the seed, as in the engine itself.
    if tidebox_rt::random(&mut bytes).is_err() {
        return tidebox_rt::realtime_ns();
    }
    u64::from_le_bytes(bytes)
}

/// Creates the engine and loads the library.
fn load() -> Result<Engine, String> {
    let runtime = Runtime::new().map_err(|error| error.to_string())?;
    runtime.set_max_stack_size(STACK);
    modules::set_loader(&runtime);
    engine::set_rejection_tracker(&runtime);
    let context = Context::full(&runtime).map_err(|error| error.to_string())?;
    let main = context.with(|ctx| start(&ctx).catch(&ctx).map_err(|error| error.to_string()))?;
    runtime.run_gc();
    let used = usize::try_from(runtime.memory_usage().malloc_size).unwrap_or(0);
    runtime.set_gc_threshold(used.saturating_add(FIRST_GARBAGE));
    Ok(Engine { context, main })
}

/// Calls `js/start.js`, which returns the function that runs the program.
fn start(ctx: &Ctx<'_>) -> rquickjs::Result<Persistent<Function<'static>>> {
    let native = Object::new(ctx.clone())?;
    address::define(ctx, &native)?;
    bytes::define(ctx, &native)?;
    ciphers::define(ctx, &native)?;
    compression::define(ctx, &native)?;
    curves::define(ctx, &native)?;
    engine::define(ctx, &native)?;
    files::define(ctx, &native)?;
    hashing::define(ctx, &native)?;
    library::define(ctx, &native)?;
    modules::define(ctx, &native)?;
    numbers::define(ctx, &native)?;
    processes::define(ctx, &native)?;
    rsa::define(ctx, &native)?;
    sockets::define(ctx, &native)?;
    let start: Function<'_> = library::compile(ctx, "tidebox/start", "native")?;
    let main: Function<'_> = start.call((native,))?;
    Ok(Persistent::save(ctx, main))
}
