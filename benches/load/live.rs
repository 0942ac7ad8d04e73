//! Soak of what outlives a call: residents, sockets, exposed ports and terminals, which end at any moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tidebox::{
    ExecuteRequest, OutputCursor, PortExt, Process, ProcessSignal, ReadOutput, Sandbox, SandboxBackend, SpawnInput,
    SpawnRequest, TerminalSize,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::{Dice, Footprint, compare, fill_all_pool_slots, sandbox, warm};

/// Concurrent sandboxes.
const WORKERS: u64 = 24;

/// Maximum time to wait for an expected output or a response.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that responds to every HTTP request.
const SERVER: &str = "while :; do printf 'HTTP/1.0 200 OK\\r\\n\\r\\nserved' | nc -lN 8000 >/dev/null; done";

type Outcome = Result<(), String>;

/// Runs rounds of `round` each, with new sandboxes. The memory, the descriptors and the threads after each are compared with those
/// after the first: what is kept on purpose is kept then.
pub(super) async fn soak(rounds: u32, round: Duration) -> Vec<String> {
    warm(8).await;
    if round >= Duration::from_secs(60) {
        fill_all_pool_slots().await;
    }
    let mut errors = Vec::new();
    let mut before = None;
    for number in 1..=rounds {
        errors.extend(one_round(round, number).await);
        // The connections of the last sandboxes end in separate tasks.
        tokio::time::sleep(Duration::from_secs(1)).await;
        match before {
            None => {
                before = Footprint::now();
                if let Some(Footprint { descriptors, threads, .. }) = before {
                    let resident = before.map_or(0.0, Footprint::mib);
                    println!("live round {number}: {resident:.0} MiB, {descriptors} descriptors, {threads} threads");
                }
            }
            // As many sandboxes as a thousand commands use: the noise of the allocator is smaller than the bound.
            Some(_) => errors.extend(compare(&format!("live round {number}"), before, super::LIVE)),
        }
    }
    errors
}

async fn one_round(length: Duration, number: u32) -> Vec<String> {
    let (ends, sessions) = (Instant::now() + length, Arc::new(AtomicU64::new(0)));
    let mut workers = JoinSet::new();
    for worker in 0..WORKERS {
        let sessions = Arc::clone(&sessions);
        workers.spawn(async move {
            let mut dice = Dice(worker + u64::from(number) * 1000);
            let mut errors = Vec::new();
            while Instant::now() < ends && errors.len() < 10 {
                let sandbox = Arc::new(sandbox());
                for _ in 0..=dice.below(6) {
                    let (name, outcome) = session(&sandbox, &mut dice).await;
                    errors.extend(outcome.err().map(|error| format!("{name}: {error}")));
                    sessions.fetch_add(1, Ordering::Relaxed);
                }
                if dice.below(2) == 0 && sandbox.close().await.is_err() {
                    errors.push("the sandbox cannot be closed".to_owned());
                }
                // Otherwise it is dropped with its processes.
            }
            errors
        });
    }
    let mut errors = Vec::new();
    while let Some(ended) = workers.join_next().await {
        errors.extend(ended.unwrap_or_else(|panic| vec![panic.to_string()]));
    }
    println!("live round {number}: {} sessions in {:.0} s", sessions.load(Ordering::Relaxed), length.as_secs_f64());
    errors
}

/// Runs one session of a random kind. Half of them are abandoned.
async fn session(sandbox: &Arc<Sandbox>, dice: &mut Dice) -> (&'static str, Outcome) {
    let is_abandoned = dice.below(2) == 0;
    match dice.below(5) {
        0 => ("resident", resident(sandbox, is_abandoned).await),
        1 => ("terminal", terminal(sandbox, is_abandoned).await),
        2 => ("exposed port", exposed(sandbox, is_abandoned).await),
        3 => ("sockets", sockets(sandbox).await),
        _ => ("command that ends", ends_at_once(sandbox, dice).await),
    }
}

async fn start(sandbox: &Arc<Sandbox>, request: SpawnRequest) -> Result<Process, String> {
    let backend: Arc<dyn SandboxBackend> = Arc::<Sandbox>::clone(sandbox);
    match Process::spawn(backend, request).await {
        Ok(process) => Ok(process),
        Err(error) => Err(error.to_string()),
    }
}

