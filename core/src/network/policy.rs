//! What a sandbox may reach.

use core::net::IpAddr;

use super::address::is_public;
use super::header;
use super::host::HostPattern;
use super::limits::NetworkLimits;
use super::refusal::{Refusal, RefusalKind};
use super::target::{Host, Scheme, Target};
use crate::error::{Error, ErrorKind, Result};
use crate::secret::Secret;

/// How many allowed hosts a refusal lists. More would drown the sentence.
const LISTED_HOSTS: usize = 8;

/// Leave to send requests to some hosts.
///
/// Begins narrow: only `https` on port 443, only `GET` and `HEAD`.
#[derive(Clone, Debug)]
pub struct AllowRule {
    host: HostPattern,
    schemes: Vec<Scheme>,
    /// None at all: the default port of the scheme.
    ports: Vec<u16>,
    /// `None`: every method that is not refused to everybody.
    methods: Option<Vec<String>>,
}

impl AllowRule {
    /// Allows `GET` and `HEAD` over `https` to the hosts of a pattern, see [`HostPattern::parse`].
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] when the pattern cannot be read.
    pub fn host(pattern: &str) -> Result<Self> {
        Ok(Self {
            host: HostPattern::parse(pattern)?,
            schemes: vec![Scheme::Https],
            ports: Vec::new(),
            methods: Some(vec!["GET".to_owned(), "HEAD".to_owned()]),
        })
    }

    /// Allows these methods and no others. They are compared letter by letter; write them in capitals.
    #[must_use]
    pub fn methods<M: Into<String>>(mut self, methods: impl IntoIterator<Item = M>) -> Self {
        self.methods = Some(methods.into_iter().map(Into::into).collect());
        self
    }

    /// Allows every method but `CONNECT` and `TRACE`.
    #[must_use]
    pub fn any_method(mut self) -> Self {
        self.methods = None;
        self
    }

    /// Allows this port; called again, also another. Default: 443 for `https`, 80 for `http`.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.ports.push(port);
        self
    }

    /// Allows `http` besides `https`: everybody on the way can read and change it.
    #[must_use]
    pub fn http(mut self) -> Self {
        self.schemes = vec![Scheme::Https, Scheme::Http];
        self
    }

    fn has_port(&self, target: &Target) -> bool {
        if self.ports.is_empty() {
            target.port == target.scheme.default_port()
        } else {
            self.ports.contains(&target.port)
        }
    }

    fn has_method(&self, method: &str) -> bool {
        self.methods.as_ref().is_none_or(|methods| methods.iter().any(|allowed| allowed == method))
    }
}

/// A credential that the host adds to requests, so that the guest can use it without ever having it.
#[derive(Clone, Debug)]
pub struct Injection {
    name: String,
    host: HostPattern,
    header: String,
    value: Secret,
    over_http: bool,
}

impl Injection {
    /// Sends `header: value` with every request to `host`, in place of what the guest sends under that name. Only over
    /// `https`. The value is the whole header value: `Bearer abc`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] when the pattern cannot be read or is `*` (a credential belongs to somebody), when
    /// the header is one that describes the connection, or when the value holds a line end.
    pub fn new(host: &str, header: &str, value: Secret) -> Result<Self> {
        let bad = |message: String| Err(Error::new(ErrorKind::InvalidRequest, "inject credential", message));
        let pattern = HostPattern::parse(host)?;
        if pattern.is_any() {
            return bad("a credential for every host would be sent to everybody; name the host".to_owned());
        }
        if let Err(refusal) = header::check_headers(&[(header.to_owned(), Vec::new())], u32::MAX) {
            return bad(refusal.message);
        }
        if value.expose().is_empty() || !header::is_value(value.expose()) {
            return bad(format!("the value for {header} is empty or holds a line end; trim it"));
        }
        Ok(Self {
            name: format!("{header} for {pattern}"),
            host: pattern,
            header: header.to_owned(),
            value,
            over_http: false,
        })
    }

    /// Names it, for the log. Default: `authorization for api.example.com`.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sends it over `http`, too: for servers on the same machine.
    #[must_use]
    pub fn over_http(mut self) -> Self {
        self.over_http = true;
        self
    }

    /// The name in the log.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn header(&self) -> &str {
        &self.header
    }

    pub(super) fn value(&self) -> &Secret {
        &self.value
    }

    fn applies(&self, target: &Target) -> bool {
        (self.over_http || target.scheme == Scheme::Https) && self.host.matches(&target.host)
    }
}

/// What a sandbox may reach, with which credentials, and how much of it. A new one allows nothing.
///
/// ```
/// use tidebox_core::Secret;
/// use tidebox_core::network::{AllowRule, NetworkPolicy};
///
/// # fn example() -> tidebox_core::Result<()> {
/// let policy = NetworkPolicy::new()
///     .allow(AllowRule::host("api.example.com")?.methods(["GET", "POST"]))
///     .allow(AllowRule::host("*.pythonhosted.org")?)
///     .inject("api.example.com", "authorization", Secret::new("Bearer abc"))?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct NetworkPolicy {
    rules: Vec<AllowRule>,
    injections: Vec<Injection>,
    pins: Vec<(Host, IpAddr)>,
    limits: NetworkLimits,
}

