//! `ls`: entries of a directory.

use std::time::UNIX_EPOCH;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidebox_core::{FileInfo, FileKind};

use super::{Hints, READS, ToolCall, ToolContext, ToolOutput};
use crate::error::ToolError;
use crate::text::lossy;

/// Maximum number of returned entries.
const MAX_ENTRIES: usize = 1000;

pub(super) struct Ls;

#[derive(Deserialize, JsonSchema)]
pub(super) struct LsInput {
    /// Directory. Default: the sandbox's working directory.
    path: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct LsOutput {
    path: String,
    /// Entries, ordered by name.
    entries: Vec<LsEntry>,
    /// The directory has more entries.
    truncated: bool,
}

#[derive(Serialize, JsonSchema)]
struct LsEntry {
    name: String,
    /// "file", "directory", "symlink" or "other".
    kind: String,
    /// Bytes of a regular file.
    size: Option<u64>,
    /// Modification time in seconds since 1970.
    modified: Option<u64>,
}

impl ToolCall for Ls {
    const NAME: &'static str = "ls";
    const TITLE: &'static str = "List a directory";
    const DESCRIPTION: &'static str = "Lists the entries of a directory of the sandbox.";
    const HINTS: Hints = READS;

    type Input = LsInput;
    type Output = LsOutput;

    async fn run(context: ToolContext<'_>, input: LsInput) -> Result<ToolOutput<LsOutput>, ToolError> {
        let path = context.open.resolve(input.path.as_deref().unwrap_or("."))?;
        let listed = context.open.backend().ls(&path).await??.entries;
        let truncated = listed.len() > MAX_ENTRIES;
        let entries: Vec<_> = listed.iter().take(MAX_ENTRIES).map(entry).collect();
        let mut text = entries.iter().map(format_entry).collect::<Vec<_>>().join("\n");
        if entries.is_empty() {
            text = "(empty directory)".to_owned();
        }
        if truncated {
            text.push_str(&format!("\n[{} more entries]", listed.len() - MAX_ENTRIES));
        }
        Ok(ToolOutput::new(text, LsOutput { path: path.to_string(), entries, truncated }))
    }
}

fn entry(info: &FileInfo) -> LsEntry {
    let kind = match info.kind {
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Symlink => "symlink",
        FileKind::Other => "other",
    };
    let name = info.path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let modified = info.modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    LsEntry { name: lossy(name), kind: kind.to_owned(), size: info.size, modified: modified.map(|time| time.as_secs()) }
}

fn format_entry(entry: &LsEntry) -> String {
    match (entry.kind.as_str(), entry.size) {
        ("directory", _) => format!("{}/", entry.name),
        ("symlink", _) => format!("{}@", entry.name),
        (_, Some(size)) => format!("{}\t{size}", entry.name),
        _ => entry.name.clone(),
    }
}
