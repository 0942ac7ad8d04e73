//! E2B configuration.

use std::time::Duration;

use tidebox_core::{Error, ErrorKind, PortEndpoint, Result, Secret};

use crate::address::BaseUrl;
use crate::options::{NetworkAccess, Options, unsupported, variable};

use super::wire::Version;

/// Provider name in messages and in the registry.
pub(super) const NAME: &str = "e2b";

/// Default domain.
const DOMAIN: &str = "e2b.app";

/// Domains whose sandboxes share one host, which routes by headers. In other domains each sandbox has its own host.
const SHARED_HOSTS: [&str; 3] = ["e2b.app", "e2b.dev", "e2b.pro"];

/// The port of `envd` in a sandbox.
pub(super) const PORT: u16 = 49983;

/// Maximum lifetime of a sandbox; the service rejects longer ones on every plan.
const MAX_LIFE: Duration = Duration::from_secs(24 * 60 * 60);

/// E2B endpoint, credentials and sandbox settings.
#[derive(Clone, Debug)]
pub struct E2bConfig {
    /// Sent as `X-API-Key`. From `E2B_API_KEY`.
    pub api_key: Secret,
    /// The control plane. From `E2B_API_URL`, else `https://api.` and the domain.
    pub api_url: BaseUrl,
    /// Domain of sandboxes whose create response names none. From `E2B_DOMAIN`, else `e2b.app`.
    pub domain: String,
    /// One URL for all sandboxes, such as an emulator. From `E2B_SANDBOX_URL`.
    pub sandbox_url: Option<BaseUrl>,
    /// The template of new sandboxes. Default `base`.
    pub template: String,
    /// Lifetime of a sandbox from the last connect, in whole seconds.
    pub timeout: u64,
    /// User that runs commands and owns files. `None` uses the template's user.
    pub user: Option<String>,
    /// The shell of commands. Default `/bin/bash`, called with `-l -c` as the official client does.
    pub shell: String,
    /// API version of the create and connect calls. `None` uses the second, and the first if the server lacks it.
    pub api_version: Option<Version>,
}

impl E2bConfig {
    /// Reads options and environment variables.
    ///
    /// E2B's extra options are `sandbox_url`, `domain`, `user`, `shell` and `api_version`.
    ///
    /// # Errors
    /// [`ErrorKind::Unauthenticated`] without a key, [`ErrorKind::Unsupported`] for options that E2B does not support.
    pub fn new(options: &Options) -> Result<Self> {
        options.check_extra(NAME, &["sandbox_url", "domain", "user", "shell", "api_version"])?;
        if options.cpus.is_some() || options.memory_mib.is_some() || options.disk_mib.is_some() {
            return Err(unsupported(NAME, "cpus, memory_mib or disk_mib; the template defines them"));
        }
        if options.region.is_some() {
            return Err(unsupported(NAME, "a choice of region"));
        }
        if options.time_to_live > MAX_LIFE {
            return Err(unsupported(NAME, "a time_to_live of more than 24 hours"));
        }
        if let NetworkAccess::Only(_) = options.network {
            // `network.allowOut` exists, but its effect on names and DNS is undocumented.
            return Err(unsupported(NAME, "a verified list of allowed hosts; block all hosts or none"));
        }
        let extra = |name: &str| options.extra.get(name).cloned();
        let domain = extra("domain").or_else(|| variable("E2B_DOMAIN")).unwrap_or_else(|| DOMAIN.to_owned());
        let sandbox_url = extra("sandbox_url").or_else(|| variable("E2B_SANDBOX_URL"));
        Ok(Self {
            api_key: options.key(NAME, &["E2B_API_KEY"])?,
            api_url: options.url(&["E2B_API_URL"], &format!("https://api.{domain}")),
            sandbox_url: sandbox_url.as_deref().map(BaseUrl::new),
            domain,
            template: options.image.clone().unwrap_or_else(|| "base".to_owned()),
            timeout: whole_seconds(options.time_to_live),
            user: extra("user"),
            shell: extra("shell").unwrap_or_else(|| "/bin/bash".to_owned()),
            api_version: extra("api_version").map(|text| api_version(&text)).transpose()?,
        })
    }

