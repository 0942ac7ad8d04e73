//! The class of the npm package as a backend, for the conformance suite.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};
use tidebox::{
    Background, BoxFuture, Content, DeleteResponse, Download, EMPTY_FILE_REMINDER, EditRequest, EditResponse, Error,
    ErrorKind, ExecuteRequest, ExecuteResponse, FileError, FileErrorCode, FileFuture, FileInfo, FileKind, FileResult,
    GlobRequest, GlobResponse, GrepMatch, GrepRequest, GrepResponse, LineWindow, LsResponse, OutputChunk, OutputPage,
    OutputSink, OutputStream, PortEndpoint, ProcessId, ProcessInfo, ProcessInput, ProcessSignal, ReadOutput,
    ReadRequest, ReadResponse, Result, SandboxBackend, SandboxId, SandboxPath, Secret, ShellMode, SpawnRequest,
    StopReason, TerminalSize, Truncation, Upload, UploadResult, WriteRequest, WriteResponse,
};

use crate::node::{self, Call, Node};
use crate::process;

#[derive(Debug)]
pub(crate) struct Class {
    node: Arc<Node>,
    number: u64,
    id: SandboxId,
}

impl Class {
    pub(crate) async fn create(node: &Arc<Node>, options: Value) -> Self {
        Self::of(node, node.create(options).await)
    }

    /// Creates a sandbox at a provider.
    pub(crate) async fn create_at(node: &Arc<Node>, provider: &str, options: Value) -> Self {
        Self::of(node, node.create_at(provider, options).await)
    }

    fn of(node: &Arc<Node>, (number, id): (u64, String)) -> Self {
        Self { node: Arc::clone(node), number, id: SandboxId::parse(id).expect("an id that can be") }
    }

    /// Returns the files as a tar archive.
    pub(crate) async fn tar(&self) -> Vec<u8> {
        let reply = self.call("toTar", json!([]), false).result().await;
        node::read_bytes(&reply["result"]).expect("a tar is bytes")
    }

    fn call(&self, method: &str, args: Value, watch: bool) -> Call {
        self.node.call(json!({ "sandbox": self.number, "method": method, "args": args, "watch": watch }))
    }

    /// Calls a file tool. Returns its result or its error.
    async fn tool(&self, method: &'static str, args: Value) -> Result<FileResult<Value>> {
        let mut reply = self.call(method, args, false).result().await;
        let result = reply["result"].take();
        let Some(message) = result.get("error").and_then(Value::as_str) else { return Ok(Ok(result)) };
        let code = result["code"].as_str().unwrap_or_default();
        match file_error(code) {
            Some(code) => Ok(Err(FileError::new(code, message))),
            None => Err(failure(method, code, message)),
        }
    }

    /// Transfers report one of four codes; a closed sandbox is reported by the class itself.
    async fn transfer(&self, method: &'static str, args: Value) -> Result<Vec<Value>> {
        let mut reply = self.call(method, args, false).result().await;
        if reply["running"] == json!(false) {
            return Err(Error::closed(method));
        }
        match reply["result"].take() {
            Value::Array(files) => Ok(files),
            other => panic!("{method} has answered no list: {other}"),
        }
    }

    /// Calls a method of the sandbox or of one of its processes that rejects if it fails.
    async fn about_processes(
        &self,
        operation: &'static str,
        id: Option<&ProcessId>,
        method: &str,
        args: Value,
    ) -> Result<Value> {
        let mut request = json!({ "sandbox": self.number, "method": method, "args": args });
        if let Some(id) = id {
            request["process"] = json!(id.as_str());
        }
        let mut reply = self.node.call(request).result().await;
        let result = reply["result"].take();
        match result.get("error").and_then(Value::as_str) {
            Some(message) => Err(failure(operation, result["code"].as_str().unwrap_or_default(), message)),
            None => Ok(result),
        }
    }

    async fn run(&self, request: ExecuteRequest, mut sink: Option<OutputSink<'_>>) -> Result<ExecuteResponse> {
        let mut call = self.call("execute", json!([request.command, options(&request)]), sink.is_some());
        loop {
            let mut reply = call.next().await;
            let Some(chunk) = reply.get("piece") else { return executed(&reply["result"].take()) };
            if let Some(sink) = &mut sink {
                let stream = if chunk["stream"] == "stderr" { OutputStream::Stderr } else { OutputStream::Stdout };
                sink(OutputChunk { stream, bytes: node::read_bytes(&chunk["bytes"]).expect("a piece has bytes") });
            }
        }
    }
}

