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

/// A feature, and what shows it: words of the tests over the emulator, of the official client's session, of the recordings. All
/// words of one witness mean the same in the vocabulary of different providers.
struct Feature {
    name: &'static str,
    tests: &'static [&'static str],
    session: &'static [&'static str],
    recordings: &'static [&'static str],
}

const CONTRACT: &[&str] = &["the_adapter_of"];
const LIVES: &[&str] = &["the_provider_of"];

const FEATURES: [Feature; 12] = [
    Feature { name: "make", tests: LIVES, session: &["create("], recordings: &["create", "SandboxCreateV2Request"] },
    Feature {
        name: "run, both streams, exit code",
        tests: CONTRACT,
        session: &["echo err >&2"],
        recordings: &["exec", "run over", "spawn", "TaskExecStartRequest"],
    },
    Feature {
        name: "output as it comes",
        tests: CONTRACT,
        session: &["on_stdout=", "stdout=pieces", "pieces = list(", "logs_async", "for await"],
        recordings: &["exec ok", "stream", "run over SSE", "spawn", "TaskExecStdioRead"],
    },
    Feature {
        name: "time limit, killed there",
        tests: CONTRACT,
        session: &["timeout=1)", ".kill()", "endless"],
        recordings: &["timeout (client", "exec timeout", "kill", "timeout_seconds", "timeout_secs", "TaskExecWait"],
    },
    Feature {
        name: "upload",
        tests: CONTRACT,
        session: &["upload", "write"],
        recordings: &["upload", "write", "TaskExecStdinWriteStreamRequest"],
    },
    Feature {
        name: "download",
        tests: CONTRACT,
        session: &["download", "read"],
        recordings: &["download", "readFile", "cat)", "TaskExecStdioReadResponse"],
    },
    Feature {
        name: "list by labels",
        tests: LIVES,
        session: &["list("],
        recordings: &["list", "SandboxListV2Request"],
    },
    Feature {
        name: "find by id",
        tests: LIVES,
        session: &["connect(", "get(", "from_id(", "get_sandbox("],
        recordings: &["connect", "get", "from_id", "RouterAccessRequest", "SandboxGetTaskId"],
    },
    Feature {
        name: "wake",
        tests: &["woken", "a_sandbox_that_sleeps"],
        session: &["start()", "resume()", "start_sandbox(", "sandbox.pause()"],
        recordings: &["\"resume (raw)\"", "\"phase\": \"start\"", "\"phase\": \"pause\""],
    },
    Feature {
        name: "delete",
        tests: LIVES,
        session: &["kill()", "delete(", "shutdown()", "terminate()", "delete_sandbox("],
        recordings: &["delete", "kill", "SandboxTerminate", "SandboxRequest"],
    },
    Feature {
        name: "pauses that are asked for",
        tests: &["a_refusal_with_a_time", "a_pause_that"],
        session: &[],
        recordings: &[],
    },
    Feature {
        name: "broken connections, nothing twice",
        tests: &["breaks", "broken", "lost", "done_once", "sent_twice"],
        session: &[],
        recordings: &[],
    },
];

fn read_all(folder: &Path, beginning: &str) -> String {
    let files = std::fs::read_dir(folder).expect("the folder is there").map(|file| file.expect("a file").path());
    let named = |path: &std::path::PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(beginning)) && path.is_file()
    };
    files.filter(named).map(|path| std::fs::read_to_string(path).expect("it is text")).collect()
}

/// Features by providers, with those who witness each.
fn witnesses(root: &Path) -> String {
    let tests = tests();
    let mut table = format!("| |{} |\n|---|", PROVIDERS.iter().map(|name| format!(" {name} |")).collect::<String>());
    table = table.replace("| |\n", "|\n") + &"---|".repeat(PROVIDERS.len()) + "\n";
    for feature in FEATURES {
        let _ = write!(table, "| {} |", feature.name);
        for name in PROVIDERS {
            let module = format!("{name}::");
            let holds = |test: &String| {
                test.strip_prefix(&module).is_some_and(|test| feature.tests.iter().any(|word| test.contains(word)))
            };
            let session = read_all(&root.join("tests/remote_providers/clients"), &format!("{name}_session"));
            let recorded = read_all(&root.join("remote-adapters/traces"), name);
            let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
            let mut shown = Vec::new();
            shown.extend(tests.iter().any(holds).then_some("E"));
            shown.extend(has(&session, feature.session).then_some("C"));
            shown.extend(has(&recorded, feature.recordings).then_some("R"));
            let _ = write!(table, " {} |", if shown.is_empty() { "-".to_owned() } else { shown.join(" ") });
        }
        table.push('\n');
    }
    table
}

fn proved(root: &Path) -> String {
    let tests = tests();
    let is_there = |module: &str, name: &str| tests.iter().any(|test| test.starts_with(module) && test.contains(name));
    let mut table = String::from(
        "| provider | contract over the emulator | its own client over the emulator | the same script by both through a proxy | recordings | only a live account tells |\n\
         |---|---|---|---|---|---|\n",
    );
    for name in PROVIDERS {
        let contract = is_there(&format!("{name}::"), "keeps_the_contract");
        let clients: Vec<&str> =
            [("Python", format!("client_of_{name}_works")), ("JavaScript", format!("{name}_in_javascript"))]
                .iter()
                .filter(|(_, test)| is_there("clients::", test))
                .map(|(language, _)| *language)
                .collect();
        let mut wire = Vec::new();
        wire.extend(
            is_there("wire::", &format!("{name}_sees_of_us_what_it_sees_of_its_own_client")).then_some("Python"),
        );
        wire.extend(
            is_there("wire::", &format!("{name}_sees_of_us_what_it_sees_of_its_own_client_for_j"))
                .then_some("JavaScript"),
        );
        let wire = if wire.is_empty() { "-".to_owned() } else { wire.join(", ") };
        let recorded = !read_all(&root.join("remote-adapters/traces"), name).is_empty();
        let open = OPEN.iter().find(|(known, _)| known == name).map(|(_, open)| *open);
        let open = open.unwrap_or_else(|| panic!("say in OPEN what only an account at {name} can tell"));
        let clients = if clients.is_empty() { "-".to_owned() } else { clients.join(", ") };
        let _ = writeln!(table, "| {name} | {} | {clients} | {wire} | {} | {open} |", word(contract), word(recorded));
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
         What holds each adapter:\n\n{}\n\
         What is shown of each feature, and by whom: E the adapter over the emulator, C the provider's own client over the emulator, \
         R requests of its own client (or answers of its real daemon) that were recorded and that the adapter is held to. None of \
         it is the live service:\n\n{}\n\
         Where the adapter sends something else than the official clients that do the same, and why; a client is named where \
         only that one differs. A test plays each and ours through one proxy and fails when anything else differs, or when one of these no longer does; identifiers, times and \
         headers that only name the client are left out. The client's value stands before the stroke, ours behind it:\n{}",
        taken(root).await,
        proved(root),
        witnesses(root),
        crate::wire::page()
    );
    if std::env::var_os("TIDEBOX_WRITE_PAGES").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{tables}{END}{after}")).expect("the page can be written");
        return;
    }
    assert_eq!(shown, tables, "run this test with TIDEBOX_WRITE_PAGES=1 to write the tables anew");
}
