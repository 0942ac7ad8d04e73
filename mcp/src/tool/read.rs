//! `read`: text files by line, and images.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidebox_core::{Content, FileErrorCode, ReadRequest, ReadResponse, SandboxPath};

use super::{Hints, READS, ToolCall, ToolContext, ToolOutput};
use crate::error::ToolError;
use crate::image::{MAX_IMAGE_BYTES, image_content, image_type};
use crate::resource::{DownloadError, download};
use crate::text::{MAX_TEXT_BYTES, number_lines};

/// Lines that are returned without a limit.
const DEFAULT_LINES: u64 = 2000;

pub(super) struct Read;

#[derive(Deserialize, JsonSchema)]
pub(super) struct ReadInput {
    /// Path of the file, absolute or relative to the sandbox's working directory.
    file_path: String,
    /// First line, counted from 1. Default 1.
    offset: Option<u64>,
    /// Maximum number of lines. Default 2000.
    limit: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ReadOutput {
    file_path: String,
    mime_type: String,
    /// Lines without numbers. Null for an image, which follows as content.
    content: Option<String>,
    /// First returned line. Null for an empty file and for an image.
    start_line: Option<u64>,
    end_line: Option<u64>,
    total_lines: Option<u64>,
    /// Offset of the next page. Null at the end of the file.
    next_offset: Option<u64>,
    /// The last line was cut because it exceeds the maximum length of a page.
    line_truncated: bool,
}

impl ToolCall for Read {
    const NAME: &'static str = "read";
    const TITLE: &'static str = "Read a file";
    const DESCRIPTION: &'static str = "Reads lines of a text file of the sandbox, with line numbers, or shows an image (png, jpeg, gif, \
        webp). Long files are read in pages: continue with offset = next_offset.";
    const HINTS: Hints = READS;

    type Input = ReadInput;
    type Output = ReadOutput;

    async fn run(context: ToolContext<'_>, input: ReadInput) -> Result<ToolOutput<ReadOutput>, ToolError> {
        let path = context.open.resolve(&input.file_path)?;
        let request = ReadRequest::new(path.clone())
            .with_offset(input.offset.unwrap_or(1).saturating_sub(1))
            .with_limit(input.limit.unwrap_or(DEFAULT_LINES).max(1));
        let read = match context.open.backend().read(request).await? {
            Ok(read) => read,
            // The backend's limit for binary files is lower than that for images.
            Err(error) if error.code == FileErrorCode::TooLarge => return read_image(context, &path).await,
            Err(error) => return Err(error.into()),
        };
        match &read.content {
            Content::Binary(bytes) => show_image(&path, bytes),
            Content::Text(text) => Ok(show_text(&path, text, &read)),
        }
    }
}

async fn read_image(context: ToolContext<'_>, path: &SandboxPath) -> Result<ToolOutput<ReadOutput>, ToolError> {
    match download(context.open, path).await {
        Ok(bytes) => show_image(path, &bytes),
        Err(DownloadError::File(_, message)) => Err(ToolError::Failed(message)),
        Err(DownloadError::Backend(error)) => Err(error.into()),
    }
}

fn show_image(path: &SandboxPath, bytes: &[u8]) -> Result<ToolOutput<ReadOutput>, ToolError> {
    let Some(mime) = image_type(path.as_bytes(), bytes) else {
        let message = format!(
            "cannot show '{path}': it is a binary file of {} bytes; use a command to inspect it, or download it",
            bytes.len()
        );
        return Err(ToolError::Failed(message));
    };
    if bytes.len() > MAX_IMAGE_BYTES {
        let message = format!(
            "cannot show '{path}': the image has {} bytes and may have {MAX_IMAGE_BYTES}; make a smaller one, or download it",
            bytes.len()
        );
        return Err(ToolError::Failed(message));
    }
    let text = format!("{path}: {mime}, {} bytes", bytes.len());
    let output = ReadOutput {
        file_path: path.to_string(),
        mime_type: mime.to_owned(),
        content: None,
        start_line: None,
        end_line: None,
        total_lines: None,
        next_offset: None,
        line_truncated: false,
    };
    Ok(ToolOutput::new(text, output).with_content([image_content(bytes, mime)]))
}

fn show_text(path: &SandboxPath, text: &str, read: &ReadResponse) -> ToolOutput<ReadOutput> {
    let (text, lines, is_cut) = fit_lines(text, MAX_TEXT_BYTES);
    let window = read.window;
    let end = window.map(|window| window.start.saturating_add(lines).saturating_sub(1).min(window.end));
    let next_offset = window.zip(end).filter(|(window, end)| *end < window.total).map(|(_, end)| end + 1);
    let mut shown = number_lines(text, window.map_or(1, |window| window.start));
    match next_offset {
        _ if read.is_empty_file() => shown = "(empty file)".to_owned(),
        Some(next) => {
            let total = window.map_or(0, |window| window.total);
            let newline = if shown.ends_with('\n') { "" } else { "\n" };
            shown.push_str(&format!("{newline}[{total} lines in the file; continue with offset {next}]"));
        }
        None => {}
    }
    let output = ReadOutput {
        file_path: path.to_string(),
        mime_type: read.mime.clone().into_owned(),
        content: Some(text.to_owned()),
        start_line: window.map(|window| window.start),
        end_line: end,
        total_lines: window.map(|window| window.total),
        next_offset,
        line_truncated: is_cut || read.line_truncated,
    };
    ToolOutput::new(shown, output)
}

/// Returns the whole lines at the start of a page that fit into the limit, their number, and whether a single line was cut.
fn fit_lines(text: &str, limit: usize) -> (&str, u64, bool) {
    let (kept, is_cut) = if text.len() <= limit {
        (text, false)
    } else {
        let at = (0..=limit).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let head = text.get(..at).unwrap_or_default();
        match head.rfind('\n') {
            Some(newline) => (text.get(..=newline).unwrap_or(head), false),
            None => (head, true),
        }
    };
    (kept, kept.split_inclusive('\n').count() as u64, is_cut)
}

#[cfg(test)]
mod tests {
    use super::fit_lines;

    #[test]
    fn a_page_ends_at_the_last_line_that_fits() {
        assert_eq!(fit_lines("ab\ncd\nef", 100), ("ab\ncd\nef", 3, false));
        assert_eq!(fit_lines("ab\ncd\nef", 7), ("ab\ncd\n", 2, false));
        assert_eq!(fit_lines("ab\ncd\n", 5), ("ab\n", 1, false));
        assert_eq!(fit_lines("ééé", 3), ("é", 1, true));
        assert_eq!(fit_lines("", 3), ("", 0, false));
    }
}
