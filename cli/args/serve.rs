//! Arguments of `tidebox serve`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;

use super::SandboxArgs;
use super::values::{parse_address, parse_public_url, parse_seconds};
use crate::emulators::EMULATORS;

/// Name of the REST API among the providers.
pub(crate) const REST: &str = "rest";

/// A URL at which clients reach a provider.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PublicUrl {
    /// `None`: the only provider of the command.
    pub(crate) provider: Option<String>,
    pub(crate) url: String,
}

/// Arguments of `tidebox serve`.
#[derive(clap::Args, Debug, PartialEq)]
pub(crate) struct Serve {
    /// Providers to emulate, all, or rest; each one gets its own port (repeatable)
    ///
    /// Without it only rest: the REST API and the web page.
    #[arg(long = "provider", value_name = "NAME,...", value_delimiter = ',')]
    #[arg(value_parser = PossibleValuesParser::new(EMULATORS.iter().copied().chain([REST, "all"])))]
    pub(crate) providers: Vec<String>,
    /// Address of the first provider; the others get the next ports
    ///
    /// Port 0 is any free port for each.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_address, default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// API key that clients must send
    ///
    /// Required unless --listen is a loopback address, or --tenants is set.
    #[arg(long)]
    pub(crate) key: Option<String>,
    /// File with tenants, the hashes of their tokens and their quotas; read again on SIGHUP
    #[arg(long, value_name = "FILE", conflicts_with = "key")]
    pub(crate) tenants: Option<PathBuf>,
    /// Prints a new token and its hash for the file of --tenants, and exits
    #[arg(long)]
    pub(crate) new_token: bool,
    /// Saves the sandboxes of rest, e2b and daytona at this URL, so that they survive the end of the command
    ///
    /// The URL of a directory, as in file:///var/lib/tidebox, or of a bucket, as in s3://bucket/path, if the command was built with
    /// the feature object-store. A response is sent after the changes of its request are durable there.
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// Directory of nodes at this URL: several commands with the same store and directory share the sandboxes
    ///
    /// The URL of a directory of files that all nodes share, of a part of a bucket other than that of the store, or of a bucket of
    /// NATS JetStream, as in nats://host:4222/nodes, if the command was built with the feature nats. A request that reaches another
    /// node than that of its sandbox is passed on.
    #[arg(long, value_name = "URL", requires = "store")]
    pub(crate) directory: Option<String>,
    /// Host name or address at which the other nodes reach this one [default: that of --listen]
    #[arg(long, value_name = "HOST", requires = "directory")]
    pub(crate) advertise: Option<String>,
    /// Time without a sign of life after which other nodes take the sandboxes of a node; the same for all nodes
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "10")]
    pub(crate) lease: Duration,
    /// URL at which clients reach a provider, if it is behind a proxy (repeatable)
    ///
    /// With several providers it follows the name of its provider and an equals sign.
    #[arg(long, value_name = "[PROVIDER=]URL", value_parser = parse_public_url)]
    pub(crate) public_url: Vec<PublicUrl>,
    /// Closes a sandbox after this time without calls
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub(crate) idle: Option<Duration>,
    /// Time in which running requests may end after SIGTERM
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "30")]
    pub(crate) drain: Duration,
    /// Writes one line of JSON to stderr for each request
    #[arg(long)]
    pub(crate) log: bool,
    /// Serves the metrics of all tenants at this address, without tokens
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_address)]
    pub(crate) metrics: Option<SocketAddr>,
    /// Certificate in PEM, for HTTPS of the REST API
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key of the certificate in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Options of each sandbox.
    #[command(flatten)]
    pub(crate) options: SandboxArgs,
}
