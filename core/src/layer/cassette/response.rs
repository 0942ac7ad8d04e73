//! Recorded responses.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bytes::{Name, Text};
use super::call::{RecordedCall, redacted};
use super::content::{self, Entry, Match, Page, RecordedDownload};
use super::failure::{RecordedError, RecordedFileError};
use super::output::RecordedExecution;
use super::process::{RecordedPage, RecordedProcess, redacted_id};
use super::stable_name::ByName;
use crate::error::Result;
use crate::execute::OutputChunk;
use crate::file::{DeleteResponse, EditResponse, LsResponse, WriteResponse};
use crate::layer::call::Call;
use crate::layer::redaction::Redaction;
use crate::layer::response::Response;
use crate::port::PortEndpoint;
use crate::process::ProcessId;
use crate::provider::{ListPage, SandboxId, SandboxInfo};
use crate::search::{GlobResponse, GrepResponse, Truncation};
use crate::secret::Secret;
use crate::transfer::UploadResult;

/// Replayed value of a header of an endpoint.
const REDACTED: &str = "[redacted]";

/// The recorded result of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(in crate::layer) enum RecordedResponse {
    Execute(RecordedExecution),
    Spawn {
        id: String,
    },
    Processes {
        processes: Vec<RecordedProcess>,
    },
    ReadProcess(RecordedPage),
    WriteProcess {
        bytes: usize,
    },
    SignalProcess {},
    ResizeProcess {},
    PortEndpoint {
        url: Text,
        /// Names only: the values are credentials.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        headers: Vec<String>,
    },
    Ls {
        entries: Vec<Entry>,
    },
    Read(Page),
    Write {
        path: Name,
        created: bool,
    },
    Edit {
        path: Name,
        occurrences: usize,
    },
    Delete {
        path: Name,
    },
    Grep {
        matches: Vec<Match>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        truncated: Option<ByName<Truncation>>,
    },
    Glob {
        files: Vec<Entry>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        truncated: Option<ByName<Truncation>>,
    },
    UploadFiles {
        files: Vec<RecordedUploadResult>,
    },
    DownloadFiles {
        files: Vec<RecordedDownload>,
    },
    Close {},
    GetOrCreate {
        id: String,
    },
    List {
        sandboxes: Vec<RecordedSandbox>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
    },
    DeleteSandbox {},
    /// The sandbox returned an error.
    Refused(RecordedFileError),
    /// The backend failed.
    Failed(RecordedError),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::layer) struct RecordedUploadResult {
    path: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refused: Option<RecordedFileError>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::layer) struct RecordedSandbox {
    id: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    labels: BTreeMap<String, String>,
}

impl RecordedResponse {
    /// Creates the recorded form of a backend's result; `events` is the streamed output.
    pub(in crate::layer) fn new(result: &Result<Response>, events: &[OutputChunk], redaction: &Redaction) -> Self {
        let name = |bytes: &[u8]| Name(redaction.bytes(bytes.to_vec()));
        let entries = |files| content::entries(files, redaction);
        let refused = |error| Self::Refused(RecordedFileError::new(error, redaction));
        match result {
            Err(error) => Self::Failed(RecordedError::new(error, events, redaction)),
            Ok(Response::Execute(response)) => Self::Execute(RecordedExecution::new(response, events, redaction)),
            Ok(Response::Spawn(id)) => Self::Spawn { id: redacted_id(id, redaction) },
            Ok(Response::Processes(list)) => {
                Self::Processes { processes: list.iter().map(|info| RecordedProcess::new(info, redaction)).collect() }
            }
            Ok(Response::ReadProcess(page)) => Self::ReadProcess(RecordedPage::new(page, redaction)),
            Ok(Response::WriteProcess(bytes)) => Self::WriteProcess { bytes: *bytes },
            Ok(Response::SignalProcess(())) => Self::SignalProcess {},
            Ok(Response::ResizeProcess(())) => Self::ResizeProcess {},
            Ok(Response::PortEndpoint(endpoint)) => Self::PortEndpoint {
                url: text(&endpoint.url, redaction),
                headers: endpoint.headers.iter().map(|(name, _)| redaction.text(name.clone())).collect(),
            },
            Ok(Response::Ls(Ok(response))) => Self::Ls { entries: entries(&response.entries) },
            Ok(Response::Read(Ok(response))) => Self::Read(Page::new(response, redaction)),
            Ok(Response::Write(Ok(WriteResponse { path, created }))) => {
                Self::Write { path: name(path.as_bytes()), created: *created }
            }
            Ok(Response::Edit(Ok(EditResponse { path, occurrences }))) => {
                Self::Edit { path: name(path.as_bytes()), occurrences: *occurrences }
            }
            Ok(Response::Delete(Ok(DeleteResponse { path }))) => Self::Delete { path: name(path.as_bytes()) },
            Ok(Response::Grep(Ok(GrepResponse { matches, truncated }))) => Self::Grep {
                matches: matches.iter().map(|found| Match::new(found, redaction)).collect(),
                truncated: truncated.map(ByName),
            },
            Ok(Response::Glob(Ok(GlobResponse { files, truncated }))) => {
                Self::Glob { files: entries(files), truncated: truncated.map(ByName) }
            }
            Ok(Response::UploadFiles(results)) => Self::UploadFiles {
                files: results
                    .iter()
                    .map(|UploadResult { path, result }| RecordedUploadResult {
                        path: name(path),
                        refused: result.as_ref().err().map(|error| RecordedFileError::new(error, redaction)),
                    })
                    .collect(),
            },
            Ok(Response::DownloadFiles(files)) => {
                Self::DownloadFiles { files: files.iter().map(|file| RecordedDownload::new(file, redaction)).collect() }
            }
            Ok(Response::Close) => Self::Close {},
            Ok(Response::Ls(Err(error)) | Response::Write(Err(error)) | Response::Edit(Err(error))) => refused(error),
            Ok(Response::Read(Err(error)) | Response::Delete(Err(error))) => refused(error),
            Ok(Response::Grep(Err(error)) | Response::Glob(Err(error))) => refused(error),
        }
    }

