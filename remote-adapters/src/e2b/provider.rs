//! The life of sandboxes at E2B.
//!
//! A sandbox is ready when the answer to its creation comes. Names are not unique, so two processes that ask for the same
//! labels at once may both make one; both then keep the one whose name comes first, and delete the other.

use std::collections::BTreeMap;

use tidebox_core::{BoxFuture, ListPage, ListRequest, Result, SandboxId};

use super::config::E2bConfig;
use super::sandbox::E2bSandbox;
use super::wire::{self, Access, Version};
use crate::control::{Control, Created};
use crate::options::Options;
use crate::provider::RemoteProvider;
use crate::transport::{Client, Request, RetryPolicy};

/// The control plane of E2B.
#[derive(Debug)]
pub struct E2bControl {
    options: Options,
    config: E2bConfig,
    client: Client,
}

impl E2bControl {
    /// Reads options and variables of the environment.
    ///
    /// # Errors
    /// Those of [`E2bConfig::new`].
    pub fn new(options: Options) -> Result<Self> {
        let config = E2bConfig::new(&options)?;
        let client = Client::new(options.transport()?, RetryPolicy { hint: wire::hint, ..RetryPolicy::default() });
        Ok(Self { options, config, client })
    }

    /// Sends what there are two versions of, the first one where the server does not know the second: whether it succeeded, its status
    /// and what was answered.
    async fn in_its_version(&self, request: impl Fn(Version) -> Request) -> Result<(bool, u16, Vec<u8>)> {
        let reply = self.client.send(&request(Version::Second)).await?;
        let (success, status) = (reply.is_success(), reply.status);
        let body = reply.whole().await?;
        if success || !wire::has_no_such_call(status, &body) {
            return Ok((success, status, body));
        }
        let reply = self.client.send(&request(Version::First)).await?;
        let (success, status) = (reply.is_success(), reply.status);
        Ok((success, status, reply.whole().await?))
    }

    async fn made(&self, labels: &BTreeMap<String, String>) -> Result<Created<E2bSandbox>> {
        // The same for every attempt of this request, and for no other.
        let attempt = format!("tidebox-{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
        let (success, status, body) = self
            .in_its_version(|version| {
                wire::create(version, &self.config, labels, &self.options.env, &self.options.network, &attempt)
            })
            .await?;
        if !success {
            return Err(wire::failure("create a sandbox", status, &body));
        }
        let access: Access = wire::parse("create a sandbox", &body)?;
        let id = SandboxId::parse(access.sandbox_id.clone())?;
        Ok(Created { id, made: true, plane: E2bSandbox::new(&self.config, access, self.client.clone()) })
    }

    async fn found(&self, id: &SandboxId) -> Result<Option<E2bSandbox>> {
        let ask = |version| wire::connect(version, &self.config, id.as_str());
        let (success, status, body) = self.in_its_version(ask).await?;
        match status {
            404 => Ok(None),
            _ if success => {
                let access: Access = wire::parse("connect to a sandbox", &body)?;
                E2bSandbox::new(&self.config, access, self.client.clone()).map(Some)
            }
            _ => Err(wire::failure("connect to a sandbox", status, &body).with_context("sandbox", id.as_str())),
        }
    }

    async fn page(&self, request: ListRequest) -> Result<ListPage> {
        let reply = self.client.send(&wire::list(&self.config, &request)).await?;
        let (success, status) = (reply.is_success(), reply.status);
        let cursor = reply.header("x-next-token").map(str::to_owned);
        let body = reply.whole().await?;
        if success { wire::listed(&body, cursor.as_deref()) } else { Err(wire::failure("list", status, &body)) }
    }

    async fn gone(&self, id: &SandboxId) -> Result<()> {
        let reply = self.client.send(&wire::delete(&self.config, id.as_str())).await?;
        if reply.is_success() || reply.status == 404 {
            return Ok(());
        }
        let status = reply.status;
        let body = reply.whole().await?;
        Err(wire::failure("delete", status, &body).with_context("sandbox", id.as_str()))
    }
}

impl Control for E2bControl {
    type Plane = E2bSandbox;

    fn options(&self) -> &Options {
        &self.options
    }

    fn create<'a>(
        &'a self,
        labels: &'a BTreeMap<String, String>,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Created<E2bSandbox>>> {
        Box::pin(self.made(labels))
    }

    fn connect<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<Option<E2bSandbox>>> {
        Box::pin(self.found(id))
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListPage>> {
        Box::pin(self.page(request))
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.gone(id))
    }
}

/// E2B behind the contract of providers.
pub type E2bProvider = RemoteProvider<E2bControl>;
