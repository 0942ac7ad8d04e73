//! Modal (<https://modal.com>): a control plane and, for each sandbox, a router of commands, both by gRPC.
//!
//! Modal calls these interfaces internal and may change them. Everything that could change with them is in `wire` and
//! `messages`.

mod call;
mod config;
mod exec;
pub mod messages;
mod provider;
mod redacted;
mod sandbox;
#[cfg(test)]
mod tests;
mod token;
pub mod wire;

pub use call::Status;
pub use config::ModalConfig;
pub use provider::{ModalControl, ModalProvider};
pub use sandbox::ModalSandbox;
