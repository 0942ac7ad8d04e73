//! Requests of a client.

use std::time::Duration;

use crate::{Background, OutputOverflow};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::process::{ReadProcess, ResizeProcess, SignalProcess, Spawn, WriteProcess};

/// Bytes, encoded as base64 in JSON.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        BASE64.decode(text).map(Self).map_err(|error| D::Error::custom(format!("invalid base64: {error}")))
    }
}

/// A request without its id.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(tag = "method", content = "params", rename_all = "snake_case")]
pub(super) enum Request {
    Info(NoParams),
    Execute(Execute),
    Python(Python),
    PythonEnd(Interpreter),
    Spawn(Spawn),
    Processes(NoParams),
    ReadProcess(ReadProcess),
    WriteProcess(WriteProcess),
    SignalProcess(SignalProcess),
    ResizeProcess(ResizeProcess),
    PortEndpoint(Port),
    Ls(PathParams),
    Read(Read),
    Write(Write),
    Edit(Edit),
    Delete(PathParams),
    Grep(Grep),
    Glob(Glob),
    UploadFiles(UploadFiles),
    DownloadFiles(DownloadFiles),
    Close(NoParams),
}

#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct NoParams {}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Execute {
    /// A command line for the shell. Exactly one of this and `argv` is set.
    #[serde(default)]
    pub(super) command: Option<String>,
    /// A program and its arguments, without a shell.
    #[serde(default)]
    pub(super) argv: Option<Vec<String>>,
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
    /// `head`, `tail` or `stop`.
    #[serde(default, deserialize_with = "output_overflow")]
    pub(super) output_overflow: OutputOverflow,
    /// `end` or `keep`.
    #[serde(default, deserialize_with = "background")]
    pub(super) background: Background,
}

impl Execute {
    pub(super) fn timeout(&self) -> Option<Duration> {
        self.timeout_ms.map(Duration::from_millis)
    }
}

fn output_overflow<'de, D: Deserializer<'de>>(deserializer: D) -> Result<OutputOverflow, D::Error> {
    let name = Option::<String>::deserialize(deserializer)?;
    name.map_or(Ok(OutputOverflow::default()), |name| name.parse()).map_err(D::Error::custom)
}

fn background<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Background, D::Error> {
    let Some(name) = Option::<String>::deserialize(deserializer)? else { return Ok(Background::default()) };
    let found = Background::ALL.into_iter().find(|value| value.as_str() == name);
    found.ok_or_else(|| D::Error::custom(format!("'{name}' is not 'end' or 'keep'")))
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
    /// Name of the interpreter; created if it does not exist.
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
pub(super) struct Port {
    pub(super) port: u16,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct PathParams {
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
    /// Parses a request. Returns its id, or `null` if it has none, and the request or an error.
    pub(super) fn parse(line: &[u8]) -> (Value, Result<Self, String>) {
        let mut object = match serde_json::from_slice(line) {
            Ok(Value::Object(object)) => object,
            Ok(_) => return (Value::Null, Err("invalid request: expected one JSON object per line".to_owned())),
            Err(error) => return (Value::Null, Err(format!("invalid JSON: {error}"))),
        };
        let id = object.remove("id").unwrap_or(Value::Null);
        // Methods without parameters may omit `params`.
        object.entry("params").or_insert_with(|| Value::Object(serde_json::Map::new()));
        (id, serde_json::from_value(Value::Object(object)).map_err(|error| error.to_string()))
    }
}
