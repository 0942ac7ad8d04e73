//! Answers as a cassette holds them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bytes::{Name, Text};
use super::call::{Asked, redacted};
use super::content::{self, Entry, Match, Page, Received};
use super::failure::{Failed, Refused};
use super::named::Named;
use super::output::Executed;
use crate::error::Result;
use crate::execute::OutputEvent;
use crate::file::{DeleteResponse, EditResponse, LsResponse, WriteResponse};
use crate::layer::answer::Answer;
use crate::layer::call::Call;
use crate::layer::redaction::Redaction;
use crate::provider::{ListPage, SandboxId, SandboxInfo};
use crate::search::{GlobResponse, GrepResponse, Truncation};
use crate::transfer::UploadResult;

/// What was answered to a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(in crate::layer) enum Answered {
    Execute(Executed),
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
        truncated: Option<Named<Truncation>>,
    },
    Glob {
        files: Vec<Entry>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        truncated: Option<Named<Truncation>>,
    },
    UploadFiles {
        files: Vec<Sent>,
    },
    DownloadFiles {
        files: Vec<Received>,
    },
    Close {},
    GetOrCreate {
        id: String,
    },
    List {
        sandboxes: Vec<Listed>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
    },
    DeleteSandbox {},
    /// The sandbox refused.
    Refused(Refused),
    /// The backend failed.
    Failed(Failed),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::layer) struct Sent {
    path: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refused: Option<Refused>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::layer) struct Listed {
    id: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    labels: BTreeMap<String, String>,
}

impl Answered {
    /// What a backend answered, as it is recorded. `events` is what it streamed.
    pub(in crate::layer) fn new(result: &Result<Answer>, events: &[OutputEvent], redaction: &Redaction) -> Self {
        let name = |bytes: &[u8]| Name(redaction.bytes(bytes.to_vec()));
        let entries = |files| content::entries(files, redaction);
        let refused = |error| Self::Refused(Refused::new(error, redaction));
        match result {
            Err(error) => Self::Failed(Failed::new(error, events, redaction)),
            Ok(Answer::Execute(response)) => Self::Execute(Executed::new(response, events, redaction)),
            Ok(Answer::Ls(Ok(response))) => Self::Ls { entries: entries(&response.entries) },
            Ok(Answer::Read(Ok(response))) => Self::Read(Page::new(response, redaction)),
            Ok(Answer::Write(Ok(WriteResponse { path, created }))) => {
                Self::Write { path: name(path.as_bytes()), created: *created }
            }
            Ok(Answer::Edit(Ok(EditResponse { path, occurrences }))) => {
                Self::Edit { path: name(path.as_bytes()), occurrences: *occurrences }
            }
            Ok(Answer::Delete(Ok(DeleteResponse { path }))) => Self::Delete { path: name(path.as_bytes()) },
            Ok(Answer::Grep(Ok(GrepResponse { matches, truncated }))) => Self::Grep {
                matches: matches.iter().map(|found| Match::new(found, redaction)).collect(),
                truncated: truncated.map(Named),
            },
            Ok(Answer::Glob(Ok(GlobResponse { files, truncated }))) => {
                Self::Glob { files: entries(files), truncated: truncated.map(Named) }
            }
            Ok(Answer::UploadFiles(results)) => Self::UploadFiles {
                files: results
                    .iter()
                    .map(|UploadResult { path, result }| Sent {
                        path: name(path),
                        refused: result.as_ref().err().map(|error| Refused::new(error, redaction)),
                    })
                    .collect(),
            },
            Ok(Answer::DownloadFiles(files)) => {
                Self::DownloadFiles { files: files.iter().map(|file| Received::new(file, redaction)).collect() }
            }
            Ok(Answer::Close) => Self::Close {},
            Ok(Answer::Ls(Err(error)) | Answer::Write(Err(error)) | Answer::Edit(Err(error))) => refused(error),
            Ok(Answer::Read(Err(error)) | Answer::Delete(Err(error))) => refused(error),
            Ok(Answer::Grep(Err(error)) | Answer::Glob(Err(error))) => refused(error),
        }
    }

    pub(in crate::layer) fn failed(error: &crate::Error, redaction: &Redaction) -> Self {
        Self::Failed(Failed::new(error, &[], redaction))
    }

    pub(in crate::layer) fn get_or_create(id: &SandboxId, redaction: &Redaction) -> Self {
        Self::GetOrCreate { id: redaction.text(id.as_str().to_owned()) }
    }

    pub(in crate::layer) fn list(page: &ListPage, redaction: &Redaction) -> Self {
        let text = |text: &str| redaction.text(text.to_owned());
        let listed = |SandboxInfo { id, labels }: &SandboxInfo| Listed {
            id: text(id.as_str()),
            labels: redacted(labels, redaction),
        };
        Self::List { sandboxes: page.sandboxes.iter().map(listed).collect(), cursor: page.cursor.as_deref().map(text) }
    }

