//! Python sessions: interpreters that keep their variables between calls, by a number assigned in JavaScript.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use js_sys::{Promise, Reflect};
use tidebox_core::{Error, ErrorKind, OutputChunk, OutputStream, Result};
use tidebox_js_values::promise;
use tidebox_kernel::ExecutionId;
use tidebox_vfs_backend::{InteractiveCommand, InteractiveProcess, VfsBackend};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::call_context::{CallContext, WithContext};
use crate::js::failure;
use crate::options;
use crate::response;
use crate::sandbox::Sandbox;
use crate::{engine, js_imports};

/// Path of the interpreter, and its argument 0 that selects the session mode; as in `src/python_session.rs`.
const PROGRAM: &str = "/bin/python3";
const NAME: &str = "python3-session";

const OPERATION: &str = "run python";

/// Live interpreters of a sandbox. An interpreter is removed from the table while it runs code.
pub(crate) type Interpreters = Rc<RefCell<BTreeMap<u32, InteractiveProcess<Arc<VfsBackend>>>>>;

#[wasm_bindgen(js_class = SandboxKernel)]
impl Sandbox {
    /// Creates an interpreter with this number. It starts with its first code.
    ///
    /// # Errors
    /// An object of `kind` and `message` if there is no Python, or if the engine cannot suspend it between calls.
    #[wasm_bindgen(js_name = pythonStart)]
    pub fn python_start(&self, number: u32) -> std::result::Result<(), JsValue> {
        let interpreter = start(Arc::clone(&self.backend)).map_err(|error| failure(&error))?;
        self.interpreters.borrow_mut().insert(number, interpreter);
        Ok(())
    }

    /// Runs code. Returns the result of a command with the interpreter's response as JSON in `reply`, and `exited` if the
    /// interpreter has exited. `call` and `watched` are as in [`execute`](Self::execute).
    #[wasm_bindgen(js_name = pythonRun)]
    pub fn python_run(&self, number: u32, code: String, given: &JsValue, call: u32, streams: bool) -> Promise {
        let timeout = options::duration(given, "timeoutMs");
        let all = Rc::clone(&self.interpreters);
        let (sandbox, running) = (self.sandbox, self.running.clone());
        promise(async move {
            let Some(mut interpreter) = all.borrow_mut().remove(&number).filter(|found| !found.has_exited()) else {
                return Err(exited_error());
            };
            let session = interpreter.session();
            set_paused(sandbox, session, false);
            let mut watch = |event: OutputChunk| {
                js_imports::deliver(sandbox, call, event.stream == OutputStream::Stderr, &event.bytes);
            };
            let requested =
                interpreter.request(code.into_bytes(), timeout, if streams { Some(&mut watch) } else { None });
            let context = CallContext { call, streams_output: streams };
            let response = running.run(call, WithContext::new(context, Box::pin(requested))).await;
            let is_over = interpreter.has_exited();
            if !is_over {
                set_paused(sandbox, session, true);
                all.borrow_mut().insert(number, interpreter);
            }
            let response = response?;
            let result = JsValue::from(response::execute_result(&response.response));
            let reply =
                response.reply.map_or(JsValue::UNDEFINED, |reply| String::from_utf8_lossy(&reply).as_ref().into());
            for (name, value) in [("reply", reply), ("exited", is_over.into())] {
                // Setting a property of a plain object cannot fail.
                let _ = Reflect::set(&result, &name.into(), &value);
            }
            Ok(result)
        })
    }

    /// Ends an interpreter and the processes that it started. A missing one is not an error.
    #[wasm_bindgen(js_name = pythonEnd)]
    pub fn python_end(&self, number: u32) {
        let ended = self.interpreters.borrow_mut().remove(&number);
        drop(ended);
    }
}

fn start(backend: Arc<VfsBackend>) -> Result<InteractiveProcess<Arc<VfsBackend>>> {
    if !engine::suspends() {
        let message = "Python sessions require an engine that can suspend WebAssembly (JSPI): Node 24.20, Deno 2.4 or a current browser";
        return Err(Error::new(ErrorKind::Unsupported, OPERATION, message));
    }
    InteractiveProcess::spawn(backend, InteractiveCommand::new(PROGRAM, NAME)).map_err(|error| {
        if error.kind() != ErrorKind::InvalidRequest {
            return error;
        }
        let message = format!("{}; create the sandbox with packs: [\"python\"]", error.message());
        Error::new(ErrorKind::InvalidRequest, OPERATION, message)
    })
}

/// Pauses the execution between two calls.
fn set_paused(sandbox: u32, session: ExecutionId, paused: bool) {
    if let Some(execution) = engine::slot(sandbox, session) {
        js_imports::pause_execution(execution, paused);
    }
}

fn exited_error() -> Error {
    let message = "the interpreter has exited and its variables are lost; start another session";
    Error::new(ErrorKind::InvalidRequest, OPERATION, message)
}
