//! Generates the tables of `docs/provider-compatibility.md`: supported options and verified features of every provider.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use tidebox_remote_adapters::{NetworkAccess, Options, PROVIDERS, provider};

use crate::clients::{Language, SESSIONS};
use crate::coverage::{FEATURES, Feature};
use crate::emulator;
use crate::wire::COMPARED;

const START: &str = "<!-- tables: start -->\n";
const END: &str = "<!-- tables: end -->\n";

type SetOption = fn(&mut Options);

/// Options of sandbox creation.
const OPTION_COLUMNS: [(&str, SetOption); 8] = [
    ("`image`", |options| options.image = Some("base".to_owned())),
    ("`cpus`", |options| options.cpus = Some(2)),
    ("`memory_mib`", |options| options.memory_mib = Some(2048)),
    ("`disk_mib`", |options| options.disk_mib = Some(4096)),
    ("`region`", |options| options.region = Some("eu".to_owned())),
    ("no network", |options| options.network = NetworkAccess::Blocked),
    ("some hosts", |options| options.network = NetworkAccess::Only(vec!["example.com".to_owned()])),
    ("36 hours", |options| options.time_to_live = Duration::from_secs(36 * 60 * 60)),
];

/// Open questions that no emulator, client or recording can settle.
const OPEN: [(&str, &str); 6] = [
    ("daytona", "the time to resume from each state, and differences of the newer API"),
    ("deno", "which client is right where they differ (lifetimes, lists), and how it ends a session"),
    ("e2b", "the content of its templates, and the response of its proxy for a new sandbox"),
    ("langsmith", "whether events are enabled for every account, and the effect of an empty list of hosts"),
    ("modal", "accepted client versions, its error for a directory, and how long a new router may be unavailable"),
    ("runloop", "error bodies and limits, and where it truncates output"),
];

fn word(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "-" }
}

async fn options_table(root: &Path) -> String {
    let mut table = String::from("| provider |");
    for (name, _) in OPTION_COLUMNS {
        let _ = write!(table, " {name} |");
    }
    table.push_str("\n|---|");
    table.push_str(&"---|".repeat(OPTION_COLUMNS.len()));
    table.push('\n');
    for name in PROVIDERS {
        let plain = emulator(name).await.options();
        assert!(provider(name, plain.clone()).is_ok(), "{name} accepts the emulator's options");
        let page = root.join("docs").join(format!("{name}.md"));
        let linked = if page.is_file() { format!("[{name}]({name}.md)") } else { (*name).to_owned() };
        let _ = write!(table, "| {linked} |");
        for (_, ask) in OPTION_COLUMNS {
            let mut options = plain.clone();
            ask(&mut options);
            let _ = write!(table, " {} |", word(provider(name, options).is_ok()));
        }
        table.push('\n');
    }
    table
}

/// Emulator tests of a provider, with their features.
fn emulator_tests(provider: &str) -> &'static [(&'static str, &'static [Feature])] {
    match provider {
        "daytona" => crate::daytona::SHOWN,
        "deno" => crate::deno::SHOWN,
        "e2b" => crate::e2b::SHOWN,
        "langsmith" => crate::langsmith::SHOWN,
        "modal" => crate::modal::SHOWN,
        "runloop" => crate::runloop::SHOWN,
        other => panic!("say in SHOWN of a module what the tests of {other} show"),
    }
}

/// Recording tests by provider, with their features. The adapters' own tests fail if this list differs.
type RecordingTests = BTreeMap<String, BTreeMap<String, Vec<Feature>>>;

fn held() -> RecordingTests {
    serde_json::from_str(include_str!("../../remote-adapters/traces/coverage.json"))
        .expect("a list of tests and features")
}

/// Sources that verify a feature of a provider, one letter each.
fn witnesses(feature: Feature, provider: &str, held: &RecordingTests) -> String {
    let by_client = |table: &[(&str, Language, &[Feature])], language| {
        table.iter().any(|(of, by, features)| (*of, *by) == (provider, language) && features.contains(&feature))
    };
    let sessions = |language| by_client(&SESSIONS, language);
    let compared = |language| by_client(&COMPARED, language);
    let recorded = held.get(provider).is_some_and(|tests| tests.values().any(|features| features.contains(&feature)));
    let witnesses = [
        ("E", emulator_tests(provider).iter().any(|(_, features)| features.contains(&feature))),
        ("P", sessions(Language::Python)),
        ("J", sessions(Language::JavaScript)),
        ("W", compared(Language::Python) || compared(Language::JavaScript)),
        ("R", recorded),
    ];
    let letters: Vec<&str> = witnesses.iter().filter(|(_, does)| *does).map(|(letter, _)| *letter).collect();
    if letters.is_empty() { "-".to_owned() } else { letters.join(" ") }
}

/// Table of features by provider, with the sources that verify each.
fn features_table() -> String {
    let held = held();
    let mut table = format!("| |{}\n|---|", PROVIDERS.iter().map(|name| format!(" {name} |")).collect::<String>());
    table.push_str(&"---|".repeat(PROVIDERS.len()));
    for (feature, what) in FEATURES {
        let _ = write!(table, "\n| {what} |");
        for name in PROVIDERS {
            let _ = write!(table, " {} |", witnesses(feature, name, &held));
        }
    }
    table.push_str("\n\nUnknown without a live account:");
    for name in PROVIDERS {
        let open = OPEN.iter().find(|(known, _)| known == name).map(|(_, open)| *open);
        let open = open.unwrap_or_else(|| panic!("add {name} to OPEN"));
        let _ = write!(table, "\n- {name}: {open}");
    }
    table + "\n"
}

const WITNESSES: &str = "\
## Features
Verified features and how they were verified. The tests print the features that they verify, and fail if this table differs.
- E: the adapter with the emulator (`tests/remote_providers`, including the suites of `core/src/conformance`).
- P, J: the official client for Python or JavaScript with the emulator (`tests/remote_providers/clients`).
- W: the adapter and an official client sent the same requests through one proxy, except for the list below.
- R: the adapter is compared with recorded requests and responses of the official client; at E2B also with responses of the \
real daemon, at Modal with messages of the client's classes (`remote-adapters/traces`).
";

#[tokio::test(flavor = "multi_thread")]
async fn the_provider_page_matches_the_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("docs/provider-compatibility.md");
    let page = std::fs::read_to_string(&path).expect("the page exists");
    let (before, rest) = page.split_once(START).expect("the page has a marker for the tables");
    let (shown, after) = rest.split_once(END).expect("the page has an end marker");
    let tables = format!(
        "## Options\nOptions that each adapter supports for a new sandbox. Others are rejected by name.\n\n{}\n\
         {WITNESSES}\n{}\n\
         ## Differences from the official clients\n\
         Requests that differ from those of the official clients, with the reason and the values `client / adapter`. A client is named \
         if only that one differs. A test compares them through one proxy and fails for any other difference. Identifiers, times and \
         headers that only identify the client are omitted.\n{}",
        options_table(root).await,
        features_table(),
        crate::wire::differences_table()
    );
    if std::env::var_os("TIDEBOX_WRITE_PAGES").is_some() {
        std::fs::write(&path, format!("{before}{START}{tables}{END}{after}")).expect("the page can be written");
        return;
    }
    assert_eq!(shown, tables, "run this test with TIDEBOX_WRITE_PAGES=1 to regenerate the tables");
}
