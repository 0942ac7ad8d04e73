//! Sandboxes, snapshots and processes.

use serde_json::json;

use crate::client::sandbox_shared;

#[test]
fn sandboxes_are_created_listed_and_deleted() {
    let client = sandbox_shared().client("token-a");
    let body = json!({ "labels": { "run": "create-list" }, "env": { "GREETING": "hi" }, "lifetime_seconds": 600 });
    let created = client.post("/v1/sandboxes", body);
    assert_eq!(created.status, 201, "{}", created.text());
    let created = created.json();
    assert!(created["expires_in_seconds"].as_f64().unwrap() > 590.0, "{created}");
    let path = format!("/v1/sandboxes/{}", created["id"].as_str().unwrap());
    assert_eq!(client.execute(&path, "echo $GREETING; pwd"), "hi\n/workspace\n");
    let listed = client.get("/v1/sandboxes?label=run%3Dcreate-list").json();
    assert_eq!(listed["sandboxes"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(client.get("/v1/sandboxes?label=run%3Dother").json()["sandboxes"], json!([]));
    assert_eq!(client.get("/v1/sandboxes?labels=x").status, 400);
    assert_eq!(client.get(&path).json()["labels"], json!({ "run": "create-list" }));
    assert_eq!(client.send("DELETE", &path, "", b"").status, 204);
    let missing = client.get(&path);
    assert_eq!((missing.status, missing.json()["error"]["kind"].clone()), (404, json!("sandbox_not_found")));
    assert_eq!(client.send("DELETE", &path, "", b"").status, 204, "deleting again is no error");
}

#[test]
fn a_failed_command_is_a_result() {
    let client = sandbox_shared().client("token-a");
    let sandbox = client.create();
    let path = format!("{sandbox}/execute");
    let body = json!({ "command": "cat; echo $A >&2; exit 3", "stdin": { "text": "in" }, "env": { "A": "err" } });
    let failed = client.post(&path, body).json();
    assert_eq!(
        (&failed["exit_code"], &failed["stdout"], &failed["stderr"]),
        (&json!(3), &json!("in"), &json!("err\n"))
    );
    let stopped = client.post(&path, json!({ "command": "sleep 30", "timeout_seconds": 0.2 })).json();
    assert_eq!((&stopped["exit_code"], &stopped["stopped_by"]), (&json!(124), &json!("timeout")));
    let listed = client.post(&path, json!({ "arguments": ["echo", "$HOME", "*"] })).json();
    assert_eq!(listed["stdout"], "$HOME *\n");
    for invalid in [
        json!({}),
        json!({ "command": "x", "arguments": ["x"] }),
        json!({ "command": "x", "timeout_seconds": -1 }),
        json!({ "command": "x", "cwd": "" }),
        json!({ "command": "x", "output_overflow": "all" }),
    ] {
        let denied = client.post(&path, invalid.clone());
        assert!((400..500).contains(&denied.status), "{invalid}: {} {}", denied.status, denied.text());
    }
    assert_eq!(client.post(&path, json!({ "command": "x", "timout": 1 })).status, 422);
    assert_eq!(client.send("POST", &path, "", b"{\"command\":\"x\"}").status, 415, "a page of another site sends this");
}

#[test]
fn a_fork_and_a_snapshot_have_the_files_of_their_time() {
    let client = sandbox_shared().client("token-a");
    let sandbox = client.create();
    client.execute(&sandbox, "echo one > f");
    let snapshot = client.post(&format!("{sandbox}/snapshots"), json!({}));
    assert_eq!(snapshot.status, 201, "{}", snapshot.text());
    let snapshot = snapshot.json()["id"].clone();
    let fork = client.post(&format!("{sandbox}/fork"), json!({}));
    assert_eq!(fork.status, 201, "{}", fork.text());
    client.execute(&sandbox, "echo two > f");
    let fork = format!("/v1/sandboxes/{}", fork.json()["id"].as_str().unwrap());
    assert_eq!(client.execute(&fork, "cat f"), "one\n");
    let from = client.post("/v1/sandboxes", json!({ "snapshot": snapshot })).json();
    let from = format!("/v1/sandboxes/{}", from["id"].as_str().unwrap());
    assert_eq!(client.execute(&from, "cat f"), "one\n");
    assert_eq!(client.execute(&sandbox, "cat f"), "two\n");
    let restored = client.post(&format!("{sandbox}/restore"), json!({ "snapshot": snapshot }));
    assert_eq!(restored.status, 200, "{}", restored.text());
    assert_eq!(client.execute(&sandbox, "cat f"), "one\n");
    let path = format!("/v1/snapshots/{}", snapshot.as_str().unwrap());
    assert_eq!(sandbox_shared().client("token-b").send("DELETE", &path, "", b"").status, 204);
    assert!(client.get("/v1/snapshots").text().contains(snapshot.as_str().unwrap()), "another tenant deletes nothing");
    assert_eq!(client.send("DELETE", &path, "", b"").status, 204);
    assert_eq!(client.post("/v1/sandboxes", json!({ "snapshot": snapshot })).status, 400);
}

#[test]
fn a_process_outlives_the_request_that_started_it() {
    let client = sandbox_shared().client("token-a");
    let sandbox = client.create();
    let body = json!({ "command": "while read line; do echo got $line; done; exit 7", "input": true, "tag": "reader" });
    let started = client.post(&format!("{sandbox}/processes"), body);
    assert_eq!(started.status, 201, "{}", started.text());
    let started = started.json();
    let path = format!("{sandbox}/processes/{}", started["id"].as_str().unwrap());
    let written = client.post(&format!("{path}/input"), json!({ "data": { "text": "a\n" } }));
    assert_eq!(written.json()["written_bytes"], 2, "{}", written.text());
    let page = client.get(&format!("{path}/output?after=0&wait_seconds=10")).json();
    assert_eq!((&page["chunks"][0]["base64"], &page["running"]), (&json!("Z290IGEK"), &json!(true)), "{page}");
    assert_eq!(client.post(&format!("{path}/input"), json!({ "end": true })).status, 200);
    let page = client.get(&format!("{path}/output?after={}&wait_seconds=10", page["next"])).json();
    assert_eq!((&page["chunks"], &page["exit_code"]), (&json!([]), &json!(7)), "{page}");
    let listed = client.get(&format!("{sandbox}/processes")).json();
    assert_eq!(listed["processes"][0]["tag"], "reader", "{listed}");

    let sleeping = client.post(&format!("{sandbox}/processes"), json!({ "command": "sleep 100" })).json();
    let path = format!("{sandbox}/processes/{}", sleeping["id"].as_str().unwrap());
    assert_eq!(client.post(&format!("{path}/signal"), json!({ "signal": "NONE" })).status, 400);
    assert_eq!(client.post(&format!("{path}/signal"), json!({ "signal": "SIGTERM" })).status, 200);
    let page = client.get(&format!("{path}/output?wait_seconds=10")).json();
    assert_eq!(page["exit_code"], 143, "{page}");
    assert_eq!(client.get(&format!("{sandbox}/processes/none/output")).status, 400);
}

#[test]
fn requests_without_the_right_token_are_denied() {
    let fixture = sandbox_shared();
    for token in ["", "token", "token-a ", "token-ab"] {
        let denied = fixture.client(token).get("/v1/sandboxes");
        // White space round a token does not belong to it.
        let expected = if token.trim() == "token-a" { 200 } else { 401 };
        assert_eq!(denied.status, expected, "{token:?}");
    }
    let client = fixture.client("token-a");
    assert_eq!(client.send("GET", "/v1/sandboxes", "origin: https://evil.example\r\n", b"").status, 403);
    let own = format!("origin: http://{}\r\n", client.address);
    assert_eq!(client.send("GET", "/v1/sandboxes", &own, b"").status, 200);
    for path in ["/healthz", "/readyz", "/openapi.json", "/"] {
        assert_eq!(fixture.client("").get(path).status, 200, "{path}");
    }
    let unknown = client.get("/v2/sandboxes");
    assert_eq!((unknown.status, unknown.json()["error"]["kind"].clone()), (404, json!("not_found")));
    assert_eq!(client.send("PATCH", "/v1/sandboxes", "", b"").status, 405);
}

#[test]
fn an_open_service_needs_a_local_host_name() {
    let open = crate::client::Fixture::with_config(&[("default", "public", "")], |config| config.is_open = true);
    let client = open.client("");
    assert_eq!(client.get("/v1/sandboxes").status, 200);
    let mut stream = std::net::TcpStream::connect(client.address).unwrap();
    std::io::Write::write_all(&mut stream, b"GET /v1/sandboxes HTTP/1.0\r\nhost: evil.example\r\n\r\n").unwrap();
    let mut reply = Vec::new();
    std::io::Read::read_to_end(&mut stream, &mut reply).unwrap();
    assert_eq!(crate::client::parse(&reply).status, 401, "DNS rebinding");
}
