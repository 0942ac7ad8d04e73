//! Sandbox lifecycle at LangSmith.
//!
//! Names are unique. Two processes that request the same labels concurrently request the same name; the rejected one
//! connects to the other's sandbox.

use std::collections::BTreeMap;

use async_trait::async_trait;
use tidebox_core::{Error, ErrorKind, ListPage, ListRequest, Result, SandboxId};

use super::config::LangSmithConfig;
use super::sandbox::LangSmithSandbox;
use super::wire::{self, ATTEMPT, Sandbox, Status};
use crate::control_plane::{ControlPlane, Created};
use crate::options::Options;
use crate::poll::PollTimer;
use crate::provider::RemoteProvider;
use crate::transport::{Client, Request, RetryPolicy};

/// Control plane of LangSmith.
#[derive(Debug)]
pub struct LangSmithControl {
    options: Options,
    config: LangSmithConfig,
    client: Client,
}

impl LangSmithControl {
    /// Reads options and environment variables.
    ///
    /// # Errors
    /// Same as [`LangSmithConfig::new`].
    pub fn new(options: Options) -> Result<Self> {
        let config = LangSmithConfig::new(&options)?;
        let client = Client::new(options.transport()?, RetryPolicy::default());
        Ok(Self { options, config, client })
    }

    /// Sends a request; `None` for a 404.
    async fn send(&self, operation: &'static str, request: &Request) -> Result<Option<Vec<u8>>> {
        let reply = self.client.send(request).await?;
        let (success, status) = (reply.is_success(), reply.status);
        let body = reply.bytes().await?;
        match status {
            404 => Ok(None),
            _ if success => Ok(Some(body)),
            _ => Err(wire::failure(operation, status, &body)),
        }
    }

    /// Returns the sandbox with this name. If `taken`, the name may be reserved before the sandbox is visible, while
    /// another program's creation is in progress.
    async fn get_by_name(&self, operation: &'static str, name: &str, taken: bool) -> Option<Vec<u8>> {
        let mut polling = PollTimer::new(operation, self.config.ready_time);
        loop {
            match self.send(operation, &wire::get(&self.config, name)).await {
                Ok(None) if taken => polling.pause().await.ok()?,
                found => return found.ok().flatten(),
            }
        }
    }

    /// Waits until a sandbox is ready, and starts it if it is stopped.
    async fn ready(&self, mut found: Sandbox) -> Result<LangSmithSandbox> {
        let mut polling = PollTimer::new("wait for a sandbox", self.config.ready_time);
        let mut started = false;
        loop {
            match found.status.as_str() {
                "ready" => return LangSmithSandbox::new(&self.config, &found, self.client.clone()),
                "stopped" | "failed" if !started => {
                    started = true;
                    self.wake(&found.name).await?;
                }
                "failed" | "deleting" => {
                    let message =
                        "the sandbox failed or is being deleted; the context contains LangSmith's reason, if any";
                    let error = Error::new(ErrorKind::Unavailable, "wait for a sandbox", message);
                    return Err(error
                        .with_context("sandbox", &found.name)
                        .with_context("status", &found.status)
                        .with_context("message", found.status_message.unwrap_or_default()));
                }
                _ => {}
            }
            polling.pause().await?;
            found = self.refresh(found).await?;
        }
    }

    /// Requests the state, and the whole sandbox once it is ready.
    async fn refresh(&self, mut found: Sandbox) -> Result<Sandbox> {
        let operation = "wait for a sandbox";
        let not_found = || {
            let message = "the sandbox was deleted before it was ready";
            Error::new(ErrorKind::SandboxNotFound, operation, message)
        };
        let body = self.send(operation, &wire::status(&self.config, &found.name)).await?.ok_or_else(not_found)?;
        let status: Status = wire::parse(operation, &body)?;
        if status.status == "ready" {
            let body = self.send(operation, &wire::get(&self.config, &found.name)).await?.ok_or_else(not_found)?;
            return wire::parse(operation, &body);
        }
        (found.status, found.status_message) = (status.status, status.status_message);
        Ok(found)
    }

