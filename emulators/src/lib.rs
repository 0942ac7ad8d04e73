//! Servers that speak the wire protocols of sandbox providers, with sandboxes of this machine behind them.
//!
//! They prove the adapters, because the providers' own clients drive them too; and they are of use by themselves: a program in
//! any language that uses a provider's client runs against `tidebox serve` without an account and without a network.
//!
//! An emulator knows no engine. It is given a [`House`], which makes sandboxes.

#![forbid(unsafe_code)]

pub mod daytona;
pub mod deno;
pub mod e2b;
mod entries;
mod fault;
mod form;
mod house;
pub mod langsmith;
pub mod modal;
pub mod runloop;
mod serve;

pub use fault::{Fault, FaultKind, Faults};
pub use house::{House, MakeSandbox, Room};
pub use serve::{EMULATORS, Emulator, Serving};
