//! What is saved when, and what comes back.

use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_executor::block_on;
use tidebox_core::{ErrorKind, ExecuteRequest, ListRequest, ReadRequest, SandboxProvider, Selector};

use super::super::path;
use super::world::*;
use crate::{ProviderSettings, Saving};

#[test]
fn what_every_call_left_is_there_after_a_restart_under_the_same_id() {
    let world = World::default();
    let first = world.start(world.stored());
    let sandbox = get(&first, thread(1));
    write(&*sandbox, "/workspace/notes", "kept").unwrap();
    block_on(sandbox.delete(&path("/workspace/seed"))).unwrap().unwrap();
    get(&first, thread(2));
    // No close, no drop in order: the program just ends.
    std::mem::forget(first);

    let again = world.start(world.stored());
    let listed = block_on(again.list(ListRequest::default())).unwrap();
    assert_eq!(listed.sandboxes.len(), 2);
    let found = get(&again, thread(1));
    assert_eq!(found.id(), sandbox.id());
    assert_eq!(read(&*found, "/workspace/notes").unwrap().as_deref(), Some(&b"kept"[..]));
    assert_eq!(read(&*found, "/workspace/seed").unwrap(), None, "what was deleted is not planted again");
    let by_id = get(&again, Selector::Id(sandbox.id().clone()));
    assert_eq!(read(&*by_id, "/workspace/notes").unwrap().as_deref(), Some(&b"kept"[..]));
    assert_eq!(read(&*get(&again, thread(2)), "/workspace/seed").unwrap().as_deref(), Some(&b"planted"[..]));
}

#[test]
fn the_shell_session_is_saved_with_the_files() {
    let world = World::default();
    let provider = world.start(world.stored());
    let id = get(&provider, thread(1)).id().clone();
    provider.sandbox(&id).unwrap().set_shell_state(b"cwd and variables".as_slice().into()).unwrap();
    block_on(provider.save()).unwrap();
    let again = world.start(world.stored());
    get(&again, thread(1));
    assert_eq!(&*again.sandbox(&id).unwrap().shell_state(), b"cwd and variables");
}

#[test]
fn a_call_that_changes_nothing_saves_nothing() {
    let world = World::default();
    let provider = world.start(world.stored());
    let sandbox = get(&provider, thread(1));
    write(&*sandbox, "/workspace/a", "x").unwrap();
    let puts = world.drawer.puts();
    block_on(sandbox.execute(ExecuteRequest::new("true"))).unwrap();
    block_on(sandbox.read(ReadRequest::new(path("/workspace/a")))).unwrap().unwrap();
    block_on(sandbox.ls(&path("/"))).unwrap().unwrap();
    block_on(sandbox.delete(&path("/none"))).unwrap().unwrap_err();
    block_on(provider.save()).unwrap();
    assert_eq!(world.drawer.puts(), puts);
    write(&*sandbox, "/workspace/a", "y").unwrap();
    assert_eq!(world.drawer.puts(), puts + 1);
}

#[test]
fn when_asked_it_is_saved_by_save_and_by_close_only() {
    let world = World::default();
    let provider = world.start(ProviderSettings { saving: Saving::WhenAsked, ..world.stored() });
    let sandbox = get(&provider, thread(1));
    let puts = world.drawer.puts();
    write(&*sandbox, "/workspace/a", "1").unwrap();
    assert_eq!(world.drawer.puts(), puts);
    block_on(provider.save()).unwrap();
    assert_eq!(world.drawer.puts(), puts + 1);
    write(&*sandbox, "/workspace/a", "2").unwrap();
    block_on(sandbox.close()).unwrap();
    assert_eq!(
        read(&*get(&world.start(world.stored()), thread(1)), "/workspace/a").unwrap().as_deref(),
        Some(&b"2"[..])
    );
}

