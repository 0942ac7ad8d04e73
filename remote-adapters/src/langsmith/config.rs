//! LangSmith configuration.

use std::time::Duration;

use tidebox_core::{Error, ErrorKind, Result, Secret};

use crate::address::BaseUrl;
use crate::options::{NetworkAccess, Options, unsupported};

/// Provider name in messages and in the registry.
pub(super) const NAME: &str = "langsmith";

/// Default API URL.
const API: &str = "https://api.smith.langchain.com";

/// Times are rounded to whole minutes.
const STEP: u64 = 60;

/// LangSmith endpoint, credentials and sandbox settings.
#[derive(Clone, Debug)]
pub struct LangSmithConfig {
    /// Sent as `X-Api-Key` to both planes. From `LANGSMITH_SANDBOX_API_KEY`, else `LANGSMITH_API_KEY`.
    pub api_key: Secret,
    /// API URL. From `LANGSMITH_ENDPOINT` or `LANGCHAIN_ENDPOINT`, without a path.
    pub api_url: BaseUrl,
    /// Snapshot of new sandboxes: `name` or `name:tag`. `None` uses the service's default.
    pub snapshot: Option<String>,
    /// Snapshot of new sandboxes by id.
    pub snapshot_id: Option<String>,
    /// Idle seconds after which a sandbox stops.
    pub idle_seconds: u64,
    /// Seconds after which a stopped sandbox is deleted; 0 disables it.
    pub delete_after_stop_seconds: u64,
    /// Processors.
    pub vcpus: Option<u32>,
    /// Memory in bytes.
    pub mem_bytes: Option<u64>,
    /// Disk size in bytes.
    pub fs_capacity_bytes: Option<u64>,
    /// Network access of new sandboxes.
    pub network: NetworkAccess,
    /// User that runs commands. `None` uses the snapshot's user.
    pub user: Option<String>,
    /// The shell of commands. Default `/bin/bash`.
    pub shell: String,
    /// Timeout for a new sandbox to become ready.
    pub ready_time: Duration,
}

impl LangSmithConfig {
    /// Reads options and environment variables.
    ///
    /// LangSmith's extra options are `snapshot_id`, `delete_after_stop`, `user` and `shell`.
    ///
    /// # Errors
    /// [`ErrorKind::Unauthenticated`] without a key, [`ErrorKind::Unsupported`] for options that LangSmith does not
    /// support.
    pub fn new(options: &Options) -> Result<Self> {
        options.check_extra(NAME, &["snapshot_id", "delete_after_stop", "user", "shell"])?;
        if options.region.is_some() {
            return Err(unsupported(NAME, "a choice of region; set api_url to the URL of your region"));
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

/// Removes the path of another API version, which the variable may contain for other clients.
fn root(url: &str) -> BaseUrl {
    let without = ["/api/v1", "/api/v2", "/api"].iter().find_map(|path| url.strip_suffix(path));
    // A host may be called `api`.
    let without = without.filter(|rest| !rest.ends_with("/"));
    BaseUrl::new(without.unwrap_or(url))
}

fn seconds(text: &str) -> Result<f64> {
    text.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds > 0.0).ok_or_else(|| {
        let message = format!("invalid delete_after_stop `{text}`: expected a number of seconds, or 0 for never");
        Error::new(ErrorKind::InvalidRequest, "set up a provider", message)
    })
}

/// Seconds, rounded up to whole minutes, at least one minute.
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
    fn a_url_with_an_api_path_is_accepted() {
        assert_eq!(&*config(Options::default().with_api_url("http://api")).unwrap().api_url, "http://api");
        for url in ["http://x", "http://x/", "http://x/api", "http://x/api/v1"] {
            assert_eq!(&*config(Options::default().with_api_url(url)).unwrap().api_url, "http://x", "{url}");
        }
    }

    #[test]
    fn configuration_debug_omits_the_key() {
        assert!(!format!("{:?}", config(Options::default()).unwrap()).contains("planted"));
    }

    #[test]
    fn choosing_a_region_is_rejected() {
        let options = Options { region: Some("eu".to_owned()), ..Options::default() };
        assert_eq!(config(options).unwrap_err().kind(), ErrorKind::Unsupported);
    }
}
