//! `tidebox serve`: stand-ins for providers, for programs that use the providers' own clients.
//!
//! Each provider has a port of its own. Their paths collide (`/v2/sandboxes` is E2B's and Deno's), gRPC knows no prefix of a
//! path, and a fault that is asked of one is not to befall another.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use tidebox::emulators::{EMULATORS, Serving};

use crate::arguments::Serve;
use crate::session;

/// The key that clients show when none is named. It protects nothing, which is why it is for this machine alone.
const KEY: &str = "tidebox-local";

/// Serves until a signal asks it to end.
pub(crate) fn serve(call: Serve) -> Result<u8> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.context("cannot start the runtime")?.block_on(until_told(call))
}

async fn until_told(call: Serve) -> Result<u8> {
    let providers = chosen(&call.providers)?;
    if !call.listen.ip().is_loopback() && call.key.is_none() {
        bail!("others reach {}; name a key that they do not know with --key", call.listen.ip());
    }
    // Asked for before anything is served, so that no signal is missed.
    let told = told_to_end()?;
    let key = call.key.unwrap_or_else(|| KEY.to_owned());
    let setting = Arc::new(call.setting);
    let mut all = Vec::new();
    for (number, provider) in (0..).zip(providers) {
        let setting = Arc::clone(&setting);
        let make = move || session::shaped(&setting).map_err(defect);
        all.push((provider, tidebox::emulate(provider, port(call.listen, number)?, &key, make).await?));
    }
    match print(&all) {
        // Whoever wanted to read has gone; the servers are of use all the same.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        printed => printed.context("cannot write to stdout")?,
    }
    told.await;
    for (_, serving) in all {
        serving.end().await;
    }
    Ok(0)
}

/// What was wrong with the options is found when the first sandbox is made.
fn defect(error: anyhow::Error) -> tidebox::Error {
    tidebox::Error::new(tidebox::ErrorKind::InvalidRequest, "make a sandbox", format!("{error:#}"))
}

fn chosen(names: &[String]) -> Result<Vec<&'static str>> {
    if names.iter().any(|name| name == "all") {
        return Ok(EMULATORS.to_vec());
    }
    let known = |name: &String| match EMULATORS.iter().find(|known| *known == name) {
        Some(known) => Ok(*known),
        None => bail!("there is no emulator of {name:?}; there are: {}, all", EMULATORS.join(", ")),
    };
    let mut chosen = Vec::new();
    for name in names {
        let name = known(name)?;
        if !chosen.contains(&name) {
            chosen.push(name);
        }
    }
    if chosen.is_empty() {
        bail!("say which provider: tidebox serve --provider {}, or all", EMULATORS.join(","));
    }
    Ok(chosen)
}

/// The address of the provider with this number: port after port, or any that is free.
fn port(listen: SocketAddr, number: u16) -> Result<SocketAddr> {
    let mut address = listen;
    if listen.port() != 0 {
        let port = listen.port().checked_add(number);
        address.set_port(port.with_context(|| format!("there are not enough ports behind {listen}"))?);
    }
    Ok(address)
}

/// Lines that a shell can read: `eval` of them points the clients here.
fn print(all: &[(&str, Serving)]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for (provider, serving) in all {
        writeln!(out, "# {provider} at {}", serving.url())?;
        for (name, value) in serving.variables() {
            writeln!(out, "export {name}={}", tidebox::shell_backend::quote(value))?;
        }
    }
    writeln!(out, "# ready; an interrupt (Ctrl-C) ends it and every sandbox")?;
    out.flush()
}

/// Comes to its end when this process is asked to end.
#[cfg(unix)]
fn told_to_end() -> Result<impl Future<Output = ()>> {
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
fn told_to_end() -> Result<impl Future<Output = ()>> {
    Ok(async {
        // Where it cannot be listened for, the interrupt ends the process by itself.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
