//! Tidebox for JavaScript: the kernel and the development backend as one WebAssembly module.
//!
//! One instance of this module is one sandbox. It lives in a Worker, and guests run in the same Worker as instances of their
//! own, beside this one and not inside it. The parts:
//!
//! - [`sandbox`] is what the TypeScript class calls: the contract, in the shapes that Deep Agents wants.
//! - [`engine`] implements the engine port of `tidebox-kernel`; JavaScript (`js/engine.ts`) makes the instances and has them
//!   take turns.
//! - [`syscalls`] are the functions that guests import.
//! - [`python`] keeps interpreters between calls.
//! - [`snapshots`] keeps, compares and restores what a sandbox holds.
//! - [`host_tool`], [`gateway`] and `host_mount` are ways out of the sandbox that the application has opened: its functions,
//!   the network, folders of the host.
//! - [`rewrite`] changes guest modules so that limits hold; it is plain Rust and runs natively too.
//! - [`unpack`] unpacks programs of the package where the platform cannot.
//! - `host` is what JavaScript does for this side.
//!
//! `docs/javascript.md` says how it works together.

mod cancel;
mod clock;
mod create;
pub mod ending;
pub mod engine;
pub mod gateway;
mod guest;
mod host;
mod host_mount;
pub mod host_tool;
mod inbox;
mod network_log;
mod options;
pub mod pack;
mod policy;
mod program;
pub mod python;
pub mod rewrite;
pub mod sandbox;
mod seed;
pub mod snapshots;
pub mod syscalls;
pub mod unpack;

use tidebox_js_shapes::answer;
