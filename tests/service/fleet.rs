//! `tidebox serve --directory`: several nodes share the sandboxes.

#![cfg(unix)]

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::json;
use tempfile::TempDir;

use crate::client::Client;
use crate::end::Serve;

struct Nodes {
    dir: TempDir,
}

impl Nodes {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn url(&self, name: &str) -> String {
        format!("file://{}", self.dir.path().join(name).display())
    }

    fn serve(&self) -> Serve {
        let (store, nodes) = (self.url("saved"), self.url("nodes"));
        Serve::start("", &["--store", &store, "--directory", &nodes, "--lease", "2"])
    }
}

/// Repeats a request while no node serves the sandbox.
fn eventually<T>(attempt: impl Fn() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(done) = attempt() {
            return done;
        }
        assert!(Instant::now() < deadline, "no node serves");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Runs a command; `None` if no node serves.
fn execute(client: &Client, sandbox: &str, command: &str) -> Option<String> {
    let reply = client.post(&format!("{sandbox}/execute"), json!({ "command": command }));
    match reply.status {
        200 => Some(reply.json()["stdout"].as_str().unwrap().to_owned()),
        503 => None,
        other => panic!("{other}: {}", reply.text()),
    }
}

#[test]
fn any_node_passes_a_request_on_to_the_node_of_the_sandbox() {
    let nodes = Nodes::new();
    let all = [nodes.serve(), nodes.serve(), nodes.serve()];
    let sandboxes: Vec<String> = all.iter().map(|node| eventually(|| create(&node.client))).collect();
    for sandbox in &sandboxes {
        for (number, node) in all.iter().enumerate() {
            eventually(|| execute(&node.client, sandbox, &format!("echo {number} >> log")));
        }
        let log = eventually(|| execute(&all[0].client, sandbox, "cat log"));
        assert_eq!(log, "0\n1\n2\n");
    }
    for node in &all {
        let listed = node.client.get("/v1/sandboxes").json();
        assert_eq!(listed["sandboxes"].as_array().unwrap().len(), 3, "{listed}");
    }
    // A request that was passed on is not passed on again.
    let hopped = |node: &Serve| node.client.send("GET", &sandboxes[0], "x-tidebox-hop: 1\r\n", b"").status;
    let mut statuses: Vec<u16> = all.iter().map(hopped).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 503, 503]);
}

fn create(client: &Client) -> Option<String> {
    let reply = client.post("/v1/sandboxes", json!({}));
    match reply.status {
        201 => Some(format!("/v1/sandboxes/{}", reply.json()["id"].as_str().unwrap())),
        503 => None,
        other => panic!("{other}: {}", reply.text()),
    }
}

#[test]
fn another_node_continues_the_sandboxes_of_a_killed_one() {
    let nodes = Nodes::new();
    let (first, second) = (nodes.serve(), nodes.serve());
    let sandboxes: Vec<String> = (0..4).map(|_| eventually(|| create(&second.client))).collect();
    for sandbox in &sandboxes {
        eventually(|| execute(&first.client, sandbox, "echo kept > file"));
    }
    second.kill();
    for sandbox in &sandboxes {
        assert_eq!(eventually(|| execute(&first.client, sandbox, "cat file")), "kept\n");
    }
}

#[test]
fn a_node_that_leaves_gives_its_sandboxes_away() {
    let nodes = Nodes::new();
    let (first, mut second) = (nodes.serve(), nodes.serve());
    let sandbox = eventually(|| create(&second.client));
    eventually(|| execute(&second.client, &sandbox, "echo kept > file"));
    second.signal(Signal::SIGTERM);
    let (code, stderr) = second.wait();
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let start = Instant::now();
    assert_eq!(eventually(|| execute(&first.client, &sandbox, "cat file")), "kept\n");
    assert!(start.elapsed() < Duration::from_secs(1), "no lease is waited for: {:?}", start.elapsed());
    first.kill();
    let third = nodes.serve();
    assert_eq!(eventually(|| execute(&third.client, &sandbox, "cat file")), "kept\n");
}

#[test]
fn a_stopped_node_does_not_serve_when_it_goes_on() {
    let nodes = Nodes::new();
    let (first, second) = (nodes.serve(), nodes.serve());
    let sandbox = eventually(|| create(&second.client));
    eventually(|| execute(&second.client, &sandbox, "echo old > file"));
    second.signal(Signal::SIGSTOP);
    eventually(|| execute(&first.client, &sandbox, "echo new > file"));
    second.signal(Signal::SIGCONT);
    // It responds 503, or passes the request on; never from its memory.
    assert_eq!(eventually(|| execute(&second.client, &sandbox, "cat file")), "new\n");
}
