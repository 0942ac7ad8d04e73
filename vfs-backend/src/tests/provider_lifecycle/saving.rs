//! Save policies, and restored content.

use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_executor::block_on;
use tidebox_core::{ErrorKind, ExecuteRequest, ListRequest, ReadRequest, SandboxProvider, Selector};

use super::super::path;
use super::super::snapshot_changes::with_fs;
use super::environment::*;
use crate::{ProviderSettings, SavePolicy};

#[test]
fn changes_survive_a_restart_under_the_same_id() {
    let environment = TestEnvironment::default();
    let first = environment.start(environment.stored());
    let sandbox = get(&first, thread_selector(1));
    write(&*sandbox, "/workspace/notes", "kept").unwrap();
    block_on(sandbox.delete(&path("/workspace/seed"))).unwrap().unwrap();
    get(&first, thread_selector(2));
    // No close and no orderly drop: simulates a crash.
    std::mem::forget(first);

    let again = environment.start(environment.stored());
    let listed = block_on(again.list(ListRequest::default())).unwrap();
    assert_eq!(listed.sandboxes.len(), 2);
    let found = get(&again, thread_selector(1));
    assert_eq!(found.id(), sandbox.id());
    assert_eq!(read(&*found, "/workspace/notes").unwrap().as_deref(), Some(&b"kept"[..]));
    assert_eq!(read(&*found, "/workspace/seed").unwrap(), None, "deleted initial files are not written again");
    let by_id = get(&again, Selector::Id(sandbox.id().clone()));
    assert_eq!(read(&*by_id, "/workspace/notes").unwrap().as_deref(), Some(&b"kept"[..]));
    assert_eq!(read(&*get(&again, thread_selector(2)), "/workspace/seed").unwrap().as_deref(), Some(&b"initial"[..]));
}

#[test]
fn the_shell_session_is_saved_with_the_files() {
    let environment = TestEnvironment::default();
    let provider = environment.start(environment.stored());
    let id = get(&provider, thread_selector(1)).id().clone();
    provider.sandbox(&id).unwrap().set_shell_state(b"cwd and variables".as_slice().into()).unwrap();
    block_on(provider.save()).unwrap();
    let again = environment.start(environment.stored());
    get(&again, thread_selector(1));
    assert_eq!(&*again.sandbox(&id).unwrap().shell_state(), b"cwd and variables");
}

#[test]
fn a_call_that_changes_nothing_saves_nothing() {
    let environment = TestEnvironment::default();
    let provider = environment.start(environment.stored());
    let sandbox = get(&provider, thread_selector(1));
    write(&*sandbox, "/workspace/a", "x").unwrap();
    let puts = environment.store.put_count();
    block_on(sandbox.execute(ExecuteRequest::new("true"))).unwrap();
    block_on(sandbox.read(ReadRequest::new(path("/workspace/a")))).unwrap().unwrap();
    block_on(sandbox.ls(&path("/"))).unwrap().unwrap();
    block_on(sandbox.delete(&path("/none"))).unwrap().unwrap_err();
    block_on(provider.save()).unwrap();
    assert_eq!(environment.store.put_count(), puts);
    write(&*sandbox, "/workspace/a", "y").unwrap();
    assert_eq!(environment.store.put_count(), puts + 1);
}

#[test]
fn manual_saves_only_on_save_and_close() {
    let environment = TestEnvironment::default();
    let provider = environment.start(ProviderSettings { saving: SavePolicy::Manual, ..environment.stored() });
    let sandbox = get(&provider, thread_selector(1));
    let puts = environment.store.put_count();
    write(&*sandbox, "/workspace/a", "1").unwrap();
    assert_eq!(environment.store.put_count(), puts);
    block_on(provider.save()).unwrap();
    assert_eq!(environment.store.put_count(), puts + 1);
    write(&*sandbox, "/workspace/a", "2").unwrap();
    block_on(sandbox.close()).unwrap();
    assert_eq!(
        read(&*get(&environment.start(environment.stored()), thread_selector(1)), "/workspace/a").unwrap().as_deref(),
        Some(&b"2"[..])
    );
}

#[test]
fn at_most_every_saves_after_the_interval_and_on_close() {
    let environment = TestEnvironment::default();
    let saving = SavePolicy::AtMostEvery(Duration::from_secs(10));
    let provider = environment.start(ProviderSettings { saving, ..environment.stored() });
    let sandbox = get(&provider, thread_selector(1));
    let mut puts = environment.store.put_count();
    let mut saved = |saves: usize| {
        assert_eq!(environment.store.put_count() - puts, saves);
        puts = environment.store.put_count();
    };
    write(&*sandbox, "/workspace/a", "1").unwrap();
    environment.clock.advance(9);
    write(&*sandbox, "/workspace/a", "2").unwrap();
    block_on(provider.delete_expired()).unwrap();
    saved(0);
    environment.clock.advance(1);
    read(&*sandbox, "/workspace/a").unwrap();
    saved(1);
    write(&*sandbox, "/workspace/a", "3").unwrap();
    saved(0);
    environment.clock.advance(10);
    block_on(provider.delete_expired()).unwrap();
    block_on(provider.delete_expired()).unwrap();
    saved(1);
    write(&*sandbox, "/workspace/a", "4").unwrap();
    block_on(sandbox.close()).unwrap();
    saved(1);
    assert_eq!(
        read(&*get(&environment.start(environment.stored()), thread_selector(1)), "/workspace/a").unwrap().as_deref(),
        Some(&b"4"[..])
    );
}

