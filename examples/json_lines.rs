//! A sandbox for programs in other languages: one request a line on standard input, one answer a line on standard output.
//!
//! Requests have an `id`, which comes back with the answer, and a `method` with its arguments; they run at the same time.
//! The answers have the shape of Deep Agents for Python. `tests/python` speaks this from Python.

use std::io::{self, BufRead, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use tidebox::{
    Dialect, EditRequest, ExecuteRequest, FileError, GlobRequest, GrepRequest, ReadRequest, ReadResponse, Result,
    Sandbox, SandboxBackend, SandboxPath, ToolContent, Truncation, Upload, WriteRequest,
};

fn main() -> Result<()> {
    let dialect = match std::env::args().nth(1).as_deref() {
        Some("langchain-tests") => Dialect::LangchainTests,
        _ => Dialect::Python,
    };
    let sandbox = Arc::new(tidebox::sandbox()?.dialect(dialect).build()?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("the runtime starts");
    let output = Arc::new(Mutex::new(io::stdout()));
    let mut running = Vec::new();
    for line in io::stdin().lock().lines() {
        let Ok(request) = line.map_err(|_| ()).and_then(|line| serde_json::from_str(&line).map_err(|_| ())) else {
            break;
        };
        let (sandbox, output) = (Arc::clone(&sandbox), Arc::clone(&output));
        running.push(runtime.spawn(async move {
            let mut answer = match call(&sandbox, &request).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(refused)) => json!({ "error": refused.message }),
                Err(failed) => json!({ "error": failed.to_string() }),
            };
            answer["id"] = request["id"].clone();
            let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
            // Who asked may be gone.
            let _ = writeln!(output, "{answer}").and_then(|()| output.flush());
        }));
    }
    runtime.block_on(async {
        for task in running {
            let _ = task.await;
        }
    });
    Ok(())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// An answer, or a refusal of the sandbox.
type Answer = std::result::Result<Value, FileError>;

async fn call(sandbox: &Sandbox, request: &Value) -> Result<Answer> {
    let argument = |name: &str| request[name].as_str().unwrap_or_default().to_owned();
    // Tools take paths relative to the working directory.
    let path = match sandbox.cwd().resolve(request["path"].as_str().unwrap_or("/")) {
        Ok(path) => path,
        Err(refused) => return Ok(Err(refused)),
    };
    Ok(match request["method"].as_str().unwrap_or_default() {
        "id" => Ok(json!({ "value": sandbox.id().as_str() })),
        "execute" => Ok(execute(sandbox, &argument("command"), request["timeout"].as_f64()).await?),
        "ls" => sandbox.ls(&path).await?.map(|listed| {
            let entry = |entry: &tidebox::FileInfo| json!({ "path": text(&entry.path), "is_dir": entry.is_dir() });
            json!({ "entries": listed.entries.iter().map(entry).collect::<Vec<_>>() })
        }),
        "read" => read(sandbox, path, request).await?,
        "write" => sandbox.write(WriteRequest::new(path, argument("content"))).await?.map(|_| json!({})),
        "edit" => {
            let mut edit = EditRequest::new(path, argument("old"), argument("new"));
            edit.replace_all = request["replace_all"].as_bool().unwrap_or_default();
            // The reference prefixes its refusals to edit.
            let edited = sandbox.edit(edit).await?;
            edited
                .map(|edited| json!({ "occurrences": edited.occurrences }))
                .map_err(|error| FileError::new(error.code, format!("Error: {}", error.message)))
        }
        "delete" => sandbox.delete(&path).await?.map(|_| json!({})),
        "grep" => grep(sandbox, path, request).await?,
        "glob" => glob(sandbox, path, request).await?,
        "upload" => Ok(upload(sandbox, request).await?),
        "download" => Ok(download(sandbox, request).await?),
        other => Ok(json!({ "error": format!("there is no method {other:?}") })),
    })
}

async fn execute(sandbox: &Sandbox, command: &str, timeout: Option<f64>) -> Result<Value> {
    let mut request = ExecuteRequest::new(command);
    request.timeout = timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let response = sandbox.execute(request).await?;
    Ok(json!({
        "output": response.output_text(), "exit_code": response.exit_code, "truncated": response.truncated,
    }))
}

async fn read(sandbox: &Sandbox, path: SandboxPath, request: &Value) -> Result<Answer> {
    let mut read = ReadRequest::new(path);
    // What is negative is the beginning, and no lines.
    let bound = |name: &str, default| request[name].as_i64().map_or(default, |bound| u64::try_from(bound).unwrap_or(0));
    read.offset = bound("offset", 0);
    read.limit = Some(bound("limit", 2000));
    Ok(sandbox.read(read).await?.map(|response: ReadResponse| {
        let (content, encoding) = match response.tool_content(sandbox.dialect()) {
            ToolContent::Text(text) => (text.into_owned(), "utf-8"),
            ToolContent::Base64(text) => (text, "base64"),
        };
        let window = response.window;
        json!({
            "content": content, "encoding": encoding, "no_lines_requested": response.no_lines_requested,
            "total_lines": window.map(|window| window.total), "start_line": window.map(|window| window.start),
            "end_line": window.map(|window| window.end), "next_offset": window.and_then(|window| window.next_offset()),
        })
    }))
}

async fn grep(sandbox: &Sandbox, path: SandboxPath, request: &Value) -> Result<Answer> {
    let mut grep = GrepRequest::new(request["pattern"].as_str().unwrap_or_default(), path);
    grep.glob = request["glob"].as_str().map(|glob| glob.as_bytes().to_vec());
    grep.max_count = request["max_count"].as_u64().and_then(|count| usize::try_from(count).ok());
    Ok(sandbox.grep(grep).await?.map(|found| {
        let line = |found: &tidebox::GrepMatch| {
            json!({ "path": text(&found.path), "line": found.line, "text": text(&found.text) })
        };
        let matches: Vec<Value> = found.matches.iter().map(line).collect();
        json!({ "matches": matches, "truncated": found.truncated.is_some() })
    }))
}

async fn glob(sandbox: &Sandbox, path: SandboxPath, request: &Value) -> Result<Answer> {
    let glob = GlobRequest::new(request["pattern"].as_str().unwrap_or_default(), path);
    Ok(sandbox.glob(glob).await?.map(|found| {
        let file = |file: &tidebox::FileInfo| json!({ "path": text(&file.path), "is_dir": file.is_dir() });
        let matches: Vec<Value> = found.files.iter().map(file).collect();
        let reason = found.truncated.map(Truncation::as_str);
        json!({ "matches": matches, "truncated": reason.is_some(), "truncation_reason": reason })
    }))
}

async fn upload(sandbox: &Sandbox, request: &Value) -> Result<Value> {
    let files = request["files"].as_array().into_iter().flatten().map(|file| {
        let content = BASE64.decode(file["content"].as_str().unwrap_or_default()).unwrap_or_default();
        Upload::new(file["path"].as_str().unwrap_or_default(), content)
    });
    let results = sandbox.upload_files(files.collect()).await?;
    let code =
        |result: &tidebox::UploadResult| result.result.as_ref().err().map(|error| error.code.transfer_code().as_str());
    Ok(json!({ "errors": results.iter().map(code).collect::<Vec<_>>() }))
}

async fn download(sandbox: &Sandbox, request: &Value) -> Result<Value> {
    let paths = request["paths"].as_array().into_iter().flatten();
    let paths = paths.map(|path| path.as_str().unwrap_or_default().as_bytes().to_vec()).collect();
    let file = |download: tidebox::Download| match download.result {
        Ok(content) => json!({ "content": BASE64.encode(content) }),
        Err(error) => json!({ "error": error.code.transfer_code().as_str() }),
    };
    let results = sandbox.download_files(paths).await?;
    Ok(json!({ "files": results.into_iter().map(file).collect::<Vec<_>>() }))
}
