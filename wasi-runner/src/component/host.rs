//! Store data of a component.

use wasmtime::component::ResourceTable;
use wasmtime_wasi::cli::WasiCliCtx;
use wasmtime_wasi::sockets::WasiSocketsCtx;

use super::handle::ProcessHandle;
use crate::guest::Limiter;

/// Maximum number of resources of a component. The kernel limits descriptors separately.
const RESOURCES: usize = 10_000;

/// The data of a component's store.
pub(crate) struct Host {
    /// The kernel process.
    pub(crate) handle: ProcessHandle,
    pub(crate) limiter: Limiter,
    pub(super) table: ResourceTable,
    /// Empty standard streams, used only for the terminal queries.
    pub(super) cli: WasiCliCtx,
    /// Denies every request.
    pub(super) sockets: WasiSocketsCtx,
}

impl Host {
    pub(super) fn new(handle: ProcessHandle, limiter: Limiter) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(RESOURCES);
        Self { handle, limiter, table, cli: WasiCliCtx::default(), sockets: WasiSocketsCtx::default() }
    }
}