#[test]
fn closing_frees_memory_and_the_next_request_restores() {
    let environment = TestEnvironment::default();
    let provider = environment.start(environment.stored());
    let sandbox = get(&provider, thread_selector(1));
    write(&*sandbox, "/workspace/a", "x").unwrap();
    block_on(sandbox.close()).unwrap();
    block_on(sandbox.close()).unwrap();
    assert!(provider.sandbox(sandbox.id()).is_none());
    assert_eq!(kind(write(&*sandbox, "/workspace/a", "y")), ErrorKind::Closed);
    assert_eq!(block_on(provider.list(ListRequest::default())).unwrap().sandboxes.len(), 1);
    let back = get(&provider, thread_selector(1));
    assert_eq!(back.id(), sandbox.id());
    assert_eq!(read(&*back, "/workspace/a").unwrap().as_deref(), Some(&b"x"[..]));
}

#[test]
fn a_failing_store_fails_the_call_and_the_next_one_saves() {
    let environment = TestEnvironment::default();
    let provider = environment.start(environment.stored());
    let sandbox = get(&provider, thread_selector(1));
    environment.store.failing.store(true, Ordering::SeqCst);
    let failed = write(&*sandbox, "/workspace/a", "x").unwrap_err();
    assert_eq!(failed.kind(), ErrorKind::Storage);
    assert!(failed.message().contains("cannot save its changes: the disk is full"), "{failed}");
    assert_eq!(kind(block_on(sandbox.close())), ErrorKind::Storage);
    assert_eq!(kind(block_on(provider.get_or_create(thread_selector(2)))), ErrorKind::Storage);
    assert_eq!(kind(block_on(provider.delete(sandbox.id()))), ErrorKind::Storage);
    environment.store.failing.store(false, Ordering::SeqCst);
    write(&*sandbox, "/workspace/b", "y").unwrap();
    let again = environment.start(environment.stored());
    assert_eq!(block_on(again.list(ListRequest::default())).unwrap().sandboxes.len(), 1);
    assert_eq!(read(&*get(&again, thread_selector(1)), "/workspace/a").unwrap().as_deref(), Some(&b"x"[..]));
}

#[test]
fn a_corrupt_snapshot_is_an_error() {
    let environment = TestEnvironment::default();
    let sandbox = get(&environment.start(environment.stored()), thread_selector(1));
    environment.store.saved.lock().unwrap().get_mut(sandbox.id()).unwrap().1.snapshot.truncate(9);
    let again = environment.start(environment.stored());
    let error = block_on(again.get_or_create(thread_selector(1))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert!(error.to_string().contains(sandbox.id().as_str()), "{error}");
    assert_eq!(environment.store.ids().len(), 1);
}

#[test]
fn later_saves_store_only_changes() {
    let environment = TestEnvironment::default();
    let provider = environment.start(environment.stored());
    let sandbox = get(&provider, thread_selector(1));
    for number in 0..5 {
        write(&*sandbox, &format!("/workspace/{number}"), "text").unwrap();
    }
    assert_eq!(environment.store.changes.load(Ordering::SeqCst), 5);
    let again = environment.start(environment.stored());
    let found = get(&again, thread_selector(1));
    write(&*found, "/workspace/5", "text").unwrap();
    assert_eq!(environment.store.changes.load(Ordering::SeqCst), 6, "also after a restart");
    let last = environment.start(environment.stored());
    let found = get(&last, thread_selector(1));
    for number in 0..6 {
        assert_eq!(read(&*found, &format!("/workspace/{number}")).unwrap().as_deref(), Some(&b"text"[..]));
    }
}

#[test]
fn a_change_of_an_installed_file_is_saved_whole() {
    let environment = TestEnvironment::default();
    let provider = environment.start(environment.stored());
    let sandbox = get(&provider, thread_selector(1));
    let local = provider.sandbox(sandbox.id()).unwrap();
    let bare = local.snapshot().unwrap();
    with_fs(&local, |fs| {
        let bin = crate::file::locate(fs, b"/bin", true).unwrap();
        fs.unlink(&crate::ROOT, bin, b"sh", 7).unwrap();
    });
    block_on(provider.save()).unwrap();
    assert_eq!(environment.store.changes.load(Ordering::SeqCst), 0);
    // The restore brings the program back, which changes cannot express either.
    local.restore(&bare).unwrap();
    block_on(provider.save()).unwrap();
    assert_eq!(environment.store.changes.load(Ordering::SeqCst), 0);
    let again = environment.start(environment.stored());
    assert!(read(&*get(&again, thread_selector(1)), "/bin/sh").unwrap().is_some());
}

#[test]
fn a_sandbox_that_was_taken_over_is_closed_unsaved() {
    let environment = TestEnvironment::default();
    let provider = environment.start(environment.stored());
    let sandbox = get(&provider, thread_selector(1));
    write(&*sandbox, "/workspace/a", "kept").unwrap();
    environment.store.fenced.store(true, Ordering::SeqCst);
    let error = write(&*sandbox, "/workspace/a", "lost").unwrap_err();
    assert!(error.kind() == ErrorKind::Closed && error.message().contains("taken it over"), "{error}");
    let error = read(&*sandbox, "/workspace/a").unwrap_err();
    assert!(error.kind() == ErrorKind::Closed && error.message().contains("takes it back"), "{error}");
    environment.store.fenced.store(false, Ordering::SeqCst);
    let again = get(&provider, thread_selector(1));
    assert_eq!(again.id(), sandbox.id());
    assert_eq!(read(&*again, "/workspace/a").unwrap().as_deref(), Some(&b"kept"[..]));
}
