//! Arguments of `tidebox mcp`.

#[cfg(not(feature = "mcp"))]
use std::ffi::OsString;

#[cfg(feature = "mcp")]
pub(crate) use present::*;

/// Arguments of `tidebox mcp` in a build without it.
#[cfg(not(feature = "mcp"))]
#[derive(clap::Args, Debug, PartialEq)]
pub(crate) struct Absent {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    arguments: Vec<OsString>,
}

#[cfg(feature = "mcp")]
mod present;