    pub(in crate::layer) fn failed(error: &crate::Error, redaction: &Redaction) -> Self {
        Self::Failed(RecordedError::new(error, &[], redaction))
    }

    pub(in crate::layer) fn get_or_create(id: &SandboxId, redaction: &Redaction) -> Self {
        Self::GetOrCreate { id: redaction.text(id.as_str().to_owned()) }
    }

    pub(in crate::layer) fn list(page: &ListPage, redaction: &Redaction) -> Self {
        let text = |text: &str| redaction.text(text.to_owned());
        let listed = |SandboxInfo { id, labels }: &SandboxInfo| RecordedSandbox {
            id: text(id.as_str()),
            labels: redacted(labels, redaction),
        };
        Self::List { sandboxes: page.sandboxes.iter().map(listed).collect(), cursor: page.cursor.as_deref().map(text) }
    }

    /// Returns whether this can be the response to this call. A file edited by hand may be inconsistent.
    pub(super) fn matches_call(&self, asked: &RecordedCall) -> bool {
        match self {
            Self::Failed(_) => true,
            Self::Refused(_) => matches!(asked.method(), "ls" | "read" | "write" | "edit" | "delete" | "grep" | "glob"),
            Self::Execute(_) => matches!(asked.method(), "execute" | "execute_streaming"),
            other => other.method() == asked.method(),
        }
    }

