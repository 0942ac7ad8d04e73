//! The life of sandboxes at LangSmith.
//!
//! Names are unique. Two processes that ask for the same labels at once ask for the same name, and the one that is refused
//! takes the other's sandbox.

use std::collections::BTreeMap;

use tidebox_core::{BoxFuture, Error, ErrorKind, ListPage, ListRequest, Result, SandboxId};

use super::config::LangSmithConfig;
use super::sandbox::LangSmithSandbox;
use super::wire::{self, ATTEMPT, Sandbox, Status};
use crate::control::{Control, Created};
use crate::options::Options;
use crate::poll::Polling;
use crate::provider::RemoteProvider;
use crate::transport::{Client, Request, RetryPolicy};

/// The control plane of LangSmith.
#[derive(Debug)]
pub struct LangSmithControl {
    options: Options,
    config: LangSmithConfig,
    client: Client,
}

impl LangSmithControl {
    /// Reads options and variables of the environment.
    ///
    /// # Errors
    /// Those of [`LangSmithConfig::new`].
    pub fn new(options: Options) -> Result<Self> {
        let config = LangSmithConfig::new(&options)?;
        let client = Client::new(options.transport()?, RetryPolicy::default());
        Ok(Self { options, config, client })
    }

    /// Sends a request; `None` is a 404.
    async fn ask(&self, operation: &'static str, request: &Request) -> Result<Option<Vec<u8>>> {
        let reply = self.client.send(request).await?;
        let (success, status) = (reply.is_success(), reply.status);
        let body = reply.whole().await?;
        match status {
            404 => Ok(None),
            _ if success => Ok(Some(body)),
            _ => Err(wire::failure(operation, status, &body)),
        }
    }

    async fn made(&self, labels: &BTreeMap<String, String>, key: Option<&str>) -> Result<Created<LangSmithSandbox>> {
        let random = || format!("{:016x}", fastrand::u64(..));
        let name = key.map_or_else(|| format!("tidebox-{}", random()), str::to_owned);
        let attempt = random();
        let mut all = labels.clone();
        all.insert(ATTEMPT.to_owned(), attempt.clone());
        let operation = "create a sandbox";
        let answer = self.client.send(&wire::create(&self.config, &name, &all, &self.options.env)).await;
        let error = match answer {
            Ok(reply) => {
                let (success, status) = (reply.is_success(), reply.status);
                match reply.whole().await {
                    Ok(body) if success => {
                        let sandbox: Sandbox = wire::parse(operation, &body)?;
                        return Ok(Created { id: sandbox.sandbox_id()?, made: true, plane: self.ready(sandbox).await });
                    }
                    Ok(body) => wire::failure(operation, status, &body),
                    Err(error) => error,
                }
            }
            Err(error) => error,
        };
        // It may be there all the same: made by an attempt whose answer was lost, made but not ready in time, or another's.
        let taken = error.context().iter().any(|(name, value)| name == "status" && value == "409");
        let Some(body) = self.bearer(operation, &name, taken).await else { return Err(error) };
        let found: Sandbox = wire::parse(operation, &body)?;
        let id = found.sandbox_id()?;
        let borne = found.labels.clone().unwrap_or_default();
        if borne.get(ATTEMPT) == Some(&attempt) {
            let plane = if taken { self.ready(found).await } else { Err(error) };
            return Ok(Created { id, made: true, plane });
        }
        if taken && labels.iter().all(|(name, value)| borne.get(name) == Some(value)) {
            return Ok(Created { id, made: false, plane: self.ready(found).await });
        }
        // The name belongs to something else, so that there is nobody to meet.
        if taken && key.is_some() { Box::pin(self.made(labels, None)).await } else { Err(error) }
    }

    /// What bears a name. A name that is `taken` may be so before there is something to see, while another program's sandbox
    /// is being made.
    async fn bearer(&self, operation: &'static str, name: &str, taken: bool) -> Option<Vec<u8>> {
        let mut polling = Polling::new(operation, self.config.ready_time);
        loop {
            match self.ask(operation, &wire::get(&self.config, name)).await {
                Ok(None) if taken => polling.pause().await.ok()?,
                found => return found.ok().flatten(),
            }
        }
    }

