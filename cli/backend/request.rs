//! What a program may ask for.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Bytes, in JSON as base64.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        BASE64.decode(text).map(Self).map_err(|error| serde::de::Error::custom(format!("this is not base64: {error}")))
    }
}

/// A request without its id.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(tag = "method", content = "params", rename_all = "snake_case")]
pub(super) enum Request {
    Info(Nothing),
    Execute(Execute),
    Python(Python),
    PythonEnd(Interpreter),
    Ls(At),
    Read(Read),
    Write(Write),
    Edit(Edit),
    Delete(At),
    Grep(Grep),
    Glob(Glob),
    UploadFiles(UploadFiles),
    DownloadFiles(DownloadFiles),
    Close(Nothing),
}

#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Execute {
    pub(super) command: String,
    #[serde(default)]
    pub(super) timeout_ms: Option<u64>,
    #[serde(default)]
    pub(super) cwd: Option<String>,
    #[serde(default)]
    pub(super) env: std::collections::BTreeMap<String, String>,
    #[serde(default)]
    pub(super) stdin_base64: Bytes,
    #[serde(default)]
    pub(super) shell_mode: Option<Mode>,
}

impl Execute {
    pub(super) fn timeout(&self) -> Option<Duration> {
        self.timeout_ms.map(Duration::from_millis)
    }
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Mode {
    Fresh,
    Persistent,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Python {
    pub(super) code: String,
    /// Which interpreter; one is begun when there is none of this name.
    #[serde(default)]
    pub(super) session: String,
    #[serde(default)]
    pub(super) timeout_ms: Option<u64>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Interpreter {
    #[serde(default)]
    pub(super) session: String,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct At {
    pub(super) path: String,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Read {
    pub(super) path: String,
    #[serde(default)]
    pub(super) offset: u64,
    #[serde(default)]
    pub(super) limit: Option<u64>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Write {
    pub(super) path: String,
    #[serde(default)]
    pub(super) content: Option<String>,
    #[serde(default)]
    pub(super) content_base64: Option<Bytes>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    pub(super) path: String,
    pub(super) old: String,
    pub(super) new: String,
    #[serde(default)]
    pub(super) replace_all: bool,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Grep {
    pub(super) pattern: String,
    #[serde(default)]
    pub(super) path: Option<String>,
    #[serde(default)]
    pub(super) glob: Option<String>,
    #[serde(default)]
    pub(super) max_count: Option<usize>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Glob {
    pub(super) pattern: String,
    #[serde(default)]
    pub(super) path: Option<String>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct UploadFiles {
    pub(super) files: Vec<File>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) content_base64: Bytes,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct DownloadFiles {
    pub(super) paths: Vec<String>,
}

impl Request {
    /// The id, `null` where there is none that can be read, and the request or what is wrong with it.
    pub(super) fn parse(line: &[u8]) -> (Value, Result<Self, String>) {
        let mut object = match serde_json::from_slice(line) {
            Ok(Value::Object(object)) => object,
            Ok(_) => return (Value::Null, Err("a request is one JSON object in one line".to_owned())),
            Err(error) => return (Value::Null, Err(format!("the line is not JSON: {error}"))),
        };
        let id = object.remove("id").unwrap_or(Value::Null);
        // Methods without parameters may leave them out.
        object.entry("params").or_insert_with(|| Value::Object(serde_json::Map::new()));
        (id, serde_json::from_value(Value::Object(object)).map_err(|error| error.to_string()))
    }
}
