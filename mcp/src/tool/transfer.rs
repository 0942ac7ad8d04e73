//! `upload` and `download`: bytes in base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rmcp::model::ContentBlock;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidebox_core::mime;

use super::{Hints, READS, REPLACES, ToolCall, ToolContext, ToolOutput};
use crate::error::ToolError;
use crate::resource::{DownloadError, MAX_CONTENT_BYTES, blob, describe, download, file_uri};

pub(super) struct Upload;

#[derive(Deserialize, JsonSchema)]
pub(super) struct UploadInput {
    /// Path of the file, absolute or relative to the sandbox's working directory. Missing directories are created.
    path: String,
    /// The whole content in base64. At most 16 MiB of content.
    content_base64: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct UploadOutput {
    path: String,
    bytes: u64,
    /// URI of the file as a resource.
    uri: String,
}

impl ToolCall for Upload {
    const NAME: &'static str = "upload";
    const TITLE: &'static str = "Upload a file";
    const DESCRIPTION: &'static str = "Writes a file of any bytes into the sandbox, from base64. For text use write.";
    const HINTS: Hints = REPLACES;

    type Input = UploadInput;
    type Output = UploadOutput;

    async fn run(context: ToolContext<'_>, input: UploadInput) -> Result<ToolOutput<UploadOutput>, ToolError> {
        let path = context.open.resolve(&input.path)?;
        let content = BASE64.decode(input.content_base64.as_bytes()).map_err(|error| {
            ToolError::Failed(format!("cannot upload '{path}': content_base64 is not base64: {error}"))
        })?;
        if content.len() > MAX_CONTENT_BYTES {
            let message = format!(
                "cannot upload '{path}': it has {} bytes and may have {MAX_CONTENT_BYTES}; upload parts and join them with cat",
                content.len()
            );
            return Err(ToolError::Failed(message));
        }
        let bytes = content.len() as u64;
        let file = tidebox_core::Upload::new(path.as_bytes(), content);
        for uploaded in context.open.backend().upload_files(vec![file]).await? {
            uploaded.result?;
        }
        let output = UploadOutput { path: path.to_string(), bytes, uri: file_uri(path.as_bytes()) };
        let link = ContentBlock::resource_link(describe(path.as_bytes(), Some(bytes)));
        Ok(ToolOutput::new(format!("uploaded {path}: {bytes} bytes"), output).with_content([link]))
    }
}

pub(super) struct Download;

#[derive(Deserialize, JsonSchema)]
pub(super) struct DownloadInput {
    /// Path of the file, absolute or relative to the sandbox's working directory. At most 16 MiB.
    path: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct DownloadOutput {
    path: String,
    bytes: u64,
    mime_type: String,
    /// The whole content in base64.
    content_base64: String,
}

impl ToolCall for Download {
    const NAME: &'static str = "download";
    const TITLE: &'static str = "Download a file";
    const DESCRIPTION: &'static str =
        "Returns a file of the sandbox in base64, also as an embedded resource. For text use read.";
    const HINTS: Hints = READS;

    type Input = DownloadInput;
    type Output = DownloadOutput;

    async fn run(context: ToolContext<'_>, input: DownloadInput) -> Result<ToolOutput<DownloadOutput>, ToolError> {
        let path = context.open.resolve(&input.path)?;
        let bytes = download(context.open, &path).await.map_err(|error| match error {
            DownloadError::File(_, message) => ToolError::Failed(message),
            DownloadError::Backend(error) => error.into(),
        })?;
        let output = DownloadOutput {
            path: path.to_string(),
            bytes: bytes.len() as u64,
            mime_type: mime::guess_binary(path.as_bytes(), &bytes).to_owned(),
            content_base64: BASE64.encode(&bytes),
        };
        let text = format!("{path}: {} bytes, in base64 as the resource and in structuredContent", bytes.len());
        let resource = ContentBlock::resource(blob(&path, &bytes, &file_uri(path.as_bytes())));
        Ok(ToolOutput::new(text, output).with_content([resource]))
    }
}
