//! Deno Sandbox configuration.

use std::time::Duration;

use tidebox_core::{Error, ErrorKind, Result, Secret};

use crate::address::BaseUrl;
use crate::options::{NetworkAccess, Options, unsupported, variable};

/// Provider name in messages and in the registry.
pub(super) const NAME: &str = "deno";

/// Default URL for lists.
const CONSOLE: &str = "https://console.deno.com";

/// Domain of sandboxes; the region precedes it.
const DOMAIN: &str = "sandbox-api.deno.net";

/// Default region of new sandboxes.
const REGION: &str = "ord";

/// Maximum time to the end of a sandbox in one request.
const MAX_LIFE: Duration = Duration::from_secs(30 * 60);

/// Memory in MiB: default and limits.
const MEMORY: u32 = 1280;
const MIN_MEMORY: u32 = 768;
const MAX_MEMORY: u32 = 4096;

/// Deno endpoint, credentials and sandbox settings.
#[derive(Clone, Debug)]
pub struct DenoConfig {
    /// Sent as a bearer token. From `DENO_DEPLOY_TOKEN`.
    pub token: Secret,
    /// The organisation; required with a personal token. From `DENO_DEPLOY_ORG`.
    pub org: Option<String>,
    /// URL for lists. From `DENO_DEPLOY_ENDPOINT`.
    pub api_url: BaseUrl,
    /// One URL for all sandboxes, such as an emulator. From `DENO_SANDBOX_ENDPOINT`.
    pub sandbox_url: Option<BaseUrl>,
    /// The domain of sandboxes. From `DENO_SANDBOX_BASE_DOMAIN`.
    pub domain: String,
    /// The region of new sandboxes.
    pub region: String,
    /// Volume or snapshot of new sandboxes. `None` uses Deno's default.
    pub root: Option<String>,
    /// Memory in MB.
    pub memory_mb: u32,
    /// Lifetime of a sandbox from the last connect.
    pub life: Duration,
    /// Network access of new sandboxes.
    pub network: NetworkAccess,
    /// The shell of commands. Default `/bin/bash`.
    pub shell: String,
}

impl DenoConfig {
    /// Reads options and environment variables.
    ///
    /// Deno's extra options are `org`, `sandbox_url`, `domain` and `shell`.
    ///
    /// # Errors
    /// [`ErrorKind::Unauthenticated`] without a token or an organisation, [`ErrorKind::Unsupported`] for options that
    /// Deno does not support, and always in JavaScript.
    pub fn new(options: &Options) -> Result<Self> {
        if cfg!(target_family = "wasm") {
            let message = "Deno Sandbox requires a WebSocket with a token header, which JavaScript cannot send; run it natively, \
                           or through a relay";
            return Err(Error::new(ErrorKind::Unsupported, "set up a provider", message));
        }
        options.check_extra(NAME, &["org", "sandbox_url", "domain", "shell"])?;
        if options.cpus.is_some() || options.disk_mib.is_some() {
            return Err(unsupported(NAME, "cpus or disk_mib; only memory_mib"));
        }
        if options.time_to_live > MAX_LIFE {
            return Err(unsupported(NAME, "a time_to_live of more than 30 minutes"));
        }
        let memory_mb = options.memory_mib.map_or(MEMORY, |memory| memory.max(MIN_MEMORY));
        if memory_mb > MAX_MEMORY {
            return Err(unsupported(NAME, "memory_mib above 4096"));
        }
        let extra = |name: &str| options.extra.get(name).cloned();
        let token = options.key(NAME, &["DENO_DEPLOY_TOKEN"])?;
        let org = extra("org").or_else(|| variable("DENO_DEPLOY_ORG"));
        if org.is_none() && !token.expose().starts_with(b"ddo_") {
            let message = "a personal token requires an organisation; set DENO_DEPLOY_ORG or the option org";
            return Err(Error::new(ErrorKind::Unauthenticated, "set up a provider", message));
        }
        let sandbox_url = extra("sandbox_url").or_else(|| variable("DENO_SANDBOX_ENDPOINT"));
        Ok(Self {
            token,
            org,
            api_url: options.url(&["DENO_DEPLOY_ENDPOINT"], CONSOLE),
            sandbox_url: sandbox_url.as_deref().map(BaseUrl::new),
            domain: extra("domain")
                .or_else(|| variable("DENO_SANDBOX_BASE_DOMAIN"))
                .unwrap_or_else(|| DOMAIN.to_owned()),
            region: options.region.clone().unwrap_or_else(|| REGION.to_owned()),
            root: options.image.clone(),
            memory_mb,
            life: options.time_to_live.max(Duration::from_secs(1)),
            network: options.network.clone(),
            shell: extra("shell").unwrap_or_else(|| "/bin/bash".to_owned()),
        })
    }

    /// Returns the URL of the region in a sandbox id, `sbx_REGION_...`.
    pub(super) fn url_of(&self, id: &str) -> Result<String> {
        let region = id.strip_prefix("sbx_").and_then(|rest| rest.split_once('_')).map(|(region, _)| region);
        self.url(region.unwrap_or(&self.region))
    }

    /// Returns the URL of a region.
    pub(super) fn url(&self, region: &str) -> Result<String> {
        if let Some(url) = &self.sandbox_url {
            return Ok(url.to_string());
        }
        // The id may come from an untrusted source, and this part of it becomes part of a host name.
        if region.is_empty() || !region.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            let message = "the region is not one that can be part of a host's name";
            return Err(Error::new(ErrorKind::InvalidRequest, "connect to a sandbox", message));
        }
        Ok(format!("https://{region}.{}", self.domain))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(options: Options) -> Result<DenoConfig> {
        DenoConfig::new(&options.with_api_key("ddo_planted-deno-token"))
    }

    #[test]
    fn the_region_is_taken_from_the_sandbox_id() {
        let config = DenoConfig { sandbox_url: None, ..config(Options::default()).unwrap() };
        assert_eq!(config.url_of("sbx_ams_0123").unwrap(), "https://ams.sandbox-api.deno.net");
        assert_eq!(config.url_of("another").unwrap(), "https://ord.sandbox-api.deno.net");
        assert_eq!(config.url_of("sbx_evil.example/_x").unwrap_err().kind(), ErrorKind::InvalidRequest);
    }

    #[test]
    fn memory_is_raised_to_the_minimum_and_limited() {
        let memory = |mib| config(Options { memory_mib: mib, ..Options::default() });
        assert_eq!(memory(None).unwrap().memory_mb, 1280);
        assert_eq!(memory(Some(100)).unwrap().memory_mb, 768);
        assert_eq!(memory(Some(4096)).unwrap().memory_mb, 4096);
        assert_eq!(memory(Some(4097)).unwrap_err().kind(), ErrorKind::Unsupported);
        let long = Options { time_to_live: Duration::from_secs(1801), ..Options::default() };
        assert_eq!(config(long).unwrap_err().kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn a_personal_token_requires_an_organisation() {
        let options = || Options::default().with_api_key("ddp_planted-deno-token");
        if std::env::var_os("DENO_DEPLOY_ORG").is_none() {
            assert_eq!(DenoConfig::new(&options()).unwrap_err().kind(), ErrorKind::Unauthenticated);
        }
        let config = DenoConfig::new(&options().with_extra("org", "mine")).unwrap();
        assert_eq!(config.org.as_deref(), Some("mine"));
        assert!(!format!("{config:?}").contains("planted"));
    }
}
