//! `write`: whole files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidebox_core::WriteRequest;

use super::{Hints, REPLACES, ToolCall, ToolContext, ToolOutput};
use crate::error::ToolError;

pub(super) struct Write;

#[derive(Deserialize, JsonSchema)]
pub(super) struct WriteInput {
    /// Path of the file, absolute or relative to the sandbox's working directory. Missing directories are created.
    file_path: String,
    /// The whole content. An existing file is replaced.
    content: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct WriteOutput {
    file_path: String,
    bytes: u64,
    /// True if the file did not exist.
    created: bool,
}

impl ToolCall for Write {
    const NAME: &'static str = "write";
    const TITLE: &'static str = "Write a file";
    const DESCRIPTION: &'static str = "Creates or replaces a text file of the sandbox.";
    const HINTS: Hints = REPLACES;

    type Input = WriteInput;
    type Output = WriteOutput;

    async fn run(context: ToolContext<'_>, input: WriteInput) -> Result<ToolOutput<WriteOutput>, ToolError> {
        let path = context.open.resolve(&input.file_path)?;
        let bytes = input.content.len() as u64;
        let written = context.open.backend().write(WriteRequest::new(path, input.content)).await??;
        let verb = if written.created { "created" } else { "replaced" };
        let text = format!("{verb} {}: {bytes} bytes", written.path);
        let output = WriteOutput { file_path: written.path.to_string(), bytes, created: written.created };
        Ok(ToolOutput::new(text, output))
    }
}
