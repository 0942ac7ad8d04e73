//! One promise, and how it is tried.

use std::fmt;

use super::capabilities::{Capabilities, Need};
use super::fault::{Fault, Verdict};
use super::ground::Ground;
use crate::backend::{BoxFuture, SandboxBackend};
use crate::path::SandboxPath;

/// The function of a case.
pub(super) type Try = for<'a> fn(&'a Ground<'a>) -> BoxFuture<'a, Verdict>;

/// One promise of the contract.
#[derive(Clone, Copy)]
pub struct Case {
    /// The promise, as a sentence. It begins with the method that it is about, and is unique.
    pub name: &'static str,
    /// What a backend must claim for the case to be run.
    pub needs: &'static [Need],
    body: Try,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case").field("name", &self.name).field("needs", &self.needs).finish_non_exhaustive()
    }
}

/// How a case went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The promise holds.
    Passed,
    /// It does not.
    Failed(Fault),
    /// The backend does not claim what the case needs, for this reason.
    Skipped(String),
}

impl Case {
    pub(super) const fn new(name: &'static str, needs: &'static [Need], body: Try) -> Self {
        Self { name, needs, body }
    }

    /// Why this case is not for a backend with these capabilities; `None` when it is.
    pub fn skipped(&self, capabilities: &Capabilities) -> Option<String> {
        self.needs.iter().find_map(|need| need.missing(capabilities))
    }

    /// Runs this case alone, in a directory of its own below `root`, which is deleted afterwards.
    pub async fn run(&self, backend: &dyn SandboxBackend, capabilities: &Capabilities, root: &SandboxPath) -> Outcome {
        if let Some(reason) = self.skipped(capabilities) {
            return Outcome::Skipped(reason);
        }
        let tried = async {
            let ground = Ground::new(backend, capabilities, root, self.name)?;
            ground.clear().await?;
            let verdict = (self.body)(&ground).await;
            let closed = self.needs.iter().any(|need| matches!(need, Need::MayClose));
            let cleared = if closed { Ok(()) } else { ground.clear().await };
            verdict.and(cleared)
        };
        match tried.await {
            Ok(()) => Outcome::Passed,
            Err(fault) => Outcome::Failed(fault),
        }
    }
}

/// A list of cases: the promise, its needs, the function that tries it.
macro_rules! cases {
    ($($name:literal [$($need:expr),*] $body:ident;)*) => {
        &[$($crate::conformance::case::Case::new($name, &[$($need),*], |ground| Box::pin($body(ground)))),*]
    };
}
pub(super) use cases;
