//! Emulators: servers that speak the wire protocols of sandbox providers, backed by local sandboxes.
//!
//! They test the adapters, and the providers' official clients test the emulators. They are also useful on their own: a
//! program in any language that uses a provider's client runs against `tidebox serve` without an account or network.
//!
//! An emulator does not depend on an engine. It receives a [`SandboxRegistry`], which creates sandboxes.

#![forbid(unsafe_code)]

pub mod daytona;
pub mod deno;
pub mod e2b;
mod entries;
mod fault;
mod form;
mod hop;
mod input;
pub mod langsmith;
pub mod modal;
mod preview;
mod registry;
pub mod runloop;
mod saved;
mod serve;
mod tenants;
mod terminal;

pub use fault::{FaultInjector, FaultKind, InjectedFault};
pub use hop::{GuardedBody, routed};
pub use registry::{
    ConnectError, ConnectPort, ExposePort, FileSnapshot, HostPort, ImageUser, MadeSandbox, MakeSandbox, NewSandbox,
    PortConnection, ReadCpuTime, RestoreSnapshot, SandboxPorts, SandboxRecord, SandboxRegistry, TakeSnapshot,
    random_token,
};
pub use saved::{
    ListedSandbox, RegistryStore, SAVED_PROVIDERS, SandboxLocation, SandboxStore, SavedOrigin, SavedRecord,
    SavedSandbox, save_before_response,
};
pub use serve::{EMULATORS, Emulator, Serving};
pub use tenants::{TenantName, TenantPort};
