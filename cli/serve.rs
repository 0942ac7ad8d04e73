//! `tidebox serve`: a REST API, and emulators of providers for programs that use the providers' clients.
//!
//! Each of them has its own port: their paths collide (`/v2/sandboxes` exists at E2B and Deno), gRPC has no path prefixes, and
//! injected failures must affect only one provider.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::SavedSandboxes;
use crate::emulators::{EMULATORS, Emulator, SAVED_PROVIDERS, Serving, TenantPort as _};
use crate::fleet::{Directory, Fleet, FleetConfig, open_directory};
use crate::stores::open_log;
use anyhow::{Context as _, Result, bail};
use tidebox_service::{
    NewToken, OtlpConfig, OtlpExporter, Server, ServerConfig, Service, ServiceConfig, Tenants, TlsFiles,
};

use crate::cli::args::{PublicUrl, REST, SandboxArgs, Serve};
use crate::cli::sandbox;

/// Default API key. It is public, so it is allowed only for loopback addresses.
const KEY: &str = "tidebox-local";

/// Minimum time of a lease: signs of life take some milliseconds each.
const MIN_LEASE: Duration = Duration::from_secs(1);

/// Minimum time to wait for a share of the sandboxes of other nodes.
const JOIN_TIME: Duration = Duration::from_secs(30);

/// A started server.
enum Started {
    Rest(Server),
    Provider(&'static str, Serving),
}

/// Serves until a shutdown signal.
pub(crate) fn serve(args: Serve) -> Result<u8> {
    if args.new_token {
        return print_new_token();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.context("cannot start the runtime")?.block_on(serve_until_signal(args))
}

/// Prints a token, and the line of the tenants' file with its hash.
fn print_new_token() -> Result<u8> {
    let NewToken { token, hash } = NewToken::create()?;
    let mut out = io::stdout().lock();
    writeln!(out, "# for the client: {token:?}\ntokens = [{hash:?}]").context("cannot write to stdout")?;
    Ok(0)
}

async fn serve_until_signal(mut args: Serve) -> Result<u8> {
    args.key = args.key.filter(|key| !key.is_empty());
    let options = Arc::new(std::mem::take(&mut args.options));
    let names = select_names(&args.providers);
    check(&args, &names)?;
    // Registered before the servers start, so that no signal is missed.
    let shutdown = shutdown_signal()?;
    let reload = Reload::new(args.tenants.as_deref())?;
    let directory = args.directory.as_deref().map(open_directory).transpose()?;
    let (service, store) = service(&args, options)?;
    let telemetry = OtlpConfig::from_variables(|name| std::env::var(name).ok())?;
    let exporter = telemetry.map(|config| OtlpExporter::new(&service, config)).transpose()?;
    let mut all = Vec::new();
    for (number, name) in (0..).zip(names) {
        all.push(start(&service, &args, name, port(args.listen, number)?).await?);
    }
    let fleet = match directory.zip(store) {
        Some((directory, store)) => Some(join(&service, &args, directory, &store, &all).await?),
        None => None,
    };
    match print(&args, &all) {
        // The reader of the output has exited, but the servers are still useful.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        printed => printed.context("cannot write to stdout")?,
    }
    tokio::select! {
        () = shutdown => {}
        () = service.reap() => {}
        () = reload.run(&service) => {}
        () = export(exporter.as_ref()) => {}
    }
    end(&service, fleet, all, args.drain).await?;
    if let Some(exporter) = exporter {
        exporter.finish().await;
    }
    Ok(0)
}

fn check(args: &Serve, names: &[&str]) -> Result<()> {
    if !args.listen.ip().is_loopback() && args.key.is_none() && args.tenants.is_none() {
        bail!(
            "cannot listen on {}: not a loopback address; set an API key with --key, or tenants with --tenants",
            args.listen.ip()
        );
    }
    if args.tls_cert.is_some() && names != [REST] {
        bail!("--tls-cert is only for the REST API; use a proxy with TLS for the other providers");
    }
    if let (Some(store), Some(directory)) = (&args.store, &args.directory) {
        check_directory(args, store, directory)?;
    }
    check_public_urls(args, names)?;
    if let Some(other) = names.iter().find(|name| args.store.is_some() && !SAVED_PROVIDERS.contains(name)) {
        bail!("cannot save the sandboxes of {other}: --store is for {}; use --provider", SAVED_PROVIDERS.join(", "));
    }
    Ok(())
}

/// Checks that each public URL is that of one provider.
fn check_public_urls(args: &Serve, names: &[&str]) -> Result<()> {
    for (number, public) in args.public_url.iter().enumerate() {
        match public.provider.as_deref() {
            None if names.len() != 1 || names == [REST] => {
                bail!("--public-url needs the name of its provider, as in --public-url daytona={}", public.url)
            }
            Some(name) if !names.contains(&name) => {
                bail!("--public-url is for {name}, which is not served; add it to --provider")
            }
            _ => {}
        }
        if args.public_url.iter().take(number).any(|other| other.provider == public.provider) {
            bail!("--public-url was given twice for one provider");
        }
    }
    Ok(())
}

/// Returns the URL at which clients reach a provider, if it was given.
fn public_url<'a>(args: &'a Serve, name: &str) -> Option<&'a str> {
    let is_of = |public: &&PublicUrl| public.provider.as_deref().is_none_or(|provider| provider == name);
    args.public_url.iter().find(is_of).map(|public| public.url.as_str())
}

