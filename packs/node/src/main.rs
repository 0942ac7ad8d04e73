//! `node` in a Tidebox sandbox: the engine QuickJS-ng runs Node's own library, whose native part is here.
//!
//! `library.bin` has the JavaScript: Node's modules, taken from the pinned program of Node, and `js/`, which replaces Node's C++.
//! `docs/node.md` lists what works.

mod address;
mod bytes;
mod compression;
mod engine;
mod files;
mod hashing;
mod library;
mod modules;
mod processes;
mod values;

use rquickjs::{CatchResultExt as _, Context, Ctx, Object, Runtime};

/// Stack of the engine in bytes, of the 8 MiB that the program has.
const STACK: usize = 1 << 20;

fn main() {
    tidebox_rt::init();
    let code = run().unwrap_or_else(|error| {
        // A failure to write the message cannot be reported.
        let _ = tidebox_rt::write_all(2, format!("node: cannot start: {error}\n").as_bytes());
        70
    });
    tidebox_rt::exit(code);
}

/// Creates the engine and runs the program. Returns its exit code.
fn run() -> Result<u8, String> {
    let runtime = Runtime::new().map_err(|error| error.to_string())?;
    runtime.set_max_stack_size(STACK);
    modules::set_loader(&runtime);
    engine::set_rejection_tracker(&runtime);
    let context = Context::full(&runtime).map_err(|error| error.to_string())?;
    context.with(|ctx| start(&ctx).catch(&ctx).map_err(|error| error.to_string()))?;
    Ok(0)
}

/// Calls `js/start.js`, which ends the process.
fn start(ctx: &Ctx<'_>) -> rquickjs::Result<()> {
    let native = Object::new(ctx.clone())?;
    address::define(ctx, &native)?;
    bytes::define(ctx, &native)?;
    compression::define(ctx, &native)?;
    engine::define(ctx, &native)?;
    files::define(ctx, &native)?;
    hashing::define(ctx, &native)?;
    library::define(ctx, &native)?;
    modules::define(ctx, &native)?;
    processes::define(ctx, &native)?;
    let main: rquickjs::Function<'_> = library::compile(ctx, "tidebox/start", "native")?;
    main.call((native,))
}
