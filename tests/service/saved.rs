//! `tidebox serve --store`: sandboxes survive the end of the command.

#![cfg(unix)]

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{Client, Reply, tenants_file};
use crate::end::Serve;

/// A directory with saved sandboxes.
struct Store {
    dir: TempDir,
}

impl Store {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn serve(&self, token: &str, options: &[&str]) -> Serve {
        let url = format!("file://{}", self.dir.path().join("saved").display());
        Serve::start(token, &[&["--store", &url], options].concat())
    }

    /// Writes a file of tenants and returns its path.
    fn tenants(&self, tenants: &[(&str, &str, &str)]) -> String {
        let file = self.dir.path().join("tenants.toml");
        std::fs::write(&file, tenants_file(tenants)).unwrap();
        file.to_str().unwrap().to_owned()
    }
}

fn ids(client: &Client) -> Vec<String> {
    let listed = client.get("/v1/sandboxes").json();
    listed["sandboxes"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn acknowledged_changes_survive_a_kill() {
    let store = Store::new();
    let serve = store.serve("", &[]);
    let labels = json!({ "labels": { "thread": "7" }, "env": { "GREETING": "hello" } });
    let created = serve.client.post("/v1/sandboxes", labels).json();
    let id = created["id"].as_str().unwrap().to_owned();
    let sandbox = format!("/v1/sandboxes/{id}");
    serve.client.execute(&sandbox, "echo one > file; cd /tmp; export LATER=set");
    serve.kill();
    let serve = store.serve("", &[]);
    assert_eq!(ids(&serve.client), [id.as_str()]);
    let listed = serve.client.get("/v1/sandboxes?label=thread%3D7").json();
    assert_eq!(listed["sandboxes"][0]["labels"], json!({ "thread": "7" }));
    assert_eq!(serve.client.execute(&sandbox, "cat /workspace/file; echo $GREETING"), "one\nhello\n");
    serve.client.execute(&sandbox, "echo two >> /workspace/file");
    serve.kill();
    let mut serve = store.serve("", &[]);
    assert_eq!(serve.client.execute(&sandbox, "cat /workspace/file"), "one\ntwo\n");
    // An end by a signal keeps them as well.
    serve.signal(Signal::SIGTERM);
    assert_eq!(serve.wait(), (Some(0), String::new()));
    let serve = store.serve("", &[]);
    assert_eq!(serve.client.execute(&sandbox, "cat /workspace/file"), "one\ntwo\n");
}

#[test]
fn the_end_of_a_process_is_reported_after_its_changes_are_saved() {
    let store = Store::new();
    let serve = store.serve("", &[]);
    let sandbox = serve.client.create();
    let spawned = serve.client.post(&format!("{sandbox}/processes"), json!({ "command": "sleep 0.2; echo made > f" }));
    assert_eq!(spawned.status, 201, "{}", spawned.text());
    let process = spawned.json()["id"].as_str().unwrap().to_owned();
    let deadline = Instant::now() + Duration::from_secs(20);
    let has_ended = |client: &Client| {
        let page = client.get(&format!("{sandbox}/processes/{process}/output?wait_seconds=1"));
        assert_eq!(page.status, 200, "{}", page.text());
        page.json()["running"] == false
    };
    while !has_ended(&serve.client) {
        assert!(Instant::now() < deadline, "the process does not end");
    }
    serve.kill();
    let serve = store.serve("", &[]);
    assert_eq!(serve.client.execute(&sandbox, "cat f"), "made\n");
}

#[test]
fn a_deleted_sandbox_stays_deleted() {
    let store = Store::new();
    let serve = store.serve("", &[]);
    let (deleted, unloaded) = (serve.client.create(), serve.client.create());
    assert_eq!(serve.client.send("DELETE", &deleted, "", b"").status, 204);
    serve.kill();
    let serve = store.serve("", &[]);
    assert_eq!(serve.client.get(&deleted).status, 404);
    // One that is not in memory.
    assert_eq!(serve.client.send("DELETE", &unloaded, "", b"").status, 204);
    assert_eq!(serve.client.get(&unloaded).status, 404);
    assert_eq!(ids(&serve.client), [""; 0]);
    serve.kill();
    let serve = store.serve("", &[]);
    assert_eq!(ids(&serve.client), [""; 0]);
}

#[test]
fn saved_sandboxes_belong_to_their_tenant() {
    let store = Store::new();
    let file = store.tenants(&[("a", "token-a", ""), ("b", "token-b", "")]);
    let serve = store.serve("token-a", &["--tenants", &file]);
    let sandbox = serve.client.create();
    serve.client.execute(&sandbox, "echo secret > f");
    serve.kill();
    let serve = store.serve("token-a", &["--tenants", &file]);
    let other = Client { token: "token-b".to_owned(), ..serve.client.clone() };
    assert_eq!(other.get(&sandbox).status, 404);
    assert_eq!(other.send("DELETE", &sandbox, "", b"").status, 204, "a missing one is no error");
    assert_eq!(ids(&other), [""; 0]);
    assert_eq!(serve.client.execute(&sandbox, "cat f"), "secret\n");
    assert_eq!(other.get(&sandbox).status, 404, "also while it is in memory");
}

#[test]
fn a_lifetime_counts_while_the_service_is_down() {
    let store = Store::new();
    let serve = store.serve("", &[]);
    let created = serve.client.post("/v1/sandboxes", json!({ "lifetime_seconds": 1 })).json();
    let sandbox = format!("/v1/sandboxes/{}", created["id"].as_str().unwrap());
    serve.kill();
    std::thread::sleep(Duration::from_millis(1100));
    let serve = store.serve("", &[]);
    assert_eq!(ids(&serve.client), [""; 0]);
    assert_eq!(serve.client.get(&sandbox).status, 404);
}

#[test]
fn a_second_service_takes_a_sandbox_over() {
    let store = Store::new();
    let (first, second) = (store.serve("", &[]), store.serve("", &[]));
    let sandbox = first.client.create();
    first.client.execute(&sandbox, "echo 1 > f");
    assert_eq!(second.client.execute(&sandbox, "echo 2 >> f; cat f"), "1\n2\n");
    let stale = first.client.post(&format!("{sandbox}/execute"), json!({ "command": "echo lost >> f" }));
    assert_eq!(stale.status, 503, "nothing is acknowledged: {}", stale.text());
    // It takes the sandbox back with the state of the other.
    assert_eq!(first.client.execute(&sandbox, "cat f"), "1\n2\n");
}

/// Sends a request of E2B's control plane.
fn e2b(client: &Client, method: &str, path: &str, body: &Value) -> Reply {
    let headers = "x-api-key: tidebox-local\r\ncontent-type: application/json\r\n";
    client.send(method, path, headers, body.to_string().as_bytes())
}

#[test]
fn sandboxes_of_e2b_keep_id_token_files_and_lifetime() {
    let store = Store::new();
    let serve = store.serve("", &["--provider", "e2b"]);
    let created = e2b(&serve.client, "POST", "/v2/sandboxes", &json!({ "metadata": { "thread": "7" }, "timeout": 60 }));
    assert_eq!(created.status, 201, "{}", created.text());
    let created = created.json();
    let (id, token) = (created["sandboxID"].as_str().unwrap(), created["envdAccessToken"].as_str().unwrap());
    let access = format!("e2b-sandbox-id: {id}\r\nx-access-token: {token}\r\n");
    let path = "/files?path=notes.txt&username=user";
    let octets = format!("{access}content-type: application/octet-stream\r\n");
    let written = serve.client.send("POST", path, &octets, b"kept");
    assert_eq!(written.status, 200, "{}", written.text());
    let extended = e2b(&serve.client, "POST", &format!("/sandboxes/{id}/timeout"), &json!({ "timeout": 5000 }));
    assert_eq!(extended.status, 204, "{}", extended.text());
    let before = e2b(&serve.client, "GET", &format!("/sandboxes/{id}"), &Value::Null).json();
    serve.kill();
    let serve = store.serve("", &["--provider", "e2b"]);
    // A request of the data plane finds it without one of the control plane.
    let read = serve.client.send("GET", path, &access, b"");
    assert_eq!((read.status, read.body.as_slice()), (200, b"kept".as_slice()), "{}", read.text());
    let after = e2b(&serve.client, "GET", &format!("/sandboxes/{id}"), &Value::Null).json();
    assert_eq!((&after["metadata"], &after["envdAccessToken"]), (&before["metadata"], &json!(token)));
    let second = |text: &Value| text.as_str().unwrap().split('.').next().unwrap().to_owned();
    assert_eq!(second(&after["startedAt"])[..16], second(&before["startedAt"])[..16]);
    assert_eq!(second(&after["endAt"])[..16], second(&before["endAt"])[..16]);
    serve.kill();
    // A change of a sandbox that is not in memory.
    let serve = store.serve("", &["--provider", "e2b"]);
    let paused = e2b(&serve.client, "POST", &format!("/sandboxes/{id}/pause"), &Value::Null);
    assert_eq!(paused.status, 204, "{}", paused.text());
    serve.kill();
    let serve = store.serve("", &["--provider", "e2b"]);
    let after = e2b(&serve.client, "GET", &format!("/sandboxes/{id}"), &Value::Null).json();
    assert_eq!(after["state"], "paused");
}

#[test]
fn sandboxes_of_daytona_are_found_by_id_and_name() {
    let store = Store::new();
    let call = |client: &Client, method: &str, path: &str, body: &Value| {
        let headers = "authorization: Bearer tidebox-local\r\ncontent-type: application/json\r\n";
        client.send(method, path, headers, body.to_string().as_bytes())
    };
    let serve = store.serve("", &["--provider", "daytona"]);
    let created = call(&serve.client, "POST", "/api/sandbox", &json!({ "name": "worker", "labels": { "a": "b" } }));
    assert_eq!(created.status, 200, "{}", created.text());
    let id = created.json()["id"].as_str().unwrap().to_owned();
    let run = |client: &Client, command: &str| {
        let reply = call(client, "POST", &format!("/toolbox/{id}/process/execute"), &json!({ "command": command }));
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json()["result"].as_str().unwrap().to_owned()
    };
    run(&serve.client, "echo kept > file");
    serve.kill();
    let serve = store.serve("", &["--provider", "daytona"]);
    let named = call(&serve.client, "GET", "/api/sandbox/worker", &Value::Null);
    assert_eq!((named.status, &named.json()["id"]), (200, &json!(id)), "{}", named.text());
    assert_eq!(run(&serve.client, "cat file"), "kept\n");
    assert_eq!(named.json()["labels"], json!({ "a": "b" }));
}

#[test]
fn a_provider_that_cannot_be_saved_is_an_error() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_tidebox"))
        .args(["serve", "--store", "file:///nowhere", "--provider", "modal"])
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && stderr.contains("cannot save the sandboxes of modal"), "{stderr}");
}
