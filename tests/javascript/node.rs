//! A Node process that creates and calls sandboxes of the npm package: `js-bindings/tests/line_protocol.mjs`.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use tidebox_core::lock::Mutex;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

/// Pending calls.
type Calls = Arc<Mutex<HashMap<u64, UnboundedSender<Value>>>>;

#[derive(Debug)]
pub(crate) struct Node {
    process: Mutex<Child>,
    requests: Mutex<Option<ChildStdin>>,
    calls: Calls,
    last: AtomicU64,
}

/// Reads a setting of `cargo xtask npm test`: the location of the package, and the engine.
fn setting(name: &str) -> PathBuf {
    let output = std::env::var_os(name);
    output.unwrap_or_else(|| panic!("{name} is not set: run these tests by `cargo xtask npm test`")).into()
}

/// Encodes bytes for the protocol.
pub(crate) fn bytes(bytes: &[u8]) -> Value {
    json!({ "base64": BASE64.encode(bytes) })
}

/// Decodes bytes of the protocol.
pub(crate) fn read_bytes(value: &Value) -> Option<Vec<u8>> {
    let text = value.get("base64")?.as_str()?;
    Some(BASE64.decode(text).expect("the protocol writes base64"))
}

impl Node {
    pub(crate) fn start() -> Arc<Self> {
        let dir = setting("TIDEBOX_NPM_DIR");
        let mut command = Command::new(setting("TIDEBOX_NODE"));
        command.current_dir(&dir).arg("--import").arg(dir.join("guard.mjs")).arg("line_protocol.mjs");
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Node starts");
        let answers = process.stdout.take().expect("its output is a pipe");
        let requests = Mutex::new(process.stdin.take());
        let calls = Calls::default();
        let waiting = Arc::clone(&calls);
        thread::spawn(move || hand_out(answers, &waiting));
        Arc::new(Self { process: Mutex::new(process), requests, calls, last: AtomicU64::new(0) })
    }

    fn send(&self, line: &Value) {
        let mut requests = self.requests.lock();
        let Some(requests) = requests.as_mut() else { return };
        writeln!(requests, "{line}").expect("Node reads its requests");
    }

    /// Sends a request. The call receives its responses.
    pub(crate) fn call(self: &Arc<Self>, mut request: Value) -> Call {
        let id = self.last.fetch_add(1, Ordering::Relaxed);
        let (tells, answers) = mpsc::unbounded_channel();
        self.calls.lock().insert(id, tells);
        request["id"] = json!(id);
        self.send(&request);
        Call { id, answers, node: Arc::clone(self), ended: false }
    }

    /// Returns whether this engine can suspend guests, as set by `cargo xtask npm test`.
    pub(crate) fn suspends(&self) -> bool {
        setting("TIDEBOX_NODE_SUSPENDS") == PathBuf::from("1")
    }

    /// Creates a sandbox. Returns its number and its id.
    pub(crate) async fn create(self: &Arc<Self>, options: Value) -> (u64, String) {
        self.create_sandbox(json!({ "method": "create", "args": [options] })).await
    }

    /// Creates a sandbox at a provider. Returns its number and its id.
    pub(crate) async fn create_at(self: &Arc<Self>, provider: &str, options: Value) -> (u64, String) {
        self.create_sandbox(json!({ "method": "createAt", "args": [provider, options] })).await
    }

    async fn create_sandbox(self: &Arc<Self>, request: Value) -> (u64, String) {
        let made = self.call(request).result().await["result"].take();
        let id = made["id"].as_str().expect("a sandbox has an id").to_owned();
        (made["sandbox"].as_u64().expect("a sandbox has a number"), id)
    }

    /// Waits for the process, which must exit on its own and without an unhandled error.
    pub(crate) fn finish(&self) {
        *self.requests.lock() = None;
        let status = self.process.lock().wait().expect("it was started");
        assert!(status.success(), "Node ended with {status}");
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let process = self.process.get_mut();
        // It has already exited unless a test failed.
        let _ = process.kill();
        let _ = process.wait();
    }
}

fn hand_out(answers: ChildStdout, calls: &Calls) {
    for line in BufReader::new(answers).lines() {
        let Ok(line) = line else { break };
        let response: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let id = response["id"].as_u64().expect("a response names its call");
        let mut calls = calls.lock();
        if let Some(tells) = calls.get(&id) {
            let done = response.get("piece").is_none();
            // The receiver may be dropped.
            let _ = tells.send(response);
            if done {
                calls.remove(&id);
            }
        }
    }
    // Dropping the senders ends the pending calls.
    calls.lock().clear();
}

/// A call in progress. Dropping it cancels it in Node too.
#[derive(Debug)]
pub(crate) struct Call {
    id: u64,
    answers: UnboundedReceiver<Value>,
    node: Arc<Node>,
    ended: bool,
}

impl Call {
    /// Receives the next chunk of output, or the result.
    pub(crate) async fn next(&mut self) -> Value {
        let response = self.answers.recv().await.expect("Node exited without a response");
        self.ended = response.get("piece").is_none();
        if let Some(thrown) = response.get("thrown") {
            panic!("the class has thrown: {}", thrown.as_str().unwrap_or_default());
        }
        response
    }

    /// Receives the result, discarding earlier chunks.
    pub(crate) async fn result(mut self) -> Value {
        loop {
            let response = self.next().await;
            if self.ended {
                return response;
            }
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.ended {
            self.node.send(&json!({ "cancel": self.id }));
        }
    }
}
