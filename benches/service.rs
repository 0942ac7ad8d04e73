//! Load of the REST API: clients that each have a sandbox and run commands, and a SIGTERM in the middle.
//!
//! - `cargo bench --bench service -- 1000 20`: 1,000 clients for 20 seconds, then SIGTERM while all of them wait for responses.
//!
//! It starts the command `tidebox serve`, prints the time of each kind of call, and ends with 1 if a response was wrong, incomplete or
//! lost. A request that the service denied while it drained (503), or a connection that it did not accept any more, is not lost:
//! nothing was acknowledged.

#![allow(clippy::print_stdout, reason = "the figures are what this program is for")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Times by kind of call.
type Times = BTreeMap<&'static str, Vec<Duration>>;

/// Outcome of one call.
enum Outcome {
    Complete(u16, Value),
    /// Denied or not accepted, before anything was acknowledged.
    Refused,
    /// A part of a response.
    Incomplete(String),
}

/// Results of one client.
#[derive(Default)]
struct Report {
    times: Times,
    after_signal: usize,
    refused: usize,
    errors: Vec<String>,
}

struct Load {
    address: SocketAddr,
    is_ending: AtomicBool,
    running: AtomicUsize,
}

fn start() -> (Child, SocketAddr) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidebox"));
    command.args(["serve", "--drain", "60"]).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    let mut address = None;
    for line in BufReader::new(child.stdout.take().expect("a pipe")).lines() {
        let line = line.expect("it prints");
        if let Some(url) = line.strip_prefix("export TIDEBOX_URL=http://") {
            address = url.parse().ok();
        }
        if line.starts_with("# ready") {
            break;
        }
    }
    (child, address.expect("it is ready"))
}

/// A client with a connection that it keeps.
struct Client {
    load: Arc<Load>,
    stream: Option<TcpStream>,
}

impl Client {
    async fn call(&mut self, method: &str, path: &str, body: Option<Value>) -> Outcome {
        let Ok(mut stream) = self.connect().await else { return Outcome::Refused };
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.load.address,
            body.len()
        );
        if stream.write_all(head.as_bytes()).await.is_err() {
            return Outcome::Refused;
        }
        let outcome = read(&mut stream).await;
        if let Outcome::Complete(status, _) = &outcome
            && *status != 503
        {
            self.stream = Some(stream);
        }
        outcome
    }

    async fn connect(&mut self) -> std::io::Result<TcpStream> {
        match self.stream.take() {
            Some(stream) => Ok(stream),
            None => TcpStream::connect(self.load.address).await,
        }
    }
}

async fn read(stream: &mut TcpStream) -> Outcome {
    let mut reply = Vec::new();
    let mut chunk = vec![0; 16 << 10];
    loop {
        let end = reply.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end {
            let head = String::from_utf8_lossy(&reply[..end]).to_lowercase();
            let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
            let length =
                head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse::<usize>().ok());
            let length = length.unwrap_or(0);
            if reply.len() >= end + 4 + length {
                let body = serde_json::from_slice(&reply[end + 4..end + 4 + length]).unwrap_or(Value::Null);
                return if status == 503 { Outcome::Refused } else { Outcome::Complete(status, body) };
            }
        }
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) if reply.is_empty() => return Outcome::Refused,
            Ok(0) | Err(_) => return Outcome::Incomplete(String::from_utf8_lossy(&reply).into_owned()),
            Ok(count) => reply.extend_from_slice(&chunk[..count]),
        }
    }
}

