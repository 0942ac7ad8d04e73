//! One behavior of every storage.

use std::sync::Arc;

use futures_executor::block_on;
use tidebox_core::{ErrorKind, ListRequest, SandboxProvider};
use tidebox_vfs_backend::SnapshotStore;

use super::support::*;
use crate::stores::log::GenerationLog;
use crate::stores::memory::MemoryObjects;
use crate::stores::objects::{Creation, Objects};
use crate::stores::{ChainStore, Folder, SaveLog};

/// Checks a storage that is empty.
fn check(objects: impl Objects + Clone + 'static) {
    check_objects(&objects);
    let open = || provider(ChainStore::new(Arc::new(GenerationLog::new(objects.clone()))).unwrap());
    let (one, two) = (open(), open());
    let first = get(&one);
    let large = noise(3, 700 << 10);
    write(&*first, "large", large.clone()).unwrap();
    write(&*first, "file", "one").unwrap();
    let second = get(&two);
    assert_eq!(second.id(), first.id());
    assert_eq!(read(&*second, "large").unwrap(), large);
    write(&*second, "file", "two").unwrap();
    assert_eq!(write(&*first, "file", "lost").unwrap_err().kind(), ErrorKind::Closed);
    let back = get(&one);
    assert_eq!(read(&*back, "file").unwrap(), b"two");
    for number in 0..34 {
        write(&*back, "file", format!("{number}")).unwrap();
    }
    let log = GenerationLog::new(objects.clone());
    for _ in 0..2 {
        block_on(log.collect_garbage(u64::MAX)).unwrap();
        assert_eq!(read(&*get(&open()), "file").unwrap(), b"33");
    }
    let id = first.id().clone();
    let last = open();
    block_on(last.list(ListRequest::default())).unwrap();
    block_on(last.delete(&id)).unwrap();
    assert_eq!(block_on(open().list(ListRequest::default())).unwrap().sandboxes, []);
    for _ in 0..3 {
        block_on(log.collect_garbage(u64::MAX)).unwrap();
    }
    assert_eq!(block_on(objects.list("", "")).unwrap().objects, []);
}

fn check_objects(objects: &(impl Objects + Clone)) {
    let name = "sb-1/0000000000000001";
    assert_eq!(block_on(objects.read(name, 10)).unwrap(), None);
    assert_eq!(block_on(objects.create(name, b"first".to_vec())).unwrap(), Creation::Created);
    assert_eq!(block_on(objects.create(name, b"second".to_vec())).unwrap(), Creation::Exists);
    assert_eq!(block_on(objects.read(name, 10)).unwrap().unwrap(), b"first");
    assert_eq!(block_on(objects.read(name, 2)).unwrap().unwrap(), b"fi");
    for other in ["sb-1/pack-00", "sb-2/0000000000000001", "sb%2f/0000000000000001", "t/0000000000000001"] {
        assert_eq!(block_on(objects.create(other, b"x".to_vec())).unwrap(), Creation::Created);
    }
    let names = |prefix: &str, after: &str| -> Vec<String> {
        block_on(objects.list(prefix, after)).unwrap().objects.into_iter().map(|object| object.name).collect()
    };
    assert_eq!(names("sb-1/", ""), [name, "sb-1/pack-00"]);
    assert_eq!(names("sb-1/", name), ["sb-1/pack-00"]);
    assert_eq!(names("sb-", "").len(), 3);
    assert_eq!(names("sb-", "sb-1/~"), ["sb-2/0000000000000001"]);
    assert_eq!(names("", "").len(), 5);
    block_on(objects.clear(name)).unwrap();
    assert_eq!(block_on(objects.read(name, 10)).unwrap().unwrap(), b"");
    assert_eq!(
        block_on(objects.create(name, b"third".to_vec())).unwrap(),
        Creation::Exists,
        "a tombstone keeps its name"
    );
    for object in names("", "") {
        for _ in 0..2 {
            block_on(objects.remove(&object)).unwrap();
        }
    }
    assert_eq!(names("", ""), [] as [&str; 0]);
}

#[test]
fn memory_is_a_storage() {
    check(MemoryObjects::default());
    let log: Arc<dyn SaveLog> = Arc::new(GenerationLog::in_memory());
    assert_eq!(ChainStore::new(log).unwrap().durability().as_str(), "memory");
}

#[test]
fn a_directory_is_a_storage() {
    let dir = tempfile::tempdir().unwrap();
    check(Folder::open(dir.path()).unwrap());
    assert_eq!(Folder::open(dir.path()).unwrap().shared().durability().as_str(), "shared");
}
