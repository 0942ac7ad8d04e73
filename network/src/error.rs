//! Errors of the libraries as values with a cause.

use std::error::Error;
use std::io;

use tidebox_core::network::{GatewayError, GatewayErrorKind};

/// How many causes are told. Libraries wrap one error in another, each with a word more.
const CAUSES: usize = 4;

/// An error of our own side.
pub(crate) fn internal(what: &str, cause: &dyn Error) -> GatewayError {
    GatewayError::new(GatewayErrorKind::Internal, format!("{what}: {cause}"))
}

/// The time was up while something was being done.
pub(crate) fn timed_out(doing: &str) -> GatewayError {
    GatewayError::new(GatewayErrorKind::Timeout, format!("the time was up while {doing}"))
}

/// What TLS reports. The certificate is the caller's to mend, everything else the server's.
pub(crate) fn tls(host: &str, error: &io::Error) -> GatewayError {
    let cause = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match cause {
        Some(rustls::Error::InvalidCertificate(reason)) => GatewayError::new(
            GatewayErrorKind::Certificate,
            format!("the certificate of {host} is not trusted: {reason}"),
        ),
        Some(cause) => GatewayError::new(GatewayErrorKind::Tls, format!("no encryption with {host}: {cause}")),
        None => GatewayError::new(GatewayErrorKind::Tls, format!("no encryption with {host}: {error}")),
    }
}

/// What hyper reports before (`answered` false) or after the head of the reply.
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
        GatewayErrorKind::Protocol => "the server's answer is not HTTP, or its head is too large",
        GatewayErrorKind::Empty => "the server closed the connection without an answer",
        GatewayErrorKind::Send => "the request could not be sent to its end",
        _ if answered => "the reply broke off",
        _ => "the connection broke off",
    };
    GatewayError::new(kind, format!("{what}: {}", causes(error)))
}

/// An error and what caused it, in one line.
fn causes(error: &dyn Error) -> String {
    let mut told = vec![error.to_string()];
    let mut next = error.source();
    while let Some(cause) = next.filter(|_| told.len() < CAUSES) {
        let text = cause.to_string();
        if !told.contains(&text) {
            told.push(text);
        }
        next = cause.source();
    }
    told.join(": ")
}
