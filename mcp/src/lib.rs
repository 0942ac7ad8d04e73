//! A Model Context Protocol server over a Tidebox sandbox.
//!
//! [`serve_stdio`] serves one sandbox over the standard streams, [`HttpServer`] serves sandboxes by name over streamable HTTP. Both
//! speak the protocol versions with sessions (2024-11-05 to 2025-11-25) and the stateless one (2026-07-28). The application
//! supplies the sandboxes as a [`SandboxSource`].
//!
//! `docs/mcp.md` describes the tools for users.

#![forbid(unsafe_code)]

mod error;
mod http;
mod image;
mod progress;
mod resource;
mod server;
mod source;
mod stdio;
#[cfg(test)]
mod tests;
mod text;
mod tool;
mod workspace;

pub use error::ServeError;
pub use http::{HttpConfig, HttpServer};
pub use server::Settings;
pub use source::{OpenSandbox, PythonException, PythonInterpreter, PythonRun, SandboxSource};
pub use stdio::serve_stdio;
