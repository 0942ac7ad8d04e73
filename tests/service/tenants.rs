//! Tenants: isolation, quotas, rotation, and the end of their sandboxes.

use std::time::{Duration, Instant};

use serde_json::json;
use tidebox::service::Tenants;

use crate::client::{Fixture, tenants_file};

#[test]
fn a_tenant_sees_no_sandbox_of_another() {
    let fixture = crate::client::sandbox_shared();
    let (a, b) = (fixture.client("token-a"), fixture.client("token-b"));
    let sandbox = a.create();
    let id = sandbox.rsplit('/').next().unwrap();
    assert!(!b.get("/v1/sandboxes").text().contains(id));
    assert_eq!(b.get(&sandbox).status, 404);
    assert_eq!(b.post(&format!("{sandbox}/execute"), json!({ "command": "true" })).status, 404);
    assert_eq!(b.get(&format!("{sandbox}/files/list?path=/")).status, 404);
    assert_eq!(b.post(&format!("{sandbox}/fork"), json!({})).status, 404);
    assert_eq!(b.post(&format!("{sandbox}/snapshots"), json!({})).status, 404);
    assert_eq!(b.get(&format!("{sandbox}/terminal")).status, 400, "no WebSocket");
    assert_eq!(b.send("DELETE", &sandbox, "", b"").status, 204, "as for a missing one");
    assert_eq!(a.get(&sandbox).status, 200, "it still exists");
    let metrics = b.get("/metrics").text();
    assert!(!metrics.contains("tenant=\"a\""), "{metrics}");
}

