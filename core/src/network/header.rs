//! What a guest may write into the head of a request.

use super::refusal::{Refusal, RefusalKind};

/// Longest method. The longest one registered has 16 letters.
const METHOD_BYTES: usize = 32;

/// Methods that no rule can allow: `CONNECT` opens a tunnel past the policy, and `TRACE` sends back the head of the
/// request with the credentials that were added to it.
const NEVER: &[&str] = &["CONNECT", "TRACE", "TRACK"];

/// Headers that describe the connection or the body's frame. The host writes them itself: two opinions about where a
/// request ends are how one request is smuggled inside another.
const OURS: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Whether a byte may be part of a method or of a header's name: `tchar` of RFC 9110, 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Whether bytes may be a header's value: RFC 9110, 5.5.
pub(super) fn is_value(value: &[u8]) -> bool {
    value.iter().all(|byte| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f))
}

/// Whether text may be a header's name.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(is_token)
}

pub(super) fn check_method(method: &str) -> Result<(), Refusal> {
    if method.is_empty() || method.len() > METHOD_BYTES || !method.bytes().all(is_token) {
        let message = format!("'{}' is no method; use GET, POST and their like", method.escape_default());
        return Err(Refusal::new(RefusalKind::Method, message));
    }
    if NEVER.iter().any(|never| never.eq_ignore_ascii_case(method)) {
        let message = format!("the method {method} is never allowed in a sandbox");
        return Err(Refusal::new(RefusalKind::Method, message));
    }
    Ok(())
}

/// Checks the headers of a request and that its head stays below `most` bytes.
pub(super) fn check_headers(headers: &[(String, Vec<u8>)], most: u32) -> Result<u64, Refusal> {
    let mut bytes: u64 = 0;
    for (name, value) in headers {
        let refuse = |message: String| Err(Refusal::new(RefusalKind::Header, message));
        if !is_name(name) || !is_value(value) {
            return refuse(format!(
                "the header '{}' is malformed; names are letters, digits and dashes, and values hold no line ends",
                name.escape_default()
            ));
        }
        let lower = name.to_ascii_lowercase();
        if OURS.contains(&lower.as_str()) || lower.starts_with("proxy-") {
            return refuse(format!(
                "the header {name} is set by the host and cannot be set in a sandbox; leave it out"
            ));
        }
        bytes = bytes.saturating_add(name.len() as u64).saturating_add(value.len() as u64).saturating_add(4);
    }
    if bytes > u64::from(most) {
        let message = format!("the headers of the request are {bytes} bytes, and {most} are allowed; send less");
        return Err(Refusal::new(RefusalKind::Limit, message));
    }
    Ok(bytes)
}
