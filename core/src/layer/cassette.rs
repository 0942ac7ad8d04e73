//! Recorded calls of a backend or a provider and their responses, as a text file.

mod bytes;
mod call;
mod content;
mod failure;
mod output;
mod process;
mod response;
mod stable_name;
mod time;

use serde::{Deserialize, Serialize};

pub(super) use bytes::Name;
pub(super) use call::RecordedCall;
pub(super) use response::RecordedResponse;

use crate::error::{Error, ErrorKind, Result};
use crate::path::SandboxPath;

/// Version of the format. Other versions are rejected.
const VERSION: u64 = 1;

/// Recorded interactions with sandboxes, in the order in which they started.
///
/// The text form is readable JSON: one field per line, texts as lists of their lines, bytes that are not UTF-8 in base64, times
/// in seconds. A diff shows the changed lines of an output, and the file can be edited by hand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cassette {
    interactions: Vec<Interaction>,
}

/// One call and its response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawInteraction")]
pub(super) struct Interaction {
    /// `None` for calls of a provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sandbox: Option<String>,
    pub(super) call: RecordedCall,
    pub(super) answer: RecordedResponse,
}

/// An interaction as read from a file, whose response may not match the call.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawInteraction {
    #[serde(default)]
    sandbox: Option<String>,
    call: RecordedCall,
    answer: RecordedResponse,
}

impl TryFrom<RawInteraction> for Interaction {
    type Error = String;

    fn try_from(unchecked: RawInteraction) -> std::result::Result<Self, String> {
        let RawInteraction { sandbox, call, answer } = unchecked;
        if !answer.matches_call(&call) {
            return Err(format!("`{}` cannot be the response to `{}`", answer.method(), call.method()));
        }
        let of_provider = matches!(
            call,
            RecordedCall::GetOrCreate { .. } | RecordedCall::List { .. } | RecordedCall::DeleteSandbox { .. }
        );
        match (&sandbox, of_provider) {
            (None, false) => Err(format!("`{}` requires the field `sandbox`", call.method())),
            (Some(_), true) => {
                Err(format!("`{}` is a provider call and must not have the field `sandbox`", call.method()))
            }
            _ => Ok(Self { sandbox, call, answer }),
        }
    }
}

#[derive(Serialize)]
struct CassetteRef<'a> {
    tidebox_cassette: u64,
    interactions: &'a [Interaction],
}

/// Parsed first and leniently, so that a newer version is reported as such.
#[derive(Deserialize)]
struct Header {
    tidebox_cassette: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CassetteFileContent {
    #[serde(rename = "tidebox_cassette")]
    _version: u64,
    interactions: Vec<Interaction>,
}

impl Cassette {
    /// Creates an empty cassette.
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn of(interactions: Vec<Interaction>) -> Self {
        Self { interactions }
    }

    pub(super) fn interactions(&self) -> &[Interaction] {
        &self.interactions
    }

    /// Returns the number of interactions.
    pub fn len(&self) -> usize {
        self.interactions.len()
    }

    /// Returns whether the cassette has no interactions.
    pub fn is_empty(&self) -> bool {
        self.interactions.is_empty()
    }

    /// Parses the text form.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] if the text is invalid, with the line, or if its version is not supported.
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
                let message = "not a cassette: the version field `tidebox_cassette` is missing";
                return Err(Error::new(ErrorKind::InvalidRequest, "read cassette", message));
            }
        }
        let CassetteFileContent { interactions, .. } =
            serde_json::from_str(text).map_err(|error| unreadable(&error))?;
        Ok(Self { interactions })
    }

    /// Returns the text form. Equal cassettes have equal texts.
    ///
    /// # Errors
    /// [`ErrorKind::Engine`] only if memory runs out.
    pub fn to_text(&self) -> Result<String> {
        let content = CassetteRef { tidebox_cassette: VERSION, interactions: &self.interactions };
        let mut text = serde_json::to_string_pretty(&content)
            .map_err(|error| Error::new(ErrorKind::Engine, "write cassette", error.to_string()).with_source(error))?;
        text.push('\n');
        Ok(text)
    }
}

fn unreadable(error: &serde_json::Error) -> Error {
    let message = format!("cannot parse the cassette: {error}; fix that line or record it again");
    Error::new(ErrorKind::InvalidRequest, "read cassette", message).with_context("line", error.line().to_string())
}

fn unexpected_response(method: &'static str) -> Error {
    Error::new(
        ErrorKind::Protocol,
        method,
        "the recorded response belongs to another method; record the cassette again",
    )
}

impl Name {
    fn to_path(&self) -> Result<SandboxPath> {
        Ok(SandboxPath::parse(&self.0)?)
    }
}
