//! Reasons for which the policy denies a request.

use std::fmt;

/// The violated rule, as a stable name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DenyReason {
    /// The URL is invalid, or contains a user name or a password.
    Url,
    /// Neither `https` nor `http`, or `http` if only `https` is allowed.
    Scheme,
    /// No rule allows the host.
    Host,
    /// No rule allows the port of that host.
    Port,
    /// No rule allows the method for that host, or the method is never allowed.
    Method,
    /// The rules for that host allow only Git's requests for some repositories, and this is another one.
    Path,
    /// The guest may not set this header, or the header is malformed.
    Header,
    /// The host name has no public address.
    Address,
    /// A limit of [`crate::network::NetworkLimits`] is reached.
    Limit,
}

impl DenyReason {
    /// Returns the stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Scheme => "scheme",
            Self::Host => "host",
            Self::Port => "port",
            Self::Method => "method",
            Self::Path => "path",
            Self::Header => "header",
            Self::Address => "address",
            Self::Limit => "limit",
        }
    }
}

/// A denial by the policy, with a hint. A value and not an error: a denied request is not a failure of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestDenied {
    /// The violated rule.
    pub kind: DenyReason,
    /// One sentence for the sender of the request.
    pub message: String,
}

impl RequestDenied {
    pub(super) fn new(kind: DenyReason, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl fmt::Display for RequestDenied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RequestDenied {}
