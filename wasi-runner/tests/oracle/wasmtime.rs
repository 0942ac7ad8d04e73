//! The probe on wasmtime-wasi, over a temporary directory.

use tempfile::TempDir;
use wasmtime::{Config, Engine, Linker, Module, Store};
use wasmtime_wasi::p1::{self, WasiP1Ctx};
use wasmtime_wasi::p2::pipe::{MemoryInputPipe, MemoryOutputPipe};
use wasmtime_wasi::{FsPerms, I32Exit, WasiCtxBuilder};

use crate::tree;
use crate::{Call, ProbeExit, Run};

/// More than the output of any scenario.
pub(crate) const OUTPUT_BYTES: usize = 64 << 20;

/// The reference implementation, with the probe compiled for it.
pub(crate) struct WasmtimeProbe {
    engine: Engine,
    linker: Linker<WasiP1Ctx>,
    module: Module,
}

impl WasmtimeProbe {
    pub(crate) fn new(probe: &[u8]) -> Self {
        let engine = Engine::new(&Config::new()).expect("the default configuration works");
        let mut linker = Linker::new(&engine);
        p1::add_to_linker_sync(&mut linker, |ctx| ctx).expect("nothing is linked yet");
        let module = Module::new(&engine, probe).expect("the probe is a valid module");
        Self { engine, linker, module }
    }

    pub(crate) fn run(&self, call: &Call) -> Run {
        let dir = temporary_dir();
        tree::lay_on_disk(&tree::initial(), dir.path());
        let output = MemoryOutputPipe::new(OUTPUT_BYTES);
        let mut builder = WasiCtxBuilder::new();
        builder
            .allow_blocking_current_thread(true)
            .args(&call.arguments())
            .envs(&call.environment())
            .stdin(MemoryInputPipe::new(call.input().to_vec()))
            .stdout(output.clone());
        for name in ["/", "."] {
            builder.preopened_dir(dir.path(), name, FsPerms::ReadWrite).expect("the directory can be opened");
        }
        let mut store = Store::new(&self.engine, builder.build_p1());
        let instance = self.linker.instantiate(&mut store, &self.module).expect("the probe imports preview1 only");
        let start = instance.get_typed_func::<(), ()>(&mut store, "_start").expect("the probe is a command");
        let exit = match start.call(&mut store, ()) {
            Ok(()) => ProbeExit::Exit(0),
            Err(error) => match error.downcast_ref::<I32Exit>() {
                Some(exit) => ProbeExit::Exit(exit.0),
                None => ProbeExit::Terminated(format!("{error:#}")),
            },
        };
        drop(store);
        let text = String::from_utf8_lossy(&output.contents()).into_owned();
        Run { text, exit, tree: tree::read_from_disk(dir.path()) }
    }
}

/// On a memory file system where the host has one: on a disk, every `fd_sync` of the probe would wait for the writes of
/// other programs.
pub(crate) fn temporary_dir() -> TempDir {
    let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    dir.expect("a temporary directory can be created")
}
