//! The request for a command line.

use super::config::Config;
use super::fault::Fault;
use super::{data, form};
use crate::body::{Body, Part};
use tidebox_host_http::address::{Address, base64};

/// User agent. Servers handle curl specially, so this is the real name.
pub(super) const VERSION: &str = "7.88.1";

/// Connection headers, which the host controls. They have no visible effect.
const CONNECTION: &[&str] = &["connection", "expect", "keep-alive", "te", "content-length", "proxy-connection"];

/// The request body.
#[derive(Clone, Debug, Default)]
pub(super) struct Payload {
    pub(super) method: String,
    pub(super) body: Option<Body>,
    pub(super) content_type: Option<String>,
    /// A form or data; a redirect may change the method to `GET`.
    is_post: bool,
    /// Sent chunked even if its length is known.
    pub(super) is_chunked: bool,
}

impl Payload {
    /// The request for one URL with this upload.
    pub(super) fn new(config: &Config, upload: Option<&[u8]>) -> Result<Self, Fault> {
        let has_data = !config.data.is_empty();
        let mut payload = if let Some(name) = upload {
            let from = config.resume.flatten().unwrap_or(0);
            let part = if name == b"-" || name == b"." { Part::Stdin } else { Part::File(name.to_vec(), from) };
            Self { method: "PUT".to_owned(), body: Some(Body(vec![part])), ..Self::default() }
        } else if !config.form.is_empty() {
            let boundary = boundary();
            Self {
                method: "POST".to_owned(),
                body: Some(form::body(&config.form, &boundary)),
                content_type: Some(format!("multipart/form-data; boundary={boundary}")),
                is_post: true,
                is_chunked: false,
            }
        } else if has_data && !config.is("get") && !config.is("head") {
            let kind = if config.is_json { "application/json" } else { "application/x-www-form-urlencoded" };
            Self {
                method: "POST".to_owned(),
                body: Some(Body::bytes(data::join(&config.data, config.is_json))),
                content_type: Some(kind.to_owned()),
                is_post: true,
                is_chunked: false,
            }
        } else {
            let method = if config.is("head") { "HEAD" } else { "GET" };
            Self { method: method.to_owned(), ..Self::default() }
        };
        if let Some(method) = &config.method {
            payload.method.clone_from(method);
        }
        payload.is_chunked = config.headers.iter().any(|header| {
            named(header).is_some_and(|(name, value)| name == "transfer-encoding" && value == b"chunked")
        });
        Ok(payload)
    }

    /// Its length for the host: `None` without a body, `Some(None)` if it is chunked.
    pub(super) fn length(&self) -> Result<Option<Option<u64>>, Fault> {
        let Some(body) = &self.body else { return Ok(None) };
        let length = body.length().map_err(|error| {
            Fault::new(
                26,
                format!(
                    "Failed to open/read local data from file/application: {}",
                    tidebox_gnu::message::error_text(&error)
                ),
            )
        })?;
        Ok(Some(length.filter(|_| !self.is_chunked)))
    }

    /// Drops the body if a redirect changes the method to `GET`.
    pub(super) fn redirected(&mut self, config: &Config, status: u16) {
        let keeps = match status {
            301 => config.is("post301"),
            302 => config.is("post302"),
            303 => config.is("post303"),
            _ => true,
        };
        let turns = !keeps && (self.is_post || status == 303 && self.method != "HEAD");
        if turns {
            (self.body, self.content_type, self.is_post) = (None, None, false);
            if config.method.is_none() {
                self.method = "GET".to_owned();
            }
        }
    }
}

/// Splits `Name: value` into the lowercase name and the value.
fn named(header: &[u8]) -> Option<(String, &[u8])> {
    let (name, value) = tidebox_host_http::split(header, b':');
    header.contains(&b':').then(|| (String::from_utf8_lossy(name).trim().to_ascii_lowercase(), value.trim_ascii()))
}

fn boundary() -> String {
    let mut random = [0; 8];
    // Without randomness the boundary is constant, which works unless a file contains it.
    let _ = tidebox_rt::random(&mut random);
    format!("------------------------{:016x}", u64::from_le_bytes(random))
}

/// Input of the headers besides the options.
pub(super) struct Circumstances<'a> {
    pub(super) to: &'a Address,
    /// Still the origin given on the command line.
    pub(super) is_trusted: bool,
    pub(super) cookies: Option<String>,
    pub(super) referer: Option<&'a [u8]>,
    pub(super) range: Option<String>,
}

