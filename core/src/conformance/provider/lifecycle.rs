//! Isolation and deletion of sandboxes.

use std::time::Duration;

use futures_util::future::join;

use super::super::failure::{CaseFailure, CaseResult, check, check_eq, text};
use super::ProviderRequirement::{Execute, Labels, List};
use super::{ProviderCase, ProviderContext, provider_cases};
use crate::backend::SandboxBackend;
use crate::error::ErrorKind;
use crate::execute::ExecuteRequest;
use crate::provider::{SandboxId, Selector};
use crate::transfer::Upload;

pub(super) const CASES: &[ProviderCase] = provider_cases![
    "get_or_create: a sandbox that is found again keeps its files" [] files_stay;
    "get_or_create: two sandboxes do not share files" [] files_apart;
    "delete: a deleted sandbox is not found by its id" [] deleted_by_id;
    "delete: labels of a deleted sandbox create a new one" [Labels] deleted_labels;
    "delete: a deleted sandbox is not listed" [Labels, List] deleted_list;
    "delete: deleting a missing sandbox succeeds, also twice" [] twice;
    "delete: deleting a sandbox does not affect others" [] others_stay;
    "delete: a running command is ended" [Execute] ends_commands;
];

async fn put(context: &ProviderContext<'_>, sandbox: &dyn SandboxBackend, content: &str) -> CaseResult {
    let path = context.capabilities.root.join(b"conformance-file");
    for result in sandbox.upload_files(vec![Upload::new(path, content)]).await? {
        result.result?;
    }
    Ok(())
}

async fn content(context: &ProviderContext<'_>, sandbox: &dyn SandboxBackend) -> CaseResult<Option<String>> {
    let path = context.capabilities.root.join(b"conformance-file");
    let got = sandbox.download_files(vec![path]).await?;
    Ok(got.first().and_then(|got| got.result.as_deref().ok()).map(text))
}

async fn is_unknown(context: &ProviderContext<'_>, id: &SandboxId) -> CaseResult {
    match context.provider.get_or_create(Selector::Id(id.clone())).await {
        Err(error) => check_eq("the kind of the error", &error.kind(), &ErrorKind::SandboxNotFound),
        Ok(sandbox) => Err(CaseFailure::new("an error", format!("the sandbox {}", sandbox.id()))),
    }
}

async fn files_stay(context: &ProviderContext<'_>) -> CaseResult {
    let created = context.make().await?;
    put(context, &*created, "kept").await?;
    let found = context.get(Selector::Id(created.id().clone())).await?;
    check_eq("the file", &content(context, &*found).await?, &Some("kept".to_owned()))
}

async fn files_apart(context: &ProviderContext<'_>) -> CaseResult {
    let (one, other) = (context.make().await?, context.make().await?);
    put(context, &*one, "of one").await?;
    check_eq("the file in the other sandbox", &content(context, &*other).await?, &None)
}

async fn deleted_by_id(context: &ProviderContext<'_>) -> CaseResult {
    let id = context.make().await?.id().clone();
    context.provider.delete(&id).await?;
    is_unknown(context, &id).await
}

async fn deleted_labels(context: &ProviderContext<'_>) -> CaseResult {
    let labels = context.new_labels().await?;
    let one = context.get(Selector::Labels(labels.clone())).await?;
    put(context, &*one, "deleted").await?;
    context.provider.delete(one.id()).await?;
    let other = context.get(Selector::Labels(labels)).await?;
    check("two ids", one.id() != other.id(), &(one.id(), other.id()))?;
    check_eq("the file in the new sandbox", &content(context, &*other).await?, &None)
}

async fn deleted_list(context: &ProviderContext<'_>) -> CaseResult {
    let labels = context.new_labels().await?;
    let created = context.get(Selector::Labels(labels.clone())).await?;
    context.provider.delete(created.id()).await?;
    check_eq("number of listed sandboxes", &context.list(&labels).await?.map(|all| all.len()), &Some(0))
}

async fn twice(context: &ProviderContext<'_>) -> CaseResult {
    let id = context.make().await?.id().clone();
    context.provider.delete(&id).await?;
    context.provider.delete(&id).await?;
    let unknown = SandboxId::parse(format!("{id}-unknown"))?;
    Ok(context.provider.delete(&unknown).await?)
}

async fn others_stay(context: &ProviderContext<'_>) -> CaseResult {
    let (one, other) = (context.make().await?, context.make().await?);
    put(context, &*other, "kept").await?;
    context.provider.delete(one.id()).await?;
    let found = context.get(Selector::Id(other.id().clone())).await?;
    check_eq("the file of the other sandbox", &content(context, &*found).await?, &Some("kept".to_owned()))
}

async fn ends_commands(context: &ProviderContext<'_>) -> CaseResult {
    let sandbox = context.make().await?;
    let id = sandbox.id().clone();
    let running = async {
        let request = ExecuteRequest::new("sleep 60; echo never").with_timeout(Duration::from_secs(90));
        match sandbox.execute(request).await {
            // A closed provider cannot respond as an open one.
            Err(error) => Ok(error.to_string()),
            Ok(response) => {
                let quick = response.duration < Duration::from_secs(30);
                check("a duration well below 60 s", quick, &response.duration)?;
                Ok::<_, CaseFailure>(text(&response.output))
            }
        }
    };
    let (seen, deleted) = join(running, context.provider.delete(&id)).await;
    deleted?;
    let seen = seen?;
    check("a command that did not run to its end", !seen.contains("never"), &seen)
}
