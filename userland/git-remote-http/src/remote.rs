//! Requests to a repository on a server.

use std::io::{self, Read, Write};

use tidebox_gnu::eprint_line;
use tidebox_host_http::address::{Address, base64};
use tidebox_host_http::{Failure, Head, Request, Transfer};

use crate::advertisement::Advertisement;
use crate::fault::{Fault, printable};

/// Redirects of the first request, as many as Git follows.
const REDIRECTS: usize = 20;

/// Longest list of references, which is kept in memory. A reference takes some 70 bytes.
const ADVERTISEMENT_BYTES: usize = 32 << 20;

/// Longest request that is kept in memory to send its length. A longer one is sent in parts, which some servers reject.
const BUFFERED_BYTES: u64 = 1 << 20;

/// Part of an error page that is printed.
const ERROR_BYTES: usize = 4 << 10;

/// Servers recognize Git by the start.
const USER_AGENT: &str = concat!("git/2.39 (git-remote-http ", env!("CARGO_PKG_VERSION"), ")");

/// A repository at a URL.
#[derive(Debug)]
pub(crate) struct Remote {
    /// The URL as given, without user name and password.
    shown: String,
    /// URL of the requests: another one after a redirect. Without a slash at the end.
    base: String,
    /// `Authorization` from the user name and password of the given URL.
    authorization: Option<String>,
    /// Place that may receive it.
    given: Address,
}

impl Remote {
    pub(crate) fn new(url: &str) -> Result<Self, Fault> {
        let given = Address::parse(url);
        let shown = given.url();
        if url.chars().any(char::is_control)
            || !matches!(given.scheme.as_str(), "http" | "https")
            || given.host.is_empty()
        {
            return Err(Fault::new(format!("'{}' is not an http or https URL", printable(&shown))));
        }
        if given.query.is_some() {
            return Err(Fault::new(format!("'{shown}' has a query, which is not supported")));
        }
        let authorization = given.credentials().map(|pair| format!("Basic {}", base64(&pair)));
        let base = shown.trim_end_matches('/').to_owned();
        Ok(Self { shown, base, authorization, given })
    }

    /// The URL without user name and password.
    pub(crate) fn url(&self) -> &str {
        &self.shown
    }

    /// Requests references and capabilities for a service.
    pub(crate) fn advertisement(&mut self, service: &str, protocol_2: bool) -> Result<Advertisement, Fault> {
        let tail = format!("/info/refs?service={service}");
        let mut url = format!("{}{tail}", self.base);
        for _ in 0..=REDIRECTS {
            let mut request = self.request("GET", &url, protocol_2);
            request.headers.push(("Accept".to_owned(), b"*/*".to_vec()));
            request.headers.push(("Pragma".to_owned(), b"no-cache".to_vec()));
            let (mut transfer, head) =
                Transfer::begin(&request, None).map_err(|failure| self.unreachable(service, failure))?;
            if matches!(head.status, 301 | 302 | 303 | 307 | 308) {
                url = head.redirect.ok_or_else(|| {
                    Fault::new(format!("unable to access '{}': the server redirects to an invalid place", self.shown))
                })?;
                continue;
            }
            self.check_status(&head, &mut transfer)?;
            self.check_kind(&head, &format!("application/x-{service}-advertisement"))?;
            self.rebase(&url, &tail)?;
            let body = self.read_advertisement(&mut transfer, service)?;
            return Advertisement::parse(body, service);
        }
        Err(Fault::new(format!("unable to access '{}': more than {REDIRECTS} redirects", self.shown)))
    }

    /// Sends a message of Git to a service and passes each part of the response to `receive`. Returns false without a request if
    /// the message is empty.
    pub(crate) fn call(
        &self,
        service: &str,
        protocol_2: bool,
        message: &mut dyn Read,
        receive: &mut dyn FnMut(&[u8]) -> Result<(), Fault>,
    ) -> Result<bool, Fault> {
        let mut start = Vec::new();
        (&mut *message).take(BUFFERED_BYTES).read_to_end(&mut start)?;
        if start.is_empty() {
            return Ok(false);
        }
        let url = format!("{}/{service}", self.base);
        let mut request = self.request("POST", &url, protocol_2);
        for (name, kind) in [("Content-Type", "request"), ("Accept", "result")] {
            request.headers.push((name.to_owned(), format!("application/x-{service}-{kind}").into_bytes()));
        }
        let is_whole = (start.len() as u64) < BUFFERED_BYTES;
        request.body = Some(is_whole.then_some(start.len() as u64));
        let mut body = io::Cursor::new(start).chain(message);
        let (mut transfer, head) =
            Transfer::begin(&request, Some(&mut body)).map_err(|failure| self.unreachable(service, failure))?;
        if matches!(head.status, 301 | 302 | 303 | 307 | 308) {
            let to = printable(&head.redirect.unwrap_or_default());
            return Err(Fault::new(format!(
                "unable to access '{}': the server redirects a POST to '{to}'",
                self.shown
            )));
        }
        self.check_status(&head, &mut transfer)?;
        self.check_kind(&head, &format!("application/x-{service}-result"))?;
        while let Some(chunk) = transfer.next_chunk().map_err(|failure| self.unreachable(service, failure))? {
            receive(&chunk)?;
        }
        Ok(true)
    }

