//! A service in this process, and a client of its REST API.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tidebox::service::{Server, ServerConfig, Service, ServiceConfig, Tenants};
use tokio::runtime::Runtime;

/// Memory of a sandbox that requests none.
pub(crate) const MEMORY: u64 = 512 << 20;

/// A running service.
pub(crate) struct Fixture {
    pub(crate) runtime: Runtime,
    pub(crate) service: Service,
    pub(crate) server: Server,
}

/// A client with a token.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
}

/// Response to a request.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// Returns the text of a tenants' file: name, token, and further lines of each.
pub(crate) fn tenants_file(tenants: &[(&str, &str, &str)]) -> String {
    let entry = |(name, token, quotas): &(&str, &str, &str)| {
        let hash: String = Sha256::digest(token).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("[tenants.{name}]\ntokens = [\"sha256:{hash}\"]\n{quotas}\n")
    };
    tenants.iter().map(entry).collect()
}

impl Fixture {
    pub(crate) fn start(tenants: &[(&str, &str, &str)]) -> Self {
        Self::with_config(tenants, |_| {})
    }

    pub(crate) fn with_config(tenants: &[(&str, &str, &str)], change: impl FnOnce(&mut ServiceConfig)) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let tenants = Tenants::parse(&tenants_file(tenants)).unwrap();
        let mut config = ServiceConfig { tenants, memory_bytes: MEMORY, idle: None, log: false, is_open: false };
        change(&mut config);
        let make = |egress: &[String]| {
            let mut sandbox = tidebox::sandbox()?;
            let mut policy = None::<tidebox::network::NetworkPolicy>;
            for host in egress {
                policy = Some(policy.unwrap_or_default().allow(tidebox::network::AllowRule::host(host)?));
            }
            if let Some(policy) = policy {
                sandbox = sandbox.network(policy);
            }
            Ok(sandbox)
        };
        let service = Service::new(config, tidebox::service_sandboxes(make));
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        let config = ServerConfig { listen, tls: None, metrics: Some(listen) };
        let server = runtime.block_on(Server::start(service.clone(), config)).unwrap();
        let reaper = service.clone();
        runtime.spawn(async move { reaper.reap().await });
        Self { runtime, service, server }
    }

    pub(crate) fn client(&self, token: &str) -> Client {
        Client { address: self.server.address(), token: token.to_owned() }
    }
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Client {
    /// Sends a request over a separate connection.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(&self.request(method, path, headers, body)).unwrap();
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).unwrap();
        parse(&reply)
    }

    /// Returns the bytes of a request. Version 1.0 of HTTP has no chunks, and ends with the connection.
    pub(crate) fn request(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
        let (address, token, length) = (self.address, &self.token, body.len());
        let authorization = if token.is_empty() { String::new() } else { format!("authorization: Bearer {token}\r\n") };
        let head = format!(
            "{method} {path} HTTP/1.0\r\nhost: {address}\r\n{authorization}content-length: {length}\r\n{headers}\r\n"
        );
        [head.as_bytes(), body].concat()
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send("GET", path, "", b"")
    }

    pub(crate) fn post(&self, path: &str, body: Value) -> Reply {
        self.send("POST", path, "content-type: application/json\r\n", body.to_string().as_bytes())
    }

    /// Creates a sandbox and returns its path.
    pub(crate) fn create(&self) -> String {
        let reply = self.post("/v1/sandboxes", json!({}));
        assert_eq!(reply.status, 201, "{}", reply.text());
        format!("/v1/sandboxes/{}", reply.json()["id"].as_str().unwrap())
    }

    /// Runs a command that succeeds, and returns its standard output.
    pub(crate) fn execute(&self, sandbox: &str, command: &str) -> String {
        let reply = self.post(&format!("{sandbox}/execute"), json!({ "command": command }));
        let value = reply.json();
        assert_eq!((reply.status, &value["exit_code"]), (200, &json!(0)), "{}", reply.text());
        value["stdout"].as_str().unwrap().to_owned()
    }
}

pub(crate) fn parse(reply: &[u8]) -> Reply {
    let end = reply.windows(4).position(|four| four == b"\r\n\r\n").expect("the reply has a head");
    let head = String::from_utf8_lossy(&reply[..end]).into_owned();
    let status = head.split(' ').nth(1).expect("a status").parse().expect("a number");
    Reply { status, head, body: reply[end + 4..].to_vec() }
}

pub(crate) fn sandbox_shared() -> Arc<Fixture> {
    use std::sync::OnceLock;
    static SHARED: OnceLock<Arc<Fixture>> = OnceLock::new();
    Arc::clone(SHARED.get_or_init(|| Arc::new(Fixture::start(&[("a", "token-a", ""), ("b", "token-b", "")]))))
}
