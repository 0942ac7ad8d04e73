//! A provider over a log: incremental saves, take-over, lost responses, deletion and garbage.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_executor::block_on;
use tidebox_core::{ErrorKind, ListRequest, SandboxProvider, Upload};
use tidebox_vfs_backend::SnapshotStore;

use super::support::*;
use crate::stores::generation::{self, GenerationKind};
use crate::stores::log::GenerationLog;
use crate::stores::memory::MemoryObjects;
use crate::stores::objects::{ObjectInfo, ObjectPage, Objects};
use crate::stores::{ChainStore, name};

fn store(objects: impl Objects + 'static) -> ChainStore {
    ChainStore::new(Arc::new(GenerationLog::new(objects))).unwrap()
}

fn objects(objects: &MemoryObjects) -> Vec<ObjectInfo> {
    block_on(objects.list("", "")).unwrap().objects
}

fn kinds(all: &MemoryObjects) -> Vec<GenerationKind> {
    let numbers =
        objects(all).into_iter().filter(|object| name::number(name::split(&object.name).unwrap().1).is_some());
    let read = |object: ObjectInfo| block_on(all.read(&object.name, u64::MAX)).unwrap().unwrap();
    numbers.map(read).map(|bytes| generation::decode(&bytes).unwrap().0.entry.kind).collect()
}

#[test]
fn a_save_appends_what_has_changed() {
    let all = MemoryObjects::default();
    let first = provider(store(all.clone()));
    let sandbox = get(&first);
    let files = (0..1000).map(|number| Upload::new(format!("/workspace/file{number}"), noise(number, 100))).collect();
    let uploaded = block_on(sandbox.upload_files(files)).unwrap();
    assert!(uploaded.iter().all(|one| one.result.is_ok()));
    // A whole snapshot, because the files outweigh the first one.
    write(&*sandbox, "file0", "x").unwrap();
    let before = objects(&all).len();
    write(&*sandbox, "file7", "changed").unwrap();
    let after = objects(&all);
    assert_eq!(after.len(), before + 1);
    assert!(after.last().unwrap().len < 1200, "{:?}", after.last());
    let elsewhere = provider(store(all.clone()));
    let found = get(&elsewhere);
    assert_eq!(found.id(), sandbox.id());
    assert_eq!(read(&*found, "file7").unwrap(), b"changed");
    assert_eq!(read(&*found, "file999").unwrap(), noise(999, 100));
}

#[test]
fn a_whole_snapshot_follows_32_changes() {
    let all = MemoryObjects::default();
    let first = provider(store(all.clone()));
    let sandbox = get(&first);
    for number in 0..70 {
        write(&*sandbox, "file", format!("{number}")).unwrap();
    }
    let kinds = kinds(&all);
    let whole: Vec<usize> =
        kinds.iter().enumerate().filter(|(_, kind)| **kind == GenerationKind::Full).map(|(index, _)| index).collect();
    assert_eq!((kinds.len(), whole), (71, vec![0, 33, 66]));
    assert_eq!(read(&*get(&provider(store(all))), "file").unwrap(), b"69");
}

#[test]
fn large_blocks_are_stored_once() {
    let all = MemoryObjects::default();
    let first = provider(store(all.clone()));
    let sandbox = get(&first);
    let large = noise(1, 4 << 20);
    write(&*sandbox, "large", large.clone()).unwrap();
    let size = |objects: Vec<ObjectInfo>| objects.iter().map(|object| object.len).sum::<u64>();
    let before = size(objects(&all));
    assert!(before > 4 << 20);
    for number in 0..40 {
        write(&*sandbox, "small", format!("{number}")).unwrap();
    }
    assert_eq!(kinds(&all).iter().filter(|kind| **kind == GenerationKind::Full).count(), 3);
    let after = size(objects(&all));
    assert!(after - before < 200 << 10, "two more whole snapshots took {} bytes", after - before);
    let elsewhere = provider(store(all.clone()));
    let found = get(&elsewhere);
    assert_eq!(read(&*found, "large").unwrap(), large);
    // Also after a restore, which reads the digests of the blocks.
    for number in 0..40 {
        write(&*found, "small", format!("{number}")).unwrap();
    }
    assert!(size(objects(&all)) - after < 200 << 10);
    assert_eq!(read(&*get(&provider(store(all))), "large").unwrap(), large);
}

