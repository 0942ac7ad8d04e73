//! Runs the guest programs of a Tidebox kernel with Wasmtime.
//!
//! The kernel decides what a system call means; this crate instantiates modules, hands calls to the kernel, waits where
//! the kernel says to wait, and reports how each guest ended. It holds no file, descriptor or pipe of its own.

#![deny(unsafe_op_in_unsafe_fn)]

mod aot;
mod call;
mod component;
mod engine;
mod ext;
mod fork;
mod guest;
mod instance;
mod living;
mod p1;
mod prepared;
mod process;
mod program;
mod scheduler;
mod ticker;
mod turns;

pub use aot::CacheDir;
pub use engine::{EngineConfig, SetupError, WasmtimeEngine};
pub use prepared::{Parts, Provision, Task, take_apart, write_first_image};
