//! Host name lookup, which is denied as sockets are.

use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::sockets::ip_name_lookup::{
    Host as Lookup, HostResolveAddressStream, ResolveAddressStream,
};
use wasmtime_wasi::p2::bindings::sockets::network::{self, ErrorCode, IpAddress, Network};
use wasmtime_wasi::p2::{DynPollable, SocketError, SocketResult};

use super::host::Host;

/// Error codes, which the lookup shares with sockets.
impl network::Host for Host {
    fn convert_error_code(&mut self, error: SocketError) -> wasmtime::Result<ErrorCode> {
        error.downcast()
    }

    fn network_error_code(&mut self, error: Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
        Ok(self.table.get(&error)?.downcast_ref().copied())
    }
}

impl network::HostNetwork for Host {
    fn drop(&mut self, network: Resource<Network>) -> wasmtime::Result<()> {
        self.table.delete(network)?;
        Ok(())
    }
}

impl Lookup for Host {
    fn resolve_addresses(&mut self, _: Resource<Network>, _: String) -> SocketResult<Resource<ResolveAddressStream>> {
        Err(ErrorCode::AccessDenied.into())
    }
}

/// Such a stream is never created; an invented handle is not in the table.
impl HostResolveAddressStream for Host {
    fn resolve_next_address(&mut self, stream: Resource<ResolveAddressStream>) -> SocketResult<Option<IpAddress>> {
        self.table.get(&stream)?;
        Err(ErrorCode::AccessDenied.into())
    }

    fn subscribe(&mut self, stream: Resource<ResolveAddressStream>) -> wasmtime::Result<Resource<DynPollable>> {
        wasmtime_wasi::p2::subscribe(&mut self.table, stream)
    }

    fn drop(&mut self, stream: Resource<ResolveAddressStream>) -> wasmtime::Result<()> {
        self.table.delete(stream)?;
        Ok(())
    }
}
