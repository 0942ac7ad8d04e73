//! Destination of a request: a URL, parsed once.

use core::net::IpAddr;
use std::fmt;

use url::Url;

use super::denied::{DenyReason, RequestDenied};

/// Maximum length of a request's URL. Limits of browsers and servers are between 8 KiB and 64 KiB.
const URL_BYTES: usize = 16 << 10;

/// Transport of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Encrypted, with an authenticated host.
    Https,
    /// Unencrypted.
    Http,
}

impl Scheme {
    /// Returns the name as in URLs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Http => "http",
        }
    }

    /// Returns the port of a URL without one.
    pub fn default_port(self) -> u16 {
        match self {
            Self::Https => 443,
            Self::Http => 80,
        }
    }
}

/// A host: a name in lower-case ASCII form without a trailing dot, or an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name, to be resolved.
    Name(String),
    /// An address in any notation of URLs (`127.1`, `0x7f000001`).
    Address(IpAddr),
}

impl Host {
    /// Parses a host as in URLs, an IPv6 address with or without brackets.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Ok(address) = text.parse::<IpAddr>() {
            return Some(Self::Address(address));
        }
        // An IPv6 address is handled above or has brackets; a name never contains a colon.
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

/// Parts of a URL. The policy, the connection, the `Host` header and the log all use these parts, so that no component parses the
/// URL again with different results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The transport.
    pub scheme: Scheme,
    /// The host.
    pub host: Host,
    /// The port.
    pub port: u16,
    /// Path and query, as in the request line: `/search?q=1`. Never empty, only printable ASCII.
    pub path: String,
}

fn check_length(url: &str) -> Result<(), RequestDenied> {
    if url.len() <= URL_BYTES {
        return Ok(());
    }
    let message = format!("the URL is longer than {URL_BYTES} bytes; send the data as a body");
    Err(RequestDenied::new(DenyReason::Url, message))
}

impl Target {
    /// Parses an absolute URL by the rules of the WHATWG, without its fragment.
    ///
    /// # Errors
    /// [`DenyReason::Url`] if it is invalid, longer than 16 KiB as given or percent-encoded, or contains a user name or password
    /// (which would end up in logs); [`DenyReason::Scheme`] if it is neither `https` nor `http`.
    pub fn parse(url: &str) -> Result<Self, RequestDenied> {
        let deny = |message: String| Err(RequestDenied::new(DenyReason::Url, message));
        check_length(url)?;
        // The WHATWG's rules drop tabs and newlines and trim blanks. A URL that relies on this is likely an attack.
        if url.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
            return deny("the URL contains a blank or a control character; percent-encode it (blank: %20)".to_owned());
        }
        let parsed = match Url::parse(url) {
            Ok(parsed) => parsed,
            Err(error) => return deny(format!("invalid URL: {error}")),
        };
        Self::from_url(&parsed)
    }

    fn from_url(url: &Url) -> Result<Self, RequestDenied> {
        // Percent-encoding has made it longer.
        check_length(url.as_str())?;
        let scheme = match url.scheme() {
            "https" => Scheme::Https,
            "http" => Scheme::Http,
            other => {
                let message = format!("the scheme '{other}' is not supported; use https or http");
                return Err(RequestDenied::new(DenyReason::Scheme, message));
            }
        };
        if !url.username().is_empty() || url.password().is_some() {
            let message = "the URL contains a user name or a password; send them in an Authorization header";
            return Err(RequestDenied::new(DenyReason::Url, message));
        }
        let Some(host) = url.host().and_then(|host| Host::from_url(&host)) else {
            return Err(RequestDenied::new(DenyReason::Url, "the URL has no host or an invalid host name"));
        };
        let port = url.port().unwrap_or(scheme.default_port());
        let mut path = url.path().to_owned();
        if let Some(query) = url.query() {
            path.push('?');
            path.push_str(query);
        }
        // The parser guarantees this; the request line depends on it.
        if !path.starts_with('/') || !path.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(RequestDenied::new(
                DenyReason::Url,
                "the path of the URL contains characters that cannot be sent",
            ));
        }
        Ok(Self { scheme, host, port, path })
    }

    /// Resolves a `Location` header of a response. Returns `None` if it is invalid or leaves http.
    pub fn follow(&self, location: &str) -> Option<Self> {
        let url = Url::parse(&self.to_string()).ok()?.join(location.trim()).ok()?;
        Self::from_url(&url).ok()
    }

    /// Returns the value of the `Host` header.
    pub fn authority(&self) -> String {
        if self.port == self.scheme.default_port() {
            self.host.to_string()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Display for Target {
    /// Formats it as an absolute URL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme.as_str(), self.authority(), self.path)
    }
}
