//! Host tools: functions of the application as commands. The function runs in the thread that owns the worker; this side is the
//! process, which transfers its streams and files in chunks.

use std::cell::Cell;
use std::pin::pin;
use std::sync::Arc;

use futures_util::future::{Either, join4, select};
use js_sys::{Array, Uint8Array};
use tidebox_core::{BoxFuture, HostCall, HostFiles, HostInput, HostOutput};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::inbox::{Mailboxes, next};
use crate::js::object;
use crate::js_imports;

/// Maximum bytes of one read.
const CHUNK_BYTES: usize = 64 << 10;

/// Resources that a function accesses. Each has its own queue, so that a blocked one does not delay the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ToolChannel {
    Input,
    Output,
    Errors,
    Files,
    End,
}

const TOOL_CHANNELS: [ToolChannel; 5] =
    [ToolChannel::Input, ToolChannel::Output, ToolChannel::Errors, ToolChannel::Files, ToolChannel::End];

#[derive(Debug)]
enum ToolRequest {
    Read { request: u32, max_bytes: usize },
    Write { request: u32, bytes: Vec<u8> },
    ReadFile { request: u32, path: Vec<u8>, max_bytes: u64 },
    WriteFile { request: u32, path: Vec<u8>, bytes: Vec<u8> },
    End(u8),
}

/// A call: its sandbox, and its number in this instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CallId {
    sandbox: u32,
    call: u32,
}

thread_local! {
    /// By sandbox, call and channel, so that a message never reaches a call of another sandbox.
    static REQUESTS: Mailboxes<(CallId, ToolChannel), ToolRequest> = const { Mailboxes::new() };
    static LAST: Cell<u32> = const { Cell::new(0) };
}

/// A host tool by its name in JavaScript.
#[derive(Debug)]
pub(crate) struct JsTool {
    sandbox: u32,
    name: Arc<str>,
}

impl JsTool {
    pub(crate) fn new(sandbox: u32, name: &str) -> Self {
        Self { sandbox, name: Arc::from(name) }
    }

    pub(crate) fn call(&self, call: HostCall) -> BoxFuture<'static, u8> {
        Box::pin(run_tool(self.sandbox, Arc::clone(&self.name), call))
    }
}

/// A call in progress. Dropping it notifies the function that the call has ended.
struct ActiveCall(CallId);

impl ActiveCall {
    fn start(sandbox: u32, name: &str, call: &HostCall) -> Self {
        let number = LAST.with(|last| {
            let number = last.get().wrapping_add(1);
            last.set(number);
            number
        });
        let id = CallId { sandbox, call: number };
        REQUESTS.with(|requests| TOOL_CHANNELS.into_iter().for_each(|channel| requests.open((id, channel))));
        let list = |texts: &[Vec<u8>]| texts.iter().map(|text| Uint8Array::from(text.as_slice())).collect::<Array>();
        let details = object([
            ("tool", JsValue::from_str(name)),
            ("sandboxId", JsValue::from_str(call.sandbox.as_str())),
            ("argv", list(&call.arguments).into()),
            ("env", list(&call.environment).into()),
            ("cwd", JsValue::from_str(&call.cwd.to_text())),
        ]);
        js_imports::tool_call(sandbox, number, &details);
        Self(id)
    }
}

impl Drop for ActiveCall {
    fn drop(&mut self) {
        REQUESTS.with(|requests| TOOL_CHANNELS.into_iter().for_each(|channel| requests.close((self.0, channel))));
        js_imports::tool_cancelled(self.0.sandbox, self.0.call);
    }
}

