//! Conversion of library errors to gateway errors.

use std::error::Error;
use std::io;

use tidebox_core::network::{GatewayError, GatewayErrorKind};

/// Maximum number of causes in a message. Libraries wrap one error in another, each with little information.
const CAUSES: usize = 4;

/// Creates an internal error.
pub(crate) fn internal(what: &str, cause: &dyn Error) -> GatewayError {
    GatewayError::new(GatewayErrorKind::Internal, format!("{what}: {cause}"))
}

/// Creates the error for an expired timeout during an operation.
pub(crate) fn timed_out(doing: &str) -> GatewayError {
    GatewayError::new(GatewayErrorKind::Timeout, format!("timed out {doing}"))
}

/// Converts an error of the TLS handshake. Only an untrusted certificate can be fixed by the caller.
pub(crate) fn tls(host: &str, error: &io::Error) -> GatewayError {
    let cause = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match cause {
        Some(rustls::Error::InvalidCertificate(reason)) => GatewayError::new(
            GatewayErrorKind::Certificate,
            format!("the certificate of {host} is not trusted: {reason}"),
        ),
        Some(cause) => GatewayError::new(GatewayErrorKind::Tls, format!("TLS handshake with {host} failed: {cause}")),
        None => GatewayError::new(GatewayErrorKind::Tls, format!("TLS handshake with {host} failed: {error}")),
    }
}

/// Converts an error of hyper before (`answered` false) or after the head of the response.
pub(crate) fn http(error: &hyper::Error, answered: bool) -> GatewayError {
    let kind = if error.is_parse() {
        GatewayErrorKind::Protocol
    } else if answered {
        GatewayErrorKind::Receive
    } else if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
        GatewayErrorKind::Empty
    } else if error.is_user() || error.is_body_write_aborted() {
        GatewayErrorKind::Send
    } else {
        GatewayErrorKind::Receive
    };
    let what = match kind {
        GatewayErrorKind::Protocol => "the response is not HTTP, or its head is too large",
        GatewayErrorKind::Empty => "the server closed the connection without a response",
        GatewayErrorKind::Send => "the request could not be sent completely",
        _ if answered => "the response ended early",
        _ => "the connection closed early",
    };
    GatewayError::new(kind, format!("{what}: {}", causes(error)))
}

/// Formats an error and its causes in one line.
fn causes(error: &dyn Error) -> String {
    let mut causes_text = vec![error.to_string()];
    let mut next = error.source();
    while let Some(cause) = next.filter(|_| causes_text.len() < CAUSES) {
        let text = cause.to_string();
        if !causes_text.contains(&text) {
            causes_text.push(text);
        }
        next = cause.source();
    }
    causes_text.join(": ")
}
