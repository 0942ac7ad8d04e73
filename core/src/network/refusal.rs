//! Why the policy says no.

use std::fmt;

/// Which rule was broken, as a stable name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RefusalKind {
    /// The URL cannot be read, or holds a user name or a password.
    Url,
    /// Neither `https` nor `http`, or `http` where only `https` is allowed.
    Scheme,
    /// No rule allows the host.
    Host,
    /// No rule allows the port of that host.
    Port,
    /// No rule allows the method for that host, or the method is never allowed.
    Method,
    /// A header that a guest may not set, or one that is malformed.
    Header,
    /// The host's name leads to no public address.
    Address,
    /// A limit of [`crate::network::NetworkLimits`] is reached.
    Limit,
}

impl RefusalKind {
    /// The stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Scheme => "scheme",
            Self::Host => "host",
            Self::Port => "port",
            Self::Method => "method",
            Self::Header => "header",
            Self::Address => "address",
            Self::Limit => "limit",
        }
    }
}

/// The policy says no, and what to do about it. It is a value: a guest that asks too much is no failure of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Which rule was broken.
    pub kind: RefusalKind,
    /// One sentence for whoever sent the request.
    pub message: String,
}

impl Refusal {
    pub(super) fn new(kind: RefusalKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}
