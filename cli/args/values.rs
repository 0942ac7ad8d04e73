//! Values of options. An error contains the expected format: clap adds the option and the value.

use std::net::SocketAddr;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::serve::PublicUrl;
use super::{MountArg, PublishedPort, Upload};
use crate::MountMode;
use crate::emulators::EMULATORS;

/// Returns a parser of the names of `values`.
pub(super) fn one_of<T, const N: usize>(values: [T; N], name: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let find = move |text: String| {
        let found = values.into_iter().find(|value| name(*value) == text);
        found.ok_or("unknown name")
    };
    PossibleValuesParser::new(values.map(name)).try_map(find)
}

pub(super) fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let local = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let parsed = local.as_deref().unwrap_or(text).parse();
    parsed.map_err(|_| "expected ADDRESS:PORT, for example 127.0.0.1:4000".to_owned())
}

/// Parses a URL, or `PROVIDER=URL`.
pub(super) fn parse_public_url(text: &str) -> Result<PublicUrl, String> {
    let (provider, url) = match text.split_once('=') {
        Some((name, url)) if !name.contains(':') => (Some(name), url),
        _ => (None, text),
    };
    if let Some(name) = provider.filter(|name| !EMULATORS.contains(name)) {
        return Err(format!("unknown provider {name}"));
    }
    match url.starts_with("http://") || url.starts_with("https://") {
        true => Ok(PublicUrl { provider: provider.map(str::to_owned), url: url.to_owned() }),
        false => Err("expected a URL, for example https://sandboxes.example.com".to_owned()),
    }
}

/// Parses `HOST:GUEST`, split at the last colon: host paths may contain one (`C:\...`).
pub(super) fn parse_upload(text: &str) -> Result<Upload, String> {
    match text.rsplit_once(':') {
        Some((host, guest)) if !host.is_empty() && !guest.is_empty() => {
            Ok(Upload { host: host.into(), guest: guest.to_owned() })
        }
        _ => Err("expected HOST:GUEST, for example data.csv:/workspace/data.csv".to_owned()),
    }
}

/// Parses `HOST:GUEST` with an optional suffix `:ro` (default), `:rw` or `:cow`.
pub(super) fn parse_mount(text: &str) -> Result<MountArg, String> {
    let (paths, mode) = match text.rsplit_once(':') {
        Some((paths, "ro")) => (paths, MountMode::ReadOnly),
        Some((paths, "rw")) => (paths, MountMode::ReadWrite),
        Some((paths, "cow")) => (paths, MountMode::CopyOnWrite),
        _ => (text, MountMode::ReadOnly),
    };
    match paths.rsplit_once(':') {
        Some((host, guest)) if !host.is_empty() && !guest.is_empty() => {
            Ok(MountArg { host: host.into(), guest: guest.to_owned(), mode })
        }
        _ => Err("expected HOST:GUEST[:ro|rw|cow], for example .:/workspace/repo:cow".to_owned()),
    }
}

/// Parses `PORT` or `PORT:HOST_PORT`.
pub(super) fn parse_published_port(text: &str) -> Result<PublishedPort, String> {
    let (port, host_port) = text.split_once(':').unwrap_or((text, "0"));
    match (port.parse(), host_port.parse()) {
        (Ok(port), Ok(host_port)) if port != 0 => Ok(PublishedPort { port, host_port }),
        _ => Err("expected PORT or PORT:HOST_PORT, for example 8000 or 8000:3000".to_owned()),
    }
}

pub(super) fn parse_variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

/// Parses a positive number of seconds; fractions are allowed.
pub(crate) fn parse_seconds(text: &str) -> Result<Duration, String> {
    text.parse::<f64>()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| "expected seconds greater than 0, for example 2 or 0.5".to_owned())
}

/// Parses a name that needs no quotes in URLs, JSON and TOML.
#[cfg(feature = "mcp")]
pub(super) fn parse_name(name: &str) -> Result<String, String> {
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if (1..=64).contains(&name.len()) && name.bytes().all(is_name_byte) {
        return Ok(name.to_owned());
    }
    Err("use 1 to 64 letters, digits, hyphens and underscores".to_owned())
}
