//! What a sandbox asked of the network.

use std::time::Duration;

use super::gateway::GatewayErrorKind;
use super::refusal::RefusalKind;

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// It is on its way.
    Underway,
    /// It was allowed, and the reply came to its end.
    Answered,
    /// The policy refused it, before or while it was on its way.
    Refused(RefusalKind, String),
    /// It was allowed, and the network failed.
    Failed(GatewayErrorKind, String),
    /// Whoever sent it ended before the reply did.
    Cancelled,
}

/// One request. It holds no header and no body, so no credential.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NetworkEvent {
    /// When it began, since the Unix epoch by the sandbox's clock.
    pub at: Duration,
    /// The method, as the guest sent it.
    pub method: String,
    /// The URL without user name, password and fragment. The query is kept, because it is what a guest can tell the
    /// outside with; a URL that could not be read is cut after 256 characters and shown escaped.
    pub url: String,
    /// What became of it.
    pub decision: Decision,
    /// The status code, once there is one.
    pub status: Option<u16>,
    /// Bytes sent, head and body.
    pub sent_bytes: u64,
    /// Bytes received, head and body.
    pub received_bytes: u64,
    /// How long it took, by the sandbox's clock; zero while it is on its way.
    pub duration: Duration,
    /// The names of the credentials that were added, see [`super::Injection::named`].
    pub credentials: Vec<String>,
}

/// All requests of one sandbox, in the order in which they began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NetworkLog {
    /// The requests.
    pub events: Vec<NetworkEvent>,
    /// How many more were refused because [`super::NetworkLimits::requests`] was reached.
    pub left_out: u64,
}
