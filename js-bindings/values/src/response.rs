//! Converts responses to the types of Deep Agents, as neutral values. Missing values are undefined, never null, except where its
//! protocol requires it: exit codes, and errors of transfers.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tidebox_core::{
    Content, Dialect, Download, Error, ExecuteResponse, FileError, FileInfo, FileKind, FileResult, GlobResponse,
    GrepResponse, LineWindow, LsResponse, OutputChunk, OutputPage, OutputStream, ProcessInfo, ProcessState,
    ReadResponse, StopReason, ToolContent, Truncation, UploadResult,
};

use crate::neutral::Value;

/// Converts a file result: the response, or the error.
pub fn file_result<T>(result: FileResult<T>, show: impl FnOnce(T) -> Value) -> Value {
    result.map_or_else(|error| file_error(&error), show)
}

/// Converts a file error.
pub fn file_error(error: &FileError) -> Value {
    Value::object([("error", Value::from(error.message.as_str())), ("code", Value::from(error.code.as_str()))])
}

/// Converts an error to the object that is thrown to TypeScript, which converts it to a result or a `SandboxError`.
pub fn failure(error: &Error) -> Value {
    Value::object([("kind", Value::from(error.kind().as_str())), ("message", Value::Text(error.to_string()))])
}

/// Converts the response of a command.
pub fn execute_result(response: &ExecuteResponse) -> Value {
    let is_lossless = std::str::from_utf8(&response.output).is_ok();
    Value::object([
        ("output", Value::lossy(&response.output)),
        ("exitCode", exit_code(response.exit_code)),
        ("truncated", response.truncated.into()),
        ("stdout", Value::lossy(&response.stdout)),
        ("stderr", Value::lossy(&response.stderr)),
        ("stdoutBytes", Value::Bytes(response.stdout.clone())),
        ("stderrBytes", Value::Bytes(response.stderr.clone())),
        ("outputBytes", if is_lossless { Value::Undefined } else { Value::Bytes(response.output.clone()) }),
        ("stoppedBy", Value::optional(response.stopped_by.map(StopReason::as_str), Value::from)),
        ("durationMs", (response.duration.as_secs_f64() * 1e3).into()),
        ("cpuTimeMs", Value::optional(response.cpu_time, |time| (time.as_secs_f64() * 1e3).into())),
        // Providers do not report it.
        ("peakMemoryBytes", Value::optional(Some(response.peak_memory_bytes).filter(|bytes| *bytes > 0), Value::count)),
        ("process", Value::optional(response.process.as_ref(), |id| Value::from(id.as_str()))),
    ])
}

fn exit_code(code: Option<i32>) -> Value {
    code.map_or(Value::Null, |code| f64::from(code).into())
}

/// Converts a time to the format of `Date.toISOString` in JavaScript. Times before 1970 are 1970.
fn time(time: SystemTime) -> Value {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let (days, seconds) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let milliseconds = since.subsec_millis();
    Value::Text(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z"))
}

/// Converts days since 1970 to year, month and day: years start in March, so that a leap day is the last day.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day_of_year - (153 * from_march + 2) / 5 + 1)
}

fn kind(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Symlink => "symlink",
        FileKind::Other => "other",
    }
}

fn file(info: &FileInfo) -> Value {
    Value::object([
        ("path", Value::lossy(&info.path)),
        ("is_dir", info.is_dir().into()),
        ("kind", Value::from(kind(info.kind))),
        ("size", Value::optional(info.size, Value::count)),
        ("modified_at", Value::optional(info.modified, time)),
    ])
}

/// Converts a directory listing.
pub fn ls_result(response: &LsResponse) -> Value {
    Value::object([("files", Value::list(response.entries.iter().map(file)))])
}

