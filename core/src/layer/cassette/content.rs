//! Recorded files and lines.

use serde::{Deserialize, Serialize};

use super::bytes::{Blob, Name, Text};
use super::failure::RecordedFileError;
use super::stable_name::ByName;
use super::time::Moment;
use crate::file::{Content, FileInfo, FileKind, LineWindow, ReadResponse};
use crate::layer::redaction::Redaction;
use crate::search::GrepMatch;
use crate::transfer::Download;

/// A [`FileInfo`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::layer) struct Entry {
    path: Name,
    kind: ByName<FileKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    modified: Option<Moment>,
}

pub(super) fn entries(files: &[FileInfo], redaction: &Redaction) -> Vec<Entry> {
    let entry = |FileInfo { path, kind, size, modified }: &FileInfo| Entry {
        path: Name(redaction.bytes(path.clone())),
        kind: ByName(*kind),
        size: *size,
        modified: modified.map(Moment),
    };
    files.iter().map(entry).collect()
}

pub(super) fn infos(entries: Vec<Entry>) -> Vec<FileInfo> {
    let info = |Entry { path, kind, size, modified }| FileInfo {
        path: path.0,
        kind: kind.0,
        size,
        modified: modified.map(|moment| moment.0),
    };
    entries.into_iter().map(info).collect()
}

/// A [`ReadResponse`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::layer) struct Page {
    content: PageContent,
    mime: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    window: Option<Window>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    no_lines_requested: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    line_cut: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    modified: Option<Moment>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PageContent {
    Text(Text),
    Binary(Blob),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Window {
    start: u64,
    end: u64,
    total: u64,
}

impl Page {
    pub(super) fn new(response: &ReadResponse, redaction: &Redaction) -> Self {
        let ReadResponse { content, mime, window, no_lines_requested, line_truncated: line_cut, modified } = response;
        Self {
            content: match content {
                Content::Text(text) => PageContent::Text(Text(redaction.text(text.clone()))),
                Content::Binary(bytes) => PageContent::Binary(Blob(redaction.bytes(bytes.clone()))),
            },
            mime: mime.clone().into_owned(),
            window: window.map(|LineWindow { start, end, total }| Window { start, end, total }),
            no_lines_requested: *no_lines_requested,
            line_cut: *line_cut,
            modified: modified.map(Moment),
        }
    }

    pub(super) fn replay(self) -> ReadResponse {
        ReadResponse {
            content: match self.content {
                PageContent::Text(Text(text)) => Content::Text(text),
                PageContent::Binary(Blob(bytes)) => Content::Binary(bytes),
            },
            mime: self.mime.into(),
            window: self.window.map(|Window { start, end, total }| LineWindow { start, end, total }),
            no_lines_requested: self.no_lines_requested,
            line_truncated: self.line_cut,
            modified: self.modified.map(|moment| moment.0),
        }
    }
}

/// A [`GrepMatch`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::layer) struct Match {
    path: Name,
    line: u64,
    text: Name,
}

impl Match {
    pub(super) fn new(found: &GrepMatch, redaction: &Redaction) -> Self {
        let name = |bytes: &[u8]| Name(redaction.bytes(bytes.to_vec()));
        Self { path: name(&found.path), line: found.line, text: name(&found.text) }
    }

    pub(super) fn replay(self) -> GrepMatch {
        GrepMatch { path: self.path.0, line: self.line, text: self.text.0 }
    }
}

/// A [`Download`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(in crate::layer) struct RecordedDownload {
    path: Name,
    result: DownloadContent,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DownloadContent {
    Content(Blob),
    Refused(RecordedFileError),
}

impl RecordedDownload {
    pub(super) fn new(download: &Download, redaction: &Redaction) -> Self {
        Self {
            path: Name(redaction.bytes(download.path.clone())),
            result: match &download.result {
                Ok(content) => DownloadContent::Content(Blob(redaction.bytes(content.clone()))),
                Err(error) => DownloadContent::Refused(RecordedFileError::new(error, redaction)),
            },
        }
    }

    pub(super) fn replay(self) -> Download {
        Download {
            path: self.path.0,
            result: match self.result {
                DownloadContent::Content(Blob(content)) => Ok(content),
                DownloadContent::Refused(rejected) => Err(rejected.replay()),
            },
        }
    }
}
