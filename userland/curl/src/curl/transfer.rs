//! Transfer of one URL.

use std::io::Write;

use flate2::write::{MultiGzDecoder, ZlibDecoder};

use super::config::{Config, Target};
use super::cookie::Jar;
use super::fault::Fault;
use super::messages::Messages;
use super::output::Output;
use super::request::{self, Circumstances, Payload};
use super::write_out::Facts;
use super::{glob, meter};
use tidebox_host_http::address::Address;
use tidebox_host_http::{Head, Request, Transfer};

/// A transfer job.
pub(super) struct Job<'a> {
    pub(super) url: &'a str,
    /// The glob matches in the URL.
    pub(super) matched: &'a [String],
    pub(super) target: Option<&'a Target>,
    pub(super) upload: Option<&'a [u8]>,
    pub(super) number: usize,
}

/// State shared by all transfers of a command line.
pub(super) struct Shared<'a> {
    pub(super) config: &'a Config,
    pub(super) jar: Jar,
    /// Literal cookies of the command line.
    pub(super) cookies: Option<String>,
    pub(super) voice: Messages,
    pub(super) dump: Option<Output>,
}

/// Result of a transfer.
pub(super) struct Outcome {
    pub(super) result: Result<(), Fault>,
    pub(super) facts: Facts,
    pub(super) output: Output,
}

/// One attempt.
struct Attempt<'a, 'b, 'c> {
    shared: &'a mut Shared<'b>,
    job: &'a Job<'c>,
    started: u64,
    facts: Facts,
    length: Option<u64>,
    to_send: Option<u64>,
}

/// Makes one attempt at a job.
pub(super) fn run(shared: &mut Shared<'_>, job: &Job<'_>, output: Output) -> Outcome {
    let shows = !shared.config.is("silent") && !shared.config.is("no-progress-meter");
    if shows {
        shared.voice.write_line(&meter::begin());
    }
    let facts = Facts { url: job.url.to_owned(), number: job.number, ..Facts::default() };
    let mut attempt = Attempt { started: tidebox_rt::monotonic_ns(), facts, length: None, to_send: None, shared, job };
    let mut output = output;
    let result = attempt.run(&mut output);
    attempt.facts.total_us = attempt.passed_us();
    let Attempt { shared, mut facts, length, to_send, .. } = attempt;
    if shows {
        let done = meter::end(length, facts.downloaded, to_send, facts.uploaded, facts.total_us);
        shared.voice.write_line(if result.is_ok() { &done } else { "\n" });
    }
    facts.file = output.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    if let Err(fault) = &result {
        (facts.exit_code, facts.message) = (fault.code, fault.message.clone());
    }
    Outcome { result, facts, output }
}

