//! Host names of previews.

use std::net::IpAddr;

use axum::http::header;
use axum::http::request::Parts;

/// The port and the key of a preview address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PreviewAddress {
    /// Port in the sandbox.
    pub(crate) port: u16,
    /// In lower case, because host names are the same in both.
    pub(crate) key: String,
    /// Host of the request as the client sent it, with its port if any.
    pub(crate) host: String,
}

impl PreviewAddress {
    /// Parses `PORT-KEY`.
    pub(crate) fn from_label(label: &str, host: &str) -> Option<Self> {
        let (port, key) = label.split_once('-')?;
        let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let port = is_number.then(|| port.parse().ok()).flatten().filter(|port| *port != 0)?;
        let key = key.to_ascii_lowercase();
        (!key.is_empty()).then(|| Self { port, key, host: host.to_owned() })
    }
}

/// The domain below which an emulator has its preview addresses.
#[derive(Clone, Debug)]
pub(crate) struct Domain {
    /// With the port of the emulator, as clients need it.
    shown: String,
    /// Names of the emulator's own host.
    own: Vec<String>,
    /// Names below which a host is a preview.
    names: Vec<String>,
}

impl Domain {
    /// Returns the domain of an emulator at this URL. `prefix` is a name between the preview's label and the emulator's host, such
    /// as `tunnel.`, or empty.
    ///
    /// An emulator on this computer has the domain `localhost`, below which browsers, curl and systemd resolve every name to the
    /// loopback address.
    pub(crate) fn new(url: &str, prefix: &str) -> Self {
        let host = url.split_once("://").map_or(url, |(_, rest)| rest);
        let host = host.split('/').next().unwrap_or_default();
        let (name, port) = split_port(host);
        let is_local = name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified());
        let shown = if is_local { "localhost" } else { name };
        let own = vec![name.to_ascii_lowercase(), "localhost".to_owned()];
        let names = own.iter().map(|name| format!("{prefix}{name}")).collect();
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        Self { shown: format!("{prefix}{shown}{port}"), own, names }
    }

    /// Adds a domain below which a host is a preview, too.
    pub(crate) fn with_name(mut self, name: &str) -> Self {
        self.names.push(name.to_owned());
        self
    }

    /// Returns the host of a preview, with the port of the emulator.
    pub(crate) fn host_of(&self, port: u16, key: &str) -> String {
        format!("{port}-{key}.{}", self.shown)
    }

    /// Returns the domain with the port of the emulator.
    pub(crate) fn name_with_port(&self) -> &str {
        &self.shown
    }

    /// Parses a host that is a preview of this domain.
    pub(super) fn parse(&self, host: &str) -> Option<PreviewAddress> {
        let name = split_port(host).0.to_ascii_lowercase();
        let (label, domain) = name.split_once('.')?;
        let is_known = self.names.iter().any(|known| known == domain);
        is_known.then(|| PreviewAddress::from_label(label, host)).flatten()
    }

    /// Returns whether a host is the emulator's own. Every IP address is: no web page of another origin has one of this computer.
    pub(super) fn is_own(&self, host: &str) -> bool {
        let name = split_port(host).0.to_ascii_lowercase();
        self.own.contains(&name) || name.parse::<IpAddr>().is_ok()
    }
}

/// Splits `NAME:PORT` and `[IPV6]:PORT`. The brackets of an address are removed.
fn split_port(host: &str) -> (&str, Option<&str>) {
    if let Some((ip, rest)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (ip, rest.strip_prefix(':'));
    }
    match host.rsplit_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (host, None),
    }
}

/// Returns the host of a request. A request with several has none.
pub(super) fn host(head: &Parts) -> Option<String> {
    if let Some(authority) = head.uri.authority() {
        return Some(authority.as_str().to_owned());
    }
    let mut hosts = head.headers.get_all(header::HOST).iter();
    let host = hosts.next()?.to_str().ok()?;
    hosts.next().is_none().then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hosts_of_the_domain_are_previews() {
        let domain = Domain::new("http://127.0.0.1:4000", "");
        let address = |host: &str| domain.parse(host).map(|address| (address.port, address.key));
        let found = |port, key: &str| Some((port, key.to_owned()));
        assert_eq!(domain.host_of(8000, "abc"), "8000-abc.localhost:4000");
        assert_eq!(address("8000-abc.localhost:4000"), found(8000, "abc"));
        assert_eq!(address("8000-ABC.LocalHost"), found(8000, "abc"));
        assert_eq!(address("8000-abc.127.0.0.1:4000"), found(8000, "abc"));
        assert_eq!(address("1-a-b-c.localhost"), found(1, "a-b-c"));
        for other in [
            "localhost:4000",
            "8000-abc.evil.example:4000",
            "8000-abc.localhost.evil.example",
            "x.8000-abc.localhost",
            "0-abc.localhost",
            "65536-abc.localhost",
            "+80-abc.localhost",
            "8000-.localhost",
            "-abc.localhost",
            "8000.localhost",
            "",
        ] {
            assert_eq!(address(other), None, "{other}");
        }
    }

    #[test]
    fn the_domain_is_that_of_the_url() {
        let shown = |url: &str, prefix: &str| Domain::new(url, prefix).host_of(80, "k");
        assert_eq!(shown("http://[::1]:4000", ""), "80-k.localhost:4000");
        assert_eq!(shown("http://0.0.0.0:4000", ""), "80-k.localhost:4000");
        assert_eq!(shown("https://boxes.example/base", ""), "80-k.boxes.example");
        assert_eq!(shown("http://127.0.0.1:4000", "tunnel."), "80-k.tunnel.localhost:4000");
        let tunnels = Domain::new("http://127.0.0.1:4000", "tunnel.").with_name("tunnel.runloop.ai");
        assert!(tunnels.parse("80-k.tunnel.runloop.ai").is_some() && tunnels.parse("80-k.localhost").is_none());
    }

    #[test]
    fn names_of_other_hosts_are_not_the_emulators_own() {
        let domain = Domain::new("https://boxes.example", "");
        for own in ["boxes.example", "localhost:1", "127.0.0.1:4000", "[::1]:4000", "192.168.1.5"] {
            assert!(domain.is_own(own), "{own}");
        }
        for other in ["evil.example", "evil.example:4000", "a.localhost", "127.0.0.1.evil.example"] {
            assert!(!domain.is_own(other), "{other}");
        }
    }
}
