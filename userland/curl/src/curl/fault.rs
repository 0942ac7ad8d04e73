//! Transfer errors with curl's exit codes and messages.

use tidebox_host_http::Failure;
use tidebox_host_http::address::Address;

/// A failed transfer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fault {
    /// curl's exit code.
    pub(super) code: i32,
    /// The text after `curl: (code) `.
    pub(super) message: String,
    /// A warning printed before the error.
    pub(super) warning: Option<String>,
}

impl Fault {
    pub(super) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), warning: None }
    }

    pub(super) fn warned(code: i32, message: impl Into<String>, warning: String) -> Self {
        Self { code, message: message.into(), warning: Some(warning) }
    }

    /// Converts a host error. `passed_ms` is the elapsed time in milliseconds, `received` the body bytes until now, and
    /// `missing` the rest of the announced length.
    pub(super) fn from_wire(
        failure: Failure,
        to: &Address,
        passed_ms: u64,
        received: Option<u64>,
        missing: Option<u64>,
    ) -> Self {
        let (host, port) = (&to.host, to.port());
        match failure {
            Failure::Disabled => {
                Self::new(6, format!("Could not resolve host: {host} (the network is disabled in this sandbox)"))
            }
            Failure::Refused(rule, message) => Self::new(refused(&rule, to, received.is_some()), message),
            Failure::Failed(kind, message) => match kind.as_str() {
                "resolve" => Self::new(6, format!("Could not resolve host: {host}")),
                "connect" => Self::new(
                    7,
                    format!("Failed to connect to {host} port {port} after {passed_ms} ms: Couldn't connect to server"),
                ),
                "tls" => Self::new(35, message),
                "certificate" => Self::new(60, format!("SSL certificate problem: {message}")),
                "timeout" => {
                    let received = received.unwrap_or(0);
                    let message =
                        format!("Operation timed out after {passed_ms} milliseconds with {received} bytes received");
                    Self::new(28, message)
                }
                "send" => Self::new(55, format!("Send failure: {message}")),
                "empty" => Self::new(52, "Empty reply from server"),
                "receive" => match missing {
                    Some(missing) if missing > 0 => {
                        Self::new(18, format!("transfer closed with {missing} bytes remaining to read"))
                    }
                    _ => Self::new(56, format!("Recv failure: {message}")),
                },
                "protocol" => Self::new(1, message),
                _ => Self::new(2, message),
            },
            Failure::Unreadable(message) => {
                Self::new(26, format!("Failed to open/read local data from file/application: {message}"))
            }
            Failure::Confused(message) => Self::new(2, format!("the host's network command failed: {message}")),
        }
    }
}

fn refused(rule: &str, to: &Address, answered: bool) -> i32 {
    match rule {
        "url" => 3,
        "scheme" if !matches!(to.scheme.as_str(), "http" | "https") => 1,
        "header" => 43,
        // Exceeds the maximum file size; without a response yet, the connection counts as refused.
        "limit" if answered => 63,
        _ => 7,
    }
}

/// Returns whether a retry may succeed.
pub(super) fn is_transient(code: i32, status: u16) -> bool {
    code == 28 || matches!(status, 408 | 429 | 500 | 502 | 503 | 504)
}
