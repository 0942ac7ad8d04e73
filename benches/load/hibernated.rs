//! Sandboxes that are only in a store.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tidebox::{
    ChainStore, ExecuteRequest, FolderLog, SandboxBackend as _, SandboxId, SandboxProvider as _, SaveLog, SaveRequest,
    SavedSandbox, Selector, SnapshotStore as _,
};
use tokio::task::JoinSet;

use crate::{Dice, Footprint, sandbox};

/// Saves at the same time. The store commits them together.
const WRITERS: usize = 64;

/// Sandboxes that are resumed.
const RESUMED: usize = 1000;

/// Saves sandboxes in a directory, then opens it as another program would: loads the index, resumes some by their labels, and
/// searches for garbage.
pub(super) async fn hibernated(count: usize) -> Vec<String> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let log = || FolderLog::open(dir.path()).expect("the directory is writable");
    fill(Arc::new(log()), count).await;
    let before = Footprint::now().map_or(0.0, Footprint::mib);
    let provider = tidebox::provider().expect("the engine starts").save_log(Arc::new(log()));
    let provider = provider.idle_timeout(Duration::from_secs(1 << 32)).build().expect("the store opens");
    let start = Instant::now();
    provider.list(tidebox::ListRequest::default()).await.expect("the store is readable");
    let (loaded, index) = (start.elapsed(), Footprint::now().map_or(0.0, Footprint::mib) - before);
    println!("hibernated: index of {count} read in {loaded:.1?}, {index:.0} MiB");
    let mut errors = Vec::new();
    let mut dice = Dice(7);
    let mut times = Vec::new();
    for _ in 0..RESUMED.min(count) {
        let number = dice.below(count);
        let start = Instant::now();
        let sandbox =
            provider.get_or_create(Selector::labels([("thread", number.to_string())])).await.expect("it exists");
        let response = sandbox.execute(ExecuteRequest::new("cat notes")).await.expect("the command runs");
        times.push(start.elapsed());
        if response.stdout != b"a note\n" {
            errors.push(format!("sandbox {number} has lost its file: {}", response.output_text()));
        }
        sandbox.close().await.expect("it is saved");
    }
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!("hibernated: resumed with a command in {:.2?} (p50), {:.2?} (p99)", at(0.5), at(0.99));
    let start = Instant::now();
    let expired = provider.delete_expired().await.expect("the store is writable");
    println!("hibernated: search for expired ones in {:.2?}", start.elapsed());
    let start = Instant::now();
    log().collect_garbage(0).await.expect("the store is writable");
    println!("hibernated: search for garbage in {:.1?}", start.elapsed());
    if !expired.is_empty() {
        errors.push(format!("{} sandboxes have expired", expired.len()));
    }
    errors
}

/// Saves `count` sandboxes with a file each.
async fn fill(log: Arc<dyn SaveLog>, count: usize) {
    let store = ChainStore::new(log).expect("the system has random bytes");
    let template = sandbox();
    template.execute(ExecuteRequest::new("echo a note > notes")).await.expect("the command runs");
    let snapshot = template.snapshot().expect("the sandbox is open");
    let start = Instant::now();
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let (store, snapshot) = (store.clone(), snapshot.clone());
        writers.spawn(async move {
            for number in (writer..count).step_by(WRITERS) {
                let id = SandboxId::parse(format!("hibernated-{number:08}")).expect("an id");
                let labels = [("thread".to_owned(), number.to_string())].into();
                let sandbox = SavedSandbox { id: id.clone(), labels, created: 0, last_used: 0 };
                let save = SaveRequest { sandbox, snapshot: snapshot.clone(), before: None };
                store.put(save).await.expect("the directory is writable");
                store.release(&id);
            }
        });
    }
    while let Some(ended) = writers.join_next().await {
        ended.expect("no writer panics");
    }
    println!("hibernated: {count} saved in {:.1?}", start.elapsed());
}
