//! What JavaScript does for the kernel: guest memory, guests, time, randomness, programs. No future holds a
//! JavaScript value while it waits, only numbers, so the ports stay `Send`. `js/engine.ts` is the other side.

use js_sys::Array;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(raw_module = "./engine.js")]
extern "C" {
    /// Copies from the memory of a guest. `false` when the range is outside of it.
    #[wasm_bindgen(js_name = guestRead)]
    pub(crate) fn guest_read(pid: u32, at: u32, dst: &mut [u8]) -> bool;

    /// Copies to the memory of a guest. `false` when the range is outside of it.
    #[wasm_bindgen(js_name = guestWrite)]
    pub(crate) fn guest_write(pid: u32, at: u32, src: &[u8]) -> bool;

    /// Has a guest started in its turn. `program` is what [`program_known`] was asked for.
    #[wasm_bindgen(js_name = guestStart)]
    pub(crate) fn guest_start(session: u32, pid: u32, program: &str);

    /// Whether a guest's module has what a fork takes.
    #[wasm_bindgen(js_name = guestForks)]
    pub(crate) fn guest_forks(pid: u32) -> bool;

    /// Makes the copy of a guest now, and has it started in its turn. `false` when it cannot be made.
    #[wasm_bindgen(js_name = guestFork)]
    pub(crate) fn guest_fork(session: u32, parent: u32, child: u32, arg: i32) -> bool;

    /// Lets a waiting guest make its call again in its turn.
    #[wasm_bindgen(js_name = guestWake)]
    pub(crate) fn guest_wake(pid: u32);

    /// Drops the guests of a session that is over, wherever they are.
    #[wasm_bindgen(js_name = guestsDrop)]
    pub(crate) fn guests_drop(session: u32);

    /// Guests of a session that rests have no turns.
    #[wasm_bindgen(js_name = sessionRests)]
    pub(crate) fn session_rests(session: u32, rests: bool);

    /// Has [`wake_session`](crate::engine::wake_session) called once, in so many milliseconds.
    #[wasm_bindgen(js_name = alarm)]
    pub(crate) fn alarm(session: u32, milliseconds: f64);

    /// Whether the program is one of the package, or was handed over before.
    #[wasm_bindgen(js_name = programKnown)]
    pub(crate) fn program_known(program: &str) -> bool;

    /// Hands a rewritten module over under a name.
    #[wasm_bindgen(js_name = programAdd)]
    pub(crate) fn program_add(program: &str, wasm: &[u8]);

    /// The bytes of a program of the package, read now.
    #[wasm_bindgen(js_name = programBytes)]
    pub(crate) fn program_bytes(program: &str) -> Vec<u8>;

    /// The bytes of a file of a pack, read now.
    #[wasm_bindgen(js_name = packFile)]
    pub(crate) fn pack_file(pack: &str, path: &str) -> Vec<u8>;

    /// A piece of the output of a command whose caller watches.
    #[wasm_bindgen(js_name = deliver)]
    pub(crate) fn deliver(call: u32, stderr: bool, bytes: &[u8]);

    /// Milliseconds since the Unix epoch.
    #[wasm_bindgen(js_name = realtime)]
    pub(crate) fn realtime() -> f64;

    /// Milliseconds since some moment; never goes back.
    #[wasm_bindgen(js_name = monotonic)]
    pub(crate) fn monotonic() -> f64;

    /// Random bytes of the platform.
    #[wasm_bindgen(js_name = random)]
    pub(crate) fn random(dst: &mut [u8]);

    /// Whether the caller has given this call up, asked where no message of its can come in.
    #[wasm_bindgen(js_name = cancelled)]
    pub(crate) fn cancelled(call: u32) -> bool;

    /// Has a function of the application called; `told` is what it is given.
    #[wasm_bindgen(js_name = toolCall)]
    pub(crate) fn tool_call(call: u32, told: &JsValue);

    /// Answers what the function has asked for: bytes, or whether they were taken. What is refused is `bytes` of a message.
    #[wasm_bindgen(js_name = toolReply)]
    pub(crate) fn tool_reply(call: u32, request: u32, good: bool, bytes: &[u8]);

    /// Nobody waits for the function any more.
    #[wasm_bindgen(js_name = toolOver)]
    pub(crate) fn tool_over(call: u32);

    /// Has a name looked up.
    #[wasm_bindgen(js_name = netResolve)]
    pub(crate) fn net_resolve(request: u32, name: &str, within: f64);

    /// Has a request sent.
    #[wasm_bindgen(js_name = netSend)]
    pub(crate) fn net_send(request: u32, told: &JsValue);

    /// The next piece of a request's body, or its end.
    #[wasm_bindgen(js_name = netBody)]
    pub(crate) fn net_body(request: u32, piece: &[u8], end: bool);

    /// The body of a request broke off.
    #[wasm_bindgen(js_name = netBroken)]
    pub(crate) fn net_broken(request: u32);

    /// The next piece of a reply's body is wanted.
    #[wasm_bindgen(js_name = netPull)]
    pub(crate) fn net_pull(request: u32);

    /// Nobody waits for the request any more.
    #[wasm_bindgen(js_name = netOver)]
    pub(crate) fn net_over(request: u32);
}