    /// Returns the tag in the cassette.
    pub(super) fn method(&self) -> &'static str {
        match self {
            Self::Execute(_) => "execute",
            Self::Spawn { .. } => "spawn",
            Self::Processes { .. } => "processes",
            Self::ReadProcess(_) => "read_process",
            Self::WriteProcess { .. } => "write_process",
            Self::SignalProcess {} => "signal_process",
            Self::ResizeProcess {} => "resize_process",
            Self::PortEndpoint { .. } => "port_endpoint",
            Self::Ls { .. } => "ls",
            Self::Read(_) => "read",
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
            Self::DeleteSandbox {} => "delete_sandbox",
            Self::Refused(_) => "refused",
            Self::Failed(_) => "failed",
        }
    }

    /// Returns whether this is a failure of the backend and not of the file operation or command.
    pub(in crate::layer) fn is_failure(&self) -> bool {
        matches!(self, Self::Failed(_))
    }

    /// Returns the streamed output and the result for the caller.
    pub(in crate::layer) fn replay(self, call: &Call) -> (Vec<OutputChunk>, Result<Response>) {
        match self {
            Self::Execute(executed) => {
                let (events, response) = executed.replay();
                (events, Ok(Response::Execute(response)))
            }
            Self::Failed(failed) => {
                let (events, error) = failed.replay();
                (events, Err(error))
            }
            other => (Vec::new(), other.replay_silent(call)),
        }
    }

    /// Returns a response that has no output.
    fn replay_silent(self, call: &Call) -> Result<Response> {
        Ok(match self {
            Self::Spawn { id } => Response::Spawn(ProcessId::new(id)),
            Self::Processes { processes } => {
                Response::Processes(processes.into_iter().map(RecordedProcess::replay).collect())
            }
            Self::WriteProcess { bytes } => Response::WriteProcess(bytes),
            Self::SignalProcess {} => Response::SignalProcess(()),
            Self::ResizeProcess {} => Response::ResizeProcess(()),
            Self::PortEndpoint { url, headers } => Response::PortEndpoint(
                headers
                    .into_iter()
                    .fold(PortEndpoint::new(url.0), |endpoint, name| endpoint.with_header(name, Secret::new(REDACTED))),
            ),
            Self::Ls { entries } => Response::Ls(Ok(LsResponse { entries: content::infos(entries) })),
            Self::Read(page) => Response::Read(Ok(page.replay())),
            Self::Write { path, created } => Response::Write(Ok(WriteResponse { path: path.to_path()?, created })),
            Self::Edit { path, occurrences } => Response::Edit(Ok(EditResponse { path: path.to_path()?, occurrences })),
            Self::Delete { path } => Response::Delete(Ok(DeleteResponse { path: path.to_path()? })),
            Self::Grep { matches, truncated } => Response::Grep(Ok(GrepResponse {
                matches: matches.into_iter().map(Match::replay).collect(),
                truncated: truncated.map(|named| named.0),
            })),
            Self::Glob { files, truncated } => Response::Glob(Ok(GlobResponse {
                files: content::infos(files),
                truncated: truncated.map(|named| named.0),
            })),
            Self::UploadFiles { files } => {
                Response::UploadFiles(files.into_iter().map(RecordedUploadResult::replay).collect())
            }
            Self::DownloadFiles { files } => {
                Response::DownloadFiles(files.into_iter().map(RecordedDownload::replay).collect())
            }
            Self::Close {} => Response::Close,
            Self::Refused(refused) => refused_to(call, refused)?,
            _ => return Err(super::unexpected_response(call.method())),
        })
    }

    pub(in crate::layer) fn replay_sandbox(self) -> Result<SandboxId> {
        match self {
            Self::GetOrCreate { id } => SandboxId::parse(id),
            Self::Failed(failed) => Err(failed.replay().1),
            _ => Err(super::unexpected_response("get_or_create")),
        }
    }

    pub(in crate::layer) fn replay_list(self) -> Result<ListPage> {
        match self {
            Self::List { sandboxes, cursor } => {
                let info = |RecordedSandbox { id, labels }| Ok(SandboxInfo { id: SandboxId::parse(id)?, labels });
                Ok(ListPage { sandboxes: sandboxes.into_iter().map(info).collect::<Result<_>>()?, cursor })
            }
            Self::Failed(failed) => Err(failed.replay().1),
            _ => Err(super::unexpected_response("list")),
        }
    }

    pub(in crate::layer) fn replay_delete(self) -> Result<()> {
        match self {
            Self::DeleteSandbox {} => Ok(()),
            Self::Failed(failed) => Err(failed.replay().1),
            _ => Err(super::unexpected_response("delete_sandbox")),
        }
    }
}

fn refused_to(call: &Call, refused: RecordedFileError) -> Result<Response> {
    let error = refused.replay();
    Ok(match call {
        Call::Ls(_) => Response::Ls(Err(error)),
        Call::Read(_) => Response::Read(Err(error)),
        Call::Write(_) => Response::Write(Err(error)),
        Call::Edit(_) => Response::Edit(Err(error)),
        Call::Delete(_) => Response::Delete(Err(error)),
        Call::Grep(_) => Response::Grep(Err(error)),
        Call::Glob(_) => Response::Glob(Err(error)),
        other => return Err(super::unexpected_response(other.method())),
    })
}

impl RecordedUploadResult {
    fn replay(self) -> UploadResult {
        UploadResult { path: self.path.0, result: self.refused.map_or(Ok(()), |refused| Err(refused.replay())) }
    }
}

/// Ensures the same form for single-line and multi-line texts.
pub(super) fn text(text: &str, redaction: &Redaction) -> Text {
    Text(redaction.text(text.to_owned()))
}