fn failure(operation: &'static str, code: &str, message: &str) -> Error {
    let kind = match code {
        "CLOSED" => return Error::closed(operation),
        "INVALID_OPTIONS" => ErrorKind::InvalidRequest,
        "UNSUPPORTED" => ErrorKind::Unsupported,
        "UNAVAILABLE" => ErrorKind::Unavailable,
        "UNAUTHENTICATED" => ErrorKind::Unauthenticated,
        "QUOTA_EXCEEDED" => ErrorKind::QuotaExceeded,
        _ => ErrorKind::Engine,
    };
    Error::new(kind, operation, message)
}

/// Returns the value with this name.
pub(crate) fn named<T: Copy>(name: &str, all: &[T], name_of: impl Fn(T) -> &'static str) -> Option<T> {
    all.iter().copied().find(|value| name_of(*value) == name)
}

fn file_error(name: &str) -> Option<FileErrorCode> {
    use FileErrorCode::*;
    let all = [
        FileNotFound,
        PermissionDenied,
        IsDirectory,
        InvalidPath,
        NotADirectory,
        NotARegularFile,
        NotText,
        AlreadyExists,
        TooLarge,
        NoSpace,
        PastEnd,
        StringNotFound,
        StringNotUnique,
        InvalidPattern,
    ];
    named(name, &all, FileErrorCode::as_str)
}

fn truncation(result: &Value) -> Option<Truncation> {
    let all = [Truncation::MaxCount, Truncation::Budget, Truncation::Unreadable];
    let by = result.get("truncatedBy").map(|by| by.as_str().and_then(|by| named(by, &all, Truncation::as_str)));
    assert_eq!(by.is_some(), result["truncated"] == true, "{result}");
    by.map(|by| by.expect("a reason that is known"))
}

fn options(request: &ExecuteRequest) -> Value {
    let mut options = Map::new();
    if let Some(timeout) = request.timeout {
        options.insert("timeoutMs".to_owned(), json!(timeout.as_millis()));
    }
    if let Some(cwd) = &request.cwd {
        options.insert("cwd".to_owned(), json!(cwd.to_text()));
    }
    let env: Map<String, Value> = request.env.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    options.insert("env".to_owned(), Value::Object(env));
    options.insert("stdin".to_owned(), node::bytes(&request.stdin));
    if let Some(mode) = request.shell_mode {
        let mode = if mode == ShellMode::Persistent { "persistent" } else { "fresh" };
        options.insert("shellMode".to_owned(), json!(mode));
    }
    options.insert("outputOverflow".to_owned(), json!(request.output_overflow.as_str()));
    if request.background == Background::Keep {
        options.insert("background".to_owned(), json!("keep"));
    }
    Value::Object(options)
}

fn executed(result: &Value) -> Result<ExecuteResponse> {
    let text = result["output"].as_str().expect("a command has output");
    if let Some(code) = result.get("code").and_then(Value::as_str) {
        return Err(failure("execute", code, text));
    }
    let bytes = |name: &str| node::read_bytes(&result[name]);
    let stops = StopReason::ALL;
    let mut response = ExecuteResponse::default();
    response.output = bytes("outputBytes").unwrap_or_else(|| text.as_bytes().to_vec());
    response.stdout = bytes("stdoutBytes").unwrap_or_default();
    response.stderr = bytes("stderrBytes").unwrap_or_default();
    response.exit_code = result["exitCode"].as_i64().and_then(|code| i32::try_from(code).ok());
    response.truncated = result["truncated"] == true;
    response.stopped_by = result["stoppedBy"].as_str().and_then(|by| named(by, &stops, StopReason::as_str));
    response.duration = Duration::from_secs_f64(result["durationMs"].as_f64().unwrap_or_default() / 1e3);
    let cpu_time = result["cpuTimeMs"].as_f64();
    response.cpu_time = cpu_time.map(|milliseconds| Duration::from_secs_f64(milliseconds / 1e3));
    response.peak_memory_bytes = result["peakMemoryBytes"].as_u64().unwrap_or_default();
    response.process = result["process"].as_str().map(ProcessId::new);
    Ok(response)
}

fn files(result: &Value) -> Vec<FileInfo> {
    let file = |file: &Value| FileInfo {
        path: file["path"].as_str().expect("a file has a path").as_bytes().to_vec(),
        kind: match file["kind"].as_str() {
            Some("file") => FileKind::File,
            Some("directory") => FileKind::Directory,
            Some("symlink") => FileKind::Symlink,
            _ => FileKind::Other,
        },
        size: file["size"].as_u64(),
        modified: file["modified_at"].as_u64().map(time),
    };
    result["files"].as_array().expect("a list").iter().map(file).collect()
}

