//! Conversions between JavaScript values and requests and responses of any backend: the local sandbox in its worker, and
//! sandboxes of cloud providers.
//!
//! - [`value`] reads values from JavaScript.
//! - [`response`] converts responses to the types of Deep Agents, as [`neutral`] values that another binding can use.
//! - [`js`] converts these to values of JavaScript.
//! - [`FileTools`] has the file tools and transfers of any backend.
//! - [`ProcessTools`] has its processes that outlive their call.

mod files;
pub mod js;
mod name;
pub mod neutral;
mod port;
mod processes;
pub mod response;
pub mod value;

pub use files::{FileTools, promise};
pub use port::port_endpoint;
pub use processes::ProcessTools;
