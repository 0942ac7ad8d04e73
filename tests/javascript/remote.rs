//! The shared suite for backends, run through the JavaScript class of sandboxes at providers, over the emulators.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tidebox::conformance::{self, Capabilities};
use tidebox::{Dialect, SandboxBackend, SandboxPath};
use tidebox_emulators::{Emulator, House, Serving};

use crate::class::Class;
use crate::node::Node;

/// The key that the emulators ask for.
const KEY: &str = "planted-key-of-the-emulator";

/// What one command may print here: small, so that the case that prints more is quick.
const OUTPUT_BYTES: u64 = 1 << 20;

/// A busy machine wakes a task late; how exactly a timeout is met is measured elsewhere.
const SLACK: Duration = Duration::from_secs(20);

async fn emulator(provider: &str) -> Serving {
    let house = House::new(Arc::new(|env| {
        Box::pin(async move {
            let mut builder = tidebox::sandbox()?;
            for (name, value) in env {
                builder = builder.env(name, value);
            }
            Ok(Arc::new(builder.build()?) as Arc<dyn SandboxBackend>)
        })
    }));
    let emulator = Emulator { provider: provider.to_owned(), key: KEY.to_owned() };
    emulator.serve(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), house).await.expect("the emulator serves")
}

/// Options of JavaScript that point to an emulator.
fn options(serving: &Serving) -> Value {
    let options = serving.options();
    json!({
        "apiKey": KEY,
        "apiUrl": options.api_url.expect("an emulator has an address"),
        "extra": options.extra,
        "outputBytes": OUTPUT_BYTES,
    })
}

/// Runs the suite; `root` is where the provider's commands begin.
async fn keeps_the_contract(provider: &str, root: &str, binary_output: bool) {
    let serving = emulator(provider).await;
    let node = Node::start();
    let class = Class::create_at(&node, provider, options(&serving)).await;
    let capabilities = Capabilities {
        dialect: Dialect::Js,
        binary_output,
        // Paths are strings in JavaScript, which are text.
        byte_names: false,
        output_bytes: Some(OUTPUT_BYTES),
        glob_files: Some(10_000),
        timeout_slack: SLACK,
        may_close: true,
        ..Capabilities::FULL
    };
    let root = SandboxPath::parse(root).expect("the path is absolute");
    let report = conformance::run(&class, &capabilities, &root).await;
    println!("{report}");
    report.assert();
    node.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_class_keeps_the_contract_at_daytona() {
    keeps_the_contract("daytona", "/home/daytona", true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_class_keeps_the_contract_at_e2b() {
    keeps_the_contract("e2b", "/home/user", true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_class_keeps_the_contract_at_langsmith() {
    keeps_the_contract("langsmith", "/home/user", true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_class_keeps_the_contract_at_runloop() {
    // Output is text there.
    keeps_the_contract("runloop", "/home/user", false).await;
}
