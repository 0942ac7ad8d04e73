//! `tidebox backend`: one sandbox for a program in any language, one JSON object per line. `docs/stdio-backend.md` specifies the
//! protocol.

mod process;
mod python;
mod request;
mod response;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::sync::Arc;
use std::thread;

use crate::{Error, ErrorKind, PortEndpoint, Sandbox};
use anyhow::{Context as _, Result};
use serde::Serialize;
use serde_json::Value;
use tokio::select;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::cli::args;
use crate::cli::sandbox;
use python::Interpreters;
use request::Request;

/// Maximum length of a request in bytes. An upload of the largest file that a sandbox may hold is about 700 MiB in base64.
const LINE_BYTES: u64 = 1 << 30;

/// Maximum number of queued requests. If the queue is full, the client has to wait.
const MAX_QUEUED_LINES: usize = 16;

/// Maximum number of requests in progress. More than an agent starts at the same time, and few enough that their processes stay
/// below the limit of one sandbox.
const MAX_CONCURRENT: usize = 64;

/// State of the server.
#[derive(Debug)]
struct ServerState {
    sandbox: Arc<Sandbox>,
    python: Interpreters,
    /// Addresses that were returned, by the port in the sandbox.
    endpoints: tokio::sync::Mutex<BTreeMap<u16, PortEndpoint>>,
}

/// The reply to one request.
#[derive(Debug, Serialize)]
struct Reply {
    id: Value,
    #[serde(flatten)]
    outcome: Outcome,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    /// The result of the sandbox, including failed file operations.
    Result(Value),
    /// The request is invalid, or Tidebox failed.
    Error { kind: &'static str, message: String, retryable: bool },
}

impl From<Error> for Outcome {
    fn from(error: Error) -> Self {
        Self::Error { kind: error.kind().as_str(), message: error.to_string(), retryable: error.retryable() }
    }
}

/// Handles requests until the end of input and the last reply, or until the reader of the replies closes its end.
pub(crate) fn serve(args: &args::Backend) -> Result<u8> {
    let sandbox = Arc::new(sandbox::builder_with_options(&args.options)?.dialect(args.dialect).build()?);
    sandbox::runtime()?.block_on(handle_all(sandbox))
}

async fn handle_all(sandbox: Arc<Sandbox>) -> Result<u8> {
    let state =
        Arc::new(ServerState { sandbox, python: Interpreters::default(), endpoints: tokio::sync::Mutex::default() });
    let mut lines = lines()?;
    let mut running = JoinSet::new();
    let mut more = true;
    while more || !running.is_empty() {
        let reply = select! {
            line = lines.recv(), if more && running.len() < MAX_CONCURRENT => {
                match line {
                    Some(line) => drop(running.spawn(handle_line(Arc::clone(&state), line?))),
                    None => more = false,
                }
                continue;
            }
            Some(reply) = running.join_next() => reply.context("a request task panicked; this is a bug in tidebox")?,
        };
        match print(&reply) {
            // The client has exited. Running commands end with this process.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(0),
            printed => printed.context("cannot write a reply to stdout")?,
        }
    }
    Ok(0)
}

/// Reads lines of standard input on a separate thread, because reads block.
fn lines() -> Result<mpsc::Receiver<io::Result<Vec<u8>>>> {
    let (sender, lines) = mpsc::channel(MAX_QUEUED_LINES);
    let read = move || {
        let mut input = BufReader::new(io::stdin().lock());
        loop {
            let mut line = Vec::new();
            let read = input.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line);
            let line = match read {
                Ok(0) => return,
                Ok(_) if line.len() as u64 == LINE_BYTES && line.last() != Some(&b'\n') => {
                    Err(io::Error::new(io::ErrorKind::InvalidData, "the request exceeds 1 GiB"))
                }
                Ok(_) if line.trim_ascii().is_empty() => continue,
                Ok(_) => Ok(line),
                Err(error) => Err(error),
            };
            let failed = line.is_err();
            if sender.blocking_send(line).is_err() || failed {
                return;
            }
        }
    };
    thread::Builder::new()
        .name("requests".to_owned())
        .spawn(read)
        .context("cannot start the thread that reads stdin")?;
    Ok(lines)
}

fn print(reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply)?;
    line.push(b'\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(&line)?;
    stdout.flush()
}

async fn handle_line(state: Arc<ServerState>, line: Vec<u8>) -> Reply {
    let (id, request) = Request::parse(&line);
    // Free a long line before the request runs.
    drop(line);
    let result = match request {
        Ok(request) => response::handle(&state, request).await,
        Err(message) => Err(Error::new(ErrorKind::InvalidRequest, "request", message)),
    };
    Reply { id, outcome: result.map_or_else(Outcome::from, Outcome::Result) }
}
