//! The guests of `userland/hostile` through the JavaScript class: each ends as it does natively, the class throws nothing, no
//! rejection is unhandled, and the sandbox stays usable.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value, json};
use tidebox::{ExecuteRequest, ExecuteResponse, Result, SandboxBackend, ShellMode};

use crate::backend::Class;
use crate::hostile_guest::{Guest, Table};
use crate::node::Node;

/// Maximum bytes of a stream in a message.
const SHOWN: usize = 600;

/// Guests with other results in JavaScript, and the reasons. They run, and the sandbox must stay usable.
const OTHERWISE: [(&str, &str); 2] = [
    ("slow_compile.wat", "V8 compiles only what runs, so the module is not slow to compile"),
    ("write_flood.wat", "what one call writes for seconds is gone with its Worker, and how much it was"),
];

/// Further ones without JSPI.
const OTHERWISE_WITHOUT_JSPI: [(&str, &str); 6] = [
    (
        "fifo_without_peer.sh",
        "nothing waits for the other end of a named pipe; what is written is kept for who reads it later",
    ),
    ("memory_of_sort.sh", "a pipe that holds too much is cut before the reader runs"),
    ("decompression_bomb.sh", "a pipe that holds too much is cut before the reader runs"),
    ("fork_bomb.sh", "programs nest on one stack instead of filling the table of processes"),
    ("sockets.wat", "sockets need programs that run at the same time"),
    ("network.sh", "a connection within the sandbox is not supported, which the message says instead of a refusal"),
];

/// Guests that require concurrent processes.
const AT_THE_SAME_TIME: [&str; 2] = ["timeout_with_ignored_signals.sh", "daemon.sh"];

/// Returns the reason if a guest is skipped.
fn left_out(guest: &Guest, jspi: bool) -> Option<&str> {
    let together = !jspi && AT_THE_SAME_TIME.contains(&guest.file.as_str());
    let reason = together.then_some("its programs must run at the same time, which takes JSPI");
    let reason = reason.or_else(|| guest.needs_python().then_some("the sandboxes of this test have no pack python"));
    guest.not_in_javascript.as_deref().or(reason)
}

/// Returns the reason if a guest has another result than the table.
fn otherwise(guest: &Guest, jspi: bool) -> Option<&'static str> {
    let more = if jspi { &[][..] } else { &OTHERWISE_WITHOUT_JSPI };
    OTHERWISE.iter().chain(more).find(|(file, _)| guest.file == *file).map(|(_, reason)| *reason)
}

/// Returns the JavaScript name of a limit.
fn name_of(limit: &str) -> String {
    let mut words = limit.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    let rest = words.map(|word| word[..1].to_uppercase() + &word[1..]);
    let name = first + &rest.collect::<String>();
    // Times are in milliseconds and have a suffix.
    if limit.ends_with("_time") { name + "Ms" } else { name }
}

async fn sandbox(node: &Arc<Node>, guest: &Guest) -> Class {
    let mut limits: Map<String, Value> = guest.with.iter().map(|(name, value)| (name_of(name), json!(value))).collect();
    // A busy host must not change how a guest ends.
    limits.entry("wallTimeMs").or_insert(json!(120_000));
    Class::create(node, json!({ "limits": limits, "env": { "SECRET_OF_GUEST": "given" } })).await
}

async fn run(sandbox: &Class, guest: &Guest) -> Result<ExecuteResponse> {
    if let Some(upload) = guest.upload() {
        let responses = sandbox.upload_files(vec![upload]).await.expect("the sandbox responds");
        assert!(responses.iter().all(|response| response.result.is_ok()), "{responses:?}");
    }
    let mut request = guest.request();
    if guest.session {
        request = request.with_shell_mode(ShellMode::Persistent);
    }
    sandbox.execute(request).await
}

