//! Runs the same script with an official client and with the adapter, through one proxy before one emulator: both must
//! send the same, except for the reviewed differences in `differences.toml`.

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
use crate::coverage;
use crate::coverage::Feature::{self, Delete, Download, Find, Labels, List, Make, Run, Upload};
use crate::driver::{driver, home};
use crate::node;

/// Features compared in the script of each client: the script reports each step, and both sides must send at least one
/// request or message in it.
pub(crate) const COMPARED: [(&str, Language, &[Feature]); 12] = [
    ("daytona", Python, &[Make, Run, Upload, Labels, Find, Delete]),
    ("daytona", JavaScript, &[Make, Run, Upload, Labels, Find, Delete]),
    ("deno", Python, &[Make, Run, Upload, Download, Find]),
    ("deno", JavaScript, &[Make, Run, Upload, Download, Labels, Find, Delete]),
    ("e2b", Python, &[Make, Run, Upload, Download, Labels, Find, Delete]),
    ("e2b", JavaScript, &[Make, Run, Upload, Download, Labels, Find, Delete]),
    ("langsmith", Python, &[Make, Run, Upload, Download, Labels, Find, Delete]),
    ("langsmith", JavaScript, &[Make, Upload, Download, List, Find, Delete]),
    ("modal", Python, &[Make, Run, Upload, Download, Labels, Find, Delete]),
    ("modal", JavaScript, &[Make, Run, Upload, Download, Labels, Find, Delete]),
    ("runloop", Python, &[Upload, Download, List, Find, Delete]),
    ("runloop", JavaScript, &[Run, Upload, Download, List, Find, Delete]),
];

/// Returns the step that covers a feature.
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

/// An intended difference.
#[derive(Debug, Deserialize)]
struct Difference {
    /// Client it applies to; `None` for all.
    client: Option<Language>,
    /// Differences as printed by the comparison. A star matches anything.
    what: Vec<String>,
    why: String,
}

fn differences() -> BTreeMap<String, Vec<Difference>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/remote_providers/wire/differences.toml");
    toml::from_str(&std::fs::read_to_string(file).expect("the list exists")).expect("the list is TOML")
}

