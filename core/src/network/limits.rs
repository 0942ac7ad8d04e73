//! Limits on the traffic of a sandbox.

use std::time::Duration;

/// Network limits. Reaching one ends the request with a message that names it. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NetworkLimits {
    /// Requests of one sandbox, including denied ones. Default 1,000: enough for an agent's session, but it ends an accidental
    /// crawl. It limits the log, too.
    pub requests: u64,
    /// Concurrent requests of one sandbox. Default 16, so that a sandbox cannot use up the host's descriptors.
    pub concurrent: u32,
    /// Body of one request. Default 64 MiB.
    pub request_bytes: u64,
    /// Body of one response. Default 512 MiB, the maximum size of a file in a sandbox.
    pub reply_bytes: u64,
    /// Total bytes sent by one sandbox, including heads. Default 256 MiB.
    pub total_sent_bytes: u64,
    /// Total bytes received by one sandbox, including heads. Default 2 GiB.
    pub total_received_bytes: u64,
    /// Head of a request, and of a response. Default 64 KiB, eight times the limit of common servers.
    pub header_bytes: u32,
    /// Wall time of one request, from resolving the name to the last byte. Default 300 s. A guest may request less.
    pub request_time: Duration,
    /// Wall time until a connection is established. Default 30 s. A guest may request less.
    pub connect_time: Duration,
}

impl Default for NetworkLimits {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self {
            requests: 1000,
            concurrent: 16,
            request_bytes: 64 * MIB,
            reply_bytes: 512 * MIB,
            total_sent_bytes: 256 * MIB,
            total_received_bytes: 2048 * MIB,
            header_bytes: 64 * 1024,
            request_time: Duration::from_secs(300),
            connect_time: Duration::from_secs(30),
        }
    }
}