async fn run_tool(sandbox: u32, name: Arc<str>, call: HostCall) -> u8 {
    let active = ActiveCall::start(sandbox, &name, &call);
    let id = active.0;
    let HostCall { stdin, stdout, stderr, files, .. } = call;
    let work = pin!(join4(
        input(id, stdin),
        output(id, ToolChannel::Output, stdout),
        output(id, ToolChannel::Errors, stderr),
        serve_files(id, files),
    ));
    let end = pin!(next(&REQUESTS, (id, ToolChannel::End)));
    match select(end, work).await {
        Either::Left((ToolRequest::End(code), _)) => code,
        // The other futures never complete.
        Either::Left(_) | Either::Right(_) => 1,
    }
}

async fn input(id: CallId, mut stdin: HostInput) {
    loop {
        if let ToolRequest::Read { request, max_bytes } = next(&REQUESTS, (id, ToolChannel::Input)).await {
            let bytes = stdin.read(max_bytes.clamp(1, CHUNK_BYTES)).await;
            js_imports::tool_reply(id.sandbox, id.call, request, true, &bytes);
        }
    }
}

async fn output(id: CallId, channel: ToolChannel, mut stream: HostOutput) {
    loop {
        if let ToolRequest::Write { request, bytes } = next(&REQUESTS, (id, channel)).await {
            let written = stream.write(bytes).await.is_ok();
            js_imports::tool_reply(id.sandbox, id.call, request, written, &[]);
        }
    }
}

/// Errors are returned as their messages.
async fn serve_files(id: CallId, files: HostFiles) {
    loop {
        let (request, run_tool) = match next(&REQUESTS, (id, ToolChannel::Files)).await {
            ToolRequest::ReadFile { request, path, max_bytes } => (request, files.read(&path, max_bytes).await),
            ToolRequest::WriteFile { request, path, bytes } => {
                (request, files.write(&path, &bytes).await.map(|()| Vec::new()))
            }
            _ => continue,
        };
        match run_tool {
            Ok(bytes) => js_imports::tool_reply(id.sandbox, id.call, request, true, &bytes),
            Err(rejection) => js_imports::tool_reply(id.sandbox, id.call, request, false, rejection.message.as_bytes()),
        }
    }
}

fn post_request(id: CallId, channel: ToolChannel, request: ToolRequest) {
    REQUESTS.with(|requests| requests.put((id, channel), request));
}

/// A function reads up to `most` bytes of its standard input.
#[wasm_bindgen(js_name = toolReads)]
pub fn tool_reads(sandbox: u32, call: u32, request: u32, max_bytes: f64) {
    post_request(
        CallId { sandbox, call },
        ToolChannel::Input,
        ToolRequest::Read { request, max_bytes: max_bytes as usize },
    );
}

/// A function writes to its standard output, or to standard error.
#[wasm_bindgen(js_name = toolWrites)]
pub fn tool_writes(sandbox: u32, call: u32, request: u32, stderr: bool, bytes: Vec<u8>) {
    let channel = if stderr { ToolChannel::Errors } else { ToolChannel::Output };
    post_request(CallId { sandbox, call }, channel, ToolRequest::Write { request, bytes });
}

/// A function reads a file of the sandbox of at most `most` bytes.
#[wasm_bindgen(js_name = toolReadsFile)]
pub fn tool_reads_file(sandbox: u32, call: u32, request: u32, path: Vec<u8>, max_bytes: f64) {
    post_request(
        CallId { sandbox, call },
        ToolChannel::Files,
        ToolRequest::ReadFile { request, path, max_bytes: crate::options::to_integer(max_bytes) },
    );
}

/// A function writes a file of the sandbox.
#[wasm_bindgen(js_name = toolWritesFile)]
pub fn tool_writes_file(sandbox: u32, call: u32, request: u32, path: Vec<u8>, bytes: Vec<u8>) {
    post_request(CallId { sandbox, call }, ToolChannel::Files, ToolRequest::WriteFile { request, path, bytes });
}

/// A function has ended.
#[wasm_bindgen(js_name = toolExited)]
pub fn tool_exited(sandbox: u32, call: u32, code: u8) {
    post_request(CallId { sandbox, call }, ToolChannel::End, ToolRequest::End(code));
}
