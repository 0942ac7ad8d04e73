//! Making sandboxes and finding them again.

use futures_util::future::join;

use super::super::fault::{Fault, Verdict, holds, same};
use super::ProviderNeed::{Labels, List, OneOfTwoAtOnce};
use super::{Ground, ProviderCase, provider_cases};
use crate::error::ErrorKind;
use crate::provider::{SandboxId, Selector};

pub(super) const CASES: &[ProviderCase] = provider_cases![
    "get_or_create: without labels each sandbox is new, with an id of its own" [] always_new;
    "get_or_create: a sandbox is found by its id" [] by_id;
    "get_or_create: an id that is not known is an error and makes nothing" [] unknown_id;
    "get_or_create: the same labels find the same sandbox" [Labels] by_labels;
    "get_or_create: other labels make another sandbox" [Labels] other_labels;
    "get_or_create: a sandbox with more labels than asked for is found" [Labels] fewer_labels;
    "get_or_create: two who ask for the same labels at once get one sandbox" [Labels, OneOfTwoAtOnce] at_once;
    "list: what was made is listed with its labels" [Labels, List] listed;
    "list: only sandboxes with the labels asked for are listed" [Labels, List] listed_by_labels;
    "list: pages hold every sandbox exactly once, in the same order each time" [Labels, List] pages;
];

async fn always_new(ground: &Ground<'_>) -> Verdict {
    let (one, other) = (ground.make().await?, ground.make().await?);
    holds("ids that are not empty", !one.id().as_str().is_empty(), one.id())?;
    holds("two ids", one.id() != other.id(), &(one.id(), other.id()))
}

async fn by_id(ground: &Ground<'_>) -> Verdict {
    let made = ground.make().await?;
    let found = ground.get(Selector::Id(made.id().clone())).await?;
    same("the id", found.id(), made.id())
}

async fn unknown_id(ground: &Ground<'_>) -> Verdict {
    let made = ground.make().await?;
    let unknown = SandboxId::parse(format!("{}-unknown", made.id()))?;
    match ground.provider.get_or_create(Selector::Id(unknown)).await {
        Err(error) => same("the kind of the error", &error.kind(), &ErrorKind::SandboxNotFound),
        Ok(sandbox) => Err(Fault::new("an error", format!("the sandbox {}", sandbox.id()))),
    }
}

async fn by_labels(ground: &Ground<'_>) -> Verdict {
    let labels = ground.new_labels().await?;
    let one = ground.get(Selector::Labels(labels.clone())).await?;
    let again = ground.get(Selector::Labels(labels)).await?;
    same("the id", again.id(), one.id())
}

async fn other_labels(ground: &Ground<'_>) -> Verdict {
    let labels = ground.new_labels().await?;
    let mut others = labels.clone();
    others.insert("thread".to_owned(), "2".to_owned());
    let one = ground.get(Selector::Labels(labels)).await?;
    let other = ground.get(Selector::Labels(others)).await?;
    holds("two ids", one.id() != other.id(), &(one.id(), other.id()))
}

async fn fewer_labels(ground: &Ground<'_>) -> Verdict {
    let labels = ground.new_labels().await?;
    let one = ground.get(Selector::Labels(labels.clone())).await?;
    let mut fewer = labels;
    fewer.remove("thread");
    let found = ground.get(Selector::Labels(fewer)).await?;
    same("the id", found.id(), one.id())
}

async fn at_once(ground: &Ground<'_>) -> Verdict {
    for _ in 0..4 {
        let labels = ground.new_labels().await?;
        let ask = || ground.get(Selector::Labels(labels.clone()));
        let (one, other) = join(ask(), ask()).await;
        same("the id", other?.id(), one?.id())?;
    }
    Ok(())
}

async fn listed(ground: &Ground<'_>) -> Verdict {
    let labels = ground.new_labels().await?;
    let made = ground.get(Selector::Labels(labels.clone())).await?;
    let all = ground.list(&super::Labels::new()).await?;
    let all = all.ok_or_else(|| Fault::new("a list that ends", "a thousand pages and more"))?;
    let found = all.iter().find(|info| info.id == *made.id());
    same("the labels of the sandbox in the list of all", &found.map(|info| &info.labels), &Some(&labels))
}

async fn listed_by_labels(ground: &Ground<'_>) -> Verdict {
    let labels = ground.new_labels().await?;
    let made = ground.get(Selector::Labels(labels.clone())).await?;
    let found = ground.list(&labels).await?.unwrap_or_default();
    let ids: Vec<&SandboxId> = found.iter().map(|info| &info.id).collect();
    same("the ids", &ids, &vec![made.id()])?;
    let mut nobody = labels;
    nobody.insert("thread".to_owned(), "nobody's".to_owned());
    same("the ids of nobody", &ground.list(&nobody).await?.map(|all| all.len()), &Some(0))
}

async fn pages(ground: &Ground<'_>) -> Verdict {
    let mut labels = ground.new_labels().await?;
    let mut made = Vec::new();
    for number in 0..ground.capabilities.many {
        labels.insert("thread".to_owned(), number.to_string());
        made.push(ground.get(Selector::Labels(labels.clone())).await?.id().clone());
    }
    labels.remove("thread");
    let ids = |all: Option<Vec<crate::provider::SandboxInfo>>| -> Vec<SandboxId> {
        all.unwrap_or_default().into_iter().map(|info| info.id).collect()
    };
    let first = ids(ground.list(&labels).await?);
    same("the list a second time", &ids(ground.list(&labels).await?), &first)?;
    let mut sorted = first;
    sorted.sort();
    made.sort();
    same("the ids", &sorted, &made)
}
