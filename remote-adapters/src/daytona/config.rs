//! Daytona configuration.

use std::time::Duration;

use tidebox_core::{Result, Secret};

use crate::address::BaseUrl;
use crate::options::{NetworkAccess, Options, unsupported, variable};

/// Provider name in messages and in the registry.
pub(super) const NAME: &str = "daytona";

/// Default control plane URL.
const API_URL: &str = "https://app.daytona.io/api";

/// Daytona endpoint, credentials and sandbox settings.
#[derive(Clone, Debug)]
pub struct DaytonaConfig {
    /// Sent as `Authorization: Bearer`. From `DAYTONA_API_KEY`, else `DAYTONA_JWT_TOKEN`.
    pub api_key: Secret,
    /// The control plane. From `DAYTONA_API_URL`, else `DAYTONA_SERVER_URL`.
    pub api_url: BaseUrl,
    /// The organisation; required with a JWT. From `DAYTONA_ORGANIZATION_ID`.
    pub organization: Option<String>,
    /// One URL for the daemons of all sandboxes, instead of the one reported for each sandbox.
    pub toolbox_url: Option<BaseUrl>,
    /// The region of new sandboxes. From `DAYTONA_TARGET`.
    pub target: Option<String>,
    /// Image or snapshot of new sandboxes.
    pub source: Source,
    /// User that runs commands. `None` uses the image's user.
    pub user: Option<String>,
    /// Lifetime of a new sandbox from its creation, in whole minutes.
    pub ttl_minutes: u64,
    /// Idle minutes after which a new sandbox is stopped. `None` uses Daytona's default, 15; 0 disables it.
    pub auto_stop_minutes: Option<u64>,
    /// Processors and whole GiB of new sandboxes.
    pub resources: Resources,
    /// Network access of new sandboxes.
    pub network: Network,
    /// Shell of commands, called with `-c`. Default `bash`.
    pub shell: String,
}

/// Source of new sandboxes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Snapshot name; `None` is the default snapshot.
    Snapshot(Option<String>),
    /// Registry image. Daytona builds a snapshot from it first.
    Image(String),
}

/// Resource limits of a sandbox created from an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Processors.
    pub cpu: Option<u32>,
    /// GiB.
    pub memory: Option<u32>,
    /// GiB.
    pub disk: Option<u32>,
}

/// Network access of new sandboxes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Network {
    /// Blocks all hosts.
    pub block_all: bool,
    /// Allowed networks (CIDR); all others are blocked.
    pub networks: Vec<String>,
    /// Allowed domains; all others are blocked.
    pub domains: Vec<String>,
}

impl DaytonaConfig {
    /// Reads options and environment variables.
    ///
    /// Daytona's extra options are `docker_image`, `organization`, `toolbox_url`, `user`, `auto_stop_minutes` and
    /// `shell`.
    ///
    /// # Errors
    /// [`tidebox_core::ErrorKind::Unauthenticated`] without a key, [`tidebox_core::ErrorKind::Unsupported`] for options
    /// that Daytona does not support.
    pub fn new(options: &Options) -> Result<Self> {
        let known = ["docker_image", "organization", "toolbox_url", "user", "auto_stop_minutes", "shell"];
        options.check_extra(NAME, &known)?;
        let extra = |name: &str| options.extra.get(name).cloned();
        let source = match (extra("docker_image"), options.image.clone()) {
            (Some(_), Some(_)) => {
                return Err(unsupported(NAME, "a snapshot (image) together with a docker_image; set one of them"));
            }
            (Some(image), None) => Source::Image(image),
            (None, snapshot) => Source::Snapshot(snapshot),
        };
        let resources = Resources {
            cpu: options.cpus,
            memory: options.memory_mib.map(gibibytes),
            disk: options.disk_mib.map(gibibytes),
        };
        if resources != Resources::default() && matches!(source, Source::Snapshot(_)) {
            let what = "cpus, memory_mib or disk_mib with a snapshot, which defines them; set docker_image";
            return Err(unsupported(NAME, what));
        }
        let minutes = |text: String| {
            let number = text.parse().map_err(|_| unsupported(NAME, "a fractional number of minutes"));
            number.map(Some)
        };
        let api_key = options.key(NAME, &["DAYTONA_API_KEY", "DAYTONA_JWT_TOKEN"])?;
        // An API key belongs to one organisation, so the header is omitted, as in the official clients.
        let has_key = options.api_key.is_some() || variable("DAYTONA_API_KEY").is_some();
        let from_environment = || variable("DAYTONA_ORGANIZATION_ID").filter(|_| !has_key);
        Ok(Self {
            api_key,
            api_url: options.url(&["DAYTONA_API_URL", "DAYTONA_SERVER_URL"], API_URL),
            organization: extra("organization").or_else(from_environment),
            toolbox_url: extra("toolbox_url").as_deref().map(BaseUrl::new),
            target: options.region.clone().or_else(|| variable("DAYTONA_TARGET")),
            source,
            user: extra("user"),
            ttl_minutes: whole_minutes(options.time_to_live),
            auto_stop_minutes: extra("auto_stop_minutes").map_or(Ok(None), minutes)?,
            resources,
            network: network(&options.network),
            shell: extra("shell").unwrap_or_else(|| "bash".to_owned()),
        })
    }
}

