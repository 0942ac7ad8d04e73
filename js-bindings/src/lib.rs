//! Tidebox for JavaScript: the kernel and the local backend as one WebAssembly module.
//!
//! One instance of this module runs in a worker and holds its sandboxes; guests run in the same worker as separate instances.
//! Guests and executions of all sandboxes are in tables of `slots`; JavaScript numbers the sandboxes. The modules:
//!
//! - [`sandbox`] has the methods that the TypeScript class calls: the backend contract with the types of Deep Agents.
//! - [`engine`] implements the engine port of `tidebox-kernel`; JavaScript (`js/engine.ts`) creates and schedules the instances.
//! - [`syscalls`] has the functions that guests import.
//! - [`python`] keeps interpreters between calls.
//! - [`process`] and [`tasks`] run processes that outlive their call.
//! - [`ports`] connects the application to servers of a sandbox.
//! - [`snapshots`] takes, compares and restores snapshots.
//! - [`host_tool`], [`gateway`] and `host_mount` give access to resources that the application has enabled: its functions, the
//!   network, host directories.
//! - [`rewrite`] changes guest modules so that limits are enforced; it is plain Rust and runs natively too.
//! - [`brotli`] decompresses programs of the package if the platform cannot.
//! - `js_imports` has the functions that JavaScript provides.
//!
//! `docs/javascript.md` describes the architecture.

pub mod brotli;
mod call_context;
mod clock;
mod command_result;
pub mod cpu_time;
pub mod create;
pub mod engine;
pub mod exit;
pub mod gateway;
mod guest;
mod host_mount;
pub mod host_tool;
mod inbox;
mod js_imports;
mod network_log;
mod options;
pub mod pack;
mod policy;
pub mod ports;
pub mod process;
mod program;
pub mod python;
pub mod rewrite;
pub mod sandbox;
mod seed;
mod slots;
pub mod snapshots;
pub mod syscalls;
pub mod tasks;

use tidebox_js_values::{js, response};
