//! Functions that JavaScript provides to the kernel: guest memory, guests, time, random numbers, programs. No future holds a
//! JavaScript value across an await, only numbers, so the ports stay `Send`. `js/engine.ts` implements them.

use js_sys::Array;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(raw_module = "./engine.js")]
extern "C" {
    /// Copies from the memory of a guest. Returns `false` if the range is out of bounds.
    #[wasm_bindgen(js_name = guestRead)]
    pub(crate) fn guest_read(slot: u32, at: u32, dst: &mut [u8]) -> bool;

    /// Copies to the memory of a guest. Returns `false` if the range is out of bounds.
    #[wasm_bindgen(js_name = guestWrite)]
    pub(crate) fn guest_write(slot: u32, at: u32, src: &[u8]) -> bool;

    /// Adds a guest to the run queue of its sandbox. `program` is the name passed to [`has_program`].
    #[wasm_bindgen(js_name = guestStart)]
    pub(crate) fn guest_start(sandbox: u32, execution: u32, slot: u32, program: &str);

    /// Returns whether a guest's module supports forks.
    #[wasm_bindgen(js_name = guestCanFork)]
    pub(crate) fn guest_can_fork(slot: u32) -> bool;

    /// Copies a guest and adds the copy to the run queue. Returns `false` if that fails.
    #[wasm_bindgen(js_name = guestFork)]
    pub(crate) fn guest_fork(parent: u32, child: u32, arg: i32) -> bool;

    /// Wakes a blocked guest; it retries its call.
    #[wasm_bindgen(js_name = guestWake)]
    pub(crate) fn guest_wake(slot: u32);

    /// Drops the guests of an execution that has ended.
    #[wasm_bindgen(js_name = dropGuests)]
    pub(crate) fn drop_guests(execution: u32);

    /// Pauses or resumes the guests of an execution.
    #[wasm_bindgen(js_name = pauseExecution)]
    pub(crate) fn pause_execution(execution: u32, rests: bool);

    /// Calls [`wake_execution`](crate::engine::wake_execution) once after `milliseconds`.
    #[wasm_bindgen(js_name = alarm)]
    pub(crate) fn alarm(execution: u32, milliseconds: f64);

    /// Calls [`timer_fired`](crate::tasks::timer_fired) once after `milliseconds`.
    #[wasm_bindgen(js_name = startTimer)]
    pub(crate) fn start_timer(timer: u32, milliseconds: f64);

    /// Stops a timer that has not fired.
    #[wasm_bindgen(js_name = stopTimer)]
    pub(crate) fn stop_timer(timer: u32);

    /// Limits the processor time of an execution to a percentage of one core.
    #[wasm_bindgen(js_name = limitCpu)]
    pub(crate) fn limit_cpu(execution: u32, percent: u32);

    /// Lets the executions of a sandbox run that wait for their share of processor time.
    #[wasm_bindgen(js_name = endCpuPauses)]
    pub(crate) fn end_cpu_pauses(sandbox: u32);

    /// Returns whether the program is part of the package or was added to the sandbox before.
    #[wasm_bindgen(js_name = hasProgram)]
    pub(crate) fn has_program(sandbox: u32, program: &str) -> bool;

    /// Adds a rewritten module to a sandbox under a name.
    #[wasm_bindgen(js_name = addProgram)]
    pub(crate) fn add_program(sandbox: u32, program: &str, wasm: &[u8]);

    /// Returns the bytes of a program of the package, read synchronously.
    #[wasm_bindgen(js_name = programBytes)]
    pub(crate) fn program_bytes(program: &str) -> Vec<u8>;

    /// Returns the bytes of a file of a pack, read synchronously.
    #[wasm_bindgen(js_name = packFile)]
    pub(crate) fn pack_file(pack: &str, path: &str) -> Vec<u8>;

    /// Delivers output of a command to a caller that streams it.
    #[wasm_bindgen(js_name = deliver)]
    pub(crate) fn deliver(sandbox: u32, call: u32, stderr: bool, bytes: &[u8]);

    /// Milliseconds since the Unix epoch.
    #[wasm_bindgen(js_name = realtime)]
    pub(crate) fn realtime() -> f64;

    /// Monotonic time in milliseconds.
    #[wasm_bindgen(js_name = monotonic)]
    pub(crate) fn monotonic() -> f64;

    /// Fills the buffer with random bytes of the platform.
    #[wasm_bindgen(js_name = random)]
    pub(crate) fn random(dst: &mut [u8]);

    /// Returns whether the caller has cancelled this call. Works without receiving messages.
    #[wasm_bindgen(js_name = cancelled)]
    pub(crate) fn cancelled(call: u32) -> bool;

    /// Calls a host tool; `details` has its arguments.
    #[wasm_bindgen(js_name = toolCall)]
    pub(crate) fn tool_call(sandbox: u32, call: u32, details: &JsValue);

    /// Responds to a request of a host tool with bytes, or with the outcome of a write. If it failed, `bytes` is the error
    /// message.
    #[wasm_bindgen(js_name = toolReply)]
    pub(crate) fn tool_reply(sandbox: u32, call: u32, request: u32, good: bool, bytes: &[u8]);

    /// Notifies a host tool that its call has ended.
    #[wasm_bindgen(js_name = toolCancelled)]
    pub(crate) fn tool_cancelled(sandbox: u32, call: u32);

    /// Resolves a host name.
    #[wasm_bindgen(js_name = netResolve)]
    pub(crate) fn net_resolve(sandbox: u32, request: u32, name: &str, within: f64);

    /// Sends a request.
    #[wasm_bindgen(js_name = netSend)]
    pub(crate) fn net_send(sandbox: u32, request: u32, details: &JsValue);

    /// Sends the next chunk of a request body, or its end.
    #[wasm_bindgen(js_name = netBody)]
    pub(crate) fn net_body(sandbox: u32, request: u32, chunk: &[u8], end: bool);

    /// Reports that the body of a request is incomplete.
    #[wasm_bindgen(js_name = netBodyFailed)]
    pub(crate) fn net_body_failed(sandbox: u32, request: u32);

    /// Requests the next chunk of a response body.
    #[wasm_bindgen(js_name = netPull)]
    pub(crate) fn net_pull(sandbox: u32, request: u32);

    /// Cancels a request.
    #[wasm_bindgen(js_name = netCancelled)]
    pub(crate) fn net_cancelled(sandbox: u32, request: u32);

    /// Delivers data of a server to the application.
    #[wasm_bindgen(js_name = portChunk)]
    pub(crate) fn port_chunk(sandbox: u32, stream: u32, chunk: &[u8]);

    /// The data of a server has ended, or the server has closed the connection without reading all data.
    #[wasm_bindgen(js_name = portEnded)]
    pub(crate) fn port_ended(sandbox: u32, stream: u32, is_reset: bool);

    /// A chunk was written to a server, or the server no longer reads.
    #[wasm_bindgen(js_name = portWritten)]
    pub(crate) fn port_written(sandbox: u32, stream: u32, is_open: bool);
}

