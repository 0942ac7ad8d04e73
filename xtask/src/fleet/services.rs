//! The store and the directory of the nodes.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::clock::Clocks;
use super::link::{Link, State};
use super::nats::{self, NatsCluster};
use super::node::NODES;
use super::s3::{self, S3};
use crate::project::Project;
use crate::python_package::venv;
use crate::step::Progress;

/// Services that the nodes share.
#[derive(Debug)]
pub(super) struct Services {
    dir: PathBuf,
    pub(super) clocks: Clocks,
    servers: Option<Servers>,
}

/// Servers, with the links of each node to them.
#[derive(Debug)]
pub(super) struct Servers {
    pub(super) nats: NatsCluster,
    _s3: S3,
    directories: Vec<Vec<Link>>,
    stores: Vec<Link>,
}

/// A service that a node reaches over a link.
#[derive(Clone, Copy, Debug)]
pub(super) enum Service {
    Directory,
    Store,
}

impl Services {
    /// Starts the services: `folder` is one directory for both, `nats` three servers of NATS and one of S3.
    pub(super) fn start(project: &Project, progress: &mut Progress, over: &str, dir: &Path) -> Result<Self> {
        let servers = match over {
            "folder" => None,
            "nats" => Some(Servers::start(project, progress, dir)?),
            other => bail!("unknown value of --over: {other}; use folder or nats"),
        };
        Ok(Self { dir: dir.to_owned(), clocks: Clocks::new(dir), servers })
    }

    pub(super) fn servers(&self) -> Option<&Servers> {
        self.servers.as_ref()
    }

    /// Lease of the nodes in seconds. Over NATS it is the default: servers need some seconds to elect a leader.
    pub(super) fn lease(&self) -> u32 {
        if self.servers.is_some() { 10 } else { 3 }
    }

    /// Returns the URLs of the store and the directory for a node.
    pub(super) fn urls(&self, node: usize) -> (String, String) {
        match &self.servers {
            Some(servers) => {
                let hosts: Vec<String> =
                    servers.directories[node].iter().map(|link| link.address().to_string()).collect();
                (format!("s3://{}/saved", s3::BUCKET), format!("nats://{}/nodes", hosts.join(",")))
            }
            None => {
                let url = |name: &str| format!("file://{}", self.dir.join(name).display());
                (url("store"), url("nodes"))
            }
        }
    }

    /// Returns the environment variables of a node.
    pub(super) fn variables(&self, node: usize) -> Result<Vec<(String, String)>> {
        let mut variables = self.clocks.variables(node)?;
        if let Some(servers) = &self.servers {
            let endpoint = format!("http://{}", servers.stores[node].address());
            let settings = [
                ("AWS_ENDPOINT", endpoint.as_str()),
                ("AWS_ALLOW_HTTP", "true"),
                ("AWS_ACCESS_KEY_ID", "key"),
                ("AWS_SECRET_ACCESS_KEY", "secret"),
                ("AWS_REGION", "us-east-1"),
            ];
            variables.extend(settings.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
        Ok(variables)
    }
}

impl Servers {
    fn start(project: &Project, progress: &mut Progress, dir: &Path) -> Result<Self> {
        let nats_programs = venv(project, progress, "nats-server", &[nats::PACKAGE])?;
        let s3_programs = venv(project, progress, "moto-server", &[s3::PACKAGE])?;
        let nats = NatsCluster::start(nats_programs.join("nats-server"), dir)?;
        let s3 = S3::start(&s3_programs.join("python"), dir)?;
        let links = |_| nats.addresses().into_iter().map(Link::start).collect::<Result<Vec<_>>>();
        let directories = (0..NODES).map(links).collect::<Result<_>>()?;
        let stores = (0..NODES).map(|_| Link::start(s3.address())).collect::<Result<_>>()?;
        Ok(Self { nats, _s3: s3, directories, stores })
    }

    /// Sets the state of a node's links.
    pub(super) fn set(&self, node: usize, service: Service, state: State) {
        match service {
            Service::Directory => self.directories[node].iter().for_each(|link| link.set(state)),
            Service::Store => self.stores[node].set(state),
        }
    }
}
