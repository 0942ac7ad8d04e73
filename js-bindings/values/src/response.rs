//! Converts responses to the types of Deep Agents for JavaScript. Missing values are `undefined`, never `null`, except where its
//! protocol requires it: exit codes, and errors of transfers.

use std::time::{SystemTime, UNIX_EPOCH};

use js_sys::{Array, Date, Object, Reflect, Uint8Array};
use tidebox_core::{
    Content, Dialect, Download, Error, ErrorKind, ExecuteResponse, FileError, FileInfo, FileKind, FileResult,
    GlobResponse, GrepResponse, LineWindow, LsResponse, ReadResponse, StopReason, ToolContent, Truncation,
    UploadResult,
};
use wasm_bindgen::JsValue;

/// Creates an object with these properties, omitting those that are `undefined`.
pub fn object<'a>(properties: impl IntoIterator<Item = (&'a str, JsValue)>) -> JsValue {
    let object = Object::new();
    for (name, value) in properties.into_iter().filter(|(_, value)| !value.is_undefined()) {
        // Setting a property of a plain object cannot fail.
        let _ = Reflect::set(&object, &JsValue::from_str(name), &value);
    }
    object.into()
}

/// Decodes bytes; U+FFFD replaces invalid UTF-8.
pub fn text(bytes: &[u8]) -> JsValue {
    JsValue::from_str(&String::from_utf8_lossy(bytes))
}

/// Copies bytes to JavaScript.
pub(crate) fn bytes_to_js(bytes: &[u8]) -> JsValue {
    Uint8Array::from(bytes).into()
}

/// Converts a count.
pub fn count(n: u64) -> JsValue {
    JsValue::from_f64(n as f64)
}

pub(crate) fn optional<T>(value: Option<T>, show: impl FnOnce(T) -> JsValue) -> JsValue {
    value.map_or(JsValue::UNDEFINED, show)
}

fn list(items: impl Iterator<Item = JsValue>) -> JsValue {
    items.collect::<Array>().into()
}

/// Converts a file result: the response, or the error.
pub fn file_result<T>(result: FileResult<T>, show: impl FnOnce(T) -> JsValue) -> JsValue {
    result.map_or_else(|error| file_error(&error), show)
}

/// Converts a file error.
pub fn file_error(error: &FileError) -> JsValue {
    object([("error", JsValue::from_str(&error.message)), ("code", JsValue::from_str(error.code.as_str()))])
}

/// Converts an error to the object that is thrown to TypeScript, which converts it to a result or a `SandboxError`.
pub fn failure(error: &Error) -> JsValue {
    object([("kind", JsValue::from_str(error.kind().as_str())), ("message", JsValue::from_str(&error.to_string()))])
}

/// Creates an error object with this message.
pub fn invalid(operation: &'static str, message: &str) -> JsValue {
    failure(&Error::new(ErrorKind::InvalidRequest, operation, message))
}

/// Converts the response of a command.
pub fn execute_result(response: &ExecuteResponse) -> JsValue {
    let is_lossless = std::str::from_utf8(&response.output).is_ok();
    object([
        ("output", text(&response.output)),
        ("exitCode", response.exit_code.map_or(JsValue::NULL, JsValue::from)),
        ("truncated", response.truncated.into()),
        ("stdout", text(&response.stdout)),
        ("stderr", text(&response.stderr)),
        ("stdoutBytes", bytes_to_js(&response.stdout)),
        ("stderrBytes", bytes_to_js(&response.stderr)),
        ("outputBytes", if is_lossless { JsValue::UNDEFINED } else { bytes_to_js(&response.output) }),
        ("stoppedBy", optional(response.stopped_by.map(StopReason::as_str), JsValue::from_str)),
        ("durationMs", (response.duration.as_secs_f64() * 1e3).into()),
        ("cpuTimeMs", optional(response.cpu_time, |time| (time.as_secs_f64() * 1e3).into())),
        // Providers do not report it.
        ("peakMemoryBytes", optional(Some(response.peak_memory_bytes).filter(|bytes| *bytes > 0), count)),
        ("process", optional(response.process.as_ref(), |id| JsValue::from_str(id.as_str()))),
    ])
}

