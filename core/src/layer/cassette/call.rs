//! Recorded calls.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bytes::{Blob, Name, Text};
use super::process::{ReadProcess, ResizeProcess, SignalProcess, Spawn, WriteProcess};
use super::stable_name::ByName;
use super::time::Seconds;
use crate::execute::{Background, ExecuteRequest};
use crate::file::{EditRequest, ReadRequest, WriteRequest};
use crate::layer::call::Call;
use crate::layer::redaction::Redaction;
use crate::output_overflow::OutputOverflow;
use crate::provider::{ListRequest, SandboxId, Selector};
use crate::search::{GlobRequest, GrepRequest};
use crate::shell_mode::ShellMode;
use crate::transfer::Upload;

/// A call of a backend or of a provider. Fields with default values are omitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(in crate::layer) enum RecordedCall {
    Execute(Execute),
    ExecuteStreaming(Execute),
    Spawn(Spawn),
    Processes {},
    ReadProcess(ReadProcess),
    WriteProcess(WriteProcess),
    SignalProcess(SignalProcess),
    ResizeProcess(ResizeProcess),
    PortEndpoint {
        port: u16,
    },
    Ls {
        path: Name,
    },
    Read {
        path: Name,
        #[serde(default, skip_serializing_if = "is_zero")]
        offset: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u64>,
    },
    Write {
        path: Name,
        content: Blob,
    },
    Edit {
        path: Name,
        old: Text,
        new: Text,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        replace_all: bool,
    },
    Delete {
        path: Name,
    },
    Grep {
        pattern: Name,
        path: Name,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        glob: Option<Name>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_count: Option<usize>,
    },
    Glob {
        pattern: Name,
        path: Name,
    },
    UploadFiles {
        files: Vec<RecordedUpload>,
    },
    DownloadFiles {
        paths: Vec<Name>,
    },
    Close {},
    GetOrCreate {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        labels: BTreeMap<String, String>,
    },
    List {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        labels: BTreeMap<String, String>,
    },
    DeleteSandbox {
        id: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::layer) struct Execute {
    command: Text,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments: Option<Vec<Text>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timeout: Option<Seconds>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<Name>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    env: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Blob::is_empty")]
    stdin: Blob,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shell_mode: Option<ByName<ShellMode>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output_overflow: Option<ByName<OutputOverflow>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    background: Option<ByName<Background>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::layer) struct RecordedUpload {
    path: Name,
    content: Blob,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl RecordedCall {
    /// Creates the recorded form of a call, with the redaction applied to everything in it.
    pub(in crate::layer) fn new(call: &Call, redaction: &Redaction) -> Self {
        let name = |bytes: &[u8]| Name(redaction.bytes(bytes.to_vec()));
        let text = |text: &str| Text(redaction.text(text.to_owned()));
        match call {
            Call::Execute(request) => Self::Execute(Execute::new(request, redaction)),
            Call::ExecuteStreaming(request) => Self::ExecuteStreaming(Execute::new(request, redaction)),
            Call::Spawn(request) => Self::Spawn(Spawn::new(request, redaction)),
            Call::Processes => Self::Processes {},
            Call::ReadProcess(id, request) => Self::ReadProcess(ReadProcess::new(id, request, redaction)),
            Call::WriteProcess(id, input) => Self::WriteProcess(WriteProcess::new(id, input, redaction)),
            Call::SignalProcess(id, signal) => Self::SignalProcess(SignalProcess::new(id, *signal, redaction)),
            Call::ResizeProcess(id, size) => Self::ResizeProcess(ResizeProcess::new(id, *size, redaction)),
            Call::PortEndpoint(port) => Self::PortEndpoint { port: *port },
            Call::Ls(path) => Self::Ls { path: name(path.as_bytes()) },
            Call::Read(ReadRequest { path, offset, limit }) => {
                Self::Read { path: name(path.as_bytes()), offset: *offset, limit: *limit }
            }
            Call::Write(WriteRequest { path, content }) => {
                Self::Write { path: name(path.as_bytes()), content: Blob(redaction.bytes(content.clone())) }
            }
            Call::Edit(EditRequest { path, old, new, replace_all }) => {
                let (path, replace_all) = (name(path.as_bytes()), *replace_all);
                Self::Edit { path, old: text(old), new: text(new), replace_all }
            }
            Call::Delete(path) => Self::Delete { path: name(path.as_bytes()) },
            Call::Grep(GrepRequest { pattern, path, glob, max_count }) => Self::Grep {
                pattern: name(pattern),
                path: name(path.as_bytes()),
                glob: glob.as_deref().map(name),
                max_count: *max_count,
            },
            Call::Glob(GlobRequest { pattern, path }) => {
                Self::Glob { pattern: name(pattern), path: name(path.as_bytes()) }
            }
            Call::UploadFiles(files) => Self::UploadFiles {
                files: files
                    .iter()
                    .map(|Upload { path, content }| RecordedUpload {
                        path: name(path),
                        content: Blob(redaction.bytes(content.clone())),
                    })
                    .collect(),
            },
            Call::DownloadFiles(paths) => Self::DownloadFiles { paths: paths.iter().map(|path| name(path)).collect() },
            Call::Close => Self::Close {},
        }
    }

    pub(in crate::layer) fn get_or_create(selector: &Selector, redaction: &Redaction) -> Self {
        match selector {
            Selector::Id(id) => {
                Self::GetOrCreate { id: Some(redaction.text(id.as_str().to_owned())), labels: BTreeMap::new() }
            }
            Selector::Labels(labels) => Self::GetOrCreate { id: None, labels: redacted(labels, redaction) },
        }
    }

    pub(in crate::layer) fn list(request: &ListRequest, redaction: &Redaction) -> Self {
        let cursor = request.cursor.clone().map(|cursor| redaction.text(cursor));
        Self::List { cursor, labels: redacted(&request.labels, redaction) }
    }

    pub(in crate::layer) fn delete_sandbox(id: &SandboxId, redaction: &Redaction) -> Self {
        Self::DeleteSandbox { id: redaction.text(id.as_str().to_owned()) }
    }

    /// Returns the method's name, which is the tag in the cassette.
    pub(in crate::layer) fn method(&self) -> &'static str {
        match self {
            Self::Execute(_) => "execute",
            Self::ExecuteStreaming(_) => "execute_streaming",
            Self::Spawn(_) => "spawn",
            Self::Processes {} => "processes",
            Self::ReadProcess(_) => "read_process",
            Self::WriteProcess(_) => "write_process",
            Self::SignalProcess(_) => "signal_process",
            Self::ResizeProcess(_) => "resize_process",
            Self::PortEndpoint { .. } => "port_endpoint",
            Self::Ls { .. } => "ls",
            Self::Read { .. } => "read",
            Self::Write { .. } => "write",
            Self::Edit { .. } => "edit",
            Self::Delete { .. } => "delete",
            Self::Grep { .. } => "grep",
            Self::Glob { .. } => "glob",
            Self::UploadFiles { .. } => "upload_files",
            Self::DownloadFiles { .. } => "download_files",
            Self::Close {} => "close",
            Self::GetOrCreate { .. } => "get_or_create",
            Self::List { .. } => "list",
            Self::DeleteSandbox { .. } => "delete_sandbox",
        }
    }
}

impl Execute {
    fn new(request: &ExecuteRequest, redaction: &Redaction) -> Self {
        let ExecuteRequest { command, arguments, timeout, cwd, env, stdin, shell_mode, output_overflow, background } =
            request;
        Self {
            command: Text(redaction.text(command.clone())),
            arguments: arguments.as_ref().map(|all| all.iter().map(|one| Text(redaction.text(one.clone()))).collect()),
            timeout: timeout.map(Seconds),
            cwd: cwd.as_ref().map(|cwd| Name(redaction.bytes(cwd.as_bytes().to_vec()))),
            env: env.iter().map(|(name, value)| redaction.environment(name.clone(), value.clone())).collect(),
            stdin: Blob(redaction.bytes(stdin.clone())),
            shell_mode: shell_mode.map(ByName),
            output_overflow: (*output_overflow != OutputOverflow::default()).then_some(ByName(*output_overflow)),
            background: (*background != Background::default()).then_some(ByName(*background)),
        }
    }
}

pub(super) fn redacted(labels: &BTreeMap<String, String>, redaction: &Redaction) -> BTreeMap<String, String> {
    labels.iter().map(|(name, value)| (redaction.text(name.clone()), redaction.text(value.clone()))).collect()
}
