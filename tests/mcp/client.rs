//! A client that writes and reads single messages.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::TIDEBOX;

/// Maximum time for a message. Long, because other tests may run at the same time.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server over the standard streams.
pub(crate) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    next_id: u64,
    /// Notifications that were read while a response was awaited.
    pub(crate) notifications: Vec<Value>,
}

impl Server {
    /// Starts a server without a handshake.
    pub(crate) fn spawn(arguments: &[&str]) -> Self {
        let mut command = Command::new(TIDEBOX);
        command.arg("mcp").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let output = BufReader::new(child.stdout.take().expect("stdout is piped"));
        // A full queue stops reading, so that a test can be a slow client.
        let (sender, lines) = mpsc::sync_channel(4);
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let input = child.stdin.take();
        Self { child, input, lines, next_id: 1, notifications: Vec::new() }
    }

    /// Starts a server and a session of an older version of the protocol.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut server = Self::spawn(arguments);
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let initialized = server.request("initialize", params);
        assert_eq!(initialized["result"]["protocolVersion"], "2025-11-25", "{initialized}");
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("stdin is open");
        writeln!(input, "{message}").expect("the server reads");
    }

    /// Sends a request and returns its id.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Reads the next message. Everything on standard output must be JSON.
    pub(crate) fn read(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("the server sends a message in time");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Reads until the response to a request.
    pub(crate) fn wait(&mut self, id: u64) -> Value {
        loop {
            let message = self.read();
            if message["id"] == id {
                return message;
            }
            assert!(message.get("id").is_none(), "a response to another request: {message}");
            self.notifications.push(message);
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.wait(id)
    }

    /// Calls a tool and returns its result.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let response = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(response.get("error").is_none(), "{tool}: {response}");
        response["result"].clone()
    }

    /// Calls a tool that succeeds and returns the structured content.
    pub(crate) fn value(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        assert_eq!(result["content"][0]["type"], "text", "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// Calls a tool that fails and returns the message.
    pub(crate) fn failure(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        result["content"][0]["text"].as_str().expect("a failure has a text").to_owned()
    }

    /// Runs a command and returns its standard output.
    pub(crate) fn bash(&mut self, command: &str) -> String {
        self.value("bash", json!({"command": command}))["stdout"].as_str().expect("stdout is text").to_owned()
    }

    /// Closes standard input and returns the status of the server and the time until it ended.
    pub(crate) fn close(mut self) -> (ExitStatus, Duration) {
        let start = Instant::now();
        drop(self.input.take());
        loop {
            if let Some(status) = self.child.try_wait().expect("the server can be waited for") {
                return (status, start.elapsed());
            }
            assert!(start.elapsed() < PATIENCE, "the server does not end");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Returns the resident memory in bytes, on Linux.
    pub(crate) fn memory(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A test that failed leaves the server running; one that succeeded has already ended it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
