//! Converts responses to JSON. Bytes that are not UTF-8 are added in base64 next to the lossy text.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::{
    Dialect, EditRequest, Error, ErrorKind, ExecuteRequest, ExecuteResponse, FileError, FileInfo, FileResult,
    GlobRequest, GlobResponse, GrepRequest, GrepResponse, LineWindow, ProcessId, ReadRequest, ReadResponse, Result,
    Sandbox, SandboxBackend, Secret, ShellMode, ToolContent, Truncation, Upload, WriteRequest,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value, json};

use super::ServerState;
use super::process;
use super::python::PythonResult;
use super::request::{Execute, Mode, Request, Write};

/// Executes a request.
pub(super) async fn handle(state: &ServerState, request: Request) -> Result<Value> {
    let sandbox = &*state.sandbox;
    let resolve = |path: &str| sandbox.cwd().resolve(path);
    let within = |path: Option<String>| path.map_or_else(|| Ok(sandbox.cwd().clone()), |path| resolve(&path));
    Ok(match request {
        Request::Info(_) => info(sandbox),
        Request::Execute(request) => {
            let command = command(&request)?;
            // An invalid directory is an error of the command, like a missing one.
            let request = match execute_request(sandbox, command, request) {
                Ok(request) => request,
                Err(error) => return Ok(file_error(&error)),
            };
            execute_result(&sandbox.execute(request).await?)
        }
        Request::Python(request) => python(&state.python.run(&state.sandbox, request).await?),
        Request::PythonEnd(request) => json!({ "ended": state.python.end(&request.session).await }),
        Request::Spawn(request) => process::spawn(sandbox, request).await?,
        Request::Processes(_) => process::list(sandbox).await?,
        Request::ReadProcess(request) => process::read(sandbox, request).await?,
        Request::WriteProcess(request) => process::write(sandbox, request).await?,
        Request::SignalProcess(request) => process::signal(sandbox, request).await?,
        Request::ResizeProcess(request) => process::resize(sandbox, request).await?,
        Request::PortEndpoint(request) => port_endpoint(state, request.port).await?,
        Request::Ls(at) => match resolve(&at.path) {
            Ok(path) => {
                file_result_to_json(sandbox.ls(&path).await?, |listed| json!({ "entries": files(&listed.entries) }))
            }
            Err(error) => file_error(&error),
        },
        Request::Read(read) => match resolve(&read.path) {
            Ok(path) => {
                let mut request = ReadRequest::new(path).with_offset(read.offset);
                request.limit = read.limit;
                file_result_to_json(sandbox.read(request).await?, |response| read_result(&response, sandbox.dialect()))
            }
            Err(error) => file_error(&error),
        },
        Request::Write(Write { path, content, content_base64 }) => match resolve(&path) {
            Ok(path) => {
                let bytes = content_base64.map(|bytes| bytes.0);
                let content = bytes.unwrap_or_else(|| content.unwrap_or_default().into_bytes());
                let written = sandbox.write(WriteRequest::new(path, content)).await?;
                file_result_to_json(
                    written,
                    |written| json!({ "path": written.path.to_text(), "created": written.created }),
                )
            }
            Err(error) => file_error(&error),
        },
        Request::Edit(edit) => match resolve(&edit.path) {
            Ok(path) => {
                let mut request = EditRequest::new(path, edit.old, edit.new);
                request.replace_all = edit.replace_all;
                let edited = sandbox.edit(request).await?;
                file_result_to_json(
                    edited,
                    |edited| json!({ "path": edited.path.to_text(), "occurrences": edited.occurrences }),
                )
            }
            Err(error) => file_error(&error),
        },
        Request::Delete(at) => match resolve(&at.path) {
            Ok(path) => {
                file_result_to_json(sandbox.delete(&path).await?, |deleted| json!({ "path": deleted.path.to_text() }))
            }
            Err(error) => file_error(&error),
        },
        Request::Grep(grep) => match within(grep.path) {
            Ok(path) => {
                let mut request = GrepRequest::new(grep.pattern, path);
                request.glob = grep.glob.map(String::into_bytes);
                request.max_count = grep.max_count;
                file_result_to_json(sandbox.grep(request).await?, |found| grep_result(&found))
            }
            Err(error) => file_error(&error),
        },
        Request::Glob(glob) => match within(glob.path) {
            Ok(path) => file_result_to_json(sandbox.glob(GlobRequest::new(glob.pattern, path)).await?, |found| {
                glob_result(&found)
            }),
            Err(error) => file_error(&error),
        },
        Request::UploadFiles(request) => {
            let files = request.files.into_iter().map(|file| Upload::new(file.path, file.content_base64.0));
            let results = sandbox.upload_files(files.collect()).await?;
            let upload_json = |path: &[u8], result: &FileResult<()>| with_path(path, transfer(result.as_ref().err()));
            json!({ "files": results.iter().map(|file| upload_json(&file.path, &file.result)).collect::<Vec<_>>() })
        }
        Request::DownloadFiles(request) => {
            let paths = request.paths.into_iter().map(String::into_bytes).collect();
            let results = sandbox.download_files(paths).await?;
            let files = results.iter().map(|file| {
                let content = file.result.as_ref().ok().map(|bytes| BASE64.encode(bytes));
                with_path(
                    &file.path,
                    [vec![("content_base64", json!(content))], transfer(file.result.as_ref().err())].concat(),
                )
            });
            json!({ "files": files.collect::<Vec<_>>() })
        }
        Request::Close(_) => {
            sandbox.close().await?;
            json!({})
        }
    })
}

