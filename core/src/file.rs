//! Reading and changing files.

use std::borrow::Cow;
use std::fmt;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::dialect::Dialect;
use crate::error::{FileError, FileErrorCode};
use crate::mime;
use crate::page::Page;
use crate::path::SandboxPath;

/// The notice of the Deep Agents tools for an empty file, verbatim; for any other text, or none, they print a window that does
/// not exist.
pub const EMPTY_FILE_REMINDER: &str = "System reminder: File exists but has empty contents";

/// Note after a line that exceeds a page.
const TRUNCATED_LINE_NOTE: &str =
    "\n\n[This line is longer than a page of 512000 bytes and was truncated here. Read the rest of it with a command.]";

/// Type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A device or another special file.
    Other,
}

/// An entry of a directory or a search result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// The path, without a trailing slash.
    pub path: Vec<u8>,
    /// The type.
    pub kind: FileKind,
    /// Size of a regular file in bytes. `None` if the backend does not know it.
    pub size: Option<u64>,
    /// Modification time. `None` if the backend does not know it.
    pub modified: Option<SystemTime>,
}

impl FileInfo {
    /// Returns whether it is a directory. A link to a directory is not.
    pub fn is_dir(&self) -> bool {
        self.kind == FileKind::Directory
    }
}

/// Entries of a directory, ordered by name, without `.` and `..`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LsResponse {
    /// The entries; each path is the requested path of the directory joined with the name.
    pub entries: Vec<FileInfo>,
}

/// The part of a file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadRequest {
    /// The file.
    pub path: SandboxPath,
    /// Lines to skip. Default 0.
    pub offset: u64,
    /// Lines to return. `None` is the dialect's default ([`crate::Dialect::read_limit`]); 0 returns none.
    pub limit: Option<u64>,
}

impl ReadRequest {
    /// Creates a request for the first page of a file.
    pub fn new(path: SandboxPath) -> Self {
        Self { path, offset: 0, limit: None }
    }

    /// Sets the number of lines to skip.
    #[must_use]
    pub fn with_offset(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }

    /// Sets the maximum number of lines.
    #[must_use]
    pub fn with_limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }
}

/// The lines of a page, counted from 1: always `1 <= start <= end <= total`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineWindow {
    /// The first line of the page.
    pub start: u64,
    /// The last line of the page.
    pub end: u64,
    /// Number of lines of the file.
    pub total: u64,
}

impl LineWindow {
    /// Returns the offset of the next page; `None` at the end of the file.
    pub fn next_offset(&self) -> Option<u64> {
        (self.end < self.total).then_some(self.end)
    }
}

/// Content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Unchanged lines with their newlines: the concatenated pages are the file.
    Text(String),
    /// A whole binary file.
    Binary(Vec<u8>),
}

/// A page of a text file, or a whole binary file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadResponse {
    /// The text of the page, or the bytes.
    pub content: Content,
    /// The content's type, consistent with [`Content`]: text types only with text.
    pub mime: Cow<'static, str>,
    /// The lines in `content`. `None` for binary files, for empty ones, and if the limit was zero.
    pub window: Option<LineWindow>,
    /// The requested limit was zero.
    pub no_lines_requested: bool,
    /// The page's only line exceeds the page size and was truncated. Longer pages end at a whole line instead.
    pub line_truncated: bool,
    /// Modification time. `None` if the backend does not know it.
    pub modified: Option<SystemTime>,
}

/// Content of a file in the form that a Deep Agents tool expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolContent<'a> {
    /// Text, or the notice for an empty file.
    Text(Cow<'a, str>),
    /// Bytes in base64, with `+`, `/` and padding.
    Base64(String),
}

impl ReadResponse {
    /// Creates the response for a text file.
    pub fn from_page(page: Page, request: &ReadRequest, dialect: Dialect, modified: Option<SystemTime>) -> Self {
        Self {
            mime: mime::guess_text(request.path.as_bytes()).into(),
            window: page.window,
            no_lines_requested: page.window.is_none() && !page.empty_file,
            line_truncated: page.line_cut,
            modified,
            content: Content::Text(convert_line_endings(page, dialect)),
        }
    }

    /// Creates the response for a binary file from all of its bytes.
    pub fn from_bytes(bytes: Vec<u8>, request: &ReadRequest, modified: Option<SystemTime>) -> Self {
        Self {
            mime: mime::guess_binary(request.path.as_bytes(), &bytes).into(),
            content: Content::Binary(bytes),
            window: None,
            no_lines_requested: false,
            line_truncated: false,
            modified,
        }
    }

    /// Returns the error if the bytes exceed [`Dialect::binary_bytes`].
    pub fn too_large(request: &ReadRequest, dialect: Dialect) -> FileError {
        let most = dialect.binary_bytes();
        let message = format!("File '{}': Binary file exceeds maximum preview size of {most} bytes", request.path);
        FileError::new(FileErrorCode::TooLarge, message)
    }

    /// Returns whether the file is empty.
    pub fn is_empty_file(&self) -> bool {
        let nothing = matches!(&self.content, Content::Text(text) if text.is_empty());
        nothing && self.window.is_none() && !self.no_lines_requested
    }

