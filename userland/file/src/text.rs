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
    (b"#EXTM3U", "M3U playlist", "text/plain", Ending::Encoding),
    (b"From:", "news or mail", "message/rfc822", Ending::Encoding),
    (b"Return-Path:", "SMTP mail", "message/rfc822", Ending::Encoding),
    (b"Received:", "RFC 822 mail", "message/rfc822", Ending::Encoding),
    (b"MIME-Version:", "MIME entity", "text/plain", Ending::Encoding),
    (b"Path:", "news", "message/news", Ending::Encoding),
    (b"diff ", "diff output", "text/x-diff", Ending::Encoding),
    (b"*** ", "diff output", "text/x-diff", Ending::Encoding),
    (b"Only in ", "diff output", "text/x-diff", Ending::Encoding),
    (b"Common subdirectories: ", "diff output", "text/x-diff", Ending::Encoding),
    (b"Index:", "RCS/CVS diff output", "text/x-diff", Ending::Encoding),
    (b"[version]", "Windows setup INFormation", "application/x-setupscript", Ending::Alone),
    (b"[Version]", "Windows setup INFormation", "application/x-setupscript", Ending::Alone),
    (b"REGEDIT4", "Windows Registry text (Win95 or above)", "text/x-ms-regedit", Ending::Alone),
    (b"d8:announce", "BitTorrent file", "application/x-bittorrent", Ending::Alone),
    (b"dnl ", "M4 macro processor script", "text/x-m4", Ending::Encoding),
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
    if let Some(rest) = text.strip_prefix(b"{\\rtf") {
        let version = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let version = String::from_utf8_lossy(head(rest, version)).into_owned();
        let mut name = "Rich Text Format data".to_owned();
        if !version.is_empty() {
            name.push_str(&format!(", version {version}"));
        }
        for (word, kind) in [("\\ansi", "ANSI"), ("\\mac", "Apple Macintosh"), ("\\pca", "IBM PS/2, code page 850")] {
            if contains(head(rest, 16), word.as_bytes()) {
                name.push_str(&format!(", {kind}"));
            }
        }
        return Some(Text { name: name.into(), mime: "text/rtf", ending: Ending::Alone });
    }
    if text.starts_with(b"BEGIN:VCARD") {
        let version = text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"VERSION:"));
        let mut name = "vCard visiting card".to_owned();
        if let Some(version) = version {
            name.push_str(&format!(", version {}", String::from_utf8_lossy(version.trim_ascii())));
        }
        return Some(Text { name: name.into(), mime: "text/vcard", ending: Ending::Alone });
    }
    if text.starts_with(b"--- ") && contains(head(text, 4096), b"\n+++ ") && contains(head(text, 8192), b"\n@@ ") {
        return Some(Text::encoded("unified diff output", "text/x-diff"));
    }
    if let Some(rest) = text.strip_prefix(b"%!") {
        return Some(postscript(rest));
    }
    if let Some(line) = text.strip_prefix(b"begin ").and_then(|rest| rest.split(|byte| *byte == b'\n').next()) {
        let mut words = line.splitn(2, |byte| *byte == b' ');
        let is_mode = words.next().is_some_and(|mode| mode.len() >= 3 && mode.iter().all(u8::is_ascii_digit));
        if let Some(name) = words.next().filter(|_| is_mode) {
            let name = format!("uuencoded or xxencoded text, file name \"{}\"", String::from_utf8_lossy(name));
            return Some(Text { name: name.into(), mime: "text/plain", ending: Ending::Encoding });
        }
    }
    is_subtitles(text).then(|| Text::encoded("SubRip", "application/x-subrip"))
}

fn postscript(rest: &[u8]) -> Text {
    let mut name = "PostScript document text".to_owned();
    let line = rest.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    if let Some(level) = line.strip_prefix("PS-Adobe-") {
        let (level, kind) = level.split_once(' ').unwrap_or((level, ""));
        name.push_str(&format!(" conforming DSC level {level}"));
        for (word, shown) in [("EPS", "type EPS"), ("Query", "type Query"), ("ExitServer", "type ExitServer")] {
            if kind.starts_with(word) {
                name.push_str(&format!(", {shown}"));
            }
        }
    }
    Text { name: name.into(), mime: "application/postscript", ending: Ending::Alone }
}

/// `1`, then `00:00:01,000 --> 00:00:02,000`.
fn is_subtitles(text: &[u8]) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default().trim_ascii();
    let second = lines.next().unwrap_or_default();
    first == b"1" && second.len() >= 29 && second.get(12..17) == Some(b" --> ") && second.get(2) == Some(&b':')
}
