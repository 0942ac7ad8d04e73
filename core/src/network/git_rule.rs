//! Rules for Git over HTTP: the two requests of a fetch and, if allowed, the two of a push.

use std::fmt;

use super::target::Target;
use crate::error::{Error, ErrorKind, Result};

/// Longest path that an error message repeats, in bytes.
const SHOWN_BYTES: usize = 200;

/// Names of Git's services. A repository's path must not contain them: a server that routes by the first match would run another
/// service than the one at the end of the path.
const SERVICES: [&str; 3] = ["git-upload-pack", "git-receive-pack", "git-upload-archive"];

/// Repositories of a host, and what Git may do with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GitRule {
    repositories: Repositories,
    push: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Repositories {
    All,
    /// All below this path, which starts and ends with a slash.
    Below(String),
    /// One, without `.git` at the end of its path. The path begins with a slash.
    One(String),
}

impl GitRule {
    /// Splits `github.com/org/repo` into its host pattern and the rule for its repositories.
    pub(super) fn parse(repository: &str, push: bool) -> Result<(&str, Self)> {
        let Some((host, path)) = repository.split_once('/') else {
            return Ok((repository, Self { repositories: Repositories::All, push }));
        };
        let path = path.strip_suffix('/').unwrap_or(path);
        let (below, path) = match path.strip_suffix("/*") {
            Some(path) => (true, path),
            None => (false, path.strip_suffix(".git").unwrap_or(path)),
        };
        let path = format!("/{path}");
        if !is_repository(&path) {
            let message = format!(
                "'{}' is not a repository; use a host, HOST/ORG/REPO, or HOST/ORG/* for all repositories below a path, \
                 without scheme and port",
                repository.escape_default()
            );
            return Err(Error::new(ErrorKind::InvalidRequest, "parse Git rule", message));
        }
        let repositories = if below { Repositories::Below(path + "/") } else { Repositories::One(path) };
        Ok((host, Self { repositories, push }))
    }

    /// Returns whether the request is one of Git's for a repository of the rule. Path and query must have exactly the form that
    /// Git sends: no percent-encoding, no parameters and no empty or dot segments, because servers interpret them differently.
    pub(super) fn allows(&self, method: &str, target: &Target) -> bool {
        let (path, query) = match target.path.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (target.path.as_str(), None),
        };
        let repository = match (method, query) {
            ("GET", Some("service=git-upload-pack")) => path.strip_suffix("/info/refs"),
            ("GET", Some("service=git-receive-pack")) if self.push => path.strip_suffix("/info/refs"),
            ("POST", None) => match path.strip_suffix("/git-upload-pack") {
                None if self.push => path.strip_suffix("/git-receive-pack"),
                fetched => fetched,
            },
            _ => None,
        };
        repository.is_some_and(|path| is_repository(path) && self.contains(path))
    }

    fn contains(&self, path: &str) -> bool {
        match &self.repositories {
            Repositories::All => true,
            Repositories::Below(parent) => path.starts_with(parent.as_str()),
            Repositories::One(one) => path.strip_suffix(".git").unwrap_or(path) == one,
        }
    }

    /// Describes a request that no rule allows.
    pub(super) fn describe_denied(method: &str, target: &Target) -> String {
        // The target is ASCII, so every index is a boundary.
        match target.path.get(..SHOWN_BYTES) {
            Some(start) => format!("{method} {start}... at {}", target.host),
            None => format!("{method} {} at {}", target.path, target.host),
        }
    }
}

impl fmt::Display for GitRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.push { "git fetch and push" } else { "git fetch" };
        match &self.repositories {
            Repositories::All => write!(f, "{what} of every repository"),
            Repositories::Below(path) => write!(f, "{what} of {path}*"),
            Repositories::One(path) => write!(f, "{what} of {path}"),
        }
    }
}

/// Returns whether this is the path of a repository in the form that every server interprets in the same way.
fn is_repository(path: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+@".contains(&byte);
    let is_segment = |segment: &str| {
        !matches!(segment, "" | "." | "..") && segment.bytes().all(is_plain) && !SERVICES.contains(&segment)
    };
    path.strip_prefix('/').is_some_and(|path| path.split('/').all(is_segment))
}