fn time(milliseconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(milliseconds)
}

/// Reverts the formatting of the tool of Deep Agents.
fn page(result: &Value) -> ReadResponse {
    let line = |name: &str| result[name].as_u64();
    let window = line("startLine").zip(line("endLine")).zip(line("totalLines"));
    let window = window.map(|((start, end), total)| LineWindow { start, end, total });
    let line_cut = result["lineCut"] == true;
    let (content, nothing) = match (node::read_bytes(&result["content"]), result["content"].as_str()) {
        (Some(bytes), _) => (Content::Binary(bytes), false),
        (None, Some(EMPTY_FILE_REMINDER)) if window.is_none() => (Content::Text(String::new()), false),
        (None, Some(text)) if line_cut => {
            let (line, _) = text.rsplit_once("\n\n[This line").expect("a note behind a line that was cut");
            (Content::Text(line.to_owned()), false)
        }
        (None, text) => (Content::Text(text.expect("a page has content").to_owned()), window.is_none()),
    };
    let mime = result["mimeType"].as_str().expect("a page has a type").to_owned().into();
    ReadResponse { content, mime, window, no_lines_requested: nothing, line_truncated: line_cut, modified: None }
}

fn path(result: &Value) -> SandboxPath {
    SandboxPath::parse(result["path"].as_str().expect("a response has a path")).expect("a path that can be")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("names are text in JavaScript; the suite was told so")
}