fn info(sandbox: &Sandbox) -> Value {
    json!({
        "id": sandbox.id().as_str(),
        "version": env!("CARGO_PKG_VERSION"),
        "dialect": sandbox.dialect().as_str(),
        "cwd": sandbox.cwd().to_text(),
    })
}

/// Returns the request with the command line, or with the program and its arguments.
fn command(execute: &Execute) -> Result<ExecuteRequest> {
    match (&execute.command, &execute.argv) {
        (Some(line), None) => Ok(ExecuteRequest::new(line)),
        (None, Some(arguments)) => ExecuteRequest::from_arguments(arguments),
        _ => {
            let message = "expected either `command`, a command line, or `argv`, a program and its arguments";
            Err(Error::new(ErrorKind::InvalidRequest, "execute", message))
        }
    }
}

fn execute_request(sandbox: &Sandbox, request: ExecuteRequest, execute: Execute) -> FileResult<ExecuteRequest> {
    let timeout = execute.timeout();
    let mut request = request.with_stdin(execute.stdin_base64.0);
    request.timeout = timeout;
    request.cwd = execute.cwd.map(|cwd| sandbox.cwd().resolve(cwd)).transpose()?;
    request.env = execute.env.into_iter().collect();
    request.shell_mode = execute.shell_mode.map(|mode| match mode {
        Mode::Fresh => ShellMode::Fresh,
        Mode::Persistent => ShellMode::Persistent,
    });
    request.output_overflow = execute.output_overflow;
    request.background = execute.background;
    Ok(request)
}

fn execute_result(response: &ExecuteResponse) -> Value {
    let mut object = Map::new();
    for (name, bytes) in [("output", &response.output), ("stdout", &response.stdout), ("stderr", &response.stderr)] {
        put_text(&mut object, name, bytes);
    }
    object.insert("exit_code".to_owned(), json!(response.exit_code));
    object.insert("truncated".to_owned(), json!(response.truncated));
    object.insert("stopped_by".to_owned(), json!(response.stopped_by.map(crate::StopReason::as_str)));
    object.insert("duration_ms".to_owned(), json!(response.duration.as_micros() as f64 / 1e3));
    object.insert("cpu_time_ms".to_owned(), json!(response.cpu_time.map(|time| time.as_micros() as f64 / 1e3)));
    object.insert("peak_memory_bytes".to_owned(), json!(response.peak_memory_bytes));
    object.insert("process".to_owned(), json!(response.process.as_ref().map(ProcessId::as_str)));
    Value::Object(object)
}

