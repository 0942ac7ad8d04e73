//! The tables of `docs/providers.md`, which say of every provider what its adapter takes and what it was proved by.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tidebox_remote_adapters::{NetworkAccess, Options, PROVIDERS, provider};

use crate::emulator;

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

/// The names of all tests of this program.
fn tests() -> Vec<String> {
    let own = std::env::current_exe().expect("a program knows where it is");
    let list = Command::new(own).arg("--list").output().expect("it lists its tests");
    let lines = String::from_utf8(list.stdout).expect("names are text");
    lines.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
}

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

fn proved(root: &Path) -> String {
    let tests = tests();
    let is_there = |module: &str, name: &str| tests.iter().any(|test| test.starts_with(module) && test.contains(name));
    let traces = std::fs::read_dir(root.join("remote-adapters/traces")).expect("there are recordings");
    let traces: Vec<String> =
        traces.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned()).collect();
    let mut table = String::from(
        "| provider | contract over the emulator | its own client over the emulator | recordings | only a live account tells |\n\
         |---|---|---|---|---|\n",
    );
    for name in PROVIDERS {
        let contract = is_there(&format!("{name}::"), "keeps_the_contract");
        let client = is_there("clients::", name) || is_there(&format!("{name}::"), "official_client");
        let recorded = traces.iter().any(|file| file.starts_with(name));
        let open = OPEN.iter().find(|(known, _)| known == name).map(|(_, open)| *open);
        let open = open.unwrap_or_else(|| panic!("say in OPEN what only an account at {name} can tell"));
        let _ = writeln!(table, "| {name} | {} | {} | {} | {open} |", word(contract), word(client), word(recorded));
    }
    table
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_about_providers_says_what_the_code_takes_and_what_was_proved() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("docs/providers.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = page.split_once(BEGIN).expect("the page says where the tables begin");
    let (shown, after) = rest.split_once(END).expect("the page says where the tables end");
    let tables = format!(
        "What an adapter takes when a sandbox is made; everything else it refuses by name:\n\n{}\n\
         What holds each adapter:\n\n{}",
        taken(root).await,
        proved(root)
    );
    if std::env::var_os("TIDEBOX_WRITE_PAGES").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{tables}{END}{after}")).expect("the page can be written");
        return;
    }
    assert_eq!(shown, tables, "run this test with TIDEBOX_WRITE_PAGES=1 to write the tables anew");
}