#[test]
fn a_denied_quota_names_its_limit_and_usage() {
    let fixture = Fixture::start(&[("a", "t", "sandboxes = 1\nmemory = \"600M\"")]);
    let client = fixture.client("t");
    let sandbox = client.create();
    let denied = client.post("/v1/sandboxes", json!({}));
    let error = denied.json()["error"].clone();
    assert_eq!(denied.status, 429, "{error}");
    assert_eq!((&error["kind"], &error["quota"]), (&json!("quota_exceeded"), &json!("sandboxes")), "{error}");
    assert_eq!((&error["limit"], &error["used"], &error["frees_in_seconds"]), (&json!(1), &json!(1), &json!(null)));
    let denied = client.post("/run_code", json!({ "code": "true", "language": "bash" }));
    assert_eq!(denied.status, 429, "{}", denied.text());
    client.send("DELETE", &sandbox, "", b"");
    let tenants = Tenants::parse(&tenants_file(&[("a", "t", "sandboxes = 9\nmemory = \"600M\"")])).unwrap();
    fixture.service.set_tenants(tenants);
    client.create();
    let denied = client.post("/v1/sandboxes", json!({})).json();
    assert_eq!(denied["error"]["quota"], "memory", "{denied}");
    let small = client.post("/v1/sandboxes", json!({ "memory_bytes": 33_554_432 })).json();
    let small = format!("/v1/sandboxes/{}", small["id"].as_str().unwrap());
    let command = "x=$(head -c 60000000 /dev/zero | tr '\\0' x); echo ${#x}";
    let failed = client.post(&format!("{small}/execute"), json!({ "command": command })).json();
    assert_ne!(failed["exit_code"], 0, "the memory of the sandbox is the reserved one: {failed}");
    let usage = client.get("/v1/usage").json();
    assert_eq!(usage["sandboxes"], json!({ "used": 2.0, "limit": 9 }), "{usage}");
    let metrics = client.get("/metrics").text();
    for line in [
        "tidebox_quota_refusals_total{tenant=\"a\",quota=\"sandboxes\"} 2",
        "tidebox_quota_refusals_total{tenant=\"a\",quota=\"memory\"} 1",
        "tidebox_sandboxes{tenant=\"a\"} 2",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
}

#[test]
fn used_up_processor_time_denies_commands() {
    let fixture = Fixture::start(&[("a", "t", "cpu_seconds_per_hour = 1")]);
    let client = fixture.client("t");
    let sandbox = client.create();
    let path = format!("{sandbox}/execute");
    let busy = client.post(&path, json!({ "command": "while :; do :; done", "timeout_seconds": 1.6 })).json();
    assert!(busy["cpu_seconds"].as_f64().unwrap() > 0.3, "{busy}");
    let deadline = Instant::now() + Duration::from_secs(60);
    let denied = loop {
        let reply = client.post(&path, json!({ "command": "while :; do :; done", "timeout_seconds": 1 }));
        if reply.status != 200 {
            break reply;
        }
        assert!(Instant::now() < deadline, "no command was denied");
    };
    let error = denied.json()["error"].clone();
    assert_eq!((denied.status, &error["quota"]), (429, &json!("cpu_seconds_per_hour")), "{error}");
    assert!(error["frees_in_seconds"].as_u64().unwrap() > 3000, "{error}");
    assert!(denied.head.to_lowercase().contains("retry-after: "), "{}", denied.head);
    assert_eq!(client.get(&format!("{sandbox}/files/list?path=/")).status, 200, "files can still be fetched");
    assert_eq!(client.post(&format!("{sandbox}/processes"), json!({ "command": "true" })).status, 429);
}

#[test]
fn used_up_processor_time_kills_processes_that_stay() {
    let fixture = Fixture::start(&[("a", "t", "cpu_seconds_total = 1"), ("b", "other", "")]);
    let (client, other) = (fixture.client("t"), fixture.client("other"));
    let start = |client: &crate::client::Client| {
        let path = format!("{}/processes", client.create());
        let id = client.post(&path, json!({ "command": "while :; do :; done" })).json()["id"].clone();
        (path, id)
    };
    let (sandboxes, neighbour) = ([start(&client), start(&client)], start(&other));
    let state = |client: &crate::client::Client, (path, id): &(String, serde_json::Value)| {
        let all = client.get(path).json()["processes"].as_array().expect("a list of processes").clone();
        all.into_iter().find(|process| process["id"] == *id).expect("the process is listed")
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    for started in &sandboxes {
        while state(&client, started)["running"] == true {
            assert!(Instant::now() < deadline, "{} was not killed", started.1);
            std::thread::sleep(Duration::from_millis(100));
        }
        assert_eq!(state(&client, started)["exit_code"], 137);
    }
    let used = client.get("/v1/usage").json()["cpu_seconds_total"]["used"].as_f64().unwrap();
    assert!((1.0..10.0).contains(&used), "{used}");
    assert_eq!(client.post(&sandboxes[0].0, json!({ "command": "true" })).status, 429);
    assert_eq!(state(&other, &neighbour)["running"], true, "a tenant without a quota");
}

#[test]
fn an_old_and_a_new_token_are_valid_at_the_same_time() {
    let fixture = Fixture::start(&[("a", "old", ""), ("gone", "gone", "")]);
    let sandbox = fixture.client("old").create();
    let removed = fixture.client("gone").create();
    let hashes = |tokens: &[&str]| {
        let all: Vec<String> = tokens
            .iter()
            .map(|token| {
                tenants_file(&[("x", token, "")]).lines().nth(1).unwrap().replace("tokens = [", "").replace(']', "")
            })
            .collect();
        format!("[tenants.a]\ntokens = [{}]\n", all.join(", "))
    };
    let set = |tokens: &[&str]| {
        fixture.service.set_tenants(Tenants::parse(&hashes(tokens)).unwrap());
        fixture.runtime.block_on(fixture.service.close_removed());
    };
    set(&["old", "new"]);
    for token in ["old", "new"] {
        assert_eq!(fixture.client(token).get(&sandbox).status, 200, "{token}");
    }
    assert_eq!(fixture.client("gone").get(&removed).status, 401);
    set(&["new"]);
    assert_eq!(fixture.client("old").get(&sandbox).status, 401);
    assert_eq!(fixture.client("new").get(&sandbox).status, 200, "the sandboxes stay");
}

#[test]
fn idle_and_old_sandboxes_are_closed() {
    let quotas = "idle_seconds = 1";
    let fixture = Fixture::start(&[("idle", "i", quotas), ("old", "o", "lifetime_seconds = 2")]);
    let (idle, old) = (fixture.client("i"), fixture.client("o"));
    let (unused, used) = (idle.create(), idle.create());
    let aged = old.create();
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(1800) {
        assert_eq!(idle.execute(&used, "sleep 0.2; echo $((1 + 1))"), "2\n");
        old.execute(&aged, "true");
    }
    assert_eq!(idle.get(&unused).status, 404, "unused for more than a second");
    assert_eq!(
        idle.post(&format!("{used}/execute"), json!({ "command": "sleep 2" })).status,
        200,
        "a call is no idle time"
    );
    let deadline = Instant::now() + Duration::from_secs(20);
    while old.get(&aged).status != 404 {
        assert!(Instant::now() < deadline, "the old sandbox still exists");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(old.get("/v1/usage").json()["sandboxes"]["used"], 0.0);
}

#[test]
fn hosts_of_a_tenant_are_allowed_for_it_only() {
    let fixture = Fixture::start(&[("a", "a", "egress = [\"tidebox.invalid\"]"), ("b", "b", "")]);
    let run = |token: &str| {
        let client = fixture.client(token);
        let sandbox = client.create();
        client.post(&format!("{sandbox}/execute"), json!({ "command": "curl -sS https://tidebox.invalid/" })).json()
    };
    let (allowed, denied) = (run("a"), run("b"));
    assert_ne!(allowed["stderr"], denied["stderr"], "{allowed} {denied}");
    assert_eq!(fixture.client("a").get("/v1/usage").json()["egress"], json!(["tidebox.invalid"]));
}
