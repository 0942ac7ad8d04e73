//! Rules for the hosts that a sandbox may reach.

use core::net::IpAddr;

use super::address::is_public;
use super::denied::{DenyReason, RequestDenied};
use super::git_rule::GitRule;
use super::header;
use super::host::HostPattern;
use super::limits::NetworkLimits;
use super::target::{Host, Scheme, Target};
use crate::error::{Error, ErrorKind, Result};
use crate::secret::Secret;

/// Number of allowed hosts that an error message lists. More would make it unreadable.
const LISTED_HOSTS: usize = 8;

/// Permission to send requests to some hosts.
///
/// Narrow by default: only `https` on port 443, only `GET` and `HEAD`.
#[derive(Clone, Debug)]
pub struct AllowRule {
    host: HostPattern,
    schemes: Vec<Scheme>,
    /// Empty: the default port of the scheme.
    ports: Vec<u16>,
    /// `None`: every method except those that are always denied.
    methods: Option<Vec<String>>,
    /// `None`: every path.
    git: Option<GitRule>,
}

impl AllowRule {
    /// Allows `GET` and `HEAD` over `https` to the hosts of a pattern, see [`HostPattern::parse`].
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] if the pattern is invalid.
    pub fn host(pattern: &str) -> Result<Self> {
        Ok(Self {
            host: HostPattern::parse(pattern)?,
            schemes: vec![Scheme::Https],
            ports: Vec::new(),
            methods: Some(vec!["GET".to_owned(), "HEAD".to_owned()]),
            git: None,
        })
    }

    /// Allows `git clone` and `git fetch` over `https`, but no further requests: neither pushing nor reading of web pages.
    ///
    /// `github.com` is every repository of a host ([`HostPattern::parse`] has the other patterns), `github.com/org/repo` is one
    /// repository with or without `.git` at its end, and `github.com/org/*` is all below a path. Paths are case-sensitive and
    /// compared exactly; a path with percent-encoding is denied.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] if the host pattern or the path is invalid.
    pub fn git_fetch(repository: &str) -> Result<Self> {
        Self::git(repository, false)
    }

    /// Like [`git_fetch`](Self::git_fetch), and allows `git push`.
    ///
    /// # Errors
    /// Like [`git_fetch`](Self::git_fetch).
    pub fn git_push(repository: &str) -> Result<Self> {
        Self::git(repository, true)
    }

    fn git(repository: &str, push: bool) -> Result<Self> {
        let (host, git) = GitRule::parse(repository, push)?;
        Ok(Self { git: Some(git), ..Self::host(host)?.methods(["GET", "POST"]) })
    }

    /// Allows only these methods. The comparison is case-sensitive; use capitals. A rule for Git allows only those of them that
    /// Git uses.
    #[must_use]
    pub fn methods<M: Into<String>>(mut self, methods: impl IntoIterator<Item = M>) -> Self {
        self.methods = Some(methods.into_iter().map(Into::into).collect());
        self
    }

    /// Allows every method except `CONNECT` and `TRACE`.
    #[must_use]
    pub fn any_method(mut self) -> Self {
        self.methods = None;
        self
    }

    /// Allows this port; may be called repeatedly. Default: 443 for `https`, 80 for `http`.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.ports.push(port);
        self
    }

    /// Allows `http` in addition to `https`: every hop can read and change the traffic.
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

    fn has_path(&self, method: &str, target: &Target) -> bool {
        self.git.as_ref().is_none_or(|git| git.allows(method, target))
    }
}

/// A credential that the host adds to requests, so that the guest can use it without knowing it.
#[derive(Clone, Debug)]
pub struct HeaderInjection {
    name: String,
    host: HostPattern,
    header: String,
    value: Secret,
    over_http: bool,
}

impl HeaderInjection {
    /// Sends `header: value` with every request to `host`, replacing the guest's header with that name. Only over `https`. The
    /// value is the whole header value: `Bearer abc`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] if the pattern is invalid or is `*` (a credential belongs to specific hosts), if the header
    /// is one that describes the connection, or if the value contains a newline.
    pub fn new(host: &str, header: &str, value: Secret) -> Result<Self> {
        let invalid = |message: String| Err(Error::new(ErrorKind::InvalidRequest, "inject credential", message));
        let pattern = HostPattern::parse(host)?;
        if pattern.is_any() {
            return invalid("a credential for every host would be sent to all of them; name the host".to_owned());
        }
        if let Err(denied) = header::check_headers(&[(header.to_owned(), Vec::new())], u32::MAX) {
            return invalid(denied.message);
        }
        if value.expose().is_empty() || !header::is_value(value.expose()) {
            return invalid(format!("the value for {header} is empty or contains a newline; trim it"));
        }
        Ok(Self {
            name: format!("{header} for {pattern}"),
            host: pattern,
            header: header.to_owned(),
            value,
            over_http: false,
        })
    }

    /// Sets its name in the log. Default: `authorization for api.example.com`.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sends it over `http`, too: for servers on the same host.
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

/// The hosts that a sandbox may reach, the credentials for them, and limits. A new policy allows nothing.
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
    injections: Vec<HeaderInjection>,
    pins: Vec<(Host, IpAddr)>,
    limits: NetworkLimits,
}

