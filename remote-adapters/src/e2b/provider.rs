//! Sandbox lifecycle at E2B.
//!
//! A sandbox is ready when the response to its creation arrives. Names are not unique, so two processes that request
//! the same labels concurrently may each create a sandbox; both keep the one with the smaller id and delete the other.

use std::collections::BTreeMap;

use async_trait::async_trait;
use tidebox_core::{ListPage, ListRequest, Result, SandboxId};

use super::config::E2bConfig;
use super::sandbox::E2bSandbox;
use super::wire::{self, Access, Version};
use crate::control_plane::{ControlPlane, Created};
use crate::options::Options;
use crate::provider::RemoteProvider;
use crate::transport::{Client, Request, RetryPolicy};

/// Control plane of E2B.
#[derive(Debug)]
pub struct E2bControl {
    options: Options,
    config: E2bConfig,
    client: Client,
}

impl E2bControl {
    /// Reads options and environment variables.
    ///
    /// # Errors
    /// Same as [`E2bConfig::new`].
    pub fn new(options: Options) -> Result<Self> {
        let config = E2bConfig::new(&options)?;
        let client = Client::new(options.transport()?, RetryPolicy { hint: wire::hint, ..RetryPolicy::default() });
        Ok(Self { options, config, client })
    }

    /// Sends a request that exists in two versions: in the configured one, else in the second, falling back to the first if
    /// the server does not support it. Returns whether it succeeded, the status and the body.
    async fn send_with_fallback(&self, request: impl Fn(Version) -> Request) -> Result<(bool, u16, Vec<u8>)> {
        let version = self.config.api_version.unwrap_or(Version::Second);
        let reply = self.client.send(&request(version)).await?;
        let (success, status) = (reply.is_success(), reply.status);
        let body = reply.bytes().await?;
        if success || self.config.api_version.is_some() || !wire::is_unknown_route(status, &body) {
            return Ok((success, status, body));
        }
        let reply = self.client.send(&request(Version::First)).await?;
        let (success, status) = (reply.is_success(), reply.status);
        Ok((success, status, reply.bytes().await?))
    }
}

#[async_trait]
impl ControlPlane for E2bControl {
    type DataPlane = E2bSandbox;

    fn options(&self) -> &Options {
        &self.options
    }

    async fn create(&self, labels: &BTreeMap<String, String>, _: Option<&str>) -> Result<Created<E2bSandbox>> {
        // Equal for all attempts of this request and unique to it.
        let attempt = format!("tidebox-{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
        let (success, status, body) = self
            .send_with_fallback(|version| {
                wire::create(version, &self.config, labels, &self.options.env, &self.options.network, &attempt)
            })
            .await?;
        if !success {
            return Err(wire::failure("create a sandbox", status, &body));
        }
        let access: Access = wire::parse("create a sandbox", &body)?;
        let id = SandboxId::parse(access.sandbox_id.clone())?;
        Ok(Created { id, is_new: true, sandbox: E2bSandbox::new(&self.config, access, self.client.clone()) })
    }

    async fn connect(&self, id: &SandboxId) -> Result<Option<E2bSandbox>> {
        let ask = |version| wire::connect(version, &self.config, id.as_str());
        let (success, status, body) = self.send_with_fallback(ask).await?;
        match status {
            404 => Ok(None),
            _ if success => {
                let access: Access = wire::parse("connect to a sandbox", &body)?;
                E2bSandbox::new(&self.config, access, self.client.clone()).map(Some)
            }
            _ => Err(wire::failure("connect to a sandbox", status, &body).with_context("sandbox", id.as_str())),
        }
    }

    async fn list(&self, request: ListRequest) -> Result<ListPage> {
        let reply = self.client.send(&wire::list(&self.config, &request)).await?;
        let (success, status) = (reply.is_success(), reply.status);
        let cursor = reply.header("x-next-token").map(str::to_owned);
        let body = reply.bytes().await?;
        if success { wire::parse_list(&body, cursor.as_deref()) } else { Err(wire::failure("list", status, &body)) }
    }

    async fn delete(&self, id: &SandboxId) -> Result<()> {
        let reply = self.client.send(&wire::delete(&self.config, id.as_str())).await?;
        if reply.is_success() || reply.status == 404 {
            return Ok(());
        }
        let status = reply.status;
        let body = reply.bytes().await?;
        Err(wire::failure("delete", status, &body).with_context("sandbox", id.as_str()))
    }
}

/// Provider for E2B.
pub type E2bProvider = RemoteProvider<E2bControl>;
