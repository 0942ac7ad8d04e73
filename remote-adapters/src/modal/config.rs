//! Modal configuration.

use std::time::Duration;

use tidebox_core::{Error, ErrorKind, Result, Secret};

use crate::address::BaseUrl;
use crate::options::{NetworkAccess, Options, unsupported, variable};

/// Provider name in messages and in the registry.
pub(super) const NAME: &str = "modal";

/// Default control plane URL.
const SERVER: &str = "https://api.modal.com";

/// Default image: it has a shell and Python, which agents need.
const IMAGE: &str = "python:3.12-slim";

/// Maximum lifetime of a sandbox; the service rejects longer ones.
const MAX_LIFE: Duration = Duration::from_secs(24 * 60 * 60);

/// Modal endpoint, credentials and sandbox settings.
#[derive(Clone, Debug)]
pub struct ModalConfig {
    /// The control plane.
    pub server_url: BaseUrl,
    /// Id of the credential.
    pub token_id: String,
    /// The credential.
    pub token_secret: Secret,
    /// App that sandboxes belong to. Lookups by label or name are limited to it.
    pub app: String,
    /// Environment of the workspace; empty for the default.
    pub environment: String,
    /// `im-...`, or a registry image.
    pub image: String,
    /// The shell of commands, called with `-c`.
    pub shell: String,
    /// Regions of sandboxes; empty leaves the choice to Modal.
    pub regions: Vec<String>,
    /// Thousandths of a processor; 0 uses Modal's default.
    pub milli_cpus: u32,
    /// MiB; 0 uses Modal's default.
    pub memory_mib: u32,
    /// Lifetime of a sandbox in seconds.
    pub timeout: u32,
    /// Network access of new sandboxes.
    pub network: NetworkAccess,
    /// Ports of new sandboxes that clients outside reach. Modal opens none later.
    pub ports: Vec<u16>,
}

impl ModalConfig {
    /// Reads options and environment variables.
    ///
    /// Modal's extra options are `token_id`, `app`, `environment`, `shell` and `ports`, such as `8000,8080`.
    ///
    /// # Errors
    /// [`ErrorKind::Unauthenticated`] without a key, [`ErrorKind::Unsupported`] for options that Modal does not
    /// support.
    pub fn new(options: &Options) -> Result<Self> {
        options.check_extra(NAME, &["token_id", "app", "environment", "shell", "ports"])?;
        if options.disk_mib.is_some() {
            return Err(unsupported(NAME, "disk_mib; omit the option"));
        }
        if options.time_to_live > MAX_LIFE {
            return Err(unsupported(NAME, "a time_to_live of more than 24 hours"));
        }
        let (token_id, token_secret) = credential(options)?;
        let named =
            |extra: &str, otherwise: &str| options.extra.get(extra).cloned().unwrap_or_else(|| otherwise.to_owned());
        Ok(Self {
            server_url: options.url(&["MODAL_SERVER_URL"], SERVER),
            token_id,
            token_secret,
            app: named("app", "tidebox"),
            environment: named("environment", &variable("MODAL_ENVIRONMENT").unwrap_or_default()),
            image: options.image.clone().unwrap_or_else(|| IMAGE.to_owned()),
            shell: named("shell", "bash"),
            regions: options.region.clone().into_iter().collect(),
            milli_cpus: options.cpus.unwrap_or_default().saturating_mul(1000),
            memory_mib: options.memory_mib.unwrap_or_default(),
            timeout: whole_seconds(options.time_to_live),
            network: options.network.clone(),
            ports: options.extra.get("ports").map_or(Ok(Vec::new()), |list| ports(list))?,
        })
    }
}

/// A credential has two parts: `ak-...:as-...` in the option, or one variable each.
fn credential(options: &Options) -> Result<(String, Secret)> {
    let secret = options.key(NAME, &["MODAL_TOKEN_SECRET"])?;
    if let Some(at) = secret.expose().iter().position(|byte| *byte == b':') {
        let (id, rest) = secret.expose().split_at(at);
        return Ok((String::from_utf8_lossy(id).into_owned(), Secret::new(rest.get(1..).unwrap_or_default())));
    }
    let id = options.extra.get("token_id").cloned().or_else(|| variable("MODAL_TOKEN_ID")).ok_or_else(|| {
        let message = "Modal credentials have two parts; set MODAL_TOKEN_ID too, or set api_key to `ak-...:as-...`";
        Error::new(ErrorKind::Unauthenticated, "set up a provider", message)
    })?;
    Ok((id, secret))
}

/// Parses ports that are separated by commas.
fn ports(list: &str) -> Result<Vec<u16>> {
    let parse = |port: &str| port.trim().parse().ok().filter(|port| *port != 0);
    list.split(',').map(parse).collect::<Option<Vec<u16>>>().ok_or_else(|| {
        let message = format!("invalid ports `{}`: expected numbers from 1 to 65535 and commas", list.escape_debug());
        Error::new(ErrorKind::InvalidRequest, "set up a provider", message)
    })
}

/// Whole seconds, rounded up, at least 1.
pub(super) fn whole_seconds(time: Duration) -> u32 {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    u32::try_from(seconds).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(options: Options) -> Result<ModalConfig> {
        ModalConfig::new(&options.with_api_key("ak-name:planted-secret"))
    }

    #[test]
    fn a_two_part_key_is_split_and_its_secret_is_never_shown() {
        let config = config(Options::default()).unwrap();
        assert_eq!((config.token_id.as_str(), config.token_secret.expose()), ("ak-name", b"planted-secret".as_slice()));
        assert!(!format!("{config:?}").contains("planted"));
        let extra = Options::default().with_api_key("planted").with_extra("token_id", "ak-other");
        assert_eq!(ModalConfig::new(&extra).unwrap().token_id, "ak-other");
    }

    #[test]
    fn units_match_modal_and_lifetimes_are_rounded_up() {
        let options = Options {
            cpus: Some(2),
            memory_mib: Some(1500),
            time_to_live: Duration::from_millis(1500),
            ..Options::default()
        };
        let config = config(options).unwrap();
        assert_eq!((config.milli_cpus, config.memory_mib, config.timeout), (2000, 1500, 2));
    }

    #[test]
    fn ports_are_numbers_with_commas() {
        let ports = |list| config(Options::default().with_extra("ports", list)).map(|config| config.ports);
        assert_eq!(ports("8000, 80").unwrap(), [8000, 80]);
        for list in ["", "0", "65536", "80;81", "http"] {
            assert_eq!(ports(list).unwrap_err().kind(), ErrorKind::InvalidRequest, "{list}");
        }
    }

    #[test]
    fn unsupported_modal_options_are_rejected() {
        for options in [
            Options { disk_mib: Some(1), ..Options::default() },
            Options { time_to_live: Duration::from_secs(90_000), ..Options::default() },
            Options::default().with_extra("user", "root"),
        ] {
            assert_eq!(config(options).unwrap_err().kind(), ErrorKind::Unsupported);
        }
    }
}
