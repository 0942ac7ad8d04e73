//! Callers that ask at the same time.

use std::collections::BTreeMap;

use futures_executor::block_on;
use futures_util::future::join_all;
use tidebox_core::{ErrorKind, ListRequest, Result, SandboxProvider, Selector, WriteRequest};

use super::super::path;
use super::world::*;
use crate::ProviderSettings;

#[test]
fn labels_of_the_provider_are_added_and_those_asked_for_win() {
    let world = World::default();
    let labels: BTreeMap<String, String> = [("app".into(), "a".into()), ("tier".into(), "low".into())].into();
    let provider = world.start(ProviderSettings { labels, ..ProviderSettings::default() });
    let sandbox = get(&provider, Selector::labels([("thread", "1"), ("tier", "high")]));
    let listed = block_on(provider.list(ListRequest::default())).unwrap();
    let told: Vec<_> = listed.sandboxes[0].labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(told, ["app=a", "thread=1", "tier=high"]);
    assert_eq!(get(&provider, Selector::labels([("app", "a")])).id(), sandbox.id());
}

#[test]
fn callers_that_ask_for_the_same_labels_at_the_same_time_get_one_sandbox() {
    for settings in [ProviderSettings::default(), World::default().stored()] {
        let provider = World::default().start(settings);
        let made = std::thread::scope(|scope| {
            let ask = || block_on(join_all((0..32).map(|number| provider.get_or_create(thread(number % 8)))));
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
            let made: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
            made.into_iter().map(|sandbox| sandbox.unwrap().id().clone()).collect::<std::collections::BTreeSet<_>>()
        });
        assert_eq!(made.len(), 8);
        assert_eq!(block_on(provider.list(ListRequest::default())).unwrap().sandboxes.len(), 8);
    }
}

#[test]
fn a_saved_sandbox_is_loaded_once_for_all_who_ask() {
    let world = World::default();
    get(&world.start(world.stored()), thread(1));
    let again = world.start(world.stored());
    let found = block_on(join_all((0..8).map(|_| again.get_or_create(thread(1)))));
    let found: Vec<_> = found.into_iter().map(Result::unwrap).collect();
    write(&*found[0], "/workspace/shared", "x").unwrap();
    for sandbox in &found {
        assert_eq!(read(&**sandbox, "/workspace/shared").unwrap().as_deref(), Some(&b"x"[..]));
    }
}

#[test]
fn calls_that_end_while_it_is_being_saved_are_saved_together() {
    let world = World::default();
    let provider = world.start(world.stored());
    let sandbox = get(&provider, thread(1));
    let puts = world.drawer.puts();
    let writes = (0..16).map(|at| sandbox.write(WriteRequest::new(path(&format!("/workspace/{at}")), "x")));
    for written in block_on(join_all(writes)) {
        written.unwrap().unwrap();
    }
    assert!(world.drawer.puts() - puts < 4, "{} saves", world.drawer.puts() - puts);
    let back = get(&world.start(world.stored()), thread(1));
    assert!((0..16).all(|at| read(&*back, &format!("/workspace/{at}")).unwrap().is_some()));
}

#[test]
fn deleting_while_it_is_being_saved_leaves_nothing_behind() {
    let world = World::default();
    let provider = world.start(world.stored());
    for number in 0..20 {
        let sandbox = get(&provider, thread(number));
        let write = sandbox.write(WriteRequest::new(path("/workspace/a"), "x"));
        let (written, deleted) = block_on(futures_util::future::join(write, provider.delete(sandbox.id())));
        deleted.unwrap();
        assert!(written.is_ok() || kind(written) == ErrorKind::Closed);
        assert_eq!(world.drawer.ids(), []);
    }
}
