//! Checks of the method and headers that a guest sends.

use super::denied::{DenyReason, RequestDenied};

/// Maximum length of a method. The longest registered one has 16 letters.
const METHOD_BYTES: usize = 32;

/// Methods that no rule can allow: `CONNECT` opens a tunnel that bypasses the policy, and `TRACE` returns the head of the request
/// with the added credentials.
const FORBIDDEN_METHODS: &[&str] = &["CONNECT", "TRACE", "TRACK"];

/// Headers that describe the connection or the body's framing. Only the host sets them: two different views of a request's end
/// allow request smuggling.
const HOST_HEADERS: &[&str] = &[
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

/// Returns whether a byte may be part of a method or a header name: `tchar` of RFC 9110, 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Returns whether bytes are a valid header value: RFC 9110, 5.5.
pub(super) fn is_value(value: &[u8]) -> bool {
    value.iter().all(|byte| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f))
}

/// Returns whether text is a valid header name.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(is_token)
}

pub(super) fn check_method(method: &str) -> Result<(), RequestDenied> {
    if method.is_empty() || method.len() > METHOD_BYTES || !method.bytes().all(is_token) {
        let message = format!("'{}' is not a method; use a method such as GET or POST", method.escape_default());
        return Err(RequestDenied::new(DenyReason::Method, message));
    }
    if FORBIDDEN_METHODS.iter().any(|never| never.eq_ignore_ascii_case(method)) {
        let message = format!("the method {method} is never allowed in a sandbox");
        return Err(RequestDenied::new(DenyReason::Method, message));
    }
    Ok(())
}

/// Checks the headers of a request and that its head is at most `max_bytes` long.
pub(super) fn check_headers(headers: &[(String, Vec<u8>)], max_bytes: u32) -> Result<u64, RequestDenied> {
    let mut bytes: u64 = 0;
    for (name, value) in headers {
        let deny = |message: String| Err(RequestDenied::new(DenyReason::Header, message));
        if !is_name(name) || !is_value(value) {
            return deny(format!(
                "the header '{}' is malformed; names are letters, digits and dashes, and values contain no newlines",
                name.escape_default()
            ));
        }
        let lower = name.to_ascii_lowercase();
        if HOST_HEADERS.contains(&lower.as_str()) || lower.starts_with("proxy-") {
            return deny(format!("the header {name} is set by the host and cannot be set in a sandbox; omit it"));
        }
        bytes = bytes.saturating_add(name.len() as u64).saturating_add(value.len() as u64).saturating_add(4);
    }
    if bytes > u64::from(max_bytes) {
        let message = format!("the request headers are {bytes} bytes and the limit is {max_bytes}; send less");
        return Err(RequestDenied::new(DenyReason::Limit, message));
    }
    Ok(bytes)
}
