//! How a case says that a promise does not hold.

use std::fmt::Debug;

use crate::error::{Error, FileError};

/// What a case returns.
pub(super) type Verdict<T = ()> = Result<T, Fault>;

/// How much of a value a report repeats, in characters.
const SHOWN_CHARACTERS: usize = 400;

/// A promise that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What should have been.
    pub expected: String,
    /// What was.
    pub seen: String,
}

impl Fault {
    /// A promise that does not hold.
    pub fn new(expected: impl Into<String>, seen: impl Into<String>) -> Self {
        Self { expected: expected.into(), seen: short(seen.into()) }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::new("an answer", format!("the backend failed: {error} ({})", error.kind()))
    }
}

impl From<FileError> for Fault {
    fn from(error: FileError) -> Self {
        Self::new("success", format!("a refusal: {error} ({})", error.code))
    }
}

/// Holds `seen` against `expected`.
pub(super) fn same<T: PartialEq<E> + Debug, E: Debug>(what: &str, seen: &T, expected: &E) -> Verdict {
    if seen == expected {
        return Ok(());
    }
    Err(Fault::new(format!("{what}: {}", short(format!("{expected:?}"))), format!("{seen:?}")))
}

/// Holds a sentence against what was seen.
pub(super) fn holds(sentence: &str, good: bool, seen: &impl Debug) -> Verdict {
    if good { Ok(()) } else { Err(Fault::new(sentence, format!("{seen:?}"))) }
}

/// Bytes as text, so that a report can be read.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn short(text: String) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}... ({} bytes)", text.get(..end).unwrap_or_default(), text.len()),
        None => text,
    }
}