    /// Returns the content in the form from which the Deep Agents tools produce the text for the model: base64 for bytes, and a
    /// note after a truncated line, because the window cannot express it.
    ///
    /// For an empty file the model should get only [`EMPTY_FILE_REMINDER`]. The JavaScript tool passes it through as the content;
    /// the Python tool adds it itself if the content is empty, and otherwise prints a window above the content.
    pub fn tool_content(&self, dialect: Dialect) -> ToolContent<'_> {
        match &self.content {
            Content::Binary(bytes) => ToolContent::Base64(BASE64.encode(bytes)),
            Content::Text(_) if self.is_empty_file() && dialect == Dialect::Js => {
                ToolContent::Text(EMPTY_FILE_REMINDER.into())
            }
            Content::Text(text) if self.line_truncated => {
                ToolContent::Text([text, TRUNCATED_LINE_NOTE].concat().into())
            }
            Content::Text(text) => ToolContent::Text(text.into()),
        }
    }
}

/// Returns the page's text with the line endings of the dialect.
fn convert_line_endings(page: Page, dialect: Dialect) -> String {
    let mut text = page.text;
    if dialect.reads_crlf_as_lf() && text.contains('\r') {
        text = text.replace("\r\n", "\n");
    }
    let goes_on = page.window.is_some_and(|window| window.next_offset().is_some());
    if dialect.omits_page_separator() && goes_on && text.ends_with('\n') {
        text.pop();
    }
    text
}

/// A file to write.
#[derive(Clone, PartialEq, Eq)]
pub struct WriteRequest {
    /// The file.
    pub path: SandboxPath,
    /// The whole content.
    pub content: Vec<u8>,
}

impl WriteRequest {
    /// Creates a request to write `content` to `path`.
    pub fn new(path: SandboxPath, content: impl Into<Vec<u8>>) -> Self {
        Self { path, content: content.into() }
    }
}

/// The content may contain secrets, so only its length is shown.
impl fmt::Debug for WriteRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteRequest").field("path", &self.path).field("content_bytes", &self.content.len()).finish()
    }
}

/// Result of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteResponse {
    /// The file.
    pub path: SandboxPath,
    /// True if the file was created.
    pub created: bool,
}

/// A string to replace.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EditRequest {
    /// The file.
    pub path: SandboxPath,
    /// The string to replace.
    pub old: String,
    /// The replacement.
    pub new: String,
    /// Replace every occurrence. Otherwise `old` must occur exactly once.
    pub replace_all: bool,
}

impl EditRequest {
    /// Creates a request to replace the only occurrence of `old` by `new`.
    pub fn new(path: SandboxPath, old: impl Into<String>, new: impl Into<String>) -> Self {
        Self { path, old: old.into(), new: new.into(), replace_all: false }
    }

    /// Replaces every occurrence.
    #[must_use]
    pub fn all(mut self) -> Self {
        self.replace_all = true;
        self
    }
}

/// Shows only lengths, as for [`WriteRequest`].
impl fmt::Debug for EditRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EditRequest")
            .field("path", &self.path)
            .field("old_bytes", &self.old.len())
            .field("new_bytes", &self.new.len())
            .field("replace_all", &self.replace_all)
            .finish()
    }
}

/// Result of an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditResponse {
    /// The file.
    pub path: SandboxPath,
    /// Number of replaced occurrences.
    pub occurrences: usize,
}

/// Result of a deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteResponse {
    /// The file or directory.
    pub path: SandboxPath,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(content: Content, window: Option<LineWindow>) -> ReadResponse {
        let (no_lines_requested, line_cut) = (false, false);
        ReadResponse {
            content,
            mime: "text/plain".into(),
            window,
            no_lines_requested,
            line_truncated: line_cut,
            modified: None,
        }
    }

    #[test]
    fn an_empty_file_gives_the_reminder_and_zero_lines_nothing() {
        let empty = response(Content::Text(String::new()), None);
        assert_eq!(empty.tool_content(Dialect::Js), ToolContent::Text(EMPTY_FILE_REMINDER.into()));
        assert_eq!(empty.tool_content(Dialect::Python), ToolContent::Text("".into()), "the tool adds it itself");
        let none = ReadResponse { no_lines_requested: true, ..empty };
        assert_eq!(none.tool_content(Dialect::Js), ToolContent::Text("".into()));
    }

    #[test]
    fn tool_content_is_base64_for_bytes_and_text_otherwise() {
        let bytes = response(Content::Binary(b"\xfb\xff\xfe\0".to_vec()), None);
        assert_eq!(bytes.tool_content(Dialect::Js), ToolContent::Base64("+//+AA==".to_owned()));
        let window = Some(LineWindow { start: 1, end: 1, total: 1 });
        let text = response(Content::Text("a\n".to_owned()), window);
        assert_eq!(text.tool_content(Dialect::Js), ToolContent::Text("a\n".into()));
    }

    #[test]
    fn a_truncated_line_has_a_note() {
        let window = Some(LineWindow { start: 1, end: 1, total: 1 });
        let cut = ReadResponse { line_truncated: true, ..response(Content::Text("xxx".to_owned()), window) };
        let ToolContent::Text(shown) = cut.tool_content(Dialect::Python) else { panic!("text stays text") };
        assert!(shown.starts_with("xxx\n\n[This line is longer"), "{shown}");
        assert!(shown.contains(&crate::page::PAGE_BYTES.to_string()), "the note states the actual limit");
    }
}
