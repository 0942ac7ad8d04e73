//! Options of the sandbox, which most commands share.

use std::path::PathBuf;
use std::time::Duration;

use super::values::{one_of, parse_mount, parse_seconds, parse_upload, parse_variable};
use crate::cli::limits::{self, LimitChanges};
use crate::{Limits, MountMode, OutputOverflow};

/// Options of the sandbox.
#[derive(clap::Args, Clone, Debug, Default, PartialEq)]
pub(crate) struct SandboxArgs {
    /// Copy a host file into the sandbox, keeping the execute bit (repeatable)
    #[arg(long = "file", value_name = "HOST:GUEST", value_parser = parse_upload, help_heading = "Files")]
    pub(crate) files: Vec<Upload>,
    /// Mount a host directory [default mode: ro] (repeatable)
    ///
    /// The mode is read-only (ro), read-write (rw), or copy-on-write (cow: changes stay in the sandbox).
    #[arg(long = "mount", value_name = "HOST:GUEST[:ro|rw|cow]", value_parser = parse_mount, help_heading = "Files")]
    pub(crate) mounts: Vec<MountArg>,
    /// Start from the files of a snapshot file
    ///
    /// `tidebox snapshot create` writes one. Variables of its shell exist in `tidebox shell`.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub(crate) snapshot: Option<PathBuf>,
    /// Set the working directory [default: /workspace]
    #[arg(long, value_name = "DIR", help_heading = "Environment")]
    pub(crate) cwd: Option<String>,
    /// Set an environment variable (repeatable)
    ///
    /// Variables of the host are not passed.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_variable, help_heading = "Environment")]
    pub(crate) env: Vec<(String, String)>,
    /// Allow read requests (GET, HEAD) to this host over HTTPS (repeatable) [default: no network]
    #[arg(long, value_name = "HOST", help_heading = "Network")]
    pub(crate) allow: Vec<String>,
    /// Allow git clone and git fetch over HTTPS (repeatable)
    ///
    /// REPOSITORY is HOST, HOST/ORG/REPO or HOST/ORG/*.
    #[arg(long, value_name = "REPOSITORY", help_heading = "Network")]
    pub(crate) allow_git: Vec<String>,
    /// Like --allow-git, and allow git push (repeatable)
    #[arg(long, value_name = "REPOSITORY", help_heading = "Network")]
    pub(crate) allow_git_push: Vec<String>,
    /// Enable `pip install` of Python packages, downloaded by the pip of the host
    #[arg(long, help_heading = "Network")]
    pub(crate) pip: bool,
    /// Restrict this process to the files and ports that the options need (Linux 6.7 or later)
    ///
    /// A second boundary around the sandboxes: Landlock and seccomp. The cache becomes read-only, see docs/security.md.
    #[arg(long, help_heading = "Security")]
    pub(crate) confine: bool,
    /// Stop each command after this wall time [default: the limit wall-time]
    ///
    /// Fractions are allowed.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, help_heading = "Limits")]
    pub(crate) timeout: Option<Duration>,
    /// Change limits (repeatable); `tidebox exec --help` lists them
    ///
    /// Sizes accept the suffixes K, M and G.
    #[arg(long = "limits", value_name = "KEY=N,...", value_parser = limits::parse, help_heading = "Limits")]
    pub(crate) limit_changes: Vec<LimitChanges>,
    /// Output to keep when a command exceeds the limit of its output
    ///
    /// Keeps the first bytes (head), keeps the last bytes (tail), or kills the command (stop).
    #[arg(long, value_name = "ACTION", value_parser = one_of(OutputOverflow::ALL, OutputOverflow::as_str))]
    #[arg(default_value = OutputOverflow::KeepHead.as_str(), help_heading = "Limits")]
    pub(crate) output_overflow: OutputOverflow,
    /// Read options from this file [default: tidebox.toml, or the configuration of the user]
    ///
    /// The default is tidebox.toml in the current directory, or else ~/.config/tidebox/config.toml.
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    pub(crate) config: Option<PathBuf>,
    /// Read no configuration file
    #[arg(long, conflicts_with = "config", help_heading = "Configuration")]
    pub(crate) no_config: bool,
}

/// A host file and its path in the sandbox.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Upload {
    pub(crate) host: PathBuf,
    pub(crate) guest: String,
}

/// A host directory, its mount point and its mode.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MountArg {
    pub(crate) host: PathBuf,
    pub(crate) guest: String,
    pub(crate) mode: MountMode,
}

impl SandboxArgs {
    /// Returns the default limits with the changes of `--limits`.
    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        for changes in &self.limit_changes {
            changes.apply(&mut limits);
        }
        limits
    }
}
