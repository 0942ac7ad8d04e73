//! A conformance case and its execution.

use std::fmt;

use super::capabilities::{Capabilities, Requirement};
use super::context::CaseContext;
use super::failure::{CaseFailure, CaseResult};
use crate::backend::{BoxFuture, SandboxBackend};
use crate::path::SandboxPath;

/// The function of a case.
pub(super) type CaseFn = for<'a> fn(&'a CaseContext<'a>) -> BoxFuture<'a, CaseResult>;

/// One requirement of the contract.
#[derive(Clone, Copy)]
pub struct Case {
    /// The requirement as a sentence, prefixed with the method that it applies to. Unique.
    pub name: &'static str,
    /// Capabilities that a backend must claim for the case to run.
    pub requirements: &'static [Requirement],
    body: CaseFn,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case").field("name", &self.name).field("needs", &self.requirements).finish_non_exhaustive()
    }
}

/// Outcome of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseOutcome {
    /// The requirement is met.
    Passed,
    /// The requirement is not met.
    Failed(CaseFailure),
    /// The backend lacks a required capability; contains the reason.
    Skipped(String),
}

impl Case {
    pub(super) const fn new(name: &'static str, needs: &'static [Requirement], body: CaseFn) -> Self {
        Self { name, requirements: needs, body }
    }

    /// Returns the reason to skip this case for a backend with these capabilities, or `None` if it can run.
    pub fn skip_reason(&self, capabilities: &Capabilities) -> Option<String> {
        self.requirements.iter().find_map(|need| need.unmet_reason(capabilities))
    }

    /// Runs only this case, in a separate directory below `root`, which is deleted afterwards.
    pub async fn run(
        &self,
        backend: &dyn SandboxBackend,
        capabilities: &Capabilities,
        root: &SandboxPath,
    ) -> CaseOutcome {
        if let Some(reason) = self.skip_reason(capabilities) {
            return CaseOutcome::Skipped(reason);
        }
        let tried = async {
            let context = CaseContext::new(backend, capabilities, root, self.name)?;
            context.clear().await?;
            let result = (self.body)(&context).await;
            let closed = self.requirements.iter().any(|need| matches!(need, Requirement::AllowClose));
            let cleared = if closed { Ok(()) } else { context.clear().await };
            result.and(cleared)
        };
        match tried.await {
            Ok(()) => CaseOutcome::Passed,
            Err(failure) => CaseOutcome::Failed(failure),
        }
    }
}

/// A list of cases: name, requirements, function.
macro_rules! cases {
    ($($name:literal [$($need:expr),*] $body:ident;)*) => {
        &[$($crate::conformance::case::Case::new($name, &[$($need),*], |context| Box::pin($body(context)))),*]
    };
}
pub(super) use cases;
