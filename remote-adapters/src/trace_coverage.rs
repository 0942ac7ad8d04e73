//! Coverage of the recordings in `traces`, by provider and feature. A test that uses a recording returns the features
//! that it verifies. `traces/coverage.json`, the source of the table in the documentation, must list exactly these
//! tests and features.

use std::collections::{BTreeMap, BTreeSet};

/// Declares the tests that use recordings: functions of the enclosing module with their features. Async tests follow
/// `waiting`.
macro_rules! covered {
    (
        $provider:literal { $($test:ident: [$($feature:ident),+];)* }
        waiting { $($waiting:ident: [$($waited:ident),+];)* }
    ) => {
        mod covered {
            $(#[test]
            fn $test() {
                crate::trace_coverage::assert_features(&[$(stringify!($feature)),+], &super::$test());
            })*
            $(#[tokio::test]
            async fn $waiting() {
                crate::trace_coverage::assert_features(&[$(stringify!($waited)),+], &super::$waiting().await);
            })*

            #[test]
            fn coverage_json_lists_these_tests() {
                let tests: &[(&str, &[&str])] = &[
                    $((stringify!($test), &[$(stringify!($feature)),+]),)*
                    $((stringify!($waiting), &[$(stringify!($waited)),+]),)*
                ];
                crate::trace_coverage::assert_listed($provider, tests);
            }
        }
    };
    ($provider:literal { $($tests:tt)* }) => { crate::trace_coverage::covered! { $provider { $($tests)* } waiting {} } };
}
pub(crate) use covered;

/// Asserts that the verified features are the declared ones.
pub(crate) fn assert_features(declared: &[&str], shown: &[&str]) {
    let set = |features: &[&str]| features.iter().map(|feature| (*feature).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(set(shown), set(declared), "verified and declared features differ");
}

/// Asserts that `traces/coverage.json` lists these tests and features.
pub(crate) fn assert_listed(provider: &str, tests: &[(&str, &[&str])]) {
    type Tests = BTreeMap<String, BTreeSet<String>>;
    let list: BTreeMap<String, Tests> =
        serde_json::from_str(include_str!("../traces/coverage.json")).expect("valid JSON");
    let set = |features: &&[&str]| features.iter().map(|feature| (*feature).to_owned()).collect();
    let tests: Tests = tests.iter().map(|(test, features)| ((*test).to_owned(), set(features))).collect();
    assert_eq!(list.get(provider), Some(&tests), "update traces/coverage.json");
}