    /// Starts a sandbox. A conflict with another caller's start counts as success.
    async fn wake(&self, name: &str) -> Result<()> {
        let reply = self.client.send(&wire::start(&self.config, name)).await?;
        if reply.is_success() || matches!(reply.status, 400 | 409) {
            return Ok(());
        }
        let status = reply.status;
        let body = reply.bytes().await?;
        Err(wire::failure("start a sandbox", status, &body).with_context("sandbox", name))
    }
}

#[async_trait]
impl ControlPlane for LangSmithControl {
    type DataPlane = LangSmithSandbox;

    fn options(&self) -> &Options {
        &self.options
    }

    async fn create(&self, labels: &BTreeMap<String, String>, key: Option<&str>) -> Result<Created<LangSmithSandbox>> {
        let random = || format!("{:016x}", fastrand::u64(..));
        let name = key.map_or_else(|| format!("tidebox-{}", random()), str::to_owned);
        let attempt = random();
        let mut all = labels.clone();
        all.insert(ATTEMPT.to_owned(), attempt.clone());
        let operation = "create a sandbox";
        let response = self.client.send(&wire::create(&self.config, &name, &all, &self.options.env)).await;
        let error = match response {
            Ok(reply) => {
                let (success, status) = (reply.is_success(), reply.status);
                match reply.bytes().await {
                    Ok(body) if success => {
                        let sandbox: Sandbox = wire::parse(operation, &body)?;
                        return Ok(Created {
                            id: sandbox.sandbox_id()?,
                            is_new: true,
                            sandbox: self.ready(sandbox).await,
                        });
                    }
                    Ok(body) => wire::failure(operation, status, &body),
                    Err(error) => error,
                }
            }
            Err(error) => error,
        };
        // The sandbox may exist nevertheless: created by an attempt whose response was lost, created but not ready in
        // time, or created by another caller.
        let taken = error.context().iter().any(|(name, value)| name == "status" && value == "409");
        let Some(body) = self.get_by_name(operation, &name, taken).await else { return Err(error) };
        let found: Sandbox = wire::parse(operation, &body)?;
        let id = found.sandbox_id()?;
        let borne = found.labels.clone().unwrap_or_default();
        if borne.get(ATTEMPT) == Some(&attempt) {
            let plane = if taken { self.ready(found).await } else { Err(error) };
            return Ok(Created { id, is_new: true, sandbox: plane });
        }
        if taken && labels.iter().all(|(name, value)| borne.get(name) == Some(value)) {
            return Ok(Created { id, is_new: false, sandbox: self.ready(found).await });
        }
        // The name belongs to an unrelated sandbox, which cannot be shared.
        if taken && key.is_some() { self.create(labels, None).await } else { Err(error) }
    }

    async fn connect(&self, id: &SandboxId) -> Result<Option<LangSmithSandbox>> {
        let operation = "connect to a sandbox";
        let Some(body) = self.send(operation, &wire::get(&self.config, id.as_str())).await? else { return Ok(None) };
        let found: Sandbox = wire::parse(operation, &body)?;
        if found.status == "deleting" {
            return Ok(None);
        }
        self.ready(found).await.map(Some)
    }

    async fn list(&self, request: ListRequest) -> Result<ListPage> {
        match self.send("list", &wire::list(&self.config, &request)).await? {
            Some(body) => wire::parse_list(&body),
            None => {
                let message = "no sandbox list at this URL; check LANGSMITH_ENDPOINT";
                Err(Error::new(ErrorKind::Protocol, "list", message))
            }
        }
    }

    async fn delete(&self, id: &SandboxId) -> Result<()> {
        let named = |error: Error| error.with_context("sandbox", id.as_str());
        if self.send("delete", &wire::delete(&self.config, id.as_str())).await.map_err(named)?.is_none() {
            return Ok(());
        }
        let mut polling = PollTimer::new("delete", self.config.ready_time);
        loop {
            match self.send("delete", &wire::status(&self.config, id.as_str())).await.map_err(named)? {
                None => return Ok(()),
                // The runtime is shutting down; nothing more can be done.
                Some(body) if wire::parse::<Status>("delete", &body)?.status == "deleting" => return Ok(()),
                Some(_) => polling.pause().await.map_err(named)?,
            }
        }
    }
}

/// Provider for LangSmith.
pub type LangSmithProvider = RemoteProvider<LangSmithControl>;
