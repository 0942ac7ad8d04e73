use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_executor::block_on;
use tidebox_core::{ErrorKind, ExecuteRequest, ListRequest, SandboxBackend, SandboxId, SandboxProvider, Selector};
use tidebox_kernel::SeededEntropy;

use super::scripted_engine::{ScriptedEngine, Step};
use crate::{BaseImage, SandboxBuilder, VfsProvider};

fn provider() -> VfsProvider {
    let seeds = AtomicU64::new(0);
    let base = BaseImage::new(&[]).unwrap();
    VfsProvider::new(move || {
        let entropy = Box::new(SeededEntropy::new(seeds.fetch_add(1, Ordering::Relaxed)));
        let clock = Box::new(tidebox_kernel::VirtualClock::new(0));
        Ok(SandboxBuilder::new(Arc::new(ScriptedEngine::new([Step::Exit(0)])), &base, clock, entropy))
    })
}

fn labels(list: &[(&str, &str)]) -> BTreeMap<String, String> {
    list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn get(provider: &VfsProvider, list: &[(&str, &str)]) -> Arc<dyn SandboxBackend> {
    block_on(provider.get_or_create(Selector::Labels(labels(list)))).unwrap()
}

#[test]
fn an_unknown_id_does_not_create_a_sandbox() {
    let provider = provider();
    let created = get(&provider, &[]);
    let found = block_on(provider.get_or_create(Selector::Id(created.id().clone()))).unwrap();
    assert_eq!(created.id(), found.id());
    let unknown = Selector::Id(SandboxId::parse("sb-unknown").unwrap());
    assert_eq!(block_on(provider.get_or_create(unknown)).unwrap_err().kind(), ErrorKind::SandboxNotFound);
}

#[test]
fn labels_find_a_sandbox_and_no_labels_always_create_one() {
    let provider = provider();
    let one = get(&provider, &[("thread", "1"), ("user", "a")]);
    assert_eq!(get(&provider, &[("thread", "1")]).id(), one.id());
    assert_ne!(get(&provider, &[("thread", "2")]).id(), one.id());
    assert_ne!(get(&provider, &[]).id(), get(&provider, &[]).id());
}

#[test]
fn a_sandbox_is_found_by_any_of_its_labels() {
    let provider = provider();
    let both = get(&provider, &[("thread", "7"), ("user", "ann")]);
    let other = get(&provider, &[("thread", "8"), ("user", "ann")]);
    assert_eq!(get(&provider, &[("thread", "7")]).id(), both.id());
    assert_eq!(get(&provider, &[("thread", "8"), ("user", "ann")]).id(), other.id());
    assert_ne!(get(&provider, &[("thread", "8"), ("user", "bob")]).id(), other.id());
    // A sandbox that was closed or deleted has no labels any more.
    block_on(both.close()).unwrap();
    block_on(provider.delete(other.id())).unwrap();
    for thread in ["7", "8"] {
        let new = get(&provider, &[("thread", thread), ("user", "ann")]);
        assert!(new.id() != both.id() && new.id() != other.id());
        assert_eq!(get(&provider, &[("user", "ann"), ("thread", thread)]).id(), new.id());
    }
}

#[test]
fn a_list_comes_in_pages_without_gaps_or_repetition() {
    let provider = provider();
    for at in 0..250 {
        get(&provider, &[("parity", if at % 2 == 0 { "even" } else { "odd" }), ("at", &at.to_string())]);
    }
    for (filter, expected, pages) in [(labels(&[]), 250, 3), (labels(&[("parity", "odd")]), 125, 2)] {
        let mut request = ListRequest { labels: filter, cursor: None };
        let mut ids = BTreeSet::new();
        for page in 1.. {
            let listed = block_on(provider.list(request.clone())).unwrap();
            for info in listed.sandboxes {
                assert!(ids.insert(info.id));
            }
            request.cursor = listed.cursor;
            if request.cursor.is_none() {
                assert_eq!(page, pages);
                break;
            }
        }
        assert_eq!(ids.len(), expected);
    }
}

#[test]
fn deleting_closes_and_may_be_repeated() {
    let provider = provider();
    let sandbox = get(&provider, &[("thread", "1")]);
    block_on(provider.delete(sandbox.id())).unwrap();
    block_on(provider.delete(sandbox.id())).unwrap();
    assert_eq!(block_on(sandbox.execute(ExecuteRequest::new("true"))).unwrap_err().kind(), ErrorKind::Closed);
    assert!(block_on(provider.list(ListRequest::default())).unwrap().sandboxes.is_empty());
    assert_ne!(get(&provider, &[("thread", "1")]).id(), sandbox.id());
}

#[test]
fn a_closed_sandbox_is_not_found() {
    let provider = provider();
    let sandbox = get(&provider, &[("thread", "1")]);
    block_on(sandbox.close()).unwrap();
    assert_ne!(get(&provider, &[("thread", "1")]).id(), sandbox.id());
    let again = block_on(provider.get_or_create(Selector::Id(sandbox.id().clone())));
    assert_eq!(again.unwrap_err().kind(), ErrorKind::SandboxNotFound);
}

#[test]
fn two_sandboxes_never_share_an_id() {
    let base = BaseImage::new(&[]).unwrap();
    let provider = VfsProvider::new(move || {
        let entropy = Box::new(SeededEntropy::new(7));
        let clock = Box::new(tidebox_kernel::VirtualClock::new(0));
        Ok(SandboxBuilder::new(Arc::new(ScriptedEngine::new([])), &base, clock, entropy))
    });
    let first = get(&provider, &[]);
    let second = block_on(provider.get_or_create(Selector::Labels(BTreeMap::new()))).unwrap_err();
    assert_eq!(second.kind(), ErrorKind::InvalidRequest);
    assert!(second.to_string().contains(first.id().as_str()));
}
