//! `tidebox exec`: runs one command line, or one program.

use std::future::pending;
use std::io::{self, Read as _};

use crate::{ExecuteRequest, ExecuteResponse, ExposedPort, LOCAL, PortExt as _, Sandbox, SandboxBackend};
use anyhow::{Context, Result, bail};
use tokio::{select, signal};

use crate::cli::args::{Exec, PublishedPort};
use crate::cli::exit_code;
use crate::cli::output::print_json;
use crate::cli::printer::{OutputClosed, Printer};
use crate::cli::remote::RemoteSandbox;
use crate::cli::report::{ErrorReport, Report};
use crate::cli::sandbox;

/// Runs the command and returns its exit code. With `--json`, an error is also an object on standard output.
pub(crate) fn exec(exec: Exec) -> Result<u8> {
    let json = exec.json;
    let ran = run(exec);
    if let (true, Err(error)) = (json, &ran) {
        print_json(&ErrorReport::new(error))?;
    }
    ran
}

fn run(exec: Exec) -> Result<u8> {
    let stdin = if exec.stdin { read_stdin()? } else { Vec::new() };
    sandbox::runtime()?.block_on(async {
        if exec.backend != LOCAL {
            return run_remotely(&exec, stdin).await;
        }
        let sandbox = sandbox::builder(&exec.options)?.build()?;
        // Dropped with the command: the ports are closed then.
        let _published = publish(&sandbox, &exec.publish).await?;
        let request = sandbox::request(&exec.options, exec.command(), sandbox::cwd(&exec.options)?)?.with_stdin(stdin);
        respond(&sandbox, &exec, request, pending()).await
    })
}

/// Runs the command in a new sandbox at the provider, and deletes the sandbox in any case.
async fn run_remotely(exec: &Exec, stdin: Vec<u8>) -> Result<u8> {
    let remote = RemoteSandbox::create(&exec.backend, exec).await?;
    let ran = async {
        let cwd = remote.prepare(exec).await?;
        let request = sandbox::request(&exec.options, exec.command(), cwd)?.with_stdin(stdin);
        respond(&*remote.sandbox, exec, request, interrupt()).await
    };
    let ran = ran.await;
    let deleted = remote.delete().await;
    let code = ran?;
    deleted.map(|()| code)
}

/// Completes at Ctrl-C. If the handler cannot be installed, Ctrl-C ends this process.
pub(crate) async fn interrupt() {
    if signal::ctrl_c().await.is_err() {
        pending::<()>().await;
    }
}

/// Runs the request until it ends or `stop` completes, and prints the output or the JSON object.
async fn respond(
    sandbox: &dyn SandboxBackend,
    exec: &Exec,
    request: ExecuteRequest,
    stop: impl Future<Output = ()>,
) -> Result<u8> {
    let response = if exec.json {
        let response = select! {
            response = sandbox.execute(request) => response?,
            () = stop => return Ok(exit_code::INTERRUPTED),
        };
        print_json(&Report::new(&response))?;
        response
    } else {
        match stream(sandbox, request, stop).await? {
            StreamEnd::Response(response) => response,
            StreamEnd::OutputClosed => return Ok(exit_code::OUTPUT_CLOSED),
            StreamEnd::Stopped => return Ok(exit_code::INTERRUPTED),
        }
    };
    sandbox::exit_code(&response)
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
