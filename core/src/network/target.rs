//! Where a request goes to: a URL, parsed once.

use core::net::IpAddr;
use std::fmt;

use url::Url;

use super::refusal::{Refusal, RefusalKind};

/// Longest URL of a request. Browsers and servers stop somewhere between 8 KiB and 64 KiB.
const URL_BYTES: usize = 16 << 10;

/// How a request travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Encrypted, and the host has proven its name.
    Https,
    /// In the clear.
    Http,
}

impl Scheme {
    /// The name as URLs write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Http => "http",
        }
    }

    /// The port of a URL that names none.
    pub fn default_port(self) -> u16 {
        match self {
            Self::Https => 443,
            Self::Http => 80,
        }
    }
}

/// A host: a name in lower-case ASCII form without a dot at the end, or an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// To be resolved.
    Name(String),
    /// As it stands in the URL, however it was written there (`127.1`, `0x7f000001`).
    Address(IpAddr),
}

impl Host {
    /// Reads a host as URLs write it, an IPv6 address with or without brackets.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Ok(address) = text.parse::<IpAddr>() {
            return Some(Self::Address(address));
        }
        // An address of version 6 is dealt with above, or is in brackets; a name never holds a colon.
        Self::from_url(&url::Host::parse(text).ok()?)
    }

    fn from_url<S: AsRef<str>>(host: &url::Host<S>) -> Option<Self> {
        match host {
            url::Host::Domain(name) => {
                let name = name.as_ref();
                let name = name.strip_suffix('.').unwrap_or(name);
                let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
                let good = !name.is_empty()
                    && name.len() <= 253
                    && name.bytes().all(is_name)
                    && name.split('.').all(|label| !label.is_empty() && label.len() <= 63);
                good.then(|| Self::Name(name.to_ascii_lowercase()))
            }
            url::Host::Ipv4(address) => Some(Self::Address(IpAddr::V4(*address))),
            url::Host::Ipv6(address) => Some(Self::Address(IpAddr::V6(*address))),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

/// What a URL says, in parts. The policy, the connection, the `Host` header and the log all use these parts, so that
/// nothing is ever parsed a second time in another way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// How the request travels.
    pub scheme: Scheme,
    /// To whom.
    pub host: Host,
    /// At which port.
    pub port: u16,
    /// Path and query, as the request line has it: `/search?q=1`. Never empty, only printable ASCII.
    pub path: String,
}

impl Target {
    /// Reads an absolute URL by the rules of the WHATWG, without its fragment.
    ///
    /// # Errors
    /// [`RefusalKind::Url`] when it cannot be read, is longer than 16 KiB, or holds a user name or password (which would
    /// end up in logs); [`RefusalKind::Scheme`] when it is neither `https` nor `http`.
    pub fn parse(url: &str) -> Result<Self, Refusal> {
        let refuse = |message: String| Err(Refusal::new(RefusalKind::Url, message));
        if url.len() > URL_BYTES {
            return refuse(format!("the URL is longer than {URL_BYTES} bytes; send the data as a body"));
        }
        // The WHATWG's rules drop tabs and line ends and trim blanks. Who sends such a URL means to confuse somebody.
        if url.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
            return refuse("the URL holds a blank or a control character; write it as %20 and its like".to_owned());
        }
        let parsed = match Url::parse(url) {
            Ok(parsed) => parsed,
            Err(error) => return refuse(format!("the URL cannot be read: {error}")),
        };
        Self::from_url(&parsed)
    }

    fn from_url(url: &Url) -> Result<Self, Refusal> {
        let scheme = match url.scheme() {
            "https" => Scheme::Https,
            "http" => Scheme::Http,
            other => {
                let message = format!("the scheme '{other}' is not supported; use https or http");
                return Err(Refusal::new(RefusalKind::Scheme, message));
            }
        };
        if !url.username().is_empty() || url.password().is_some() {
            let message = "the URL holds a user name or a password; send them in an Authorization header";
            return Err(Refusal::new(RefusalKind::Url, message));
        }
        let Some(host) = url.host().and_then(|host| Host::from_url(&host)) else {
            return Err(Refusal::new(RefusalKind::Url, "the URL names no host, or a name that cannot be one"));
        };
        let port = url.port().unwrap_or(scheme.default_port());
        let mut path = url.path().to_owned();
        if let Some(query) = url.query() {
            path.push('?');
            path.push_str(query);
        }
        // The parser promises this; the request line depends on it.
        if !path.starts_with('/') || !path.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Refusal::new(RefusalKind::Url, "the path of the URL cannot be sent"));
        }
        Ok(Self { scheme, host, port, path })
    }

    /// Where a `Location` header of a reply from here leads to. `None` when it cannot be read or leaves http.
    pub fn follow(&self, location: &str) -> Option<Self> {
        let url = Url::parse(&self.to_string()).ok()?.join(location.trim()).ok()?;
        Self::from_url(&url).ok()
    }

    /// The value of the `Host` header.
    pub fn authority(&self) -> String {
        if self.port == self.scheme.default_port() {
            self.host.to_string()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Display for Target {
    /// As an absolute URL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme.as_str(), self.authority(), self.path)
    }
}
