//! The shared suite for backends, run through the JavaScript class.

use std::time::Duration;

use serde_json::json;
use tidebox::conformance::{self, Capabilities, HostProbe, Outcome, Report, Skipped};
use tidebox::{Dialect, SandboxPath};

use crate::class::Class;
use crate::node::Node;

/// What one command may print here: small, so that the case that prints more is quick.
const OUTPUT_BYTES: u64 = 1 << 20;

/// A busy machine wakes a task late; how exactly a timeout is met is measured elsewhere.
const SLACK: Duration = Duration::from_secs(20);

/// What takes an engine that can suspend guests. Without it a command has the Worker to itself from its start to its end.
const AT_THE_SAME_TIME: [&str; 2] = [
    "execute_streaming: output arrives while the command runs",
    "at once: a command that runs keeps no other operation waiting",
];

/// Something of the host that no sandbox may show: this file, and a variable that every test has and Node inherits.
fn probe() -> HostProbe {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/javascript/contract.rs").to_owned();
    let value = std::env::var("CARGO_MANIFEST_DIR").expect("cargo and nextest set it for tests");
    let text = "The shared suite for backends, run through the JavaScript class".to_owned();
    HostProbe { file, text, variable: "CARGO_MANIFEST_DIR".to_owned(), value }
}

fn capabilities() -> Capabilities {
    Capabilities {
        dialect: Dialect::Js,
        output_bytes: Some(OUTPUT_BYTES),
        glob_files: Some(10_000),
        host: Some(probe()),
        may_close: true,
        timeout_slack: SLACK,
        // Paths are strings in JavaScript, which are text.
        byte_names: false,
        ..Capabilities::FULL
    }
}

/// Runs all cases but those for which `left_out` has a reason.
async fn run(class: &Class, left_out: impl Fn(&str) -> Option<&'static str>) -> Report {
    let root = SandboxPath::parse("/workspace").expect("the path is absolute");
    let mut report = Report::default();
    for case in conformance::cases() {
        let outcome = match left_out(case.name) {
            Some(reason) => Outcome::Skipped(reason.to_owned()),
            None => case.run(class, &capabilities(), &root).await,
        };
        report.add(case.name, outcome);
    }
    println!("{report}");
    report
}

#[tokio::test]
async fn the_class_keeps_the_contract_of_backends() {
    let node = Node::start();
    let class = Class::create(&node, json!({ "limits": { "outputBytes": OUTPUT_BYTES } })).await;
    let jspi = node.suspends();
    let left_out = |name: &str| {
        (!jspi && AT_THE_SAME_TIME.contains(&name)).then_some("this engine cannot suspend guests, which takes JSPI")
    };
    let report = run(&class, left_out).await;
    report.assert();
    for Skipped { name, reason } in &report.skipped {
        let known = left_out(name).is_some() || reason.starts_with("the dialect ") || reason.ends_with("not UTF-8");
        assert!(known, "{name}: {reason}");
    }
    node.finish();
}
