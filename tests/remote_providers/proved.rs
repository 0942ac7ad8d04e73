//! What is proved of each provider, feature by feature, and by whom.
//!
//! Whoever proves a feature declares it in a table, and says it again when it was shown: a test fails where both are not the same. The
//! page about providers is written from the tables.

use std::collections::BTreeSet;

use serde::Deserialize;

/// What a provider may be able to do.
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

/// Every feature and what has to be seen of it, in the order of the page.
pub(crate) const FEATURES: [(Feature, &str); 17] = [
    (Feature::Make, "a sandbox is made"),
    (Feature::Run, "a command runs, and its exit code is told"),
    (Feature::Streams, "standard output and standard error are told apart"),
    (Feature::Live, "output is seen while the command that wrote it runs on"),
    (Feature::Limit, "a command whose time is up is told as such"),
    (Feature::Killed, "nothing of a command whose time was up runs on there"),
    (Feature::Stop, "a command that is given up before its time ends there"),
    (Feature::Upload, "every byte of a file arrives there"),
    (Feature::Download, "every byte of a file arrives here"),
    (Feature::List, "what there is is listed"),
    (Feature::Labels, "sandboxes are listed by labels"),
    (Feature::Find, "a sandbox is found by its id or name, with its files"),
    (Feature::Wake, "one that sleeps is woken, with its files"),
    (Feature::Delete, "one that is deleted is gone"),
    (Feature::Over, "one whose time is over is gone"),
    (Feature::Pause, "a pause that is asked for is kept"),
    (Feature::Broken, "a connection that breaks under a command: it runs once, and its end is known or an error"),
];

/// Whether what was shown is what was declared.
pub(crate) fn exactly(declared: &[Feature], shown: impl IntoIterator<Item = Feature>) {
    let declared: BTreeSet<_> = declared.iter().copied().collect();
    let shown: BTreeSet<_> = shown.into_iter().collect();
    assert_eq!(shown, declared, "what was shown, and what the table says of it");
}

/// The features that a program said it has shown, each on a line of its own: `proved: NAME`.
pub(crate) fn said(output: &str) -> BTreeSet<Feature> {
    let names = output.lines().filter_map(|line| line.strip_prefix("proved: "));
    let read = |name: &str| serde_json::from_value(name.trim().into());
    names.map(|name| read(name).unwrap_or_else(|error| panic!("{name}: {error}"))).collect()
}

/// Tests over an emulator that prove features. Each is a function that returns what it has shown, which is to be what is declared here.
macro_rules! shows {
    ($($test:ident: [$($feature:ident),+] by $shown:expr;)*) => {
        pub(crate) const SHOWN: &[(&str, &[crate::proved::Feature])] =
            &[$((stringify!($test), &[$(crate::proved::Feature::$feature),+])),*];

        $(#[tokio::test(flavor = "multi_thread")]
        async fn $test() {
            crate::proved::exactly(&[$(crate::proved::Feature::$feature),+], $shown.await);
        })*
    };
}
pub(crate) use shows;

#[test]
fn a_feature_that_is_shown_and_not_declared_is_noticed_and_so_is_the_reverse() {
    let fails = |declared: &'static [Feature], shown: &'static [Feature]| {
        std::panic::catch_unwind(|| exactly(declared, shown.iter().copied())).is_err()
    };
    assert!(!fails(&[Feature::Make, Feature::Run], &[Feature::Run, Feature::Make, Feature::Run]));
    assert!(fails(&[Feature::Make], &[Feature::Make, Feature::Run]));
    assert!(fails(&[Feature::Make, Feature::Run], &[Feature::Make]));
    let said = said("begun\nproved: make\nnot proved: run\nproved: broken\n");
    assert_eq!(said, BTreeSet::from([Feature::Make, Feature::Broken]));
}

#[test]
fn every_feature_is_a_row_of_the_page_once() {
    let rows: Vec<_> = FEATURES.iter().map(|(feature, _)| *feature as usize).collect();
    assert_eq!(rows, (0..=Feature::Broken as usize).collect::<Vec<_>>());
}