/// Converts MiB to GiB, rounding up.
fn gibibytes(mebibytes: u32) -> u32 {
    mebibytes.div_ceil(1024).max(1)
}

/// Whole minutes, rounded up, at least 1: 0 would disable the limit.
fn whole_minutes(time: Duration) -> u64 {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    seconds.div_ceil(60).max(1)
}

fn network(access: &NetworkAccess) -> Network {
    match access {
        NetworkAccess::Default => Network::default(),
        NetworkAccess::Blocked => Network { block_all: true, ..Network::default() },
        // An empty list may mean "no limit", so blocking all hosts uses its own field.
        NetworkAccess::Only(hosts) if hosts.is_empty() => Network { block_all: true, ..Network::default() },
        NetworkAccess::Only(hosts) => {
            let (networks, domains): (Vec<_>, Vec<_>) = hosts.iter().cloned().partition(|host| is_address(host));
            let whole = |host: String| match (host.contains('/'), host.contains(':')) {
                (true, _) => host,
                (false, true) => format!("{host}/128"),
                (false, false) => format!("{host}/32"),
            };
            Network { block_all: false, networks: networks.into_iter().map(whole).collect(), domains }
        }
    }
}

fn is_address(host: &str) -> bool {
    let address = host.split_once('/').map_or(host, |(address, _)| address);
    address.parse::<std::net::IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidebox_core::ErrorKind;

    fn config(options: Options) -> Result<DaytonaConfig> {
        DaytonaConfig::new(&options.with_api_key("planted-daytona-key"))
    }

    #[test]
    fn lifetimes_are_rounded_up_to_whole_minutes() {
        let life = |time| config(Options { time_to_live: time, ..Options::default() }).unwrap().ttl_minutes;
        assert_eq!(
            [life(Duration::ZERO), life(Duration::from_secs(60)), life(Duration::from_millis(60_001))],
            [1, 1, 2]
        );
        assert_eq!(life(Duration::from_secs(3600)), 60);
    }

    #[test]
    fn memory_and_disk_are_rounded_up_to_gib_for_images() {
        let options = Options { memory_mib: Some(1025), disk_mib: Some(512), cpus: Some(2), ..Options::default() };
        assert_eq!(config(options.clone()).unwrap_err().kind(), ErrorKind::Unsupported);
        let made = config(options.with_extra("docker_image", "debian:12")).unwrap();
        assert_eq!(made.resources, Resources { cpu: Some(2), memory: Some(2), disk: Some(1) });
        assert_eq!(made.source, Source::Image("debian:12".to_owned()));
    }

    #[test]
    fn allowed_hosts_are_split_into_names_and_networks() {
        let only = |hosts: &[&str]| {
            let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
            config(Options { network: NetworkAccess::Only(hosts), ..Options::default() }).unwrap().network
        };
        let both = only(&["pypi.org", "10.0.0.0/8", "192.0.2.1", "2001:db8::1"]);
        assert_eq!(both.networks, ["10.0.0.0/8", "192.0.2.1/32", "2001:db8::1/128"]);
        assert_eq!(both.domains, ["pypi.org"]);
        assert!(!both.block_all && only(&[]).block_all, "nothing allowed is all blocked");
    }

    #[test]
    fn invalid_minutes_are_rejected() {
        let error = config(Options::default().with_extra("auto_stop_minutes", "soon")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn configuration_debug_omits_the_key() {
        assert!(!format!("{:?}", config(Options::default()).unwrap()).contains("planted"));
    }
}
