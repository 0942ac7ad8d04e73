//! Servers of a sandbox as clients outside reach them.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::secret::Secret;

/// The address at which clients outside the sandbox reach a program that listens at one of its ports.
///
/// A server that is not yet listening, or has ended, makes requests fail, not the endpoint. Two endpoints are equal if their
/// URLs and the names of their headers are: the values are credentials.
#[derive(Clone)]
pub struct PortEndpoint {
    /// URL without a path, such as `http://127.0.0.1:40123`, for HTTP and, with the scheme `ws` or `wss`, WebSocket. Without a
    /// slash at its end.
    pub url: String,
    /// Headers that every request must have, by name. Often the credential of a preview.
    pub headers: Vec<(String, Secret)>,
    /// Keeps the address reachable.
    hold: Option<Hold>,
}

/// A value whose drop ends what leads to the port.
type Hold = Arc<dyn Any + Send + Sync>;

impl PortEndpoint {
    /// Creates an endpoint without headers. A slash at the end of the URL is removed.
    pub fn new(url: impl Into<String>) -> Self {
        let mut url: String = url.into();
        url.truncate(url.trim_end_matches('/').len());
        Self { url, headers: Vec::new(), hold: None }
    }

    /// Adds a header that every request must have.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: Secret) -> Self {
        self.headers.push((name.into(), value));
        self
    }

    /// Keeps a value until the endpoint and its clones are dropped, such as the listener that leads to the port.
    #[must_use]
    pub fn with_hold(mut self, hold: Arc<dyn Any + Send + Sync>) -> Self {
        self.hold = Some(hold);
        self
    }

    /// Returns whether the address exists only until this value and its clones are dropped. Otherwise it exists as long as the
    /// sandbox.
    pub fn ends_when_dropped(&self) -> bool {
        self.hold.is_some()
    }
}

impl fmt::Debug for PortEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("PortEndpoint").field("url", &self.url).field("headers", &names).finish_non_exhaustive()
    }
}

impl PartialEq for PortEndpoint {
    fn eq(&self, other: &Self) -> bool {
        let names = |endpoint: &Self| endpoint.headers.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        self.url == other.url && names(self) == names(other)
    }
}

impl Eq for PortEndpoint {}

/// Checks the number of a port.
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] for 0.
pub fn check_port(operation: &'static str, port: u16) -> Result<u16> {
    if port != 0 {
        return Ok(port);
    }
    let message = "a program cannot listen at port 0; pass the number of its port, 1 to 65535";
    Err(Error::new(ErrorKind::InvalidRequest, operation, message))
}

/// Returns the error of a backend whose ports clients outside cannot reach. `reason` completes "this backend ...".
pub fn unsupported_port(operation: &'static str, reason: &str) -> Error {
    let message = format!("this backend {reason}; send the request from a command of the sandbox, such as curl");
    Error::new(ErrorKind::Unsupported, operation, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_and_equality_ignore_the_values_of_headers() {
        let endpoint = |token: &str| PortEndpoint::new("https://a.example/").with_header("x-token", Secret::new(token));
        let text = format!("{:?}", endpoint("canary"));
        assert!(text.contains("x-token") && text.contains("https://a.example") && !text.contains("canary"), "{text}");
        assert_eq!(endpoint("a"), endpoint("b"));
        assert_ne!(endpoint("a"), PortEndpoint::new("https://a.example"));
    }

    #[test]
    fn port_0_is_rejected() {
        assert_eq!(check_port("port_endpoint", 0).expect_err("it is rejected").kind(), ErrorKind::InvalidRequest);
        assert_eq!(check_port("port_endpoint", 1).ok(), Some(1));
    }
}
