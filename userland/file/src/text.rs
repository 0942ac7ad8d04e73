//! Text types that are detected by their start or by keywords.

use std::borrow::Cow;

use crate::source;

/// Suffix of a type description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// None: the name is complete.
    Alone,
    /// The encoding.
    Encoding,
    /// The encoding, and that it is executable.
    Executable,
}

/// A text type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) name: Cow<'static, str>,
    pub(crate) mime: &'static str,
    pub(crate) ending: Ending,
}

impl Text {
    pub(crate) fn alone(name: &'static str, mime: &'static str) -> Self {
        Self { name: name.into(), mime, ending: Ending::Alone }
    }

    pub(crate) fn encoded(name: &'static str, mime: &'static str) -> Self {
        Self { name: name.into(), mime, ending: Ending::Encoding }
    }

    pub(crate) fn executable(name: &'static str, mime: &'static str) -> Self {
        Self { name: name.into(), mime, ending: Ending::Executable }
    }
}

pub(crate) use crate::script::{shebang, unknown};

/// Prefixes of text types.
const BEGINNINGS: &[(&[u8], &str, &str, Ending)] = &[
    (b"-----BEGIN CERTIFICATE-----", "PEM certificate", "text/plain", Ending::Alone),
    (b"-----BEGIN CERTIFICATE REQUEST", "PEM certificate request", "text/plain", Ending::Alone),
    (b"-----BEGIN RSA PRIVATE", "PEM RSA private key", "text/plain", Ending::Alone),
    (b"-----BEGIN DSA PRIVATE", "PEM DSA private key", "text/plain", Ending::Alone),
    (b"-----BEGIN EC PRIVATE", "PEM EC private key", "text/plain", Ending::Alone),
    (b"-----BEGIN OPENSSH PRIVATE KEY-----", "OpenSSH private key", "text/plain", Ending::Alone),
    (b"ssh-rsa ", "OpenSSH RSA public key", "text/plain", Ending::Alone),
    (b"ssh-dss ", "OpenSSH DSA public key", "text/plain", Ending::Alone),
    (b"ssh-ed25519 ", "OpenSSH ED25519 public key", "text/plain", Ending::Alone),
    (b"ecdsa-sha2-nistp256 ", "OpenSSH ECDSA public key", "text/plain", Ending::Alone),
    (b"-----BEGIN PGP PUBLIC KEY BLOCK-", "PGP public key block", "application/pgp-keys", Ending::Alone),
    (b"-----BEGIN PGP PRIVATE KEY BLOCK-", "PGP private key block", "text/PGP", Ending::Alone),
    (b"-----BEGIN PGP MESSAGE-", "PGP message", "application/pgp-encrypted", Ending::Alone),
    (b"-----BEGIN PGP SIGNED MESSAGE-", "PGP signed message", "text/PGP", Ending::Alone),
    (b"-----BEGIN PGP SIGNATURE-", "PGP signature", "application/pgp-signature", Ending::Alone),
    (b"BEGIN:VCALENDAR", "vCalendar calendar file", "text/calendar", Ending::Alone),
    (b"BEGIN:VCARD", "vCard visiting card", "text/vcard", Ending::Alone),
    (b"{\\rtf", "Rich Text Format data", "text/rtf", Ending::Alone),
    (b"%!", "PostScript document text", "application/postscript", Ending::Alone),
    (b"From:", "news or mail", "message/rfc822", Ending::Encoding),
    (b"Return-Path:", "SMTP mail", "message/rfc822", Ending::Encoding),
    (b"Received:", "RFC 822 mail", "message/rfc822", Ending::Encoding),
    (b"MIME-Version:", "MIME entity", "text/plain", Ending::Encoding),
    (b"diff ", "diff output", "text/x-diff", Ending::Encoding),
    (b"*** ", "diff output", "text/x-diff", Ending::Encoding),
    (b"Index:", "RCS/CVS diff output", "text/x-diff", Ending::Encoding),
    (b".\\\"", "troff or preprocessor input", "text/troff", Ending::Encoding),
    (b"'\\\"", "troff or preprocessor input", "text/troff", Ending::Encoding),
    (b".TH ", "troff or preprocessor input", "text/troff", Ending::Encoding),
    (b".SH ", "troff or preprocessor input", "text/troff", Ending::Encoding),
];

/// Lower-case tags that mark a text as HTML at any position.
const TAGS: &[&[u8]] = &[
    b"<!doctype html",
    b"<head>",
    b"<head ",
    b"<title>",
    b"<title ",
    b"<html>",
    b"<html ",
    b"<script>",
    b"<script ",
    b"<style>",
    b"<style ",
    b"<table>",
    b"<table ",
    b"<a href=",
];

/// Returns the type of a text that does not start with `#!`.
pub(crate) fn find(text: &[u8]) -> Option<Text> {
    let beginning = || {
        let (_, name, mime, ending) = BEGINNINGS.iter().find(|(begin, ..)| text.starts_with(begin))?;
        Some(Text { name: (*name).into(), mime, ending: *ending })
    };
    markup(text).or_else(|| structured(text)).or_else(beginning).or_else(|| source::find(text))
}

/// The first bytes, to which the rules apply.
pub(crate) fn head(text: &[u8], count: usize) -> &[u8] {
    text.get(..count.min(text.len())).unwrap_or_default()
}

pub(crate) fn contains(text: &[u8], wanted: &[u8]) -> bool {
    memchr::memmem::find(text, wanted).is_some()
}

fn markup(text: &[u8]) -> Option<Text> {
    let svg = || Text::alone("SVG Scalable Vector Graphics image", "image/svg+xml");
    if let Some(rest) = text.strip_prefix(b"<?xml version=") {
        if contains(head(text, 4096), b"<svg") {
            return Some(svg());
        }
        let quote = *rest.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
        let version = rest.get(1..)?.split(|byte| *byte == quote).next()?;
        let name = format!("XML {} document", String::from_utf8_lossy(version));
        return Some(Text { name: name.into(), mime: "text/xml", ending: Ending::Encoding });
    }
    if text.starts_with(b"<svg") {
        return Some(svg());
    }
    if text.trim_ascii_start().starts_with(b"<?php") {
        return Some(Text::encoded("PHP script", "text/x-php"));
    }
    let small = head(text, 4096).to_ascii_lowercase();
    TAGS.iter().any(|tag| contains(&small, tag)).then(|| Text::encoded("HTML document", "text/html"))
}

/// Types that need more than the start of the text.
fn structured(text: &[u8]) -> Option<Text> {
    if text.starts_with(b"--- ") && contains(head(text, 4096), b"\n+++ ") && contains(head(text, 8192), b"\n@@ ") {
        return Some(Text::encoded("unified diff output", "text/x-diff"));
    }
    None
}
