//! What a backend or a provider was asked and what it answered, as a text file.

mod answer;
mod bytes;
mod call;
mod content;
mod failure;
mod named;
mod output;
mod time;

use serde::{Deserialize, Serialize};

pub(super) use answer::Answered;
pub(super) use bytes::Name;
pub(super) use call::Asked;

use crate::error::{Error, ErrorKind, Result};
use crate::path::SandboxPath;

/// The version of the format that this code writes, and the only one that it reads.
const VERSION: u64 = 1;

/// Recorded interactions with sandboxes, in the order in which they were begun.
///
/// The text form is JSON for people: one field a line, texts as lists of their lines, bytes that are not UTF-8 in base64,
/// times in seconds. A version control system shows which line of which output changed, and a person may edit it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cassette {
    interactions: Vec<Interaction>,
}

/// One call and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub(super) struct Interaction {
    /// `None` for calls of a provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sandbox: Option<String>,
    pub(super) call: Asked,
    pub(super) answer: Answered,
}

/// An interaction as it stands in a file, where the answer may be to something else.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    #[serde(default)]
    sandbox: Option<String>,
    call: Asked,
    answer: Answered,
}

impl TryFrom<Unchecked> for Interaction {
    type Error = String;

    fn try_from(unchecked: Unchecked) -> std::result::Result<Self, String> {
        let Unchecked { sandbox, call, answer } = unchecked;
        if !answer.suits(&call) {
            return Err(format!("`{}` cannot be the answer to `{}`", answer.method(), call.method()));
        }
        let of_provider = matches!(call, Asked::GetOrCreate { .. } | Asked::List { .. } | Asked::DeleteSandbox { .. });
        match (&sandbox, of_provider) {
            (None, false) => Err(format!("`{}` needs the field `sandbox`", call.method())),
            (Some(_), true) => Err(format!("`{}` is a provider's and has no field `sandbox`", call.method())),
            _ => Ok(Self { sandbox, call, answer }),
        }
    }
}

#[derive(Serialize)]
struct Written<'a> {
    tidebox_cassette: u64,
    interactions: &'a [Interaction],
}

/// Read first, and leniently, so that the file of a newer version is named as such.
#[derive(Deserialize)]
struct Header {
    tidebox_cassette: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    #[serde(rename = "tidebox_cassette")]
    _version: u64,
    interactions: Vec<Interaction>,
}

impl Cassette {
    /// A cassette with nothing on it.
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn of(interactions: Vec<Interaction>) -> Self {
        Self { interactions }
    }

    pub(super) fn interactions(&self) -> &[Interaction] {
        &self.interactions
    }

    /// Interactions on it.
    pub fn len(&self) -> usize {
        self.interactions.len()
    }

    /// Whether there is nothing on it.
    pub fn is_empty(&self) -> bool {
        self.interactions.is_empty()
    }

    /// Takes the text form.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] when it is not one, with the line; or when it is of another version.
    pub fn parse(text: &str) -> Result<Self> {
        let header: Header = serde_json::from_str(text).map_err(|error| unreadable(&error))?;
        match header.tidebox_cassette {
            Some(VERSION) => {}
            Some(other) => {
                let message = format!(
                    "the cassette has version {other} and this program reads version {VERSION}; use the Tidebox that \
                     wrote it, or record it again"
                );
                return Err(Error::new(ErrorKind::InvalidRequest, "read cassette", message));
            }
            None => {
                let message = "this is no cassette: the field `tidebox_cassette` with the version is missing";
                return Err(Error::new(ErrorKind::InvalidRequest, "read cassette", message));
            }
        }
        let Whole { interactions, .. } = serde_json::from_str(text).map_err(|error| unreadable(&error))?;
        Ok(Self { interactions })
    }

    /// The text form. Equal cassettes have equal texts.
    ///
    /// # Errors
    /// [`ErrorKind::Engine`] when memory runs out; there is no other reason.
    pub fn to_text(&self) -> Result<String> {
        let written = Written { tidebox_cassette: VERSION, interactions: &self.interactions };
        let mut text = serde_json::to_string_pretty(&written)
            .map_err(|error| Error::new(ErrorKind::Engine, "write cassette", error.to_string()).with_source(error))?;
        text.push('\n');
        Ok(text)
    }
}

fn unreadable(error: &serde_json::Error) -> Error {
    let message = format!("the cassette cannot be read: {error}; correct that line, or record it again");
    Error::new(ErrorKind::InvalidRequest, "read cassette", message).with_context("line", error.line().to_string())
}

fn unsuitable(method: &'static str) -> Error {
    Error::new(ErrorKind::Protocol, method, "the cassette holds the answer to another method here; record it again")
}

impl Name {
    fn to_path(&self) -> Result<SandboxPath> {
        Ok(SandboxPath::parse(&self.0)?)
    }
}