/// Returns the list for the page: provider, difference and reason.
pub(crate) fn differences_table() -> String {
    let mut page = String::new();
    for (provider, differences) in differences() {
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
    let sandbox = provider.get_or_create(Selector::any_new()).await.expect("created");
    proxy.begin("execute");
    let request =
        ExecuteRequest::new("echo out; echo err >&2; exit 3").with_timeout(std::time::Duration::from_secs(60));
    let response = sandbox.execute(request).await.expect("the command runs");
    assert_eq!((&*response.stdout_text(), response.exit_code), ("out\n", Some(3)));
    proxy.begin("upload");
    let path = format!("{root}/file").into_bytes();
    for file in sandbox.upload_files(vec![File::new(path.clone(), "content\n")]).await.expect("a transfer") {
        file.result.expect("it exists");
    }
    proxy.begin("download");
    for file in sandbox.download_files(vec![path]).await.expect("a transfer") {
        assert_eq!(file.result.expect("it exists"), b"content\n");
    }
    proxy.begin("list");
    let labels = BTreeMap::from([("thread".to_owned(), "t 1".to_owned())]);
    let listed = provider.list(ListRequest { labels, cursor: None }).await.expect("a list");
    assert_eq!(listed.sandboxes.len(), 1);
    proxy.begin("connect");
    provider.get_or_create(Selector::Id(sandbox.id().clone())).await.expect("it exists");
    proxy.begin("delete");
    provider.delete(sandbox.id()).await.expect("deleted");
    proxy.begin("end");
    views(&proxy.take(), sandbox.id().as_str())
}

/// Returns the values sent by one side only.
fn compare(theirs: &[View], ours: &[View]) -> BTreeSet<String> {
    // Concurrent requests, such as the two output readers, arrive in random order; use the smallest.
    let least = |views: &[View], step: &str, name: &str| {
        let alike = views.iter().filter(|view| view.step == step && view.name == name);
        alike.map(|view| &view.values).min_by_key(|values| (values.len(), *values)).cloned()
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
                    let [theirs, ours] =
                        [&theirs, &ours].map(|values| values.get(field).map_or("nothing", String::as_str));
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
    let mut chunks = pattern.split('*');
    let Some(mut rest) = chunks.next().and_then(|beginning| found.strip_prefix(beginning)) else { return false };
    let mut is_open = false;
    for chunk in chunks {
        let Some(at) = rest.find(chunk) else { return false };
        rest = &rest[at + chunk.len()..];
        is_open = chunk.is_empty();
    }
    is_open || rest.is_empty()
}

async fn assert_same_requests(provider: &'static str, language: Language) {
    let proxy = Proxy::start(provider).await;
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
    let output = match tokio::task::spawn_blocking(run).await.expect("no panic") {
        Ok(output) => output,
        Err(missing) => {
            println!("skipped: the official client of {provider} for {language:?} is not installed: {missing}");
            return;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8_lossy(&output.stdout);
    let id = printed.lines().find_map(|line| line.strip_prefix("id ")).expect("the script prints the sandbox id");
    let theirs = views(&proxy.take(), id);
    let found = compare(&theirs, &ours);
    let listed = differences().remove(provider).unwrap_or_default();
    let concerns = |difference: &&Difference| difference.client.is_none_or(|client| client == language);
    let patterns: Vec<&String> = listed.iter().filter(concerns).flat_map(|difference| &difference.what).collect();
    let new: Vec<_> = found.iter().filter(|found| !patterns.iter().any(|pattern| matches(pattern, found))).collect();
    let gone: Vec<_> = patterns.iter().filter(|pattern| !found.iter().any(|found| matches(pattern, found))).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "{provider}, {language:?}: differences that are missing in differences.toml:\n{}\nlisted differences that no longer exist:\n{}",
        new.into_iter().map(|line| format!("  {line}\n")).collect::<String>(),
        gone.into_iter().map(|line| format!("  {line}\n")).collect::<String>(),
    );
    let alike = |feature: &Feature| {
        let both = |theirs: &View| ours.iter().any(|ours| (&ours.step, &ours.name) == (&theirs.step, &theirs.name));
        theirs.iter().any(|view| view.step == step(*feature) && both(view))
    };
    let declared = COMPARED.iter().find(|(of, by, _)| (*of, *by) == (provider, language)).expect("listed in the table");
    coverage::exactly(declared.2, coverage::parse_features(&printed).into_iter().filter(alike));
}

#[tokio::test(flavor = "multi_thread")]
async fn daytona_requests_match_the_python_client() {
    assert_same_requests("daytona", Language::Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deno_requests_match_the_python_client() {
    assert_same_requests("deno", Language::Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn e2b_requests_match_the_python_client() {
    assert_same_requests("e2b", Language::Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn langsmith_requests_match_the_python_client() {
    assert_same_requests("langsmith", Language::Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn modal_requests_match_the_python_client() {
    assert_same_requests("modal", Language::Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn runloop_requests_match_the_python_client() {
    assert_same_requests("runloop", Language::Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn daytona_requests_match_the_javascript_client() {
    assert_same_requests("daytona", Language::JavaScript).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deno_requests_match_the_javascript_client() {
    assert_same_requests("deno", Language::JavaScript).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn e2b_requests_match_the_javascript_client() {
    assert_same_requests("e2b", Language::JavaScript).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn langsmith_requests_match_the_javascript_client() {
    assert_same_requests("langsmith", Language::JavaScript).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn modal_requests_match_the_javascript_client() {
    assert_same_requests("modal", Language::JavaScript).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn runloop_requests_match_the_javascript_client() {
    assert_same_requests("runloop", Language::JavaScript).await;
}
