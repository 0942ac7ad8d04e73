//! `tidebox serve`: emulators of providers, for programs that use the providers' clients.
//!
//! Each provider has its own port: their paths collide (`/v2/sandboxes` exists at E2B and Deno), gRPC has no path prefixes, and
//! injected failures must affect only one provider.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;

use crate::emulators::{EMULATORS, Serving};
use anyhow::{Context as _, Result, bail};

use crate::cli::args::Serve;
use crate::cli::sandbox;

/// Default API key. It is public, so it is allowed only for loopback addresses.
const KEY: &str = "tidebox-local";

/// Serves until a shutdown signal.
pub(crate) fn serve(args: Serve) -> Result<u8> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.context("cannot start the runtime")?.block_on(serve_until_signal(args))
}

async fn serve_until_signal(args: Serve) -> Result<u8> {
    let providers = select_providers(&args.providers)?;
    let key = args.key.filter(|key| !key.is_empty());
    if !args.listen.ip().is_loopback() && key.is_none() {
        bail!("cannot listen on {}: not a loopback address; set an API key with --key", args.listen.ip());
    }
    // Registered before the servers start, so that no signal is missed.
    let shutdown = shutdown_signal()?;
    let key = key.unwrap_or_else(|| KEY.to_owned());
    let options = Arc::new(args.options);
    let mut all = Vec::new();
    for (number, provider) in (0..).zip(providers) {
        let options = Arc::clone(&options);
        let make = move || sandbox::builder_with_options(&options).map_err(sandbox_error);
        all.push((provider, crate::emulate(provider, port(args.listen, number)?, &key, make).await?));
    }
    match print(&all) {
        // The reader of the output has exited, but the servers are still useful.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        printed => printed.context("cannot write to stdout")?,
    }
    shutdown.await;
    for (_, serving) in all {
        serving.end().await;
    }
    Ok(0)
}

/// Errors of the options appear when the first sandbox is created.
pub(crate) fn sandbox_error(error: anyhow::Error) -> crate::Error {
    crate::Error::new(crate::ErrorKind::InvalidRequest, "create sandbox", format!("{error:#}"))
}

fn select_providers(names: &[String]) -> Result<Vec<&'static str>> {
    if names.iter().any(|name| name == "all") {
        return Ok(EMULATORS.to_vec());
    }
    let find = |name: &String| match EMULATORS.iter().find(|provider| *provider == name) {
        Some(provider) => Ok(*provider),
        None => bail!("unknown provider {name:?}; expected one of: {}, all", EMULATORS.join(", ")),
    };
    let mut selected = Vec::new();
    for name in names {
        let name = find(name)?;
        if !selected.contains(&name) {
            selected.push(name);
        }
    }
    if selected.is_empty() {
        bail!("missing --provider; expected one or more of: {}, all", EMULATORS.join(","));
    }
    Ok(selected)
}

/// Returns the address of the n-th provider: consecutive ports, or any free port.
fn port(listen: SocketAddr, number: u16) -> Result<SocketAddr> {
    let mut address = listen;
    if listen.port() != 0 {
        let port = listen.port().checked_add(number);
        address.set_port(port.with_context(|| format!("cannot assign ports: not enough ports after {listen}"))?);
    }
    Ok(address)
}

/// Prints lines for `eval` in a shell, which point clients to the emulators.
fn print(all: &[(&str, Serving)]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for (provider, serving) in all {
        writeln!(out, "# {provider} at {}", serving.url())?;
        for (name, value) in serving.variables() {
            writeln!(out, "export {name}={}", crate::shell_backend::quote(value))?;
        }
    }
    writeln!(out, "# ready; Ctrl-C stops the servers and deletes all sandboxes")?;
    out.flush()
}

/// Completes on a shutdown signal.
#[cfg(unix)]
pub(crate) fn shutdown_signal() -> Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupted = signal(SignalKind::interrupt()).context("cannot listen for signals")?;
    let mut terminated = signal(SignalKind::terminate()).context("cannot listen for signals")?;
    Ok(async move {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
        }
    })
}

#[cfg(not(unix))]
pub(crate) fn shutdown_signal() -> Result<impl Future<Output = ()>> {
    Ok(async {
        // If the handler cannot be installed, the interrupt terminates the process.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
