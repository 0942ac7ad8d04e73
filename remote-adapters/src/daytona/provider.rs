//! Sandbox lifecycle at Daytona.
//!
//! Names are unique, so two processes that request the same labels concurrently use the same sandbox name: one creates
//! it, the other gets a conflict and connects to it.

use std::collections::BTreeMap;

use async_trait::async_trait;
use tidebox_core::{Error, ErrorKind, ListPage, ListRequest, Result, SandboxId};

use super::config::DaytonaConfig;
use super::sandbox::DaytonaSandbox;
use super::wire::{self, Sandbox, State};
use crate::control_plane::{ControlPlane, Created};
use crate::options::Options;
use crate::poll::PollTimer;
use crate::provider::RemoteProvider;
use crate::transport::{Client, Request, RetryPolicy};

/// Control plane of Daytona.
#[derive(Debug)]
pub struct DaytonaControl {
    options: Options,
    config: DaytonaConfig,
    client: Client,
}

/// A response that was read: status and body.
struct RawResponse {
    status: u16,
    body: Vec<u8>,
}

impl RawResponse {
    fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    fn sandbox(&self, operation: &'static str) -> Result<Sandbox> {
        if self.is_success() { wire::parse(operation, &self.body) } else { Err(self.failure(operation)) }
    }

    fn failure(&self, operation: &'static str) -> Error {
        wire::failure(operation, self.status, &self.body)
    }
}

impl DaytonaControl {
    /// Reads options and environment variables.
    ///
    /// # Errors
    /// Same as [`DaytonaConfig::new`].
    pub fn new(options: Options) -> Result<Self> {
        let config = DaytonaConfig::new(&options)?;
        let client = Client::new(options.transport()?, RetryPolicy { hint: wire::hint, ..RetryPolicy::default() });
        Ok(Self { options, config, client })
    }

    async fn send(&self, request: &Request) -> Result<RawResponse> {
        let reply = self.client.send(request).await?;
        Ok(RawResponse { status: reply.status, body: reply.bytes().await? })
    }

    async fn created(&self, sandbox: Sandbox, made: bool, polling: PollTimer) -> Result<Created<DaytonaSandbox>> {
        let id = SandboxId::parse(sandbox.id.clone())?;
        Ok(Created { id, is_new: made, sandbox: self.ready(sandbox, polling).await.and_then(require_sandbox) })
    }

    /// Waits until a sandbox is running, and starts it if it is stopped. `None` if it was deleted.
    async fn ready(&self, mut sandbox: Sandbox, mut polling: PollTimer) -> Result<Option<DaytonaSandbox>> {
        loop {
            match sandbox.state() {
                State::Ready => return DaytonaSandbox::new(&self.config, &sandbox, self.client.clone()).map(Some),
                State::Gone => return Ok(None),
                State::Broken => {
                    let message = "the sandbox is in an error state; delete it and create another";
                    let error = Error::new(ErrorKind::Unavailable, "connect to a sandbox", message)
                        .with_context("sandbox", sandbox.id)
                        .with_context("state", sandbox.state);
                    return Err(match sandbox.error_reason {
                        Some(reason) => error.with_context("reason", reason),
                        None => error,
                    });
                }
                State::Asleep => {
                    let response = self.send(&wire::start(&self.config, &sandbox.id)).await?;
                    match response.status {
                        404 => return Ok(None),
                        // Another caller has just started it, or it is still stopping.
                        400 | 409 => {}
                        _ => drop(response.sandbox("start a sandbox")?),
                    }
                }
                State::Changing => {}
            }
            polling.pause().await?;
            let response = self.send(&wire::get(&self.config, &sandbox.id)).await?;
            if response.status == 404 {
                return Ok(None);
            }
            sandbox = response.sandbox("connect to a sandbox")?;
        }
    }
}

/// Returns an error for a sandbox that was deleted while waiting for it.
fn require_sandbox(sandbox: Option<DaytonaSandbox>) -> Result<DaytonaSandbox> {
    sandbox.ok_or_else(|| {
        let message = "the sandbox was deleted before it was ready; try again";
        Error::new(ErrorKind::Unavailable, "create a sandbox", message)
    })
}

#[async_trait]
impl ControlPlane for DaytonaControl {
    type DataPlane = DaytonaSandbox;

    fn options(&self) -> &Options {
        &self.options
    }

    async fn create(&self, labels: &BTreeMap<String, String>, key: Option<&str>) -> Result<Created<DaytonaSandbox>> {
        let attempt = format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
        let name = key.map_or_else(|| format!("tidebox-{attempt}"), str::to_owned);
        let request = wire::create(&self.config, labels, &self.options.env, &name, &attempt);
        let mut polling = PollTimer::new("create a sandbox", self.options.ready_time);
        loop {
            let (error, is_taken) = match self.send(&request).await {
                Ok(response) if response.is_success() => {
                    let sandbox = response.sandbox("create a sandbox")?;
                    return self.created(sandbox, true, polling).await;
                }
                Ok(response) if response.status == 409 => (response.failure("create a sandbox"), true),
                Ok(response) if response.status >= 500 => (response.failure("create a sandbox"), false),
                Ok(response) => return Err(response.failure("create a sandbox")),
                Err(error) if error.retryable() => (error, false),
                Err(error) => return Err(error),
            };
            // The sandbox may have been created after all, by this request or by another caller; or the name belongs to
            // a sandbox that is being deleted.
            let taken = self.send(&wire::get(&self.config, &name)).await?;
            if taken.is_success() {
                let sandbox = taken.sandbox("create a sandbox")?;
                let bears = labels.iter().all(|(name, value)| sandbox.labels.get(name) == Some(value));
                match sandbox.state() {
                    State::Gone => {}
                    _ if bears => {
                        let made = sandbox.labels.get(wire::ATTEMPT) == Some(&attempt);
                        return self.created(sandbox, made, polling).await;
                    }
                    _ => return Err(error.with_context("name", name)),
                }
            } else if taken.status != 404 || !is_taken {
                return Err(error);
            }
            polling.pause().await?;
        }
    }

    async fn connect(&self, id: &SandboxId) -> Result<Option<DaytonaSandbox>> {
        let response = self.send(&wire::get(&self.config, id.as_str())).await?;
        if response.status == 404 {
            return Ok(None);
        }
        let sandbox =
            response.sandbox("connect to a sandbox").map_err(|error| error.with_context("sandbox", id.as_str()))?;
        self.ready(sandbox, PollTimer::new("connect to a sandbox", self.options.ready_time)).await
    }

    async fn list(&self, request: ListRequest) -> Result<ListPage> {
        let response = self.send(&wire::list(&self.config, &request)).await?;
        if response.is_success() { wire::parse_list(&response.body) } else { Err(response.failure("list")) }
    }

    async fn delete(&self, id: &SandboxId) -> Result<()> {
        let mut polling = PollTimer::new("delete a sandbox", self.options.ready_time);
        loop {
            let response = self.send(&wire::delete(&self.config, id.as_str())).await?;
            match response.status {
                404 => return Ok(()),
                // The state is changing; requests are rejected until it has settled.
                409 => polling.pause().await?,
                _ if response.is_success() => break,
                _ => return Err(response.failure("delete").with_context("sandbox", id.as_str())),
            }
        }
        loop {
            let response = self.send(&wire::get(&self.config, id.as_str())).await?;
            if response.status == 404 || response.sandbox("delete")?.state == "destroyed" {
                return Ok(());
            }
            polling.pause().await?;
        }
    }
}

/// Provider for Daytona.
pub type DaytonaProvider = RemoteProvider<DaytonaControl>;
