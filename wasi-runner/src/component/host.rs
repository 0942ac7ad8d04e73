//! What the store of a component holds.

use wasmtime::component::ResourceTable;
use wasmtime_wasi::cli::WasiCliCtx;
use wasmtime_wasi::sockets::WasiSocketsCtx;

use super::handle::Handle;
use crate::guest::Limiter;

/// Resources that a component may have at a time. Descriptors are bounded by the kernel besides.
const RESOURCES: usize = 10_000;

/// The data of a component's store.
pub(crate) struct Host {
    /// The kernel's process.
    pub(crate) handle: Handle,
    pub(crate) limiter: Limiter,
    pub(super) table: ResourceTable,
    /// Empty standard streams, of which only the terminal questions are asked.
    pub(super) cli: WasiCliCtx,
    /// Refuses all.
    pub(super) sockets: WasiSocketsCtx,
}

impl Host {
    pub(super) fn new(handle: Handle, limiter: Limiter) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(RESOURCES);
        Self { handle, limiter, table, cli: WasiCliCtx::default(), sockets: WasiSocketsCtx::default() }
    }
}
