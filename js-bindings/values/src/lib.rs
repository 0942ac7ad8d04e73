//! Conversions between JavaScript values and requests and responses of any backend: the local sandbox in its worker, and
//! sandboxes of cloud providers.
//!
//! - [`value`] reads values from JavaScript.
//! - [`response`] converts responses to the types of Deep Agents.
//! - [`FileTools`] has the file tools and transfers of any backend.
//! - [`ProcessTools`] has its processes that outlive their call.

mod files;
mod processes;
pub mod response;
pub mod value;

pub use files::{FileTools, promise};
pub use processes::ProcessTools;
