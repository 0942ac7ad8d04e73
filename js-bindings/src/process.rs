//! Processes that outlive the call which started them, for the TypeScript classes.

use js_sys::Promise;
use tidebox_core::{Background, Error, ErrorKind, SandboxBackend as _};
use tidebox_js_values::promise;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::sandbox::Sandbox;
use crate::{engine, js_imports};

/// Returns an error if the engine cannot keep a process between two calls.
pub(crate) fn check_engine(operation: &'static str) -> Result<(), Error> {
    if engine::suspends() {
        return Ok(());
    }
    let message = "processes that outlive their call, and their servers, require an engine that can suspend WebAssembly (JSPI): \
                   Node 24.20, Deno 2.4 or a current browser; run the command with execute and wait for its end";
    Err(Error::new(ErrorKind::Unsupported, operation, message))
}

/// Returns an error for a command whose processes the engine cannot keep.
pub(crate) fn check_background(background: Background) -> Result<(), Error> {
    if background == Background::Keep { check_engine("execute") } else { Ok(()) }
}

#[wasm_bindgen(js_class = SandboxKernel)]
impl Sandbox {
    /// Starts a process: a command line, or an array of a program and its arguments. Returns its properties.
    pub fn spawn(&self, command: &JsValue, given: &JsValue) -> Promise {
        self.checked("spawn", || self.processes.spawn(command, given))
    }

    /// Lists the processes.
    pub fn processes(&self) -> Promise {
        self.checked("processes", || self.processes.list())
    }

    /// Reads output of a process.
    #[wasm_bindgen(js_name = readProcess)]
    pub fn read_process(&self, id: String, given: &JsValue) -> Promise {
        self.checked("read_process", || self.processes.read(id, given))
    }

    /// Writes to the standard input of a process and returns the number of bytes; `undefined` closes it.
    #[wasm_bindgen(js_name = writeProcess)]
    pub fn write_process(&self, id: String, input: &JsValue) -> Promise {
        self.checked("write_process", || self.processes.write(id, input))
    }

    /// Changes the size of the terminal of a process.
    #[wasm_bindgen(js_name = resizeProcess)]
    pub fn resize_process(&self, id: String, size: &JsValue) -> Promise {
        self.checked("resize_process", || self.processes.resize(id, size))
    }

    /// Sends a signal to a process and its children.
    #[wasm_bindgen(js_name = signalProcess)]
    pub fn signal_process(&self, id: String, signal: &str) -> Promise {
        let sent = self.checked("signal_process", || self.processes.signal(id, signal));
        // A process that was killed must not wait for its share of processor time.
        js_imports::end_cpu_pauses(self.sandbox);
        sent
    }

    /// Ends running commands without waiting for them, and asks the processes to end; kills those that do not. The sandbox is
    /// closed afterwards.
    pub fn terminate(&self) -> Promise {
        self.abort_calls();
        let backend = std::sync::Arc::clone(&self.backend);
        js_imports::end_cpu_pauses(self.sandbox);
        promise(async move {
            backend.close().await?;
            Ok(JsValue::UNDEFINED)
        })
    }

    fn checked(&self, operation: &'static str, work: impl FnOnce() -> Promise) -> Promise {
        match check_engine(operation) {
            Ok(()) => work(),
            Err(error) => promise(async { Err(error) }),
        }
    }
}
