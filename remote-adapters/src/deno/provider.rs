//! The life of sandboxes at Deno.
//!
//! A sandbox is ready when its WebSocket opens. Names are given by the service, so two processes that ask for the same labels at
//! once may both make one; both then keep the one whose name comes first, and delete the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use tidebox_core::{BoxFuture, Error, ErrorKind, ListPage, ListRequest, Result, SandboxId};
use web_time::{SystemTime, UNIX_EPOCH};

use super::config::DenoConfig;
use super::connection::Connection;
use super::sandbox::DenoSandbox;
use super::wire;
use crate::control::{Control, Created};
use crate::options::Options;
use crate::poll::Polling;
use crate::provider::RemoteProvider;
use crate::transport::socket::{Opening, Socket};
use crate::transport::{Client, Request, RetryPolicy};

/// The control plane of Deno.
#[derive(Debug)]
pub struct DenoControl {
    options: Options,
    config: DenoConfig,
    client: Client,
}

impl DenoControl {
    /// Reads options and variables of the environment.
    ///
    /// # Errors
    /// Those of [`DenoConfig::new`].
    pub fn new(options: Options) -> Result<Self> {
        let config = DenoConfig::new(&options)?;
        let client = Client::new(options.transport()?, RetryPolicy::default());
        Ok(Self { options, config, client })
    }

    /// When a sandbox ends that lives from now on.
    fn stop_at(&self) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from((now + self.config.life).as_millis()).unwrap_or(u64::MAX)
    }

    /// Opens a WebSocket; `None` when there is no such sandbox.
    async fn open(&self, operation: &'static str, request: &Request) -> Result<Option<Socket>> {
        match self.client.open(request).await? {
            Opening::Open(socket) => Ok(Some(socket)),
            Opening::Refused(reply) if matches!(reply.status, 404 | 410) => Ok(None),
            Opening::Refused(reply) => {
                let status = reply.status;
                let body = reply.whole().await?;
                Err(wire::failure(operation, status, &body))
            }
        }
    }

    /// Sends a request; `None` when there is no such sandbox.
    async fn ask(&self, operation: &'static str, request: &Request) -> Result<Option<Vec<u8>>> {
        let reply = self.client.send(request).await?;
        let (success, status) = (reply.is_success(), reply.status);
        let body = reply.whole().await?;
        match status {
            404 | 410 => Ok(None),
            _ if success => Ok(Some(body)),
            _ => Err(wire::failure(operation, status, &body)),
        }
    }

    async fn made(&self, labels: &BTreeMap<String, String>) -> Result<Created<DenoSandbox>> {
        let operation = "create a sandbox";
        let request = wire::create(&self.config, labels, self.stop_at())?;
        let Some(socket) = self.open(operation, &request).await? else {
            let message = "there are no sandboxes at this address; look at DENO_SANDBOX_ENDPOINT and the region";
            return Err(Error::new(ErrorKind::Protocol, operation, message));
        };
        let Some(id) = socket.header("x-deno-sandbox-id").map(str::to_owned) else {
            // Without a name it can be found and deleted by nobody; it ends with its time.
            return Err(Error::new(ErrorKind::Protocol, operation, "Deno did not say the name of the new sandbox"));
        };
        let id = SandboxId::parse(id)?;
        let connection = Connection::new(socket);
        let mut plane =
            Ok(DenoSandbox::new(id.clone(), self.config.clone(), self.client.clone(), Arc::clone(&connection)));
        for (key, value) in &self.options.env {
            let set = connection.ask(operation, "envSet", &json!({ "key": key, "value": value })).await;
            if let Err(error) = set.and_then(|answer| answer.map_err(|refusal| refusal.error(operation))) {
                plane = Err(error);
                break;
            }
        }
        Ok(Created { id, made: true, plane })
    }

    async fn found(&self, id: &SandboxId) -> Result<Option<DenoSandbox>> {
        let operation = "connect to a sandbox";
        // Its life begins anew, as far as the service grants it.
        if self.ask(operation, &wire::extend(&self.config, id.as_str(), self.stop_at())?).await?.is_none() {
            return Ok(None);
        }
        let socket = self.open(operation, &wire::connect(&self.config, id.as_str())?).await?;
        Ok(socket.map(|socket| {
            DenoSandbox::new(id.clone(), self.config.clone(), self.client.clone(), Connection::new(socket))
        }))
    }

    async fn page(&self, request: ListRequest) -> Result<ListPage> {
        match self.ask("list", &wire::list(&self.config, &request)).await? {
            Some(body) => wire::listed(&body, &request.labels),
            None => {
                let message = "there is no list of sandboxes at this address; look at DENO_DEPLOY_ENDPOINT";
                Err(Error::new(ErrorKind::Protocol, "list", message))
            }
        }
    }

    async fn gone(&self, id: &SandboxId) -> Result<()> {
        let named = |error: Error| error.with_context("sandbox", id.as_str());
        if self.ask("delete", &wire::delete(&self.config, id.as_str())?).await.map_err(named)?.is_none() {
            return Ok(());
        }
        let mut polling = Polling::new("delete", self.options.ready_time);
        loop {
            let page = self.page(ListRequest::default()).await.map_err(named)?;
            if page.sandboxes.iter().all(|info| info.id != *id) {
                return Ok(());
            }
            polling.pause().await.map_err(named)?;
        }
    }
}

impl Control for DenoControl {
    type Plane = DenoSandbox;

    fn options(&self) -> &Options {
        &self.options
    }

    fn create<'a>(
        &'a self,
        labels: &'a BTreeMap<String, String>,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Created<DenoSandbox>>> {
        Box::pin(self.made(labels))
    }

    fn connect<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<Option<DenoSandbox>>> {
        Box::pin(self.found(id))
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListPage>> {
        Box::pin(self.page(request))
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.gone(id))
    }
}

/// Deno behind the contract of providers.
pub type DenoProvider = RemoteProvider<DenoControl>;
