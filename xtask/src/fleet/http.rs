//! A small client of HTTP/1.1.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// Time after which a response is given up.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum length of a body in bytes.
const MAX_BODY: usize = 16 << 20;

#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: String,
}

impl Reply {
    pub(super) fn json(&self) -> Result<Value> {
        serde_json::from_str(&self.body).with_context(|| format!("the response is not JSON: {}", self.body))
    }
}

/// A connection that is kept between requests.
pub(super) struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    pub(super) fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect_timeout(&address, Duration::from_secs(2))?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    pub(super) fn send(&mut self, method: &str, path: &str, headers: &str, body: &str) -> Result<Reply> {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer fleet\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n{headers}\r\n",
            body.len()
        );
        self.stream.get_mut().write_all([head.as_bytes(), body.as_bytes()].concat().as_slice())?;
        let status = self.line()?;
        let status = status.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.context("the response has no status")?;
        let mut length = None;
        loop {
            let line = self.line()?.to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = Some(value.trim().parse::<usize>()?);
            }
        }
        let length = if status == 204 { 0 } else { length.context("the response has no length")? };
        if length > MAX_BODY {
            bail!("the response has {length} bytes");
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(Reply { status, body: String::from_utf8_lossy(&body).into_owned() })
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            bail!("the connection was closed");
        }
        Ok(line.trim_end().to_owned())
    }
}

/// Sends a request over a separate connection.
pub(super) fn send(address: SocketAddr, method: &str, path: &str, headers: &str, body: &str) -> Result<Reply> {
    let headers = format!("connection: close\r\n{headers}");
    Connection::open(address)?.send(method, path, &headers, body)
}

/// Creates a sandbox and returns its path.
pub(super) fn create(address: SocketAddr) -> Result<String> {
    let reply = send(address, "POST", "/v1/sandboxes", "", "{}")?;
    if reply.status != 201 {
        bail!("status {}: {}", reply.status, reply.body);
    }
    let id = reply.json()?["id"].as_str().context("the response has no id")?.to_owned();
    Ok(format!("/v1/sandboxes/{id}"))
}

/// Repeats an attempt until it succeeds.
pub(super) fn eventually<T>(limit: Duration, attempt: impl Fn() -> Result<T>) -> Result<T> {
    let end = Instant::now() + limit;
    loop {
        match attempt() {
            Ok(value) => return Ok(value),
            Err(error) if Instant::now() >= end => return Err(error),
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    }
}