/// Checks the options of one of several nodes.
fn check_directory(args: &Serve, store: &str, directory: &str) -> Result<()> {
    let (store, nodes) = (format!("{}/", store.trim_end_matches('/')), format!("{}/", directory.trim_end_matches('/')));
    if store.starts_with(&nodes) || nodes.starts_with(&store) {
        bail!("--directory must not be that of --store, or above or below it; use for example a directory next to it");
    }
    if args.tls_cert.is_some() {
        bail!(
            "--tls-cert is not for several nodes, which reach each other over HTTP; use a proxy with TLS before them"
        );
    }
    if args.listen.ip().is_unspecified() && args.advertise.is_none() {
        bail!("cannot join at {}: set the address of this host for the other nodes with --advertise", args.listen.ip());
    }
    if args.lease < MIN_LEASE {
        bail!("--lease must be at least {} s", MIN_LEASE.as_secs());
    }
    Ok(())
}

/// Creates the service of all servers.
fn service(args: &Serve, options: Arc<SandboxArgs>) -> Result<(Service, Option<SavedSandboxes>)> {
    let tenants = match &args.tenants {
        Some(file) => Tenants::read(file)?,
        None => Tenants::single(args.key.as_deref().unwrap_or(KEY)),
    };
    // Errors of the options are reported before a client connects.
    let memory_bytes = sandbox::builder_with_options(&options)?.current_limits().sandbox_memory_bytes;
    let is_open = args.tenants.is_none() && args.key.is_none();
    let config = ServiceConfig { tenants, memory_bytes, idle: args.idle, log: args.log, is_open };
    let make = move |egress: &[String]| sandbox::builder_with_egress(&options, egress).map_err(sandbox_error);
    let Some(url) = &args.store else { return Ok((Service::new(config, crate::service_sandboxes(make)), None)) };
    let log = open_log(url)?;
    let store = if args.directory.is_some() { SavedSandboxes::in_fleet(log)? } else { SavedSandboxes::new(log)? };
    let service = Service::with_store(config, store.make_sandboxes(make), Arc::new(store.clone()));
    Ok((service, Some(store)))
}

/// Joins the other nodes, and waits until this one has a share of the sandboxes.
async fn join(
    service: &Service,
    args: &Serve,
    directory: Arc<dyn Directory>,
    store: &SavedSandboxes,
    all: &[Started],
) -> Result<Fleet> {
    let host = args.advertise.clone().unwrap_or_else(|| args.listen.ip().to_string());
    let host = if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host };
    let address = |started: &Started| match started {
        Started::Rest(server) => (REST.to_owned(), format!("{host}:{}", server.address().port())),
        Started::Provider(name, serving) => ((*name).to_owned(), format!("{host}:{}", serving.address().port())),
    };
    let addresses = all.iter().map(address).collect();
    let config = FleetConfig { directory, lease: args.lease, addresses };
    let report =
        |error: &crate::Error| eprintln!("tidebox: {error}; this node serves no sandboxes until it is reached");
    let fleet = Fleet::join(config, store, service.clone(), report)?;
    let joined = async {
        while fleet.shards() == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    // Nodes that have failed are waited for as long as their leases.
    tokio::time::timeout(JOIN_TIME.max(args.lease * 3), joined)
        .await
        .context("cannot join: no node has given shards away; check that all use the same --directory and --lease")?;
    Ok(fleet)
}

async fn start(service: &Service, args: &Serve, name: &'static str, listen: SocketAddr) -> Result<Started> {
    if name == REST {
        let tls = match (&args.tls_cert, &args.tls_key) {
            (Some(certificate), Some(key)) => {
                Some(TlsFiles { certificate: certificate.clone(), key: key.clone() }.read()?)
            }
            _ => None,
        };
        let config = ServerConfig { listen, tls, metrics: args.metrics };
        return Ok(Started::Rest(Server::start(service.clone(), config).await?));
    }
    let key = args.key.as_deref().unwrap_or(if args.tenants.is_some() { "TOKEN" } else { KEY });
    let emulator = Emulator { provider: name.to_owned(), key: key.to_owned() };
    let serving = match &args.tenants {
        Some(_) => emulator.serve_tenants(listen, Arc::new(service.clone()), public_url(args, name)).await,
        None => {
            let registry = service.registry("default", name).context("the tenant does not exist")?;
            let url = public_url(args, name);
            emulator.serve_observed(listen, registry, url, |router| service.observe(name, router)).await
        }
    };
    Ok(Started::Provider(name, serving.with_context(|| format!("cannot serve {name} at {listen}"))?))
}

