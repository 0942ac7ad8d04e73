//! The local provider with one injected defect, and the cases that detect it.

use std::sync::Arc;

use tidebox::conformance::CaseOutcome;
use tidebox::conformance::provider::{self, ProviderCapabilities};
use tidebox::{
    BoxFuture, Error, ErrorKind, ListPage, ListRequest, Result, SandboxBackend, SandboxId, SandboxProvider, Selector,
};
use tidebox_vfs_backend::VfsProvider;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Defect {
    UnknownIdIsMade,
    LabelsForgotten,
    OneForAll,
    FirstPageOnly,
    PagesRepeat,
    FilterIgnored,
    DeletedStays,
    DeletingTwiceFails,
    TwoAtOnce,
}

const SEEN_BY: &[(Defect, &str)] = &[
    (Defect::UnknownIdIsMade, "get_or_create: an unknown id is an error and creates nothing"),
    (Defect::UnknownIdIsMade, "delete: a deleted sandbox is not found by its id"),
    (Defect::LabelsForgotten, "get_or_create: the same labels find the same sandbox"),
    (Defect::OneForAll, "get_or_create: without labels each sandbox is new and has a unique id"),
    (Defect::OneForAll, "get_or_create: two sandboxes do not share files"),
    (Defect::FirstPageOnly, "list: pages contain every sandbox once, in a stable order"),
    (Defect::PagesRepeat, "list: pages contain every sandbox once, in a stable order"),
    (Defect::FilterIgnored, "list: only sandboxes with the requested labels are listed"),
    (Defect::DeletedStays, "delete: a deleted sandbox is not found by its id"),
    (Defect::DeletedStays, "delete: a deleted sandbox is not listed"),
    (Defect::DeletingTwiceFails, "delete: deleting a missing sandbox succeeds, also twice"),
    (Defect::TwoAtOnce, "get_or_create: concurrent requests with the same labels get one sandbox"),
];

#[derive(Debug)]
struct FaultyProvider {
    inner: VfsProvider,
    defect: Defect,
    one: tokio::sync::OnceCell<Arc<dyn SandboxBackend>>,
}

impl FaultyProvider {
    async fn new_sandbox(&self) -> Result<Arc<dyn SandboxBackend>> {
        self.inner.get_or_create(Selector::Labels(Default::default())).await
    }
}

impl SandboxProvider for FaultyProvider {
    fn get_or_create(&self, selector: Selector) -> BoxFuture<'_, Result<Arc<dyn SandboxBackend>>> {
        Box::pin(async move {
            match (self.defect, &selector) {
                (Defect::LabelsForgotten, Selector::Labels(_)) => self.new_sandbox().await,
                (Defect::OneForAll, Selector::Labels(_)) => {
                    self.one.get_or_try_init(|| self.new_sandbox()).await.map(Arc::clone)
                }
                (Defect::TwoAtOnce, Selector::Labels(labels)) if !labels.is_empty() => {
                    let request = ListRequest { labels: labels.clone(), ..ListRequest::default() };
                    let there = self.inner.list(request).await?.sandboxes.pop();
                    tokio::task::yield_now().await;
                    match there {
                        Some(info) => self.inner.get_or_create(Selector::Id(info.id)).await,
                        None => self.new_sandbox().await,
                    }
                }
                (Defect::UnknownIdIsMade, Selector::Id(_)) => match self.inner.get_or_create(selector).await {
                    Err(_) => self.new_sandbox().await,
                    found => found,
                },
                _ => self.inner.get_or_create(selector).await,
            }
        })
    }

    fn list(&self, mut request: ListRequest) -> BoxFuture<'_, Result<ListPage>> {
        Box::pin(async move {
            if self.defect == Defect::FilterIgnored {
                request.labels.clear();
            }
            let repeat = self.defect == Defect::PagesRepeat && request.cursor.is_some();
            let again = if repeat {
                let first = ListRequest { cursor: None, ..request.clone() };
                self.inner.list(first).await?.sandboxes
            } else {
                Vec::new()
            };
            let mut page = self.inner.list(request).await?;
            page.sandboxes.extend(again);
            if self.defect == Defect::FirstPageOnly {
                page.cursor = None;
            }
            Ok(page)
        })
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if self.defect == Defect::DeletedStays {
                return Ok(());
            }
            let there = self.inner.get_or_create(Selector::Id(id.clone())).await.is_ok();
            if self.defect == Defect::DeletingTwiceFails && !there {
                return Err(Error::new(ErrorKind::SandboxNotFound, "delete", "no such sandbox"));
            }
            self.inner.delete(id).await
        })
    }
}

#[tokio::test]
async fn every_provider_defect_fails_its_case() {
    let capabilities = ProviderCapabilities { list_sandboxes: 150, ..ProviderCapabilities::full() };
    let mut unseen = Vec::new();
    for (defect, name) in SEEN_BY {
        let faulty =
            FaultyProvider { inner: VfsProvider::new(tidebox::sandbox), defect: *defect, one: Default::default() };
        let case = provider::cases().find(|case| case.name == *name);
        match case.unwrap_or_else(|| panic!("there is a case {name:?}")).run(&faulty, &capabilities).await {
            CaseOutcome::Failed(_) => {}
            other => unseen.push(format!("{defect:?} by {name:?}: {other:?}")),
        }
    }
    assert!(unseen.is_empty(), "{}", unseen.join("\n"));
}
