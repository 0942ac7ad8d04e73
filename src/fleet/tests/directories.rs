//! All directories behave in the same way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_executor::block_on;
use tidebox_core::ErrorKind;

use crate::fleet::directory::{Beat, Directory, Node, ShardTable};
use crate::fleet::placement::place;
use crate::fleet::{MemoryDirectory, ObjectDirectory, SHARDS, open_directory, shard_of};
use crate::stores::{Folder, MemoryObjects, Objects};

fn node(name: &str) -> Node {
    let addresses = BTreeMap::from([("rest".to_owned(), format!("{name}:1"))]);
    Node { name: name.to_owned(), addresses }
}

pub(super) fn beat(name: &str, count: u64) -> Beat {
    Beat { node: node(name), count, is_leaving: false }
}

/// Checks a directory as two nodes see it.
pub(super) fn check(one: &dyn Directory, two: &dyn Directory) {
    block_on(async {
        assert_eq!(two.view().await.unwrap().table, ShardTable::default());
        one.beat(&beat("aa", 1)).await.unwrap();
        two.beat(&beat("bb", 1)).await.unwrap();
        for count in 2..5 {
            one.beat(&beat("aa", count)).await.unwrap();
        }
        let leaving = Beat { is_leaving: true, ..beat("bb", 2) };
        two.beat(&leaving).await.unwrap();
        let mut beats = one.view().await.unwrap().beats;
        beats.sort_by(|a, b| a.node.name.cmp(&b.node.name));
        assert_eq!(beats, [beat("aa", 4), leaving]);
        let owner = |name: &str| Some(Arc::<str>::from(name));
        let first = ShardTable::default().with([(0, owner("aa")), (1023, owner("bb")), (9, owner("aa"))]);
        assert!(one.propose(&first).await.unwrap());
        let other = ShardTable::default().with([(0, owner("bb"))]);
        assert!(!two.propose(&other).await.unwrap(), "its number is taken");
        assert_eq!(two.view().await.unwrap().table, first);
        let mut last = first;
        for shard in 0..20 {
            last = last.with([(shard, owner("bb"))]);
            assert!(two.propose(&last).await.unwrap());
        }
        assert_eq!(one.view().await.unwrap().table, last);
        one.forget("bb").await.unwrap();
        let names: Vec<String> = two.view().await.unwrap().beats.into_iter().map(|beat| beat.node.name).collect();
        assert_eq!(names, ["aa"]);
    });
}

#[test]
fn a_directory_in_memory_keeps_the_contract() {
    let directory = MemoryDirectory::default();
    check(&directory, &directory.clone());
}

#[test]
fn a_directory_over_objects_keeps_the_contract() {
    let objects = MemoryObjects::default();
    check(&ObjectDirectory::new(objects.clone()), &ObjectDirectory::new(objects.clone()));
    let left = block_on(objects.list("", "")).unwrap().objects.len();
    assert!(left < 16, "old objects are removed, {left} are left");
}

#[test]
fn a_directory_of_files_keeps_the_contract() {
    let dir = tempfile::tempdir().unwrap();
    let open = || ObjectDirectory::new(Folder::open(dir.path()).unwrap());
    check(&open(), &open());
}

#[test]
fn corrupt_tables_are_errors() {
    for bytes in ["", "{}", r#"{"number":1,"owners":{"aa":"ff"}}"#, r#"{"number":2,"owners":{}}"#] {
        let objects = MemoryObjects::default();
        objects.create_now("table/0000000000000001", bytes.as_bytes().to_vec());
        let error = block_on(ObjectDirectory::new(objects).view()).unwrap_err();
        assert!(error.to_string().contains("table/0000000000000001"), "{error}");
    }
    // Two nodes of one shard.
    let set = "01".repeat(usize::from(SHARDS) / 8);
    assert!(
        ShardTable::from_bytes(format!(r#"{{"number":1,"owners":{{"a":"{set}","b":"{set}"}}}}"#).as_bytes()).is_none()
    );
}

#[test]
fn a_directory_opens_by_its_url() {
    let dir = tempfile::tempdir().unwrap();
    let open = |url: &str| open_directory(url).map(drop);
    open(&format!("file://{}", dir.path().display())).unwrap();
    for url in ["", "nodes", "file://relative", "ftp://host/nodes"] {
        assert_eq!(open(url).unwrap_err().kind(), ErrorKind::InvalidRequest, "{url}");
    }
    for url in ["nats://user:secret@host:4222/nodes", "tls://host/nodes"] {
        match cfg!(feature = "nats") {
            true => open(url).unwrap(),
            false => {
                let error = open(url).unwrap_err();
                let message = error.message();
                assert!(message.contains("the feature nats") && !message.contains("secret"), "{message}");
            }
        }
    }
}

#[test]
fn an_id_has_the_shard_of_its_last_two_letters() {
    assert_eq!((shard_of("sb-xaa"), shard_of("ixab"), shard_of("iba"), shard_of("i77")), (0, 1, 32, 1023));
    let shards: BTreeSet<u16> = (0..20_000).map(|number| shard_of(&format!("Sandbox {number}!"))).collect();
    assert!(shards.len() > 1000, "ids of other forms have all shards: {}", shards.len());
    assert!(shards.iter().all(|shard| *shard < SHARDS));
}

#[test]
fn placement_is_equal_and_moves_few_shards() {
    let names: Vec<Arc<str>> = ["aa", "bb", "cc", "dd"].map(Arc::from).into();
    let (four, three) = (place(&names, 1024), place(&names[..3], 1024));
    assert_eq!((four.len(), three.len()), (1024, 1024));
    for name in &names {
        let count = four.iter().filter(|owner| *owner == name).count();
        assert!((200..=269).contains(&count), "{name} has {count}");
    }
    let moved = four.iter().zip(&three).filter(|(before, after)| before != after).count();
    let lost = four.iter().filter(|owner| **owner == names[3]).count();
    assert!(moved < lost + 60, "{moved} moved, {lost} of them had to");
    assert!(place(&[], 1024).is_empty());
}
