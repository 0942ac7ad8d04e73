//! The command: the request log, the tenants' file, and the end on a signal.

#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::client::{Client, parse, tenants_file};

/// A started command.
pub(crate) struct Serve {
    child: Child,
    pub(crate) client: Client,
}

/// Start of the lines with the address of a server.
const ADDRESSES: [&str; 3] = ["export TIDEBOX_URL=http://", "# e2b at http://", "# daytona at http://"];

impl Serve {
    pub(crate) fn start(token: &str, options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidebox"));
        command.arg("serve").args(options).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut address = None;
        loop {
            let line = lines.next().expect("it is ready").unwrap();
            if let Some(url) = ADDRESSES.iter().find_map(|start| line.strip_prefix(start)) {
                address = Some(url.parse().unwrap());
            }
            if line.starts_with("# ready") {
                break;
            }
        }
        Self { child, client: Client { address: address.unwrap(), token: token.to_owned() } }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.child.id()).unwrap()), signal).unwrap();
    }

    /// Ends it as a failure of the host would.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the end, and returns the exit code and standard error.
    pub(crate) fn wait(&mut self) -> (Option<i32>, String) {
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        (self.child.wait().unwrap().code(), stderr)
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        // It has already exited unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_running_command_ends_before_the_service() {
    let mut serve = Serve::start("", &["--drain", "20"]);
    let sandbox = serve.client.create();
    let body = json!({ "command": "sleep 2; echo done" }).to_string();
    let mut stream = TcpStream::connect(serve.client.address).unwrap();
    let request = serve.client.request(
        "POST",
        &format!("{sandbox}/execute"),
        "content-type: application/json\r\n",
        body.as_bytes(),
    );
    stream.write_all(&request).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    serve.signal(Signal::SIGTERM);
    let deadline = Instant::now() + Duration::from_secs(10);
    while serve.client.get("/readyz").status != 503 {
        assert!(Instant::now() < deadline, "it does not drain");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(serve.client.get("/healthz").status, 200);
    let denied = serve.client.get("/v1/sandboxes");
    assert_eq!((denied.status, denied.json()["error"]["kind"].clone()), (503, json!("draining")));
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).unwrap();
    let reply = parse(&reply);
    assert_eq!((reply.status, reply.json()["stdout"].clone()), (200, json!("done\n")));
    assert_eq!(serve.wait(), (Some(0), String::new()));
}

#[test]
fn requests_beyond_the_drain_time_are_stopped() {
    let mut serve = Serve::start("", &["--drain", "1"]);
    let sandbox = serve.client.create();
    let client = serve.client.clone();
    let running = std::thread::spawn(move || {
        client.post(&format!("{sandbox}/execute"), json!({ "command": "echo part; sleep 60" })).json()
    });
    std::thread::sleep(Duration::from_millis(500));
    let start = Instant::now();
    serve.signal(Signal::SIGTERM);
    let (code, stderr) = serve.wait();
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert_eq!(code, Some(0));
    assert!(stderr.contains("stopping requests that still run after 1 s"), "{stderr}");
    let stopped = running.join().unwrap();
    assert_eq!((&stopped["stopped_by"], &stopped["stdout"]), (&json!("cancelled"), &json!("part\n")), "{stopped}");
}

#[test]
fn a_second_signal_does_not_wait() {
    let mut serve = Serve::start("", &[]);
    let sandbox = serve.client.create();
    let client = serve.client.clone();
    let running =
        std::thread::spawn(move || client.post(&format!("{sandbox}/execute"), json!({ "command": "sleep 60" })).json());
    std::thread::sleep(Duration::from_millis(500));
    let start = Instant::now();
    serve.signal(Signal::SIGINT);
    let deadline = Instant::now() + Duration::from_secs(10);
    while serve.client.get("/readyz").status != 503 {
        assert!(Instant::now() < deadline, "it does not drain");
        std::thread::sleep(Duration::from_millis(20));
    }
    serve.signal(Signal::SIGINT);
    let (code, stderr) = serve.wait();
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert_eq!(code, Some(0));
    assert!(stderr.contains("after a second signal"), "{stderr}");
    assert_eq!(running.join().unwrap()["stopped_by"], "cancelled");
}

#[test]
fn the_log_has_neither_bodies_nor_tokens_nor_queries() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("tenants.toml");
    std::fs::write(&file, tenants_file(&[("research", "planted-token", "")])).unwrap();
    let mut serve = Serve::start("planted-token", &["--log", "--tenants", file.to_str().unwrap()]);
    let sandbox = serve.client.create();
    serve.client.execute(&sandbox, "echo planted-body");
    serve.client.get(&format!("{sandbox}/files/list?path=/planted-query"));
    serve.signal(Signal::SIGINT);
    let (code, stderr) = serve.wait();
    assert_eq!(code, Some(0), "{stderr}");
    assert!(!stderr.contains("planted"), "{stderr}");
    let lines: Vec<Value> = stderr.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert_eq!(lines.len(), 3, "{stderr}");
    let line = &lines[1];
    assert_eq!(line["route"], "/v1/sandboxes/{id}/execute", "{line}");
    assert_eq!((&line["tenant"], &line["status"], &line["method"]), (&json!("research"), &json!(200), &json!("POST")));
    assert!(sandbox.ends_with(line["sandbox"].as_str().unwrap()), "{line}");
    assert!(line["duration_ms"].as_f64().unwrap() > 0.0, "{line}");
    assert_eq!(lines[2]["status"], 404);
}

#[test]
fn a_hangup_reads_the_tenants_again() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("tenants.toml");
    std::fs::write(&file, tenants_file(&[("a", "old", "")])).unwrap();
    let mut serve = Serve::start("old", &["--tenants", file.to_str().unwrap()]);
    assert_eq!(serve.client.get("/v1/usage").status, 200);
    std::fs::write(&file, tenants_file(&[("a", "new", "")])).unwrap();
    serve.signal(Signal::SIGHUP);
    let new = Client { token: "new".to_owned(), ..serve.client.clone() };
    let deadline = Instant::now() + Duration::from_secs(10);
    while new.get("/v1/usage").status != 200 {
        assert!(Instant::now() < deadline, "the file is not read again");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(serve.client.get("/v1/usage").status, 401);
    std::fs::write(&file, "[tenants.a]\n").unwrap();
    serve.signal(Signal::SIGHUP);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(new.get("/v1/usage").status, 200, "the previous tenants stay");
    serve.signal(Signal::SIGTERM);
    let (code, stderr) = serve.wait();
    assert_eq!(code, Some(0));
    assert!(stderr.contains("missing field `tokens`") && stderr.contains("the previous tenants stay"), "{stderr}");
}

#[test]
fn a_new_token_is_accepted_from_its_file() {
    let made = Command::new(env!("CARGO_BIN_EXE_tidebox")).args(["serve", "--new-token"]).output().unwrap();
    let text = String::from_utf8(made.stdout).unwrap();
    let token = text.split('"').nth(1).expect("a token").to_owned();
    let line = text.lines().nth(1).expect("a line for the file");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("tenants.toml");
    std::fs::write(&file, format!("[tenants.a]\n{line}\n")).unwrap();
    let serve = Serve::start(&token, &["--tenants", file.to_str().unwrap()]);
    assert_eq!(serve.client.get("/v1/usage").json()["tenant"], "a");
}
