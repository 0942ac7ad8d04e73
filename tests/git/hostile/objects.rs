//! Loose objects and other files of the object database that are damaged or too large.

use std::time::Duration;

use tidebox::Limits;

use super::{Case, check, check_with};

/// `git stash` of Git 2.39 ends with `BUG:` and `abort` if the commit is missing, also on other systems.
const ABORTED: [i32; 1] = [134];

const DAMAGED: &[Case] = &[
    Case::new(
        "a loose object that ends early",
        "git branch evil; f=.git/objects/$(git rev-parse HEAD: | sed 's,..,&/,'); chmod +w $f; head -c 10 $f > .git/cut; cp .git/cut $f",
        &["corrupt"],
    ),
    Case::new(
        "a loose object of random bytes",
        "git branch evil; f=.git/objects/$(git rev-parse HEAD:file | sed 's,..,&/,'); chmod +w $f; seq 100 > $f",
        &["inflate: data stream error"],
    ),
    Case::new(
        "a loose object that is empty",
        "git branch evil; f=.git/objects/$(git rev-parse HEAD | sed 's,..,&/,'); chmod +w $f; : > $f",
        &["is empty"],
    ),
    Case::new(
        "a loose object with the content of another one",
        "git branch evil; a=.git/objects/$(git rev-parse HEAD:file | sed 's,..,&/,'); b=.git/objects/$(blob other | sed 's,..,&/,'); chmod +w $a; cp $b $a",
        &["hash-path mismatch"],
    ),
    Case::new(
        "a loose object that is a directory",
        "git branch evil; f=.git/objects/$(git rev-parse HEAD:file | sed 's,..,&/,'); rm -f $f; mkdir $f",
        &["[exit 128]"],
    ),
    Case::new(
        "a pack whose index is damaged",
        "git branch evil; git gc -q; f=$(ls .git/objects/pack/*.idx); chmod +w $f; seq 300 > $f",
        &["index"],
    )
    .exits(&ABORTED),
    Case::new(
        "a pack that ends early",
        "git branch evil; git gc -q; f=$(ls .git/objects/pack/*.pack); chmod +w $f; head -c 50 $f > .git/cut; cp .git/cut $f",
        &["packfile"],
    )
    .exits(&ABORTED),
    Case::new(
        "a damaged commit graph",
        "git branch evil; git commit-graph write --reachable; f=.git/objects/info/commit-graph; chmod +w $f; { head -c 60 $f; seq 300; } > .git/cut; cp .git/cut $f",
        &["improper chunk offset"],
    ),
    Case::new(
        "a damaged index of many packs",
        "git branch evil; git repack -qad; git multi-pack-index write; f=.git/objects/pack/multi-pack-index; chmod +w $f; { head -c 70 $f; seq 300; } > .git/cut; cp .git/cut $f",
        &["multi-pack-index"],
    ),
    Case::new(
        "a damaged bitmap",
        "git branch evil; git repack -qadb; f=$(ls .git/objects/pack/*.bitmap); chmod +w $f; { head -c 40 $f; seq 300; } > .git/cut; cp .git/cut $f; git config pack.useBitmaps true",
        &["[exit 0] git clone"],
    ),
    Case::new(
        "alternates that lead to themselves and outside",
        "git branch evil; printf '%s\\n' /workspace/repo/.git/objects ../objects /etc /proc/self /nonexistent > .git/objects/info/alternates",
        &["object directory /nonexistent does not exist"],
    ),
];

const BOMBS: &[Case] = &[Case::new(
    "a blob of 160 MiB of zeros",
    r#"truncate -s 160M .git/zeros; point "$(entry 100644 bomb "$(git hash-object -w .git/zeros)" | tree)"; rm .git/zeros"#,
    &["Out of memory"],
)];

#[tokio::test]
async fn damaged_objects_end_no_program() {
    check(DAMAGED).await;
}

/// Processes may be killed for memory (137). Nothing of a failed checkout may remain as a lock.
#[tokio::test]
async fn compressed_bombs_stay_within_the_limits() {
    const MIB: u64 = 1 << 20;
    let mut limits = Limits::default();
    (limits.process_memory_bytes, limits.sandbox_memory_bytes) = (128 * MIB, 256 * MIB);
    limits.file_bytes = 64 * MIB;
    limits.wall_time = Duration::from_secs(300);
    let bombs: Vec<Case> = BOMBS.iter().map(|case| case.exits(&[137])).collect();
    check_with(&bombs, limits).await;
}
