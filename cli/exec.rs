//! `tidebox exec`: one command line, from its start to its exit code.

use std::future::pending;
use std::io::{self, Read as _, Write as _};

use anyhow::{Context, Result, bail};
use tidebox::{ExecuteRequest, ExecuteResponse, SandboxBackend};
use tokio::select;

use crate::arguments::Exec;
use crate::printer::{Broken, Printer};
use crate::report::Report;
use crate::session;

/// As a shell reports a writer that SIGPIPE ended.
const READER_GONE: u8 = 128 + 13;

/// Runs the command and returns its exit code.
pub(crate) fn exec(exec: Exec) -> Result<u8> {
    let stdin = if exec.stdin { read_stdin()? } else { Vec::new() };
    session::runtime()?.block_on(async {
        let sandbox = session::open(&exec.setting)?;
        let request = session::request(&exec.setting, exec.command)?.with_stdin(stdin);
        let response = if exec.json {
            let response = sandbox.execute(request).await?;
            print_report(&response)?;
            response
        } else {
            match stream(&*sandbox, request, pending()).await? {
                Ended::Response(response) => response,
                Ended::ReaderGone | Ended::Stopped => return Ok(READER_GONE),
            }
        };
        session::exit_code(&response)
    })
}

fn read_stdin() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).context("cannot read the standard input that --stdin asks for")?;
    Ok(bytes)
}

fn print_report(response: &ExecuteResponse) -> Result<()> {
    let mut line = serde_json::to_vec(&Report::new(response)).context("cannot write the response as JSON")?;
    line.push(b'\n');
    io::stdout().lock().write_all(&line).context("cannot write to stdout")
}

/// How a command that was printed as it ran came to its end.
#[derive(Debug)]
pub(crate) enum Ended {
    /// By itself or by a limit.
    Response(ExecuteResponse),
    /// The reader of our output has gone, which ended the command.
    ReaderGone,
    /// The caller's `stop` came first, which ended the command.
    Stopped,
}

/// Runs a command and prints its output as it arrives, until its end or until `stop` is ready.
pub(crate) async fn stream(
    sandbox: &dyn SandboxBackend,
    request: ExecuteRequest,
    stop: impl Future<Output = ()>,
) -> Result<Ended> {
    let (printer, broken) = Printer::start()?;
    let mut sink = |event| printer.print(event);
    let ended = select! {
        response = sandbox.execute_streaming(request, &mut sink) => Ended::Response(response?),
        () = broke(broken) => Ended::ReaderGone,
        () = stop => Ended::Stopped,
    };
    match printer.finish() {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Ended::ReaderGone),
        Err(error) => bail!("cannot print what the command wrote: {error}"),
    }
    if let Ended::Response(response) = &ended
        && response.truncated
    {
        eprintln!("tidebox: the command wrote more than is kept; raise --limits output=N to see the rest");
    }
    Ok(ended)
}

/// Ends when printing has failed, and never when the printer ended well.
async fn broke(broken: Broken) {
    if broken.await.is_err() {
        pending::<()>().await;
    }
}
