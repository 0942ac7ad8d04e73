//! The conformance suite through the JavaScript class of remote sandboxes, over the emulators.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde_json::{Value, json};
use tidebox::conformance::{self, Capabilities};
use tidebox::{Dialect, SandboxPath};
use tidebox_emulators::{Emulator, Serving};

use crate::backend::Class;
use crate::node::Node;
use crate::port_probe;

/// API key of the emulators.
const KEY: &str = "planted-key-of-the-emulator";

/// Output limit of one command: small, so that the case that exceeds it is fast.
const OUTPUT_BYTES: u64 = 1 << 20;

/// Tolerance of timeouts: a busy host schedules tasks late. The precision is tested elsewhere.
const SLACK: Duration = Duration::from_secs(20);

async fn emulator(provider: &str) -> Serving {
    let sandboxes = tidebox::emulated_sandboxes(tidebox::sandbox);
    let emulator = Emulator { provider: provider.to_owned(), key: KEY.to_owned() };
    emulator.serve(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), sandboxes).await.expect("the emulator serves")
}

/// Returns the options for an emulator.
fn options(serving: &Serving) -> Value {
    let options = serving.options();
    json!({
        "apiKey": KEY,
        "apiUrl": options.api_url.expect("an emulator has an address"),
        "extra": options.extra,
        "outputBytes": OUTPUT_BYTES,
    })
}

/// Runs the suite; `root` is the initial directory of the provider's commands.
async fn keeps_the_contract(provider: &str, root: &str, binary_output: bool) {
    let serving = emulator(provider).await;
    let node = Node::start();
    let class = Class::create_at(&node, provider, options(&serving)).await;
    let capabilities = Capabilities {
        dialect: Dialect::Js,
        binary_output,
        // Paths are strings in JavaScript.
        non_utf8_names: false,
        output_bytes: Some(OUTPUT_BYTES),
        glob_files: Some(10_000),
        timeout_tolerance: SLACK,
        allow_close: true,
        // The WebSockets of Daytona's terminals need a header.
        terminals: provider == "e2b",
        ports: Some(port_probe::get),
        keeps_background: false,
        ..Capabilities::FULL
    };
    let root = SandboxPath::parse(root).expect("the path is absolute");
    let report = conformance::run(&class, &capabilities, &root).await;
    println!("{report}");
    report.assert_success();
    node.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_class_passes_the_suite_at_daytona() {
    keeps_the_contract("daytona", "/home/daytona", true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_class_passes_the_suite_at_e2b() {
    keeps_the_contract("e2b", "/home/user", true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_class_passes_the_suite_at_langsmith() {
    keeps_the_contract("langsmith", "/root", true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_class_passes_the_suite_at_runloop() {
    // Its output is text.
    keeps_the_contract("runloop", "/home/user", false).await;
}
