//! Recorded errors of file operations and of the backend.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::bytes::Text;
use super::output::{self, Event};
use super::response::text;
use super::stable_name::ByName;
use crate::error::{Error, ErrorKind, FileError, FileErrorCode};
use crate::execute::OutputChunk;
use crate::layer::redaction::Redaction;

/// A [`FileError`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::layer) struct RecordedFileError {
    code: ByName<FileErrorCode>,
    message: Text,
}

impl RecordedFileError {
    pub(super) fn new(error: &FileError, redaction: &Redaction) -> Self {
        Self { code: ByName(error.code), message: text(&error.message, redaction) }
    }

    pub(super) fn replay(self) -> FileError {
        FileError::new(self.code.0, self.message.0)
    }
}

/// An [`Error`]. Its causes are recorded as their messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::layer) struct RecordedError {
    kind: ByName<ErrorKind>,
    operation: String,
    message: Text,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    context: Vec<(String, String)>,
    /// From the nearest cause to the root cause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    causes: Vec<String>,
    /// Output of the command before the failure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    events: Vec<Event>,
}

impl RecordedError {
    pub(super) fn new(error: &Error, events: &[OutputChunk], redaction: &Redaction) -> Self {
        let plain = |text: &str| redaction.text(text.to_owned());
        let first = std::error::Error::source(error);
        let causes = std::iter::successors(first, |cause| cause.source());
        Self {
            kind: ByName(error.kind()),
            operation: error.operation().to_owned(),
            message: text(error.message(), redaction),
            context: error.context().iter().map(|(name, value)| (plain(name), plain(value))).collect(),
            causes: causes.map(|cause| plain(&cause.to_string())).collect(),
            events: output::events(events, redaction),
        }
    }

    pub(super) fn replay(self) -> (Vec<OutputChunk>, Error) {
        let events = self.events.into_iter().map(OutputChunk::from).collect();
        let mut error = Error::new(self.kind.0, self.operation, self.message.0);
        for (name, value) in self.context {
            error = error.with_context(name, value);
        }
        let cause = self.causes.into_iter().rev().fold(None, |cause, message| Some(Box::new(Cause { message, cause })));
        if let Some(cause) = cause {
            error = error.with_source(cause as Box<dyn std::error::Error + Send + Sync>);
        }
        (events, error)
    }
}

/// The message of an error of another type, as recorded.
#[derive(Debug)]
struct Cause {
    message: String,
    cause: Option<Box<Self>>,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Cause {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn std::error::Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_keeps_its_context_and_causes() {
        let inner = Error::new(ErrorKind::Protocol, "parse", "no JSON").with_source(fmt::Error);
        let error = Error::new(ErrorKind::Unavailable, "execute", "token t0p was not\naccepted")
            .with_context("status", "503")
            .with_source(inner);
        let redaction = Redaction::new().secret("T", crate::Secret::new("t0p"));
        let failed = RecordedError::new(&error, &[], &redaction);
        let written = serde_json::to_string(&failed).unwrap();
        let (_, replayed) = serde_json::from_str::<RecordedError>(&written).unwrap().replay();
        assert_eq!(replayed.to_string(), error.to_string().replace("t0p", "[redacted:T]"));
        assert_eq!((replayed.kind(), replayed.retryable()), (ErrorKind::Unavailable, true));
        let first = std::error::Error::source(&replayed).unwrap();
        assert_eq!(first.to_string(), "parse: no JSON");
        assert_eq!(first.source().unwrap().to_string(), fmt::Error.to_string());
        assert!(first.source().unwrap().source().is_none());
    }
}
