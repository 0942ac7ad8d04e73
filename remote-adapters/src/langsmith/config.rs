//! What can be set for LangSmith.

use std::time::Duration;

use tidebox_core::{Error, ErrorKind, Result, Secret};

use crate::address::Address;
use crate::options::{NetworkAccess, Options, unsupported};

/// The name in messages and in the registry.
pub(super) const NAME: &str = "langsmith";

/// Where LangSmith is when nobody says otherwise.
const API: &str = "https://api.smith.langchain.com";

/// Times are counted in steps of a minute.
const STEP: u64 = 60;

/// How LangSmith is reached and what its sandboxes are like.
#[derive(Clone, Debug)]
pub struct LangSmithConfig {
    /// Sent as `X-Api-Key` to both planes. From `LANGSMITH_SANDBOX_API_KEY`, else `LANGSMITH_API_KEY`.
    pub api_key: Secret,
    /// The API. From `LANGSMITH_ENDPOINT` or `LANGCHAIN_ENDPOINT`, without a path.
    pub api_url: Address,
    /// What new sandboxes begin with: `name` or `name:tag`. `None` is the service's default.
    pub snapshot: Option<String>,
    /// The same by its number.
    pub snapshot_id: Option<String>,
    /// After how many idle seconds a sandbox stops.
    pub idle_seconds: u64,
    /// After how many seconds a stopped sandbox is deleted; 0 is never.
    pub delete_after_stop_seconds: u64,
    /// Processors.
    pub vcpus: Option<u32>,
    /// Memory.
    pub mem_bytes: Option<u64>,
    /// The disk.
    pub fs_capacity_bytes: Option<u64>,
    /// Which hosts programs reach.
    pub network: NetworkAccess,
    /// The user of commands. `None` is the snapshot's.
    pub user: Option<String>,
    /// The shell of commands. Default `/bin/bash`.
    pub shell: String,
    /// How long a new sandbox may take until it is ready.
    pub ready_time: Duration,
}

impl LangSmithConfig {
    /// Reads options and variables of the environment.
    ///
    /// Of its own LangSmith has the options `snapshot_id`, `delete_after_stop`, `user` and `shell`.
    ///
    /// # Errors
    /// [`ErrorKind::Unauthenticated`] without a key, [`ErrorKind::Unsupported`] for what LangSmith does not have.
    pub fn new(options: &Options) -> Result<Self> {
        options.only_extra(NAME, &["snapshot_id", "delete_after_stop", "user", "shell"])?;
        if options.region.is_some() {
            return Err(unsupported(NAME, "regions to choose from; set api_url to the address of yours"));
        }
        let extra = |name: &str| options.extra.get(name).cloned();
        let idle_seconds = whole_minutes(options.time_to_live.as_secs_f64());
        let delete_after_stop_seconds = match extra("delete_after_stop") {
            None => idle_seconds,
            Some(text) if text == "0" => 0,
            Some(text) => whole_minutes(seconds(&text)?),
        };
        let bytes = |mib: Option<u32>| mib.map(|mib| u64::from(mib) << 20);
        Ok(Self {
            api_key: options.key(NAME, &["LANGSMITH_SANDBOX_API_KEY", "LANGSMITH_API_KEY"])?,
            api_url: root(&options.url(&["LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT"], API)),
            snapshot: options.image.clone(),
            snapshot_id: extra("snapshot_id"),
            idle_seconds,
            delete_after_stop_seconds,
            vcpus: options.cpus,
            mem_bytes: bytes(options.memory_mib),
            fs_capacity_bytes: bytes(options.disk_mib),
            network: options.network.clone(),
            user: extra("user"),
            shell: extra("shell").unwrap_or_else(|| "/bin/bash".to_owned()),
            ready_time: options.ready_time,
        })
    }
}

/// The address without the path of another version of the API, which the variable may have for other clients.
fn root(url: &str) -> Address {
    let without = ["/api/v1", "/api/v2", "/api"].iter().find_map(|path| url.strip_suffix(path));
    // A host may be called `api`.
    let without = without.filter(|rest| !rest.ends_with("/"));
    Address::new(without.unwrap_or(url))
}

fn seconds(text: &str) -> Result<f64> {
    text.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds > 0.0).ok_or_else(|| {
        let message = format!("the option delete_after_stop is a number of seconds, 0 for never, and not `{text}`");
        Error::new(ErrorKind::InvalidRequest, "set up a provider", message)
    })
}

/// Seconds, rounded up to whole minutes, at least one.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of a float stops at the bounds")]
fn whole_minutes(seconds: f64) -> u64 {
    (seconds / STEP as f64).ceil().max(1.0) as u64 * STEP
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(options: Options) -> Result<LangSmithConfig> {
        LangSmithConfig::new(&options.with_api_key("planted-langsmith-key"))
    }

    #[test]
    fn times_are_rounded_up_to_whole_minutes() {
        let idle = |time| config(Options { time_to_live: time, ..Options::default() }).unwrap().idle_seconds;
        assert_eq!(idle(Duration::from_millis(1)), 60);
        assert_eq!(idle(Duration::from_secs(60)), 60);
        assert_eq!(idle(Duration::from_millis(60_001)), 120);
        let after = |text| config(Options::default().with_extra("delete_after_stop", text));
        assert_eq!(after("61").unwrap().delete_after_stop_seconds, 120);
        assert_eq!(after("0").unwrap().delete_after_stop_seconds, 0);
        assert_eq!(after("soon").unwrap_err().kind(), ErrorKind::InvalidRequest);
        assert_eq!(config(Options::default()).unwrap().delete_after_stop_seconds, 1800);
    }

    #[test]
    fn sizes_are_sent_in_bytes() {
        let config = config(Options { memory_mib: Some(3), disk_mib: Some(1), ..Options::default() }).unwrap();
        assert_eq!((config.mem_bytes, config.fs_capacity_bytes), (Some(3_145_728), Some(1_048_576)));
    }

    #[test]
    fn an_address_for_other_clients_is_good_here_too() {
        assert_eq!(&*config(Options::default().with_api_url("http://api")).unwrap().api_url, "http://api");
        for url in ["http://x", "http://x/", "http://x/api", "http://x/api/v1"] {
            assert_eq!(&*config(Options::default().with_api_url(url)).unwrap().api_url, "http://x", "{url}");
        }
    }

    #[test]
    fn the_key_is_not_in_what_is_printed_of_a_configuration() {
        assert!(!format!("{:?}", config(Options::default()).unwrap()).contains("planted"));
    }

    #[test]
    fn a_region_is_refused() {
        let options = Options { region: Some("eu".to_owned()), ..Options::default() };
        assert_eq!(config(options).unwrap_err().kind(), ErrorKind::Unsupported);
    }
}
