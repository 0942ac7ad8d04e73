//! Python interpreters that keep their variables, by names of the client.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tidebox_core::lock::Mutex;

use crate::{PythonExt, PythonResponse, PythonSession, Result, Sandbox};

use super::request::Python;

/// One interpreter. Its calls run one after the other.
type InterpreterSlot = Arc<tokio::sync::Mutex<Option<PythonSession<Arc<Sandbox>>>>>;

/// All interpreters.
#[derive(Debug, Default)]
pub(super) struct Interpreters(Mutex<BTreeMap<String, InterpreterSlot>>);

/// Response of a call, and whether its interpreter is new or has exited.
pub(super) struct PythonResult {
    pub(super) response: PythonResponse,
    pub(super) started: bool,
    pub(super) ended: bool,
}

impl Interpreters {
    /// Runs code in the interpreter with that name, creating it if needed.
    pub(super) async fn run(&self, sandbox: &Arc<Sandbox>, request: Python) -> Result<PythonResult> {
        let slot = Arc::clone(self.slots().entry(request.session).or_default());
        let mut slot = slot.lock().await;
        let started = slot.is_none();
        let session = match &mut *slot {
            Some(session) => session,
            none => none.insert(Arc::clone(sandbox).python_session()?),
        };
        let timeout = request.timeout_ms.map(Duration::from_millis);
        let result = session.run_with(&request.code, timeout, None).await;
        let ended = session.has_exited();
        if ended {
            *slot = None;
        }
        Ok(PythonResult { response: result?, started, ended })
    }

    /// Ends an interpreter after its current call. Returns whether it existed.
    pub(super) async fn end(&self, name: &str) -> bool {
        let Some(slot) = self.slots().remove(name) else { return false };
        slot.lock().await.take().is_some()
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, InterpreterSlot>> {
        self.0.lock()
    }
}
