//! Tests of the adapters for agent frameworks.

use super::Setting;
use super::engines::Node;
use super::test_dir::Tests;
use crate::step::Run;

/// Directories of `js-bindings/tests` with the packages of one framework each, and their test files.
pub(super) const FRAMEWORKS: [(&str, &[&str]); 4] = [
    ("frameworks/ai-sdk", &["session.test.mjs", "harness.test.mjs", "types.test.mjs"]),
    ("frameworks/bash-tool", &["tools.test.mjs", "types.test.mjs"]),
    ("frameworks/mastra", &["agent.test.mjs", "filesystem.test.mjs", "sandbox.test.mjs", "types.test.mjs"]),
    ("frameworks/openai-agents", &["agent.test.mjs", "session.test.mjs", "types.test.mjs"]),
];

/// Runs the tests of each framework.
pub(super) fn runs(setting: &Setting<'_>, tests: &Tests, node: &Node) -> Vec<Run> {
    FRAMEWORKS.iter().map(|(dir, files)| super::run(setting, &tests.dir.join(dir), node, files)).collect()
}
