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

/// What the tools of Deep Agents print for an empty file, word for word; with any other text, or none, they print a
/// window that does not exist.
pub const EMPTY_FILE_REMINDER: &str = "System reminder: File exists but has empty contents";

/// What follows a line that is longer than a page.
const CUT_LINE_NOTE: &str =
    "\n\n[This line is longer than a page of 512000 bytes and was cut here. Read the rest of it with a command.]";

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A device or the like.
    Other,
}

/// An entry of a directory or a file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// Its path, without a slash at the end.
    pub path: Vec<u8>,
    /// What it is.
    pub kind: FileKind,
    /// Bytes of a regular file. `None` when the backend does not know.
    pub size: Option<u64>,
    /// When its content changed last. `None` when the backend does not know.
    pub modified: Option<SystemTime>,
}

impl FileInfo {
    /// Whether it is a directory. A link to one is not.
    pub fn is_dir(&self) -> bool {
        self.kind == FileKind::Directory
    }
}

/// What is in a directory, ordered by name, without `.` and `..`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LsResponse {
    /// The entries; each path is the directory's as it was asked for, and the name.
    pub entries: Vec<FileInfo>,
}

/// Which part of a file to read.
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
    /// The first page of a file.
    pub fn new(path: SandboxPath) -> Self {
        Self { path, offset: 0, limit: None }
    }

    /// Skips lines.
    #[must_use]
    pub fn with_offset(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }

    /// Returns at most this many lines.
    #[must_use]
    pub fn with_limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }
}

/// The lines that a page holds, counted from 1: always `1 <= start <= end <= total`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineWindow {
    /// The first line of the page.
    pub start: u64,
    /// The last line of the page.
    pub end: u64,
    /// The lines of the file.
    pub total: u64,
}

impl LineWindow {
    /// The offset at which the next page starts, `None` at the end of the file.
    pub fn next_offset(&self) -> Option<u64> {
        (self.end < self.total).then_some(self.end)
    }
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Lines as they are in the file, with their ends: the pages of a file, put together, are the file.
    Text(String),
    /// A whole file that is not text.
    Binary(Vec<u8>),
}

/// A page of a text file, or a whole binary file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadResponse {
    /// The text of the page, or the bytes.
    pub content: Content,
    /// The content's type, consistent with [`Content`]: text types only with text.
    pub mime: Cow<'static, str>,
    /// Which lines `content` holds. `None` for binary files, for empty ones, and when no lines were asked for.
    pub window: Option<LineWindow>,
    /// No lines were asked for.
    pub no_lines_requested: bool,
    /// The page's only line is longer than a page may be and was cut. Longer pages end at a whole line instead.
    pub line_cut: bool,
    /// When the content changed last. `None` when the backend does not know.
    pub modified: Option<SystemTime>,
}

/// What a tool of Deep Agents is given of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolContent<'a> {
    /// Text as it is, or what makes the tool say that the file is empty.
    Text(Cow<'a, str>),
    /// Bytes in base64, with `+`, `/` and padding.
    Base64(String),
}

impl ReadResponse {
    /// The answer to `request` when the file is text.
    pub fn of_page(page: Page, request: &ReadRequest, dialect: Dialect, modified: Option<SystemTime>) -> Self {
        Self {
            mime: mime::of_text(request.path.as_bytes()).into(),
            window: page.window,
            no_lines_requested: page.window.is_none() && !page.empty_file,
            line_cut: page.line_cut,
            modified,
            content: Content::Text(spell_line_ends(page, dialect)),
        }
    }

    /// The answer when it is not, with all of its bytes.
    pub fn of_bytes(bytes: Vec<u8>, request: &ReadRequest, modified: Option<SystemTime>) -> Self {
        Self {
            mime: mime::of_bytes(request.path.as_bytes(), &bytes).into(),
            content: Content::Binary(bytes),
            window: None,
            no_lines_requested: false,
            line_cut: false,
            modified,
        }
    }

    /// The refusal when these are more than [`Dialect::binary_bytes`].
    pub fn too_large(request: &ReadRequest, dialect: Dialect) -> FileError {
        let most = dialect.binary_bytes();
        let message = format!("File '{}': Binary file exceeds maximum preview size of {most} bytes", request.path);
        FileError::new(FileErrorCode::TooLarge, message)
    }

    /// Whether the file holds nothing at all.
    pub fn is_empty_file(&self) -> bool {
        let nothing = matches!(&self.content, Content::Text(text) if text.is_empty());
        nothing && self.window.is_none() && !self.no_lines_requested
    }

