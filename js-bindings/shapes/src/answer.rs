//! Answers in the shapes of Deep Agents for JavaScript. What is absent is `undefined` there and never `null`, except where
//! its protocol says otherwise: exit codes, and the errors of transfers.

use std::time::{SystemTime, UNIX_EPOCH};

use js_sys::{Array, Date, Object, Reflect, Uint8Array};
use tidebox_core::{
    Content, Dialect, Download, Error, ErrorKind, ExecuteResponse, FileError, FileInfo, FileKind, FileResult,
    GlobResponse, GrepResponse, LineWindow, LsResponse, ReadResponse, StopReason, ToolContent, Truncation,
    UploadResult,
};
use wasm_bindgen::JsValue;

/// An object of these properties; those that are `undefined` are left out.
pub fn object<'a>(properties: impl IntoIterator<Item = (&'a str, JsValue)>) -> JsValue {
    let object = Object::new();
    for (name, value) in properties.into_iter().filter(|(_, value)| !value.is_undefined()) {
        // Setting a property of a plain object cannot fail.
        let _ = Reflect::set(&object, &JsValue::from_str(name), &value);
    }
    object.into()
}

/// Bytes as a text; U+FFFD for what is not UTF-8.
pub fn text(bytes: &[u8]) -> JsValue {
    JsValue::from_str(&String::from_utf8_lossy(bytes))
}

fn bytes(bytes: &[u8]) -> JsValue {
    Uint8Array::from(bytes).into()
}

/// A count.
pub fn count(n: u64) -> JsValue {
    JsValue::from_f64(n as f64)
}

fn maybe<T>(value: Option<T>, show: impl FnOnce(T) -> JsValue) -> JsValue {
    value.map_or(JsValue::UNDEFINED, show)
}

fn list(items: impl Iterator<Item = JsValue>) -> JsValue {
    items.collect::<Array>().into()
}

/// The answer, or the refusal as one.
pub fn told<T>(result: FileResult<T>, show: impl FnOnce(T) -> JsValue) -> JsValue {
    result.map_or_else(|refusal| refused(&refusal), show)
}

/// A refusal.
pub fn refused(refusal: &FileError) -> JsValue {
    object([("error", JsValue::from_str(&refusal.message)), ("code", JsValue::from_str(refusal.code.as_str()))])
}

/// What is thrown at the Worker; the class makes an answer or a `SandboxError` of it.
pub fn failure(error: &Error) -> JsValue {
    object([("kind", JsValue::from_str(error.kind().as_str())), ("message", JsValue::from_str(&error.to_string()))])
}

/// A failure with a sentence of ours.
pub fn invalid(operation: &'static str, message: &str) -> JsValue {
    failure(&Error::new(ErrorKind::InvalidRequest, operation, message))
}

/// How a command went.
pub fn executed(response: &ExecuteResponse) -> JsValue {
    let told_by_text = std::str::from_utf8(&response.output).is_ok();
    object([
        ("output", text(&response.output)),
        ("exitCode", response.exit_code.map_or(JsValue::NULL, JsValue::from)),
        ("truncated", response.truncated.into()),
        ("stdout", text(&response.stdout)),
        ("stderr", text(&response.stderr)),
        ("stdoutBytes", bytes(&response.stdout)),
        ("stderrBytes", bytes(&response.stderr)),
        ("outputBytes", if told_by_text { JsValue::UNDEFINED } else { bytes(&response.output) }),
        ("stoppedBy", maybe(response.stopped_by.map(StopReason::as_str), JsValue::from_str)),
        ("durationMs", (response.duration.as_secs_f64() * 1e3).into()),
        // A provider does not tell it.
        ("peakMemoryBytes", maybe(Some(response.peak_memory_bytes).filter(|bytes| *bytes > 0), count)),
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
        ("size", maybe(info.size, count)),
        ("modified_at", maybe(info.modified, time)),
    ])
}

/// What a directory holds.
pub fn listed(response: &LsResponse) -> JsValue {
    object([("files", list(response.entries.iter().map(file)))])
}

/// That a list leaves something out, and why.
fn cut(truncated: Option<Truncation>) -> [(&'static str, JsValue); 2] {
    let by = truncated.map(Truncation::as_str);
    [("truncated", maybe(truncated, |_| JsValue::TRUE)), ("truncatedBy", maybe(by, JsValue::from_str))]
}

/// Files that were found by name.
pub fn globbed(response: &GlobResponse) -> JsValue {
    let [truncated, by] = cut(response.truncated);
    object([("files", list(response.files.iter().map(file))), truncated, by])
}

/// Lines that were found.
pub fn found(response: &GrepResponse) -> JsValue {
    let matches = response
        .matches
        .iter()
        .map(|found| object([("path", text(&found.path)), ("line", count(found.line)), ("text", text(&found.text))]));
    let [truncated, by] = cut(response.truncated);
    object([("matches", list(matches)), truncated, by])
}

/// A page, as the tool of Deep Agents shows it.
pub fn page(response: &ReadResponse) -> JsValue {
    let content = match (&response.content, response.tool_content(Dialect::Js)) {
        (Content::Binary(content), _) => bytes(content),
        (Content::Text(_), ToolContent::Text(content)) => JsValue::from_str(&content),
        (Content::Text(_), ToolContent::Base64(content)) => JsValue::from_str(&content),
    };
    let window = response.window.as_ref();
    object([
        ("content", content),
        ("mimeType", JsValue::from_str(&response.mime)),
        ("totalLines", maybe(window, |window| count(window.total))),
        ("startLine", maybe(window, |window| count(window.start))),
        ("endLine", maybe(window, |window| count(window.end))),
        ("nextOffset", maybe(window.and_then(LineWindow::next_offset), count)),
        ("lineCut", if response.line_cut { JsValue::TRUE } else { JsValue::UNDEFINED }),
    ])
}

/// A whole file with its data, as `readRaw` answers.
pub fn raw(page: &ReadResponse, content: &[u8]) -> JsValue {
    let content = match (&page.content, std::str::from_utf8(content)) {
        (Content::Text(_), Ok(content)) => JsValue::from_str(content),
        _ => bytes(content),
    };
    let modified = page.modified.map_or_else(|| time(UNIX_EPOCH), time);
    object([(
        "data",
        object([
            ("content", content),
            ("mimeType", JsValue::from_str(&page.mime)),
            // The kernel keeps no time of birth.
            ("created_at", modified.clone()),
            ("modified_at", modified),
        ]),
    )])
}

fn transfer_code(refusal: Option<&FileError>) -> JsValue {
    refusal.map_or(JsValue::NULL, |refusal| JsValue::from_str(refusal.code.transfer_code().as_str()))
}

/// What became of files that were put in.
pub fn uploaded(results: &[UploadResult]) -> JsValue {
    list(
        results
            .iter()
            .map(|file| object([("path", text(&file.path)), ("error", transfer_code(file.result.as_ref().err()))])),
    )
}

/// Files that were taken out.
pub fn downloaded(results: &[Download]) -> JsValue {
    list(results.iter().map(|file| {
        let content = file.result.as_ref().map_or(JsValue::NULL, |content| bytes(content));
        object([("path", text(&file.path)), ("content", content), ("error", transfer_code(file.result.as_ref().err()))])
    }))
}
