//! Commits and tags that Git never writes.

use super::{Case, check};

const COMMITS: &[Case] = &[
    Case::new(
        "a commit without an author and with a NUL in its message",
        r#"id=$(printf 'tree %s\nparent %s\n\nmessage\0hidden\n' "$(git rev-parse 'HEAD^{tree}')" "$(git rev-parse HEAD)" | git hash-object --literally -t commit -w --stdin)
           git update-ref refs/heads/evil $id"#,
        &["missingAuthor"],
    ),
    Case::new(
        "dates and time zones beyond all ranges",
        r#"id=$(printf 'tree %s\nparent %s\nauthor A <a@b> 99999999999999999999999 +9999999\ncommitter C <c@d> -5 -9999\n\nm\n' "$(git rev-parse 'HEAD^{tree}')" "$(git rev-parse HEAD)" | git hash-object --literally -t commit -w --stdin)
           git update-ref refs/heads/evil $id"#,
        &["badDateOverflow"],
    ),
    Case::new(
        "control characters in names and an unknown encoding",
        r#"id=$(printf 'tree %s\nparent %s\nauthor \033[2J<<>>< 1 +0000\ncommitter \n<> 1 +0000\nencoding bogus\n\n\377\376\n' "$(git rev-parse 'HEAD^{tree}')" "$(git rev-parse HEAD)" | git hash-object --literally -t commit -w --stdin)
           git update-ref refs/heads/evil $id"#,
        &["missingSpaceBeforeEmail"],
    ),
    Case::new(
        "a parent that is missing",
        r#"id=$(printf 'tree %s\nparent 1234567812345678123456781234567812345678\nauthor A <a@b> 1 +0000\ncommitter C <c@d> 1 +0000\n\nm\n' "$(git rev-parse 'HEAD^{tree}')" | git hash-object -t commit -w --stdin)
           printf %s $id > .git/refs/heads/evil"#,
        &["broken link from  commit", "[exit 128]"],
    ),
    Case::new(
        "a commit with three thousand parents",
        r#"p=$(git rev-parse HEAD); id=$({ echo "tree $(git rev-parse 'HEAD^{tree}')"; for i in $(seq 3000); do echo "parent $p"; done; printf 'author A <a@b> 1 +0000\ncommitter C <c@d> 1 +0000\n\nm\n'; } | git hash-object --literally -t commit -w --stdin)
           git update-ref refs/heads/evil $id"#,
        &["evil"],
    ),
    Case::new(
        "a chain of five hundred tags",
        r#"id=$(git rev-parse HEAD); kind=commit; for i in $(seq 500); do id=$(printf 'object %s\ntype %s\ntag t\ntagger T <t@t> 1 +0000\n\nm\n' $id $kind | git hash-object -t tag -w --stdin); kind=tag; done
           git update-ref refs/tags/deep $id; git branch evil"#,
        &["[exit 0] git clone"],
    ),
    Case::new(
        "replacements and grafts in a circle",
        r#"git commit -q --allow-empty -m two; git branch evil; a=$(git rev-parse HEAD); b=$(git rev-parse HEAD~1)
           mkdir -p .git/refs/replace; echo $b > .git/refs/replace/$a; echo $a > .git/refs/replace/$b; echo "$b $a" > .git/info/grafts"#,
        &["replace depth too high"],
    ),
    Case::new(
        "a message of 10 MiB in one line",
        r#"head -c 10485760 /dev/zero | tr '\0' m > .git/message; git commit -q --allow-empty -F .git/message; git branch evil"#,
        &["[exit 0] git log"],
    )
    .commands("cd /workspace/repo; step git log -1 --format=%H; step git fsck; git log | head -c 300; step git rebase -q HEAD~1; step git clone -q . /workspace/work/c"),
];

#[tokio::test]
async fn commits_that_git_never_writes_end_no_program() {
    check(COMMITS).await;
}
