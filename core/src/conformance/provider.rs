//! The conformance suite for providers: creating, finding, listing and deleting sandboxes.
//!
//! ```
//! # use tidebox_core::{SandboxProvider, conformance::provider::{self, ProviderCapabilities}};
//! # async fn example(provider: &dyn SandboxProvider) {
//! provider::run(provider, &ProviderCapabilities::full()).await.assert_success();
//! # }
//! ```
//!
//! Every case creates separate sandboxes and deletes them. Their labels contain the id of a sandbox that the case has just
//! created, so that they match no sandbox of another run.

mod lifecycle;
mod lookup;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::case::CaseOutcome;
use super::failure::CaseResult;
use super::report::Report;
use crate::backend::{BoxFuture, SandboxBackend};
use crate::error::Result;
use crate::lock::Mutex;
use crate::path::SandboxPath;
use crate::provider::{ListRequest, SandboxId, SandboxInfo, SandboxProvider, Selector};

/// The claimed capabilities of a provider.
#[derive(Clone, Debug)]
pub struct ProviderCapabilities {
    /// Sandboxes have labels and can be found by them.
    pub labels: bool,
    /// Two concurrent requests with the same labels get one sandbox.
    pub concurrent_create: bool,
    /// Sandboxes can be listed.
    pub list: bool,
    /// Number of sandboxes created by the paging case. It must exceed the provider's page size to test more than one page.
    pub list_sandboxes: usize,
    /// The provider's sandboxes run commands, and closing or deleting a sandbox ends them.
    pub execute: bool,
    /// A writable directory of a new sandbox.
    pub root: SandboxPath,
}

impl ProviderCapabilities {
    /// Returns all capabilities, with `/workspace` as the root and five sandboxes for the paging case.
    pub fn full() -> Self {
        // The path is a literal that is absolute.
        let root = SandboxPath::root().resolve("workspace").unwrap_or_else(|_| SandboxPath::root());
        Self { labels: true, concurrent_create: true, list: true, list_sandboxes: 5, execute: true, root }
    }
}

/// A requirement of a provider case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProviderRequirement {
    /// [`ProviderCapabilities::labels`].
    Labels,
    /// [`ProviderCapabilities::concurrent_create`].
    ConcurrentCreate,
    /// [`ProviderCapabilities::list`].
    List,
    /// [`ProviderCapabilities::execute`].
    Execute,
}

impl ProviderRequirement {
    fn missing(self, has: &ProviderCapabilities) -> Option<String> {
        let (met, what) = match self {
            Self::Labels => (has.labels, "finds sandboxes by labels"),
            Self::ConcurrentCreate => (has.concurrent_create, "creates one sandbox for two concurrent requests"),
            Self::List => (has.list, "lists sandboxes"),
            Self::Execute => (has.execute, "runs commands"),
        };
        (!met).then(|| format!("the provider does not claim that it {what}"))
    }
}

type CaseFn = for<'a> fn(&'a ProviderContext<'a>) -> BoxFuture<'a, CaseResult>;

/// One requirement of the provider contract.
#[derive(Clone, Copy)]
pub struct ProviderCase {
    /// The requirement as a sentence.
    pub name: &'static str,
    /// Capabilities that a provider must claim for the case to run.
    pub requirements: &'static [ProviderRequirement],
    body: CaseFn,
}

impl fmt::Debug for ProviderCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderCase")
            .field("name", &self.name)
            .field("needs", &self.requirements)
            .finish_non_exhaustive()
    }
}

impl ProviderCase {
    const fn new(name: &'static str, needs: &'static [ProviderRequirement], body: CaseFn) -> Self {
        Self { name, requirements: needs, body }
    }

    /// Runs only this case. The sandboxes that it creates are deleted afterwards.
    pub async fn run(&self, provider: &dyn SandboxProvider, capabilities: &ProviderCapabilities) -> CaseOutcome {
        if let Some(reason) = self.requirements.iter().find_map(|need| need.missing(capabilities)) {
            return CaseOutcome::Skipped(reason);
        }
        let context = ProviderContext { provider, capabilities, created: Mutex::default() };
        let result = (self.body)(&context).await;
        match result.and(context.clear().await) {
            Ok(()) => CaseOutcome::Passed,
            Err(failure) => CaseOutcome::Failed(failure),
        }
    }
}

/// Returns every provider case.
pub fn cases() -> impl Iterator<Item = &'static ProviderCase> {
    lookup::CASES.iter().chain(lifecycle::CASES)
}

/// Runs every case whose requirements the provider meets, one after the other.
pub async fn run(provider: &dyn SandboxProvider, capabilities: &ProviderCapabilities) -> Report {
    let mut report = Report::default();
    for case in cases() {
        report.add(case.name, case.run(provider, capabilities).await);
    }
    report
}

type Labels = BTreeMap<String, String>;

/// Context of one case, with the sandboxes that it has created.
struct ProviderContext<'a> {
    provider: &'a dyn SandboxProvider,
    capabilities: &'a ProviderCapabilities,
    created: Mutex<Vec<SandboxId>>,
}

impl ProviderContext<'_> {
    async fn get(&self, selector: Selector) -> Result<Arc<dyn SandboxBackend>> {
        let sandbox = self.provider.get_or_create(selector).await?;
        self.created.lock().push(sandbox.id().clone());
        Ok(sandbox)
    }

    async fn make(&self) -> Result<Arc<dyn SandboxBackend>> {
        self.get(Selector::Labels(Labels::new())).await
    }

    /// Returns labels that no other sandbox has.
    async fn new_labels(&self) -> Result<Labels> {
        let id = self.make().await?.id().as_str().to_owned();
        Ok(Labels::from([("conformance".to_owned(), id), ("thread".to_owned(), "1".to_owned())]))
    }

    /// Reads all pages of a list; `None` if the list does not end.
    async fn list(&self, labels: &Labels) -> Result<Option<Vec<SandboxInfo>>> {
        let mut all = Vec::new();
        let mut cursor = None;
        for _ in 0..1000 {
            let request = ListRequest { cursor, labels: labels.clone() };
            let page = self.provider.list(request).await?;
            all.extend(page.sandboxes);
            cursor = page.cursor;
            if cursor.is_none() {
                return Ok(Some(all));
            }
        }
        Ok(None)
    }

    async fn clear(&self) -> CaseResult {
        let created = std::mem::take(&mut *self.created.lock());
        for id in created {
            self.provider.delete(&id).await?;
        }
        Ok(())
    }
}

/// A list of cases: name, requirements, function.
macro_rules! provider_cases {
    ($($name:literal [$($need:expr),*] $body:ident;)*) => {
        &[$(crate::conformance::provider::ProviderCase::new($name, &[$($need),*], |context| Box::pin($body(context)))),*]
    };
}
use provider_cases;
