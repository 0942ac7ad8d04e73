//! `tidebox exec`: runs one command line, or one program.

use std::future::pending;
use std::io::{self, Read as _, Write as _};

use crate::{ExecuteRequest, ExecuteResponse, ExposedPort, PortExt as _, Sandbox, SandboxBackend};
use anyhow::{Context, Result, bail};
use tokio::select;

use crate::cli::args::{Exec, PublishedPort};
use crate::cli::exit_code;
use crate::cli::printer::{OutputClosed, Printer};
use crate::cli::report::Report;
use crate::cli::sandbox;

/// Runs the command and returns its exit code.
pub(crate) fn exec(exec: Exec) -> Result<u8> {
    let stdin = if exec.stdin { read_stdin()? } else { Vec::new() };
    sandbox::runtime()?.block_on(async {
        let sandbox = sandbox::builder(&exec.options)?.build()?;
        // Dropped with the command: the ports are closed then.
        let _published = publish(&sandbox, &exec.publish).await?;
        let request = sandbox::request(&exec.options, exec.command())?.with_stdin(stdin);
        let response = if exec.json {
            let response = sandbox.execute(request).await?;
            print_report(&response)?;
            response
        } else {
            match stream(&sandbox, request, pending()).await? {
                StreamEnd::Response(response) => response,
                StreamEnd::OutputClosed | StreamEnd::Stopped => return Ok(exit_code::OUTPUT_CLOSED),
            }
        };
        sandbox::exit_code(&response)
    })
}

/// Listens at ports of the host, and prints their addresses to standard error, which a script can read first.
async fn publish(sandbox: &Sandbox, ports: &[PublishedPort]) -> Result<Vec<ExposedPort>> {
    let mut published = Vec::new();
    for PublishedPort { port, host_port } in ports {
        let exposed = sandbox.expose_at(*port, *host_port).await;
        let exposed = exposed.with_context(|| format!("cannot publish port {port} of the sandbox"))?;
        eprintln!("tidebox: port {port} of the sandbox is at {}", exposed.url());
        published.push(exposed);
    }
    Ok(published)
}

fn read_stdin() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input for --stdin")?;
    Ok(bytes)
}

fn print_report(response: &ExecuteResponse) -> Result<()> {
    let mut line = serde_json::to_vec(&Report::new(response)).context("cannot write the response as JSON")?;
    line.push(b'\n');
    io::stdout().lock().write_all(&line).context("cannot write to stdout")
}

/// Outcome of a command with streamed output.
#[derive(Debug)]
pub(crate) enum StreamEnd {
    /// It exited or was stopped by a limit.
    Response(ExecuteResponse),
    /// Standard output was closed, and the command was cancelled.
    OutputClosed,
    /// `stop` completed first, and the command was cancelled.
    Stopped,
}

/// Runs a command and prints its output as it arrives, until it ends or `stop` completes.
pub(crate) async fn stream(
    sandbox: &dyn SandboxBackend,
    request: ExecuteRequest,
    stop: impl Future<Output = ()>,
) -> Result<StreamEnd> {
    let (printer, closed) = Printer::start()?;
    let mut sink = |event| printer.print(event);
    let end = select! {
        response = sandbox.execute_streaming(request, &mut sink) => StreamEnd::Response(response?),
        () = wait_output_closed(closed) => StreamEnd::OutputClosed,
        () = stop => StreamEnd::Stopped,
    };
    match printer.finish() {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(StreamEnd::OutputClosed),
        Err(error) => bail!("cannot print the output of the command: {error}"),
    }
    Ok(end)
}

/// Completes if printing fails. Never completes if the printer ends normally.
async fn wait_output_closed(closed: OutputClosed) {
    if closed.await.is_err() {
        pending::<()>().await;
    }
}
