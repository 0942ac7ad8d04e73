//! What can be set for E2B.

use std::time::Duration;

use tidebox_core::{Error, ErrorKind, Result, Secret};

use crate::address::Address;
use crate::options::{NetworkAccess, Options, unsupported, variable};

/// The name in messages and in the registry.
pub(super) const NAME: &str = "e2b";

/// Where E2B is when nobody says otherwise.
const DOMAIN: &str = "e2b.app";

/// Domains whose sandboxes are all reached at one host, which finds the sandbox by headers. Elsewhere each has its own host.
const SHARED_HOSTS: [&str; 3] = ["e2b.app", "e2b.dev", "e2b.pro"];

/// The port of `envd` in a sandbox.
pub(super) const PORT: u16 = 49983;

/// Whole seconds that a sandbox may live at once; longer is refused by the service for every plan.
const LONGEST_LIFE: Duration = Duration::from_secs(24 * 60 * 60);

/// How E2B is reached and what its sandboxes are like.
#[derive(Clone, Debug)]
pub struct E2bConfig {
    /// Sent as `X-API-Key`. From `E2B_API_KEY`.
    pub api_key: Secret,
    /// The control plane. From `E2B_API_URL`, else `https://api.` and the domain.
    pub api_url: Address,
    /// The domain of sandboxes whose own answer names none. From `E2B_DOMAIN`, else `e2b.app`.
    pub domain: String,
    /// One address for all sandboxes, such as an emulator's. From `E2B_SANDBOX_URL`.
    pub sandbox_url: Option<Address>,
    /// The template of new sandboxes. Default `base`.
    pub template: String,
    /// Life of a sandbox from the last time that it was connected to, in whole seconds.
    pub timeout: u64,
    /// The user of commands and files. `None` is the template's.
    pub user: Option<String>,
    /// The shell of commands. Default `/bin/bash`, called with `-l -c` as the official client does.
    pub shell: String,
}

impl E2bConfig {
    /// Reads options and variables of the environment.
    ///
    /// Of its own E2B has the options `sandbox_url`, `domain`, `user` and `shell`.
    ///
    /// # Errors
    /// [`ErrorKind::Unauthenticated`] without a key, [`ErrorKind::Unsupported`] for what E2B does not have.
    pub fn new(options: &Options) -> Result<Self> {
        options.only_extra(NAME, &["sandbox_url", "domain", "user", "shell"])?;
        if options.cpus.is_some() || options.memory_mib.is_some() || options.disk_mib.is_some() {
            return Err(unsupported(NAME, "processors, memory and disk of one sandbox; its template has them"));
        }
        if options.region.is_some() {
            return Err(unsupported(NAME, "regions to choose from"));
        }
        if options.time_to_live > LONGEST_LIFE {
            return Err(unsupported(NAME, "sandboxes that live for more than 24 hours"));
        }
        if let NetworkAccess::Only(_) = options.network {
            // There is `network.allowOut`, but what it means for names and for DNS is not written down.
            return Err(unsupported(NAME, "a list of allowed hosts that this adapter could prove; block all or none"));
        }
        let extra = |name: &str| options.extra.get(name).cloned();
        let domain = extra("domain").or_else(|| variable("E2B_DOMAIN")).unwrap_or_else(|| DOMAIN.to_owned());
        let sandbox_url = extra("sandbox_url").or_else(|| variable("E2B_SANDBOX_URL"));
        Ok(Self {
            api_key: options.key(NAME, &["E2B_API_KEY"])?,
            api_url: options.url(&["E2B_API_URL"], &format!("https://api.{domain}")),
            sandbox_url: sandbox_url.as_deref().map(Address::new),
            domain,
            template: options.image.clone().unwrap_or_else(|| "base".to_owned()),
            timeout: whole_seconds(options.time_to_live),
            user: extra("user"),
            shell: extra("shell").unwrap_or_else(|| "/bin/bash".to_owned()),
        })
    }

    /// Where the daemon of a sandbox is. `domain` is what the control plane said of it.
    pub(super) fn data_url(&self, id: &str, domain: Option<&str>) -> Result<String> {
        if let Some(url) = &self.sandbox_url {
            return Ok(url.to_string());
        }
        let domain = domain.unwrap_or(&self.domain);
        // Both come from a reply and become part of a host's name.
        let plain =
            |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c));
        if !plain(id) || !plain(domain) {
            let message = "the control plane answered a name that cannot be part of a host's name";
            return Err(Error::new(ErrorKind::Protocol, "connect to a sandbox", message));
        }
        Ok(if SHARED_HOSTS.contains(&domain) {
            format!("https://sandbox.{domain}")
        } else {
            format!("https://{PORT}-{id}.{domain}")
        })
    }
}

/// Seconds, rounded up, at least one.
fn whole_seconds(time: Duration) -> u64 {
    (time.as_secs() + u64::from(time.subsec_nanos() > 0)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(options: Options) -> Result<E2bConfig> {
        E2bConfig::new(&options.with_api_key("planted-e2b-key"))
    }

    #[test]
    fn known_domains_share_a_host_and_others_have_one_for_each_sandbox() {
        let config = E2bConfig { sandbox_url: None, ..config(Options::default()).unwrap() };
        assert_eq!(config.data_url("sbx1", Some("e2b.app")).unwrap(), "https://sandbox.e2b.app");
        assert_eq!(config.data_url("sbx1", Some("own.example")).unwrap(), "https://49983-sbx1.own.example");
        assert_eq!(config.data_url("x/../y", Some("own.example")).unwrap_err().kind(), ErrorKind::Protocol);
    }

    #[test]
    fn a_life_is_rounded_up_to_whole_seconds_and_too_long_a_one_is_refused() {
        let life = |time| config(Options { time_to_live: time, ..Options::default() });
        assert_eq!(life(Duration::from_millis(1500)).unwrap().timeout, 2);
        assert_eq!(life(Duration::ZERO).unwrap().timeout, 1);
        assert_eq!(life(Duration::from_secs(90_000)).unwrap_err().kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn the_key_is_not_in_what_is_printed_of_a_configuration() {
        assert!(!format!("{:?}", config(Options::default()).unwrap()).contains("planted"));
    }
}