/// Sends telemetry, if its environment variables are set.
async fn export(exporter: Option<&OtlpExporter>) {
    match exporter {
        Some(exporter) => exporter.run().await,
        None => std::future::pending().await,
    }
}

/// Reads the tenants' file again after each SIGHUP.
struct Reload<'a> {
    file: Option<&'a Path>,
    #[cfg(unix)]
    hangups: tokio::signal::unix::Signal,
}

impl<'a> Reload<'a> {
    fn new(file: Option<&'a Path>) -> Result<Self> {
        #[cfg(unix)]
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            file,
            #[cfg(unix)]
            hangups: signal(SignalKind::hangup()).context("cannot listen for signals")?,
        })
    }

    #[cfg(unix)]
    async fn run(mut self, service: &Service) {
        // Without a file a hangup ends the command, as by default.
        while self.hangups.recv().await.is_some() {
            let Some(file) = self.file else { return };
            match Tenants::read(file) {
                Ok(tenants) => {
                    service.set_tenants(tenants);
                    service.close_removed().await;
                }
                Err(error) => eprintln!("tidebox: {error}; the previous tenants stay"),
            }
        }
    }

    #[cfg(not(unix))]
    async fn run(self, _: &Service) {
        let _ = self.file;
        std::future::pending().await
    }
}

/// Ends all servers: running requests may end within the time of `--drain`, or until a second signal.
async fn end(service: &Service, fleet: Option<Fleet>, all: Vec<Started>, limit: Duration) -> Result<()> {
    let again = shutdown_signal()?;
    tokio::select! {
        has_ended = service.drain(limit) => if !has_ended {
            eprintln!("tidebox: stopping requests that still run after {} s", limit.as_secs_f64());
        },
        () = again => eprintln!("tidebox: stopping requests that still run, after a second signal"),
    }
    if let Some(fleet) = fleet
        && let Err(error) = fleet.leave().await
    {
        eprintln!("tidebox: cannot leave the directory of nodes: {error}; others take the sandboxes after the lease");
    }
    // Ends the commands that still run, so that their requests get a response.
    service.end_all().await;
    for started in all {
        match started {
            Started::Rest(server) => server.end().await,
            Started::Provider(_, serving) => serving.end().await,
        }
    }
    Ok(())
}

/// Errors of the options appear when the first sandbox is created.
pub(crate) fn sandbox_error(error: anyhow::Error) -> crate::Error {
    crate::Error::new(crate::ErrorKind::InvalidRequest, "create sandbox", format!("{error:#}"))
}

/// Returns the names of `--provider` once each; only the REST API without any.
fn select_names(names: &[String]) -> Vec<&'static str> {
    if names.is_empty() {
        return vec![REST];
    }
    let is_all = names.iter().any(|name| name == "all");
    let named = |known: &&str| names.iter().any(|name| name == known);
    if is_all {
        return EMULATORS.iter().copied().chain(named(&REST).then_some(REST)).collect();
    }
    // In the order of the command line, which assigns the ports.
    let mut selected = Vec::new();
    for name in names {
        let known = EMULATORS.iter().chain(&[REST]).find(|known| *known == name);
        if let Some(known) = known.filter(|known| !selected.contains(*known)) {
            selected.push(*known);
        }
    }
    selected
}

/// Returns the address of the n-th server: consecutive ports, or any free port.
fn port(listen: SocketAddr, number: u16) -> Result<SocketAddr> {
    let mut address = listen;
    if listen.port() != 0 {
        let port = listen.port().checked_add(number);
        address.set_port(port.with_context(|| format!("cannot assign ports: not enough ports after {listen}"))?);
    }
    Ok(address)
}

/// Prints lines for `eval` in a shell, which point clients to the servers.
fn print(args: &Serve, all: &[Started]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for started in all {
        match started {
            Started::Rest(server) => print_rest(&mut out, args, server)?,
            Started::Provider(provider, serving) => {
                writeln!(out, "# {provider} at {}", serving.url())?;
                for (name, value) in serving.variables() {
                    writeln!(out, "export {name}={}", crate::shell_backend::quote(value))?;
                }
            }
        }
    }
    match &args.store {
        Some(url) => writeln!(out, "# ready; Ctrl-C stops the servers; the sandboxes stay in {url}")?,
        None => writeln!(out, "# ready; Ctrl-C stops the servers and deletes all sandboxes")?,
    }
    out.flush()
}

fn print_rest(out: &mut impl io::Write, args: &Serve, server: &Server) -> io::Result<()> {
    let url = server.url();
    writeln!(out, "# REST API and web page at {url}, described by {url}/openapi.json")?;
    writeln!(out, "export TIDEBOX_URL={url}")?;
    if args.tenants.is_none() {
        let key = args.key.as_deref().unwrap_or(KEY);
        writeln!(out, "export TIDEBOX_TOKEN={}", crate::shell_backend::quote(key))?;
    }
    if let Some(address) = server.metrics_address() {
        writeln!(out, "# metrics at http://{address}/metrics")?;
    }
    Ok(())
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
