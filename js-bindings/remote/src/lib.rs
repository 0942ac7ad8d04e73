//! Sandboxes of cloud providers for JavaScript: the adapters of `tidebox-remote-adapters` over `fetch`.
//!
//! `js/remote.ts` has the classes that users see. This module lives in the caller's thread: it only waits for replies.

// Natively there is `tidebox-remote-adapters` itself.
#![cfg(target_family = "wasm")]

mod options;
mod provider;
mod sandbox;

pub use provider::Provider;
pub use sandbox::Sandbox;
