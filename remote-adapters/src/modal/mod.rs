//! Modal (<https://modal.com>): a control plane and, for each sandbox, a command router, both over gRPC.
//!
//! Modal calls these interfaces internal and may change them. Everything that depends on them is in `wire` and
//! `messages`.

mod call;
mod config;
mod debug;
mod exec;
pub mod messages;
mod provider;
mod sandbox;
#[cfg(test)]
mod tests;
mod token;
pub mod wire;

pub use call::Status;
pub use config::ModalConfig;
pub use provider::{ModalControl, ModalProvider};
pub use sandbox::ModalSandbox;
