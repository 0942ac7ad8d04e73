//! Functions of the application as commands. The function runs in the thread of whoever owns the Worker; here is the process,
//! which hands its streams and files over, one piece at a time.

use std::cell::Cell;
use std::pin::pin;
use std::sync::Arc;

use futures_util::future::{Either, join4, select};
use js_sys::{Array, Uint8Array};
use tidebox_core::{BoxFuture, HostCall, HostFiles, HostInput, HostOutput};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::answer::object;
use crate::host;
use crate::inbox::{Inboxes, next};

/// Most bytes that a function may ask for at a time.
const PIECE_BYTES: usize = 64 << 10;

/// What a function asks of its process. Each has a queue of its own, so that one which waits holds up no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lane {
    Input,
    Output,
    Errors,
    Files,
    End,
}

const LANES: [Lane; 5] = [Lane::Input, Lane::Output, Lane::Errors, Lane::Files, Lane::End];

#[derive(Debug)]
enum Ask {
    Read { request: u32, most: usize },
    Write { request: u32, bytes: Vec<u8> },
    ReadFile { request: u32, path: Vec<u8>, most: u64 },
    WriteFile { request: u32, path: Vec<u8>, bytes: Vec<u8> },
    End(u8),
}

thread_local! {
    static ASKED: Inboxes<(u32, Lane), Ask> = const { Inboxes::new() };
    static LAST: Cell<u32> = const { Cell::new(0) };
}

/// A function that JavaScript knows by its name.
#[derive(Debug)]
pub(crate) struct JsTool {
    name: Arc<str>,
}

impl JsTool {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: Arc::from(name) }
    }

    pub(crate) fn call(&self, call: HostCall) -> BoxFuture<'static, u8> {
        Box::pin(answer(Arc::clone(&self.name), call))
    }
}

/// A call that goes on. When it is dropped, the function is told that nobody waits for it.
struct Underway(u32);

impl Underway {
    fn begin(name: &str, call: &HostCall) -> Self {
        let number = LAST.with(|last| {
            let number = last.get().wrapping_add(1);
            last.set(number);
            number
        });
        ASKED.with(|asked| LANES.into_iter().for_each(|lane| asked.open((number, lane))));
        let list = |texts: &[Vec<u8>]| texts.iter().map(|text| Uint8Array::from(text.as_slice())).collect::<Array>();
        let told = object([
            ("tool", JsValue::from_str(name)),
            ("sandboxId", JsValue::from_str(call.sandbox.as_str())),
            ("argv", list(&call.arguments).into()),
            ("env", list(&call.environment).into()),
            ("cwd", JsValue::from_str(&call.cwd.to_text())),
        ]);
        host::tool_call(number, &told);
        Self(number)
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        ASKED.with(|asked| LANES.into_iter().for_each(|lane| asked.close((self.0, lane))));
        host::tool_over(self.0);
    }
}

async fn answer(name: Arc<str>, call: HostCall) -> u8 {
    let underway = Underway::begin(&name, &call);
    let number = underway.0;
    let HostCall { stdin, stdout, stderr, files, .. } = call;
    let work = pin!(join4(
        input(number, stdin),
        output(number, Lane::Output, stdout),
        output(number, Lane::Errors, stderr),
        serve_files(number, files),
    ));
    let end = pin!(next(&ASKED, (number, Lane::End)));
    match select(end, work).await {
        Either::Left((Ask::End(code), _)) => code,
        // The others have no end.
        Either::Left(_) | Either::Right(_) => 1,
    }
}

async fn input(call: u32, mut stdin: HostInput) {
    loop {
        if let Ask::Read { request, most } = next(&ASKED, (call, Lane::Input)).await {
            let bytes = stdin.read(most.clamp(1, PIECE_BYTES)).await;
            host::tool_reply(call, request, true, &bytes);
        }
    }
}

async fn output(call: u32, lane: Lane, mut stream: HostOutput) {
    loop {
        if let Ask::Write { request, bytes } = next(&ASKED, (call, lane)).await {
            let heard = stream.write(bytes).await.is_ok();
            host::tool_reply(call, request, heard, &[]);
        }
    }
}

/// A refusal comes back as its words.
async fn serve_files(call: u32, files: HostFiles) {
    loop {
        let (request, answer) = match next(&ASKED, (call, Lane::Files)).await {
            Ask::ReadFile { request, path, most } => (request, files.read(&path, most).await),
            Ask::WriteFile { request, path, bytes } => (request, files.write(&path, &bytes).await.map(|()| Vec::new())),
            _ => continue,
        };
        match answer {
            Ok(bytes) => host::tool_reply(call, request, true, &bytes),
            Err(refusal) => host::tool_reply(call, request, false, refusal.message.as_bytes()),
        }
    }
}

fn ask(call: u32, lane: Lane, ask: Ask) {
    ASKED.with(|asked| asked.put((call, lane), ask));
}

/// A function asks for up to `most` bytes of its standard input.
#[wasm_bindgen(js_name = toolReads)]
pub fn tool_reads(call: u32, request: u32, most: f64) {
    ask(call, Lane::Input, Ask::Read { request, most: most as usize });
}

/// A function writes to its standard output, or to standard error.
#[wasm_bindgen(js_name = toolWrites)]
pub fn tool_writes(call: u32, request: u32, stderr: bool, bytes: Vec<u8>) {
    let lane = if stderr { Lane::Errors } else { Lane::Output };
    ask(call, lane, Ask::Write { request, bytes });
}

/// A function asks for a file of the sandbox that is at most so long.
#[wasm_bindgen(js_name = toolReadsFile)]
pub fn tool_reads_file(call: u32, request: u32, path: Vec<u8>, most: f64) {
    ask(call, Lane::Files, Ask::ReadFile { request, path, most: crate::options::whole(most) });
}

/// A function writes a file of the sandbox.
#[wasm_bindgen(js_name = toolWritesFile)]
pub fn tool_writes_file(call: u32, request: u32, path: Vec<u8>, bytes: Vec<u8>) {
    ask(call, Lane::Files, Ask::WriteFile { request, path, bytes });
}

/// A function has ended.
#[wasm_bindgen(js_name = toolEnds)]
pub fn tool_ends(call: u32, code: u8) {
    ask(call, Lane::End, Ask::End(code));
}
