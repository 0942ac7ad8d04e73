//! Adapters of cloud sandbox providers: implementations of the backend and provider traits of `tidebox-core`.
//!
//! Each provider is a directory: `config` (options and environment variables), `wire` (conversion between values and
//! requests or responses, without I/O), `sandbox` (one sandbox: [`DataPlane`]) and `provider` (lifecycle:
//! [`ControlPlane`]). Shared code exists once: [`RemoteSandbox`] implements the backend on top of a data plane,
//! [`RemoteProvider`] the provider on top of a control plane, and [`transport`] sends all requests.
//!
//! ```no_run
//! # async fn run() -> tidebox_core::Result<()> {
//! use tidebox_core::{ExecuteRequest, Selector};
//! use tidebox_remote_adapters::{Options, provider};
//!
//! // The key comes from the provider's own variable, `E2B_API_KEY`.
//! let provider = provider("e2b", Options::default())?;
//! let sandbox = provider.get_or_create(Selector::labels([("thread", "42")])).await?;
//! let response = sandbox.execute(ExecuteRequest::new("uname -a")).await?;
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod address;
mod command;
mod control_plane;
mod data_plane;
pub mod daytona;
#[cfg(not(target_family = "wasm"))]
pub mod deno;
pub mod e2b;
pub mod langsmith;
#[cfg(not(target_family = "wasm"))]
pub mod modal;
mod options;
mod output;
mod poll;
mod probe;
mod process;
mod provider;
mod registry;
pub mod runloop;
mod sandbox;
mod signal;
#[cfg(test)]
mod trace_coverage;
pub mod transport;

pub use address::BaseUrl;
pub use control_plane::{ControlPlane, Created};
pub use data_plane::{Command, CommandOutcome, DataPlane};
pub use options::{NetworkAccess, Options};
pub use output::OutputCollector;
pub use poll::PollTimer;
pub use provider::RemoteProvider;
pub use registry::{PROVIDERS, create_sandbox, provider};
pub use sandbox::{RemoteSandbox, Settings};
