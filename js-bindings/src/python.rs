//! Python sessions: interpreters that keep their variables between calls. JavaScript numbers them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use js_sys::{Promise, Reflect};
use tidebox_core::{Error, ErrorKind, OutputEvent, OutputStream, Result};
use tidebox_js_shapes::promise;
use tidebox_kernel::SessionId;
use tidebox_vfs_backend::{Conversation, Opening, VfsBackend};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::answer::{self, failure};
use crate::cancel::{Caller, InCall};
use crate::options;
use crate::sandbox::Sandbox;
use crate::{engine, host};

/// Where the interpreter is, and the name by which it knows what it is started for; as in `src/python_session.rs`.
const PROGRAM: &str = "/bin/python3";
const NAME: &str = "python3-session";

const OPERATION: &str = "run python";

/// The interpreters of a sandbox that live. One that is asked is out of the table meanwhile.
pub(crate) type Interpreters = Rc<RefCell<BTreeMap<u32, Conversation<Arc<VfsBackend>>>>>;

#[wasm_bindgen(js_class = SandboxKernel)]
impl Sandbox {
    /// Begins an interpreter under this number. It starts with its first code.
    ///
    /// # Errors
    /// An object of `kind` and `message` where there is no Python, and where the engine cannot suspend it between two calls.
    #[wasm_bindgen(js_name = pythonBegin)]
    pub fn python_begin(&self, number: u32) -> std::result::Result<(), JsValue> {
        let begun = begin(Arc::clone(&self.backend)).map_err(|error| failure(&error))?;
        self.interpreters.borrow_mut().insert(number, begun);
        Ok(())
    }

    /// Runs a piece of code: what a command answers, with the interpreter's own answer as JSON in `reply`; `over` when the interpreter has
    /// ended. `call` and `watched` are those of [`execute`](Self::execute).
    #[wasm_bindgen(js_name = pythonRun)]
    pub fn python_run(&self, number: u32, code: String, given: &JsValue, call: u32, watched: bool) -> Promise {
        let timeout = options::duration(given, "timeoutMs");
        let all = Rc::clone(&self.interpreters);
        promise(async move {
            let Some(mut interpreter) = all.borrow_mut().remove(&number).filter(|found| !found.is_over()) else {
                return Err(over());
            };
            let session = interpreter.session();
            rest(session, false);
            let mut watch = |event: OutputEvent| {
                host::deliver(call, event.stream == OutputStream::Stderr, &event.bytes);
            };
            let asked = interpreter.ask(code.into_bytes(), timeout, if watched { Some(&mut watch) } else { None });
            let answer = InCall::new(Caller { call, watches: watched }, Box::pin(asked)).await;
            let is_over = interpreter.is_over();
            if !is_over {
                rest(session, true);
                all.borrow_mut().insert(number, interpreter);
            }
            let answer = answer?;
            let told = answer::executed(&answer.response);
            let reply =
                answer.reply.map_or(JsValue::UNDEFINED, |reply| String::from_utf8_lossy(&reply).as_ref().into());
            for (name, value) in [("reply", reply), ("over", is_over.into())] {
                // Setting a property of a plain object cannot fail.
                let _ = Reflect::set(&told, &name.into(), &value);
            }
            Ok(told)
        })
    }

    /// Ends an interpreter, and what it has started. One that has ended is no error.
    #[wasm_bindgen(js_name = pythonEnd)]
    pub fn python_end(&self, number: u32) {
        let ended = self.interpreters.borrow_mut().remove(&number);
        drop(ended);
    }
}

fn begin(backend: Arc<VfsBackend>) -> Result<Conversation<Arc<VfsBackend>>> {
    if !engine::suspends() {
        let message = "a Python session takes an engine that can suspend WebAssembly (JSPI): Node 24.20, Deno 2.4 or a current browser";
        return Err(Error::new(ErrorKind::Unsupported, OPERATION, message));
    }
    Conversation::begin(backend, Opening::new(PROGRAM, NAME)).map_err(|error| {
        if error.kind() != ErrorKind::InvalidRequest {
            return error;
        }
        let message = format!("{}; a sandbox has Python when it was made with packs: [\"python\"]", error.message());
        Error::new(ErrorKind::InvalidRequest, OPERATION, message)
    })
}

/// Between two calls nothing of a session runs.
fn rest(session: SessionId, rests: bool) {
    host::session_rests(engine::number(session), rests);
}

fn over() -> Error {
    let message = "the interpreter has ended, and its variables are gone; begin another session";
    Error::new(ErrorKind::InvalidRequest, OPERATION, message)
}
