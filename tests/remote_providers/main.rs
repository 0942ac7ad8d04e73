//! Provider adapters against the emulators, backed by local sandboxes.

#![allow(clippy::print_stdout, reason = "reports, and why something was skipped, belong to the test's output")]

mod by_name;
mod canaries;
mod clients;
mod connections;
mod contract;
mod coverage;
mod daytona;
mod deno;
mod docs_tables;
mod driver;
mod e2b;
#[path = "../deepagents/install.rs"]
mod install;
mod langsmith;
mod live;
mod methods;
mod modal;
mod node;
#[path = "../conformance/port_probe.rs"]
mod port_probe;
mod previews;
mod runloop;
mod scenarios;
mod wire;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tidebox::{SandboxBackend, SandboxProvider, Selector};
use tidebox_emulators::{Emulator, FaultKind, InjectedFault, SandboxRegistry, Serving};
use tidebox_remote_adapters::{Options, provider};

/// Key required by the emulators.
const KEY: &str = "planted-key-of-the-emulator";

/// Creates local sandboxes, with the users of the providers' images and snapshots.
fn registry() -> SandboxRegistry {
    tidebox::emulated_sandboxes(tidebox::sandbox)
}

async fn emulator(provider: &str) -> Serving {
    let emulator = Emulator { provider: provider.to_owned(), key: KEY.to_owned() };
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    emulator.serve(listen, registry()).await.expect("the emulator serves")
}

/// Returns the adapter, pointed to an emulator.
fn adapter(name: &str, options: Options) -> Arc<dyn SandboxProvider> {
    provider(name, options.with_api_key(KEY)).expect("the options are valid")
}

/// Creates a sandbox in an emulator.
async fn create_sandbox(serving: &Serving) -> Arc<dyn SandboxBackend> {
    let adapter = adapter(serving.provider(), serving.options());
    adapter.get_or_create(Selector::any_new()).await.expect("created")
}

/// Injects a fault for this many requests with this path prefix.
fn fault(serving: &Serving, path: &str, times: u32, kind: FaultKind) {
    serving.faults().add(InjectedFault { path: path.to_owned(), times, kind });
}

/// An HTTP error without a body.
fn http_error(status: u16, retry_after: Option<u64>) -> FaultKind {
    FaultKind::HttpStatus { status, retry_after, body: String::new() }
}
