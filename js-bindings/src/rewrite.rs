//! Rewrites guest modules so that limits are enforced by engines that have none.
//!
//! V8 has neither epochs nor a memory limit, and a JavaScript function between guest and kernel costs more than the call itself.
//! So every module is changed before it is compiled:
//!
//! - A counter is checked at loop headers and at the entry of functions that call others; every [`CHECKS_PER_SLICE`] checks the
//!   guest calls the host, which may end its time slice.
//! - Filling and copying memory counts by its length.
//! - Calls of sandbox functions go to wrappers inside the module (`wrapper.rs`). They call the kernel's exports directly, and a
//!   JavaScript function only if the guest has to wait.
//! - `memory.grow` needs the kernel's permission, memory and tables get a maximum, mutable globals of a module that forks are
//!   exported, and a start function becomes an export that the host calls after it has access to the memory.
//! - Instances of a program of the package can be used again ([`RewriteLimits::reusable`]): its size of the memory and the lowest
//!   address of its stack are kept in globals, and all mutable globals are exported.
//! - Custom sections are removed. A new one ([`SECTION`]) has the data that the host needs before instantiation.
//!
//! A *pre-initialized* program ([`rewrite_preinit`]) starts with a memory that the host appends as data, and returns its exit
//! code.
//!
//! [`FEATURES`] lists the features that modules may use; others are rejected with the reason. Exceptions are accepted if the
//! engine supports them ([`Exceptions`]): a guest can catch its own exceptions, but not the trap that ends it.

mod body;
mod check;
mod layout;
mod reuse;
mod sections;
#[cfg(test)]
mod tests;
mod wrapper;

use std::fmt;

use wasmparser::WasmFeatures;

/// Name of the custom section of a rewritten module.
pub const SECTION: &str = "tidebox";

/// Import module of the engine's functions.
pub const ENGINE: &str = "tidebox_engine";

/// Checks per call of the host. A check takes about a nanosecond, so the host is called a few thousand times per second.
pub const CHECKS_PER_SLICE: i32 = 200_000;

/// Name prefix of the exported mutable globals. No linker generates such names.
pub const GLOBAL_PREFIX: &str = "tidebox:global:";
/// Name of the exported counter of checks, of a module whose instances are used again.
pub const COUNTER: &str = "tidebox:global:counter";
/// Name of the exported lowest value of the stack pointer.
pub const LOWEST_STACK: &str = "tidebox:global:lowest-stack";
/// Name of the exported size of the memory that the program sees, in pages.
pub const MEMORY_SIZE: &str = "tidebox:global:memory-size";
/// Name of the exported start function.
pub const START: &str = "tidebox:start";

/// Features that guests may use everywhere: finished proposals that all supported engines implement, except threads.
pub const FEATURES: WasmFeatures = WasmFeatures::WASM2
    .union(WasmFeatures::TAIL_CALL)
    .union(WasmFeatures::EXTENDED_CONST)
    .difference(WasmFeatures::MULTI_MEMORY);

/// Exception proposals that the engine supports: none, only the legacy one, or both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exceptions {
    /// The standard: `try_table` and exception references.
    pub standard: bool,
    /// The legacy proposal: `try`, `catch` and `delegate`.
    pub legacy: bool,
}

/// Limits that are written into the module, and exceptions that it may use in addition to [`FEATURES`].
#[derive(Clone, Copy, Debug)]
pub struct RewriteLimits {
    /// Maximum bytes of linear memory.
    pub memory_bytes: u64,
    /// Maximum elements of a table.
    pub table_elements: u64,
    /// Exceptions that the module may use.
    pub exceptions: Exceptions,
    /// True for programs of the package, whose instances are used again if they fit. The layout of the memory of other modules is
    /// unknown.
    pub reusable: bool,
}

impl Default for RewriteLimits {
    /// The 32-bit address space, the table limit of the native engine, and no exceptions.
    fn default() -> Self {
        Self { memory_bytes: 1 << 32, table_elements: 64_000, exceptions: Exceptions::default(), reusable: false }
    }
}

/// The reason why a module cannot run. The text is written to the guest's standard error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewriteError(String);

impl RewriteError {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for RewriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RewriteError {}

impl<E> From<wasm_encoder::reencode::Error<E>> for RewriteError
where
    wasm_encoder::reencode::Error<E>: fmt::Display,
{
    fn from(error: wasm_encoder::reencode::Error<E>) -> Self {
        Self(format!("cannot rewrite the module: {error}"))
    }
}

impl From<wasmparser::Error> for RewriteError {
    fn from(error: wasmparser::Error) -> Self {
        Self(format!("not a valid WebAssembly module: {error}"))
    }
}

/// Returns the rewritten module.
///
/// # Errors
/// [`RewriteError`] for bytes that are not a module, and for a module that uses or imports something unsupported.
pub fn rewrite(wasm: &[u8], limits: RewriteLimits) -> Result<Vec<u8>, RewriteError> {
    check::check(wasm, limits)?;
    let mut layout = layout::Layout::of(wasm)?;
    if limits.reusable {
        layout.reuse = reuse::of(wasm)?;
    }
    sections::assemble(wasm, &layout, limits)
}

/// Import and exports of a pre-initialized program, in addition to those of a command; see `docs/abi.md`.
const HOST_CALL: (&str, &str) = ("host", "call");
const RUN: &str = "run";
const ALLOC_EXPORT: &str = "host_alloc";

/// Returns the rewritten module of a pre-initialized program: without data, with an initial memory of `pages` pages. The caller
/// has to append the data section before compiling it.
///
/// # Errors
/// Like [`rewrite`].
pub fn rewrite_preinit(wasm: &[u8], pages: u32, exceptions: Exceptions) -> Result<Vec<u8>, RewriteError> {
    let limits = RewriteLimits { exceptions, ..RewriteLimits::default() };
    check::check_preinit(wasm, limits)?;
    let mut layout = layout::Layout::of(wasm)?;
    let alloc_function = layout.exported.get(ALLOC_EXPORT).copied().ok_or_else(layout::internal_error)?;
    layout.preinit = Some(layout::PreinitInfo { alloc_function, pages });
    sections::assemble(wasm, &layout, limits)
}