#[test]
fn a_provider_that_loads_a_sandbox_takes_it_over() {
    let all = Failing::default();
    let (one, two) = (provider(store(all.clone())), provider(store(all.clone())));
    let first = get(&one);
    write(&*first, "file", "one").unwrap();
    let second = get(&two);
    assert_eq!(second.id(), first.id(), "the second program reads the index again before it creates a sandbox");
    let error = write(&*first, "file", "lost").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    write(&*second, "file", "two").unwrap();
    let back = get(&one);
    assert_eq!((back.id(), read(&*back, "file").unwrap().as_slice()), (first.id(), b"two".as_slice()));
    write(&*back, "file", "three").unwrap();
    assert_eq!(write(&*second, "file", "lost").unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(read(&*get(&two), "file").unwrap(), b"three");
}

#[test]
fn a_lost_response_is_resolved_by_the_nonce() {
    let all = Failing::default();
    let first = provider(store(all.clone()));
    let sandbox = get(&first);
    for lost in 1..=2 {
        all.lost.store(lost, Ordering::SeqCst);
        write(&*sandbox, "file", format!("{lost}")).unwrap();
    }
    // All attempts fail, and the first one was done.
    all.lost.store(3, Ordering::SeqCst);
    assert_eq!(write(&*sandbox, "file", "unknown").unwrap_err().kind(), ErrorKind::Storage);
    write(&*sandbox, "other", "next").unwrap();
    // All attempts fail, and none was done.
    all.refused.store(3, Ordering::SeqCst);
    assert_eq!(write(&*sandbox, "file", "refused").unwrap_err().kind(), ErrorKind::Storage);
    write(&*sandbox, "another", "last").unwrap();
    let found = get(&provider(store(all)));
    assert_eq!(read(&*found, "file").unwrap(), b"refused", "the sandbox has it, so the next save stores it");
    assert_eq!(read(&*found, "other").unwrap(), b"next");
    assert_eq!(read(&*found, "another").unwrap(), b"last");
}

#[test]
fn a_chain_that_is_replaced_while_it_is_read_is_read_again() {
    let all = Failing::default();
    let first = provider(store(all.clone()));
    let sandbox = get(&first);
    write(&*sandbox, "file", "early").unwrap();
    let early = block_on(all.list("", "")).unwrap();
    for number in 0..40 {
        write(&*sandbox, "file", format!("{number}")).unwrap();
    }
    block_on(crate::stores::SaveLog::collect_garbage(&GenerationLog::new(all.clone()), u64::MAX)).unwrap();
    *all.stale.lock() = Some(early);
    assert_eq!(read(&*get(&provider(store(all.clone()))), "file").unwrap(), b"39");
    assert_eq!(*all.stale.lock(), None, "the early list was read");
}

#[test]
fn a_save_after_a_dropped_one_continues() {
    let all = MemoryObjects::default();
    let chains = store(all.clone());
    let first = provider(chains.clone());
    let sandbox = get(&first);
    for number in 0..20 {
        let path = tidebox_core::SandboxPath::parse("/workspace/file").unwrap();
        let mut call = sandbox.write(tidebox_core::WriteRequest::new(path, format!("{number}").into_bytes()));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        for _ in 0..number % 4 {
            if call.as_mut().poll(&mut context).is_ready() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(number / 4));
        }
        drop(call);
        write(&*sandbox, "other", format!("{number}")).unwrap();
    }
    let expected = read(&*sandbox, "file");
    let found = get(&provider(store(all)));
    assert_eq!(read(&*found, "file"), expected);
    assert_eq!(read(&*found, "other").unwrap(), b"19");
}