/// Returns the differences from the table.
fn wrong(guest: &Guest, ended: &ExecuteResponse) -> Vec<String> {
    let mut wrong = Vec::new();
    if guest.is_component() {
        if ended.exit_code != Some(126) || !ended.stderr_text().contains("component") {
            wrong.push("a component is not rejected with 126 and a reason".to_owned());
        }
        return wrong;
    }
    if !ended.exit_code.is_some_and(|code| guest.exit.contains(&code)) {
        wrong.push(format!("the exit code is none of {:?}", guest.exit));
    }
    if !guest.accepts_stop(ended.exit_code, ended.stopped_by) {
        wrong.push(format!("it was not stopped by {:?}", guest.stopped_by));
    }
    if ended.truncated != guest.truncated {
        wrong.push(format!("truncated is not {}", guest.truncated));
    }
    for words in guest.stderr.iter().filter(|words| !ended.stderr_text().contains(words.as_str())) {
        wrong.push(format!("standard error lacks {words:?}"));
    }
    if let Some(stdout) = guest.stdout.as_ref().filter(|stdout| ended.stdout_text() != stdout.as_str()) {
        wrong.push(format!("standard output is not {stdout:?}"));
    }
    if ended.peak_memory_bytes > guest.limits().sandbox_memory_bytes {
        wrong.push("it had more memory than the sandbox may".to_owned());
    }
    wrong
}

/// Lists the processes, and checks that a command can read, write and start programs.
async fn inside(sandbox: &Class) -> String {
    let look = "cd /tmp; rm -rf /workspace/* /tmp/*; set -- /proc/[0-9]*; echo $#; ls /proc/self/fd | wc -l; \
                seq 100 > numbers; sort -rn numbers | head -1; rm numbers; ls -d /bin /etc /workspace";
    let request = ExecuteRequest::new(look).with_timeout(std::time::Duration::from_secs(120));
    sandbox.execute(request).await.expect("the sandbox responds").output_text().into_owned()
}

fn describe(ended: &ExecuteResponse) -> String {
    let end = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let skipped = text.chars().count().saturating_sub(SHOWN);
        text.chars().skip(skipped).collect::<String>()
    };
    let (stdout, stderr) = (end(&ended.stdout), end(&ended.stderr));
    let (code, by, cut, peak) = (ended.exit_code, ended.stopped_by, ended.truncated, ended.peak_memory_bytes >> 10);
    format!("exit {code:?}, stopped by {by:?}, truncated {cut}, peak {peak} KiB\nstdout: {stdout}\nstderr: {stderr}")
}

#[tokio::test]
async fn hostile_guests_end_as_natively_without_exceptions() {
    let node = Node::start();
    let wanted = std::env::var("TIDEBOX_HOSTILE").unwrap_or_default();
    let jspi = node.suspends();
    let (mut held, mut skipped, mut wrongs) = (0, 0, Vec::new());
    for guest in Table::read().guests.iter().filter(|guest| guest.file.contains(&wanted)) {
        if let Some(reason) = left_out(guest, jspi) {
            println!("skipped  {}\n         {reason}", guest.promise);
            skipped += 1;
            continue;
        }
        let class = sandbox(&node, guest).await;
        let before = inside(&class).await;
        let started = Instant::now();
        let ended = run(&class, guest).await;
        let took = started.elapsed();
        let (mut wrong, reported) = match &ended {
            Ok(ended) => (wrong(guest, ended), describe(ended)),
            Err(error) => (vec!["the sandbox itself failed".to_owned()], error.to_string()),
        };
        if let Some(reason) = otherwise(guest, jspi).filter(|_| ended.is_ok()) {
            println!("otherwise {}\n         {reason}", guest.promise);
            wrong.clear();
        }
        let after = inside(&class).await;
        if after != before {
            wrong.push(format!("the sandbox does not go on as before: {after:?}, not {before:?}"));
        }
        if wrong.is_empty() {
            held += 1;
        } else {
            let (file, promise) = (&guest.file, &guest.promise);
            wrongs.push(format!("=== {file}: {promise} ({took:?})\n{}\n{}", wrong.join("\n"), reported));
        }
        class.close().await.expect("it closes");
    }
    println!("{held} held, {} did not, {skipped} skipped", wrongs.len());
    assert!(wrongs.is_empty(), "{}", wrongs.join("\n"));
    node.finish();
}