    fn request(&self, method: &str, url: &str, protocol_2: bool) -> Request {
        let mut headers = vec![("User-Agent".to_owned(), USER_AGENT.as_bytes().to_vec())];
        if protocol_2 {
            headers.push(("Git-Protocol".to_owned(), b"version=2".to_vec()));
        }
        if let Some(value) = self.authorization.as_ref().filter(|_| Address::parse(url).same_place(&self.given)) {
            headers.push(("Authorization".to_owned(), value.clone().into_bytes()));
        }
        Request { method: method.to_owned(), url: url.to_owned(), headers, ..Request::default() }
    }

    /// Later requests go to the URL to which the first was redirected.
    fn rebase(&mut self, url: &str, tail: &str) -> Result<(), Fault> {
        let Some(base) = url.strip_suffix(tail) else {
            let to = printable(url);
            let message =
                format!("unable to access '{}': the server redirects to '{to}', which is no repository", self.shown);
            return Err(Fault::new(message));
        };
        if base != self.base {
            eprint_line!("warning: redirecting to {}/", printable(base));
            base.clone_into(&mut self.base);
        }
        Ok(())
    }

    fn read_advertisement(&self, transfer: &mut Transfer, service: &str) -> Result<Vec<u8>, Fault> {
        let mut body = Vec::new();
        while let Some(chunk) = transfer.next_chunk().map_err(|failure| self.unreachable(service, failure))? {
            if body.len() + chunk.len() > ADVERTISEMENT_BYTES {
                let most = ADVERTISEMENT_BYTES >> 20;
                let message = format!("unable to access '{}': its list of references exceeds {most} MiB", self.shown);
                return Err(Fault::new(message));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// Fails for a status other than 200, after printing a reason that the server sent as text.
    fn check_status(&self, head: &Head, transfer: &mut Transfer) -> Result<(), Fault> {
        if head.status == 200 {
            return Ok(());
        }
        if kind(head) == "text/plain" {
            let mut text = Vec::new();
            while let Ok(Some(chunk)) = transfer.next_chunk() {
                text.extend_from_slice(&chunk);
                if text.len() > ERROR_BYTES {
                    break;
                }
            }
            text.truncate(ERROR_BYTES);
            for line in String::from_utf8_lossy(&text).lines().filter(|line| !line.trim().is_empty()) {
                eprint_line!("remote: {}", printable(line));
            }
        }
        Err(Fault::status(&self.shown, head.status))
    }

    fn check_kind(&self, head: &Head, expected: &str) -> Result<(), Fault> {
        let kind = kind(head);
        if kind == expected {
            return Ok(());
        }
        let kind = if kind.is_empty() { "no content type".to_owned() } else { printable(&kind) };
        Err(Fault::new(format!(
            "unable to access '{}': the server answers with {kind} instead of {expected}; only Git's smart HTTP protocol is \
             supported",
            self.shown
        )))
    }

    fn unreachable(&self, service: &str, failure: Failure) -> Fault {
        // The program that makes the request has ended and printed why.
        if matches!(failure, Failure::Unreadable(_)) && service == "git-receive-pack" {
            return Fault::Reported;
        }
        Fault::unreachable(&self.shown, if service == "git-receive-pack" { "push" } else { "fetch" }, failure)
    }
}

/// The content type without its parameters, in lower case.
fn kind(head: &Head) -> String {
    let value = String::from_utf8_lossy(head.header("content-type").unwrap_or_default()).into_owned();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Writes parts of a response to Git.
pub(crate) fn write_to(output: &mut dyn Write) -> impl FnMut(&[u8]) -> Result<(), Fault> {
    |chunk| output.write_all(chunk).map_err(Fault::from)
}

#[cfg(test)]
mod tests {
    use super::Remote;

    #[test]
    fn credentials_of_a_url_are_neither_shown_nor_sent_elsewhere() {
        let remote = Remote::new("https://me:to%40ken@Example.com/a/b.git/").expect("valid");
        assert_eq!(
            (remote.shown.as_str(), remote.base.as_str()),
            ("https://example.com/a/b.git/", "https://example.com/a/b.git")
        );
        let has = |url: &str| remote.request("GET", url, false).headers.iter().any(|(name, _)| name == "Authorization");
        assert!(has("https://example.com/other"));
        for url in
            ["http://example.com/", "https://example.com:8443/", "https://example.com.evil.net/", "https://evil.net/"]
        {
            assert!(!has(url), "{url}");
        }
    }

    #[test]
    fn requests_follow_the_redirect_only_to_a_repository() {
        let tail = "/info/refs?service=git-upload-pack";
        let mut remote = Remote::new("https://a.example/old").expect("valid");
        assert!(remote.rebase("https://b.example/new.git/info/refs?service=git-upload-pack", tail).is_ok());
        assert_eq!((remote.base.as_str(), remote.url()), ("https://b.example/new.git", "https://a.example/old"));
        for url in ["https://b.example/login", "https://b.example/x/info/refs", "https://b.example/info/refs?service=x"]
        {
            assert!(remote.rebase(url, tail).is_err(), "{url}");
        }
    }

    #[test]
    fn other_urls_are_rejected() {
        for url in ["ftp://a/b", "https://", "https://a/b?c", "https://a/b\nheader X: y", ""] {
            assert!(Remote::new(url).is_err(), "{url:?}");
        }
    }
}
