//! The same script by an official client and by our adapter, through one proxy before one emulator: what is sent is the same,
//! but for what stands in `differences.toml` with its reason.

mod message;
mod proxy;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use tidebox::{ExecuteRequest, ListRequest, Selector, Upload as File};

use self::proxy::Proxy;
use self::view::{View, views};
use crate::adapter;
use crate::clients::Language::{self, JavaScript, Python};
use crate::driver::{driver, home};
use crate::node;
use crate::proved;
use crate::proved::Feature::{self, Delete, Download, Find, Labels, List, Make, Run, Upload};

/// What is compared in the script of each client: it says of each thing that it did it, and at least one request or message of it is
/// sent by both sides.
pub(crate) const COMPARED: [(&str, Language, &[Feature]); 11] = [
    ("daytona", Python, &[Make, Run, Upload, Labels, Find, Delete]),
    ("daytona", JavaScript, &[Make, Run, Upload, Labels, Find, Delete]),
    ("deno", Python, &[Make, Run, Upload, Download, Find]),
    ("deno", JavaScript, &[Make, Run, Upload, Download, Labels, Find, Delete]),
    ("e2b", Python, &[Make, Run, Upload, Download, Labels, Find, Delete]),
    ("e2b", JavaScript, &[Make, Run, Upload, Download, Labels, Find, Delete]),
    ("langsmith", Python, &[Make, Run, Upload, Download, Labels, Find, Delete]),
    ("langsmith", JavaScript, &[Make, Upload, Download, List, Find, Delete]),
    ("modal", Python, &[Make, Run, Upload, Download, Labels, Find, Delete]),
    ("runloop", Python, &[Upload, Download, List, Find, Delete]),
    ("runloop", JavaScript, &[Run, Upload, Download, List, Find, Delete]),
];

/// The step in which a feature is seen.
fn step(feature: Feature) -> &'static str {
    match feature {
        Make => "create",
        Run => "execute",
        Upload => "upload",
        Download => "download",
        List | Labels => "list",
        Find => "connect",
        Delete => "delete",
        other => panic!("the script does not do {other:?}"),
    }
}

/// What differs on purpose.
#[derive(Debug, Deserialize)]
struct Difference {
    /// From which client; none says from all.
    client: Option<Language>,
    /// Each as the comparison prints it. A star stands for anything.
    what: Vec<String>,
    why: String,
}

fn listed() -> BTreeMap<String, Vec<Difference>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/remote_providers/wire/differences.toml");
    toml::from_str(&std::fs::read_to_string(file).expect("the list is there")).expect("the list is TOML")
}

/// The list for the page: provider, what differs, and why.
pub(crate) fn page() -> String {
    let mut page = String::new();
    for (provider, differences) in listed() {
        let _ = writeln!(page, "\n**{provider}**");
        for Difference { client, what, why } in differences {
            let what: Vec<_> = what.iter().map(|what| format!("`{}`", what.replace('`', "'"))).collect();
            let client = client.map_or_else(String::new, |client| format!("{client:?}: "));
            let _ = writeln!(page, "- {client}{why}: {}.", what.join("; "));
        }
    }
    page
}

async fn ours(proxy: &Proxy, root: &str) -> Vec<View> {
    let mut options = proxy.serving.options();
    options.labels.insert("thread".to_owned(), "t 1".to_owned());
    let provider = adapter(proxy.serving.provider(), options);
    proxy.begin("create");
    let sandbox = provider.get_or_create(Selector::any_new()).await.expect("it is made");
    proxy.begin("execute");
    let request =
        ExecuteRequest::new("echo out; echo err >&2; exit 3").with_timeout(std::time::Duration::from_secs(60));
    let response = sandbox.execute(request).await.expect("it runs");
    assert_eq!((&*response.stdout_text(), response.exit_code), ("out\n", Some(3)));
    proxy.begin("upload");
    let path = format!("{root}/file").into_bytes();
    for file in sandbox.upload_files(vec![File::new(path.clone(), "content\n")]).await.expect("a transfer") {
        file.result.expect("it is there");
    }
    proxy.begin("download");
    for file in sandbox.download_files(vec![path]).await.expect("a transfer") {
        assert_eq!(file.result.expect("it is there"), b"content\n");
    }
    proxy.begin("list");
    let labels = BTreeMap::from([("thread".to_owned(), "t 1".to_owned())]);
    let listed = provider.list(ListRequest { labels, cursor: None }).await.expect("a list");
    assert_eq!(listed.sandboxes.len(), 1);
    proxy.begin("connect");
    provider.get_or_create(Selector::Id(sandbox.id().clone())).await.expect("it is there");
    proxy.begin("delete");
    provider.delete(sandbox.id()).await.expect("it is deleted");
    proxy.begin("end");
    views(&proxy.take(), sandbox.id().as_str())
}

