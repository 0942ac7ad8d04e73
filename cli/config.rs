//! The configuration file `tidebox.toml`: long options by name, in `[sandbox]` and in one table for each command.

mod arguments;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::args;

/// Name of the file in the current directory.
const LOCAL_FILE: &str = "tidebox.toml";

/// Table of the options that all commands with a sandbox share.
const SHARED: &str = "sandbox";

/// Keys that a file in the current directory may set, because they give no access to the host, its network or other hosts. The
/// file may be part of a cloned repository.
const HARMLESS: [&str; 7] = ["cwd", "dialect", "env", "json", "limits", "output-overflow", "timeout"];

/// A configuration file and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigFile {
    pub(crate) path: PathBuf,
    /// False for a file that was found in the current directory.
    pub(crate) trusted: bool,
}

impl ConfigFile {
    /// Returns the file of `--config`; else that of the current directory; else that of the user, if it exists.
    pub(crate) fn find(option: Option<&Path>) -> Option<Self> {
        if let Some(path) = option {
            return Some(Self { path: path.into(), trusted: true });
        }
        let local = Path::new(LOCAL_FILE);
        if local.exists() {
            return Some(Self { path: local.into(), trusted: false });
        }
        user_file().filter(|path| path.exists()).map(|path| Self { path, trusted: true })
    }

    /// Returns the options of the file for a command, as arguments. Paths of the host are relative to the directory of the file.
    /// The error is a message that names the file, the line and the key.
    pub(crate) fn arguments(&self, command: &clap::Command) -> Result<Vec<OsString>, String> {
        let text = fs::read_to_string(&self.path)
            .map_err(|error| format!("cannot read the configuration file {}: {error}", self.path.display()))?;
        let arguments = arguments::of_file(&text, command, self.trusted).map_err(|error| {
            let line = 1 + text.get(..error.at).unwrap_or(&text).matches('\n').count();
            format!("{}:{line}: {}", self.path.display(), error.message)
        })?;
        let arguments = match self.path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
            Some(dir) => args::absolute_paths(&arguments, dir),
            None => arguments,
        };
        Ok(arguments.into_iter().map(OsString::from).collect())
    }
}

/// Returns `tidebox/config.toml` in `XDG_CONFIG_HOME`, or in `.config` in the home directory.
fn user_file() -> Option<PathBuf> {
    let base = env::var_os("XDG_CONFIG_HOME")
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
        .or_else(|| Some(env::home_dir()?.join(".config")))?;
    Some(base.join("tidebox").join("config.toml"))
}
