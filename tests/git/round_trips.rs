//! Random operations, equal with the Git of the sandbox and of the host, and repositories that move between both.

use std::path::Path;

use tidebox::Sandbox;

use crate::operations::{STATE, script};
use crate::rng::Chance;
use crate::setup::{download, is_ready, native_succeed, sandbox, succeed, upload};

/// Operations between two exchanges.
const OPERATIONS: usize = 20;
const EXCHANGES: usize = 5;

const CREATE: &str = "git init -q .; mkdir -p dir/sub; for f in a b.txt dir/c 'dir/d e' dir/sub/f g.sh; do seq 20 > \"$f\"; done; git add -A; git \
                      commit -qm base; for b in one two three; do git branch $b; done";

/// Runs random operations on both sides and compares the states after each. At an exchange, each side continues in the repository of the other.
async fn compare(seed: u64) {
    if !is_ready() {
        return;
    }
    let sandbox = sandbox();
    let mut native = tempfile::tempdir().expect("a directory is created");
    succeed(&sandbox, &format!("mkdir w0; cd w0; {CREATE}")).await;
    native_succeed(native.path(), CREATE);
    let mut chance = Chance::new(seed);
    for exchange in 0..EXCHANGES {
        let operations = script(&mut chance, exchange * OPERATIONS, OPERATIONS);
        let ours = succeed(&sandbox, &format!("cd /workspace/w{exchange}\n{operations}")).await;
        let theirs = native_succeed(native.path(), &operations);
        assert_equal(seed, &ours, &theirs);
        native = swap(&sandbox, native.path(), exchange).await;
    }
}

/// Fails with the first operation whose state differs.
fn assert_equal(seed: u64, ours: &str, theirs: &str) {
    for (ours, theirs) in ours.split("== ").zip(theirs.split("== ")) {
        assert_eq!(ours, theirs, "the states differ with seed {seed}");
    }
    assert_eq!(ours.len(), theirs.len(), "the number of states differs with seed {seed}");
}

/// Uploads the repository of the host to the next directory of the sandbox, and returns a directory with that of the sandbox. Both
/// Gits accept what they receive.
async fn swap(sandbox: &Sandbox, native: &Path, exchange: usize) -> tempfile::TempDir {
    let received = tempfile::tempdir().expect("a directory is created");
    download(sandbox, &format!("/workspace/w{exchange}"), received.path()).await;
    let next = format!("/workspace/w{}", exchange + 1);
    upload(sandbox, native, &next).await;
    let check = format!(
        "{STATE}\ngit fsck --full --strict --no-dangling >&2 || exit; git rev-list --objects --all | sort; state"
    );
    let theirs = native_succeed(received.path(), &check);
    let ours = succeed(sandbox, &format!("cd {next}\n{check}")).await;
    assert_eq!(ours, theirs, "the exchanged repositories differ");
    received
}

#[tokio::test]
async fn random_operations_give_equal_repositories_seed_1() {
    compare(1).await;
}

#[tokio::test]
async fn random_operations_give_equal_repositories_seed_2() {
    compare(2).await;
}

/// Two more seeds, from `TIDEBOX_GIT_SEED` and the next; default 3.
#[tokio::test]
async fn random_operations_give_equal_repositories_other_seeds() {
    let seed = std::env::var("TIDEBOX_GIT_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    compare(seed).await;
    compare(seed + 1).await;
}

/// Optional files of the host's Git: commit graph, bitmaps, index of many packs, split index, linked work tree, bundle.
#[tokio::test]
async fn formats_of_the_host_are_read_and_continued() {
    if !is_ready() {
        return;
    }
    let sandbox = sandbox();
    let dir = tempfile::tempdir().expect("a directory is created");
    native_succeed(
        dir.path(),
        &format!(
            "set -e; git init -q work; cd work; {CREATE}; for i in $(seq 30); do echo $i >> a; git commit -qam $i; done; git gc -q; git commit-graph \
             write --reachable --changed-paths; git repack -adbq; git multi-pack-index write; git update-index --split-index; git update-index \
             --index-version 4; git update-index --untracked-cache; git worktree add -q ../tree one; git notes add -m note; git bundle \
             create -q ../all.bundle --all; cd ..; git clone -q --mirror work mirror.git"
        ),
    );
    upload(&sandbox, dir.path(), "/workspace/moved").await;
    let script = "set -e; cd /workspace/moved; git -C work fsck --full --strict --no-dangling; git -C work worktree repair ../tree; git -C work log \
                  --oneline | wc -l; git -C work status --porcelain; git -C tree status --porcelain; git -C mirror.git log -1 --format=%s; git clone -q \
                  all.bundle from-bundle; git -C from-bundle rev-parse HEAD; cd work; git notes show; echo more >> a; git commit -qam more; git repack -adq; git multi-pack-index \
                  write; git rev-parse HEAD";
    let ours = succeed(&sandbox, script).await;
    let back = tempfile::tempdir().expect("a directory is created");
    download(&sandbox, "/workspace/moved/work", back.path()).await;
    let checked = native_succeed(
        back.path(),
        "set -e; git fsck --full --strict --no-dangling 2>&1; git multi-pack-index verify 2>/dev/null; git commit-graph verify 2>/dev/null; git status --porcelain; git log --oneline | wc -l; git rev-parse HEAD",
    );
    let ours: Vec<&str> = ours.lines().map(str::trim).collect();
    let checked: Vec<&str> = checked.lines().map(str::trim).collect();
    assert_eq!(ours.first().copied(), Some("31"), "{ours:?}");
    assert_eq!(ours.last(), checked.last(), "{ours:?} {checked:?}");
    assert!(checked.contains(&"32"), "{checked:?}");
}
