//! Values of the file tools.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use tidebox::{Content, Dialect, FileKind, GlobResponse, GrepResponse, ReadResponse, ToolContent, TransferCode};

/// Converts a path. One that is not UTF-8 has surrogates, as those of `os.listdir`.
pub(crate) fn path_text<'py>(py: Python<'py>, path: &[u8]) -> PyResult<Bound<'py, PyString>> {
    match std::str::from_utf8(path) {
        Ok(text) => Ok(PyString::new(py, text)),
        Err(_) => Ok(PyBytes::new(py, path).call_method1("decode", ("utf-8", "surrogateescape"))?.cast_into()?),
    }
}

/// An entry of a directory.
#[pyclass(frozen, module = "tidebox")]
#[derive(Debug)]
pub(crate) struct FileInfo(pub(crate) tidebox::FileInfo);

#[pymethods]
impl FileInfo {
    /// Absolute path.
    #[getter]
    fn path<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        path_text(py, &self.0.path)
    }

    /// "file", "directory", "symlink" or "other".
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0.kind {
            FileKind::File => "file",
            FileKind::Directory => "directory",
            FileKind::Symlink => "symlink",
            FileKind::Other => "other",
        }
    }

    /// True for a directory.
    #[getter]
    fn is_dir(&self) -> bool {
        self.0.is_dir()
    }

    /// Bytes; None if unknown.
    #[getter]
    fn size(&self) -> Option<u64> {
        self.0.size
    }

    /// Time of the last change in seconds since 1970; None if unknown.
    #[getter]
    fn modified(&self) -> Option<f64> {
        self.0.modified.map(seconds_since_1970)
    }

    fn __repr__(&self) -> String {
        format!("FileInfo(path='{}', kind='{}')", String::from_utf8_lossy(&self.0.path).escape_debug(), self.kind())
    }
}

fn seconds_since_1970(time: std::time::SystemTime) -> f64 {
    match time.duration_since(std::time::UNIX_EPOCH) {
        Ok(after) => after.as_secs_f64(),
        Err(before) => -before.duration().as_secs_f64(),
    }
}

/// Result of reading a file: a page of lines, or the bytes of a file that is not text.
#[pyclass(frozen, module = "tidebox")]
#[derive(Debug)]
pub(crate) struct ReadResult(pub(crate) ReadResponse);

#[pymethods]
impl ReadResult {
    /// The text of the page, or the bytes of a file that is not text.
    #[getter]
    fn content<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        match &self.0.content {
            Content::Text(text) => PyString::new(py, text).into_any(),
            Content::Binary(bytes) => PyBytes::new(py, bytes).into_any(),
        }
    }

    /// True if `content` is text.
    #[getter]
    fn is_text(&self) -> bool {
        matches!(self.0.content, Content::Text(_))
    }

    /// Media type, such as "text/plain" or "image/png".
    #[getter]
    fn mime(&self) -> &str {
        &self.0.mime
    }

    /// Number of the page's first line, from 1; None without lines.
    #[getter]
    fn start(&self) -> Option<u64> {
        self.0.window.map(|window| window.start)
    }

    /// Number of the page's last line; None without lines.
    #[getter]
    fn end(&self) -> Option<u64> {
        self.0.window.map(|window| window.end)
    }

    /// Lines of the file; None without lines.
    #[getter]
    fn total_lines(&self) -> Option<u64> {
        self.0.window.map(|window| window.total)
    }

    /// `offset` of the next page; None at the end of the file.
    #[getter]
    fn next_offset(&self) -> Option<u64> {
        self.0.window.and_then(|window| window.next_offset())
    }

    /// True if `limit` was 0.
    #[getter]
    fn no_lines_requested(&self) -> bool {
        self.0.no_lines_requested
    }

    /// Returns the content as tools of agents show it: text and "utf-8", or "base64".
    fn tool_content(&self) -> (String, &'static str) {
        match self.0.tool_content(Dialect::Python) {
            ToolContent::Text(text) => (text.into_owned(), "utf-8"),
            ToolContent::Base64(text) => (text, "base64"),
        }
    }

    /// True if a line was longer than a page and its end is missing.
    #[getter]
    fn line_truncated(&self) -> bool {
        self.0.line_truncated
    }

    /// Time of the file's last change in seconds since 1970; None if unknown.
    #[getter]
    fn modified(&self) -> Option<f64> {
        self.0.modified.map(seconds_since_1970)
    }

    fn __repr__(&self) -> String {
        let lines = match self.0.window {
            Some(window) => format!("lines {}-{} of {}", window.start, window.end, window.total),
            None => self.0.mime.to_string(),
        };
        format!("ReadResult({lines})")
    }
}

