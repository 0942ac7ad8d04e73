//! Rewriting guest modules, so that limits hold in an engine that has none.
//!
//! V8 offers neither epochs nor a bound on memory, and a JavaScript function between guest and kernel costs more than the
//! call itself. So every module is changed before it is compiled:
//!
//! - A counter is checked at loop headers and at the entry of functions that call others; every [`TURN`] checks the guest
//!   asks the host whether it may go on.
//! - Filling and copying memory counts by its length.
//! - Calls of the sandbox's functions go to wrappers inside the module (`wrapper.rs`). They call the kernel's exports
//!   directly, and a function of JavaScript only when the kernel answers that the guest has to wait.
//! - `memory.grow` asks first, memory and table get a maximum, mutable globals of a module that forks are exported, and a
//!   start function becomes an export that the host calls when it knows the memory.
//! - Custom sections are left out; one of our own ([`SECTION`]) says what the host must know before it instantiates.
//!
//! A *prepared* program ([`rewrite_prepared`]) begins with a memory that is put behind it as data, and returns its exit code.
//!
//! What a module may use is said in [`FEATURES`]; the rest is refused with the reason. Exceptions are accepted where the
//! engine has them ([`Exceptions`]): a guest can catch its own, but ends by traps, which nobody can.

mod body;
mod check;
mod layout;
mod sections;
#[cfg(test)]
mod tests;
mod wrapper;

use std::fmt;

use wasmparser::WasmFeatures;

/// Name of the custom section that a rewritten module carries.
pub const SECTION: &str = "tidebox";

/// Module that the functions of the engine are imported from.
pub const ENGINE: &str = "tidebox_engine";

/// Checks that a guest passes before it asks the host. A check takes about a nanosecond, so it asks some thousand times a
/// second.
pub const TURN: i32 = 200_000;

/// What is exported for the host under names that no linker makes: mutable globals, and the start function.
pub const GLOBAL_PREFIX: &str = "tidebox:global:";
/// See [`GLOBAL_PREFIX`].
pub const START: &str = "tidebox:start";

/// What guests may use everywhere: what is finished and in every engine that we run on, except threads.
pub const FEATURES: WasmFeatures = WasmFeatures::WASM2
    .union(WasmFeatures::TAIL_CALL)
    .union(WasmFeatures::EXTENDED_CONST)
    .difference(WasmFeatures::MULTI_MEMORY);

/// Which exceptions the engine has: some have none, some only those that were given up for others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exceptions {
    /// `try_table` and references to exceptions, as the standard has them.
    pub standard: bool,
    /// `try`, `catch` and `delegate`, as compilers wrote them before.
    pub legacy: bool,
}

/// Bounds that are written into the module, and what it may use beside [`FEATURES`].
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Most bytes of linear memory.
    pub memory_bytes: u64,
    /// Most elements of one table.
    pub table_elements: u64,
    /// Which exceptions the module may use.
    pub exceptions: Exceptions,
}

impl Default for Bounds {
    /// What an address of 32 bits reaches, the table of the native engine, and no exceptions.
    fn default() -> Self {
        Self { memory_bytes: 1 << 32, table_elements: 64_000, exceptions: Exceptions::default() }
    }
}

/// Why a module cannot run here. The text is for the guest's standard error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(String);

impl Refusal {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

impl<E> From<wasm_encoder::reencode::Error<E>> for Refusal
where
    wasm_encoder::reencode::Error<E>: fmt::Display,
{
    fn from(error: wasm_encoder::reencode::Error<E>) -> Self {
        Self(format!("the module cannot be rewritten: {error}"))
    }
}

impl From<wasmparser::Error> for Refusal {
    fn from(error: wasmparser::Error) -> Self {
        Self(format!("not a valid WebAssembly module: {error}"))
    }
}

/// The module as it is run.
///
/// # Errors
/// [`Refusal`] for bytes that are no module, and for one that uses or imports what this sandbox does not have.
pub fn rewrite(wasm: &[u8], bounds: Bounds) -> Result<Vec<u8>, Refusal> {
    check::check(wasm, bounds)?;
    let layout = layout::Layout::of(wasm)?;
    sections::assemble(wasm, &layout, bounds)
}

/// Functions that a prepared program has beside those of a command; `docs/abi.md` says what they are.
const DOOR: (&str, &str) = ("host", "call");
const RUN: &str = "run";
const ROOM: &str = "host_alloc";

/// The module of a prepared program as it is run: without data, with a memory of `pages` at first. Whoever compiles it puts the
/// data section with that memory behind it.
///
/// # Errors
/// As [`rewrite`].
pub fn rewrite_prepared(wasm: &[u8], pages: u32, exceptions: Exceptions) -> Result<Vec<u8>, Refusal> {
    let bounds = Bounds { exceptions, ..Bounds::default() };
    check::check_prepared(wasm, bounds)?;
    let mut layout = layout::Layout::of(wasm)?;
    let room = layout.exported.get(ROOM).copied().ok_or_else(layout::broken)?;
    layout.prepared = Some(layout::Prepared { room, pages });
    sections::assemble(wasm, &layout, bounds)
}
