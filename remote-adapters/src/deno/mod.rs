//! Deno Sandbox (<https://deno.com/sandbox>): one WebSocket for each sandbox, with JSON-RPC on it; opening one makes a sandbox.
//! Lists and ends go over plain HTTP.

mod config;
mod connection;
mod provider;
mod sandbox;
pub mod wire;

#[cfg(test)]
mod tests;

pub use config::DenoConfig;
pub use provider::{DenoControl, DenoProvider};
pub use sandbox::DenoSandbox;
