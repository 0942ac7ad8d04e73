//! URL parts for a client: names for files, cookies and credential scopes. The host interprets URLs and has the only
//! authoritative parser.

/// The parts of `scheme://user@host:port/path?query#fragment`, unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// In lower case.
    pub scheme: String,
    /// Before the `@`, still encoded.
    pub user: Option<String>,
    /// In lower case, an IPv6 address with its brackets.
    pub host: String,
    /// As written.
    pub port: Option<String>,
    /// With its leading slash; empty if missing.
    pub path: String,
    /// Without its question mark.
    pub query: Option<String>,
}

impl Address {
    /// Splits a URL; the default scheme is `http`, as in curl and wget.
    pub fn parse(url: &str) -> Self {
        let url = url.split('#').next().unwrap_or_default();
        let (scheme, rest) = match url.split_once("://") {
            Some((scheme, rest)) if is_scheme(scheme) => (scheme.to_ascii_lowercase(), rest),
            _ => ("http".to_owned(), url.strip_prefix("//").unwrap_or(url)),
        };
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query.to_owned())),
            None => (rest, None),
        };
        let (user, place) = match authority.rsplit_once('@') {
            Some((user, place)) => (Some(user.to_owned()), place),
            None => (None, authority),
        };
        let colon = place.rfind(':').filter(|at| !place.get(*at..).is_some_and(|rest| rest.contains(']')));
        let (host, port) = match colon {
            Some(at) => (place.get(..at).unwrap_or_default(), place.get(at + 1..)),
            None => (place, None),
        };
        Self {
            scheme,
            user,
            host: host.to_ascii_lowercase(),
            port: port.filter(|port| !port.is_empty()).map(str::to_owned),
            path: path.to_owned(),
            query,
        }
    }

    /// The URL to request from the host: without user and fragment, percent-encoded like in curl.
    pub fn url(&self) -> String {
        let port = self.port.as_ref().map(|port| format!(":{port}")).unwrap_or_default();
        let path = if self.path.is_empty() { "/" } else { &self.path };
        let query = self.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}://{}{port}{path}{query}", self.scheme, self.host)
    }

    /// The port, or the default port of the scheme.
    pub fn port(&self) -> &str {
        self.port.as_deref().unwrap_or(if self.scheme == "https" { "443" } else { "80" })
    }

    /// Host and port, as a `Host` header has them.
    pub fn authority(&self) -> String {
        match &self.port {
            Some(port) if port != if self.scheme == "https" { "443" } else { "80" } => format!("{}:{port}", self.host),
            _ => self.host.clone(),
        }
    }

    /// Returns the absolute URL of a reference in a document at this address, by RFC 3986, section 5.2.
    pub fn join(&self, reference: &str) -> String {
        let origin = format!("{}://{}", self.scheme, self.authority());
        if reference.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme)) {
            return reference.to_owned();
        }
        if let Some(rest) = reference.strip_prefix("//") {
            return format!("{}://{rest}", self.scheme);
        }
        if reference.is_empty() || reference.starts_with(['?', '#']) {
            return format!("{origin}{}{reference}", if self.path.is_empty() { "/" } else { &self.path });
        }
        let directory = self.path.rsplit_once('/').map_or("", |(directory, _)| directory);
        let path = if reference.starts_with('/') { reference.to_owned() } else { format!("{directory}/{reference}") };
        let end = path.find(['?', '#']).unwrap_or(path.len());
        let (path, rest) = path.split_at(end);
        format!("{origin}{}{rest}", without_dots(path))
    }

    /// The part of the path after the last slash.
    pub fn file_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Returns whether a credential for one URL may be sent to the other.
    pub fn same_place(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.host == other.host && self.port() == other.port()
    }

    /// User and password, decoded.
    pub fn credentials(&self) -> Option<Vec<u8>> {
        let user = self.user.as_ref()?;
        let (name, password) = user.split_once(':').unwrap_or((user, ""));
        Some([decode(name).as_slice(), b":", &decode(password)].concat())
    }
}

/// Removes the segments `.` and `..` of an absolute path.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/').skip(1) {
        match segment {
            "." => {}
            ".." => drop(kept.pop()),
            other => kept.push(other),
        }
    }
    if path.ends_with("/.") || path.ends_with("/..") {
        kept.push("");
    }
    format!("/{}", kept.join("/"))
}

fn is_scheme(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Decodes `%xx`.
pub fn decode(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
        match (first, hex(after.first()), hex(after.get(1))) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                out.push(*first);
                rest = after;
            }
        }
    }
    out
}

/// Percent-encodes every byte except letters, digits and `-._~`.
pub fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            out.push(char::from(*byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Base64 of RFC 4648, for `Authorization: Basic`.
pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let at = |n: usize| u32::from(group.get(n).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for n in 0..4 {
            let letter = LETTERS.get((bits >> (18 - 6 * n)) as usize & 63).copied().unwrap_or(b'=');
            out.push(if n <= group.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Address, base64, decode, encode};

    #[test]
    fn a_url_comes_apart_and_together_again() {
        let address = Address::parse("HTTPS://me:p%40ss@Example.com:8443/a/b.txt?q=1#top");
        assert_eq!(address.url(), "https://example.com:8443/a/b.txt?q=1");
        assert_eq!(address.credentials().as_deref(), Some(&b"me:p@ss"[..]));
        assert_eq!((address.file_name(), address.port()), ("b.txt", "8443"));
        assert_eq!(Address::parse("example.com").url(), "http://example.com/");
        assert_eq!(Address::parse("localhost:8000/x?y").url(), "http://localhost:8000/x?y");
        assert_eq!(Address::parse("http://[::1]:80/").authority(), "[::1]");
        assert_eq!(Address::parse("http://[::1]:81").authority(), "[::1]:81");
        assert_eq!(Address::parse("http://a?b").url(), "http://a/?b");
    }

    #[test]
    fn references_are_joined_with_the_address_of_their_document() {
        let address = Address::parse("http://localhost:8000/a/b?q=1");
        for (reference, joined) in [
            ("c", "http://localhost:8000/a/c"),
            ("/c?x#y", "http://localhost:8000/c?x#y"),
            ("../d/./e/..", "http://localhost:8000/d/"),
            ("?z", "http://localhost:8000/a/b?z"),
            ("//other/x", "http://other/x"),
            ("https://other/", "https://other/"),
        ] {
            assert_eq!(address.join(reference), joined, "{reference}");
        }
    }

    #[test]
    fn encodings_are_those_of_the_standards() {
        assert_eq!(encode("a b/é".as_bytes()), "a%20b%2F%C3%A9");
        assert_eq!(decode("a%20b%2F%zz%"), b"a b/%zz%");
        for (plain, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("me:p@ss", "bWU6cEBzcw==")] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