// Folders of the host. What goes wrong is thrown as the number of an errno.
#[wasm_bindgen(raw_module = "./folders.js")]
extern "C" {
    #[wasm_bindgen(js_name = folderIsWritable)]
    pub(crate) fn folder_is_writable(folder: u32) -> bool;

    #[wasm_bindgen(js_name = folderStat, catch)]
    pub(crate) fn folder_stat(folder: u32, path: &[u8], fields: &mut [f64]) -> Result<(), JsValue>;

    #[wasm_bindgen(js_name = folderList, catch)]
    pub(crate) fn folder_list(folder: u32, path: &[u8]) -> Result<Array, JsValue>;

    #[wasm_bindgen(js_name = folderReadLink, catch)]
    pub(crate) fn folder_read_link(folder: u32, path: &[u8]) -> Result<Vec<u8>, JsValue>;

    #[wasm_bindgen(js_name = folderOpen, catch)]
    pub(crate) fn folder_open(folder: u32, path: &[u8], write: bool) -> Result<u32, JsValue>;

    #[wasm_bindgen(js_name = folderCreate, catch)]
    pub(crate) fn folder_create(folder: u32, path: &[u8], mode: u32) -> Result<(), JsValue>;

    #[wasm_bindgen(js_name = folderCreateDir, catch)]
    pub(crate) fn folder_create_dir(folder: u32, path: &[u8], mode: u32) -> Result<(), JsValue>;

    #[wasm_bindgen(js_name = folderSymlink, catch)]
    pub(crate) fn folder_symlink(folder: u32, target: &[u8], path: &[u8]) -> Result<(), JsValue>;

    #[wasm_bindgen(js_name = folderHardLink, catch)]
    pub(crate) fn folder_hard_link(folder: u32, existing: &[u8], path: &[u8]) -> Result<(), JsValue>;

    #[wasm_bindgen(js_name = folderRemove, catch)]
    pub(crate) fn folder_remove(folder: u32, path: &[u8], directory: bool) -> Result<(), JsValue>;

    #[wasm_bindgen(js_name = folderRename, catch)]
    pub(crate) fn folder_rename(folder: u32, from: &[u8], to: &[u8]) -> Result<(), JsValue>;

    #[wasm_bindgen(js_name = folderSetMode, catch)]
    pub(crate) fn folder_set_mode(folder: u32, path: &[u8], mode: u32) -> Result<(), JsValue>;

    #[wasm_bindgen(js_name = folderSetTimes, catch)]
    pub(crate) fn folder_set_times(folder: u32, path: &[u8], atime: f64, mtime: f64) -> Result<(), JsValue>;

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
