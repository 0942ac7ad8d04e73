//! `snapshot`, `restore` and `diff`: states of the files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidebox_core::FileKind;
use tidebox_vfs_backend::{Change, ContentChange, DiffSide, Snapshot, SnapshotDiff};

use super::{Hints, READS, REPLACES, ToolCall, ToolContext, ToolOutput};
use crate::error::ToolError;
use crate::text::{clip, lossy};
use crate::workspace::START;

/// Maximum number of returned changes.
const MAX_CHANGES: usize = 1000;

pub(super) struct TakeSnapshot;

#[derive(Deserialize, JsonSchema)]
pub(super) struct SnapshotInput {
    /// Name of the snapshot. An existing one with this name is replaced. Default: the next number.
    name: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SnapshotOutput {
    name: String,
    /// A snapshot with this name existed.
    replaced: bool,
}

impl ToolCall for TakeSnapshot {
    const NAME: &'static str = "snapshot";
    const TITLE: &'static str = "Take a snapshot";
    const DESCRIPTION: &'static str = "Keeps the current files and shell session of the sandbox under a name, for restore and diff. Takes \
        microseconds. A sandbox has at most 32 snapshots; they exist until the server ends.";
    const HINTS: Hints = Hints { read_only: false, destructive: false, idempotent: true, runs_commands: false };

    type Input = SnapshotInput;
    type Output = SnapshotOutput;

    async fn run(context: ToolContext<'_>, input: SnapshotInput) -> Result<ToolOutput<SnapshotOutput>, ToolError> {
        let (name, replaced) = context.open.take_snapshot(input.name.as_deref())?;
        let verb = if replaced { "replaced" } else { "took" };
        Ok(ToolOutput::new(format!("{verb} snapshot {name}"), SnapshotOutput { name, replaced }))
    }
}

pub(super) struct Restore;

#[derive(Deserialize, JsonSchema)]
pub(super) struct RestoreInput {
    /// Name of the snapshot, or "start" for the state in which the sandbox was opened.
    name: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct RestoreOutput {
    name: String,
}

impl ToolCall for Restore {
    const NAME: &'static str = "restore";
    const TITLE: &'static str = "Restore a snapshot";
    const DESCRIPTION: &'static str = "Resets the files and the shell session of the sandbox to a snapshot. Running commands, background \
        processes and the Python interpreter are ended.";
    const HINTS: Hints = REPLACES;

    type Input = RestoreInput;
    type Output = RestoreOutput;

    async fn run(context: ToolContext<'_>, input: RestoreInput) -> Result<ToolOutput<RestoreOutput>, ToolError> {
        let snapshot = context.open.snapshot(&input.name)?;
        context.open.restore(&snapshot).await?;
        let text = format!("restored snapshot {}; everything that ran was ended", input.name);
        Ok(ToolOutput::new(text, RestoreOutput { name: input.name }))
    }
}

pub(super) struct Diff;

#[derive(Deserialize, JsonSchema)]
pub(super) struct DiffInput {
    /// Snapshot to compare with. Default "start", the state in which the sandbox was opened.
    name: Option<String>,
    /// Snapshot whose changes are shown. Default: the current files.
    to: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct DiffOutput {
    /// Changed paths in path order.
    changes: Vec<ChangedPath>,
    /// Unified patch of the text files, for git apply and patch -p1.
    patch: String,
    /// Changes or parts of the patch were omitted.
    truncated: bool,
}

#[derive(Serialize, JsonSchema)]
struct ChangedPath {
    path: String,
    /// "added", "removed" or "changed".
    change: String,
    /// "file", "directory", "symlink" or "other".
    kind: String,
    /// Bytes after the change, or before a removal.
    size: u64,
    /// The content is binary or too large to be in the patch.
    is_binary: bool,
}

impl ToolCall for Diff {
    const NAME: &'static str = "diff";
    const TITLE: &'static str = "Show changes";
    const DESCRIPTION: &'static str =
        "Lists the paths of the sandbox that changed since a snapshot, with a patch of the text files.";
    const HINTS: Hints = READS;

    type Input = DiffInput;
    type Output = DiffOutput;

    async fn run(context: ToolContext<'_>, input: DiffInput) -> Result<ToolOutput<DiffOutput>, ToolError> {
        let before = context.open.snapshot(input.name.as_deref().unwrap_or(START))?;
        let after = match &input.to {
            Some(name) => context.open.snapshot(name)?,
            None => context.open.current()?,
        };
        // Comparing many lines may take a second.
        let compared = tokio::task::spawn_blocking(move || compare(&before, &after)).await;
        compared.map_err(|error| ToolError::Failed(format!("cannot compare the snapshots: {error}")))
    }
}

fn compare(before: &Snapshot, after: &Snapshot) -> ToolOutput<DiffOutput> {
    let diff: SnapshotDiff = Snapshot::diff(before, after);
    let patch = clip(&diff.to_patch());
    let omitted = diff.changes.len().saturating_sub(MAX_CHANGES);
    let changes: Vec<_> = diff.changes.iter().take(MAX_CHANGES).map(describe_change).collect();
    let mut lines: Vec<_> =
        changes.iter().map(|change| format!("{} {} {}", change.change, change.kind, change.path)).collect();
    if omitted > 0 {
        lines.push(format!("[{omitted} more changes]"));
    }
    let mut text = clip(lines.join("\n").as_bytes()).text;
    if changes.is_empty() {
        text = "no changes".to_owned();
    }
    if !patch.text.is_empty() {
        text = format!("{text}\n\n{}", patch.text);
    }
    let truncated = diff.truncated || omitted > 0 || patch.is_clipped;
    ToolOutput::new(text, DiffOutput { changes, patch: patch.text, truncated })
}

fn describe_change(change: &Change) -> ChangedPath {
    let (verb, side) = match (change.before, change.after) {
        (None, after) => ("added", after),
        (before, None) => ("removed", before),
        (_, after) => ("changed", after),
    };
    let kind = match side.map(|side: DiffSide| side.kind) {
        Some(FileKind::File) => "file",
        Some(FileKind::Directory) => "directory",
        Some(FileKind::Symlink) => "symlink",
        _ => "other",
    };
    ChangedPath {
        path: lossy(&change.path),
        change: verb.to_owned(),
        kind: kind.to_owned(),
        size: side.map_or(0, |side| side.size),
        is_binary: matches!(change.content, ContentChange::Binary | ContentChange::TooLarge),
    }
}
