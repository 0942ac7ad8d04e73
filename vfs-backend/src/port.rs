//! Ports of the sandbox that clients outside reach.

use std::fmt;
use std::sync::Arc;

use tidebox_core::{BoxFuture, PortEndpoint, Result, check_port, unsupported_port};
use tidebox_kernel::HostConnector;

use crate::backend::VfsBackend;

/// Makes ports of a sandbox reachable from outside. Implemented by the embedder, which has a network.
pub trait ExposePorts: Send + Sync + fmt::Debug {
    /// Returns an address at which clients reach the port, until the endpoint is dropped.
    ///
    /// # Errors
    /// [`tidebox_core::ErrorKind::Unavailable`] if the host has no free port.
    fn expose(&self, connector: HostConnector, port: u16) -> BoxFuture<'static, Result<PortEndpoint>>;
}

/// Implementation of [`tidebox_core::SandboxBackend::port_endpoint`].
pub(crate) async fn endpoint(backend: &VfsBackend, port: u16) -> Result<PortEndpoint> {
    const OPERATION: &str = "port_endpoint";
    let connector = HostConnector::new(&backend.kernel(OPERATION)?);
    check_port(OPERATION, port)?;
    let Some(ports) = backend.ports.as_ref().map(Arc::clone) else {
        return Err(unsupported_port(OPERATION, "cannot listen on the host"));
    };
    ports.expose(connector, port).await
}
