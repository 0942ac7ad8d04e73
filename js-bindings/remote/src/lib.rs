//! Sandboxes of cloud providers for JavaScript: the adapters of `tidebox-remote-adapters` over `fetch`.
//!
//! `js/remote.ts` has the public classes. This module runs in the caller's thread, because it only waits for responses.

// Native programs use `tidebox-remote-adapters` directly.
#![cfg(target_family = "wasm")]

mod options;
mod provider;
mod sandbox;

pub use provider::Provider;
pub use sandbox::Sandbox;
