//! The sandboxes of cloud providers behind the contract of Tidebox.
//!
//! Each provider is a folder: `config` (what can be set and from which variable a key comes), `wire` (values to requests and
//! replies to values, without any sending), `sandbox` (one sandbox: [`Plane`]) and `provider` (their life: [`Control`]).
//! What is the same for all stands once: [`RemoteSandbox`] makes the whole contract of a plane, [`RemoteProvider`] of a
//! control, and [`transport`] is the only way out.
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
mod control;
pub mod daytona;
#[cfg(not(target_family = "wasm"))]
pub mod deno;
pub mod e2b;
pub mod langsmith;
#[cfg(not(target_family = "wasm"))]
pub mod modal;
mod options;
mod output;
mod plane;
mod poll;
mod probe;
mod provider;
#[cfg(test)]
mod recorded;
mod registry;
pub mod runloop;
mod sandbox;
mod signal;
pub mod transport;

pub use address::Address;
pub use control::{Control, Created};
pub use options::{NetworkAccess, Options};
pub use output::Output;
pub use plane::{Command, Ending, Plane};
pub use poll::Polling;
pub use provider::RemoteProvider;
pub use registry::{PROVIDERS, create_sandbox, provider};
pub use sandbox::{RemoteSandbox, Settings};
