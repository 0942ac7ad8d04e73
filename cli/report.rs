//! The JSON objects of `exec --json`.

use crate::ExecuteResponse;
use serde::Serialize;

/// An [`ExecuteResponse`] as text. U+FFFD replaces invalid UTF-8, because JSON has no bytes.
#[derive(Debug, Serialize)]
pub(crate) struct Report<'a> {
    stdout: std::borrow::Cow<'a, str>,
    stderr: std::borrow::Cow<'a, str>,
    output: std::borrow::Cow<'a, str>,
    exit_code: Option<i32>,
    truncated: bool,
    stopped_by: Option<&'static str>,
    duration_ms: f64,
    cpu_time_ms: Option<f64>,
    peak_memory_bytes: u64,
}

impl<'a> Report<'a> {
    pub(crate) fn new(response: &'a ExecuteResponse) -> Self {
        Self {
            stdout: response.stdout_text(),
            stderr: response.stderr_text(),
            output: response.output_text(),
            exit_code: response.exit_code,
            truncated: response.truncated,
            stopped_by: response.stopped_by.map(crate::StopReason::as_str),
            // Microsecond resolution: most commands take less than a millisecond.
            duration_ms: response.duration.as_micros() as f64 / 1e3,
            cpu_time_ms: response.cpu_time.map(|time| time.as_micros() as f64 / 1e3),
            peak_memory_bytes: response.peak_memory_bytes,
        }
    }
}

/// An error of Tidebox itself.
#[derive(Debug, Serialize)]
pub(crate) struct ErrorReport {
    error: ErrorFields,
}

#[derive(Debug, Serialize)]
struct ErrorFields {
    kind: &'static str,
    message: String,
    retryable: bool,
}

impl ErrorReport {
    pub(crate) fn new(error: &anyhow::Error) -> Self {
        let cause = error.chain().find_map(|cause| cause.downcast_ref::<crate::Error>());
        // Other errors are those of options, such as a missing file.
        let kind = cause.map_or(crate::ErrorKind::InvalidRequest, crate::Error::kind);
        let retryable = cause.is_some_and(crate::Error::retryable);
        Self { error: ErrorFields { kind: kind.as_str(), message: super::format_error_chain(error), retryable } }
    }

    /// Creates the report of arguments that cannot be parsed, with the tip and the usage.
    pub(crate) fn of_usage(error: &clap::Error) -> Self {
        let text = error.to_string();
        let message = text.strip_prefix("error: ").unwrap_or(&text).trim_end().to_owned();
        let kind = crate::ErrorKind::InvalidRequest.as_str();
        Self { error: ErrorFields { kind, message, retryable: false } }
    }
}