/// Returns the address of a port. It exists until the sandbox is closed.
async fn port_endpoint(state: &ServerState, port: u16) -> Result<Value> {
    let mut endpoints = state.endpoints.lock().await;
    let endpoint = match endpoints.get(&port) {
        Some(endpoint) => endpoint.clone(),
        None => state.sandbox.port_endpoint(port).await?,
    };
    let text = |value: &Secret| String::from_utf8_lossy(value.expose()).into_owned();
    let headers: BTreeMap<&str, String> =
        endpoint.headers.iter().map(|(name, value)| (name.as_str(), text(value))).collect();
    let described = json!({ "url": endpoint.url, "headers": headers });
    endpoints.insert(port, endpoint);
    Ok(described)
}

fn python(result: &PythonResult) -> Value {
    let PythonResult { response, started, ended } = result;
    let error = response.error.as_ref();
    let mut json = execute_result(&response.output);
    for (name, value) in [
        ("value", json!(response.value)),
        (
            "error",
            json!(
                error
                    .map(|error| json!({ "name": error.name, "message": error.message, "traceback": error.traceback }))
            ),
        ),
        ("pictures", json!(response.figures)),
        ("begun", json!(started)),
        ("ended", json!(ended)),
    ] {
        json[name] = value;
    }
    json
}

/// Converts a file result: the response, or the error.
fn file_result_to_json<T>(result: FileResult<T>, show: impl FnOnce(T) -> Value) -> Value {
    result.map_or_else(|error| file_error(&error), show)
}

fn file_error(error: &FileError) -> Value {
    json!({ "error": { "code": error.code.as_str(), "message": error.message } })
}

/// Returns the error code of a transfer, `null` on success, and the message.
fn transfer(error: Option<&FileError>) -> Vec<(&'static str, Value)> {
    let code = error.map(|error| error.code.transfer_code().as_str());
    vec![("error", json!(code)), ("message", json!(error.map(|error| &error.message)))]
}

/// Inserts text under `name`, and the bytes under `name_base64` if the text is lossy.
fn put_text(object: &mut Map<String, Value>, name: &str, bytes: &[u8]) {
    object.insert(name.to_owned(), json!(String::from_utf8_lossy(bytes)));
    if std::str::from_utf8(bytes).is_err() {
        object.insert(format!("{name}_base64"), json!(BASE64.encode(bytes)));
    }
}

fn with_path(path: &[u8], rest: Vec<(&'static str, Value)>) -> Value {
    let mut object = Map::new();
    put_text(&mut object, "path", path);
    object.extend(rest.into_iter().map(|(name, value)| (name.to_owned(), value)));
    Value::Object(object)
}

fn files(files: &[FileInfo]) -> Vec<Value> {
    let file = |file: &FileInfo| {
        let modified = file.modified.map(seconds);
        let rest = vec![("is_dir", json!(file.is_dir())), ("size", json!(file.size)), ("modified", json!(modified))];
        with_path(&file.path, rest)
    };
    files.iter().map(file).collect()
}

/// Converts a time to seconds since the Unix epoch.
fn seconds(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).map_or_else(|before| -before.duration().as_secs_f64(), |since| since.as_secs_f64())
}

fn read_result(response: &ReadResponse, dialect: Dialect) -> Value {
    let (content, encoding) = match response.tool_content(dialect) {
        ToolContent::Text(text) => (json!(text), "utf-8"),
        ToolContent::Base64(text) => (json!(text), "base64"),
    };
    let window = response.window;
    json!({
        "content": content,
        "encoding": encoding,
        "mime": response.mime,
        "start_line": window.map(|window| window.start),
        "end_line": window.map(|window| window.end),
        "total_lines": window.map(|window| window.total),
        "next_offset": window.as_ref().and_then(LineWindow::next_offset),
        "no_lines_requested": response.no_lines_requested,
        "modified": response.modified.map(seconds),
    })
}

fn grep_result(found: &GrepResponse) -> Value {
    let found_lines = found.matches.iter().map(|found| {
        let mut object = Map::new();
        put_text(&mut object, "path", &found.path);
        object.insert("line".to_owned(), json!(found.line));
        put_text(&mut object, "text", &found.text);
        Value::Object(object)
    });
    json!({ "matches": found_lines.collect::<Vec<_>>(), "truncated": found.truncated.map(Truncation::as_str) })
}

fn glob_result(found: &GlobResponse) -> Value {
    json!({ "files": files(&found.files), "truncated": found.truncated.map(Truncation::as_str) })
}