impl NetworkPolicy {
    /// Allows nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule. A request is allowed when one rule allows all of it.
    #[must_use]
    pub fn allow(mut self, rule: AllowRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Adds a credential on the host's side: [`Injection::new`] says when it is sent.
    ///
    /// # Errors
    /// As [`Injection::new`].
    pub fn inject(self, host: &str, header: &str, value: Secret) -> Result<Self> {
        Ok(self.attach(Injection::new(host, header, value)?))
    }

    /// Adds a credential that was made beforehand.
    #[must_use]
    pub fn attach(mut self, injection: Injection) -> Self {
        self.injections.push(injection);
        self
    }

    /// Pins a name to an address by the caller's authority; called again, also to another address. The name is not looked
    /// up any more, and the address may be private: it is the only way to let a sandbox reach one. The name still needs
    /// a rule that allows it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] when `host` is no plain name.
    pub fn resolve(mut self, host: &str, address: IpAddr) -> Result<Self> {
        match Host::parse(host) {
            Some(host @ Host::Name(_)) => self.pins.push((host, address)),
            _ => {
                let message = format!("'{}' is no name that could be pinned", host.escape_default());
                return Err(Error::new(ErrorKind::InvalidRequest, "pin host", message));
            }
        }
        Ok(self)
    }

    /// Sets every bound.
    #[must_use]
    pub fn limited(mut self, limits: NetworkLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The bounds.
    pub fn limits(&self) -> &NetworkLimits {
        &self.limits
    }

    /// Decides on a request before anything is resolved.
    ///
    /// # Errors
    /// A [`Refusal`] that names the first thing no rule allows: host, then scheme, then port, then method.
    pub fn check(&self, target: &Target, method: &str) -> Result<Permit<'_>, Refusal> {
        header::check_method(method)?;
        let refuse = |kind, message: String| Err(Refusal::new(kind, message));
        let (host, scheme) = (&target.host, target.scheme.as_str());
        let rules: Vec<&AllowRule> = self.rules.iter().filter(|rule| rule.host.matches(host)).collect();
        if rules.is_empty() {
            return refuse(
                RefusalKind::Host,
                format!("the sandbox's network policy does not allow {host}; {}", self.listed()),
            );
        }
        let rules: Vec<&AllowRule> = rules.into_iter().filter(|rule| rule.schemes.contains(&target.scheme)).collect();
        if rules.is_empty() {
            let message = format!("the sandbox's network policy does not allow {scheme} to {host}; use https");
            return refuse(RefusalKind::Scheme, message);
        }
        let rules: Vec<&AllowRule> = rules.into_iter().filter(|rule| rule.has_port(target)).collect();
        if rules.is_empty() {
            let message = format!("the sandbox's network policy does not allow port {} of {host}", target.port);
            return refuse(RefusalKind::Port, message);
        }
        if !rules.iter().any(|rule| rule.has_method(method)) {
            let allowed: Vec<&str> =
                rules.iter().filter_map(|rule| rule.methods.as_ref()).flatten().map(String::as_str).collect();
            let message = format!(
                "the sandbox's network policy does not allow {method} to {host}, only {}",
                if allowed.is_empty() { "nothing".to_owned() } else { allowed.join(", ") }
            );
            return refuse(RefusalKind::Method, message);
        }
        let pinned = self.pins.iter().filter(|(name, _)| name == host).map(|(_, address)| *address).collect();
        let injections = self.injections.iter().filter(|injection| injection.applies(target)).collect();
        Ok(Permit { host: target.host.clone(), pinned, injections })
    }

    /// What is allowed instead.
    fn listed(&self) -> String {
        if self.rules.is_empty() {
            return "it allows no host at all".to_owned();
        }
        let mut hosts: Vec<String> = Vec::new();
        for rule in &self.rules {
            let host = rule.host.to_string();
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        let more = if hosts.len() > LISTED_HOSTS { " and others" } else { "" };
        hosts.truncate(LISTED_HOSTS);
        format!("it allows {}{more}", hosts.join(", "))
    }
}

/// A request that the rules allow, as long as its addresses are good.
#[derive(Clone, Debug)]
pub struct Permit<'a> {
    host: Host,
    pinned: Vec<IpAddr>,
    injections: Vec<&'a Injection>,
}

impl Permit<'_> {
    /// The addresses to use without asking anybody: those that the name is pinned to, or the one in the URL.
    pub(super) fn known(&self) -> Option<Vec<IpAddr>> {
        match &self.host {
            Host::Address(address) => Some(vec![*address]),
            Host::Name(_) if !self.pinned.is_empty() => Some(self.pinned.clone()),
            Host::Name(_) => None,
        }
    }

    /// Which of `addresses` may be connected to. These very addresses are what a connection must use: a name that is
    /// asked for a second time may have another answer by then.
    ///
    /// # Errors
    /// [`RefusalKind::Address`] when none may.
    pub fn admit(&self, addresses: &[IpAddr]) -> Result<Vec<IpAddr>, Refusal> {
        let pinned = |address: &IpAddr| self.pinned.contains(address);
        let good: Vec<IpAddr> =
            addresses.iter().copied().filter(|address| pinned(address) || is_public(*address)).collect();
        if good.is_empty() {
            // The address itself is not told: a guest shall not learn the names of a private network.
            let message = format!(
                "{} is not an address of the public internet, or leads to none; only the application that runs the \
                 sandbox can open a private one, by pinning a name to it",
                self.host
            );
            return Err(Refusal::new(RefusalKind::Address, message));
        }
        Ok(good)
    }

    /// The credentials to add.
    pub fn injections(&self) -> &[&Injection] {
        &self.injections
    }
}
