//! Sandbox lifecycle at Deno.
//!
//! A sandbox is ready when its WebSocket opens. The service chooses the ids, so two processes that request the same
//! labels concurrently may each create a sandbox; both keep the one with the smaller id and delete the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use tidebox_core::{Error, ErrorKind, ListPage, ListRequest, Result, SandboxId};
use web_time::{SystemTime, UNIX_EPOCH};

use super::config::DenoConfig;
use super::connection::Connection;
use super::sandbox::DenoSandbox;
use super::wire;
use crate::control_plane::{ControlPlane, Created};
use crate::options::Options;
use crate::poll::PollTimer;
use crate::provider::RemoteProvider;
use crate::transport::socket::{Socket, UpgradeResult};
use crate::transport::{Client, Request, RetryPolicy};

/// Control plane of Deno.
#[derive(Debug)]
pub struct DenoControl {
    options: Options,
    config: DenoConfig,
    client: Client,
}

impl DenoControl {
    /// Reads options and environment variables.
    ///
    /// # Errors
    /// Same as [`DenoConfig::new`].
    pub fn new(options: Options) -> Result<Self> {
        let config = DenoConfig::new(&options)?;
        let client = Client::new(options.transport()?, RetryPolicy::default());
        Ok(Self { options, config, client })
    }

    /// End time of a sandbox whose lifetime starts now.
    fn stop_at(&self) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from((now + self.config.life).as_millis()).unwrap_or(u64::MAX)
    }

    /// Opens a WebSocket; `None` if the sandbox does not exist.
    async fn open(&self, operation: &'static str, request: &Request) -> Result<Option<Socket>> {
        match self.client.open(request).await? {
            UpgradeResult::Open(socket) => Ok(Some(socket)),
            UpgradeResult::Rejected(reply) if matches!(reply.status, 404 | 410) => Ok(None),
            UpgradeResult::Rejected(reply) => {
                let status = reply.status;
                let body = reply.bytes().await?;
                Err(wire::failure(operation, status, &body))
            }
        }
    }

    /// Sends a request; `None` if the sandbox does not exist.
    async fn send(&self, operation: &'static str, request: &Request) -> Result<Option<Vec<u8>>> {
        let reply = self.client.send(request).await?;
        let (success, status) = (reply.is_success(), reply.status);
        let body = reply.bytes().await?;
        match status {
            404 | 410 => Ok(None),
            _ if success => Ok(Some(body)),
            _ => Err(wire::failure(operation, status, &body)),
        }
    }
}

#[async_trait]
impl ControlPlane for DenoControl {
    type DataPlane = DenoSandbox;

    fn options(&self) -> &Options {
        &self.options
    }

    async fn create(&self, labels: &BTreeMap<String, String>, _: Option<&str>) -> Result<Created<DenoSandbox>> {
        let operation = "create a sandbox";
        let request = wire::create(&self.config, labels, self.stop_at())?;
        let Some(socket) = self.open(operation, &request).await? else {
            let message = "no sandbox API at this URL; check DENO_SANDBOX_ENDPOINT and the region";
            return Err(Error::new(ErrorKind::Protocol, operation, message));
        };
        let Some(id) = socket.header("x-deno-sandbox-id").map(str::to_owned) else {
            // Without an id, the sandbox cannot be found or deleted; it ends at its time limit.
            return Err(Error::new(ErrorKind::Protocol, operation, "Deno did not return the id of the new sandbox"));
        };
        let id = SandboxId::parse(id)?;
        let connection = Connection::new(socket);
        let mut plane =
            Ok(DenoSandbox::new(id.clone(), self.config.clone(), self.client.clone(), Arc::clone(&connection)));
        for (key, value) in &self.options.env {
            let set = connection.call_with_timeout(operation, "envSet", &json!({ "key": key, "value": value })).await;
            if let Err(error) = set.and_then(|response| response.map_err(|rejection| rejection.error(operation))) {
                plane = Err(error);
                break;
            }
        }
        Ok(Created { id, is_new: true, sandbox: plane })
    }

    async fn connect(&self, id: &SandboxId) -> Result<Option<DenoSandbox>> {
        let operation = "connect to a sandbox";
        // Restarts its lifetime, up to the service's limit.
        if self.send(operation, &wire::extend(&self.config, id.as_str(), self.stop_at())?).await?.is_none() {
            return Ok(None);
        }
        let socket = self.open(operation, &wire::connect(&self.config, id.as_str())?).await?;
        Ok(socket.map(|socket| {
            DenoSandbox::new(id.clone(), self.config.clone(), self.client.clone(), Connection::new(socket))
        }))
    }

    async fn list(&self, request: ListRequest) -> Result<ListPage> {
        match self.send("list", &wire::list(&self.config, &request)).await? {
            Some(body) => wire::parse_list(&body, &request.labels),
            None => {
                let message = "no sandbox list at this URL; check DENO_DEPLOY_ENDPOINT";
                Err(Error::new(ErrorKind::Protocol, "list", message))
            }
        }
    }

    async fn delete(&self, id: &SandboxId) -> Result<()> {
        let named = |error: Error| error.with_context("sandbox", id.as_str());
        if self.send("delete", &wire::delete(&self.config, id.as_str())?).await.map_err(named)?.is_none() {
            return Ok(());
        }
        let mut polling = PollTimer::new("delete", self.options.ready_time);
        loop {
            let page = self.list(ListRequest::default()).await.map_err(named)?;
            if page.sandboxes.iter().all(|info| info.id != *id) {
                return Ok(());
            }
            polling.pause().await.map_err(named)?;
        }
    }
}

/// Provider for Deno.
pub type DenoProvider = RemoteProvider<DenoControl>;