impl Attempt<'_, '_, '_> {
    fn passed_us(&self) -> u64 {
        tidebox_rt::monotonic_ns().saturating_sub(self.started) / 1000
    }

    fn run(&mut self, output: &mut Output) -> Result<(), Fault> {
        let config = self.shared.config;
        let mut to = request::url(config, self.job.url, self.job.upload);
        self.facts.effective = to.url();
        if to.host.is_empty() {
            return Err(Fault::new(3, "URL using bad/illegal format or missing URL"));
        }
        if !matches!(to.scheme.as_str(), "http" | "https") {
            let message = format!("Protocol \"{}\" not supported or disabled in libcurl", to.scheme);
            return Err(Fault::new(1, message));
        }
        let first = to.clone();
        let mut payload = Payload::new(config, self.job.upload)?;
        let mut referer = config.referer.clone();
        loop {
            let is_trusted = config.is("location-trusted") || to.same_place(&first);
            let (transfer, head) = self.send(&to, &payload, is_trusted, referer.as_deref())?;
            let follows = config.is("location") || config.is("location-trusted");
            let next = head.redirect.clone().filter(|_| follows);
            self.receive_head(&to, &head, output, next.is_some())?;
            let Some(next) = next else {
                return self.receive(&to, transfer, &head, output);
            };
            if config.redirects.is_some_and(|most| self.facts.redirects >= most) {
                let most = config.redirects.unwrap_or(0);
                return Err(Fault::new(47, format!("Maximum ({most}) redirects followed")));
            }
            self.facts.redirects += 1;
            skip(transfer);
            self.facts.redirect_us = self.passed_us();
            if config.refers_itself {
                referer = Some(to.url().into_bytes());
            }
            payload.redirected(config, head.status);
            to = Address::parse(&next);
        }
    }

    /// Sends the request and waits for the response headers.
    fn send(
        &mut self,
        to: &Address,
        payload: &Payload,
        is_trusted: bool,
        referer: Option<&[u8]>,
    ) -> Result<(Transfer, Head), Fault> {
        let config = self.shared.config;
        let now = i64::try_from(tidebox_rt::realtime_ns() / 1_000_000_000).unwrap_or(0);
        let own = self.shared.cookies.clone().filter(|_| is_trusted);
        let cookies: Vec<String> = self.shared.jar.header(to, now).into_iter().chain(own).collect();
        let circumstances = Circumstances {
            to,
            is_trusted,
            cookies: (!cookies.is_empty()).then(|| cookies.join("; ")),
            referer,
            range: self.range(),
        };
        let length = payload.length()?;
        self.to_send = length.flatten();
        let passed_ms = self.passed_us() / 1000;
        let request = Request {
            method: payload.method.clone(),
            url: to.url(),
            headers: request::headers(config, payload, &circumstances),
            body: length,
            connect_ms: config.connect_ms,
            total_ms: config.total_ms.map(|most| most.saturating_sub(passed_ms)),
        };
        (self.facts.method, self.facts.effective) = (request.method.clone(), request.url.clone());
        self.facts.referer = String::from_utf8_lossy(referer.unwrap_or_default()).into_owned();
        self.facts.request_bytes +=
            request.headers.iter().map(|(name, value)| (name.len() + value.len() + 4) as u64).sum::<u64>();
        let mut body = payload.body.as_ref().map(crate::body::Body::open);
        let body: Option<&mut dyn std::io::Read> = body.as_mut().map(|body| body as _);
        match Transfer::begin(&request, body) {
            Ok((transfer, head)) => {
                self.shared.voice.sent(&request, to, &head);
                self.facts.connections += 1;
                self.facts.uploaded = transfer.sent;
                Ok((transfer, head))
            }
            Err(failure) => Err(Fault::from_wire(failure, to, self.passed_us() / 1000, None, None)),
        }
    }

    fn range(&self) -> Option<String> {
        let config = self.shared.config;
        match config.resume {
            Some(from) if self.job.upload.is_none() => {
                let from = from.unwrap_or_else(|| {
                    let name = file_name(config, self.job);
                    name.and_then(|name| std::fs::metadata(Output::to(&name, config.output_dir.as_deref()).path?).ok())
                        .map_or(0, |known| known.len())
                });
                (from > 0).then(|| format!("{from}-"))
            }
            _ => config.range.clone(),
        }
    }

    /// Processes the response headers.
    fn receive_head(&mut self, from: &Address, head: &Head, output: &mut Output, goes_on: bool) -> Result<(), Fault> {
        let config = self.shared.config;
        let text = head.text();
        self.facts.head_bytes += text.len() as u64;
        self.facts.head = head.clone();
        self.shared.voice.received(head);
        let now = i64::try_from(tidebox_rt::realtime_ns() / 1_000_000_000).unwrap_or(0);
        // Without `-c`, or `-b` with a file, curl keeps no cookies, even across redirects.
        let keeps = config.cookie_jar.is_some() || config.cookies.iter().any(|value| !value.contains(&b'='));
        let cookies = head.headers.iter().filter(|(name, _)| keeps && name.eq_ignore_ascii_case("set-cookie"));
        for (_, value) in cookies {
            self.shared.jar.set(&String::from_utf8_lossy(value), from, now);
        }
        if config.is("remote-header-name") && output.path.is_some() && !goes_on {
            self.rename(head, output);
        }
        if let Some(dump) = &mut self.shared.dump {
            dump.put(&text)?;
        }
        if config.is("include") || config.is("head") {
            output.put(&text)?;
        }
        Ok(())
    }

    /// Names the file as the server requests, never outside the target directory.
    fn rename(&self, head: &Head, output: &mut Output) {
        let Some(name) = head.header("content-disposition").and_then(disposition_name) else { return };
        let mut named = Output::to(&name, self.shared.config.output_dir.as_deref());
        (named.is_new, named.makes_folders) = (true, output.makes_folders);
        *output = named;
    }

    /// Copies the body to its destination.
    fn receive(
        &mut self,
        from: &Address,
        mut transfer: Transfer,
        head: &Head,
        output: &mut Output,
    ) -> Result<(), Fault> {
        let config = self.shared.config;
        let failing = head.status >= 400 && (config.is("fail") || config.is("fail-with-body"));
        let failed = || Fault::new(22, format!("The requested URL returned error: {}", head.status));
        if failing && !config.is("fail-with-body") {
            skip(transfer);
            return Err(failed());
        }
        self.length = head.header("content-length").and_then(|text| std::str::from_utf8(text).ok()?.parse().ok());
        if config.max_bytes.is_some_and(|most| self.length.is_some_and(|length| length > most)) {
            return Err(Fault::new(63, "Maximum file size exceeded"));
        }
        if config.resume.is_some() && self.job.upload.is_none() && self.range().is_some() && head.status != 206 {
            return Err(match head.status {
                // The file is already complete.
                416 => return Ok(()),
                _ => Fault::new(33, "HTTP server doesn't seem to support byte ranges. Cannot resume."),
            });
        }
        let mut coding = Decoder::new(config, head, output);
        loop {
            let missing = self.length.map(|length| length.saturating_sub(self.facts.downloaded));
            let next = transfer.next_chunk().map_err(|failure| {
                Fault::from_wire(failure, from, self.passed_us() / 1000, Some(self.facts.downloaded), missing)
            });
            let Some(piece) = next? else { break };
            self.facts.downloaded += piece.len() as u64;
            if config.max_bytes.is_some_and(|most| self.facts.downloaded > most) {
                return Err(Fault::new(63, "Maximum file size exceeded"));
            }
            coding.write(&piece)?;
        }
        coding.finish()?;
        output.finish()?;
        if failing { Err(failed()) } else { Ok(()) }
    }
}