    /// Whether this can be the answer to that. A file edited by hand may say anything.
    pub(super) fn suits(&self, asked: &Asked) -> bool {
        match self {
            Self::Failed(_) => true,
            Self::Refused(_) => matches!(asked.method(), "ls" | "read" | "write" | "edit" | "delete" | "grep" | "glob"),
            Self::Execute(_) => matches!(asked.method(), "execute" | "execute_streaming"),
            other => other.method() == asked.method(),
        }
    }

    /// The tag in the cassette.
    pub(super) fn method(&self) -> &'static str {
        match self {
            Self::Execute(_) => "execute",
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

    /// Whether this is a failure of ours.
    pub(in crate::layer) fn is_failure(&self) -> bool {
        matches!(self, Self::Failed(_))
    }

    /// The answer that a caller gets, with what is streamed to it before.
    pub(in crate::layer) fn replay(self, call: &Call) -> (Vec<OutputEvent>, Result<Answer>) {
        match self {
            Self::Execute(executed) => {
                let (events, response) = executed.replay();
                (events, Ok(Answer::Execute(response)))
            }
            Self::Failed(failed) => {
                let (events, error) = failed.replay();
                (events, Err(error))
            }
            other => (Vec::new(), other.replay_at_once(call)),
        }
    }

    /// Answers without output.
    fn replay_at_once(self, call: &Call) -> Result<Answer> {
        Ok(match self {
            Self::Ls { entries } => Answer::Ls(Ok(LsResponse { entries: content::infos(entries) })),
            Self::Read(page) => Answer::Read(Ok(page.replay())),
            Self::Write { path, created } => Answer::Write(Ok(WriteResponse { path: path.to_path()?, created })),
            Self::Edit { path, occurrences } => Answer::Edit(Ok(EditResponse { path: path.to_path()?, occurrences })),
            Self::Delete { path } => Answer::Delete(Ok(DeleteResponse { path: path.to_path()? })),
            Self::Grep { matches, truncated } => Answer::Grep(Ok(GrepResponse {
                matches: matches.into_iter().map(Match::replay).collect(),
                truncated: truncated.map(|named| named.0),
            })),
            Self::Glob { files, truncated } => Answer::Glob(Ok(GlobResponse {
                files: content::infos(files),
                truncated: truncated.map(|named| named.0),
            })),
            Self::UploadFiles { files } => Answer::UploadFiles(files.into_iter().map(Sent::replay).collect()),
            Self::DownloadFiles { files } => Answer::DownloadFiles(files.into_iter().map(Received::replay).collect()),
            Self::Close {} => Answer::Close,
            Self::Refused(refused) => refused_to(call, refused)?,
            _ => return Err(super::unsuitable(call.method())),
        })
    }

    pub(in crate::layer) fn replay_sandbox(self) -> Result<SandboxId> {
        match self {
            Self::GetOrCreate { id } => SandboxId::parse(id),
            Self::Failed(failed) => Err(failed.replay().1),
            _ => Err(super::unsuitable("get_or_create")),
        }
    }

    pub(in crate::layer) fn replay_list(self) -> Result<ListPage> {
        match self {
            Self::List { sandboxes, cursor } => {
                let info = |Listed { id, labels }| Ok(SandboxInfo { id: SandboxId::parse(id)?, labels });
                Ok(ListPage { sandboxes: sandboxes.into_iter().map(info).collect::<Result<_>>()?, cursor })
            }
            Self::Failed(failed) => Err(failed.replay().1),
            _ => Err(super::unsuitable("list")),
        }
    }

    pub(in crate::layer) fn replay_delete(self) -> Result<()> {
        match self {
            Self::DeleteSandbox {} => Ok(()),
            Self::Failed(failed) => Err(failed.replay().1),
            _ => Err(super::unsuitable("delete_sandbox")),
        }
    }
}

fn refused_to(call: &Call, refused: Refused) -> Result<Answer> {
    let error = refused.replay();
    Ok(match call {
        Call::Ls(_) => Answer::Ls(Err(error)),
        Call::Read(_) => Answer::Read(Err(error)),
        Call::Write(_) => Answer::Write(Err(error)),
        Call::Edit(_) => Answer::Edit(Err(error)),
        Call::Delete(_) => Answer::Delete(Err(error)),
        Call::Grep(_) => Answer::Grep(Err(error)),
        Call::Glob(_) => Answer::Glob(Err(error)),
        other => return Err(super::unsuitable(other.method())),
    })
}

impl Sent {
    fn replay(self) -> UploadResult {
        UploadResult { path: self.path.0, result: self.refused.map_or(Ok(()), |refused| Err(refused.replay())) }
    }
}

/// Only so that a text field and a text of several lines are written alike.
pub(super) fn text(text: &str, redaction: &Redaction) -> Text {
    Text(redaction.text(text.to_owned()))
}
