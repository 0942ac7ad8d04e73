//! The transport over the standard streams: one message per line.

use std::sync::Arc;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio_pipes;
use tokio::select;

use crate::error::ServeError;
use crate::server::{MAX_MESSAGE_BYTES, Server, Settings};
use crate::source::SandboxSource;
use crate::workspace::Workspace;

/// Serves the sandbox `name` to the client that started this process, until the client closes standard input or `shutdown`
/// completes. Calls in progress may end within five seconds after that. Then the sandbox is closed.
///
/// The standard streams belong to the protocol: the caller must not read or write them. It must be awaited in a Tokio runtime with
/// I/O and time.
///
/// # Errors
/// If the client does not speak the protocol, or the sandbox cannot be saved.
pub async fn serve_stdio(
    source: Arc<dyn SandboxSource>,
    name: &str,
    settings: Settings,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let workspace = Arc::new(Workspace::new(name, source));
    let server = Server::new(Arc::clone(&workspace), Arc::new(settings));
    let served = select! {
        served = serve(server) => served,
        () = shutdown => Ok(()),
    };
    let closed = workspace.close().await;
    served?;
    closed.map_err(|error| ServeError::new(format!("cannot close the sandbox: {error}")))
}

async fn serve(server: Server) -> Result<(), ServeError> {
    let (input, output) = stdio_pipes();
    let transport = AsyncRwTransport::new(input, output).with_max_line_length(MAX_MESSAGE_BYTES);
    let running = match server.serve(transport).await {
        Ok(running) => running,
        // A client that only checks whether the server starts.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::new(format!("cannot start the session: {error}"))),
    };
    let ended = running.waiting().await;
    ended.map(drop).map_err(|error| ServeError::new(format!("the session failed: {error}")))
}
