//! The life of sandboxes at Daytona.
//!
//! Names are unique, so two processes that ask for the same labels at once give their sandbox the same name: one makes it,
//! and the other is told that it is there already, and takes it.

use std::collections::BTreeMap;

use tidebox_core::{BoxFuture, Error, ErrorKind, ListPage, ListRequest, Result, SandboxId};

use super::config::DaytonaConfig;
use super::sandbox::DaytonaSandbox;
use super::wire::{self, Sandbox, State};
use crate::control::{Control, Created};
use crate::options::Options;
use crate::poll::Polling;
use crate::provider::RemoteProvider;
use crate::transport::{Client, Request, RetryPolicy};

/// The control plane of Daytona.
#[derive(Debug)]
pub struct DaytonaControl {
    options: Options,
    config: DaytonaConfig,
    client: Client,
}

/// An answer that was read: its status and body.
struct Answer {
    status: u16,
    body: Vec<u8>,
}

impl Answer {
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
    /// Reads options and variables of the environment.
    ///
    /// # Errors
    /// Those of [`DaytonaConfig::new`].
    pub fn new(options: Options) -> Result<Self> {
        let config = DaytonaConfig::new(&options)?;
        let client = Client::new(options.transport()?, RetryPolicy { hint: wire::hint, ..RetryPolicy::default() });
        Ok(Self { options, config, client })
    }

    async fn ask(&self, request: &Request) -> Result<Answer> {
        let reply = self.client.send(request).await?;
        Ok(Answer { status: reply.status, body: reply.whole().await? })
    }

    async fn made(&self, labels: &BTreeMap<String, String>, key: Option<&str>) -> Result<Created<DaytonaSandbox>> {
        let attempt = format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
        let name = key.map_or_else(|| format!("tidebox-{attempt}"), str::to_owned);
        let request = wire::create(&self.config, labels, &self.options.env, &name, &attempt);
        let mut polling = Polling::new("create a sandbox", self.options.ready_time);
        loop {
            let (error, is_taken) = match self.ask(&request).await {
                Ok(answer) if answer.is_success() => {
                    let sandbox = answer.sandbox("create a sandbox")?;
                    return self.created(sandbox, true, polling).await;
                }
                Ok(answer) if answer.status == 409 => (answer.failure("create a sandbox"), true),
                Ok(answer) if answer.status >= 500 => (answer.failure("create a sandbox"), false),
                Ok(answer) => return Err(answer.failure("create a sandbox")),
                Err(error) if error.retryable() => (error, false),
                Err(error) => return Err(error),
            };
            // Perhaps it was made after all, by this request or by another's; or the name is that of one on its way out.
            let taken = self.ask(&wire::get(&self.config, &name)).await?;
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

    async fn created(&self, sandbox: Sandbox, made: bool, polling: Polling) -> Result<Created<DaytonaSandbox>> {
        let id = SandboxId::parse(sandbox.id.clone())?;
        Ok(Created { id, made, plane: self.ready(sandbox, polling).await.and_then(there) })
    }

    /// Waits until a sandbox works, and starts it where it sleeps. `None` when it is gone.
    async fn ready(&self, mut sandbox: Sandbox, mut polling: Polling) -> Result<Option<DaytonaSandbox>> {
        loop {
            match sandbox.state() {
                State::Ready => return DaytonaSandbox::new(&self.config, &sandbox, self.client.clone()).map(Some),
                State::Gone => return Ok(None),
                State::Broken => {
                    let message = "the sandbox is in an error state; delete it, and make another";
                    let error = Error::new(ErrorKind::Unavailable, "connect to a sandbox", message)
                        .with_context("sandbox", sandbox.id)
                        .with_context("state", sandbox.state);
                    return Err(match sandbox.error_reason {
                        Some(reason) => error.with_context("reason", reason),
                        None => error,
                    });
                }
                State::Asleep => {
                    let answer = self.ask(&wire::start(&self.config, &sandbox.id)).await?;
                    match answer.status {
                        404 => return Ok(None),
                        // Somebody else started it in this moment, or it is not yet wholly asleep.
                        400 | 409 => {}
                        _ => drop(answer.sandbox("start a sandbox")?),
                    }
                }
                State::Changing => {}
            }
            polling.pause().await?;
            let answer = self.ask(&wire::get(&self.config, &sandbox.id)).await?;
            if answer.status == 404 {
                return Ok(None);
            }
            sandbox = answer.sandbox("connect to a sandbox")?;
        }
    }

    async fn found(&self, id: &SandboxId) -> Result<Option<DaytonaSandbox>> {
        let answer = self.ask(&wire::get(&self.config, id.as_str())).await?;
        if answer.status == 404 {
            return Ok(None);
        }
        let sandbox =
            answer.sandbox("connect to a sandbox").map_err(|error| error.with_context("sandbox", id.as_str()))?;
        self.ready(sandbox, Polling::new("connect to a sandbox", self.options.ready_time)).await
    }

    async fn page(&self, request: ListRequest) -> Result<ListPage> {
        let answer = self.ask(&wire::list(&self.config, &request)).await?;
        if answer.is_success() { wire::listed(&answer.body) } else { Err(answer.failure("list")) }
    }

    async fn gone(&self, id: &SandboxId) -> Result<()> {
        let mut polling = Polling::new("delete a sandbox", self.options.ready_time);
        loop {
            let answer = self.ask(&wire::delete(&self.config, id.as_str())).await?;
            match answer.status {
                404 => return Ok(()),
                // It is about to change its state, and takes no orders until it has.
                409 => polling.pause().await?,
                _ if answer.is_success() => break,
                _ => return Err(answer.failure("delete").with_context("sandbox", id.as_str())),
            }
        }
        loop {
            let answer = self.ask(&wire::get(&self.config, id.as_str())).await?;
            if answer.status == 404 || answer.sandbox("delete")?.state == "destroyed" {
                return Ok(());
            }
            polling.pause().await?;
        }
    }
}

/// A sandbox that vanished while it was waited for.
fn there(sandbox: Option<DaytonaSandbox>) -> Result<DaytonaSandbox> {
    sandbox.ok_or_else(|| {
        let message = "the sandbox was deleted before it was ready; try again";
        Error::new(ErrorKind::Unavailable, "create a sandbox", message)
    })
}

impl Control for DaytonaControl {
    type Plane = DaytonaSandbox;

    fn options(&self) -> &Options {
        &self.options
    }

    fn create<'a>(
        &'a self,
        labels: &'a BTreeMap<String, String>,
        key: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Created<DaytonaSandbox>>> {
        Box::pin(self.made(labels, key))
    }

    fn connect<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<Option<DaytonaSandbox>>> {
        Box::pin(self.found(id))
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListPage>> {
        Box::pin(self.page(request))
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.gone(id))
    }
}

/// Daytona behind the contract of providers.
pub type DaytonaProvider = RemoteProvider<DaytonaControl>;
