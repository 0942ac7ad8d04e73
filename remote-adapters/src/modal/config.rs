//! What can be set for Modal.

use std::time::Duration;

use tidebox_core::{Error, ErrorKind, Result, Secret};

use crate::address::Address;
use crate::options::{NetworkAccess, Options, unsupported, variable};

/// The name in messages and in the registry.
pub(super) const NAME: &str = "modal";

/// Where Modal is when nobody says otherwise.
const SERVER: &str = "https://api.modal.com";

/// What a sandbox begins with when nobody says otherwise: it has a shell and Python, which agents ask for.
const IMAGE: &str = "python:3.12-slim";

/// Whole seconds that a sandbox may live; the service refuses longer lives.
const LONGEST_LIFE: Duration = Duration::from_secs(24 * 60 * 60);

/// How Modal is reached and what new sandboxes are.
#[derive(Clone, Debug)]
pub struct ModalConfig {
    /// The control plane.
    pub server_url: Address,
    /// The name of the credential.
    pub token_id: String,
    /// The credential.
    pub token_secret: Secret,
    /// The app that sandboxes belong to. Labels and names are looked for within it.
    pub app: String,
    /// The environment of the workspace; empty for its default.
    pub environment: String,
    /// `im-...`, or an image of a registry.
    pub image: String,
    /// The shell of commands, called with `-c`.
    pub shell: String,
    /// Where sandboxes run; none leaves it to Modal.
    pub regions: Vec<String>,
    /// Thousandths of a processor; 0 leaves it to Modal.
    pub milli_cpus: u32,
    /// Mebibytes; 0 leaves it to Modal.
    pub memory_mib: u32,
    /// Seconds that a sandbox lives.
    pub timeout: u32,
    /// Which hosts programs reach.
    pub network: NetworkAccess,
}

impl ModalConfig {
    /// Reads options and variables of the environment.
    ///
    /// # Errors
    /// [`ErrorKind::Unauthenticated`] without a key, [`ErrorKind::Unsupported`] for what Modal does not have.
    pub fn new(options: &Options) -> Result<Self> {
        options.only_extra(NAME, &["token_id", "app", "environment", "shell"])?;
        if options.disk_mib.is_some() {
            return Err(unsupported(NAME, "a choice of disk for sandboxes; leave the option out"));
        }
        if options.time_to_live > LONGEST_LIFE {
            return Err(unsupported(NAME, "lives of more than 24 hours"));
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
        })
    }
}

/// A credential has two parts: `ak-...:as-...` in the option, or a variable for each.
fn credential(options: &Options) -> Result<(String, Secret)> {
    let secret = options.key(NAME, &["MODAL_TOKEN_SECRET"])?;
    if let Some(at) = secret.expose().iter().position(|byte| *byte == b':') {
        let (id, rest) = secret.expose().split_at(at);
        return Ok((String::from_utf8_lossy(id).into_owned(), Secret::new(rest.get(1..).unwrap_or_default())));
    }
    let id = options.extra.get("token_id").cloned().or_else(|| variable("MODAL_TOKEN_ID")).ok_or_else(|| {
        let message =
            "a key of modal has two parts; set MODAL_TOKEN_ID too, or give the option api_key as `ak-...:as-...`";
        Error::new(ErrorKind::Unauthenticated, "set up a provider", message)
    })?;
    Ok((id, secret))
}

/// Seconds, rounded up, at least one.
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
    fn a_key_in_two_parts_is_taken_apart_and_its_secret_is_not_shown() {
        let config = config(Options::default()).unwrap();
        assert_eq!((config.token_id.as_str(), config.token_secret.expose()), ("ak-name", b"planted-secret".as_slice()));
        assert!(!format!("{config:?}").contains("planted"));
        let extra = Options::default().with_api_key("planted").with_extra("token_id", "ak-other");
        assert_eq!(ModalConfig::new(&extra).unwrap().token_id, "ak-other");
    }

    #[test]
    fn units_are_those_of_modal_and_a_life_is_rounded_up() {
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
    fn what_modal_does_not_have_is_refused() {
        for options in [
            Options { disk_mib: Some(1), ..Options::default() },
            Options { time_to_live: Duration::from_secs(90_000), ..Options::default() },
            Options::default().with_extra("user", "root"),
        ] {
            assert_eq!(config(options).unwrap_err().kind(), ErrorKind::Unsupported);
        }
    }
}
