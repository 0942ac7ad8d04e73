//! Arguments of `tidebox snapshot`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::SandboxArgs;
use crate::cli::limits::{self, LimitChanges};

/// Arguments of `tidebox snapshot`.
#[derive(Debug, PartialEq, Subcommand)]
pub(crate) enum SnapshotCommand {
    /// Run a command in a new sandbox, and write its files into a snapshot file
    ///
    /// The file also contains the variables and functions of the shell. It is not written if the command fails.
    ///
    /// Files below mounts are not included.
    Create(Box<SnapshotCreate>),
    /// List the differences between a snapshot file and a new sandbox
    Show {
        #[command(flatten)]
        from: SnapshotFile,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Write the files of a snapshot file as a tar to stdout
    Export {
        #[command(flatten)]
        from: SnapshotFile,
    },
}

/// Arguments of `tidebox snapshot create`.
#[derive(Args, Debug, PartialEq)]
pub(crate) struct SnapshotCreate {
    /// The file to write
    pub(crate) file: PathBuf,
    /// A command line for the shell
    pub(crate) command: String,
    #[command(flatten)]
    pub(crate) options: SandboxArgs,
}

/// A snapshot file to read.
#[derive(Args, Debug, PartialEq)]
pub(crate) struct SnapshotFile {
    /// The snapshot file
    pub(crate) file: PathBuf,
    /// Change limits that the files must not exceed (repeatable)
    #[arg(long = "limits", value_name = "KEY=N,...", value_parser = limits::parse)]
    pub(crate) limit_changes: Vec<LimitChanges>,
}