#[test]
fn a_deleted_sandbox_does_not_come_back() {
    let all = Failing::default();
    let (one, two) = (provider(store(all.clone())), provider(store(all.clone())));
    let sandbox = get(&one);
    write(&*sandbox, "file", "x").unwrap();
    let id = sandbox.id().clone();
    block_on(two.list(ListRequest::default())).unwrap();
    block_on(two.delete(&id)).unwrap();
    assert_eq!(write(&*sandbox, "file", "y").unwrap_err().kind(), ErrorKind::Closed);
    let again = provider(store(all.clone()));
    assert_eq!(block_on(again.list(ListRequest::default())).unwrap().sandboxes, []);
    block_on(again.delete(&id)).unwrap();
    let error = block_on(again.get_or_create(tidebox_core::Selector::Id(id))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SandboxNotFound);
}

#[test]
fn garbage_becomes_tombstones_and_disappears() {
    let all = MemoryObjects::default();
    let log = Arc::new(GenerationLog::new(all.clone()));
    let first = provider(store(all.clone()));
    let sandbox = get(&first);
    for number in 0..40 {
        write(&*sandbox, "large", noise(number, 300 << 10)).unwrap();
    }
    // Every second save is whole, because the changes of the one before outweigh the tree.
    assert_eq!(kinds(&all).last(), Some(&GenerationKind::Full));
    let count = objects(&all).len();
    block_on(crate::stores::SaveLog::collect_garbage(&*log, 0)).unwrap();
    assert_eq!(objects(&all).len(), count, "nothing is old enough");
    let (chains, slept) =
        (ChainStore::distrustful(Arc::<GenerationLog<MemoryObjects>>::clone(&log)), store(all.clone()));
    block_on(crate::stores::SaveLog::collect_garbage(&*log, u64::MAX)).unwrap();
    let (live, dead): (Vec<_>, Vec<_>) = objects(&all).into_iter().partition(|object| object.len > 0);
    assert_eq!((live.len(), dead.len()), (2, 40), "a generation and a pack: {live:?}");
    block_on(crate::stores::SaveLog::collect_garbage(&*log, u64::MAX)).unwrap();
    assert_eq!(objects(&all), live);
    assert_eq!(read(&*get(&provider(slept)), "large").unwrap(), noise(39, 300 << 10));

    // A writer that slept until all names were free again.
    let last = provider(chains);
    let sandbox = get(&last);
    let deleting = store(all.clone());
    block_on(deleting.delete(sandbox.id())).unwrap();
    for _ in 0..3 {
        block_on(crate::stores::SaveLog::collect_garbage(&*log, u64::MAX)).unwrap();
    }
    assert_eq!(objects(&all), []);
    assert_eq!(write(&*sandbox, "large", "back").unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(objects(&all), []);
}

/// Collects all garbage, as a collector whose list is of an earlier time.
fn collect_by(all: &Failing, early: ObjectPage) {
    *all.stale_all.lock() = Some(early);
    block_on(crate::stores::SaveLog::collect_garbage(&GenerationLog::new(all.clone()), u64::MAX)).unwrap();
    assert_eq!(*all.stale_all.lock(), None, "the early list was used");
}

#[test]
fn content_that_returns_while_it_is_collected_stays() {
    let all = Failing::default();
    let first = provider(store(all.clone()));
    let sandbox = get(&first);
    for number in 1..6 {
        write(&*sandbox, "large", noise(number, 300 << 10)).unwrap();
    }
    let early = block_on(all.list("", "")).unwrap();
    // Its first pack is not used in the list, and is being removed.
    write(&*sandbox, "large", noise(1, 300 << 10)).unwrap();
    collect_by(&all, early);
    assert_eq!(read(&*get(&provider(store(all))), "large").unwrap(), noise(1, 300 << 10));
}

#[test]
fn packs_from_before_a_lost_response_are_not_used_again() {
    let all = Failing::default();
    let first = provider(store(all.clone()));
    let sandbox = get(&first);
    write(&*sandbox, "large", noise(1, 300 << 10)).unwrap();
    // A whole snapshot without the pack, whose response is lost.
    all.lost.store(3, Ordering::SeqCst);
    let path = tidebox_core::SandboxPath::parse("/workspace/large").unwrap();
    assert_eq!(block_on(sandbox.delete(&path)).unwrap_err().kind(), ErrorKind::Storage);
    assert_eq!(kinds(&all.objects).last(), Some(&GenerationKind::Full));
    let packs = |all: &Failing| objects(&all.objects).iter().filter(|object| object.name.contains("pack-")).count();
    assert_eq!(packs(&all), 1);
    block_on(crate::stores::SaveLog::collect_garbage(&GenerationLog::new(all.clone()), u64::MAX)).unwrap();
    assert_eq!(packs(&all), 0);
    write(&*sandbox, "large", noise(1, 300 << 10)).unwrap();
    assert_eq!(read(&*get(&provider(store(all))), "large").unwrap(), noise(1, 300 << 10));
}

#[test]
fn two_collectors_at_a_time_remove_no_pack_in_use() {
    let all = Failing::default();
    let first = provider(store(all.clone()));
    let sandbox = get(&first);
    write(&*sandbox, "base", noise(1, 2 << 20)).unwrap();
    write(&*sandbox, "small", "whole").unwrap();
    // Changes with a separate pack: less than a third of the whole snapshot.
    write(&*sandbox, "large", noise(2, 300 << 10)).unwrap();
    write(&*sandbox, "small", "changes").unwrap();
    let early = block_on(all.list("", "")).unwrap();
    let has_packs = |object: &&ObjectInfo| {
        let bytes = block_on(all.read(&object.name, u64::MAX)).unwrap().unwrap();
        let decoded = generation::decode(&bytes).ok().map(|(decoded, _)| decoded.entry);
        decoded.is_some_and(|entry| entry.kind == GenerationKind::Changes && !entry.packs.is_empty())
    };
    let with_packs = early.objects.iter().rfind(has_packs).expect("changes with a pack").name.clone();
    for number in 0..40 {
        write(&*sandbox, "small", format!("{number}")).unwrap();
    }
    // Another collector has started: it removes the older generations of the current list.
    block_on(all.clear(&with_packs)).unwrap();
    collect_by(&all, early);
    let found = get(&provider(store(all)));
    assert_eq!(read(&*found, "large").unwrap(), noise(2, 300 << 10));
    assert_eq!(read(&*found, "base").unwrap(), noise(1, 2 << 20));
}

#[test]
fn an_own_sandbox_is_not_deleted_after_it_was_taken_over() {
    let all = Failing::default();
    let (chains, other) = (store(all.clone()), store(all.clone()));
    let (one, two) = (provider(chains.clone()), provider(other.clone()));
    let sandbox = get(&one);
    write(&*sandbox, "file", "one").unwrap();
    let saved = block_on(chains.find(sandbox.id())).unwrap().unwrap();
    write(&*get(&two), "file", "two").unwrap();
    assert_eq!(block_on(chains.delete_own(&saved)).unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(read(&*get(&two), "file").unwrap(), b"two");
    // A lost response to a save, and then one to the deletion.
    all.lost.store(3, Ordering::SeqCst);
    assert_eq!(write(&*get(&two), "file", "unknown").unwrap_err().kind(), ErrorKind::Storage);
    all.lost.store(1, Ordering::SeqCst);
    block_on(other.delete_own(&saved)).unwrap();
    assert_eq!(block_on(chains.find(sandbox.id())).unwrap(), None);
    block_on(other.delete_own(&saved)).unwrap();
}
