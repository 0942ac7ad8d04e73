//! Concurrent callers.

use std::collections::BTreeMap;

use futures_executor::block_on;
use futures_util::future::join_all;
use tidebox_core::{ErrorKind, ListRequest, Result, SandboxProvider, Selector, WriteRequest};

use super::super::path;
use super::environment::*;
use crate::ProviderSettings;

#[test]
fn requested_labels_override_provider_labels() {
    let environment = TestEnvironment::default();
    let labels: BTreeMap<String, String> = [("app".into(), "a".into()), ("tier".into(), "low".into())].into();
    let provider = environment.start(ProviderSettings { labels, ..ProviderSettings::default() });
    let sandbox = get(&provider, Selector::labels([("thread", "1"), ("tier", "high")]));
    let listed = block_on(provider.list(ListRequest::default())).unwrap();
    let results: Vec<_> = listed.sandboxes[0].labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(results, ["app=a", "thread=1", "tier=high"]);
    assert_eq!(get(&provider, Selector::labels([("app", "a")])).id(), sandbox.id());
}

#[test]
fn concurrent_requests_for_equal_labels_get_one_sandbox() {
    for settings in [ProviderSettings::default(), TestEnvironment::default().stored()] {
        let provider = TestEnvironment::default().start(settings);
        let created = std::thread::scope(|scope| {
            let ask = || block_on(join_all((0..32).map(|number| provider.get_or_create(thread_selector(number % 8)))));
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
            let created: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
            created.into_iter().map(|sandbox| sandbox.unwrap().id().clone()).collect::<std::collections::BTreeSet<_>>()
        });
        assert_eq!(created.len(), 8);
        assert_eq!(block_on(provider.list(ListRequest::default())).unwrap().sandboxes.len(), 8);
    }
}

#[test]
fn concurrent_requests_load_a_saved_sandbox_once() {
    let environment = TestEnvironment::default();
    get(&environment.start(environment.stored()), thread_selector(1));
    let again = environment.start(environment.stored());
    let found = block_on(join_all((0..8).map(|_| again.get_or_create(thread_selector(1)))));
    let found: Vec<_> = found.into_iter().map(Result::unwrap).collect();
    write(&*found[0], "/workspace/shared", "x").unwrap();
    for sandbox in &found {
        assert_eq!(read(&**sandbox, "/workspace/shared").unwrap().as_deref(), Some(&b"x"[..]));
    }
}

#[test]
fn calls_that_end_during_a_save_are_saved_together() {
    let environment = TestEnvironment::default();
    let provider = environment.start(environment.stored());
    let sandbox = get(&provider, thread_selector(1));
    let puts = environment.store.put_count();
    let writes = (0..16).map(|at| sandbox.write(WriteRequest::new(path(&format!("/workspace/{at}")), "x")));
    for written in block_on(join_all(writes)) {
        written.unwrap().unwrap();
    }
    assert!(environment.store.put_count() - puts < 4, "{} saves", environment.store.put_count() - puts);
    let back = get(&environment.start(environment.stored()), thread_selector(1));
    assert!((0..16).all(|at| read(&*back, &format!("/workspace/{at}")).unwrap().is_some()));
}

#[test]
fn deleting_during_a_save_removes_the_snapshot() {
    let environment = TestEnvironment::default();
    let provider = environment.start(environment.stored());
    for number in 0..20 {
        let sandbox = get(&provider, thread_selector(number));
        let write = sandbox.write(WriteRequest::new(path("/workspace/a"), "x"));
        let (written, deleted) = block_on(futures_util::future::join(write, provider.delete(sandbox.id())));
        deleted.unwrap();
        assert!(written.is_ok() || kind(written) == ErrorKind::Closed);
        assert_eq!(environment.store.ids(), []);
    }
}
