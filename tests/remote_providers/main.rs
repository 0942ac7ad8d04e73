//! Adapters of providers against the emulators, with sandboxes of our own behind them.

#![allow(clippy::print_stdout, reason = "reports, and why something was skipped, belong to the test's output")]

mod by_name;
mod clients;
mod connections;
mod contract;
mod daytona;
mod deno;
mod driver;
mod e2b;
#[path = "../deepagents/install.rs"]
mod install;
mod langsmith;
mod live;
mod modal;
mod node;
mod page;
mod planted;
mod proved;
mod runloop;
mod scenarios;
mod wire;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tidebox::{SandboxBackend, SandboxProvider, Selector};
use tidebox_emulators::{Emulator, Fault, FaultKind, House, Serving};
use tidebox_remote_adapters::{Options, provider};

/// The key that the emulators ask for.
const KEY: &str = "planted-key-of-the-emulator";

/// Sandboxes of our own, with these variables in the environment of their commands.
fn house() -> House {
    House::new(Arc::new(|env| {
        Box::pin(async move {
            let mut builder = tidebox::sandbox()?;
            for (name, value) in env {
                builder = builder.env(name, value);
            }
            Ok(Arc::new(builder.build()?) as Arc<dyn SandboxBackend>)
        })
    }))
}

async fn emulator(provider: &str) -> Serving {
    let emulator = Emulator { provider: provider.to_owned(), key: KEY.to_owned() };
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    emulator.serve(listen, house()).await.expect("the emulator serves")
}

/// Our adapter, pointed to an emulator.
fn adapter(name: &str, options: Options) -> Arc<dyn SandboxProvider> {
    provider(name, options.with_api_key(KEY)).expect("the options are good")
}

/// A new sandbox behind an emulator.
async fn made(serving: &Serving) -> Arc<dyn SandboxBackend> {
    let adapter = adapter(serving.provider(), serving.options());
    adapter.get_or_create(Selector::any_new()).await.expect("it is made")
}

/// Lets requests whose paths begin so be befallen by something, so many of them.
fn fault(serving: &Serving, path: &str, times: u32, kind: FaultKind) {
    serving.faults().add(Fault { path: path.to_owned(), times, kind });
}

/// A refusal without words.
fn refuse(status: u16, retry_after: Option<u64>) -> FaultKind {
    FaultKind::Refuse { status, retry_after, body: String::new() }
}
