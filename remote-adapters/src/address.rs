//! Where a provider is.

use std::fmt;
use std::ops::Deref;

/// A URL without a slash at its end. Its `Debug` leaves out the name and the password before the host, which proxies of companies
/// ask for; everything else reads it as text.
#[derive(Clone, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    pub(crate) fn new(url: &str) -> Self {
        Self(url.trim_end_matches('/').to_owned())
    }
}

impl Deref for Address {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        without_password(&self.0).fmt(f)
    }
}

/// An address without the name and the password before its host.
pub(crate) fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if scheme.is_empty() { format!("{host}{path}") } else { format!("{scheme}://{host}{path}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_before_a_host_is_used_and_never_shown() {
        let address = Address::new("https://user:planted@host/api/");
        assert_eq!(&*address, "https://user:planted@host/api");
        assert_eq!(format!("{address:?}"), "\"https://host/api\"");
    }
}
