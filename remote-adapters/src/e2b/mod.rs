//! E2B (<https://e2b.dev>): a REST control plane, and in each sandbox a daemon, `envd`, that speaks Connect with JSON.

mod config;
mod provider;
mod sandbox;
pub mod wire;

#[cfg(test)]
mod tests;

pub use crate::transport::{Frame, FrameReader};
pub use config::E2bConfig;
pub use provider::{E2bControl, E2bProvider};
pub use sandbox::E2bSandbox;
