//! `tidebox backend`: one sandbox for a program in any language, one JSON object per line. `docs/stdio-backend.md` is the
//! text of the protocol.

mod answer;
mod python;
mod request;
#[cfg(test)]
mod tests;

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::sync::Arc;
use std::thread;

use anyhow::{Context as _, Result};
use serde::Serialize;
use serde_json::Value;
use tidebox::{Dialect, Error, ErrorKind, Sandbox};
use tokio::select;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::arguments::Setting;
use crate::session;
use python::Interpreters;
use request::Request;

/// Longest line that is read: an upload of the largest file that a sandbox may hold is about 700 MiB in base64, and
/// whoever sends more does not speak this protocol.
const LINE_BYTES: u64 = 1 << 30;

/// Lines that wait to be taken up. A program that sends faster than the sandbox answers waits then.
const WAITING: usize = 16;

/// Requests in progress. More than an agent starts in a turn, and few enough that the processes of as many commands stay
/// below what one sandbox may have.
const AT_ONCE: usize = 64;

/// What requests are answered with.
#[derive(Debug)]
struct Served {
    sandbox: Arc<Sandbox>,
    python: Interpreters,
}

/// The answer to one request.
#[derive(Debug, Serialize)]
struct Reply {
    id: Value,
    #[serde(flatten)]
    outcome: Outcome,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    /// What the sandbox answers; that something is not there is an answer too.
    Result(Value),
    /// We could not do our job, or did not understand the request.
    Error { kind: &'static str, message: String, retryable: bool },
}

impl From<Error> for Outcome {
    fn from(error: Error) -> Self {
        Self::Error { kind: error.kind().as_str(), message: error.to_string(), retryable: error.retryable() }
    }
}

/// Answers requests until there are no more and the last one is answered, or until nobody reads the answers.
pub(crate) fn serve(setting: &Setting, dialect: Dialect) -> Result<u8> {
    let sandbox = Arc::new(session::shaped(setting)?.dialect(dialect).build()?);
    session::runtime()?.block_on(answer_all(sandbox))
}

async fn answer_all(sandbox: Arc<Sandbox>) -> Result<u8> {
    let served = Arc::new(Served { sandbox, python: Interpreters::default() });
    let mut lines = lines()?;
    let mut running = JoinSet::new();
    let mut more = true;
    while more || !running.is_empty() {
        let reply = select! {
            line = lines.recv(), if more && running.len() < AT_ONCE => {
                match line {
                    Some(line) => drop(running.spawn(answer(Arc::clone(&served), line?))),
                    None => more = false,
                }
                continue;
            }
            Some(reply) = running.join_next() => reply.context("a request failed in a way that is a defect of ours")?,
        };
        match print(&reply) {
            // Whoever asked has gone; what still runs ends with this process.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(0),
            printed => printed.context("cannot write an answer to stdout")?,
        }
    }
    Ok(0)
}

/// Lines of standard input, from a thread of its own because reading it blocks.
fn lines() -> Result<mpsc::Receiver<io::Result<Vec<u8>>>> {
    let (arrives, lines) = mpsc::channel(WAITING);
    let read = move || {
        let mut input = BufReader::new(io::stdin().lock());
        loop {
            let mut line = Vec::new();
            let read = input.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line);
            let line = match read {
                Ok(0) => return,
                Ok(_) if line.len() as u64 == LINE_BYTES && line.last() != Some(&b'\n') => {
                    Err(io::Error::new(io::ErrorKind::InvalidData, "a request is longer than 1 GiB"))
                }
                Ok(_) if line.trim_ascii().is_empty() => continue,
                Ok(_) => Ok(line),
                Err(error) => Err(error),
            };
            let failed = line.is_err();
            if arrives.blocking_send(line).is_err() || failed {
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

async fn answer(served: Arc<Served>, line: Vec<u8>) -> Reply {
    let (id, request) = Request::parse(&line);
    // The request holds what matters; a long line need not wait for its answer too.
    drop(line);
    let answered = match request {
        Ok(request) => answer::answer(&served, request).await,
        Err(why) => Err(Error::new(ErrorKind::InvalidRequest, "request", why)),
    };
    Reply { id, outcome: answered.map_or_else(Outcome::from, Outcome::Result) }
}
