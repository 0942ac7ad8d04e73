//! Emulators of providers with local sandboxes behind them.

use std::net::SocketAddr;
use std::sync::Arc;

use tidebox_core::{Error, ErrorKind, Result, SandboxBackend};
use tidebox_emulators::{Emulator, House, Serving};
use tidebox_vfs_backend::SandboxBuilder;

/// Serves the wire protocol of a provider at `listen` until the value that it returns is dropped, with sandboxes of this process
/// behind it. `key` is what clients have to show; `make` makes each sandbox: `tidebox::sandbox` where nothing else is wanted.
///
/// It needs a runtime of tokio. The providers are [`tidebox_emulators::EMULATORS`].
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] for a provider that is not there and an address that cannot be had.
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
    let house = House::new(Arc::new(move |env| {
        let made = make().and_then(|builder| {
            let builder = env.into_iter().fold(builder, |builder, (name, value)| builder.env(name, value));
            Ok(Arc::new(builder.build()?) as Arc<dyn SandboxBackend>)
        });
        Box::pin(std::future::ready(made))
    }));
    let emulator = Emulator { provider: provider.to_owned(), key: key.to_owned() };
    let failed = |error: std::io::Error| {
        Error::new(ErrorKind::InvalidRequest, "serve an emulator", format!("{provider} at {listen}: {error}"))
    };
    emulator.serve(listen, house).await.map_err(failed)
}
