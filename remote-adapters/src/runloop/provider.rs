//! Devbox lifecycle at Runloop.
//!
//! The API has no filter for labels and no unique names: lists are filtered here, and two processes that request the
//! same labels concurrently may each create a devbox; both keep the one with the smaller id and delete the other.

use std::collections::BTreeMap;

use async_trait::async_trait;
use tidebox_core::{Error, ErrorKind, ListPage, ListRequest, Result, SandboxId, SandboxInfo};

use super::config::RunloopConfig;
use super::sandbox::RunloopSandbox;
use super::wire::{self, Devbox, Page, Policies, Policy, STATUSES, State};
use crate::control_plane::{ControlPlane, Created};
use crate::options::Options;
use crate::poll::PollTimer;
use crate::provider::RemoteProvider;
use crate::transport::{Client, Request, RetryPolicy};

/// Control plane of Runloop.
#[derive(Debug)]
pub struct RunloopControl {
    options: Options,
    config: RunloopConfig,
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

    fn read<T: for<'de> serde::Deserialize<'de>>(&self, operation: &'static str) -> Result<T> {
        if self.is_success() { wire::parse(operation, &self.body) } else { Err(self.failure(operation)) }
    }

    fn failure(&self, operation: &'static str) -> Error {
        wire::failure(operation, self.status, &self.body)
    }
}

impl RunloopControl {
    /// Reads options and environment variables.
    ///
    /// # Errors
    /// Same as [`RunloopConfig::new`].
    pub fn new(options: Options) -> Result<Self> {
        let config = RunloopConfig::new(&options)?;
        let retry = RetryPolicy { attempts: 6, hint: wire::hint, ..RetryPolicy::default() };
        let client = Client::new(options.transport()?, retry);
        Ok(Self { options, config, client })
    }

    async fn send(&self, request: &Request) -> Result<RawResponse> {
        let reply = self.client.send(request).await?;
        Ok(RawResponse { status: reply.status, body: reply.bytes().await? })
    }

    /// Returns the network policy, and creates it if it is missing.
    async fn ensure_policy(&self) -> Result<Option<String>> {
        let operation = "create a network policy";
        let Some(network) = &self.config.network else { return Ok(None) };
        let name = wire::policy_name(network);
        let known = async || -> Result<Option<String>> {
            let found: Policies = self.send(&wire::policies(&self.config, &name)).await?.read(operation)?;
            Ok(found.network_policies.into_iter().find(|policy| policy.name == name).map(|policy| policy.id))
        };
        if let Some(id) = known().await? {
            return Ok(Some(id));
        }
        let response = self.send(&wire::create_policy(&self.config, &name, network)).await?;
        if !response.is_success() {
            // Another caller may have just created it.
            return known().await?.map_or_else(|| Err(response.failure(operation)), |id| Ok(Some(id)));
        }
        response.read::<Policy>(operation).map(|policy| Some(policy.id))
    }

    /// Waits until a devbox is running, and resumes it if it is suspended. A deleted devbox is the inner error.
    async fn ready(&self, mut devbox: Devbox) -> Result<std::result::Result<RunloopSandbox, Devbox>> {
        let operation = "connect to a sandbox";
        let mut polling = PollTimer::new(operation, self.options.ready_time);
        loop {
            let statuses: &[&str] = match devbox.state() {
                State::Ready => {
                    let id = SandboxId::parse(devbox.id)?;
                    return Ok(Ok(RunloopSandbox::new(&self.config, id, self.client.clone())));
                }
                State::Gone => return Ok(Err(devbox)),
                State::Asleep => {
                    let response = self.send(&wire::change_state(&self.config, &devbox.id, "resume")).await?;
                    if !response.is_success() && !matches!(response.status, 400 | 409) {
                        return Err(response.failure(operation));
                    }
                    &["running", "failure", "shutdown"]
                }
                State::Changing if devbox.status == "suspending" => &["suspended", "failure", "shutdown"],
                State::Changing => &["running", "failure", "shutdown"],
            };
            let wait = wire::wait_for_devbox(&self.config, &devbox.id, statuses, polling.remaining());
            match self.send(&wait).await {
                Ok(response) if response.is_success() => devbox = response.read(operation)?,
                Ok(response) if response.status == 408 => {}
                Ok(response) => return Err(response.failure(operation)),
                Err(error) if error.kind() == ErrorKind::Timeout => {}
                Err(error) => return Err(error),
            }
            if devbox.state() != State::Ready {
                polling.pause().await?;
            }
        }
    }
}

