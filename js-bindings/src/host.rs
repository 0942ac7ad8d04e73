//! What JavaScript does for the kernel: guest memory, guests, time, randomness, programs. Numbers only go across, so the
//! engine port stays `Send` and knows no JavaScript value. `js/engine.ts` is the other side.

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

    /// Makes the copy of a guest now, and has it started in its turn. `false` when it cannot be made.
    #[wasm_bindgen(js_name = guestFork)]
    pub(crate) fn guest_fork(session: u32, parent: u32, child: u32, arg: i32) -> bool;

    /// Lets a waiting guest make its call again in its turn.
    #[wasm_bindgen(js_name = guestWake)]
    pub(crate) fn guest_wake(pid: u32);

    /// Drops the guests of a session that is over, wherever they are.
    #[wasm_bindgen(js_name = guestsDrop)]
    pub(crate) fn guests_drop(session: u32);

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
}
