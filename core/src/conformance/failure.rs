//! Failures of conformance cases.

use std::fmt::Debug;

use crate::error::{Error, FileError};

/// Result of a case.
pub(super) type CaseResult<T = ()> = Result<T, CaseFailure>;

/// Maximum length of a value in a report, in characters.
const MAX_VALUE_CHARS: usize = 400;

/// An unmet requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseFailure {
    /// Expected value.
    pub expected: String,
    /// Actual value.
    pub actual: String,
}

impl CaseFailure {
    /// Creates a failure from the expected and the actual value.
    pub fn new(expected: impl Into<String>, actual: impl Into<String>) -> Self {
        Self { expected: expected.into(), actual: short(actual.into()) }
    }
}

impl From<Error> for CaseFailure {
    fn from(error: Error) -> Self {
        Self::new("a response", format!("the backend failed: {error} ({})", error.kind()))
    }
}

impl From<FileError> for CaseFailure {
    fn from(error: FileError) -> Self {
        Self::new("success", format!("an error: {error} ({})", error.code))
    }
}

/// Checks that `actual` equals `expected`.
pub(super) fn check_eq<T: PartialEq<E> + Debug, E: Debug>(what: &str, actual: &T, expected: &E) -> CaseResult {
    if actual == expected {
        return Ok(());
    }
    Err(CaseFailure::new(format!("{what}: {}", short(format!("{expected:?}"))), format!("{actual:?}")))
}

/// Checks a condition; `sentence` describes the expectation.
pub(super) fn check(sentence: &str, condition: bool, actual: &impl Debug) -> CaseResult {
    if condition { Ok(()) } else { Err(CaseFailure::new(sentence, format!("{actual:?}"))) }
}

/// Converts bytes to text for a readable report.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn short(text: String) -> String {
    match text.char_indices().nth(MAX_VALUE_CHARS) {
        Some((end, _)) => format!("{}... ({} bytes)", text.get(..end).unwrap_or_default(), text.len()),
        None => text,
    }
}
