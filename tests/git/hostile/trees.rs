//! Trees with names and kinds of entries that Git never writes.

use super::{Case, check};

const NAMES: &[Case] = &[
    Case::new(
        "a directory named ..",
        r#"inner=$(entry 100644 escaped "$(blob x)" | tree); point "$({ entry 40000 .. "$inner"; } | tree)""#,
        &["hasDotdot", "invalid path '../escaped'"],
    ),
    Case::new(
        "a name with a slash that leads up",
        r#"point "$(entry 100644 ../escaped "$(blob x)" | tree)""#,
        &["invalid path '../escaped'"],
    ),
    Case::new(
        "an absolute name",
        r#"point "$(entry 100644 /tmp/escaped "$(blob x)" | tree)""#,
        &["fullPathname", "invalid path '/tmp/escaped'"],
    ),
    Case::new(
        "names that climb after a directory",
        r#"point "$(entry 100644 a/../../escaped "$(blob x)" | tree)""#,
        &["invalid path 'a/../../escaped'"],
    ),
    Case::new(
        "a directory .git with a configuration and a hook",
        r#"inner=$({ entry 100644 config "$(blob '[core] fsmonitor = touch /workspace/escaped')"; entry 100755 post-checkout "$(blob x)"; } | tree)
           point "$(entry 40000 .git "$inner" | tree)""#,
        &["hasDotgit", "invalid path '.git/config'"],
    ),
    Case::new(
        "other spellings of .git",
        r#"inner=$(entry 100644 config "$(blob x)" | tree)
           point "$({ entry 40000 .GIT "$inner"; entry 40000 .Git "$inner"; entry 40000 '.git ' "$inner"; entry 40000 .git. "$inner"
                      entry 40000 '.git::$INDEX_ALLOCATION' "$inner"; entry 40000 'git~1' "$inner"; } | tree)""#,
        &["hasDotgit", "invalid path '.GIT/config'"],
    ),
    Case::new(
        "a file .git that points to another repository",
        r#"point "$(entry 100644 .git "$(blob 'gitdir: /workspace/repo/.git')" | tree)""#,
        &["hasDotgit", "invalid path '.git'"],
    ),
    Case::new(
        "ignored characters of HFS in .git",
        r#"inner=$(entry 100644 config "$(blob x)" | tree); point "$(entry 40000 '.g\u200cit' "$inner" | tree)""#,
        &["hasDotgit"],
    ),
    Case::new("an empty name", r#"point "$(entry 100644 '' "$(blob x)" | tree)""#, &["empty filename in tree entry"]),
    Case::new(
        "the name of the directory itself",
        r#"inner=$(entry 100644 x "$(blob x)" | tree); point "$(entry 40000 . "$inner" | tree)""#,
        &["hasDot", "invalid path './x'"],
    ),
    Case::new(
        "control characters and bytes that are not UTF-8",
        r#"point "$({ entry 100644 'a\nb' "$(blob x)"; entry 100644 'c\033[2Jd\007' "$(blob x)"; entry 100644 'e\xff\xfe' "$(blob x)"; } | tree)""#,
        &[r#"a\nb"#, r#"e\377\376"#],
    ),
    Case::new(
        "a name of 4 KiB",
        r#"point "$(entry 100644 "$(head -c 4096 /dev/zero | tr '\0' n)" "$(blob x)" | tree)""#,
        &["unable to create file nnnn"],
    ),
    Case::new(
        "backslashes and drive letters",
        r#"point "$({ entry 100644 '..\\\\escaped' "$(blob x)"; entry 100644 'C:\\\\escaped' "$(blob x)"; } | tree)""#,
        &["escaped"],
    ),
];

const KINDS: &[Case] = &[
    Case::new(
        "a link and a directory of the same name",
        r#"inner=$(entry 100644 escaped "$(blob x)" | tree)
           point "$({ entry 120000 a "$(blob /tmp)"; entry 40000 a "$inner"; } | tree)""#,
        &["duplicateEntries"],
    ),
    Case::new(
        "a directory where a link leads outside",
        r#"inner=$(entry 100644 escaped "$(blob x)" | tree)
           git update-ref refs/heads/main "$(git commit-tree -p HEAD -m link "$(entry 120000 a "$(blob /tmp)" | tree)")"
           point "$(entry 40000 a "$inner" | tree)"; git reset -q --hard"#,
        &["[exit 0] git checkout -f -q evil"],
    ),
    Case::new(
        "a file below a link of the index",
        r#"git update-ref refs/heads/main "$(git commit-tree -p HEAD -m link "$(entry 120000 a "$(blob /tmp)" | tree)")"
           git reset -q --hard; point "$(entry 100644 b "$(blob x)" | tree)""#,
        &["beyond a symbolic link"],
    )
    .commands(
        "cd /workspace/repo; echo x > /workspace/work/f; step git update-index --add --cacheinfo 100644,$(git hash-object -w \
         /workspace/work/f),a/escaped; step git checkout-index -f -a; step git add a/x; step git apply \
         /workspace/work/none; step git reset -q --hard; git fsck",
    ),
    Case::new(
        "links to files that Git reads",
        r#"point "$({ entry 120000 .gitattributes "$(blob /etc/passwd)"; entry 120000 .gitignore "$(blob /etc/passwd)"
                      entry 120000 .gitmodules "$(blob ../../../etc/passwd)"; entry 120000 .mailmap "$(blob /etc/passwd)"; } | tree)""#,
        &["gitmodulesSymlink", "invalid path '.gitmodules'"],
    ),
    Case::new(
        "modes that do not exist",
        r#"point "$({ entry 0 a "$(blob x)"; entry 777777 b "$(blob x)"; entry 100000 c "$(blob x)"; entry 60000 d "$(blob x)"; } | tree)""#,
        &["badFilemode"],
    ),
    Case::new(
        "entries of the wrong kind",
        r#"point "$({ entry 40000 a "$(blob x)"; entry 100644 b "$(git rev-parse 'HEAD^{tree}')"; } | tree)""#,
        &["broken link", "[exit 128] git checkout -f -q evil"],
    ),
    Case::new(
        "entries that are not sorted or appear twice",
        r#"point "$({ entry 100644 z "$(blob x)"; entry 100644 a "$(blob x)"; entry 100644 a "$(blob y)"; } | tree)""#,
        &["treeNotSorted"],
    ),
    Case::new(
        "a tree that ends within an entry",
        r#"point "$({ entry 100644 a "$(blob x)"; printf '100644 b\0short'; } | tree)""#,
        &["too-short tree object"],
    ),
    Case::new("a tree of random bytes", r#"point "$(seq 1000 | tree)""#, &["too-short tree object"]),
    Case::new(
        "objects that are missing",
        r#"point "$({ entry 100644 a 1234567812345678123456781234567812345678; entry 40000 b 0000000000000000000000000000000000000000; } | tree)""#,
        &["nullSha1", "missing blob"],
    ),
    Case::new(
        "twenty thousand names of one empty tree",
        r#"empty=$(tree < /dev/null); id=$(printf %s "$empty" | sed 's/../\\x&/g')
           point "$(for i in $(seq 10000 30000); do printf "40000 $i\\0$id"; done | tree)""#,
        &["[exit 0] git checkout -f -q evil"],
    ),
];

/// Git 2.39 recurses without a limit, so a deep tree exhausts the stack (exit code 139) like on other systems. A crash leaves the
/// lock of the index.
const DEEP: &[Case] = &[Case::new(
    "a tree of 5,000 levels",
    r#"printf "100644 $(blob x)\\t$(printf 'd/%.0s' $(seq 5000))x\\n" | git update-index --index-info; point "$(git write-tree)"; git read-tree HEAD"#,
    &["evil"],
)
.commands(
    "cd /workspace/repo; step git log --oneline evil; step git fsck --full; step git ls-tree -r --name-only evil; step git diff --stat HEAD evil; step git grep -c base evil; \
     step git clone -q --no-local --no-checkout . /workspace/work/c; step git gc -q; step git archive -o /workspace/work/a.tar evil; step git checkout -q -f evil; rm -f \
     .git/index.lock; step git status --short",
)
.exits(&[139])];

#[tokio::test]
async fn names_of_entries_lead_to_no_other_directory() {
    check(NAMES).await;
}

#[tokio::test]
async fn kinds_of_entries_lead_to_no_other_directory() {
    check(KINDS).await;
}

#[tokio::test]
async fn deep_trees_end_only_the_command() {
    check(DEEP).await;
}
