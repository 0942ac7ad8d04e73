//! Interpreters that keep their variables, by the names that the caller gives them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tidebox::{PythonExt, PythonResponse, PythonSession, Result, Sandbox};

use super::request::Python;

/// One interpreter. Calls of it run one after the other.
type Place = Arc<tokio::sync::Mutex<Option<PythonSession<Arc<Sandbox>>>>>;

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Interpreters(Mutex<BTreeMap<String, Place>>);

/// How a call went, whether its interpreter is new, and whether it has ended.
pub(super) struct Ran {
    pub(super) response: PythonResponse,
    pub(super) begun: bool,
    pub(super) ended: bool,
}

impl Interpreters {
    /// Runs code in the interpreter of that name, which is begun when there is none.
    pub(super) async fn run(&self, sandbox: &Arc<Sandbox>, request: Python) -> Result<Ran> {
        let place = Arc::clone(self.places().entry(request.session).or_default());
        let mut place = place.lock().await;
        let begun = place.is_none();
        let session = match &mut *place {
            Some(session) => session,
            none => none.insert(Arc::clone(sandbox).python_session()?),
        };
        let timeout = request.timeout_ms.map(Duration::from_millis);
        let ran = session.run_with(&request.code, timeout, None).await;
        let ended = session.is_over();
        if ended {
            *place = None;
        }
        Ok(Ran { response: ran?, begun, ended })
    }

    /// Ends an interpreter after what runs in it, and tells whether there was one.
    pub(super) async fn end(&self, name: &str) -> bool {
        let Some(place) = self.places().remove(name) else { return false };
        place.lock().await.take().is_some()
    }

    fn places(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Place>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