impl SandboxBackend for Class {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    fn execute(&self, request: ExecuteRequest) -> BoxFuture<'_, Result<ExecuteResponse>> {
        Box::pin(self.run(request, None))
    }

    fn execute_streaming<'a>(
        &'a self,
        request: ExecuteRequest,
        sink: OutputSink<'a>,
    ) -> BoxFuture<'a, Result<ExecuteResponse>> {
        Box::pin(self.run(request, Some(sink)))
    }

    fn spawn(&self, request: SpawnRequest) -> BoxFuture<'_, Result<ProcessId>> {
        Box::pin(async move {
            let args = json!([request.command, process::options(&request)]);
            let started = self.about_processes("spawn", None, "spawn", args).await?;
            Ok(ProcessId::new(started["id"].as_str().expect("a process has an id")))
        })
    }

    fn processes(&self) -> BoxFuture<'_, Result<Vec<ProcessInfo>>> {
        Box::pin(async move {
            let listed = self.about_processes("processes", None, "processes", json!([])).await?;
            Ok(listed.as_array().expect("a list").iter().map(process::info).collect())
        })
    }

    fn read_process<'a>(&'a self, id: &'a ProcessId, request: ReadOutput) -> BoxFuture<'a, Result<OutputPage>> {
        Box::pin(async move {
            let args = json!([process::read_options(&request)]);
            Ok(process::page(&self.about_processes("read_process", Some(id), "read", args).await?))
        })
    }

    fn write_process<'a>(&'a self, id: &'a ProcessId, input: ProcessInput) -> BoxFuture<'a, Result<usize>> {
        Box::pin(async move {
            const OPERATION: &str = "write_process";
            match input {
                // The class writes all bytes.
                ProcessInput::Bytes(bytes) => {
                    let args = json!([node::bytes(&bytes)]);
                    self.about_processes(OPERATION, Some(id), "write", args).await.map(|_| bytes.len())
                }
                ProcessInput::End => {
                    self.about_processes(OPERATION, Some(id), "closeStdin", json!([])).await.map(|_| 0)
                }
            }
        })
    }

    fn signal_process<'a>(&'a self, id: &'a ProcessId, signal: ProcessSignal) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let args = json!([signal.as_str()]);
            self.about_processes("signal_process", Some(id), "signal", args).await.map(drop)
        })
    }

    fn resize_process<'a>(&'a self, id: &'a ProcessId, size: TerminalSize) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let args = json!([process::terminal(size)]);
            self.about_processes("resize_process", Some(id), "resize", args).await.map(drop)
        })
    }

    fn port_endpoint(&self, port: u16) -> BoxFuture<'_, Result<PortEndpoint>> {
        Box::pin(async move {
            let endpoint = self.about_processes("port_endpoint", None, "portEndpoint", json!([port])).await?;
            let headers = endpoint["headers"].as_object().expect("an endpoint has headers").iter();
            let url = endpoint["url"].as_str().expect("an endpoint has a URL");
            Ok(headers.fold(PortEndpoint::new(url), |endpoint, (name, value)| {
                endpoint.with_header(name.as_str(), Secret::new(value.as_str().expect("a value is text")))
            }))
        })
    }

    fn ls<'a>(&'a self, path: &'a SandboxPath) -> FileFuture<'a, LsResponse> {
        Box::pin(async move {
            let reply = self.tool("ls", json!([path.to_text()])).await?;
            Ok(reply.map(|result| LsResponse { entries: files(&result) }))
        })
    }

    fn read(&self, request: ReadRequest) -> FileFuture<'_, ReadResponse> {
        Box::pin(async move {
            // A missing limit selects the default of the class.
            let args = match request.limit {
                Some(limit) => json!([request.path.to_text(), request.offset, limit]),
                None => json!([request.path.to_text(), request.offset]),
            };
            Ok(self.tool("read", args).await?.map(|result| page(&result)))
        })
    }

    fn write(&self, request: WriteRequest) -> FileFuture<'_, WriteResponse> {
        Box::pin(async move {
            let reply = self.tool("write", json!([request.path.to_text(), node::bytes(&request.content)])).await?;
            Ok(reply.map(|result| WriteResponse { path: path(&result), created: result["created"] == true }))
        })
    }

    fn edit(&self, request: EditRequest) -> FileFuture<'_, EditResponse> {
        Box::pin(async move {
            let args = json!([request.path.to_text(), request.old, request.new, request.replace_all]);
            let count = |result: &Value| result["occurrences"].as_u64().and_then(|count| usize::try_from(count).ok());
            Ok(self.tool("edit", args).await?.map(|result| EditResponse {
                path: path(&result),
                occurrences: count(&result).expect("an edit is counted"),
            }))
        })
    }

    fn delete<'a>(&'a self, at: &'a SandboxPath) -> FileFuture<'a, DeleteResponse> {
        Box::pin(async move {
            let reply = self.tool("delete", json!([at.to_text()])).await?;
            Ok(reply.map(|result| DeleteResponse { path: path(&result) }))
        })
    }

    fn grep(&self, request: GrepRequest) -> FileFuture<'_, GrepResponse> {
        Box::pin(async move {
            let glob = request.glob.as_deref().map(text);
            let args = json!([text(&request.pattern), request.path.to_text(), glob, request.max_count]);
            Ok(self.tool("grep", args).await?.map(|result| {
                let found = |found: &Value| GrepMatch {
                    path: found["path"].as_str().expect("a match has a path").as_bytes().to_vec(),
                    line: found["line"].as_u64().expect("a match has a line"),
                    text: found["text"].as_str().expect("a match has a text").as_bytes().to_vec(),
                };
                let matches = result["matches"].as_array().expect("a list").iter().map(found).collect();
                GrepResponse { matches, truncated: truncation(&result) }
            }))
        })
    }

    fn glob(&self, request: GlobRequest) -> FileFuture<'_, GlobResponse> {
        Box::pin(async move {
            let reply = self.tool("glob", json!([text(&request.pattern), request.path.to_text()])).await?;
            Ok(reply.map(|result| GlobResponse { files: files(&result), truncated: truncation(&result) }))
        })
    }

    fn upload_files(&self, uploads: Vec<Upload>) -> BoxFuture<'_, Result<Vec<UploadResult>>> {
        Box::pin(async move {
            let pairs: Vec<Value> =
                uploads.iter().map(|file| json!([text(&file.path), node::bytes(&file.content)])).collect();
            let result = |file: Value| UploadResult { path: file_path(&file), result: exchanged(&file, |_| ()) };
            Ok(self.transfer("uploadFiles", json!([pairs])).await?.into_iter().map(result).collect())
        })
    }

    fn download_files(&self, paths: Vec<Vec<u8>>) -> BoxFuture<'_, Result<Vec<Download>>> {
        Box::pin(async move {
            let paths: Vec<&str> = paths.iter().map(|path| text(path)).collect();
            let content = |file: &Value| node::read_bytes(&file["content"]).expect("a file has content");
            let result = |file: Value| Download { path: file_path(&file), result: exchanged(&file, content) };
            Ok(self.transfer("downloadFiles", json!([paths])).await?.into_iter().map(result).collect())
        })
    }

    fn close(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            self.call("close", json!([]), false).result().await;
            Ok(())
        })
    }
}

fn file_path(file: &Value) -> Vec<u8> {
    file["path"].as_str().expect("a file has a path").as_bytes().to_vec()
}

fn exchanged<T>(file: &Value, done: impl FnOnce(&Value) -> T) -> FileResult<T> {
    match file["error"].as_str() {
        None => Ok(done(file)),
        Some(code) => Err(FileError::new(file_error(code).expect("one of the four codes"), code)),
    }
}