async fn client(load: Arc<Load>, number: usize) -> Report {
    let mut report = Report::default();
    let mut client = Client { load: Arc::clone(&load), stream: None };
    let start = Instant::now();
    let Outcome::Complete(201, created) = client.call("POST", "/v1/sandboxes", Some(json!({}))).await else {
        report.errors.push("cannot create a sandbox".to_owned());
        return report;
    };
    report.times.entry("create").or_default().push(start.elapsed());
    let path = format!("/v1/sandboxes/{}", created["id"].as_str().unwrap_or_default());
    load.running.fetch_add(1, Ordering::Relaxed);
    for round in 0.. {
        let token = format!("{number}-{round}");
        let (name, method, target, body, expected) = match round % 4 {
            0 => {
                let body = json!({ "path": "f", "content": { "text": format!("{token}\n") } });
                ("write", "POST", format!("{path}/files/write"), Some(body), json!("/workspace/f"))
            }
            1 => {
                let command = format!("echo {token} | tr a-z A-Z");
                (
                    "execute",
                    "POST",
                    format!("{path}/execute"),
                    Some(json!({ "command": command })),
                    json!(format!("{token}\n")),
                )
            }
            2 => {
                let last = json!(format!("{number}-{}\n", round - 2));
                ("read", "POST", format!("{path}/files/read"), Some(json!({ "path": "f" })), last)
            }
            _ => ("list", "GET", format!("{path}/files/list?path=/workspace"), None, json!("/workspace/f")),
        };
        let start = Instant::now();
        let outcome = client.call(method, &target, body).await;
        match outcome {
            Outcome::Complete(200, value) => {
                let found = [&value["stdout"], &value["text"], &value["path"], &value["entries"][0]["path"]];
                let is_same = |found: &&Value| found.as_str().map(str::trim) == expected.as_str().map(str::trim);
                if !found.iter().any(is_same) {
                    report.errors.push(format!("{name}: expected {expected}, found {value}"));
                }
                report.times.entry(name).or_default().push(start.elapsed());
                report.after_signal += usize::from(load.is_ending.load(Ordering::Relaxed));
            }
            Outcome::Refused if load.is_ending.load(Ordering::Relaxed) => {
                report.refused += 1;
                return report;
            }
            Outcome::Refused => report.errors.push(format!("{name}: refused before the signal")),
            Outcome::Complete(status, value) => report.errors.push(format!("{name}: status {status}: {value}")),
            Outcome::Incomplete(part) => report.errors.push(format!("{name}: half a response: {part}")),
        }
        if !report.errors.is_empty() {
            return report;
        }
    }
    report
}

fn percentile(times: &[Duration], percent: usize) -> f64 {
    let at = (times.len().saturating_sub(1)) * percent / 100;
    times.get(at).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}

async fn run(clients: usize, length: Duration) -> Vec<String> {
    let (mut child, address) = start();
    let load = Arc::new(Load { address, is_ending: AtomicBool::new(false), running: AtomicUsize::new(0) });
    let mut running = JoinSet::new();
    for number in 0..clients {
        running.spawn(client(Arc::clone(&load), number));
    }
    let begin = Instant::now();
    while load.running.load(Ordering::Relaxed) < clients && begin.elapsed() < Duration::from_secs(60) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    println!("{clients} clients with sandboxes after {:.1} s", begin.elapsed().as_secs_f64());
    tokio::time::sleep(length).await;
    load.is_ending.store(true, Ordering::Relaxed);
    let id = i32::try_from(child.id()).expect("a process id");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(id), nix::sys::signal::Signal::SIGTERM)
        .expect("the signal is sent");
    let signal = Instant::now();
    let mut total = Report::default();
    while let Some(report) = running.join_next().await {
        let report = report.expect("a client does not panic");
        for (name, times) in report.times {
            total.times.entry(name).or_default().extend(times);
        }
        total.after_signal += report.after_signal;
        total.refused += report.refused;
        total.errors.extend(report.errors);
    }
    let status = child.wait().expect("it ends");
    let calls: usize = total.times.values().map(Vec::len).sum();
    for (name, times) in &mut total.times {
        times.sort_unstable();
        let (half, most) = (percentile(times, 50), percentile(times, 99));
        println!("{name:8} {:7} calls  p50 {half:8.1} ms  p99 {most:8.1} ms", times.len());
    }
    println!("{:.0} calls per second", calls as f64 / (begin.elapsed() - signal.elapsed()).as_secs_f64());
    println!(
        "SIGTERM: {} responses after it, {} clients refused, ended after {:.2} s with {status}",
        total.after_signal,
        total.refused,
        signal.elapsed().as_secs_f64()
    );
    if !status.success() {
        total.errors.push(format!("the service ended with {status}"));
    }
    if total.refused + total.errors.len() != clients {
        total.errors.push(format!("{} of {clients} clients ended as expected", total.refused));
    }
    total.errors
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let number = |at: usize, default: u64| arguments.get(at).map_or(default, |text| text.parse().expect("a number"));
    let (clients, seconds) = (number(0, 20), number(1, 2));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("the runtime starts");
    let errors = runtime.block_on(run(usize::try_from(clients).expect("a number"), Duration::from_secs(seconds)));
    for error in errors.iter().take(10) {
        println!("error: {error}");
    }
    std::process::exit(i32::from(!errors.is_empty()));
}
