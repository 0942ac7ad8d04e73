//! The HTTP transport: tokens, `Host` and `Origin`, both eras of the protocol, sandboxes by URL.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{TIDEBOX, Tests};

pub(crate) const TESTS: Tests = &[
    ("http_rejects_a_missing_or_wrong_token", http_rejects_a_missing_or_wrong_token),
    ("http_rejects_other_hosts_and_origins", http_rejects_other_hosts_and_origins),
    ("http_accepts_configured_hosts_and_origins", http_accepts_configured_hosts_and_origins),
    ("http_serves_both_eras_from_one_sandbox", http_serves_both_eras_from_one_sandbox),
    ("http_names_separate_sandboxes", http_names_separate_sandboxes),
    ("a_closed_connection_ends_its_command", a_closed_connection_ends_its_command),
    ("a_public_address_needs_a_token", a_public_address_needs_a_token),
    ("http_ends_on_a_signal", http_ends_on_a_signal),
];

/// A server over HTTP.
pub(crate) struct HttpServer {
    child: Child,
    pub(crate) url: String,
    pub(crate) token: String,
}

impl HttpServer {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(TIDEBOX);
        command.args(["mcp", "--http", "127.0.0.1:0"]).args(arguments).stdout(Stdio::piped());
        let child = command.spawn().expect("the server starts");
        let mut server = Self { child, url: String::new(), token: String::new() };
        let mut lines = BufReader::new(server.child.stdout.take().expect("stdout is piped")).lines();
        while let Some(line) = lines.next().transpose().expect("its output is text") {
            if let Some(value) = line.strip_prefix("export TIDEBOX_MCP_URL=") {
                value.clone_into(&mut server.url);
            } else if let Some(value) = line.strip_prefix("export TIDEBOX_MCP_TOKEN=") {
                value.trim_matches('\'').clone_into(&mut server.token);
            } else if line.starts_with("# ready") {
                return server;
            }
        }
        panic!("the server ended before it was ready");
    }

    fn address(&self) -> &str {
        self.url.strip_prefix("http://").and_then(|rest| rest.split('/').next()).expect("an address")
    }

    fn connect(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> TcpStream {
        let mut stream = TcpStream::connect(self.address()).expect("the server accepts");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        let body = body.to_string();
        let mut head = format!("POST {path} HTTP/1.1\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
        let defaults = [
            ("Host", self.address()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        let is_set = |name: &str| headers.iter().any(|(set, _)| set.eq_ignore_ascii_case(name));
        let bearer = format!("Bearer {}", self.token);
        let authorization = ("Authorization", bearer.as_str());
        for (name, value) in defaults.iter().chain([&authorization]).filter(|(name, _)| !is_set(name)).chain(headers) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).expect("the server reads");
        stream
    }

    /// Sends a message and returns the status, the headers and the body.
    fn post(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> (u16, String, String) {
        let mut response = Vec::new();
        self.connect(path, headers, body).read_to_end(&mut response).expect("the server responds");
        let response = String::from_utf8_lossy(&response).into_owned();
        let (head, body) = response.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, head.to_owned(), body.to_owned())
    }

    fn status(&self, headers: &[(&str, &str)]) -> u16 {
        self.post("/mcp", headers, &initialize()).0
    }

    /// Calls `bash` without a session, and returns its standard output.
    fn bash(&self, path: &str, command: &str) -> String {
        let request = modern("tools/call", json!({"name": "bash", "arguments": {"command": command}}));
        let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "bash")];
        let (status, _, body) = self.post(path, &headers, &request);
        assert_eq!(status, 200, "{body}");
        let result = event(&body);
        result["result"]["structuredContent"]["stdout"].as_str().unwrap_or_else(|| panic!("{body}")).to_owned()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn initialize() -> Value {
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

/// Returns a request of version 2026-07-28.
fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": params})
}

/// Returns the last message of an event stream, or the JSON body. Chunk sizes are on separate lines.
fn event(body: &str) -> Value {
    let mut data = body.lines().filter_map(|line| line.strip_prefix("data:")).filter(|data| !data.trim().is_empty());
    let json = data.next_back().unwrap_or(body);
    serde_json::from_str(json.trim()).unwrap_or_else(|error| panic!("{error}: {body}"))
}

fn http_rejects_a_missing_or_wrong_token() {
    let server = HttpServer::start(&[]);
    assert_eq!(server.token.len(), 64, "a random token");
    assert_eq!(server.status(&[]), 200);
    for value in [
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        &format!("Basic {}", server.token),
        &format!("Bearer {}x", server.token),
    ] {
        let (status, head, body) = server.post("/mcp", &[("Authorization", value)], &initialize());
        assert_eq!(status, 401, "{value}: {body}");
        assert!(head.to_ascii_lowercase().contains("www-authenticate: bearer"), "{head}");
        assert!(!body.contains(&server.token), "{body}");
    }
    assert_eq!(server.status(&[("Authorization", &format!("bearer {}", server.token))]), 200);
    assert_eq!(server.post("/mcp/other", &[("Authorization", "Bearer x")], &initialize()).0, 401);
    assert_eq!(server.post("/", &[], &initialize()).0, 404);
}

fn http_rejects_other_hosts_and_origins() {
    let server = HttpServer::start(&[]);
    for host in ["localhost", "127.0.0.1:80", "[::1]:1"] {
        assert_eq!(server.status(&[("Host", host)]), 200, "{host}");
    }
    for host in ["attacker.example", "localhost.attacker.example", "127.0.0.1.attacker.example:80"] {
        assert_eq!(server.status(&[("Host", host)]), 403, "{host}");
    }
    for origin in ["https://attacker.example", "http://localhost:3000", "null"] {
        assert_eq!(server.status(&[("Origin", origin)]), 403, "{origin}");
    }
}

fn http_accepts_configured_hosts_and_origins() {
    let server = HttpServer::start(&[
        "--allow-host",
        "box.example",
        "--allow-origin",
        "https://app.example:443",
        "--token",
        "secret",
    ]);
    assert_eq!(server.token, "secret");
    assert_eq!(server.status(&[("Host", "box.example"), ("Origin", "https://app.example")]), 200);
    assert_eq!(server.status(&[("Host", "other.example")]), 403);
    assert_eq!(server.status(&[("Origin", "http://app.example")]), 403);
}

fn http_serves_both_eras_from_one_sandbox() {
    let server = HttpServer::start(&[]);
    let (status, head, body) = server.post("/mcp", &[], &initialize());
    assert_eq!((status, &event(&body)["result"]["protocolVersion"]), (200, &json!("2025-11-25")));
    let session =
        head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("mcp-session-id: ").map(str::to_owned));
    let session = session.expect("a session of the older version");
    let in_session = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-11-25")];
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(server.post("/mcp", &in_session, &initialized).0, 202);
    let arguments = json!({"name": "bash", "arguments": {"command": "echo shared > file; cat file"}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": arguments});
    let (status, _, body) = server.post("/mcp", &in_session, &call);
    assert_eq!((status, &event(&body)["result"]["structuredContent"]["stdout"]), (200, &json!("shared\n")), "{body}");
    assert_eq!(server.bash("/mcp", "cat /workspace/file"), "shared\n", "the URL selects the sandbox, not the session");
    assert_eq!(server.post("/mcp/other", &in_session, &call).0, 404, "a session belongs to its URL");
}

fn http_names_separate_sandboxes() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let save = dir.path().to_str().expect("its name is UTF-8");
    let server = HttpServer::start(&["--save", save, "--sandbox", "main"]);
    server.bash("/mcp", "echo main > name");
    server.bash("/mcp/one", "echo one > name");
    assert_eq!(server.bash("/mcp/main", "cat name"), "main\n", "/mcp is the sandbox of --sandbox");
    assert_eq!(server.bash("/mcp/one", "cat name"), "one\n");
    assert_eq!(server.bash("/mcp/two", "cat name 2>&1"), "cat: name: No such file or directory\n");
    let (status, _, body) = server.post("/mcp/a.b", &[], &initialize());
    assert_eq!(status, 404, "{body}");
    drop(server);
    let server = HttpServer::start(&["--save", save]);
    assert_eq!(server.bash("/mcp/one", "cat name"), "one\n", "every change was saved");
}

/// Without sessions, closing the connection is the cancellation.
fn a_closed_connection_ends_its_command() {
    let server = HttpServer::start(&[]);
    let request = modern(
        "tools/call",
        json!({"name": "bash", "arguments": {"command": "while :; do echo >> ticks; sleep 0.02; done"}}),
    );
    let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "bash")];
    let stream = server.connect("/mcp", &headers, &request);
    while server.bash("/mcp", "cat ticks 2>/dev/null").is_empty() {
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(stream);
    let start = Instant::now();
    let mut last = String::new();
    loop {
        let ticks = server.bash("/mcp", "wc -l < ticks");
        if ticks == last {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "the command still runs");
        last = ticks;
        std::thread::sleep(Duration::from_millis(300));
    }
}

fn a_public_address_needs_a_token() {
    let output = Command::new(TIDEBOX).args(["mcp", "--http", "0.0.0.0:0"]).env_remove("TIDEBOX_MCP_TOKEN").output();
    let output = output.expect("the command runs");
    assert_eq!(output.status.code(), Some(125));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("not a loopback address; set a token"), "{message}");
}

#[cfg(unix)]
fn http_ends_on_a_signal() {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    let mut server = HttpServer::start(&[]);
    let request = modern("tools/call", json!({"name": "bash", "arguments": {"command": "sleep 1000"}}));
    let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "bash")];
    let _running = server.connect("/mcp", &headers, &request);
    server.bash("/mcp", "true");
    let id = i32::try_from(server.child.id()).expect("a process id");
    kill(Pid::from_raw(id), Signal::SIGTERM).expect("the signal is sent");
    let start = Instant::now();
    let status = loop {
        if let Some(status) = server.child.try_wait().expect("the server can be waited for") {
            break status;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "the server does not end");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(status.success(), "{status}");
}

#[cfg(not(unix))]
fn http_ends_on_a_signal() {
    println!("skipped: this system has no signals");
}
