//! Output of scripts.

use super::ShellTransport;
use super::script::Script;
use crate::error::{Error, ErrorKind, FileErrorCode, Result};
use crate::execute::{ExecuteResponse, StopReason};
use std::time::Duration;

/// The fields after `ok`.
#[derive(Debug)]
pub(super) struct ScriptReply {
    bytes: Vec<u8>,
    at: usize,
    /// The output may be incomplete because of the timeout or the output limit.
    pub(super) cut: bool,
}

impl ScriptReply {
    /// Returns the next field without its NUL byte; `None` if no complete one remains.
    pub(super) fn field(&mut self) -> Option<&[u8]> {
        let rest = self.bytes.get(self.at..)?;
        let length = memchr::memchr(0, rest)?;
        self.at += length + 1;
        rest.get(..length)
    }

    /// Returns the next field as a number; `None` also if it is not a number.
    pub(super) fn number<N: std::str::FromStr>(&mut self) -> Option<N> {
        std::str::from_utf8(self.field()?).ok()?.parse().ok()
    }

    /// Returns the next line without its line feed; `None` if no complete one remains.
    pub(super) fn line(&mut self) -> Option<&[u8]> {
        let rest = self.bytes.get(self.at..)?;
        let length = memchr::memchr(b'\n', rest)?;
        self.at += length + 1;
        rest.get(..length)
    }

    /// Returns the remaining bytes.
    pub(super) fn rest(self) -> Vec<u8> {
        let Self { mut bytes, at, .. } = self;
        bytes.drain(..at.min(bytes.len()));
        bytes
    }
}

/// Runs a script and parses its first field. The inner error has the code that the script reported.
pub(super) async fn run_script<H: ShellTransport + ?Sized>(
    host: &H,
    operation: &'static str,
    script: Script,
    time: Duration,
) -> Result<Result<ScriptReply, FileErrorCode>> {
    // The transport may detect by this very script whether it is binary-safe.
    let is_binary_safe = host.is_binary_safe();
    let response = host.run_script(script.finish(is_binary_safe), time).await?;
    let cut = response.truncated || response.stopped_by == Some(StopReason::Timeout);
    let bytes = if is_binary_safe { Some(response.stdout.clone()) } else { decode_hex(&response.stdout) };
    let Some(bytes) = bytes else { return Err(malformed_reply(operation, &response)) };
    let mut reply = ScriptReply { bytes, at: 0, cut };
    match reply.field() {
        Some(b"ok") => Ok(Ok(reply)),
        Some(code) => match ERROR_CODES.iter().find(|error_code| error_code.as_str().as_bytes() == code) {
            Some(error_code) => Ok(Err(*error_code)),
            None => Err(malformed_reply(operation, &response)),
        },
        None => Err(malformed_reply(operation, &response)),
    }
}

/// Error codes that scripts report.
const ERROR_CODES: [FileErrorCode; 7] = [
    FileErrorCode::FileNotFound,
    FileErrorCode::PermissionDenied,
    FileErrorCode::IsDirectory,
    FileErrorCode::NotADirectory,
    FileErrorCode::NotARegularFile,
    FileErrorCode::AlreadyExists,
    FileErrorCode::NoSpace,
];

/// Maximum number of bytes of a script's output in an error message.
const EXCERPT_BYTES: usize = 200;

fn malformed_reply(operation: &'static str, response: &ExecuteResponse) -> Error {
    let visible = response.output.get(..EXCERPT_BYTES).unwrap_or(&response.output);
    let (kind, message) = match response.stopped_by {
        Some(StopReason::Timeout) => (ErrorKind::Timeout, "the sandbox's shell did not respond in time"),
        _ => (ErrorKind::Protocol, "the sandbox's shell did not run a POSIX sh script correctly; check the image"),
    };
    let code = response.exit_code.map_or_else(|| "unknown".to_owned(), |code| code.to_string());
    Error::new(kind, operation, message)
        .with_context("exit_code", code)
        .with_context("output", String::from_utf8_lossy(visible))
}

fn decode_hex(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let digits: Vec<u8> = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let pairs = digits.chunks_exact(2);
    // An odd digit at the end is half a byte of truncated output.
    pairs
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect()
}
