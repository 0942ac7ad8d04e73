//! URL and credentials of a bucket.

use std::fmt;
use std::path::PathBuf;

use async_nats::{ConnectOptions, ServerAddr};
use tidebox_core::{Error, ErrorKind, Result};

/// Maximum number of replicas that JetStream supports.
const MAX_REPLICAS: usize = 5;

/// Servers, credentials and bucket. Its texts contain no credentials.
pub(super) struct NatsUrl {
    scheme: String,
    servers: Vec<ServerAddr>,
    bucket: String,
    replicas: Option<usize>,
    credentials: Credentials,
    /// File with root certificates.
    roots: Option<PathBuf>,
    /// Files with the certificate of the client and its key.
    client: Option<(PathBuf, PathBuf)>,
}

enum Credentials {
    Absent,
    Token(String),
    User(String, String),
}

impl fmt::Display for NatsUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts: Vec<String> =
            self.servers.iter().map(|server| format!("{}:{}", server.host(), server.port())).collect();
        write!(f, "{}://{}/{}", self.scheme, hosts.join(","), self.bucket)
    }
}

impl fmt::Debug for NatsUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl NatsUrl {
    pub(super) fn parse(url: &str, setting: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let parts = Parts::split(url).map_err(|why| invalid(&why))?;
        let address = |host: &str| {
            if host.is_empty() {
                return Err(invalid("a host is empty"));
            }
            format!("{}://{host}", parts.scheme).parse().map_err(|error: std::io::Error| invalid(&error.to_string()))
        };
        let servers = parts.hosts.split(',').map(address).collect::<Result<Vec<ServerAddr>>>()?;
        let setting = |name: &str| setting(name).filter(|value| !value.is_empty());
        let credentials = match (parts.user, setting("NATS_TOKEN"), setting("NATS_USER"), setting("NATS_PASSWORD")) {
            (Some((token, None)), ..) => Credentials::Token(token),
            (Some((user, Some(password))), ..) => Credentials::User(user, password),
            (None, Some(token), None, None) => Credentials::Token(token),
            (None, None, Some(user), Some(password)) => Credentials::User(user, password),
            (None, None, None, None) => Credentials::Absent,
            _ => return Err(invalid("set either NATS_TOKEN, or NATS_USER and NATS_PASSWORD")),
        };
        let client = match (setting("NATS_CERT"), setting("NATS_KEY")) {
            (Some(certificate), Some(key)) => Some((certificate.into(), key.into())),
            (None, None) => None,
            _ => return Err(invalid("NATS_CERT and NATS_KEY must be set together")),
        };
        Ok(Self {
            scheme: parts.scheme.to_owned(),
            servers,
            bucket: parts.bucket.to_owned(),
            replicas: parts.replicas,
            credentials,
            roots: setting("NATS_CA").map(Into::into),
            client,
        })
    }

    pub(super) fn servers(&self) -> &[ServerAddr] {
        &self.servers
    }

    pub(super) fn bucket(&self) -> &str {
        &self.bucket
    }

    /// `None`: by the servers.
    pub(super) fn replicas(&self) -> Option<usize> {
        self.replicas
    }

    /// Returns the options of a connection with these credentials.
    pub(super) fn options(&self) -> ConnectOptions {
        let mut options = match &self.credentials {
            Credentials::Absent => ConnectOptions::new(),
            Credentials::Token(token) => ConnectOptions::with_token(token.clone()),
            Credentials::User(user, password) => ConnectOptions::with_user_and_password(user.clone(), password.clone()),
        };
        if let Some(roots) = &self.roots {
            options = options.add_root_certificates(roots.clone());
        }
        if let Some((certificate, key)) = &self.client {
            options = options.add_client_certificate(certificate.clone(), key.clone());
        }
        options.require_tls(self.scheme == "tls")
    }
}

/// Parts of a URL.
struct Parts<'a> {
    scheme: &'a str,
    /// User or token, and password.
    user: Option<(String, Option<String>)>,
    hosts: &'a str,
    bucket: &'a str,
    replicas: Option<usize>,
}

impl<'a> Parts<'a> {
    fn split(url: &'a str) -> std::result::Result<Self, String> {
        let (scheme, rest) = url.split_once("://").ok_or("it is not a URL")?;
        if !["nats", "tls"].contains(&scheme) {
            return Err(format!("the scheme '{scheme}' is not supported"));
        }
        let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
        // A password may contain a slash.
        let (user, rest) = rest.rsplit_once('@').map_or((None, rest), |(user, rest)| (Some(user), rest));
        let user = user.map(|user| match user.split_once(':') {
            Some((user, password)) => (user.to_owned(), Some(password.to_owned())),
            None => (user.to_owned(), None),
        });
        let (hosts, bucket) = rest.split_once('/').ok_or("it names no bucket")?;
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if bucket.is_empty() || !bucket.bytes().all(is_name) {
            return Err("the name of the bucket must have letters, digits, '_' and '-' only".to_owned());
        }
        let replicas = match query {
            None => None,
            Some(query) => {
                let number = query.strip_prefix("replicas=").and_then(|number| number.parse().ok());
                let number = number.filter(|number| (1..=MAX_REPLICAS).contains(number));
                Some(number.ok_or_else(|| format!("only ?replicas=N with 1 to {MAX_REPLICAS} may follow the bucket"))?)
            }
        };
        Ok(Self { scheme, user, hosts, bucket, replicas })
    }
}

/// The message does not contain the URL, which may have a password.
fn invalid(why: &str) -> Error {
    let message =
        format!("cannot use the URL of NATS as a directory of nodes: {why}; give nats://host:port,host:port/BUCKET");
    Error::new(ErrorKind::InvalidRequest, "open directory", message)
}
