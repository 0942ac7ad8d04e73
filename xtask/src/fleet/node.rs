//! The nodes: processes of `tidebox serve`.

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, ensure};

use super::http;
use super::services::Services;

/// Number of nodes.
pub(super) const NODES: usize = 3;

/// Providers of each node, in the order of their ports.
const PROVIDERS: [&str; 3] = ["rest", "e2b", "daytona"];

/// Time for a node to join.
const START_TIME: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct Nodes {
    program: PathBuf,
    dir: PathBuf,
    /// The ports of the first provider; those of the others follow them.
    ports: Vec<u16>,
    children: Vec<Mutex<Option<Child>>>,
    services: Arc<Services>,
    /// The URL of the proxy to Daytona's API, whose responses contain it.
    daytona_url: Mutex<String>,
    seed: u64,
}

impl Nodes {
    /// Selects the ports of all nodes.
    pub(super) fn new(program: PathBuf, dir: &Path, services: Arc<Services>) -> Result<Self> {
        let seed = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
        let ports = (0..NODES).map(|_| free_ports(PROVIDERS.len() as u16)).collect::<Result<_>>()?;
        let children = (0..NODES).map(|_| Mutex::default()).collect();
        Ok(Self { program, dir: dir.to_owned(), ports, children, services, daytona_url: Mutex::default(), seed })
    }

    /// Starts all nodes.
    pub(super) fn start(&self, daytona: SocketAddr) -> Result<()> {
        *self.daytona_url.lock().unwrap_or_else(PoisonError::into_inner) = format!("http://{daytona}");
        (0..NODES).try_for_each(|number| self.launch(number))?;
        (0..NODES).try_for_each(|number| self.wait_until_ready(number))
    }

    pub(super) fn services(&self) -> &Services {
        &self.services
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    fn child(&self, number: usize) -> MutexGuard<'_, Option<Child>> {
        self.children[number].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a node that does not run.
    pub(super) fn launch(&self, number: usize) -> Result<()> {
        let log = File::options().create(true).append(true).open(self.dir.join(format!("node-{number}.log")))?;
        let (store, directory) = self.services.urls(number);
        let daytona = self.daytona_url.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let child = Command::new(&self.program)
            .args(["serve", "--provider", &PROVIDERS.join(","), "--key", "fleet", "--drain", "5"])
            .args(["--lease", &self.services.lease().to_string()])
            .args(["--listen", &format!("127.0.0.1:{}", self.ports[number])])
            .args(["--public-url", &format!("daytona={daytona}")])
            .args(["--store", &store, "--directory", &directory])
            .envs(self.services.variables(number)?)
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {}", self.program.display()))?;
        *self.child(number) = Some(child);
        Ok(())
    }

    pub(super) fn wait_until_ready(&self, number: usize) -> Result<()> {
        let address = self.rest_addresses()[number];
        let ready = || {
            let reply = http::send(address, "GET", "/readyz", "", "")?;
            ensure!(reply.status == 200, "status {}", reply.status);
            Ok(())
        };
        http::eventually(START_TIME, ready)
            .with_context(|| format!("node {number} does not start; see its log in {}", self.dir.display()))
    }

    /// Returns the addresses of a provider at all nodes.
    pub(super) fn addresses(&self, provider: &str) -> Vec<SocketAddr> {
        let offset = PROVIDERS.iter().take_while(|name| **name != provider).count();
        let offset = u16::try_from(offset).unwrap_or_default();
        self.ports.iter().map(|port| SocketAddr::from(([127, 0, 0, 1], port + offset))).collect()
    }

    pub(super) fn rest_addresses(&self) -> Vec<SocketAddr> {
        self.addresses("rest")
    }

    /// Sends a signal to a node.
    pub(super) fn signal(&self, number: usize, name: &str) -> Result<()> {
        let id = self.child(number).as_ref().map(Child::id).context("the node does not run")?;
        let status = Command::new("kill").args([&format!("-{name}"), &id.to_string()]).status()?;
        ensure!(status.success(), "cannot send {name} to node {number}");
        Ok(())
    }

    /// Kills a node. Nothing of it remains.
    pub(super) fn kill(&self, number: usize) -> Result<()> {
        let child = self.child(number).take();
        if let Some(mut child) = child {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    /// Ends a node in its own time.
    pub(super) fn terminate(&self, number: usize) -> Result<()> {
        self.signal(number, "TERM")?;
        let child = self.child(number).take();
        let status = child.map(|mut child| child.wait()).transpose()?;
        ensure!(status.is_none_or(|status| status.success()), "node {number} ended with {status:?}; see its log");
        Ok(())
    }

    /// Starts the nodes that do not run, and waits until all have joined.
    pub(super) fn restart_all(&self) -> Result<()> {
        for number in 0..NODES {
            if self.child(number).is_none() {
                self.launch(number)?;
            }
            self.wait_until_ready(number)?;
        }
        Ok(())
    }

    pub(super) fn end(&self) -> Result<()> {
        (0..NODES).try_for_each(|number| self.terminate(number))
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        for number in 0..NODES {
            // A node that has ended needs no signal.
            let _ = self.kill(number);
        }
    }
}

/// Ports of servers, below those that the system gives to clients: a node that starts again must find its own free.
const PORTS: Range<u16> = 10_000..32_000;

/// Returns the first of some free ports in succession. No later call returns one of them.
pub(super) fn free_ports(count: u16) -> Result<u16> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let offset = u16::try_from(std::process::id() % 1000).unwrap_or_default() * 10;
    for _ in 0..1000 {
        let first = PORTS.start + offset + NEXT.fetch_add(count, Ordering::Relaxed);
        let is_free = |port: u16| PORTS.contains(&port) && TcpListener::bind(("127.0.0.1", port)).is_ok();
        if (0..count).all(|number| is_free(first.saturating_add(number))) {
            return Ok(first);
        }
    }
    anyhow::bail!("there are no {count} free ports in succession")
}
