//! Runloop configuration.

use std::time::Duration;

use tidebox_core::{Result, Secret};

use crate::address::BaseUrl;
use crate::options::{NetworkAccess, Options, unsupported};

/// Provider name in messages and in the registry.
pub(super) const NAME: &str = "runloop";

/// Default API URL.
const API_URL: &str = "https://api.runloop.ai";

/// Maximum lifetime of a devbox.
const MAX_LIFE: Duration = Duration::from_secs(48 * 60 * 60);

/// Runloop endpoint, credentials and devbox settings.
#[derive(Clone, Debug)]
pub struct RunloopConfig {
    /// Sent as `Authorization: Bearer`. From `RUNLOOP_API_KEY`.
    pub api_key: Secret,
    /// API URL. From `RUNLOOP_BASE_URL`.
    pub api_url: BaseUrl,
    /// Source of new devboxes.
    pub source: Source,
    /// Lifetime of a devbox, in whole seconds.
    pub keep_alive: u64,
    /// Resources of a devbox; `None` uses Runloop's default.
    pub size: Option<Size>,
    /// Network access of new devboxes; `None` is unrestricted.
    pub network: Option<Network>,
    /// The shell of commands, called with `-c`. Default `bash`.
    pub shell: String,
}

/// Source of new devboxes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Runloop's own image.
    Default,
    /// A blueprint by name.
    Blueprint(String),
    /// A blueprint by id.
    BlueprintId(String),
    /// A disk snapshot by id.
    Snapshot(String),
}

/// Resources of a devbox, in Runloop's units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Processors: 1, or an even number up to 16.
    pub cpu: u32,
    /// GiB: 1, or an even number up to 64, with 2 to 8 per processor.
    pub memory: u32,
    /// GiB: an even number up to 64.
    pub disk: Option<u32>,
}

/// The only hosts that a devbox may reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Network {
    /// IPv4 networks (CIDR).
    pub networks: Vec<String>,
    /// Host names, which may contain `*`.
    pub hosts: Vec<String>,
}

impl RunloopConfig {
    /// Reads options and environment variables.
    ///
    /// Runloop's extra options are `blueprint_id`, `snapshot_id` and `shell`.
    ///
    /// # Errors
    /// [`tidebox_core::ErrorKind::Unauthenticated`] without a key, [`tidebox_core::ErrorKind::Unsupported`] for options
    /// that Runloop does not support.
    pub fn new(options: &Options) -> Result<Self> {
        options.check_extra(NAME, &["blueprint_id", "snapshot_id", "shell"])?;
        if options.region.is_some() {
            return Err(unsupported(NAME, "a choice of region"));
        }
        if options.time_to_live > MAX_LIFE {
            return Err(unsupported(NAME, "a time_to_live of more than 48 hours"));
        }
        let extra = |name: &str| options.extra.get(name).cloned();
        let source = match (options.image.clone(), extra("blueprint_id"), extra("snapshot_id")) {
            (None, None, None) => Source::Default,
            (Some(name), None, None) => Source::Blueprint(name),
            (None, Some(id), None) => Source::BlueprintId(id),
            (None, None, Some(id)) => Source::Snapshot(id),
            _ => return Err(unsupported(NAME, "a blueprint together with a snapshot; set one of them")),
        };
        Ok(Self {
            api_key: options.key(NAME, &["RUNLOOP_API_KEY"])?,
            api_url: options.url(&["RUNLOOP_BASE_URL"], API_URL),
            source,
            keep_alive: whole_seconds(options.time_to_live),
            size: size(options)?,
            network: network(&options.network)?,
            shell: extra("shell").unwrap_or_else(|| "bash".to_owned()),
        })
    }
}

/// Whole seconds, rounded up, at least 1.
pub(super) fn whole_seconds(time: Duration) -> u64 {
    (time.as_secs() + u64::from(time.subsec_nanos() > 0)).max(1)
}

/// Rounds up to 1 or an even number.
fn round_up_to_even(number: u32) -> u32 {
    if number <= 1 { 1 } else { number.div_ceil(2).saturating_mul(2) }
}

