//! What the recordings in `traces` hold of each provider, feature by feature. A test that holds a recording returns the features that it
//! has shown by it, and `traces/held.json`, from which the page about providers is written, names exactly these tests and features.

use std::collections::{BTreeMap, BTreeSet};

/// Tests that hold recordings: functions of the module around, each with what it shows. Those that wait stand apart.
macro_rules! held {
    (
        $provider:literal { $($test:ident: [$($feature:ident),+];)* }
        waiting { $($waiting:ident: [$($waited:ident),+];)* }
    ) => {
        mod held {
            $(#[test]
            fn $test() {
                crate::recorded::exactly(&[$(stringify!($feature)),+], &super::$test());
            })*
            $(#[tokio::test]
            async fn $waiting() {
                crate::recorded::exactly(&[$(stringify!($waited)),+], &super::$waiting().await);
            })*

            #[test]
            fn the_list_of_what_recordings_hold_names_these_tests() {
                let tests: &[(&str, &[&str])] = &[
                    $((stringify!($test), &[$(stringify!($feature)),+]),)*
                    $((stringify!($waiting), &[$(stringify!($waited)),+]),)*
                ];
                crate::recorded::listed($provider, tests);
            }
        }
    };
    ($provider:literal { $($tests:tt)* }) => { crate::recorded::held! { $provider { $($tests)* } waiting {} } };
}
pub(crate) use held;

/// Whether what was shown is what was declared.
pub(crate) fn exactly(declared: &[&str], shown: &[&str]) {
    let set = |features: &[&str]| features.iter().map(|feature| (*feature).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(set(shown), set(declared), "what was shown, and what is declared");
}

/// Whether `traces/held.json` says the same.
pub(crate) fn listed(provider: &str, tests: &[(&str, &[&str])]) {
    type Tests = BTreeMap<String, BTreeSet<String>>;
    let list: BTreeMap<String, Tests> = serde_json::from_str(include_str!("../traces/held.json")).expect("it is JSON");
    let set = |features: &&[&str]| features.iter().map(|feature| (*feature).to_owned()).collect();
    let tests: Tests = tests.iter().map(|(test, features)| ((*test).to_owned(), set(features))).collect();
    assert_eq!(list.get(provider), Some(&tests), "write what these tests hold to traces/held.json");
}