/// Reads until the output contains `wanted`.
async fn expect(process: &Process, wanted: &str) -> Outcome {
    let (mut after, mut output) = (OutputCursor::START, Vec::new());
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        let page =
            process.read(ReadOutput::after(after).with_wait(PATIENCE)).await.map_err(|error| error.to_string())?;
        after = page.next;
        output.extend(page.bytes());
        if String::from_utf8_lossy(&output).contains(wanted) {
            return Ok(());
        }
        if page.state.has_ended() && page.chunks.is_empty() {
            break;
        }
    }
    Err(format!("{wanted:?} does not come: {:?}", String::from_utf8_lossy(&output)))
}

async fn end(process: &Process, is_abandoned: bool) -> Outcome {
    if is_abandoned {
        return Ok(());
    }
    process.signal(ProcessSignal::Kill).await.map_err(|error| error.to_string())?;
    process.wait().await.map(drop).map_err(|error| error.to_string())
}

async fn resident(sandbox: &Arc<Sandbox>, is_abandoned: bool) -> Outcome {
    let request = SpawnRequest::new("while read -r line; do echo \"got $line\"; done").with_input(SpawnInput::Open);
    let process = start(sandbox, request).await?;
    process.write_all(b"one\n").await.map_err(|error| error.to_string())?;
    expect(&process, "got one").await?;
    end(&process, is_abandoned).await
}

async fn terminal(sandbox: &Arc<Sandbox>, is_abandoned: bool) -> Outcome {
    let request = SpawnRequest::new("PS1='$> ' exec bash --norc").with_terminal(TerminalSize::new(24, 80));
    let process = start(sandbox, request).await?;
    expect(&process, "$> ").await?;
    process.write_all(b"sleep 100 & stty size\r").await.map_err(|error| error.to_string())?;
    // Keys before the prompt would be echoed before it.
    expect(&process, "24 80\r\n$> ").await?;
    process.resize(TerminalSize::new(30, 90)).await.map_err(|error| error.to_string())?;
    // A program that has not started would not get the key.
    process.write_all(b"echo ready-$((1 + 1)); cat\r").await.map_err(|error| error.to_string())?;
    expect(&process, "ready-2\r\n").await?;
    process.write_all(b"typed\r").await.map_err(|error| error.to_string())?;
    expect(&process, "typed\r\ntyped\r\n").await?;
    process.write_all(b"\x03stty size\r").await.map_err(|error| error.to_string())?;
    expect(&process, "30 90").await?;
    end(&process, is_abandoned).await
}

async fn exposed(sandbox: &Arc<Sandbox>, is_abandoned: bool) -> Outcome {
    // One server of each sandbox has the port.
    let server = start(sandbox, SpawnRequest::new(SERVER).with_tag("server")).await?;
    let waited = sandbox.wait_for_port(8000, PATIENCE).await;
    waited.map_err(|error| error.to_string())?;
    let endpoint = sandbox.port_endpoint(8000).await.map_err(|error| error.to_string())?;
    let address = endpoint.url.trim_start_matches("http://").to_owned();
    let deadline = Instant::now() + PATIENCE;
    loop {
        let reply = request(&address).await.unwrap_or_default();
        if reply.ends_with("served") {
            break;
        }
        // The server may be between two connections.
        if Instant::now() > deadline {
            return Err(format!("no response: {reply:?}"));
        }
    }
    drop(endpoint);
    end(&server, is_abandoned).await
}

async fn request(address: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(format!("GET / HTTP/1.0\r\nHost: {address}\r\n\r\n").as_bytes()).await?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await?;
    Ok(reply)
}

/// Two programs of the sandbox exchange bytes.
async fn sockets(sandbox: &Arc<Sandbox>) -> Outcome {
    let command = "nc -l 9001 > got & until ss -Htln | grep -q :9001; do :; done; seq 1 1000 | nc -N localhost 9001; \
                   wait; wc -l < got; rm got";
    let response = sandbox.execute(ExecuteRequest::new(command)).await.map_err(|error| error.to_string())?;
    if response.output_text() == "1000\n" { Ok(()) } else { Err(response.output_text().into_owned()) }
}

/// A command that is dropped while it listens and connects.
async fn ends_at_once(sandbox: &Arc<Sandbox>, dice: &mut Dice) -> Outcome {
    let command = "nc -lk 9002 > /dev/null & yes | nc localhost 9002";
    let time = Duration::from_millis(dice.below(30) as u64);
    // It is expected to be dropped at any point.
    let _ = tokio::time::timeout(time, sandbox.execute(ExecuteRequest::new(command))).await;
    Ok(())
}
