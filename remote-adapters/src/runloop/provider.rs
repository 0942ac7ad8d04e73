//! The life of devboxes at Runloop.
//!
//! There is no filter for labels and nothing is unique: lists are read and looked through here, and two processes that ask for
//! the same labels at once may both make a devbox; both then keep the one whose id comes first, and delete the other.

use std::collections::BTreeMap;

use tidebox_core::{BoxFuture, Error, ErrorKind, ListPage, ListRequest, Result, SandboxId, SandboxInfo};

use super::config::RunloopConfig;
use super::sandbox::RunloopSandbox;
use super::wire::{self, Devbox, Page, Policies, Policy, STATUSES, State};
use crate::control::{Control, Created};
use crate::options::Options;
use crate::poll::Polling;
use crate::provider::RemoteProvider;
use crate::transport::{Client, Request, RetryPolicy};

/// The control plane of Runloop.
#[derive(Debug)]
pub struct RunloopControl {
    options: Options,
    config: RunloopConfig,
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

    fn read<T: for<'de> serde::Deserialize<'de>>(&self, operation: &'static str) -> Result<T> {
        if self.is_success() { wire::parse(operation, &self.body) } else { Err(self.failure(operation)) }
    }

    fn failure(&self, operation: &'static str) -> Error {
        wire::failure(operation, self.status, &self.body)
    }
}

impl RunloopControl {
    /// Reads options and variables of the environment.
    ///
    /// # Errors
    /// Those of [`RunloopConfig::new`].
    pub fn new(options: Options) -> Result<Self> {
        let config = RunloopConfig::new(&options)?;
        let retry = RetryPolicy { attempts: 6, hint: wire::hint, ..RetryPolicy::default() };
        let client = Client::new(options.transport()?, retry);
        Ok(Self { options, config, client })
    }

    async fn ask(&self, request: &Request) -> Result<Answer> {
        let reply = self.client.send(request).await?;
        Ok(Answer { status: reply.status, body: reply.whole().await? })
    }

    /// The policy of what programs reach, made when it is not there.
    async fn policy(&self) -> Result<Option<String>> {
        let operation = "make a network policy";
        let Some(network) = &self.config.network else { return Ok(None) };
        let name = wire::policy_name(network);
        let known = async || -> Result<Option<String>> {
            let found: Policies = self.ask(&wire::policies(&self.config, &name)).await?.read(operation)?;
            Ok(found.network_policies.into_iter().find(|policy| policy.name == name).map(|policy| policy.id))
        };
        if let Some(id) = known().await? {
            return Ok(Some(id));
        }
        let answer = self.ask(&wire::create_policy(&self.config, &name, network)).await?;
        if !answer.is_success() {
            // Another may have made it in this moment.
            return known().await?.map_or_else(|| Err(answer.failure(operation)), |id| Ok(Some(id)));
        }
        answer.read::<Policy>(operation).map(|policy| Some(policy.id))
    }

    async fn made(&self, labels: &BTreeMap<String, String>) -> Result<Created<RunloopSandbox>> {
        let policy = self.policy().await?;
        let request = wire::create(&self.config, labels, &self.options.env, policy.as_deref());
        let devbox: Devbox = self.ask(&request).await?.read("create a sandbox")?;
        let id = SandboxId::parse(devbox.id.clone())?;
        let plane = self.ready(devbox).await.and_then(|ready| {
            ready.map_err(|failed| {
                let message = "the devbox did not start; its blueprint or its image may be at fault";
                let error = Error::new(ErrorKind::Unavailable, "create a sandbox", message)
                    .with_context("status", failed.status);
                match failed.failure_reason {
                    Some(reason) => error.with_context("reason", reason),
                    None => error,
                }
            })
        });
        Ok(Created { id, made: true, plane })
    }

    /// Waits until a devbox works, and resumes it where it sleeps. One that is gone is the inner error.
    async fn ready(&self, mut devbox: Devbox) -> Result<std::result::Result<RunloopSandbox, Devbox>> {
        let operation = "connect to a sandbox";
        let mut polling = Polling::new(operation, self.options.ready_time);
        loop {
            let statuses: &[&str] = match devbox.state() {
                State::Ready => {
                    let id = SandboxId::parse(devbox.id)?;
                    return Ok(Ok(RunloopSandbox::new(&self.config, id, self.client.clone())));
                }
                State::Gone => return Ok(Err(devbox)),
                State::Asleep => {
                    let answer = self.ask(&wire::turn(&self.config, &devbox.id, "resume")).await?;
                    if !answer.is_success() && !matches!(answer.status, 400 | 409) {
                        return Err(answer.failure(operation));
                    }
                    &["running", "failure", "shutdown"]
                }
                State::Changing if devbox.status == "suspending" => &["suspended", "failure", "shutdown"],
                State::Changing => &["running", "failure", "shutdown"],
            };
            let wait = wire::wait_for_devbox(&self.config, &devbox.id, statuses, polling.left());
            match self.ask(&wait).await {
                Ok(answer) if answer.is_success() => devbox = answer.read(operation)?,
                Ok(answer) if answer.status == 408 => {}
                Ok(answer) => return Err(answer.failure(operation)),
                Err(error) if error.kind() == ErrorKind::Timeout => {}
                Err(error) => return Err(error),
            }
            if devbox.state() != State::Ready {
                polling.pause().await?;
            }
        }
    }

