//! Log of a sandbox's requests.

use std::time::Duration;

use super::denied::DenyReason;
use super::gateway::GatewayErrorKind;

/// Outcome of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestOutcome {
    /// The request is in progress.
    InProgress,
    /// It was allowed, and the response is complete.
    Completed,
    /// The policy denied it, before it was sent or while it was in progress.
    Denied(DenyReason, String),
    /// It was allowed, and the network failed.
    Failed(GatewayErrorKind, String),
    /// The sender dropped it before the response was complete.
    Cancelled,
}

/// One request. It contains no header and no body, so no credential.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NetworkEvent {
    /// Start of the request, since the Unix epoch by the sandbox's clock.
    pub at: Duration,
    /// The method, as the guest sent it.
    pub method: String,
    /// The URL without user name, password and fragment. The query is kept, because a guest can use it to send data out. An
    /// invalid URL is truncated to 256 characters and escaped.
    pub url: String,
    /// Outcome of the request.
    pub outcome: RequestOutcome,
    /// The status code, once the response head has arrived.
    pub status: Option<u16>,
    /// Bytes sent, head and body.
    pub sent_bytes: u64,
    /// Bytes received, head and body.
    pub received_bytes: u64,
    /// Duration by the sandbox's clock; zero while the request is in progress.
    pub duration: Duration,
    /// The names of the added credentials, see [`super::HeaderInjection::with_name`].
    pub credentials: Vec<String>,
}

/// All requests of one sandbox, in the order in which they started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NetworkLog {
    /// The requests.
    pub events: Vec<NetworkEvent>,
    /// Number of further requests that were denied because [`super::NetworkLimits::requests`] was reached.
    pub omitted: u64,
}
