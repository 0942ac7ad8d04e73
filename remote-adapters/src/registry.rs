//! Providers by name.

use std::sync::Arc;

use tidebox_core::{Error, ErrorKind, Result, SandboxBackend, SandboxProvider, Selector};

use crate::daytona::DaytonaControl;
#[cfg(not(target_family = "wasm"))]
use crate::deno::DenoControl;
use crate::e2b::E2bControl;
use crate::langsmith::LangSmithControl;
use crate::options::Options;
use crate::provider::RemoteProvider;
use crate::runloop::RunloopControl;

/// Names accepted by [`provider`].
pub const PROVIDERS: &[&str] = &["daytona", "deno", "e2b", "langsmith", "modal", "runloop"];

/// Returns the provider with this name.
///
/// # Errors
/// [`ErrorKind::Unsupported`] for a name that is not in [`PROVIDERS`] and for options that the provider does not
/// support; [`ErrorKind::Unauthenticated`] without a key.
pub fn provider(name: &str, options: Options) -> Result<Arc<dyn SandboxProvider>> {
    match name {
        "daytona" => Ok(Arc::new(RemoteProvider::new(DaytonaControl::new(options)?))),
        #[cfg(not(target_family = "wasm"))]
        "deno" => Ok(Arc::new(RemoteProvider::new(DenoControl::new(options)?))),
        #[cfg(target_family = "wasm")]
        "deno" => {
            let message = "deno requires a WebSocket with a key in its headers, which JavaScript cannot send; run it natively, \
                           or through a relay";
            Err(Error::new(ErrorKind::Unsupported, "set up a provider", message))
        }
        "e2b" => Ok(Arc::new(RemoteProvider::new(E2bControl::new(options)?))),
        "langsmith" => Ok(Arc::new(RemoteProvider::new(LangSmithControl::new(options)?))),
        #[cfg(not(target_family = "wasm"))]
        "modal" => Ok(Arc::new(RemoteProvider::new(crate::modal::ModalControl::new(options)?))),
        #[cfg(target_family = "wasm")]
        "modal" => {
            let message =
                "modal requires gRPC trailers, which `fetch` does not provide; run it natively, or through a relay";
            Err(Error::new(ErrorKind::Unsupported, "set up a provider", message))
        }
        "runloop" => Ok(Arc::new(RemoteProvider::new(RunloopControl::new(options)?))),
        unknown => {
            let message = format!("unknown provider `{unknown}`; expected one of: {}", PROVIDERS.join(", "));
            Err(Error::new(ErrorKind::Unsupported, "set up a provider", message))
        }
    }
}

/// Creates a sandbox at the provider with this name.
///
/// # Errors
/// Same as [`provider`], and errors of creating the sandbox.
pub async fn create_sandbox(name: &str, options: Options) -> Result<Arc<dyn SandboxBackend>> {
    provider(name, options)?.get_or_create(Selector::any_new()).await
}
