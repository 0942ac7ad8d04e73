//! Deno Sandbox (<https://deno.com/sandbox>): one WebSocket with JSON-RPC per sandbox; opening it creates the sandbox.
//! Listing and deletion use plain HTTP.

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