/// What one side said and the other did not.
fn compare(theirs: &[View], ours: &[View]) -> BTreeSet<String> {
    // Some are sent at the same time, the readers of both outputs for one, and which comes first is chance: the least is.
    let least = |views: &[View], step: &str, name: &str| {
        let alike = views.iter().filter(|view| view.step == step && view.name == name);
        alike.map(|view| &view.said).min_by_key(|said| (said.len(), *said)).cloned()
    };
    let mut found = BTreeSet::new();
    for View { step, name, .. } in theirs.iter().chain(ours) {
        if step == "end" {
            continue;
        }
        match (least(theirs, step, name), least(ours, step, name)) {
            (Some(theirs), Some(ours)) => {
                let fields: BTreeSet<_> = theirs.keys().chain(ours.keys()).collect();
                for field in fields.into_iter().filter(|field| theirs.get(*field) != ours.get(*field)) {
                    let [theirs, ours] = [&theirs, &ours].map(|said| said.get(field).map_or("nothing", String::as_str));
                    found.insert(format!("{step}: {name}: {field}: {theirs} / {ours}"));
                }
            }
            (Some(_), None) => drop(found.insert(format!("{step}: {name}: only the client's"))),
            (None, _) => drop(found.insert(format!("{step}: {name}: only ours"))),
        }
    }
    found
}

fn matches(pattern: &str, found: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|beginning| found.strip_prefix(beginning)) else { return false };
    let mut is_open = false;
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
        is_open = piece.is_empty();
    }
    is_open || rest.is_empty()
}

async fn hold(provider: &'static str, language: Language) {
    let proxy = Proxy::of(provider).await;
    let root = home(provider);
    let ours = ours(&proxy, root).await;
    let steps = proxy.steps();
    let variables = proxy.serving.variables().to_vec();
    let run = move || -> Result<std::process::Output, String> {
        let mut command: Command = match language {
            Language::Python => driver(provider)?,
            Language::JavaScript => node::driver(provider)?,
        };
        command.arg("wire").env("TIDEBOX_STEPS", steps).envs(variables);
        command.output().map_err(|error| error.to_string())
    };
    let output = match tokio::task::spawn_blocking(run).await.expect("it does not panic") {
        Ok(output) => output,
        Err(missing) => {
            println!("skipped: the official client of {provider} for {language:?} is not there: {missing}");
            return;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stdout);
    let id = said.lines().find_map(|line| line.strip_prefix("id ")).expect("it says which sandbox it made");
    let theirs = views(&proxy.take(), id);
    let found = compare(&theirs, &ours);
    let listed = listed().remove(provider).unwrap_or_default();
    let concerns = |difference: &&Difference| difference.client.is_none_or(|client| client == language);
    let patterns: Vec<&String> = listed.iter().filter(concerns).flat_map(|difference| &difference.what).collect();
    let new: Vec<_> = found.iter().filter(|found| !patterns.iter().any(|pattern| matches(pattern, found))).collect();
    let gone: Vec<_> = patterns.iter().filter(|pattern| !found.iter().any(|found| matches(pattern, found))).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "{provider}, {language:?}: what is not in differences.toml:\n{}\nwhat is in it and is no longer so:\n{}",
        new.into_iter().map(|line| format!("  {line}\n")).collect::<String>(),
        gone.into_iter().map(|line| format!("  {line}\n")).collect::<String>(),
    );
    let alike = |feature: &Feature| {
        let both = |theirs: &View| ours.iter().any(|ours| (&ours.step, &ours.name) == (&theirs.step, &theirs.name));
        theirs.iter().any(|view| view.step == step(*feature) && both(view))
    };
    let declared = COMPARED.iter().find(|(of, by, _)| (*of, *by) == (provider, language)).expect("it is in the table");
    proved::exactly(declared.2, proved::said(&said).into_iter().filter(alike));
}

#[tokio::test(flavor = "multi_thread")]
async fn daytona_sees_of_us_what_it_sees_of_its_own_client() {
    hold("daytona", Language::Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deno_sees_of_us_what_it_sees_of_its_own_client() {
    hold("deno", Language::Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn e2b_sees_of_us_what_it_sees_of_its_own_client() {
    hold("e2b", Language::Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn langsmith_sees_of_us_what_it_sees_of_its_own_client() {
    hold("langsmith", Language::Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn modal_sees_of_us_what_it_sees_of_its_own_client() {
    hold("modal", Language::Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn runloop_sees_of_us_what_it_sees_of_its_own_client() {
    hold("runloop", Language::Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn daytona_sees_of_us_what_it_sees_of_its_own_client_for_javascript() {
    hold("daytona", Language::JavaScript).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deno_sees_of_us_what_it_sees_of_its_own_client_for_javascript() {
    hold("deno", Language::JavaScript).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn e2b_sees_of_us_what_it_sees_of_its_own_client_for_javascript() {
    hold("e2b", Language::JavaScript).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn langsmith_sees_of_us_what_it_sees_of_its_own_client_for_javascript() {
    hold("langsmith", Language::JavaScript).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn runloop_sees_of_us_what_it_sees_of_its_own_client_for_javascript() {
    hold("runloop", Language::JavaScript).await;
}
