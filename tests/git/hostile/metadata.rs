//! Damaged files in `.git`: the index, `HEAD`, references.

use super::{Case, check};

const INDEX: &[Case] = &[
    Case::new(
        "an index that ends early",
        "git branch evil; head -c 40 .git/index > .git/cut; mv .git/cut .git/index",
        &["index file"],
    ),
    Case::new("an index of random bytes", "git branch evil; seq 100 > .git/index", &["bad signature"]),
    Case::new(
        "an index with four billion entries",
        r#"git branch evil; printf 'DIRC\0\0\0\2\377\377\377\377' > .git/i; tail -c +13 .git/index >> .git/i; mv .git/i .git/index"#,
        &["[exit 128] git status"],
    ),
    // Git trusts its index, on every system; a clone does not have it. The file is created next to the work tree, in the sandbox.
    Case::new(
        "an index with a path that leads up",
        r#"mkdir aa; echo x > aa/x; git add aa; git commit -qm aa; git branch evil; LC_ALL=C sed -i 's,aa/x,../x,' .git/index
           head -c -20 .git/index > .git/i; checksum .git/i > .git/s; cat .git/i .git/s > .git/index"#,
        &["../x", "created: /workspace/work/x"],
    )
    .commands(
        "cp -r /workspace/repo /workspace/work/inner; cd /workspace/work/inner; step git status --short; step git checkout-index -f -a; step git \
         checkout -f -q .; step git fsck; find /workspace/work -maxdepth 1 -name x | sed 's/^/created: /'",
    ),
    Case::new(
        "an index with a path through a link",
        r#"mkdir ln; echo x > ln/x; git add ln; git commit -qm ln; git branch evil; rm -r ln; ln -s /tmp ln"#,
        &["[exit 0] git checkout-index"],
    )
    .commands(
        "cd /workspace/repo; step git status --short; step git checkout-index -f -a; step git reset -q --hard; step git status --short; step \
         git fsck",
    ),
    Case::new(
        "an index with a damaged extension",
        r#"git branch evil; head -c -20 .git/index > .git/i; printf 'XXXX\377\377\377\377abc' >> .git/i; checksum .git/i > .git/s; cat .git/i .git/s > .git/index"#,
        &["extension"],
    ),
    Case::new(
        "a split index whose shared part is missing",
        "git branch evil; git update-index --split-index; rm .git/sharedindex.*",
        &["sharedindex"],
    ),
];

const REFERENCES: &[Case] = &[
    Case::new("HEAD of random bytes", "git branch evil; seq 3 > .git/HEAD", &["not a git repository"]),
    Case::new("HEAD is empty", "git branch evil; : > .git/HEAD", &["not a git repository"]),
    Case::new("HEAD is a directory", "git branch evil; rm .git/HEAD; mkdir .git/HEAD", &["not a git repository"]),
    Case::new("HEAD is a link in a circle", "git branch evil; ln -sf HEAD .git/HEAD", &["not a git repository"]),
    Case::new("HEAD leads up", "git branch evil; echo 'ref: ../../../etc/passwd' > .git/HEAD", &["[exit 128]"]),
    Case::new(
        "HEAD of 1 MiB",
        "git branch evil; { printf 'ref: refs/heads/'; head -c 1048576 /dev/zero | tr '\\0' x; } > .git/HEAD",
        &["invalid HEAD"],
    ),
    Case::new("HEAD names itself", "git branch evil; echo 'ref: HEAD' > .git/HEAD", &["[exit 128]"]),
    Case::new("HEAD names a lock", "git branch evil; echo 'ref: refs/heads/main.lock' > .git/HEAD", &["invalid HEAD"]),
    Case::new("HEAD is an unknown object", "git branch evil; seq 40 | head -c 40 | tr '\\n' 1 > .git/HEAD", &["[exit 128]"]),
    Case::new("HEAD is missing", "git branch evil; rm .git/HEAD", &["not a git repository"]),
    Case::new(
        "references in a circle",
        "git branch evil; echo 'ref: refs/heads/b' > .git/refs/heads/a; echo 'ref: refs/heads/a' > .git/refs/heads/b",
        &["ignoring"],
    )
    .commands("cd /workspace/repo; step git branch -a; step git rev-parse a; step git update-ref refs/heads/a HEAD; step git pack-refs --all; step git fsck; step git clone -q . /workspace/work/c"),
    Case::new(
        "references with forbidden names",
        "git branch evil; id=$(git rev-parse HEAD); printf '# pack-refs with: peeled fully-peeled sorted \\n%s refs/heads/../../escaped\\n%s refs/heads/a..b\\n%s refs/heads/-x\\n' $id $id $id > .git/packed-refs",
        &["[exit "],
    ),
    Case::new(
        "packed references of random bytes",
        "git branch evil; seq 1000 > .git/packed-refs",
        &["unexpected line in .git/packed-refs"],
    ),
    Case::new(
        "a reference of 10 MiB",
        "git branch evil; head -c 10485760 /dev/zero | tr '\\0' a > .git/refs/heads/big",
        &["[exit "],
    ),
    Case::new(
        "fifty thousand references",
        "git branch evil; id=$(git rev-parse HEAD); { echo '# pack-refs with: peeled fully-peeled sorted '; for i in $(seq 100000 150000); do echo \"$id refs/heads/r$i\"; done; } > .git/packed-refs",
        &["[exit 0] git clone"],
    )
    .commands("cd /workspace/repo; step git status -s; step git fsck; git branch | wc -l; step git clone -q . /workspace/work/c; step git branch -d r100007; step git rev-parse -q --verify r100007"),
    Case::new(
        "a log of references with random bytes",
        "git branch evil; seq 1000 > .git/logs/HEAD; printf '%0100d\\n' 0 >> .git/logs/refs/heads/main",
        &["[exit 0] git clone"],
    ),
    Case::new(
        "links in .git that lead outside",
        "git branch evil; rm -rf .git/logs .git/info; ln -s /etc .git/info; ln -s /nonexistent/logs .git/logs; ln -s /etc/passwd .git/description.x",
        &["[exit "],
    ),
    Case::new(
        "commands that stopped halfway by their files",
        "git branch evil; mkdir -p .git/rebase-merge .git/sequencer; seq 9 > .git/rebase-merge/git-rebase-todo; echo ../../../etc/passwd > .git/rebase-merge/head-name; seq 3 > .git/MERGE_HEAD; seq 3 > .git/CHERRY_PICK_HEAD; seq 3 > .git/sequencer/todo; seq 5 > .git/BISECT_LOG",
        &["[exit "],
    )
    .commands("cd /workspace/repo; step git status; step git rebase --continue; step git rebase --abort; step git merge --abort; step git cherry-pick --continue; step git bisect reset; step git revert --abort; step git fsck"),
];

#[tokio::test]
async fn damaged_indexes_end_no_program() {
    check(INDEX).await;
}

#[tokio::test]
async fn damaged_references_end_no_program() {
    check(REFERENCES).await;
}
