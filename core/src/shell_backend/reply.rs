//! What scripts answer.

use super::ShellHost;
use super::script::Script;
use crate::error::{Error, ErrorKind, FileErrorCode, Result};
use crate::execute::{ExecuteResponse, StopReason};
use std::time::Duration;

/// The fields behind `ok`.
#[derive(Debug)]
pub(super) struct Reply {
    bytes: Vec<u8>,
    at: usize,
    /// There may be more that did not arrive: time was up, or there was too much of it.
    pub(super) cut: bool,
}

impl Reply {
    /// The next field without its NUL byte; `None` when no whole one is left.
    pub(super) fn field(&mut self) -> Option<&[u8]> {
        let rest = self.bytes.get(self.at..)?;
        let length = memchr::memchr(0, rest)?;
        self.at += length + 1;
        rest.get(..length)
    }

    /// The next field as a number; `None` also when it is none.
    pub(super) fn number<N: std::str::FromStr>(&mut self) -> Option<N> {
        std::str::from_utf8(self.field()?).ok()?.parse().ok()
    }

    /// The next line without its line feed; `None` when no whole one is left.
    pub(super) fn line(&mut self) -> Option<&[u8]> {
        let rest = self.bytes.get(self.at..)?;
        let length = memchr::memchr(b'\n', rest)?;
        self.at += length + 1;
        rest.get(..length)
    }

    /// What is left, with any bytes in it.
    pub(super) fn rest(self) -> Vec<u8> {
        let Self { mut bytes, at, .. } = self;
        bytes.drain(..at.min(bytes.len()));
        bytes
    }
}

/// Runs a script and reads its first field. The inner error is a refusal by its code.
pub(super) async fn ask<H: ShellHost + ?Sized>(
    host: &H,
    operation: &'static str,
    script: Script,
    time: Duration,
) -> Result<Result<Reply, FileErrorCode>> {
    // A host may find out by this very script that it does.
    let passes_bytes = host.passes_bytes();
    let response = host.run_script(script.finish(passes_bytes), time).await?;
    let cut = response.truncated || response.stopped_by == Some(StopReason::Timeout);
    let bytes = if passes_bytes { Some(response.stdout.clone()) } else { unhex(&response.stdout) };
    let Some(bytes) = bytes else { return Err(senseless(operation, &response)) };
    let mut reply = Reply { bytes, at: 0, cut };
    match reply.field() {
        Some(b"ok") => Ok(Ok(reply)),
        Some(code) => match REFUSALS.iter().find(|refusal| refusal.as_str().as_bytes() == code) {
            Some(refusal) => Ok(Err(*refusal)),
            None => Err(senseless(operation, &response)),
        },
        None => Err(senseless(operation, &response)),
    }
}

/// The refusals that scripts know.
const REFUSALS: [FileErrorCode; 7] = [
    FileErrorCode::FileNotFound,
    FileErrorCode::PermissionDenied,
    FileErrorCode::IsDirectory,
    FileErrorCode::NotADirectory,
    FileErrorCode::NotARegularFile,
    FileErrorCode::AlreadyExists,
    FileErrorCode::NoSpace,
];

/// How much of what a script wrote an error repeats, in bytes.
const SHOWN_BYTES: usize = 200;

fn senseless(operation: &'static str, response: &ExecuteResponse) -> Error {
    let shown = response.output.get(..SHOWN_BYTES).unwrap_or(&response.output);
    let (kind, message) = match response.stopped_by {
        Some(StopReason::Timeout) => (ErrorKind::Timeout, "the sandbox's shell did not answer in time"),
        _ => (ErrorKind::Protocol, "the sandbox's shell did not run a script of sh as POSIX says; look at its image"),
    };
    let code = response.exit_code.map_or_else(|| "unknown".to_owned(), |code| code.to_string());
    Error::new(kind, operation, message)
        .with_context("exit_code", code)
        .with_context("output", String::from_utf8_lossy(shown))
}

fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let digits: Vec<u8> = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let pairs = digits.chunks_exact(2);
    // An odd digit at the end is half a byte of an answer that was cut.
    pairs
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect()
}
