//! Shards move between nodes that join, fail and leave.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_executor::block_on;
use tidebox_core::lock::Mutex;

use crate::fleet::MemoryDirectory;
use crate::fleet::directory::Node;
use crate::fleet::membership::{Membership, ShardLocation};

const LEASE: Duration = Duration::from_secs(9);

/// Nodes with one clock.
struct Nodes {
    directory: MemoryDirectory,
    time: Arc<Mutex<Duration>>,
}

impl Nodes {
    fn new() -> Self {
        Self { directory: MemoryDirectory::default(), time: Arc::default() }
    }

    fn add(&self, name: &str) -> Membership {
        let time = Arc::clone(&self.time);
        let node = Node { name: name.to_owned(), addresses: BTreeMap::new() };
        Membership::new(Arc::new(self.directory.clone()), node, LEASE, Arc::new(move || *time.lock()))
    }

    fn pass(&self, seconds: u64) {
        *self.time.lock() += Duration::from_secs(seconds);
    }
}

/// One round of a node, as `run` does it.
fn round(node: &Membership) {
    block_on(async {
        node.renew().await.unwrap();
        node.claim().await.unwrap();
        let excess = node.close_excess();
        if !excess.is_empty() {
            node.give(&excess).await.unwrap();
        }
    });
}

#[test]
fn a_joining_node_gets_its_share() {
    let nodes = Nodes::new();
    let one = nodes.add("one");
    round(&one);
    assert_eq!(one.served_shards(), 1024);
    let two = nodes.add("two");
    round(&two);
    assert_eq!((one.served_shards(), two.served_shards()), (1024, 0));
    round(&one);
    round(&two);
    assert_eq!(one.served_shards() + two.served_shards(), 1024);
    assert!((480..=544).contains(&one.served_shards()), "{}", one.served_shards());
}

#[test]
fn a_shard_with_a_request_stays_until_its_end() {
    let nodes = Nodes::new();
    let (one, two) = (nodes.add("one"), nodes.add("two"));
    round(&one);
    let running: Vec<ShardLocation> = (0..1024).map(|shard| one.locate(shard)).collect();
    assert!(running.iter().all(|place| matches!(place, ShardLocation::Here(_))));
    round(&two);
    round(&one);
    assert_eq!(one.served_shards(), 1024, "all are in use");
    drop(running);
    round(&one);
    round(&two);
    assert!(two.served_shards() > 480);
    let elsewhere = (0..1024).filter(|shard| matches!(one.locate(*shard), ShardLocation::Elsewhere(_))).count();
    assert_eq!(elsewhere, two.served_shards());
}

#[test]
fn shards_of_a_failed_node_are_taken_after_its_lease() {
    let nodes = Nodes::new();
    let (one, two) = (nodes.add("one"), nodes.add("two"));
    for node in [&one, &two, &one, &two] {
        round(node);
    }
    for _ in 0..3 {
        nodes.pass(3);
        round(&one);
    }
    // The other one has stopped: it does not serve any more, by its own clock.
    assert_eq!(two.served_shards(), 0);
    nodes.pass(3);
    round(&one);
    assert_eq!(one.served_shards(), 1024);
    // It resumes, and gets a share again without ever serving for one of the other.
    assert_eq!(two.served_shards(), 0);
    round(&two);
    assert_eq!(two.served_shards(), 0);
    round(&one);
    round(&two);
    assert_eq!(one.served_shards() + two.served_shards(), 1024);
    assert!(two.served_shards() > 480);
}

#[test]
fn a_node_that_leaves_gives_all_away() {
    let nodes = Nodes::new();
    let (one, two) = (nodes.add("one"), nodes.add("two"));
    for node in [&one, &two, &one, &two] {
        round(node);
    }
    two.begin_leave();
    block_on(async {
        two.renew().await.unwrap();
        let shards = two.close_excess();
        assert_eq!(two.served_shards(), 0);
        two.give(&shards).await.unwrap();
        two.leave().await.unwrap();
    });
    round(&one);
    assert_eq!(one.served_shards(), 1024, "without waiting for a lease");
}

#[test]
fn a_node_does_not_serve_by_a_directory_that_lost_its_table() {
    let nodes = Nodes::new();
    let one = nodes.add("one");
    round(&one);
    nodes.directory.lose_all();
    let two = nodes.add("two");
    nodes.pass(5);
    round(&two);
    assert!(block_on(one.renew()).unwrap_err().message().contains("restart this node"));
    nodes.pass(1);
    assert_eq!((one.served_shards(), two.served_shards()), (0, 1024));
}
