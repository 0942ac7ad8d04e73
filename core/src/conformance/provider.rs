//! The shared test suite for providers: making, finding, listing and deleting sandboxes.
//!
//! ```
//! # use tidebox_core::{SandboxProvider, conformance::provider::{self, ProviderCapabilities}};
//! # async fn example(provider: &dyn SandboxProvider) {
//! provider::run(provider, &ProviderCapabilities::full()).await.assert();
//! # }
//! ```
//!
//! Every case makes sandboxes of its own and deletes them. The labels that it gives them hold the id of a sandbox that it
//! has just made, so that they meet no sandbox of another run.

mod finding;
mod keeping;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::case::Outcome;
use super::fault::Verdict;
use super::report::Report;
use crate::backend::{BoxFuture, SandboxBackend};
use crate::error::Result;
use crate::path::SandboxPath;
use crate::provider::{ListRequest, SandboxId, SandboxInfo, SandboxProvider, Selector};

/// What a provider claims.
#[derive(Clone, Debug)]
pub struct ProviderCapabilities {
    /// Sandboxes bear labels and are found by them.
    pub labels: bool,
    /// Two callers who ask for the same labels at the same time get one sandbox.
    pub one_of_two_at_once: bool,
    /// Sandboxes can be listed.
    pub list: bool,
    /// How many sandboxes the case of the list's pages makes. A provider of many to a page needs more than one page of them.
    pub many: usize,
    /// Its sandboxes run commands, and closing or deleting one ends them.
    pub execute: bool,
    /// A directory of a new sandbox that may be written to.
    pub root: SandboxPath,
}

impl ProviderCapabilities {
    /// Everything that the contract knows; sandboxes are written to at `/workspace`, and the list is held with five.
    pub fn full() -> Self {
        // Known to be absolute.
        let root = SandboxPath::root().resolve("workspace").unwrap_or_else(|_| SandboxPath::root());
        Self { labels: true, one_of_two_at_once: true, list: true, many: 5, execute: true, root }
    }
}

/// What a case of a provider needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProviderNeed {
    /// [`ProviderCapabilities::labels`].
    Labels,
    /// [`ProviderCapabilities::one_of_two_at_once`].
    OneOfTwoAtOnce,
    /// [`ProviderCapabilities::list`].
    List,
    /// [`ProviderCapabilities::execute`].
    Execute,
}

impl ProviderNeed {
    fn missing(self, has: &ProviderCapabilities) -> Option<String> {
        let (met, what) = match self {
            Self::Labels => (has.labels, "finds sandboxes by labels"),
            Self::OneOfTwoAtOnce => (has.one_of_two_at_once, "makes one sandbox for two callers at once"),
            Self::List => (has.list, "lists sandboxes"),
            Self::Execute => (has.execute, "runs commands"),
        };
        (!met).then(|| format!("the provider does not claim that it {what}"))
    }
}

type Try = for<'a> fn(&'a Ground<'a>) -> BoxFuture<'a, Verdict>;

/// One promise of the contract of providers.
#[derive(Clone, Copy)]
pub struct ProviderCase {
    /// The promise, as a sentence.
    pub name: &'static str,
    /// What a provider must claim for the case to be run.
    pub needs: &'static [ProviderNeed],
    body: Try,
}

impl fmt::Debug for ProviderCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderCase").field("name", &self.name).field("needs", &self.needs).finish_non_exhaustive()
    }
}

impl ProviderCase {
    const fn new(name: &'static str, needs: &'static [ProviderNeed], body: Try) -> Self {
        Self { name, needs, body }
    }

    /// Runs this case alone. The sandboxes that it makes are deleted afterwards.
    pub async fn run(&self, provider: &dyn SandboxProvider, capabilities: &ProviderCapabilities) -> Outcome {
        if let Some(reason) = self.needs.iter().find_map(|need| need.missing(capabilities)) {
            return Outcome::Skipped(reason);
        }
        let ground = Ground { provider, capabilities, made: Mutex::default() };
        let verdict = (self.body)(&ground).await;
        match verdict.and(ground.clear().await) {
            Ok(()) => Outcome::Passed,
            Err(fault) => Outcome::Failed(fault),
        }
    }
}

/// Every case of a provider.
pub fn cases() -> impl Iterator<Item = &'static ProviderCase> {
    finding::CASES.iter().chain(keeping::CASES)
}

/// Runs every case whose needs the provider meets, one after the other.
pub async fn run(provider: &dyn SandboxProvider, capabilities: &ProviderCapabilities) -> Report {
    let mut report = Report::default();
    for case in cases() {
        report.add(case.name, case.run(provider, capabilities).await);
    }
    report
}

type Labels = BTreeMap<String, String>;

/// The means of one case, and what it has made.
struct Ground<'a> {
    provider: &'a dyn SandboxProvider,
    capabilities: &'a ProviderCapabilities,
    made: Mutex<Vec<SandboxId>>,
}

impl Ground<'_> {
    async fn get(&self, selector: Selector) -> Result<Arc<dyn SandboxBackend>> {
        let sandbox = self.provider.get_or_create(selector).await?;
        self.made.lock().unwrap_or_else(PoisonError::into_inner).push(sandbox.id().clone());
        Ok(sandbox)
    }

    async fn make(&self) -> Result<Arc<dyn SandboxBackend>> {
        self.get(Selector::Labels(Labels::new())).await
    }

    /// Labels that no other sandbox bears.
    async fn new_labels(&self) -> Result<Labels> {
        let id = self.make().await?.id().as_str().to_owned();
        Ok(Labels::from([("conformance".to_owned(), id), ("thread".to_owned(), "1".to_owned())]))
    }

    /// Whole pages, one after the other, up to the end; `None` when the list does not come to one.
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

    async fn clear(&self) -> Verdict {
        let made = std::mem::take(&mut *self.made.lock().unwrap_or_else(PoisonError::into_inner));
        for id in made {
            self.provider.delete(&id).await?;
        }
        Ok(())
    }
}

/// A list of cases: the promise, its needs, the function that tries it.
macro_rules! provider_cases {
    ($($name:literal [$($need:expr),*] $body:ident;)*) => {
        &[$(crate::conformance::provider::ProviderCase::new($name, &[$($need),*], |ground| Box::pin($body(ground)))),*]
    };
}
use provider_cases;
