//! The conformance suite through the JavaScript class.

use std::time::Duration;

use serde_json::json;
use tidebox::conformance::{self, Capabilities, CaseOutcome, HostProbe, Report, Skipped};
use tidebox::{Dialect, SandboxPath};

use crate::backend::Class;
use crate::node::Node;
use crate::port_probe;

/// Output limit of one command: small, so that the case that exceeds it is fast.
const OUTPUT_BYTES: u64 = 1 << 20;

/// Tolerance of timeouts: a busy host schedules tasks late. The precision is tested elsewhere.
const SLACK: Duration = Duration::from_secs(20);

/// Cases that require JSPI. Without it a command occupies the worker until it ends.
const AT_THE_SAME_TIME: [&str; 2] = [
    "execute_streaming: output arrives while the command runs",
    "concurrency: a running command does not block other operations",
];

/// Host data that must not be visible in a sandbox: this file, and a variable of every test that Node inherits.
fn probe() -> HostProbe {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/javascript/contract.rs").to_owned();
    let value = std::env::var("CARGO_MANIFEST_DIR").expect("cargo and nextest set it for tests");
    let text = "The conformance suite through the JavaScript class".to_owned();
    HostProbe { file, text, variable: "CARGO_MANIFEST_DIR".to_owned(), value }
}

/// Returns the capabilities of the class; `jspi` is whether the engine can suspend guests.
fn capabilities(jspi: bool) -> Capabilities {
    Capabilities {
        dialect: Dialect::Js,
        output_bytes: Some(OUTPUT_BYTES),
        glob_files: Some(10_000),
        host: Some(probe()),
        allow_close: true,
        timeout_tolerance: SLACK,
        // Paths are strings in JavaScript.
        non_utf8_names: false,
        processes: jspi,
        terminals: jspi,
        keeps_background: jspi,
        ports: if jspi { Some(port_probe::get) } else { None },
        ..Capabilities::FULL
    }
}

/// Runs all cases except those for which `left_out` returns a reason.
async fn run(class: &Class, jspi: bool, left_out: impl Fn(&str) -> Option<&'static str>) -> Report {
    let root = SandboxPath::parse("/workspace").expect("the path is absolute");
    let mut report = Report::default();
    for case in conformance::cases() {
        let outcome = match left_out(case.name) {
            Some(reason) => CaseOutcome::Skipped(reason.to_owned()),
            None => case.run(class, &capabilities(jspi), &root).await,
        };
        report.add(case.name, outcome);
    }
    println!("{report}");
    report
}

#[tokio::test]
async fn the_class_passes_the_conformance_suite() {
    let node = Node::start();
    let class = Class::create(&node, json!({ "limits": { "outputBytes": OUTPUT_BYTES } })).await;
    let jspi = node.suspends();
    let left_out = |name: &str| {
        (!jspi && AT_THE_SAME_TIME.contains(&name)).then_some("this engine cannot suspend guests, which takes JSPI")
    };
    let report = run(&class, jspi, left_out).await;
    report.assert_success();
    for Skipped { name, reason } in &report.skipped {
        let needs_jspi =
            ["processes that outlive a call", "processes in a terminal", "ports that clients outside reach"];
        let absent = reason.ends_with(" not UTF-8") || (!jspi && needs_jspi.iter().any(|need| reason.ends_with(need)));
        let known = left_out(name).is_some() || reason.starts_with("the dialect ") || absent;
        assert!(known, "{name}: {reason}");
    }
    node.finish();
}
