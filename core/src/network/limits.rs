//! Bounds of what a sandbox may send and receive.

use std::time::Duration;

/// What the network may cost. A limit that is reached ends the request with a message that names it. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NetworkLimits {
    /// Requests of one sandbox, refused ones included. Default 1,000: a crawl by mistake ends, a session of an agent does
    /// not. It bounds the log, too.
    pub requests: u64,
    /// Requests of one sandbox at the same time. Default 16, so that a sandbox cannot use up the host's descriptors.
    pub concurrent: u32,
    /// Body of one request. Default 64 MiB.
    pub request_bytes: u64,
    /// Body of one reply. Default 512 MiB, what a sandbox may keep in one file.
    pub reply_bytes: u64,
    /// Everything that one sandbox sends, heads included. Default 256 MiB.
    pub total_sent_bytes: u64,
    /// Everything that one sandbox receives, heads included. Default 2 GiB.
    pub total_received_bytes: u64,
    /// Head of a request, and of a reply. Default 64 KiB, eight times what common servers take.
    pub head_bytes: u32,
    /// Wall time of one request, from resolving the name to the last byte. Default 300 s. A guest may ask for less.
    pub request_time: Duration,
    /// Wall time until a connection stands. Default 30 s. A guest may ask for less.
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
            head_bytes: 64 * 1024,
            request_time: Duration::from_secs(300),
            connect_time: Duration::from_secs(30),
        }
    }
}
