//! Verified features of each provider, and the tests that verify them.
//!
//! A test that verifies a feature declares it in a table, and returns it at run time: the test fails if both differ.
//! The provider compatibility page is generated from these tables.

use std::collections::BTreeSet;

use serde::Deserialize;

/// A feature of a provider.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Feature {
    Make,
    Run,
    Streams,
    Live,
    Limit,
    Killed,
    Stop,
    Processes,
    Serve,
    Upload,
    Download,
    List,
    Labels,
    Find,
    Wake,
    Delete,
    Over,
    Pause,
    Broken,
}

/// All features with their descriptions, in page order.
pub(crate) const FEATURES: [(Feature, &str); 19] = [
    (Feature::Make, "create a sandbox"),
    (Feature::Run, "run a command and return its exit code"),
    (Feature::Streams, "separate output streams"),
    (Feature::Live, "stream output while a command runs"),
    (Feature::Limit, "report a timeout"),
    (Feature::Killed, "kill all processes after a timeout"),
    (Feature::Stop, "kill an abandoned command"),
    (Feature::Processes, "keep processes that outlive their call, with input and signals"),
    (Feature::Serve, "reach a server in a sandbox from outside, by HTTP and WebSocket"),
    (Feature::Upload, "upload a file byte for byte"),
    (Feature::Download, "download a file byte for byte"),
    (Feature::List, "list sandboxes"),
    (Feature::Labels, "list sandboxes by labels"),
    (Feature::Find, "connect by id or name, with its files"),
    (Feature::Wake, "resume a sleeping sandbox, with its files"),
    (Feature::Delete, "delete a sandbox"),
    (Feature::Over, "delete after the time to live"),
    (Feature::Pause, "respect a requested pause"),
    (Feature::Broken, "run a command once if the connection breaks, and report its end or an error"),
];

/// Asserts that the verified features are the declared ones.
pub(crate) fn exactly(declared: &[Feature], shown: impl IntoIterator<Item = Feature>) {
    let declared: BTreeSet<_> = declared.iter().copied().collect();
    let shown: BTreeSet<_> = shown.into_iter().collect();
    assert_eq!(shown, declared, "verified features and the table differ");
}

/// Parses the features printed by a program, one per line: `proved: NAME`.
pub(crate) fn parse_features(output: &str) -> BTreeSet<Feature> {
    let names = output.lines().filter_map(|line| line.strip_prefix("proved: "));
    let read = |name: &str| serde_json::from_value(name.trim().into());
    names.map(|name| read(name).unwrap_or_else(|error| panic!("{name}: {error}"))).collect()
}

/// Declares tests with an emulator that verify features. Each function returns the features it verified, which must
/// equal the declared ones.
macro_rules! shows {
    ($($test:ident: [$($feature:ident),+] by $shown:expr;)*) => {
        pub(crate) const SHOWN: &[(&str, &[crate::coverage::Feature])] =
            &[$((stringify!($test), &[$(crate::coverage::Feature::$feature),+])),*];

        $(#[tokio::test(flavor = "multi_thread")]
        async fn $test() {
            crate::coverage::exactly(&[$(crate::coverage::Feature::$feature),+], $shown.await);
        })*
    };
}
pub(crate) use shows;

#[test]
fn undeclared_and_unverified_features_are_detected() {
    let fails = |declared: &'static [Feature], shown: &'static [Feature]| {
        std::panic::catch_unwind(|| exactly(declared, shown.iter().copied())).is_err()
    };
    assert!(!fails(&[Feature::Make, Feature::Run], &[Feature::Run, Feature::Make, Feature::Run]));
    assert!(fails(&[Feature::Make], &[Feature::Make, Feature::Run]));
    assert!(fails(&[Feature::Make, Feature::Run], &[Feature::Make]));
    let text = parse_features("begun\nproved: make\nnot proved: run\nproved: broken\n");
    assert_eq!(text, BTreeSet::from([Feature::Make, Feature::Broken]));
}

#[test]
fn every_feature_is_listed_once() {
    let rows: Vec<_> = FEATURES.iter().map(|(feature, _)| *feature as usize).collect();
    assert_eq!(rows, (0..=Feature::Broken as usize).collect::<Vec<_>>());
}
