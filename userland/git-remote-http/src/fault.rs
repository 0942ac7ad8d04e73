//! Fatal errors and their messages.

use std::io;

use tidebox_host_http::Failure;
use tidebox_host_http::address::Address;

/// Reason why the helper ends.
#[derive(Debug)]
pub(crate) enum Fault {
    /// One sentence for the user, without credentials.
    Message(String),
    /// A program that it started has printed the reason.
    Reported,
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Message(message.into())
    }

    /// A server that is not reached, or a request that the policy denies. `action` is `fetch` or `push`.
    pub(crate) fn unreachable(url: &str, action: &str, failure: Failure) -> Self {
        let address = Address::parse(url);
        let repository = format!("{}{}", address.host, address.path.trim_end_matches('/'));
        let cause = match failure {
            Failure::Disabled => format!(
                "the sandbox has no network; the application that runs it can allow git {action} of {repository} by a network \
                 policy"
            ),
            Failure::Refused(rule, message) if matches!(rule.as_str(), "host" | "method" | "path") => format!(
                "{message}; the application that runs the sandbox can allow git {action} of {repository} by a rule for Git"
            ),
            Failure::Refused(_, message) => message,
            Failure::Failed(kind, message) => match kind.as_str() {
                "resolve" => format!("cannot resolve the host name {}", address.host),
                "certificate" => format!("the certificate of {} is not trusted: {message}", address.host),
                "timeout" => format!("the request to {} reached its timeout", address.host),
                "empty" => format!("{} closed the connection without an answer", address.host),
                "receive" => format!("{} closed the connection within its answer", address.host),
                _ => message,
            },
            Failure::Unreadable(message) => format!("cannot read the request from Git: {message}"),
            Failure::Confused(message) => format!("the host's network command failed: {message}"),
        };
        Self::new(format!("unable to access '{url}': {}", printable(&cause)))
    }

    /// A status other than 200.
    pub(crate) fn status(url: &str, status: u16) -> Self {
        const CREDENTIAL: &str =
            "the application that runs the sandbox can add a credential by its network policy (inject)";
        let host = Address::parse(url).authority();
        match status {
            401 => Self::new(format!(
                "authentication failed for '{url}': {host} requires a valid credential; {CREDENTIAL}"
            )),
            403 => Self::new(format!("unable to access '{url}': {host} denies access (403); {CREDENTIAL}")),
            404 | 410 => Self::new(format!("repository '{url}' not found; if it is private, {CREDENTIAL}")),
            _ => Self::new(format!("unable to access '{url}': {host} returned the status {status}")),
        }
    }
}

impl From<io::Error> for Fault {
    /// Errors of the pipes to Git and to the programs that this one starts.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // The peer has exited and printed the reason.
            io::ErrorKind::BrokenPipe => Self::Reported,
            io::ErrorKind::UnexpectedEof => Self::new("Git ended within a request"),
            _ => Self::new(tidebox_gnu::message::error_text(&error)),
        }
    }
}

/// Replaces control characters: a server must not control the terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|char| if char.is_control() && char != '\t' { '?' } else { char }).collect()
}