/// Returns the fields of an incomplete list.
fn truncation_fields(truncated: Option<Truncation>) -> [(&'static str, Value); 2] {
    let by = truncated.map(Truncation::as_str);
    [
        ("truncated", Value::optional(truncated, |_| Value::Bool(true))),
        ("truncatedBy", Value::optional(by, Value::from)),
    ]
}

/// Converts the response of `glob`.
pub fn glob_result(response: &GlobResponse) -> Value {
    let [truncated, by] = truncation_fields(response.truncated);
    Value::object([("files", Value::list(response.files.iter().map(file))), truncated, by])
}

/// Converts the response of `grep`.
pub fn grep_result(response: &GrepResponse) -> Value {
    let matches = response.matches.iter().map(|grep_result| {
        Value::object([
            ("path", Value::lossy(&grep_result.path)),
            ("line", Value::count(grep_result.line)),
            ("text", Value::lossy(&grep_result.text)),
        ])
    });
    let [truncated, by] = truncation_fields(response.truncated);
    Value::object([("matches", Value::list(matches)), truncated, by])
}

/// Converts a page of a file, as the tool of Deep Agents shows it.
pub fn read_result(response: &ReadResponse) -> Value {
    let content = match (&response.content, response.tool_content(Dialect::Js)) {
        (Content::Binary(content), _) => Value::Bytes(content.to_vec()),
        (Content::Text(_), ToolContent::Text(content)) => Value::Text(content.into_owned()),
        (Content::Text(_), ToolContent::Base64(content)) => Value::Text(content),
    };
    let window = response.window.as_ref();
    Value::object([
        ("content", content),
        ("mimeType", Value::from(response.mime.as_ref())),
        ("totalLines", Value::optional(window, |window| Value::count(window.total))),
        ("startLine", Value::optional(window, |window| Value::count(window.start))),
        ("endLine", Value::optional(window, |window| Value::count(window.end))),
        ("nextOffset", Value::optional(window.and_then(LineWindow::next_offset), Value::count)),
        ("lineCut", if response.line_truncated { Value::Bool(true) } else { Value::Undefined }),
    ])
}

/// Converts a whole file with its metadata, for `readRaw`.
pub fn read_raw_result(read_result: &ReadResponse, content: &[u8]) -> Value {
    let content = match (&read_result.content, std::str::from_utf8(content)) {
        (Content::Text(_), Ok(content)) => Value::from(content),
        _ => Value::Bytes(content.to_vec()),
    };
    let modified = read_result.modified.map_or_else(|| time(UNIX_EPOCH), time);
    Value::object([(
        "data",
        Value::object([
            ("content", content),
            ("mimeType", Value::from(read_result.mime.as_ref())),
            // The kernel stores no creation time.
            ("created_at", modified.clone()),
            ("modified_at", modified),
        ]),
    )])
}

fn transfer_code(error: Option<&FileError>) -> Value {
    error.map_or(Value::Null, |error| Value::from(error.code.transfer_code().as_str()))
}

/// Converts the results of an upload.
pub fn upload_results(results: &[UploadResult]) -> Value {
    Value::list(results.iter().map(|file| {
        Value::object([("path", Value::lossy(&file.path)), ("error", transfer_code(file.result.as_ref().err()))])
    }))
}

/// Converts the results of a download.
pub fn download_results(results: &[Download]) -> Value {
    Value::list(results.iter().map(|file| {
        let content = file.result.as_ref().map_or(Value::Null, |content| Value::Bytes(content.to_vec()));
        Value::object([
            ("path", Value::lossy(&file.path)),
            ("content", content),
            ("error", transfer_code(file.result.as_ref().err())),
        ])
    }))
}

fn state_fields(state: &ProcessState) -> [(&'static str, Value); 3] {
    let (running, exit_code, stopped_by) = match state {
        ProcessState::Running => (true, None, None),
        ProcessState::Ended { exit_code, stopped_by } => (false, *exit_code, *stopped_by),
    };
    [
        ("running", running.into()),
        ("exitCode", self::exit_code(exit_code)),
        ("stoppedBy", Value::optional(stopped_by.map(StopReason::as_str), Value::from)),
    ]
}

/// Converts the properties of a process.
pub fn process_info(info: &ProcessInfo) -> Value {
    let [running, exit_code, stopped_by] = state_fields(&info.state);
    Value::object([
        ("id", Value::from(info.id.as_str())),
        ("tag", Value::optional(info.tag.as_deref(), Value::from)),
        ("command", Value::from(info.command.as_str())),
        ("startedMs", (info.started.as_secs_f64() * 1e3).into()),
        ("writtenBytes", Value::count(info.written_bytes)),
        running,
        exit_code,
        stopped_by,
    ])
}

/// Converts a page of the output of a process.
pub fn output_page(page: &OutputPage) -> Value {
    let [running, exit_code, stopped_by] = state_fields(&page.state);
    Value::object([
        ("chunks", Value::list(page.chunks.iter().map(chunk))),
        ("next", Value::count(page.next.bytes())),
        ("dropped", Value::count(page.dropped)),
        running,
        exit_code,
        stopped_by,
    ])
}

fn chunk(chunk: &OutputChunk) -> Value {
    let stream = if chunk.stream == OutputStream::Stderr { "stderr" } else { "stdout" };
    Value::object([("stream", Value::from(stream)), ("bytes", Value::Bytes(chunk.bytes.clone()))])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format_time(seconds: u64, milliseconds: u32) -> Value {
        time(UNIX_EPOCH + Duration::new(seconds, milliseconds * 1_000_000))
    }

    #[test]
    fn times_have_the_format_of_javascript() {
        assert_eq!(format_time(0, 0), Value::from("1970-01-01T00:00:00.000Z"));
        assert_eq!(format_time(951_826_225, 7), Value::from("2000-02-29T12:10:25.007Z"));
        assert_eq!(format_time(1_709_251_199, 999), Value::from("2024-02-29T23:59:59.999Z"));
        assert_eq!(format_time(4_107_542_400, 0), Value::from("2100-03-01T00:00:00.000Z"));
        assert_eq!(time(UNIX_EPOCH - Duration::from_secs(1)), Value::from("1970-01-01T00:00:00.000Z"));
    }

    #[test]
    fn missing_values_are_omitted_and_exit_codes_are_null() {
        let mut response = ExecuteResponse::default();
        response.output = b"a\xff".to_vec();
        let Value::Object(properties) = execute_result(&response) else { panic!("not an object") };
        let find = |name| properties.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
        assert_eq!(find("output"), Some(Value::from("a\u{fffd}")));
        assert_eq!(find("outputBytes"), Some(Value::Bytes(b"a\xff".to_vec())));
        assert_eq!(find("exitCode"), Some(Value::Null));
        assert_eq!([find("stoppedBy"), find("process"), find("peakMemoryBytes")], [None, None, None]);
    }
}