// Host directories. Errors are thrown as errno values.
#[wasm_bindgen(raw_module = "./directories.js")]
extern "C" {
    #[wasm_bindgen(js_name = dirIsWritable)]
    pub(crate) fn dir_is_writable(dir: u32) -> bool;

    #[wasm_bindgen(js_name = dirStat, catch)]
    pub(crate) fn dir_stat(dir: u32, path: &[u8], fields: &mut [f64]) -> Result<(), JsValue>;

    #[wasm_bindgen(js_name = dirList, catch)]
    pub(crate) fn dir_list(dir: u32, path: &[u8]) -> Result<Array, JsValue>;

    #[wasm_bindgen(js_name = dirReadLink, catch)]
    pub(crate) fn dir_read_link(dir: u32, path: &[u8]) -> Result<Vec<u8>, JsValue>;

    #[wasm_bindgen(js_name = dirOpenFile, catch)]
    pub(crate) fn dir_open_file(dir: u32, path: &[u8], write: bool) -> Result<u32, JsValue>;

    #[wasm_bindgen(js_name = dirCreateFile, catch)]
    pub(crate) fn dir_create_file(dir: u32, path: &[u8], mode: u32) -> Result<(), JsValue>;

    #[wasm_bindgen(js_name = dirCreateDir, catch)]
    pub(crate) fn dir_create_dir(dir: u32, path: &[u8], mode: u32) -> Result<(), JsValue>;

    #[wasm_bindgen(js_name = dirSymlink, catch)]
    pub(crate) fn dir_symlink(dir: u32, target: &[u8], path: &[u8]) -> Result<(), JsValue>;

    #[wasm_bindgen(js_name = dirHardLink, catch)]
    pub(crate) fn dir_hard_link(dir: u32, existing: &[u8], path: &[u8]) -> Result<(), JsValue>;

    #[wasm_bindgen(js_name = dirRemove, catch)]
    pub(crate) fn dir_remove(dir: u32, path: &[u8], directory: bool) -> Result<(), JsValue>;

    #[wasm_bindgen(js_name = dirRename, catch)]
    pub(crate) fn dir_rename(dir: u32, from: &[u8], to: &[u8]) -> Result<(), JsValue>;

    #[wasm_bindgen(js_name = dirSetMode, catch)]
    pub(crate) fn dir_set_mode(dir: u32, path: &[u8], mode: u32) -> Result<(), JsValue>;

    #[wasm_bindgen(js_name = dirSetTimes, catch)]
    pub(crate) fn dir_set_times(dir: u32, path: &[u8], atime: f64, mtime: f64) -> Result<(), JsValue>;

    #[wasm_bindgen(js_name = fileStat, catch)]
    pub(crate) fn file_stat(file: u32, fields: &mut [f64]) -> Result<(), JsValue>;

    #[wasm_bindgen(js_name = fileRead, catch)]
    pub(crate) fn file_read(file: u32, offset: f64, dst: &mut [u8]) -> Result<u32, JsValue>;

    #[wasm_bindgen(js_name = fileWrite, catch)]
    pub(crate) fn file_write(file: u32, offset: f64, src: &[u8]) -> Result<u32, JsValue>;

    #[wasm_bindgen(js_name = fileSetLen, catch)]
    pub(crate) fn file_set_len(file: u32, len: f64) -> Result<(), JsValue>;

    #[wasm_bindgen(js_name = fileSync, catch)]
    pub(crate) fn file_sync(file: u32) -> Result<(), JsValue>;

    #[wasm_bindgen(js_name = fileClose)]
    pub(crate) fn file_close(file: u32);
}
