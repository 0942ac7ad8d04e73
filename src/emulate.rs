//! Emulators of providers with local sandboxes.

use std::net::SocketAddr;
use std::sync::Arc;

use tidebox_core::{Error, ErrorKind, Result, SandboxBackend};
use tidebox_emulators::{Emulator, SandboxRegistry, Serving};
use tidebox_vfs_backend::SandboxBuilder;

/// Serves the protocol of a provider at `listen` with sandboxes of this process, until the returned value is dropped. Clients
/// must send `key`. `make` creates the builder of each sandbox, for example `tidebox::sandbox`.
///
/// It requires a Tokio runtime. The providers are [`tidebox_emulators::EMULATORS`].
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] for an unknown provider and an unavailable address.
///
/// ```no_run
/// # async fn run() -> tidebox::Result<()> {
/// let listen = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
/// let serving = tidebox::emulate("e2b", listen, "any-key", tidebox::sandbox).await?;
/// for (name, value) in serving.variables() {
///     println!("export {name}={value}");
/// }
/// # Ok(())
/// # }
/// ```
pub async fn emulate(
    provider: &str,
    listen: SocketAddr,
    key: &str,
    make: impl Fn() -> Result<SandboxBuilder> + Send + Sync + 'static,
) -> Result<Serving> {
    let registry = SandboxRegistry::new(Arc::new(move |env| {
        let sandbox = make().and_then(|builder| {
            let builder = env.into_iter().fold(builder, |builder, (name, value)| builder.env(name, value));
            Ok(Arc::new(builder.build()?) as Arc<dyn SandboxBackend>)
        });
        Box::pin(std::future::ready(sandbox))
    }));
    let emulator = Emulator { provider: provider.to_owned(), key: key.to_owned() };
    let failed = |error: std::io::Error| {
        Error::new(ErrorKind::InvalidRequest, "serve an emulator", format!("{provider} at {listen}: {error}"))
    };
    emulator.serve(listen, registry).await.map_err(failed)
}
