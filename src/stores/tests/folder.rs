//! The directory: several programs, several writers of one number, groups.

use std::sync::Barrier;

use futures_executor::block_on;

use super::support::*;
use crate::stores::objects::{Creation, Objects};
use crate::stores::{ChainStore, Folder, FolderLog};

#[test]
fn one_of_many_writers_creates_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let barrier = Barrier::new(8);
    for round in 0..50 {
        let name = format!("sb-{round}/{:016x}", 1);
        let created = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..8_u8)
                .map(|writer| {
                    let (name, barrier, path) = (&name, &barrier, dir.path());
                    scope.spawn(move || {
                        // As separate programs.
                        let folder = Folder::open(path).unwrap();
                        barrier.wait();
                        let created = block_on(folder.create(name, vec![writer; 1000])).unwrap();
                        (created == Creation::Created).then_some(writer)
                    })
                })
                .collect();
            writers.into_iter().filter_map(|writer| writer.join().unwrap()).collect::<Vec<_>>()
        });
        let folder = Folder::open(dir.path()).unwrap();
        let bytes = block_on(folder.read(&name, 2000)).unwrap().unwrap();
        assert_eq!(created.len(), 1);
        assert_eq!(bytes, vec![created[0]; 1000]);
    }
    let left = dir.path().join(".tidebox-half");
    std::fs::write(&left, "half a file").unwrap();
    let log = FolderLog::open(dir.path()).unwrap();
    block_on(crate::stores::SaveLog::collect_garbage(&log, 0)).unwrap();
    assert!(left.exists(), "another program may be writing it");
    block_on(crate::stores::SaveLog::collect_garbage(&log, u64::MAX)).unwrap();
    let left = std::fs::read_dir(dir.path()).unwrap().filter(|entry| {
        entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(crate::stores::folder::TEMP_PREFIX)
    });
    assert_eq!(left.count(), 0);
}

#[test]
fn files_created_at_the_same_time_are_all_durable() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::open(dir.path()).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..16 {
            let folder = folder.clone();
            scope.spawn(move || {
                for number in 1..=10 {
                    let name = format!("sb-{writer}/{number:016x}");
                    assert_eq!(block_on(folder.create(&name, name.clone().into_bytes())).unwrap(), Creation::Created);
                }
            });
        }
    });
    let mut after = String::new();
    let mut found = Vec::new();
    loop {
        let page = block_on(folder.list("", &after)).unwrap();
        found.extend(page.objects);
        after = found.last().unwrap().name.clone();
        if !page.has_more {
            break;
        }
    }
    assert_eq!(found.len(), 160);
    for object in found {
        assert_eq!(block_on(folder.read(&object.name, 100)).unwrap().unwrap(), object.name.as_bytes());
    }
}

#[test]
fn two_programs_share_a_directory() {
    let dir = tempfile::tempdir().unwrap();
    let open = || provider(ChainStore::new(std::sync::Arc::new(FolderLog::open(dir.path()).unwrap())).unwrap());
    let one = open();
    let first = get(&one);
    write(&*first, "file", "one").unwrap();
    let two = open();
    let second = get(&two);
    write(&*second, "file", "two").unwrap();
    assert!(write(&*first, "file", "lost").is_err());
    assert_eq!(read(&*get(&open()), "file").unwrap(), b"two");
}

#[test]
fn a_list_of_many_pages_has_every_sandbox_once() {
    let dir = tempfile::tempdir().unwrap();
    let create = |number: usize| {
        let sandbox = dir.path().join(format!("sb-{number:05}"));
        std::fs::create_dir(&sandbox).unwrap();
        std::fs::write(sandbox.join(format!("{:016x}", 1)), "saved").unwrap();
    };
    (0..2500).map(|number| number * 2).for_each(create);
    let folder = Folder::open(dir.path()).unwrap();
    let (mut after, mut found) = (String::new(), Vec::new());
    loop {
        let page = block_on(folder.list("", &after)).unwrap();
        found.extend(page.objects.into_iter().map(|object| object.name));
        after.clone_from(found.last().unwrap());
        if !page.has_more {
            break;
        }
        // One that is deleted before its page, and one that is created since the first page.
        let _ = std::fs::remove_dir_all(dir.path().join("sb-04998"));
        let _ = std::fs::create_dir(dir.path().join("sb-04997"));
    }
    let expected: Vec<String> = (0..2499).map(|number| format!("sb-{:05}/{:016x}", number * 2, 1)).collect();
    assert_eq!(found, expected);
    create(4999);
    let again = block_on(folder.list("sb-0499", "")).unwrap();
    assert_eq!(again.objects.last().unwrap().name, format!("sb-04999/{:016x}", 1));
}