/// A line that contains the text.
#[pyclass(frozen, module = "tidebox")]
#[derive(Debug)]
pub(crate) struct GrepMatch(tidebox::GrepMatch);

#[pymethods]
impl GrepMatch {
    /// Absolute path.
    #[getter]
    fn path<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        path_text(py, &self.0.path)
    }

    /// Number of the line, from 1.
    #[getter]
    fn line(&self) -> u64 {
        self.0.line
    }

    /// The line without its end. Bytes that are not UTF-8 become U+FFFD.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::new(py, &String::from_utf8_lossy(&self.0.text))
    }

    fn __repr__(&self) -> String {
        let [path, text] = [&self.0.path, &self.0.text].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        format!("GrepMatch('{}', {}, '{}')", path.escape_debug(), self.0.line, text.escape_debug())
    }
}

/// Result of a search for text.
#[pyclass(frozen, module = "tidebox", get_all)]
#[derive(Debug)]
pub(crate) struct GrepResult {
    /// The lines, in the order of paths.
    matches: Vec<Py<GrepMatch>>,
    /// The reason why lines are missing, such as "max_count"; else None.
    truncated: Option<&'static str>,
}

impl GrepResult {
    pub(crate) fn new(py: Python<'_>, response: GrepResponse) -> PyResult<Self> {
        let matches =
            response.matches.into_iter().map(|found| Py::new(py, GrepMatch(found))).collect::<PyResult<_>>()?;
        Ok(Self { matches, truncated: response.truncated.map(|reason| reason.as_str()) })
    }
}

#[pymethods]
impl GrepResult {
    fn __repr__(&self) -> String {
        format!("GrepResult({} matches)", self.matches.len())
    }
}

/// Result of a search for names.
#[pyclass(frozen, module = "tidebox", get_all)]
#[derive(Debug)]
pub(crate) struct GlobResult {
    /// The files, in the order of paths.
    files: Vec<Py<FileInfo>>,
    /// The reason why files are missing; else None.
    truncated: Option<&'static str>,
}

impl GlobResult {
    pub(crate) fn new(py: Python<'_>, response: GlobResponse) -> PyResult<Self> {
        let files = response.files.into_iter().map(|file| Py::new(py, FileInfo(file))).collect::<PyResult<_>>()?;
        Ok(Self { files, truncated: response.truncated.map(|reason| reason.as_str()) })
    }
}

#[pymethods]
impl GlobResult {
    fn __repr__(&self) -> String {
        format!("GlobResult({} files)", self.files.len())
    }
}

/// Result of transferring one file.
#[pyclass(frozen, module = "tidebox")]
#[derive(Debug)]
pub(crate) struct TransferResult {
    pub(crate) path: Vec<u8>,
    pub(crate) content: Option<Vec<u8>>,
    pub(crate) error: Option<(TransferCode, String)>,
}

#[pymethods]
impl TransferResult {
    /// The path as given.
    #[getter]
    fn path<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        path_text(py, &self.path)
    }

    /// The bytes of a downloaded file; None if it failed, and for uploads.
    #[getter]
    fn content<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.content.as_ref().map(|bytes| PyBytes::new(py, bytes))
    }

    /// "file_not_found", "permission_denied", "is_directory", "invalid_path", or None.
    #[getter]
    fn error(&self) -> Option<&'static str> {
        self.error.as_ref().map(|(code, _)| code.as_str())
    }

    /// A sentence about the error, or None.
    #[getter]
    fn message(&self) -> Option<&str> {
        self.error.as_ref().map(|(_, message)| message.as_str())
    }

    fn __repr__(&self) -> String {
        let path = String::from_utf8_lossy(&self.path);
        match &self.error {
            None => format!("TransferResult('{}')", path.escape_debug()),
            Some((code, _)) => format!("TransferResult('{}', error='{code}')", path.escape_debug()),
        }
    }
}
