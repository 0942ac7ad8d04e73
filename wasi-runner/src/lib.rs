//! Runs the guest programs of a Tidebox kernel with Wasmtime.
//!
//! The kernel implements the system calls. This crate instantiates modules, forwards calls to the kernel, waits when
//! the kernel blocks, and reports exit statuses. It owns no file, descriptor or pipe.

#![deny(unsafe_op_in_unsafe_fn)]

mod aot;
mod background_share;
mod call;
mod component;
mod engine;
mod fair_share;
mod fork;
mod guest;
mod instance;
mod metered_process;
mod preinit;
mod preview1;
mod process;
mod process_count;
mod program;
mod run_queue;
mod scheduler;
mod ticker;
mod tidebox_v1;

pub use aot::{CacheDir, ProgramArchive};
pub use engine::{EngineConfig, SetupError, WasmtimeEngine};
pub use preinit::{PreinitMode, PreinitSource, PrepareSource, SplitModule, split_module, write_first_image};