/// Parses a cursor.
fn parse_cursor(cursor: &str) -> Result<(usize, Option<String>)> {
    let parsed = cursor.split_once('/').and_then(|(status, behind)| Some((status.parse::<usize>().ok()?, behind)));
    let (status, behind) = parsed.ok_or_else(|| {
        let message = "invalid cursor: it was not returned by this provider; list again without a cursor";
        Error::new(ErrorKind::InvalidRequest, "list", message)
    })?;
    Ok((status, (!behind.is_empty()).then(|| behind.to_owned())))
}

#[async_trait]
impl ControlPlane for RunloopControl {
    type DataPlane = RunloopSandbox;

    fn options(&self) -> &Options {
        &self.options
    }

    async fn create(&self, labels: &BTreeMap<String, String>, _: Option<&str>) -> Result<Created<RunloopSandbox>> {
        let policy = self.ensure_policy().await?;
        let request = wire::create(&self.config, labels, &self.options.env, policy.as_deref());
        let devbox: Devbox = self.send(&request).await?.read("create a sandbox")?;
        let id = SandboxId::parse(devbox.id.clone())?;
        let plane = self.ready(devbox).await.and_then(|ready| {
            ready.map_err(|failed| {
                let message = "the devbox did not start; check its blueprint or image";
                let error = Error::new(ErrorKind::Unavailable, "create a sandbox", message)
                    .with_context("status", failed.status);
                match failed.failure_reason {
                    Some(reason) => error.with_context("reason", reason),
                    None => error,
                }
            })
        });
        Ok(Created { id, is_new: true, sandbox: plane })
    }

    async fn connect(&self, id: &SandboxId) -> Result<Option<RunloopSandbox>> {
        let response = self.send(&wire::get(&self.config, id.as_str())).await?;
        if response.status == 404 {
            return Ok(None);
        }
        let devbox: Devbox =
            response.read("connect to a sandbox").map_err(|error| error.with_context("sandbox", id.as_str()))?;
        Ok(self.ready(devbox).await?.ok())
    }

    /// Returns one page. Each status is listed separately, so a cursor consists of a status and the last devbox.
    async fn list(&self, request: ListRequest) -> Result<ListPage> {
        let (mut status, mut behind) = match request.cursor.as_deref() {
            None => (0, None),
            Some(cursor) => parse_cursor(cursor)?,
        };
        loop {
            let Some(name) = STATUSES.get(status) else {
                return Ok(ListPage { sandboxes: Vec::new(), cursor: None });
            };
            let page: Page = self.send(&wire::list(&self.config, name, behind.as_deref())).await?.read("list")?;
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

    async fn delete(&self, id: &SandboxId) -> Result<()> {
        let mut polling = PollTimer::new("delete a sandbox", self.options.ready_time);
        loop {
            let response = self.send(&wire::change_state(&self.config, id.as_str(), "shutdown")).await?;
            if response.status == 404 {
                return Ok(());
            }
            let rejected =
                (!response.is_success()).then(|| response.failure("delete").with_context("sandbox", id.as_str()));
            let response = self.send(&wire::get(&self.config, id.as_str())).await?;
            if response.status == 404 || response.read::<Devbox>("delete")?.state() == State::Gone {
                return Ok(());
            }
            match rejected {
                // The status may be changing; request it again.
                Some(error) if !matches!(error.kind(), ErrorKind::InvalidRequest) => return Err(error),
                _ => polling.pause().await?,
            }
        }
    }
}

/// Provider for Runloop.
pub type RunloopProvider = RemoteProvider<RunloopControl>;
