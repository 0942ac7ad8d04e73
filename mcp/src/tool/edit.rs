//! `edit`: replacement of a string.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidebox_core::EditRequest;

use super::{Hints, ToolCall, ToolContext, ToolOutput};
use crate::error::ToolError;

pub(super) struct Edit;

#[derive(Deserialize, JsonSchema)]
pub(super) struct EditInput {
    /// Path of the file, absolute or relative to the sandbox's working directory.
    file_path: String,
    /// Text to replace. Without replace_all it must occur exactly once.
    old_string: String,
    /// The replacement.
    new_string: String,
    /// Replace every occurrence. Default false.
    replace_all: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct EditOutput {
    file_path: String,
    /// Number of replaced occurrences.
    occurrences: u64,
}

impl ToolCall for Edit {
    const NAME: &'static str = "edit";
    const TITLE: &'static str = "Edit a file";
    const DESCRIPTION: &'static str = "Replaces a string in a text file of the sandbox.";
    const HINTS: Hints = Hints { read_only: false, destructive: true, idempotent: false, runs_commands: false };

    type Input = EditInput;
    type Output = EditOutput;

    async fn run(context: ToolContext<'_>, input: EditInput) -> Result<ToolOutput<EditOutput>, ToolError> {
        let path = context.open.resolve(&input.file_path)?;
        let mut request = EditRequest::new(path, input.old_string, input.new_string);
        request.replace_all = input.replace_all.unwrap_or(false);
        let edited = context.open.backend().edit(request).await??;
        let text = format!("replaced {} occurrence(s) in {}", edited.occurrences, edited.path);
        let output = EditOutput { file_path: edited.path.to_string(), occurrences: edited.occurrences as u64 };
        Ok(ToolOutput::new(text, output))
    }
}