/// Discards the body of a redirect.
fn skip(mut transfer: Transfer) {
    while let Ok(Some(_)) = transfer.next_chunk() {}
}

/// The body being written to the output.
enum Decoder<'a> {
    Plain(&'a mut Output),
    Gzip(MultiGzDecoder<&'a mut Output>),
    Deflate(ZlibDecoder<&'a mut Output>),
}

impl<'a> Decoder<'a> {
    fn new(config: &Config, head: &Head, output: &'a mut Output) -> Self {
        let coding = head.header("content-encoding").filter(|_| config.is("compressed")).unwrap_or_default();
        match coding.to_ascii_lowercase().as_slice() {
            b"gzip" | b"x-gzip" => Self::Gzip(MultiGzDecoder::new(output)),
            b"deflate" => Self::Deflate(ZlibDecoder::new(output)),
            _ => Self::Plain(output),
        }
    }

    fn write(&mut self, piece: &[u8]) -> Result<(), Fault> {
        let coded = match self {
            Self::Plain(output) => return output.put(piece),
            Self::Gzip(decoder) => decoder.write_all(piece),
            Self::Deflate(decoder) => decoder.write_all(piece),
        };
        coded.map_err(undecodable)
    }

    fn finish(self) -> Result<(), Fault> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Gzip(decoder) => decoder.finish().map(drop).map_err(undecodable),
            Self::Deflate(decoder) => decoder.finish().map(drop).map_err(undecodable),
        }
    }
}

fn undecodable(error: std::io::Error) -> Fault {
    Fault::new(61, format!("Error while processing content unencoding: {error}"))
}

/// The name in `Content-Disposition`, without directories.
pub(crate) fn disposition_name(value: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(value).into_owned();
    let at = text.to_ascii_lowercase().find("filename=")?;
    let rest = text.get(at + 9..)?;
    let name = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => rest.split(';').next()?.trim(),
    };
    let name = name.rsplit(['/', '\\']).next()?;
    (!name.is_empty() && name != "." && name != "..").then(|| name.as_bytes().to_vec())
}

/// The output file name of a job.
pub(super) fn file_name(config: &Config, job: &Job<'_>) -> Option<Vec<u8>> {
    match job.target? {
        Target::File(name) => Some(if config.is("globoff") { name.clone() } else { glob::fill(name, job.matched) }),
        Target::Remote => Some(Address::parse(job.url).file_name().as_bytes().to_vec()),
    }
}
