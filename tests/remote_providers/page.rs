//! The tables of `docs/providers.md`, which say of every provider what its adapter takes and what it was proved by.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use tidebox_remote_adapters::{NetworkAccess, Options, PROVIDERS, provider};

use crate::clients::{Language, SESSIONS};
use crate::emulator;
use crate::proved::{FEATURES, Feature};
use crate::wire::COMPARED;

const BEGIN: &str = "<!-- tables: begin -->\n";
const END: &str = "<!-- tables: end -->\n";

type Ask = fn(&mut Options);

/// What may be asked for when a sandbox is made.
const ASKED: [(&str, Ask); 8] = [
    ("`image`", |options| options.image = Some("base".to_owned())),
    ("`cpus`", |options| options.cpus = Some(2)),
    ("`memory_mib`", |options| options.memory_mib = Some(2048)),
    ("`disk_mib`", |options| options.disk_mib = Some(4096)),
    ("`region`", |options| options.region = Some("eu".to_owned())),
    ("no network", |options| options.network = NetworkAccess::Blocked),
    ("some hosts", |options| options.network = NetworkAccess::Only(vec!["example.com".to_owned()])),
    ("36 hours", |options| options.time_to_live = Duration::from_secs(36 * 60 * 60)),
];

/// What no emulator, no client and no recording tells.
const OPEN: [(&str, &str); 6] = [
    ("daytona", "how long waking takes from each state of sleep, and whether its newer interface answers otherwise"),
    ("deno", "which of its two clients is right where they differ (lifetimes, lists), and how it ends a session"),
    ("e2b", "what its templates hold, and how its proxy answers for a sandbox that was just made"),
    ("langsmith", "whether events are there for every account, and what an empty list of hosts lets through"),
    (
        "modal",
        "which clients' versions it takes, how it refuses a directory, and how long a router may be away at first",
    ),
    ("runloop", "bodies of its errors and their limits, and where it cuts output"),
];

fn word(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "-" }
}

async fn taken(root: &Path) -> String {
    let mut table = String::from("| provider |");
    for (name, _) in ASKED {
        let _ = write!(table, " {name} |");
    }
    table.push_str("\n|---|");
    table.push_str(&"---|".repeat(ASKED.len()));
    table.push('\n');
    for name in PROVIDERS {
        let plain = emulator(name).await.options();
        assert!(provider(name, plain.clone()).is_ok(), "{name} takes what points it to its emulator");
        let page = root.join("docs").join(format!("{name}.md"));
        let linked = if page.is_file() { format!("[{name}]({name}.md)") } else { (*name).to_owned() };
        let _ = write!(table, "| {linked} |");
        for (_, ask) in ASKED {
            let mut options = plain.clone();
            ask(&mut options);
            let _ = write!(table, " {} |", word(provider(name, options).is_ok()));
        }
        table.push('\n');
    }
    table
}

/// Tests over the emulator of a provider, and what they show.
fn shown(provider: &str) -> &'static [(&'static str, &'static [Feature])] {
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

/// Tests of recordings by provider, and what they hold. The adapters' own tests fail when it is anything else.
type Held = BTreeMap<String, BTreeMap<String, Vec<Feature>>>;

fn held() -> Held {
    serde_json::from_str(include_str!("../../remote-adapters/traces/held.json")).expect("a list of tests and features")
}

/// Who shows a feature of a provider, a letter each.
fn witnesses(feature: Feature, provider: &str, held: &Held) -> String {
    let by_client = |table: &[(&str, Language, &[Feature])], language| {
        table.iter().any(|(of, by, features)| (*of, *by) == (provider, language) && features.contains(&feature))
    };
    let sessions = |language| by_client(&SESSIONS, language);
    let compared = |language| by_client(&COMPARED, language);
    let recorded = held.get(provider).is_some_and(|tests| tests.values().any(|features| features.contains(&feature)));
    let witnesses = [
        ("E", shown(provider).iter().any(|(_, features)| features.contains(&feature))),
        ("P", sessions(Language::Python)),
        ("J", sessions(Language::JavaScript)),
        ("W", compared(Language::Python) || compared(Language::JavaScript)),
        ("R", recorded),
    ];
    let letters: Vec<&str> = witnesses.iter().filter(|(_, does)| *does).map(|(letter, _)| *letter).collect();
    if letters.is_empty() { "-".to_owned() } else { letters.join(" ") }
}

/// Features by providers, with those who witness each.
fn proved() -> String {
    let held = held();
    let mut table = format!("| |{}\n|---|", PROVIDERS.iter().map(|name| format!(" {name} |")).collect::<String>());
    table.push_str(&"---|".repeat(PROVIDERS.len()));
    for (feature, what) in FEATURES {
        let _ = write!(table, "\n| {what} |");
        for name in PROVIDERS {
            let _ = write!(table, " {} |", witnesses(feature, name, &held));
        }
    }
    table.push_str("\n\nWhat only a live account tells:");
    for name in PROVIDERS {
        let open = OPEN.iter().find(|(known, _)| known == name).map(|(_, open)| *open);
        let open = open.unwrap_or_else(|| panic!("say in OPEN what only an account at {name} can tell"));
        let _ = write!(table, "\n- {name}: {open}");
    }
    table + "\n"
}

const WITNESSES: &str = "\
What was shown of each feature, and by whom. Each of these programs says what it shows when it has shown it, and fails when that is not \
what this table is written from. None of it is the live service:
- E: the adapter over the emulator (`tests/remote_providers`, of which the suites of `core/src/conformance` are a part).
- P, J: the provider's own client for Python or JavaScript over the emulator, which it cannot tell from the service \
(`tests/remote_providers/clients`). There are clients for Python of all, and for JavaScript of all but Modal.
- W: the adapter and a client of the provider did it through one proxy, and what both sent is the same but for the list below.
- R: requests of the provider's own client, and answers that it takes, were recorded once, and the adapter is held to them; at E2B also \
answers of its real daemon, at Modal messages that the client's own classes wrote (`remote-adapters/traces`).
";

#[tokio::test(flavor = "multi_thread")]
async fn the_page_about_providers_says_what_the_code_takes_and_what_was_proved() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("docs/providers.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = page.split_once(BEGIN).expect("the page says where the tables begin");
    let (shown, after) = rest.split_once(END).expect("the page says where the tables end");
    let tables = format!(
        "What an adapter takes when a sandbox is made; everything else it refuses by name:\n\n{}\n\
         {WITNESSES}\n{}\n\
         Where the adapter sends something else than the official clients that do the same, and why; a client is named where \
         only that one differs. A test plays each and ours through one proxy and fails when anything else differs, or when one of these no longer does; identifiers, times and \
         headers that only name the client are left out. The client's value stands before the stroke, ours behind it:\n{}",
        taken(root).await,
        proved(),
        crate::wire::page()
    );
    if std::env::var_os("TIDEBOX_WRITE_PAGES").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{tables}{END}{after}")).expect("the page can be written");
        return;
    }
    assert_eq!(shown, tables, "run this test with TIDEBOX_WRITE_PAGES=1 to write the tables anew");
}