    /// Waits until a sandbox is ready, and wakes it where it has stopped.
    async fn ready(&self, mut found: Sandbox) -> Result<LangSmithSandbox> {
        let mut polling = Polling::new("wait for a sandbox", self.config.ready_time);
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
                        "the sandbox failed or is being deleted; LangSmith says why in the context, if it does";
                    let error = Error::new(ErrorKind::Unavailable, "wait for a sandbox", message);
                    return Err(error
                        .with_context("sandbox", &found.name)
                        .with_context("status", &found.status)
                        .with_context("message", found.status_message.unwrap_or_default()));
                }
                _ => {}
            }
            polling.pause().await?;
            found = self.look(found).await?;
        }
    }

    /// Asks for the state, and for the whole sandbox once it is ready.
    async fn look(&self, mut found: Sandbox) -> Result<Sandbox> {
        let operation = "wait for a sandbox";
        let gone = || {
            let message = "the sandbox was deleted while it was waited for";
            Error::new(ErrorKind::SandboxNotFound, operation, message)
        };
        let body = self.ask(operation, &wire::status(&self.config, &found.name)).await?.ok_or_else(gone)?;
        let status: Status = wire::parse(operation, &body)?;
        if status.status == "ready" {
            let body = self.ask(operation, &wire::get(&self.config, &found.name)).await?.ok_or_else(gone)?;
            return wire::parse(operation, &body);
        }
        (found.status, found.status_message) = (status.status, status.status_message);
        Ok(found)
    }

    /// Starts a sandbox. One that somebody else starts in the same moment refuses, which is as good.
    async fn wake(&self, name: &str) -> Result<()> {
        let reply = self.client.send(&wire::start(&self.config, name)).await?;
        if reply.is_success() || matches!(reply.status, 400 | 409) {
            return Ok(());
        }
        let status = reply.status;
        let body = reply.whole().await?;
        Err(wire::failure("wake a sandbox", status, &body).with_context("sandbox", name))
    }

    async fn found(&self, id: &SandboxId) -> Result<Option<LangSmithSandbox>> {
        let operation = "connect to a sandbox";
        let Some(body) = self.ask(operation, &wire::get(&self.config, id.as_str())).await? else { return Ok(None) };
        let found: Sandbox = wire::parse(operation, &body)?;
        if found.status == "deleting" {
            return Ok(None);
        }
        self.ready(found).await.map(Some)
    }

    async fn page(&self, request: ListRequest) -> Result<ListPage> {
        match self.ask("list", &wire::list(&self.config, &request)).await? {
            Some(body) => wire::listed(&body),
            None => {
                let message = "there is no list of sandboxes at this address; look at LANGSMITH_ENDPOINT";
                Err(Error::new(ErrorKind::Protocol, "list", message))
            }
        }
    }

    async fn gone(&self, id: &SandboxId) -> Result<()> {
        let named = |error: Error| error.with_context("sandbox", id.as_str());
        if self.ask("delete", &wire::delete(&self.config, id.as_str())).await.map_err(named)?.is_none() {
            return Ok(());
        }
        let mut polling = Polling::new("delete", self.config.ready_time);
        loop {
            match self.ask("delete", &wire::status(&self.config, id.as_str())).await.map_err(named)? {
                None => return Ok(()),
                // Its runtime ends, and nothing can be done with it any more.
                Some(body) if wire::parse::<Status>("delete", &body)?.status == "deleting" => return Ok(()),
                Some(_) => polling.pause().await.map_err(named)?,
            }
        }
    }
}

impl Control for LangSmithControl {
    type Plane = LangSmithSandbox;

    fn options(&self) -> &Options {
        &self.options
    }

    fn create<'a>(
        &'a self,
        labels: &'a BTreeMap<String, String>,
        key: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Created<LangSmithSandbox>>> {
        Box::pin(self.made(labels, key))
    }

    fn connect<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<Option<LangSmithSandbox>>> {
        Box::pin(self.found(id))
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListPage>> {
        Box::pin(self.page(request))
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.gone(id))
    }
}

/// LangSmith behind the contract of providers.
pub type LangSmithProvider = RemoteProvider<LangSmithControl>;
