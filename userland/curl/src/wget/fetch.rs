//! Download of one URL: request, redirects, retries, and the file.

mod save;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::time::Duration;

use tidebox_gnu::message::{bytes_path, error_text};

use super::log::{Log, now};
use super::options::Options;
use crate::body::{Body, Part};
use crate::curl::Jar;
use tidebox_host_http::address::{Address, base64};
use tidebox_host_http::{Failure, Head, Request, Transfer};

/// wget's exit codes.
pub(super) const FILE: i32 = 3;
pub(super) const NETWORK: i32 = 4;
pub(super) const CERTIFICATE: i32 = 5;
pub(super) const LOGIN: i32 = 6;
pub(super) const PROTOCOL: i32 = 7;
pub(super) const SERVER: i32 = 8;

/// Maximum delay between attempts. wget waits one second longer after each attempt.
const MAX_WAIT: u64 = 10;

/// State shared by all URLs.
pub(super) struct Session<'a> {
    pub(super) options: &'a Options,
    pub(super) log: Log,
    pub(super) jar: Jar,
    /// The single output of `-O`: a file or standard output.
    pub(super) document: Option<Box<dyn Write>>,
}

/// Download error.
struct FetchError {
    code: i32,
    /// A retry may help.
    again: bool,
}

impl Session<'_> {
    /// Downloads a URL and returns the exit code.
    pub(super) fn fetch(&mut self, url: &str) -> i32 {
        let mut tried = 0;
        loop {
            tried += 1;
            match self.attempt(url) {
                Ok(()) => return 0,
                Err(trouble) => {
                    let most = self.options.tries;
                    if !trouble.again || most != 0 && tried >= most {
                        if trouble.again && most > 1 {
                            self.log.always("Giving up.\n\n");
                        }
                        return trouble.code;
                    }
                    self.log.all("Retrying.\n\n");
                    std::thread::sleep(Duration::from_secs(tried.min(MAX_WAIT)));
                }
            }
        }
    }

    fn attempt(&mut self, url: &str) -> Result<(), FetchError> {
        let fail = |code| FetchError { code, again: false };
        let options = self.options;
        let mut to = Address::parse(url);
        if !matches!(to.scheme.as_str(), "http" | "https") || to.host.is_empty() {
            self.log.always(&format!("{url}: Unsupported scheme, or no host.\n"));
            return Err(fail(1));
        }
        let first = to.clone();
        let (mut method, mut body) = self.payload();
        for redirects in 0.. {
            let (transfer, head, started) = self.send(&to, &method, body.as_ref(), to.same_place(&first))?;
            let Some(next) = head.redirect.clone() else {
                return self.save(&to, transfer, &head, started);
            };
            drain(transfer);
            self.log.all(&format!("Location: {next} [following]\n"));
            if redirects >= options.redirects {
                self.log.always(&format!("{} redirections exceeded.\n", options.redirects));
                return Err(fail(SERVER));
            }
            let stays_post = matches!(head.status, 307 | 308);
            if !stays_post && method != "HEAD" && method != "GET" && (method == "POST" || head.status == 303) {
                (method, body) = ("GET".to_owned(), None);
            }
            to = Address::parse(&next);
        }
        Err(fail(SERVER))
    }

    fn payload(&self) -> (String, Option<Body>) {
        let options = self.options;
        let body = match (&options.body, &options.body_file) {
            (Some(bytes), _) => Some(Body::bytes(bytes.clone())),
            (None, Some(name)) if name == b"-" => Some(Body(vec![Part::Stdin])),
            (None, Some(name)) => Some(Body(vec![Part::File(name.clone(), 0)])),
            (None, None) => None,
        };
        let default = match () {
            () if options.is_post => "POST",
            () if options.is_spider => "HEAD",
            () => "GET",
        };
        (options.method.clone().unwrap_or_else(|| default.to_owned()), body)
    }

    fn send(
        &mut self,
        to: &Address,
        method: &str,
        body: Option<&Body>,
        is_trusted: bool,
    ) -> Result<(Transfer, Head, u64), FetchError> {
        let started = tidebox_rt::monotonic_ns();
        self.log.all(&format!("--{}--  {}\n", now(), to.url()));
        let length = match body.map(Body::length).transpose() {
            Ok(length) => length,
            Err(error) => {
                self.log.always(&format!("BODY data file missing: {}\n", error_text(&error)));
                return Err(FetchError { code: FILE, again: false });
            }
        };
        let request = Request {
            method: method.to_owned(),
            url: to.url(),
            headers: self.headers(to, body.is_some(), is_trusted),
            body: length,
            connect_ms: self.options.connect_ms.or(self.options.timeout_ms),
            total_ms: None,
        };
        let mut opened = body.map(Body::open);
        match Transfer::begin(&request, opened.as_mut().map(|body| body as &mut dyn Read)) {
            Ok((transfer, head)) => {
                self.note_response(to, &head);
                Ok((transfer, head, started))
            }
            Err(failure) => Err(self.failed(to, &failure)),
        }
    }

    fn headers(&self, to: &Address, has_body: bool, is_trusted: bool) -> Vec<(String, Vec<u8>)> {
        let options = self.options;
        let custom: Vec<(String, Vec<u8>)> = options
            .headers
            .iter()
            .filter_map(|header| {
                let (name, value) = tidebox_host_http::split(header, b':');
                let name = String::from_utf8_lossy(name).trim().to_owned();
                (!name.is_empty()).then(|| (name, value.trim_ascii().to_vec()))
            })
            .collect();
        let mut headers: Vec<(String, Vec<u8>)> = Vec::new();
        let mut add = |name: &str, value: Vec<u8>| {
            if !custom.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                headers.push((name.to_owned(), value));
            }
        };
        if let Some(referer) = &options.referer {
            add("Referer", referer.clone());
        }
        if let Some(from) = self.resumes(to) {
            add("Range", format!("bytes={from}-").into_bytes());
        }
        add("User-Agent", options.agent.clone());
        add("Accept", b"*/*".to_vec());
        add("Accept-Encoding", b"identity".to_vec());
        let login = options.user.as_ref().filter(|_| is_trusted);
        let login = login.map(|user| [user.as_slice(), b":", options.password.as_deref().unwrap_or_default()].concat());
        if let Some(login) = login.or_else(|| to.credentials()) {
            add("Authorization", format!("Basic {}", base64(&login)).into_bytes());
        }
        let seconds = i64::try_from(tidebox_rt::realtime_ns() / 1_000_000_000).unwrap_or(0);
        if let Some(cookies) = self.jar.header(to, seconds) {
            add("Cookie", cookies.into_bytes());
        }
        if has_body {
            add("Content-Type", b"application/x-www-form-urlencoded".to_vec());
        }
        let own = ["connection", "host"];
        headers.extend(custom.into_iter().filter(|(name, _)| {
            let name = name.to_ascii_lowercase();
            !own.contains(&name.as_str()) && (is_trusted || name != "authorization" && name != "cookie")
        }));
        headers
    }

    fn note_response(&mut self, to: &Address, head: &Head) {
        let seconds = i64::try_from(tidebox_rt::realtime_ns() / 1_000_000_000).unwrap_or(0);
        for (_, value) in head.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")) {
            self.jar.set(&String::from_utf8_lossy(value), to, seconds);
        }
        let host = &to.host;
        self.log.all(&format!(
            "Connecting to {host} ({host})|{}|:{}... connected.\nHTTP request sent, awaiting response... ",
            head.ip,
            to.port()
        ));
        if self.options.shows_response {
            let text = head.text();
            let lines = String::from_utf8_lossy(&text).into_owned();
            let shown: String =
                lines.lines().filter(|line| !line.is_empty()).map(|line| format!("  {line}\n")).collect();
            self.log.all("\n");
            self.log.always(&shown);
        } else {
            self.log.all(&format!("{} {}\n", head.status, head.reason));
        }
    }

    fn failed(&mut self, to: &Address, failure: &Failure) -> FetchError {
        let (host, port) = (&to.host, to.port());
        let (code, again, text) = match failure {
            Failure::Disabled => (
                NETWORK,
                false,
                format!("wget: unable to resolve host address '{host}' (the network is disabled in this sandbox)"),
            ),
            Failure::Refused(rule, message) if rule == "url" => (1, false, format!("wget: {message}")),
            Failure::Refused(_, message) => (NETWORK, false, format!("wget: {message}")),
            Failure::Failed(kind, message) => match kind.as_str() {
                "resolve" => (NETWORK, false, format!("wget: unable to resolve host address '{host}'")),
                "connect" => (NETWORK, false, format!("Connecting to {host}:{port}... failed: {message}.")),
                "certificate" => {
                    let hint = if self.options.is_insecure {
                        "--no-check-certificate has no effect: the host of this sandbox always checks certificates."
                    } else {
                        "The host of this sandbox decides which certificates are trusted."
                    };
                    (CERTIFICATE, false, format!("ERROR: cannot verify {host}'s certificate: {message}\n{hint}"))
                }
                "tls" => (NETWORK, false, format!("Unable to establish SSL connection: {message}.")),
                "timeout" => (NETWORK, true, format!("failed: Connection timed out ({message}).")),
                "empty" => (NETWORK, true, "No data received.".to_owned()),
                "protocol" => (PROTOCOL, false, format!("wget: {message}")),
                _ => (NETWORK, true, format!("wget: {message}")),
            },
            Failure::Unreadable(message) => (FILE, false, format!("wget: {message}")),
            Failure::Confused(message) => (1, false, format!("wget: the host's network command failed: {message}")),
        };
        self.log.always(&format!("{text}\n"));
        FetchError { code, again }
    }

    fn refusal(&self, to: &Address, head: &Head) -> String {
        let reason = if head.reason.is_empty() { "(no description)" } else { &head.reason };
        match self.options.talk {
            super::options::Talk::Little => format!("{}:\n{} ERROR {}: {reason}.\n", to.url(), now(), head.status),
            _ => format!("{} ERROR {}: {reason}.\n\n", now(), head.status),
        }
    }

    fn looked(&mut self, head: &Head) -> Result<(), FetchError> {
        if head.status >= 400 {
            self.log.always("Remote file does not exist -- broken link!!!\n\n");
            return Err(FetchError { code: SERVER, again: false });
        }
        self.log.all("Remote file exists.\n\n");
        Ok(())
    }

    /// Returns whether `-nc` skips a URL.
    pub(super) fn is_there(&mut self, url: &str) -> bool {
        let path = self.named(&Address::parse(url));
        let there = self.options.keeps && self.options.document.is_none() && path.exists();
        if there {
            self.log.always(&format!("File '{}' already there; not retrieving.\n", path.display()));
        }
        there
    }
}

fn drain(mut transfer: Transfer) {
    while let Ok(Some(_)) = transfer.next_chunk() {}
}

/// Opens the file of `-O`.
pub(super) fn document(options: &Options) -> io::Result<Option<Box<dyn Write>>> {
    Ok(match options.document.as_deref() {
        None => None,
        Some(b"-") => Some(Box::new(io::stdout())),
        Some(name) if options.continues => {
            Some(Box::new(OpenOptions::new().create(true).append(true).open(bytes_path(name))?))
        }
        Some(name) => Some(Box::new(File::create(bytes_path(name))?)),
    })
}
