//! Host patterns of rules.

use std::fmt;

use super::target::Host;
use crate::error::{Error, ErrorKind, Result};

/// The hosts that a rule applies to: one name, all subdomains of a name, one address, or all hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPattern(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Any,
    Exact(Host),
    /// With the leading dot.
    Subdomains(String),
}

impl HostPattern {
    /// Parses `api.example.com`, `*.example.com` (every subdomain, but not `example.com` itself), an address, or `*` (every
    /// public host). Names are compared case-insensitively in their ASCII form.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] for anything else: a URL, a name with a port, a star elsewhere.
    pub fn parse(pattern: &str) -> Result<Self> {
        if pattern == "*" {
            return Ok(Self(Kind::Any));
        }
        let bad = || {
            let message = format!(
                "'{}' is not a host pattern; use a name such as api.example.com, *.example.com, an address, or *, without \
                 scheme, port and path",
                pattern.escape_default()
            );
            Error::new(ErrorKind::InvalidRequest, "parse host pattern", message)
        };
        let (below, name) = match pattern.strip_prefix("*.") {
            Some(name) => (true, name),
            None => (false, pattern),
        };
        let host = Host::parse(name).ok_or_else(bad)?;
        match (below, host) {
            (false, host) => Ok(Self(Kind::Exact(host))),
            (true, Host::Name(name)) => Ok(Self(Kind::Subdomains(format!(".{name}")))),
            (true, Host::Address(_)) => Err(bad()),
        }
    }

    /// Returns whether the pattern matches a host.
    pub fn matches(&self, host: &Host) -> bool {
        match (&self.0, host) {
            (Kind::Any, _) => true,
            (Kind::Exact(exact), host) => exact == host,
            (Kind::Subdomains(suffix), Host::Name(name)) => {
                name.len() > suffix.len() && name.ends_with(suffix.as_str())
            }
            (Kind::Subdomains(_), Host::Address(_)) => false,
        }
    }

    pub(super) fn is_any(&self) -> bool {
        self.0 == Kind::Any
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Any => f.write_str("*"),
            Kind::Exact(host) => write!(f, "{host}"),
            Kind::Subdomains(suffix) => write!(f, "*{suffix}"),
        }
    }
}
