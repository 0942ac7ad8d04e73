//! What can be set for Deno Sandbox.

use std::time::Duration;

use tidebox_core::{Error, ErrorKind, Result, Secret};

use crate::address::Address;
use crate::options::{NetworkAccess, Options, unsupported, variable};

/// The name in messages and in the registry.
pub(super) const NAME: &str = "deno";

/// Where lists are when nobody says otherwise.
const CONSOLE: &str = "https://console.deno.com";

/// The domain of sandboxes; their region stands before it.
const DOMAIN: &str = "sandbox-api.deno.net";

/// The region of new sandboxes.
const REGION: &str = "ord";

/// How far ahead the end of a sandbox may be set at once.
const LONGEST_LIFE: Duration = Duration::from_secs(30 * 60);

/// Memory in MiB: what one gets who says nothing, and the bounds.
const MEMORY: u32 = 1280;
const LEAST_MEMORY: u32 = 768;
const MOST_MEMORY: u32 = 4096;

/// How Deno is reached and what its sandboxes are like.
#[derive(Clone, Debug)]
pub struct DenoConfig {
    /// Sent as a bearer. From `DENO_DEPLOY_TOKEN`.
    pub token: Secret,
    /// The organisation, which a token of a person needs. From `DENO_DEPLOY_ORG`.
    pub org: Option<String>,
    /// Where lists are. From `DENO_DEPLOY_ENDPOINT`.
    pub api_url: Address,
    /// One address for all sandboxes, such as an emulator's. From `DENO_SANDBOX_ENDPOINT`.
    pub sandbox_url: Option<Address>,
    /// The domain of sandboxes. From `DENO_SANDBOX_BASE_DOMAIN`.
    pub domain: String,
    /// The region of new sandboxes.
    pub region: String,
    /// What new sandboxes begin with: a volume or snapshot of theirs. `None` is the service's own.
    pub root: Option<String>,
    /// Memory.
    pub memory_mb: u32,
    /// How long a sandbox lives from the last connect.
    pub life: Duration,
    /// Which hosts programs reach.
    pub network: NetworkAccess,
    /// The shell of commands. Default `/bin/bash`.
    pub shell: String,
}

impl DenoConfig {
    /// Reads options and variables of the environment.
    ///
    /// Of its own Deno has the options `org`, `sandbox_url`, `domain` and `shell`.
    ///
    /// # Errors
    /// [`ErrorKind::Unauthenticated`] without a token or an organisation, [`ErrorKind::Unsupported`] for what Deno does not have,
    /// and in JavaScript altogether.
    pub fn new(options: &Options) -> Result<Self> {
        if cfg!(target_family = "wasm") {
            let message = "Deno's sandboxes are reached over a WebSocket with a token in a header, which JavaScript lets nobody \
                           set; run the program outside of the browser, or through a relay of your own";
            return Err(Error::new(ErrorKind::Unsupported, "set up a provider", message));
        }
        options.only_extra(NAME, &["org", "sandbox_url", "domain", "shell"])?;
        if options.cpus.is_some() || options.disk_mib.is_some() {
            return Err(unsupported(NAME, "processors and disks to choose; only memory"));
        }
        if options.time_to_live > LONGEST_LIFE {
            return Err(unsupported(NAME, "sandboxes that live for more than 30 minutes after the last connect"));
        }
        let memory_mb = options.memory_mib.map_or(MEMORY, |memory| memory.max(LEAST_MEMORY));
        if memory_mb > MOST_MEMORY {
            return Err(unsupported(NAME, "sandboxes with more than 4096 MiB"));
        }
        let extra = |name: &str| options.extra.get(name).cloned();
        let token = options.key(NAME, &["DENO_DEPLOY_TOKEN"])?;
        let org = extra("org").or_else(|| variable("DENO_DEPLOY_ORG"));
        if org.is_none() && !token.expose().starts_with(b"ddo_") {
            let message = "a token of a person needs its organisation; set DENO_DEPLOY_ORG or the option org";
            return Err(Error::new(ErrorKind::Unauthenticated, "set up a provider", message));
        }
        let sandbox_url = extra("sandbox_url").or_else(|| variable("DENO_SANDBOX_ENDPOINT"));
        Ok(Self {
            token,
            org,
            api_url: options.url(&["DENO_DEPLOY_ENDPOINT"], CONSOLE),
            sandbox_url: sandbox_url.as_deref().map(Address::new),
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

    /// The address of the region that the name of a sandbox tells, `sbx_REGION_...`.
    pub(super) fn url_of(&self, id: &str) -> Result<String> {
        let region = id.strip_prefix("sbx_").and_then(|rest| rest.split_once('_')).map(|(region, _)| region);
        self.url(region.unwrap_or(&self.region))
    }

    /// The address of a region.
    pub(super) fn url(&self, region: &str) -> Result<String> {
        if let Some(url) = &self.sandbox_url {
            return Ok(url.to_string());
        }
        // A name may come from anywhere, and this part of it becomes part of a host's name.
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
    fn a_sandbox_is_reached_in_the_region_that_its_name_tells() {
        let config = DenoConfig { sandbox_url: None, ..config(Options::default()).unwrap() };
        assert_eq!(config.url_of("sbx_ams_0123").unwrap(), "https://ams.sandbox-api.deno.net");
        assert_eq!(config.url_of("another").unwrap(), "https://ord.sandbox-api.deno.net");
        assert_eq!(config.url_of("sbx_evil.example/_x").unwrap_err().kind(), ErrorKind::InvalidRequest);
    }

    #[test]
    fn memory_is_raised_to_the_least_there_is_and_too_much_is_refused() {
        let memory = |mib| config(Options { memory_mib: mib, ..Options::default() });
        assert_eq!(memory(None).unwrap().memory_mb, 1280);
        assert_eq!(memory(Some(100)).unwrap().memory_mb, 768);
        assert_eq!(memory(Some(4096)).unwrap().memory_mb, 4096);
        assert_eq!(memory(Some(4097)).unwrap_err().kind(), ErrorKind::Unsupported);
        let long = Options { time_to_live: Duration::from_secs(1801), ..Options::default() };
        assert_eq!(config(long).unwrap_err().kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn a_token_of_a_person_needs_an_organisation() {
        let options = || Options::default().with_api_key("ddp_planted-deno-token");
        if std::env::var_os("DENO_DEPLOY_ORG").is_none() {
            assert_eq!(DenoConfig::new(&options()).unwrap_err().kind(), ErrorKind::Unauthenticated);
        }
        let config = DenoConfig::new(&options().with_extra("org", "mine")).unwrap();
        assert_eq!(config.org.as_deref(), Some("mine"));
        assert!(!format!("{config:?}").contains("planted"));
    }
}
