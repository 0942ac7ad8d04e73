//! Creating sandboxes and finding them again.

use futures_util::future::join;

use super::super::failure::{CaseFailure, CaseResult, check, check_eq};
use super::ProviderRequirement::{ConcurrentCreate, Labels, List};
use super::{ProviderCase, ProviderContext, provider_cases};
use crate::error::ErrorKind;
use crate::provider::{SandboxId, Selector};

pub(super) const CASES: &[ProviderCase] = provider_cases![
    "get_or_create: without labels each sandbox is new and has a unique id" [] always_new;
    "get_or_create: a sandbox is found by its id" [] by_id;
    "get_or_create: an unknown id is an error and creates nothing" [] unknown_id;
    "get_or_create: the same labels find the same sandbox" [Labels] by_labels;
    "get_or_create: other labels create another sandbox" [Labels] other_labels;
    "get_or_create: a sandbox with additional labels is found" [Labels] fewer_labels;
    "get_or_create: concurrent requests with the same labels get one sandbox" [Labels, ConcurrentCreate] at_once;
    "list: a created sandbox is listed with its labels" [Labels, List] listed;
    "list: only sandboxes with the requested labels are listed" [Labels, List] listed_by_labels;
    "list: pages contain every sandbox once, in a stable order" [Labels, List] pages;
];

async fn always_new(context: &ProviderContext<'_>) -> CaseResult {
    let (one, other) = (context.make().await?, context.make().await?);
    check("ids that are not empty", !one.id().as_str().is_empty(), one.id())?;
    check("two ids", one.id() != other.id(), &(one.id(), other.id()))
}

async fn by_id(context: &ProviderContext<'_>) -> CaseResult {
    let created = context.make().await?;
    let found = context.get(Selector::Id(created.id().clone())).await?;
    check_eq("the id", found.id(), created.id())
}

async fn unknown_id(context: &ProviderContext<'_>) -> CaseResult {
    let created = context.make().await?;
    let unknown = SandboxId::parse(format!("{}-unknown", created.id()))?;
    match context.provider.get_or_create(Selector::Id(unknown)).await {
        Err(error) => check_eq("the kind of the error", &error.kind(), &ErrorKind::SandboxNotFound),
        Ok(sandbox) => Err(CaseFailure::new("an error", format!("the sandbox {}", sandbox.id()))),
    }
}

async fn by_labels(context: &ProviderContext<'_>) -> CaseResult {
    let labels = context.new_labels().await?;
    let one = context.get(Selector::Labels(labels.clone())).await?;
    let again = context.get(Selector::Labels(labels)).await?;
    check_eq("the id", again.id(), one.id())
}

async fn other_labels(context: &ProviderContext<'_>) -> CaseResult {
    let labels = context.new_labels().await?;
    let mut others = labels.clone();
    others.insert("thread".to_owned(), "2".to_owned());
    let one = context.get(Selector::Labels(labels)).await?;
    let other = context.get(Selector::Labels(others)).await?;
    check("two ids", one.id() != other.id(), &(one.id(), other.id()))
}

async fn fewer_labels(context: &ProviderContext<'_>) -> CaseResult {
    let labels = context.new_labels().await?;
    let one = context.get(Selector::Labels(labels.clone())).await?;
    let mut fewer = labels;
    fewer.remove("thread");
    let found = context.get(Selector::Labels(fewer)).await?;
    check_eq("the id", found.id(), one.id())
}

async fn at_once(context: &ProviderContext<'_>) -> CaseResult {
    for _ in 0..4 {
        let labels = context.new_labels().await?;
        let request = || context.get(Selector::Labels(labels.clone()));
        let (one, other) = join(request(), request()).await;
        check_eq("the id", other?.id(), one?.id())?;
    }
    Ok(())
}

async fn listed(context: &ProviderContext<'_>) -> CaseResult {
    let labels = context.new_labels().await?;
    let created = context.get(Selector::Labels(labels.clone())).await?;
    let all = context.list(&super::Labels::new()).await?;
    let all = all.ok_or_else(|| CaseFailure::new("a list that ends", "more than a thousand pages"))?;
    let found = all.iter().find(|info| info.id == *created.id());
    check_eq("the labels of the sandbox in the list of all", &found.map(|info| &info.labels), &Some(&labels))
}

async fn listed_by_labels(context: &ProviderContext<'_>) -> CaseResult {
    let labels = context.new_labels().await?;
    let created = context.get(Selector::Labels(labels.clone())).await?;
    let found = context.list(&labels).await?.unwrap_or_default();
    let ids: Vec<&SandboxId> = found.iter().map(|info| &info.id).collect();
    check_eq("the ids", &ids, &vec![created.id()])?;
    let mut unused = labels;
    unused.insert("thread".to_owned(), "unused".to_owned());
    check_eq("the ids for unused labels", &context.list(&unused).await?.map(|all| all.len()), &Some(0))
}

async fn pages(context: &ProviderContext<'_>) -> CaseResult {
    let mut labels = context.new_labels().await?;
    let mut created = Vec::new();
    for number in 0..context.capabilities.list_sandboxes {
        labels.insert("thread".to_owned(), number.to_string());
        created.push(context.get(Selector::Labels(labels.clone())).await?.id().clone());
    }
    labels.remove("thread");
    let ids = |all: Option<Vec<crate::provider::SandboxInfo>>| -> Vec<SandboxId> {
        all.unwrap_or_default().into_iter().map(|info| info.id).collect()
    };
    let first = ids(context.list(&labels).await?);
    check_eq("the list requested again", &ids(context.list(&labels).await?), &first)?;
    let mut sorted = first;
    sorted.sort();
    created.sort();
    check_eq("the ids", &sorted, &created)
}