impl NetworkPolicy {
    /// Creates a policy that allows nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule. A request is allowed if a single rule allows all of it.
    #[must_use]
    pub fn allow(mut self, rule: AllowRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Adds a credential on the host; see [`HeaderInjection::new`] for the requests that get it.
    ///
    /// # Errors
    /// Like [`HeaderInjection::new`].
    pub fn inject(self, host: &str, header: &str, value: Secret) -> Result<Self> {
        Ok(self.with_injection(HeaderInjection::new(host, header, value)?))
    }

    /// Adds an existing [`HeaderInjection`].
    #[must_use]
    pub fn with_injection(mut self, injection: HeaderInjection) -> Self {
        self.injections.push(injection);
        self
    }

    /// Pins a name to an address; may be called repeatedly for several addresses. The name is no longer resolved, and the address
    /// may be private: this is the only way to let a sandbox reach a private address. The name still needs a rule that allows it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] if `host` is not a host name.
    pub fn pin_address(mut self, host: &str, address: IpAddr) -> Result<Self> {
        match Host::parse(host) {
            Some(host @ Host::Name(_)) => self.pins.push((host, address)),
            _ => {
                let message = format!("'{}' is not a host name and cannot be pinned", host.escape_default());
                return Err(Error::new(ErrorKind::InvalidRequest, "pin host", message));
            }
        }
        Ok(self)
    }

    /// Sets all limits.
    #[must_use]
    pub fn with_limits(mut self, limits: NetworkLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the limits.
    pub fn limits(&self) -> &NetworkLimits {
        &self.limits
    }

    /// Checks a request before its host is resolved.
    ///
    /// # Errors
    /// A [`RequestDenied`] for the first part that no rule allows: host, then scheme, port, method and path.
    pub fn check(&self, target: &Target, method: &str) -> Result<Permit<'_>, RequestDenied> {
        header::check_method(method)?;
        let deny = |kind, message: String| Err(RequestDenied::new(kind, message));
        let (host, scheme) = (&target.host, target.scheme.as_str());
        let rules: Vec<&AllowRule> = self.rules.iter().filter(|rule| rule.host.matches(host)).collect();
        if rules.is_empty() {
            return deny(
                DenyReason::Host,
                format!("the sandbox's network policy does not allow {host}; {}", self.allowed_hosts_hint()),
            );
        }
        let rules: Vec<&AllowRule> = rules.into_iter().filter(|rule| rule.schemes.contains(&target.scheme)).collect();
        if rules.is_empty() {
            let message = format!("the sandbox's network policy does not allow {scheme} to {host}; use https");
            return deny(DenyReason::Scheme, message);
        }
        let rules: Vec<&AllowRule> = rules.into_iter().filter(|rule| rule.has_port(target)).collect();
        if rules.is_empty() {
            let message = format!("the sandbox's network policy does not allow port {} of {host}", target.port);
            return deny(DenyReason::Port, message);
        }
        if !rules.iter().any(|rule| rule.has_method(method)) {
            let allowed: Vec<&str> =
                rules.iter().filter_map(|rule| rule.methods.as_ref()).flatten().map(String::as_str).collect();
            let message = format!(
                "the sandbox's network policy does not allow {method} to {host}, only {}",
                if allowed.is_empty() { "nothing".to_owned() } else { allowed.join(", ") }
            );
            return deny(DenyReason::Method, message);
        }
        let rules: Vec<&AllowRule> = rules.into_iter().filter(|rule| rule.has_method(method)).collect();
        if !rules.iter().any(|rule| rule.has_path(method, target)) {
            let allowed: Vec<String> =
                rules.iter().filter_map(|rule| rule.git.as_ref()).take(LISTED_HOSTS).map(GitRule::to_string).collect();
            let message = format!(
                "the sandbox's network policy does not allow {}, only {}",
                GitRule::describe_denied(method, target),
                allowed.join(", ")
            );
            return deny(DenyReason::Path, message);
        }
        let pinned = self.pins.iter().filter(|(name, _)| name == host).map(|(_, address)| *address).collect();
        let injections = self.injections.iter().filter(|injection| injection.applies(target)).collect();
        Ok(Permit { host: target.host.clone(), pinned, injections })
    }

    /// Lists the allowed hosts for error messages.
    fn allowed_hosts_hint(&self) -> String {
        if self.rules.is_empty() {
            return "it allows no host".to_owned();
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

/// A request that the rules allow, subject to the check of its addresses.
#[derive(Clone, Debug)]
pub struct Permit<'a> {
    host: Host,
    pinned: Vec<IpAddr>,
    injections: Vec<&'a HeaderInjection>,
}

impl Permit<'_> {
    /// Returns the addresses that need no look-up: those that the name is pinned to, or the one in the URL.
    pub(super) fn static_addresses(&self) -> Option<Vec<IpAddr>> {
        match &self.host {
            Host::Address(address) => Some(vec![*address]),
            Host::Name(_) if !self.pinned.is_empty() => Some(self.pinned.clone()),
            Host::Name(_) => None,
        }
    }

    /// Returns those of `addresses` that may be connected to. The connection must use these addresses: a second look-up of the
    /// name may return others.
    ///
    /// # Errors
    /// [`DenyReason::Address`] if no address is allowed.
    pub fn filter_addresses(&self, addresses: &[IpAddr]) -> Result<Vec<IpAddr>, RequestDenied> {
        let pinned = |address: &IpAddr| self.pinned.contains(address);
        let allowed: Vec<IpAddr> =
            addresses.iter().copied().filter(|address| pinned(address) || is_public(*address)).collect();
        if allowed.is_empty() {
            // The message omits the address: a guest must not learn the addresses of a private network.
            let message = format!(
                "{} has no address of the public internet; only the application that runs the \
                 sandbox can allow a private one, by pinning a name to it",
                self.host
            );
            return Err(RequestDenied::new(DenyReason::Address, message));
        }
        Ok(allowed)
    }

    /// Returns the credentials to add.
    pub fn injections(&self) -> &[&HeaderInjection] {
        &self.injections
    }
}
