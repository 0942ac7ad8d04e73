//! Arguments of `tidebox serve`.

use std::net::SocketAddr;

use clap::builder::PossibleValuesParser;

use super::SandboxArgs;
use super::values::parse_address;
use crate::emulators::EMULATORS;

/// Arguments of `tidebox serve`.
#[derive(clap::Args, Debug, PartialEq)]
pub(crate) struct Serve {
    /// Providers to emulate, or all; each one gets its own port (repeatable)
    #[arg(long = "provider", value_name = "NAME,...", value_delimiter = ',')]
    #[arg(value_parser = PossibleValuesParser::new(EMULATORS.iter().copied().chain(["all"])))]
    pub(crate) providers: Vec<String>,
    /// Address of the first provider; the others get the next ports
    ///
    /// Port 0 is any free port for each.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_address, default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// API key that clients must send
    ///
    /// Required unless --listen is a loopback address.
    #[arg(long)]
    pub(crate) key: Option<String>,
    /// Options of each sandbox.
    #[command(flatten)]
    pub(crate) options: SandboxArgs,
}
