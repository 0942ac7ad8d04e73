//! The life of sandboxes at E2B.
//!
//! A sandbox is ready when the answer to its creation comes. Names are not unique, so two processes that ask for the same
//! labels at once may both make one; both then keep the one whose name comes first, and delete the other.

use std::collections::BTreeMap;

use tidebox_core::{BoxFuture, ListPage, ListRequest, Result, SandboxId};

use super::config::E2bConfig;
use super::sandbox::E2bSandbox;
use super::wire::{self, Access};
use crate::control::{Control, Created};
use crate::options::Options;
use crate::provider::RemoteProvider;
use crate::transport::{Client, RetryPolicy};

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

    async fn made(&self, labels: &BTreeMap<String, String>) -> Result<Created<E2bSandbox>> {
        // The same for every attempt of this request, and for no other.
        let attempt = format!("tidebox-{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
        let request = wire::create(&self.config, labels, &self.options.env, &self.options.network, &attempt);
        let reply = self.client.send(&request).await?;
        let (success, status) = (reply.is_success(), reply.status);
        let body = reply.whole().await?;
        if !success {
            return Err(wire::failure("create a sandbox", status, &body));
        }
        let access: Access = wire::parse("create a sandbox", &body)?;
        let id = SandboxId::parse(access.sandbox_id.clone())?;
        Ok(Created { id, made: true, plane: E2bSandbox::new(&self.config, access, self.client.clone()) })
    }

    async fn found(&self, id: &SandboxId) -> Result<Option<E2bSandbox>> {
        let reply = self.client.send(&wire::connect(&self.config, id.as_str())).await?;
        let (success, status) = (reply.is_success(), reply.status);
        let body = reply.whole().await?;
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
