//! A Node process that makes sandboxes of the npm package and calls them: `js-bindings/tests/line_protocol.mjs`.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

/// Calls that wait for their answers.
type Calls = Arc<Mutex<HashMap<u64, UnboundedSender<Value>>>>;

#[derive(Debug)]
pub(crate) struct Node {
    process: Mutex<Child>,
    requests: Mutex<Option<ChildStdin>>,
    calls: Calls,
    last: AtomicU64,
}

/// Where the package is installed, and by what it runs; `cargo xtask npm test` says both.
fn setting(name: &str) -> PathBuf {
    let said = std::env::var_os(name);
    said.unwrap_or_else(|| panic!("{name} is not set: run these tests by `cargo xtask npm test`")).into()
}

/// Bytes as the protocol writes them.
pub(crate) fn bytes(bytes: &[u8]) -> Value {
    json!({ "base64": BASE64.encode(bytes) })
}

/// Bytes that the protocol has written.
pub(crate) fn read_bytes(value: &Value) -> Option<Vec<u8>> {
    let text = value.get("base64")?.as_str()?;
    Some(BASE64.decode(text).expect("the protocol writes base64"))
}

impl Node {
    pub(crate) fn start() -> Arc<Self> {
        let folder = setting("TIDEBOX_NPM_FOLDER");
        let mut command = Command::new(setting("TIDEBOX_NODE"));
        command.current_dir(&folder).arg("--import").arg(folder.join("guard.mjs")).arg("line_protocol.mjs");
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Node starts");
        let answers = process.stdout.take().expect("its output is a pipe");
        let requests = Mutex::new(process.stdin.take());
        let calls = Calls::default();
        let waiting = Arc::clone(&calls);
        thread::spawn(move || hand_out(answers, &waiting));
        Arc::new(Self { process: Mutex::new(process), requests, calls, last: AtomicU64::new(0) })
    }

    fn send(&self, line: &Value) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(requests) = requests.as_mut() else { return };
        writeln!(requests, "{line}").expect("Node reads its requests");
    }

    /// Sends a request; what comes of it is received.
    pub(crate) fn call(self: &Arc<Self>, mut request: Value) -> Call {
        let id = self.last.fetch_add(1, Ordering::Relaxed);
        let (tells, answers) = mpsc::unbounded_channel();
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).insert(id, tells);
        request["id"] = json!(id);
        self.send(&request);
        Call { id, answers, node: Arc::clone(self), ended: false }
    }

    /// Whether this engine can suspend guests; `cargo xtask npm test` says so.
    pub(crate) fn suspends(&self) -> bool {
        setting("TIDEBOX_NODE_SUSPENDS") == PathBuf::from("1")
    }

    /// Makes a sandbox; answers its number and its id.
    pub(crate) async fn create(self: &Arc<Self>, options: Value) -> (u64, String) {
        self.made(json!({ "method": "create", "args": [options] })).await
    }

    /// Makes a sandbox at a provider; answers its number and its id.
    pub(crate) async fn create_at(self: &Arc<Self>, provider: &str, options: Value) -> (u64, String) {
        self.made(json!({ "method": "createAt", "args": [provider, options] })).await
    }

    async fn made(self: &Arc<Self>, request: Value) -> (u64, String) {
        let made = self.call(request).result().await["result"].take();
        let id = made["id"].as_str().expect("a sandbox has an id").to_owned();
        (made["sandbox"].as_u64().expect("a sandbox has a number"), id)
    }

    /// Lets the process end, which it has to do by itself and without an error that nobody caught.
    pub(crate) fn finish(&self) {
        *self.requests.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let status = self.process.lock().unwrap_or_else(PoisonError::into_inner).wait().expect("it was started");
        assert!(status.success(), "Node ended with {status}");
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let process = self.process.get_mut().unwrap_or_else(PoisonError::into_inner);
        // It has ended already unless a test has failed.
        let _ = process.kill();
        let _ = process.wait();
    }
}

fn hand_out(answers: ChildStdout, calls: &Calls) {
    for line in BufReader::new(answers).lines() {
        let Ok(line) = line else { break };
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let id = answer["id"].as_u64().expect("an answer names its call");
        let mut calls = calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tells) = calls.get(&id) {
            let done = answer.get("piece").is_none();
            // Whoever asked may have given up.
            let _ = tells.send(answer);
            if done {
                calls.remove(&id);
            }
        }
    }
    // Who still waits is told by the end of the channel.
    calls.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// A call in progress. Dropped before its end, it is given up on the other side too.
#[derive(Debug)]
pub(crate) struct Call {
    id: u64,
    answers: UnboundedReceiver<Value>,
    node: Arc<Node>,
    ended: bool,
}

impl Call {
    /// The next piece of output, or the end.
    pub(crate) async fn next(&mut self) -> Value {
        let answer = self.answers.recv().await.expect("Node has ended before it answered");
        self.ended = answer.get("piece").is_none();
        if let Some(thrown) = answer.get("thrown") {
            panic!("the class has thrown: {}", thrown.as_str().unwrap_or_default());
        }
        answer
    }

    /// The end, without the pieces before it.
    pub(crate) async fn result(mut self) -> Value {
        loop {
            let answer = self.next().await;
            if self.ended {
                return answer;
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
