//! LangSmith Sandboxes (<https://docs.langchain.com>): a REST control plane, and for each sandbox a data plane at its
//! own URL, where commands respond with server-sent events.

mod config;
mod execute;
mod provider;
mod sandbox;
pub mod wire;

#[cfg(test)]
mod tests;

pub use config::LangSmithConfig;
pub use provider::{LangSmithControl, LangSmithProvider};
pub use sandbox::LangSmithSandbox;