/// The headers in curl's order, without framing headers.
pub(super) fn headers(config: &Config, payload: &Payload, now: &Circumstances<'_>) -> Vec<(String, Vec<u8>)> {
    let custom: Vec<Custom<'_>> = config.headers.iter().filter_map(|header| Custom::parse(header)).collect();
    let mut headers: Vec<(String, Vec<u8>)> = Vec::new();
    let mut add = |name: &str, value: Vec<u8>| {
        if !custom.iter().any(|custom| custom.name.eq_ignore_ascii_case(name)) {
            headers.push((name.to_owned(), value));
        }
    };
    if let Some(credential) = authorization(config, now) {
        add("Authorization", credential);
    }
    if let Some(range) = &now.range {
        add("Range", format!("bytes={range}").into_bytes());
    }
    match &config.agent {
        Some(agent) if agent.is_empty() => {}
        Some(agent) => add("User-Agent", agent.clone()),
        None => add("User-Agent", format!("curl/{VERSION}").into_bytes()),
    }
    add("Accept", if config.is_json { b"application/json".to_vec() } else { b"*/*".to_vec() });
    if let Some(referer) = now.referer {
        add("Referer", referer.to_vec());
    }
    if config.is("compressed") {
        add("Accept-Encoding", b"deflate, gzip".to_vec());
    }
    if let Some(cookies) = &now.cookies {
        add("Cookie", cookies.clone().into_bytes());
    }
    if let Some(kind) = payload.content_type.as_ref().filter(|kind| kind.starts_with("multipart/")) {
        // The boundary belongs to the body, whatever other headers are set.
        add("Content-Type", kind.clone().into_bytes());
    }
    for header in &custom {
        let personal = ["authorization", "cookie"].iter().any(|name| header.name.eq_ignore_ascii_case(name));
        if let Some(value) = header.value.filter(|_| (now.is_trusted || !personal) && header.is_sent(now.to)) {
            headers.push((header.name.to_owned(), value.to_vec()));
        }
    }
    let has_kind = custom.iter().any(|custom| custom.name.eq_ignore_ascii_case("content-type"));
    if let Some(kind) = payload.content_type.as_ref().filter(|kind| !has_kind && !kind.starts_with("multipart/")) {
        headers.push(("Content-Type".to_owned(), kind.clone().into_bytes()));
    }
    headers
}

fn authorization(config: &Config, now: &Circumstances<'_>) -> Option<Vec<u8>> {
    let from_url = || now.to.credentials();
    let user = config.user.as_ref().filter(|_| now.is_trusted);
    if let Some(bearer) = config.bearer.as_ref().filter(|_| now.is_trusted) {
        return Some([b"Bearer ", bearer.as_slice()].concat());
    }
    let user = match user {
        Some(user) if user.contains(&b':') => user.clone(),
        Some(user) => [user.as_slice(), b":"].concat(),
        None => from_url()?,
    };
    Some(format!("Basic {}", base64(&user)).into_bytes())
}

/// A header of the command line.
struct Custom<'a> {
    name: &'a str,
    /// `None`: omit curl's header with that name.
    value: Option<&'a [u8]>,
}

impl<'a> Custom<'a> {
    /// `Name: value`, `Name:` to omit, `Name;` for an empty value.
    fn parse(header: &'a [u8]) -> Option<Self> {
        if let Some(at) = header.iter().position(|byte| *byte == b':') {
            let name = std::str::from_utf8(header.get(..at)?).ok()?.trim();
            let value = header.get(at + 1..)?.trim_ascii();
            return Some(Self { name, value: (!value.is_empty()).then_some(value) });
        }
        let name = std::str::from_utf8(header.strip_suffix(b";")?).ok()?.trim();
        Some(Self { name, value: Some(b"") })
    }

    fn is_sent(&self, to: &Address) -> bool {
        let name = self.name.to_ascii_lowercase();
        let own_host = name == "host" && self.value.is_some_and(|value| value == to.authority().as_bytes());
        let chunked = name == "transfer-encoding" && self.value == Some(b"chunked");
        !own_host && !chunked && !CONNECTION.contains(&name.as_str())
    }
}

/// The request URL: with the data of `-G` as its query, and with the file name after a directory's slash.
pub(super) fn url(config: &Config, url: &str, upload: Option<&[u8]>) -> Address {
    let mut address = Address::parse(url);
    if config.is("get") && !config.data.is_empty() {
        let data = String::from_utf8_lossy(&data::join(&config.data, false)).into_owned();
        address.query = Some(match address.query.take().filter(|query| !query.is_empty()) {
            Some(query) => format!("{query}&{data}"),
            None => data,
        });
    }
    let is_folder = address.path.is_empty() || address.path.ends_with('/');
    if let Some(upload) = upload.filter(|upload| is_folder && *upload != b"-" && *upload != b".") {
        let name = upload.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let slash = if address.path.is_empty() { "/" } else { "" };
        address.path = format!("{}{slash}{}", address.path, tidebox_host_http::address::encode(name));
    }
    address
}
