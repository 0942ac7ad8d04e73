//! What JavaScript gives and gets of a sandbox, whatever stands behind it: the sandbox of this package in its Worker, and one
//! at a provider in the cloud.
//!
//! - [`value`] reads what JavaScript gives.
//! - [`answer`] writes what it gets, in the shapes of Deep Agents.
//! - [`FileTools`] are the file tools and transfers of any backend.

pub mod answer;
mod files;
pub mod value;

pub use files::{FileTools, promise};