#[test]
fn at_most_every_so_often_it_is_saved_by_the_next_call_by_sweep_and_by_close() {
    let world = World::default();
    let saving = Saving::AtMostEvery(Duration::from_secs(10));
    let provider = world.start(ProviderSettings { saving, ..world.stored() });
    let sandbox = get(&provider, thread(1));
    let mut puts = world.drawer.puts();
    let mut saved = |saves: usize| {
        assert_eq!(world.drawer.puts() - puts, saves);
        puts = world.drawer.puts();
    };
    write(&*sandbox, "/workspace/a", "1").unwrap();
    world.watch.pass(9);
    write(&*sandbox, "/workspace/a", "2").unwrap();
    block_on(provider.sweep()).unwrap();
    saved(0);
    world.watch.pass(1);
    read(&*sandbox, "/workspace/a").unwrap();
    saved(1);
    write(&*sandbox, "/workspace/a", "3").unwrap();
    saved(0);
    world.watch.pass(10);
    block_on(provider.sweep()).unwrap();
    block_on(provider.sweep()).unwrap();
    saved(1);
    write(&*sandbox, "/workspace/a", "4").unwrap();
    block_on(sandbox.close()).unwrap();
    saved(1);
    assert_eq!(
        read(&*get(&world.start(world.stored()), thread(1)), "/workspace/a").unwrap().as_deref(),
        Some(&b"4"[..])
    );
}

#[test]
fn closing_gives_the_memory_back_and_asking_again_brings_the_sandbox_back() {
    let world = World::default();
    let provider = world.start(world.stored());
    let sandbox = get(&provider, thread(1));
    write(&*sandbox, "/workspace/a", "x").unwrap();
    block_on(sandbox.close()).unwrap();
    block_on(sandbox.close()).unwrap();
    assert!(provider.sandbox(sandbox.id()).is_none());
    assert_eq!(kind(write(&*sandbox, "/workspace/a", "y")), ErrorKind::Closed);
    assert_eq!(block_on(provider.list(ListRequest::default())).unwrap().sandboxes.len(), 1);
    let back = get(&provider, thread(1));
    assert_eq!(back.id(), sandbox.id());
    assert_eq!(read(&*back, "/workspace/a").unwrap().as_deref(), Some(&b"x"[..]));
}

#[test]
fn a_store_that_fails_fails_the_call_and_the_next_one_saves() {
    let world = World::default();
    let provider = world.start(world.stored());
    let sandbox = get(&provider, thread(1));
    world.drawer.broken.store(true, Ordering::SeqCst);
    let failed = write(&*sandbox, "/workspace/a", "x").unwrap_err();
    assert_eq!(failed.kind(), ErrorKind::Storage);
    assert!(failed.message().contains("could not be saved: the disk is full"), "{failed}");
    assert_eq!(kind(block_on(sandbox.close())), ErrorKind::Storage);
    assert_eq!(kind(block_on(provider.get_or_create(thread(2)))), ErrorKind::Storage);
    assert_eq!(kind(block_on(provider.delete(sandbox.id()))), ErrorKind::Storage);
    world.drawer.broken.store(false, Ordering::SeqCst);
    write(&*sandbox, "/workspace/b", "y").unwrap();
    let again = world.start(world.stored());
    assert_eq!(block_on(again.list(ListRequest::default())).unwrap().sandboxes.len(), 1);
    assert_eq!(read(&*get(&again, thread(1)), "/workspace/a").unwrap().as_deref(), Some(&b"x"[..]));
}

#[test]
fn a_damaged_snapshot_is_an_error_and_no_empty_sandbox() {
    let world = World::default();
    let sandbox = get(&world.start(world.stored()), thread(1));
    world.drawer.saved.lock().unwrap().get_mut(sandbox.id()).unwrap().1.truncate(9);
    let again = world.start(world.stored());
    let error = block_on(again.get_or_create(thread(1))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert!(error.to_string().contains(sandbox.id().as_str()), "{error}");
    assert_eq!(world.drawer.ids().len(), 1);
}
