//! Base URL of a provider's API.

use std::fmt;
use std::ops::Deref;

/// A URL without a trailing slash. `Debug` omits the user name and password, which corporate proxies require; `Display`
/// and `Deref` keep them.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl(String);

impl BaseUrl {
    pub(crate) fn new(url: &str) -> Self {
        Self(url.trim_end_matches('/').to_owned())
    }
}

impl Deref for BaseUrl {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        redact_userinfo(&self.0).fmt(f)
    }
}

/// Returns the URL without the user name and password.
pub(crate) fn redact_userinfo(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if scheme.is_empty() { format!("{host}{path}") } else { format!("{scheme}://{host}{path}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_a_url_is_used_and_never_shown() {
        let address = BaseUrl::new("https://user:planted@host/api/");
        assert_eq!(&*address, "https://user:planted@host/api");
        assert_eq!(format!("{address:?}"), "\"https://host/api\"");
    }
}
