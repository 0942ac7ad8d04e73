//! The probe on wasmtime-wasi, over a temporary folder.

use tempfile::TempDir;
use wasmtime::{Config, Engine, Linker, Module, Store};
use wasmtime_wasi::p1::{self, WasiP1Ctx};
use wasmtime_wasi::p2::pipe::{MemoryInputPipe, MemoryOutputPipe};
use wasmtime_wasi::{FsPerms, I32Exit, WasiCtxBuilder};

use crate::tree;
use crate::{Call, End, Run};

/// More than any scenario prints.
pub(crate) const OUTPUT_BYTES: usize = 64 << 20;

/// The other implementation, with the probe compiled for it.
pub(crate) struct Theirs {
    engine: Engine,
    linker: Linker<WasiP1Ctx>,
    module: Module,
}

impl Theirs {
    pub(crate) fn new(probe: &[u8]) -> Self {
        let engine = Engine::new(&Config::new()).expect("the default configuration works");
        let mut linker = Linker::new(&engine);
        p1::add_to_linker_sync(&mut linker, |ctx| ctx).expect("nothing is linked yet");
        let module = Module::new(&engine, probe).expect("the probe is a valid module");
        Self { engine, linker, module }
    }

    pub(crate) fn run(&self, call: &Call) -> Run {
        let folder = temporary_folder();
        tree::lay_on_disk(&tree::initial(), folder.path());
        let output = MemoryOutputPipe::new(OUTPUT_BYTES);
        let mut builder = WasiCtxBuilder::new();
        builder
            .allow_blocking_current_thread(true)
            .args(&call.arguments())
            .envs(&call.environment())
            .stdin(MemoryInputPipe::new(call.input().to_vec()))
            .stdout(output.clone());
        for name in ["/", "."] {
            builder.preopened_dir(folder.path(), name, FsPerms::ReadWrite).expect("the folder can be opened");
        }
        let mut store = Store::new(&self.engine, builder.build_p1());
        let instance = self.linker.instantiate(&mut store, &self.module).expect("the probe imports preview1 only");
        let start = instance.get_typed_func::<(), ()>(&mut store, "_start").expect("the probe is a command");
        let end = match start.call(&mut store, ()) {
            Ok(()) => End::Exit(0),
            Err(error) => match error.downcast_ref::<I32Exit>() {
                Some(exit) => End::Exit(exit.0),
                None => End::Ended(format!("{error:#}")),
            },
        };
        drop(store);
        let text = String::from_utf8_lossy(&output.contents()).into_owned();
        Run { text, end, tree: tree::read_from_disk(folder.path()) }
    }
}

/// In memory where the machine has such a place: a disk would make every `fd_sync` of the probe wait for all that other
/// programs wrote.
pub(crate) fn temporary_folder() -> TempDir {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    folder.expect("a temporary folder can be made")
}