fn size(options: &Options) -> Result<Option<Size>> {
    if options.cpus.is_none() && options.memory_mib.is_none() && options.disk_mib.is_none() {
        return Ok(None);
    }
    let gibibytes = |mebibytes: u32| mebibytes.div_ceil(1024);
    let request = options.memory_mib.map(|memory| round_up_to_even(gibibytes(memory)));
    // Runloop allows 2 to 8 GiB per processor; an unspecified value follows the specified one.
    let least = request.unwrap_or(0).div_ceil(8);
    let cpu = round_up_to_even(options.cpus.unwrap_or(1).max(least));
    let memory = request.unwrap_or_else(|| cpu.saturating_mul(4)).max(cpu.saturating_mul(2));
    let disk = options.disk_mib.map(|disk| round_up_to_even(gibibytes(disk)).max(2));
    if cpu > 16 || memory > 64 || disk.is_some_and(|disk| disk > 64) {
        return Err(unsupported(NAME, "more than 16 cpus, 64 GiB of memory or 64 GiB of disk"));
    }
    Ok(Some(Size { cpu, memory, disk }))
}

fn network(access: &NetworkAccess) -> Result<Option<Network>> {
    let hosts = match access {
        NetworkAccess::Default => return Ok(None),
        NetworkAccess::Blocked => return Ok(Some(Network::default())),
        NetworkAccess::Only(hosts) => hosts,
    };
    let mut network = Network::default();
    for host in hosts {
        let (address, bits) =
            host.split_once('/').map_or((host.as_str(), None), |(address, bits)| (address, Some(bits)));
        match address.parse() {
            Ok(std::net::IpAddr::V4(_)) => network.networks.push(format!("{address}/{}", bits.unwrap_or("32"))),
            Ok(std::net::IpAddr::V6(_)) => {
                return Err(unsupported(NAME, "IPv6 addresses in the list of allowed hosts"));
            }
            Err(_) => network.hosts.push(host.clone()),
        }
    }
    Ok(Some(network))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidebox_core::ErrorKind;

    fn config(options: Options) -> Result<RunloopConfig> {
        RunloopConfig::new(&options.with_api_key("planted-runloop-key"))
    }

    #[test]
    fn sizes_are_rounded_up_to_runloop_units() {
        let size = |cpus, memory_mib, disk_mib| {
            config(Options { cpus, memory_mib, disk_mib, ..Options::default() }).map(|config| config.size)
        };
        let given = |cpu, memory, disk| Some(Size { cpu, memory, disk });
        assert_eq!(size(None, None, None).unwrap(), None);
        assert_eq!(size(Some(3), None, None).unwrap(), given(4, 16, None));
        assert_eq!(
            size(Some(4), Some(2048), Some(1)).unwrap(),
            given(4, 8, Some(2)),
            "at least two for each processor"
        );
        assert_eq!(size(None, Some(20 * 1024), Some(2049)).unwrap(), given(4, 20, Some(4)), "at most eight for each");
        assert_eq!(size(None, Some(100), None).unwrap(), given(1, 2, None));
        assert_eq!(size(Some(17), None, None).unwrap_err().kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn lifetimes_are_rounded_up_to_seconds_and_limited() {
        let life = |time| config(Options { time_to_live: time, ..Options::default() });
        assert_eq!(life(Duration::from_millis(1500)).unwrap().keep_alive, 2);
        assert_eq!(life(Duration::ZERO).unwrap().keep_alive, 1);
        assert_eq!(life(MAX_LIFE + Duration::from_secs(1)).unwrap_err().kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn an_empty_allow_list_is_a_policy() {
        let network = |network| config(Options { network, ..Options::default() }).map(|config| config.network);
        assert_eq!(network(NetworkAccess::Default).unwrap(), None);
        assert_eq!(network(NetworkAccess::Blocked).unwrap(), Some(Network::default()));
        let only =
            network(NetworkAccess::Only(vec!["*.npmjs.org".to_owned(), "192.0.2.1".to_owned()])).unwrap().unwrap();
        assert_eq!((only.hosts, only.networks), (vec!["*.npmjs.org".to_owned()], vec!["192.0.2.1/32".to_owned()]));
        let six = network(NetworkAccess::Only(vec!["2001:db8::1".to_owned()]));
        assert_eq!(six.unwrap_err().kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn configuration_debug_omits_the_key() {
        assert!(!format!("{:?}", config(Options::default()).unwrap()).contains("planted"));
    }
}