fn time(time: SystemTime) -> JsValue {
    let since = time.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    Date::new(&JsValue::from_f64((since * 1e3).floor())).to_iso_string().into()
}

fn kind(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Symlink => "symlink",
        FileKind::Other => "other",
    }
}

fn file(info: &FileInfo) -> JsValue {
    object([
        ("path", text(&info.path)),
        ("is_dir", info.is_dir().into()),
        ("kind", JsValue::from_str(kind(info.kind))),
        ("size", optional(info.size, count)),
        ("modified_at", optional(info.modified, time)),
    ])
}

/// Converts a directory listing.
pub fn ls_result(response: &LsResponse) -> JsValue {
    object([("files", list(response.entries.iter().map(file)))])
}

/// Returns the fields of an incomplete list.
fn truncation_fields(truncated: Option<Truncation>) -> [(&'static str, JsValue); 2] {
    let by = truncated.map(Truncation::as_str);
    [("truncated", optional(truncated, |_| JsValue::TRUE)), ("truncatedBy", optional(by, JsValue::from_str))]
}

/// Converts the response of `glob`.
pub fn glob_result(response: &GlobResponse) -> JsValue {
    let [truncated, by] = truncation_fields(response.truncated);
    object([("files", list(response.files.iter().map(file))), truncated, by])
}

/// Converts the response of `grep`.
pub fn grep_result(response: &GrepResponse) -> JsValue {
    let matches = response.matches.iter().map(|grep_result| {
        object([
            ("path", text(&grep_result.path)),
            ("line", count(grep_result.line)),
            ("text", text(&grep_result.text)),
        ])
    });
    let [truncated, by] = truncation_fields(response.truncated);
    object([("matches", list(matches)), truncated, by])
}

/// Converts a page of a file, as the tool of Deep Agents shows it.
pub fn read_result(response: &ReadResponse) -> JsValue {
    let content = match (&response.content, response.tool_content(Dialect::Js)) {
        (Content::Binary(content), _) => bytes_to_js(content),
        (Content::Text(_), ToolContent::Text(content)) => JsValue::from_str(&content),
        (Content::Text(_), ToolContent::Base64(content)) => JsValue::from_str(&content),
    };
    let window = response.window.as_ref();
    object([
        ("content", content),
        ("mimeType", JsValue::from_str(&response.mime)),
        ("totalLines", optional(window, |window| count(window.total))),
        ("startLine", optional(window, |window| count(window.start))),
        ("endLine", optional(window, |window| count(window.end))),
        ("nextOffset", optional(window.and_then(LineWindow::next_offset), count)),
        ("lineCut", if response.line_truncated { JsValue::TRUE } else { JsValue::UNDEFINED }),
    ])
}

/// Converts a whole file with its metadata, for `readRaw`.
pub fn read_raw_result(read_result: &ReadResponse, content: &[u8]) -> JsValue {
    let content = match (&read_result.content, std::str::from_utf8(content)) {
        (Content::Text(_), Ok(content)) => JsValue::from_str(content),
        _ => bytes_to_js(content),
    };
    let modified = read_result.modified.map_or_else(|| time(UNIX_EPOCH), time);
    object([(
        "data",
        object([
            ("content", content),
            ("mimeType", JsValue::from_str(&read_result.mime)),
            // The kernel stores no creation time.
            ("created_at", modified.clone()),
            ("modified_at", modified),
        ]),
    )])
}

fn transfer_code(error: Option<&FileError>) -> JsValue {
    error.map_or(JsValue::NULL, |error| JsValue::from_str(error.code.transfer_code().as_str()))
}

/// Converts the results of an upload.
pub fn upload_results(results: &[UploadResult]) -> JsValue {
    list(
        results
            .iter()
            .map(|file| object([("path", text(&file.path)), ("error", transfer_code(file.result.as_ref().err()))])),
    )
}

/// Converts the results of a download.
pub fn download_results(results: &[Download]) -> JsValue {
    list(results.iter().map(|file| {
        let content = file.result.as_ref().map_or(JsValue::NULL, |content| bytes_to_js(content));
        object([("path", text(&file.path)), ("content", content), ("error", transfer_code(file.result.as_ref().err()))])
    }))
}
