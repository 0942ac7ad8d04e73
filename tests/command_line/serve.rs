//! `tidebox serve`: emulators of providers.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::run::{PLANTED, command, tidebox};

/// A server and the variables that it printed.
pub(crate) struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    pub(crate) variables: BTreeMap<String, String>,
}

impl Server {
    pub(crate) fn start(options: &[&str]) -> Self {
        let mut child =
            command(&[&["serve"], options].concat()).stdout(Stdio::piped()).spawn().expect("the server starts");
        let stdout = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        let mut server = Self { child, stdout, variables: BTreeMap::new() };
        while !server.reads_that_it_is_ready() {}
        server
    }

    fn reads_that_it_is_ready(&mut self) -> bool {
        let mut line = String::new();
        assert_ne!(self.stdout.read_line(&mut line).expect("it prints"), 0, "it ended before it was ready");
        if let Some((name, value)) = line.trim_end().strip_prefix("export ").and_then(|rest| rest.split_once('=')) {
            self.variables.insert(name.to_owned(), value.trim_matches('\'').to_owned());
        }
        line.starts_with("# ready")
    }

    /// Sends a request to the E2B emulator and returns status and body.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let address = self.variables["E2B_API_URL"].trim_start_matches("http://").to_owned();
        let mut stream = TcpStream::connect(&address).expect("it listens");
        let length = body.len();
        let head = format!("{method} {path} HTTP/1.0\r\nhost: {address}\r\ncontent-length: {length}\r\n{headers}\r\n");
        stream.write_all(&[head.as_bytes(), body].concat()).expect("it reads");
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).expect("it responds");
        let end = reply.windows(4).position(|four| four == b"\r\n\r\n").expect("the reply has a head");
        let status = String::from_utf8_lossy(&reply[..end]);
        let status = status.split(' ').nth(1).expect("a status").parse().expect("a number");
        (status, reply[end + 4..].to_vec())
    }

    fn create(&self) -> Value {
        let key = format!("x-api-key: {}\r\ncontent-type: application/json\r\n", self.variables["E2B_API_KEY"]);
        let (status, body) = self.ask("POST", "/v2/sandboxes", &key, b"{\"templateID\":\"base\"}");
        assert_eq!(status, 201, "{}", String::from_utf8_lossy(&body));
        serde_json::from_slice(&body).expect("JSON")
    }

    /// Runs a command in a sandbox and returns the messages of the stream as one text.
    fn execute(&self, sandbox: &Value, line: &str) -> String {
        let text = |name: &str| sandbox[name].as_str().expect("text").to_owned();
        let headers = format!(
            "e2b-sandbox-id: {}\r\nx-access-token: {}\r\ncontent-type: application/connect+json\r\n",
            text("sandboxID"),
            text("envdAccessToken"),
        );
        let message = json!({ "process": { "cmd": "/bin/bash", "args": ["-l", "-c", line] } }).to_string();
        let length = u32::try_from(message.len()).expect("a short message").to_be_bytes();
        let envelope = [&[0], &length[..], message.as_bytes()].concat();
        let (status, body) = self.ask("POST", "/process.Process/Start", &headers, &envelope);
        assert_eq!(status, 200);
        String::from_utf8_lossy(&body).into_owned()
    }

    /// Sends a signal, and returns its exit code and the output since it was ready.
    #[cfg(unix)]
    fn end(mut self, signal: nix::sys::signal::Signal) -> (Option<i32>, String) {
        let id = i32::try_from(self.child.id()).expect("a number of a process");
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(id), signal).expect("the signal is sent");
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).expect("it closes its output");
        (self.child.wait().expect("it ends").code(), rest)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has already exited unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn clients_create_sandboxes_with_the_options() {
    let server = Server::start(&["--provider", "e2b", "--env", "A=1", "--limits", "output=1K"]);
    let sandbox = server.create();
    // `one` and a line end in base64, as the daemon sends bytes.
    assert!(server.execute(&sandbox, "echo $A | sed s/1/one/").contains("b25lCg=="));
    let printed = server.execute(&sandbox, &format!("printenv {}", PLANTED.0));
    assert!(printed.contains("\"exitCode\":1"), "nothing of the host is seen: {printed}");
    let (status, _) =
        server.ask("POST", "/v2/sandboxes", "x-api-key: wrong\r\ncontent-type: application/json\r\n", b"{}");
    assert_eq!(status, 401);
}

#[cfg(unix)]
#[test]
fn an_interrupt_stops_the_server_and_its_commands() {
    use nix::sys::signal::Signal;
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let server = Server::start(&["--provider=all"]);
        let sandbox = server.create();
        let started = server.execute(&sandbox, "sleep 100 & echo");
        assert!(started.contains("start"), "{started}");
        assert_eq!(server.end(signal), (Some(0), String::new()));
    }
}

#[test]
fn a_port_in_use_is_reported() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("an address").to_string();
    let rejected = tidebox(&["serve", "--provider", "e2b", "--listen", &address]);
    assert_eq!(rejected.code, Some(125));
    assert!(rejected.stderr().contains(&address) && rejected.stderr().contains("e2b"), "{}", rejected.stderr());
}

#[test]
fn invalid_serve_options_fail_before_serving() {
    for (options, expected) in [
        (&["--provider", "e3b"][..], "invalid value 'e3b' for '--provider <NAME,...>'"),
        (&["--tls-cert", "cert.pem"], "--tls-key"),
        (&["--tenants", "/nowhere/tenants.toml"], "cannot read tenants from /nowhere/tenants.toml"),
        (&["--provider", "e2b", "--listen", "here"], "expected ADDRESS:PORT"),
        (&["--provider", "e2b", "--listen", "0.0.0.0:0"], "--key"),
        (&["--provider", "e2b", "now"], "now"),
        (&["--public-url", "https://e.example"], "--public-url daytona=https://e.example"),
        (&["--provider", "rest,e2b", "--public-url", "daytona=https://e.example"], "daytona, which is not served"),
        (&["--provider", "rest,e2b", "--public-url", "e3b=https://e.example"], "unknown provider e3b"),
        (&["--provider", "e2b", "--public-url", "e.example"], "expected a URL"),
        (&["--provider", "e2b", "--public-url", "http://a", "--public-url", "http://b"], "twice for one provider"),
        (&["--store", "file:///tmp/x", "--directory", "nats://host"], "NATS"),
    ] {
        let ran = tidebox(&[&["serve"], options].concat());
        assert_eq!((ran.code, ran.stdout().as_str()), (Some(125), ""), "{options:?}");
        assert!(ran.stderr().contains(expected), "{options:?}: {}", ran.stderr());
    }
}
