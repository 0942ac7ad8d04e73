//! What can be set for Daytona.

use std::time::Duration;

use tidebox_core::{Result, Secret};

use crate::address::Address;
use crate::options::{NetworkAccess, Options, unsupported, variable};

/// The name in messages and in the registry.
pub(super) const NAME: &str = "daytona";

/// Where Daytona is when nobody says otherwise.
const API_URL: &str = "https://app.daytona.io/api";

/// How Daytona is reached and what its sandboxes are like.
#[derive(Clone, Debug)]
pub struct DaytonaConfig {
    /// Sent as `Authorization: Bearer`. From `DAYTONA_API_KEY`, else `DAYTONA_JWT_TOKEN`.
    pub api_key: Secret,
    /// The control plane. From `DAYTONA_API_URL`, else `DAYTONA_SERVER_URL`.
    pub api_url: Address,
    /// The organisation, which a JWT needs beside it. From `DAYTONA_ORGANIZATION_ID`.
    pub organization: Option<String>,
    /// One address for the daemons of all sandboxes, instead of the one that each sandbox names.
    pub toolbox_url: Option<Address>,
    /// The region of new sandboxes. From `DAYTONA_TARGET`.
    pub target: Option<String>,
    /// What new sandboxes begin with.
    pub source: Source,
    /// The user of new sandboxes' commands. `None` is the image's.
    pub user: Option<String>,
    /// Life of a new sandbox from its creation, in whole minutes.
    pub ttl_minutes: u64,
    /// Minutes without use after which a new sandbox is stopped. `None` is Daytona's default, 15; 0 is never.
    pub auto_stop_minutes: Option<u64>,
    /// Whole gibibytes and processors of new sandboxes.
    pub resources: Resources,
    /// Whether programs reach the network, and what of it.
    pub network: Network,
    /// The shell of commands, called with `-c`. Default `bash`.
    pub shell: String,
}

/// What a sandbox begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A snapshot by its name; `None` is the default one.
    Snapshot(Option<String>),
    /// An image of a registry, from which Daytona builds a snapshot first.
    Image(String),
}

/// What a sandbox made from an image may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Processors.
    pub cpu: Option<u32>,
    /// Gibibytes.
    pub memory: Option<u32>,
    /// Gibibytes.
    pub disk: Option<u32>,
}

/// The network of new sandboxes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Network {
    /// No host is reached.
    pub block_all: bool,
    /// Networks (CIDR) that are reached and no others.
    pub networks: Vec<String>,
    /// Names that are reached and no others.
    pub domains: Vec<String>,
}

impl DaytonaConfig {
    /// Reads options and variables of the environment.
    ///
    /// Of its own Daytona has the options `docker_image`, `organization`, `toolbox_url`, `user`, `auto_stop_minutes` and `shell`.
    ///
    /// # Errors
    /// [`tidebox_core::ErrorKind::Unauthenticated`] without a key, [`tidebox_core::ErrorKind::Unsupported`] for what Daytona
    /// does not have.
    pub fn new(options: &Options) -> Result<Self> {
        let known = ["docker_image", "organization", "toolbox_url", "user", "auto_stop_minutes", "shell"];
        options.only_extra(NAME, &known)?;
        let extra = |name: &str| options.extra.get(name).cloned();
        let source = match (extra("docker_image"), options.image.clone()) {
            (Some(_), Some(_)) => {
                return Err(unsupported(
                    NAME,
                    "sandboxes of a snapshot (image) and of a docker_image at once; name one",
                ));
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
            let what =
                "processors, memory and disk of a sandbox made from a snapshot, which has its own; name a docker_image";
            return Err(unsupported(NAME, what));
        }
        let minutes = |text: String| {
            let number = text.parse().map_err(|_| unsupported(NAME, "minutes that are no whole number"));
            number.map(Some)
        };
        let api_key = options.key(NAME, &["DAYTONA_API_KEY", "DAYTONA_JWT_TOKEN"])?;
        // With a key of one organisation the header is not sent, as the official clients do.
        let has_key = options.api_key.is_some() || variable("DAYTONA_API_KEY").is_some();
        let from_environment = || variable("DAYTONA_ORGANIZATION_ID").filter(|_| !has_key);
        Ok(Self {
            api_key,
            api_url: options.url(&["DAYTONA_API_URL", "DAYTONA_SERVER_URL"], API_URL),
            organization: extra("organization").or_else(from_environment),
            toolbox_url: extra("toolbox_url").as_deref().map(Address::new),
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

/// MiB as GiB, rounded up.
fn gibibytes(mebibytes: u32) -> u32 {
    mebibytes.div_ceil(1024).max(1)
}

/// Minutes, rounded up, at least one: 0 would be for ever.
fn whole_minutes(time: Duration) -> u64 {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    seconds.div_ceil(60).max(1)
}

fn network(access: &NetworkAccess) -> Network {
    match access {
        NetworkAccess::Default => Network::default(),
        NetworkAccess::Blocked => Network { block_all: true, ..Network::default() },
        // An empty list may mean no limit there, so it is said in the other way.
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
    fn a_life_is_rounded_up_to_whole_minutes_and_never_to_none() {
        let life = |time| config(Options { time_to_live: time, ..Options::default() }).unwrap().ttl_minutes;
        assert_eq!(
            [life(Duration::ZERO), life(Duration::from_secs(60)), life(Duration::from_millis(60_001))],
            [1, 1, 2]
        );
        assert_eq!(life(Duration::from_secs(3600)), 60);
    }

    #[test]
    fn memory_and_disk_are_rounded_up_to_gibibytes_and_belong_to_images() {
        let options = Options { memory_mib: Some(1025), disk_mib: Some(512), cpus: Some(2), ..Options::default() };
        assert_eq!(config(options.clone()).unwrap_err().kind(), ErrorKind::Unsupported);
        let made = config(options.with_extra("docker_image", "debian:12")).unwrap();
        assert_eq!(made.resources, Resources { cpu: Some(2), memory: Some(2), disk: Some(1) });
        assert_eq!(made.source, Source::Image("debian:12".to_owned()));
    }

    #[test]
    fn allowed_hosts_are_told_as_names_and_as_networks() {
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
    fn minutes_that_are_no_number_are_refused() {
        let error = config(Options::default().with_extra("auto_stop_minutes", "soon")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn the_key_is_not_in_what_is_printed_of_a_configuration() {
        assert!(!format!("{:?}", config(Options::default()).unwrap()).contains("planted"));
    }
}