    /// The content in the form in which the tools of Deep Agents make of it what the model should see: base64 for bytes, and a
    /// note behind a line that was cut, because no window can tell that.
    ///
    /// For an empty file the model should see [`EMPTY_FILE_REMINDER`] alone. The tool of JavaScript passes it through when it
    /// is the content; that of Python puts it there itself when the content is empty, and a window above it otherwise.
    pub fn tool_content(&self, dialect: Dialect) -> ToolContent<'_> {
        match &self.content {
            Content::Binary(bytes) => ToolContent::Base64(BASE64.encode(bytes)),
            Content::Text(_) if self.is_empty_file() && dialect == Dialect::Js => {
                ToolContent::Text(EMPTY_FILE_REMINDER.into())
            }
            Content::Text(text) if self.line_cut => ToolContent::Text([text, CUT_LINE_NOTE].concat().into()),
            Content::Text(text) => ToolContent::Text(text.into()),
        }
    }
}

/// The page's text with the line ends that the dialect shows.
fn spell_line_ends(page: Page, dialect: Dialect) -> String {
    let mut text = page.text;
    if dialect.reads_crlf_as_lf() && text.contains('\r') {
        text = text.replace("\r\n", "\n");
    }
    let goes_on = page.window.is_some_and(|window| window.next_offset().is_some());
    if dialect.line_ends_separate_pages() && goes_on && text.ends_with('\n') {
        text.pop();
    }
    text
}

/// What a file shall hold.
#[derive(Clone, PartialEq, Eq)]
pub struct WriteRequest {
    /// The file.
    pub path: SandboxPath,
    /// All of its content.
    pub content: Vec<u8>,
}

impl WriteRequest {
    /// Writes `content` to `path`.
    pub fn new(path: SandboxPath, content: impl Into<Vec<u8>>) -> Self {
        Self { path, content: content.into() }
    }
}

/// A file may hold secrets: what it shall hold is counted and not shown.
impl fmt::Debug for WriteRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteRequest").field("path", &self.path).field("content_bytes", &self.content.len()).finish()
    }
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteResponse {
    /// The file.
    pub path: SandboxPath,
    /// Whether it was not there before.
    pub created: bool,
}

/// Which string to replace.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EditRequest {
    /// The file.
    pub path: SandboxPath,
    /// What is there.
    pub old: String,
    /// What shall be there.
    pub new: String,
    /// Replace every occurrence. Otherwise `old` must be there exactly once.
    pub replace_all: bool,
}

impl EditRequest {
    /// Replaces the one occurrence of `old` by `new`.
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

/// As of a [`WriteRequest`].
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

/// What was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditResponse {
    /// The file.
    pub path: SandboxPath,
    /// How many times.
    pub occurrences: usize,
}

/// What was deleted.
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
        ReadResponse { content, mime: "text/plain".into(), window, no_lines_requested, line_cut, modified: None }
    }

    #[test]
    fn an_empty_file_is_the_reminder_and_no_lines_are_nothing() {
        let empty = response(Content::Text(String::new()), None);
        assert_eq!(empty.tool_content(Dialect::Js), ToolContent::Text(EMPTY_FILE_REMINDER.into()));
        assert_eq!(empty.tool_content(Dialect::Python), ToolContent::Text("".into()), "the tool puts it there");
        let none = ReadResponse { no_lines_requested: true, ..empty };
        assert_eq!(none.tool_content(Dialect::Js), ToolContent::Text("".into()));
    }

    #[test]
    fn bytes_are_base64_and_text_is_itself() {
        let bytes = response(Content::Binary(b"\xfb\xff\xfe\0".to_vec()), None);
        assert_eq!(bytes.tool_content(Dialect::Js), ToolContent::Base64("+//+AA==".to_owned()));
        let window = Some(LineWindow { start: 1, end: 1, total: 1 });
        let text = response(Content::Text("a\n".to_owned()), window);
        assert_eq!(text.tool_content(Dialect::Js), ToolContent::Text("a\n".into()));
    }

    #[test]
    fn a_line_that_was_cut_says_so() {
        let window = Some(LineWindow { start: 1, end: 1, total: 1 });
        let cut = ReadResponse { line_cut: true, ..response(Content::Text("xxx".to_owned()), window) };
        let ToolContent::Text(shown) = cut.tool_content(Dialect::Python) else { panic!("text stays text") };
        assert!(shown.starts_with("xxx\n\n[This line is longer"), "{shown}");
        assert!(shown.contains(&crate::page::PAGE_BYTES.to_string()), "the number is the real bound");
    }
}
