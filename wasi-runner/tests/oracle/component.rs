//! The probe as a component on wasmtime-wasi: the same program with the preview1 adapter for WASI 0.2.

use wasmtime::component::{Component, ResourceTable};
use wasmtime::{Config, Engine, Store};
use wasmtime_wasi::p2::bindings::sync::CommandPre;
use wasmtime_wasi::p2::pipe::{MemoryInputPipe, MemoryOutputPipe};
use wasmtime_wasi::{FsPerms, I32Exit, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

use crate::wasmtime::{OUTPUT_BYTES, temporary_dir};
use crate::{Call, ProbeExit, Run, tree};

struct State {
    ctx: WasiCtx,
    table: ResourceTable,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.ctx, table: &mut self.table }
    }
}

/// The reference implementation, with the component compiled for it.
pub(crate) struct WasmtimeComponentProbe {
    engine: Engine,
    command: CommandPre<State>,
}

impl WasmtimeComponentProbe {
    pub(crate) fn new(component: &[u8]) -> Self {
        let engine = Engine::new(&Config::new()).expect("the default configuration works");
        let mut linker = wasmtime::component::Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_sync(&mut linker).expect("nothing is linked yet");
        let component = Component::new(&engine, component).expect("the probe is a valid component");
        let command = CommandPre::new(linker.instantiate_pre(&component).expect("the probe imports WASI only"));
        Self { engine, command: command.expect("the probe is a command") }
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
        let mut store = Store::new(&self.engine, State { ctx: builder.build(), table: ResourceTable::new() });
        let command = self.command.instantiate(&mut store).expect("the probe can be instantiated");
        let exit = match command.wasi_cli_run().call_run(&mut store) {
            Ok(Ok(())) => ProbeExit::Exit(0),
            Ok(Err(())) => ProbeExit::Exit(1),
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