    /// URL of a sandbox's daemon. `domain` is the one reported by the control plane.
    pub(super) fn data_url(&self, id: &str, domain: Option<&str>) -> Result<String> {
        if let Some(url) = &self.sandbox_url {
            return Ok(url.to_string());
        }
        Ok(match domain.unwrap_or(&self.domain) {
            domain if SHARED_HOSTS.contains(&domain) => format!("https://sandbox.{domain}"),
            domain => self.host_url(id, PORT, domain)?,
        })
    }

    /// URL of a port of a sandbox that has its own host.
    fn host_url(&self, id: &str, port: u16, domain: &str) -> Result<String> {
        // Both come from a response and become part of a host name.
        let plain =
            |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c));
        if !plain(id) || !plain(domain) {
            let message = "the control plane returned an id that is not a valid part of a host name";
            return Err(Error::new(ErrorKind::Protocol, "connect to a sandbox", message));
        }
        Ok(format!("https://{port}-{id}.{domain}"))
    }

    /// Address of a server in a sandbox. One URL for all sandboxes routes by headers.
    pub(super) fn endpoint(&self, id: &str, port: u16, domain: Option<&str>) -> Result<PortEndpoint> {
        match &self.sandbox_url {
            Some(url) => Ok(PortEndpoint::new(url.to_string())
                .with_header("e2b-sandbox-id", Secret::new(id))
                .with_header("e2b-sandbox-port", Secret::new(port.to_string()))),
            None => self.host_url(id, port, domain.unwrap_or(&self.domain)).map(PortEndpoint::new),
        }
    }
}

fn api_version(text: &str) -> Result<Version> {
    match text {
        "1" => Ok(Version::First),
        "2" => Ok(Version::Second),
        _ => {
            let message = format!("invalid api_version `{}`: expected 1 or 2", text.escape_debug());
            Err(Error::new(ErrorKind::InvalidRequest, "set up a provider", message))
        }
    }
}

/// Whole seconds, rounded up, at least 1.
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
    fn known_domains_share_one_host() {
        let config = E2bConfig { sandbox_url: None, ..config(Options::default()).unwrap() };
        assert_eq!(config.data_url("sbx1", Some("e2b.app")).unwrap(), "https://sandbox.e2b.app");
        assert_eq!(config.data_url("sbx1", Some("own.example")).unwrap(), "https://49983-sbx1.own.example");
        assert_eq!(config.data_url("x/../y", Some("own.example")).unwrap_err().kind(), ErrorKind::Protocol);
    }

    #[test]
    fn a_server_has_a_host_of_its_own_or_headers_at_the_common_url() {
        let config = E2bConfig { sandbox_url: None, ..config(Options::default()).unwrap() };
        assert_eq!(config.endpoint("sbx1", 80, Some("e2b.app")).unwrap().url, "https://80-sbx1.e2b.app");
        assert_eq!(config.endpoint("sbx1", 80, Some("a/b")).unwrap_err().kind(), ErrorKind::Protocol);
        let config = E2bConfig { sandbox_url: Some(BaseUrl::new("http://127.0.0.1:4000/")), ..config };
        let endpoint = config.endpoint("sbx1", 80, None).unwrap();
        let headers: Vec<(&str, &[u8])> =
            endpoint.headers.iter().map(|(name, value)| (name.as_str(), value.expose())).collect();
        assert_eq!(endpoint.url, "http://127.0.0.1:4000");
        assert_eq!(headers, [("e2b-sandbox-id", b"sbx1".as_slice()), ("e2b-sandbox-port", b"80")]);
    }

    #[test]
    fn lifetimes_are_rounded_up_to_seconds_and_limited() {
        let life = |time| config(Options { time_to_live: time, ..Options::default() });
        assert_eq!(life(Duration::from_millis(1500)).unwrap().timeout, 2);
        assert_eq!(life(Duration::ZERO).unwrap().timeout, 1);
        assert_eq!(life(Duration::from_secs(90_000)).unwrap_err().kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn api_versions_are_1_and_2() {
        let version =
            |text| config(Options::default().with_extra("api_version", text)).map(|config| config.api_version);
        assert_eq!(version("1").unwrap(), Some(Version::First));
        assert_eq!(version("2").unwrap(), Some(Version::Second));
        assert_eq!(version("v2").unwrap_err().kind(), ErrorKind::InvalidRequest);
    }

    #[test]
    fn configuration_debug_omits_the_key() {
        assert!(!format!("{:?}", config(Options::default()).unwrap()).contains("planted"));
    }
}