    async fn found(&self, id: &SandboxId) -> Result<Option<RunloopSandbox>> {
        let answer = self.ask(&wire::get(&self.config, id.as_str())).await?;
        if answer.status == 404 {
            return Ok(None);
        }
        let devbox: Devbox =
            answer.read("connect to a sandbox").map_err(|error| error.with_context("sandbox", id.as_str()))?;
        Ok(self.ready(devbox).await?.ok())
    }

    /// One page. Each status has a list of its own, so a cursor says in which one it is, and behind which devbox.
    async fn page(&self, request: ListRequest) -> Result<ListPage> {
        let (mut status, mut behind) = match request.cursor.as_deref() {
            None => (0, None),
            Some(cursor) => place(cursor)?,
        };
        loop {
            let Some(name) = STATUSES.get(status) else {
                return Ok(ListPage { sandboxes: Vec::new(), cursor: None });
            };
            let page: Page = self.ask(&wire::list(&self.config, name, behind.as_deref())).await?.read("list")?;
            let last = page.devboxes.last().map(|devbox| devbox.id.clone());
            let next = match last {
                Some(last) if page.has_more => (status, Some(last)),
                _ => (status + 1, None),
            };
            let bears = |devbox: &Devbox| {
                devbox.state() != State::Gone
                    && request.labels.iter().all(|(name, value)| devbox.metadata.get(name) == Some(value))
            };
            let found = page.devboxes.into_iter().filter(bears);
            let sandboxes: Vec<SandboxInfo> = found
                .map(|devbox| Ok(SandboxInfo { id: SandboxId::parse(devbox.id)?, labels: devbox.metadata }))
                .collect::<Result<_>>()?;
            (status, behind) = next;
            if !sandboxes.is_empty() {
                let more = status < STATUSES.len();
                let cursor = more.then(|| format!("{status}/{}", behind.unwrap_or_default()));
                return Ok(ListPage { sandboxes, cursor });
            }
        }
    }

    async fn gone(&self, id: &SandboxId) -> Result<()> {
        let mut polling = Polling::new("delete a sandbox", self.options.ready_time);
        loop {
            let answer = self.ask(&wire::turn(&self.config, id.as_str(), "shutdown")).await?;
            if answer.status == 404 {
                return Ok(());
            }
            let refused = (!answer.is_success()).then(|| answer.failure("delete").with_context("sandbox", id.as_str()));
            let answer = self.ask(&wire::get(&self.config, id.as_str())).await?;
            if answer.status == 404 || answer.read::<Devbox>("delete")?.state() == State::Gone {
                return Ok(());
            }
            match refused {
                // It may be on its way to another status, and is asked again.
                Some(error) if !matches!(error.kind(), ErrorKind::InvalidRequest) => return Err(error),
                _ => polling.pause().await?,
            }
        }
    }
}

/// Where a cursor is.
fn place(cursor: &str) -> Result<(usize, Option<String>)> {
    let parsed = cursor.split_once('/').and_then(|(status, behind)| Some((status.parse::<usize>().ok()?, behind)));
    let (status, behind) = parsed.ok_or_else(|| {
        let message = "the cursor is none of this provider's; begin the list anew";
        Error::new(ErrorKind::InvalidRequest, "list", message)
    })?;
    Ok((status, (!behind.is_empty()).then(|| behind.to_owned())))
}

impl Control for RunloopControl {
    type Plane = RunloopSandbox;

    fn options(&self) -> &Options {
        &self.options
    }

    fn create<'a>(
        &'a self,
        labels: &'a BTreeMap<String, String>,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Created<RunloopSandbox>>> {
        Box::pin(self.made(labels))
    }

    fn connect<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<Option<RunloopSandbox>>> {
        Box::pin(self.found(id))
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListPage>> {
        Box::pin(self.page(request))
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.gone(id))
    }
}

/// Runloop behind the contract of providers.
pub type RunloopProvider = RemoteProvider<RunloopControl>;
