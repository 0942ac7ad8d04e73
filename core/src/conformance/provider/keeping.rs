//! What belongs to a sandbox, and its end.

use std::time::Duration;

use futures_util::future::join;

use super::super::fault::{Fault, Verdict, holds, same, text};
use super::ProviderNeed::{Execute, Labels, List};
use super::{Ground, ProviderCase, provider_cases};
use crate::backend::SandboxBackend;
use crate::error::ErrorKind;
use crate::execute::ExecuteRequest;
use crate::provider::{SandboxId, Selector};
use crate::transfer::Upload;

pub(super) const CASES: &[ProviderCase] = provider_cases![
    "get_or_create: a sandbox that is found again has its files" [] files_stay;
    "get_or_create: two sandboxes do not see each other's files" [] files_apart;
    "delete: a deleted sandbox is not found by its id" [] deleted_by_id;
    "delete: labels of a deleted sandbox make a new one" [Labels] deleted_labels;
    "delete: a deleted sandbox is not listed" [Labels, List] deleted_list;
    "delete: what is not there may be deleted, also twice" [] twice;
    "delete: a sandbox that is deleted takes no other with it" [] others_stay;
    "delete: a command that runs is ended" [Execute] ends_commands;
];

async fn put(ground: &Ground<'_>, sandbox: &dyn SandboxBackend, content: &str) -> Verdict {
    let path = ground.capabilities.root.join(b"conformance-file");
    for result in sandbox.upload_files(vec![Upload::new(path, content)]).await? {
        result.result?;
    }
    Ok(())
}

async fn content(ground: &Ground<'_>, sandbox: &dyn SandboxBackend) -> Verdict<Option<String>> {
    let path = ground.capabilities.root.join(b"conformance-file");
    let got = sandbox.download_files(vec![path]).await?;
    Ok(got.first().and_then(|got| got.result.as_deref().ok()).map(text))
}

async fn is_unknown(ground: &Ground<'_>, id: &SandboxId) -> Verdict {
    match ground.provider.get_or_create(Selector::Id(id.clone())).await {
        Err(error) => same("the kind of the error", &error.kind(), &ErrorKind::SandboxNotFound),
        Ok(sandbox) => Err(Fault::new("an error", format!("the sandbox {}", sandbox.id()))),
    }
}

async fn files_stay(ground: &Ground<'_>) -> Verdict {
    let made = ground.make().await?;
    put(ground, &*made, "kept").await?;
    let found = ground.get(Selector::Id(made.id().clone())).await?;
    same("the file", &content(ground, &*found).await?, &Some("kept".to_owned()))
}

async fn files_apart(ground: &Ground<'_>) -> Verdict {
    let (one, other) = (ground.make().await?, ground.make().await?);
    put(ground, &*one, "of one").await?;
    same("the file in the other", &content(ground, &*other).await?, &None)
}

async fn deleted_by_id(ground: &Ground<'_>) -> Verdict {
    let id = ground.make().await?.id().clone();
    ground.provider.delete(&id).await?;
    is_unknown(ground, &id).await
}

async fn deleted_labels(ground: &Ground<'_>) -> Verdict {
    let labels = ground.new_labels().await?;
    let one = ground.get(Selector::Labels(labels.clone())).await?;
    put(ground, &*one, "gone").await?;
    ground.provider.delete(one.id()).await?;
    let other = ground.get(Selector::Labels(labels)).await?;
    holds("two ids", one.id() != other.id(), &(one.id(), other.id()))?;
    same("the file in the new one", &content(ground, &*other).await?, &None)
}

async fn deleted_list(ground: &Ground<'_>) -> Verdict {
    let labels = ground.new_labels().await?;
    let made = ground.get(Selector::Labels(labels.clone())).await?;
    ground.provider.delete(made.id()).await?;
    same("how many are listed", &ground.list(&labels).await?.map(|all| all.len()), &Some(0))
}

async fn twice(ground: &Ground<'_>) -> Verdict {
    let id = ground.make().await?.id().clone();
    ground.provider.delete(&id).await?;
    ground.provider.delete(&id).await?;
    let unknown = SandboxId::parse(format!("{id}-unknown"))?;
    Ok(ground.provider.delete(&unknown).await?)
}

async fn others_stay(ground: &Ground<'_>) -> Verdict {
    let (one, other) = (ground.make().await?, ground.make().await?);
    put(ground, &*other, "kept").await?;
    ground.provider.delete(one.id()).await?;
    let found = ground.get(Selector::Id(other.id().clone())).await?;
    same("the file of the other", &content(ground, &*found).await?, &Some("kept".to_owned()))
}

async fn ends_commands(ground: &Ground<'_>) -> Verdict {
    let sandbox = ground.make().await?;
    let id = sandbox.id().clone();
    let running = async {
        let request = ExecuteRequest::new("sleep 60; echo never").with_timeout(Duration::from_secs(90));
        match sandbox.execute(request).await {
            // A provider that is gone cannot answer as one that is there.
            Err(error) => Ok(error.to_string()),
            Ok(response) => {
                let quick = response.duration < Duration::from_secs(30);
                holds("an end long before the 60 s", quick, &response.duration)?;
                Ok::<_, Fault>(text(&response.output))
            }
        }
    };
    let (seen, deleted) = join(running, ground.provider.delete(&id)).await;
    deleted?;
    let seen = seen?;
    holds("a command that did not reach its end", !seen.contains("never"), &seen)
}
