//! Configurations, attributes and hooks that come with a repository.

use super::{Case, check};

/// Commands on the uploaded repository, because a clone does not have its configuration.
const ON_ORIGINAL: &str = "cd /workspace/repo; step git status --short; step git log --oneline -2; step git config --list; step git diff; \
                            step git add .; step git commit -q --allow-empty -m more; step git checkout -q -b other; step git gc -q; \
                            step git fsck; step git clone -q . /workspace/work/c; cd /workspace/work/c && step git status";

const FILES: &[Case] = &[
    Case::new("a configuration that includes itself", "git config include.path config", &["exceeded maximum include depth"])
        .commands(ON_ORIGINAL),
    Case::new(
        "conditions that include each other",
        "git config includeIf.gitdir:/.path a; git config -f .git/a include.path b; git config -f .git/b include.path a",
        &["exceeded maximum include depth"],
    )
    .commands(ON_ORIGINAL),
    Case::new("a configuration of random bytes", "seq 100 > .git/config", &["bad config line 1"]).commands(ON_ORIGINAL),
    Case::new("a section without an end", "printf '[core' >> .git/config", &["bad config line"]).commands(ON_ORIGINAL),
    Case::new("a configuration with NUL bytes", r"printf '[a]\n\tb = c\0d\n' >> .git/config", &["[exit "]).commands(ON_ORIGINAL),
    Case::new(
        "a configuration of one line with 10 MiB",
        "{ printf '[a]\\n\\tb = '; head -c 10485760 /dev/zero | tr '\\0' x; } >> .git/config",
        &["[exit 0] git status"],
    )
    .commands("cd /workspace/repo; step git status --short; step git config --get a.c; step git commit -q --allow-empty -m x; step git fsck"),
    Case::new("an unknown version of the format", "git config core.repositoryFormatVersion 99", &["Expected git repo version <= 1, found 99"])
        .commands(ON_ORIGINAL),
    Case::new(
        "an unknown object format",
        "git config core.repositoryFormatVersion 1; git config extensions.objectFormat sha0",
        &["invalid value for 'extensions.objectformat'"],
    )
    .commands(ON_ORIGINAL),
    Case::new("a work tree at a directory of the system", "git config core.worktree /etc", &["[exit 0] git status"])
        .commands("cd /workspace/repo; step git status --short; step git checkout -f -q HEAD; step git reset --hard; step git fsck")
        ,
    Case::new("values that are not numbers", "git config core.compression huge; git config pack.windowMemory -1x; git config core.bigFileThreshold 99999999999999999999", &["bad numeric config value"])
        .commands(ON_ORIGINAL),
    Case::new(
        "programs that do not exist",
        "for key in core.fsmonitor core.pager core.editor diff.external core.sshCommand core.askPass credential.helper gpg.program sequence.editor; do git config $key /nonexistent/program; done; git config commit.gpgSign true; git config core.hooksPath /nonexistent",
        &["/nonexistent/program"],
    )
    .commands(ON_ORIGINAL),
    Case::new("an alias that calls itself", "git config alias.loop loop; git config alias.a b; git config alias.b a", &["recursive alias", "alias loop detected"])
        .commands("cd /workspace/repo; step git loop; step git a; step git status"),
];

const ATTRIBUTES: &[Case] = &[
    Case::new(
        "filters, drivers and encodings that do not exist",
        r#"printf '* filter=none diff=none merge=none text eol=bogus ident\nx working-tree-encoding=UTF-99\n' > .gitattributes; git add -A; git commit -qm a; point "$({ entry 100644 .gitattributes "$(git rev-parse :.gitattributes)"; entry 100644 x "$(blob x)"; } | tree)""#,
        &["failed to encode"],
    ),
    Case::new(
        "a required filter that does not exist",
        r"printf 'x filter=lfs\n' > .gitattributes; echo pointer > x; git add -A; git commit -qm a; git branch evil; git config filter.lfs.required true; git config filter.lfs.smudge /nonexistent; git config filter.lfs.clean /nonexistent; touch x",
        &["clean filter 'lfs' failed"],
    )
    .commands("cd /workspace/repo; echo y > x; step git add x; step git commit -qam y; rm x; step git checkout -f -q .; step git stash; step git fsck"),
    Case::new(
        "attributes of 10 MiB in one line",
        r"{ printf '* '; head -c 10485760 /dev/zero | tr '\0' a; echo; } > .gitattributes; git add -A; git commit -qm a; git branch evil",
        &["[exit 0] git status"],
    ),
    Case::new(
        "a hundred thousand attributes",
        r"for i in $(seq 100000); do echo 'f'$i' a'$i'=b'; done > .gitattributes; git add -A; git commit -qm a; git branch evil",
        &["[exit 0] git status"],
    )
    .commands("cd /workspace/repo; step git status --short; step git check-attr -a f99999; step git diff HEAD~1 --stat; step git archive -o /workspace/work/a.tar HEAD"),
    Case::new(
        "macros that expand each other",
        r"printf '[attr]a b\n[attr]b a\n* a\n' > .gitattributes; git add -A; git commit -qm a; git branch evil",
        &["[exit 0] git status"],
    ),
    Case::new(
        "patterns that take exponential time",
        r"git branch evil; mkdir -p $(seq -s/ 30); printf '**/**/**/**/**/**/**/**/a*a*a*a*a*a*a*a*a*a*a*a*a*c\n' | tee .gitignore > .gitattributes",
        &["git check-attr", "[exit 0] git rev-parse"],
    )
    .commands(
        "cd /workspace/repo; name=$(seq -s/ 30)/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab; step timeout -k 1 2 git check-ignore -v $name; step timeout \
         -k 1 2 git check-attr -a $name; step git rev-parse HEAD",
    )
    .exits(&[124, 137]),
];

const HOOKS: &[Case] = &[
    Case::new(
        "hooks that a clone must not run",
        r"git branch evil; for h in post-checkout pre-commit post-merge reference-transaction post-index-change update pre-receive; do printf '#!/bin/sh\necho hook of the repository\ntouch /workspace/escaped\n' > .git/hooks/$h; chmod +x .git/hooks/$h; done",
        &["[exit 0] git clone"],
    )
    .commands(
        "cd /workspace/work; step git clone -q /workspace/repo a; step git clone -q --no-local /workspace/repo b; step git clone -q --bare \
         /workspace/repo c; cd a; step git checkout -q -b x; step git commit -q --allow-empty -m x; step git fetch -q; step git pull -q origin main",
    )
    .never(&["hook of the repository"]),
    Case::new(
        "programs in the configuration that a clone must not run",
        r"git branch evil; for key in core.fsmonitor core.pager core.sshCommand diff.external uploadpack.packObjectsHook core.gitProxy; do git config $key 'touch /workspace/escaped; echo program of the repository >&2; :'; done; git config alias.st '!echo program of the repository'",
        &["[exit 0] git clone"],
    )
    .commands(
        "cd /workspace/work; step git clone -q /workspace/repo a; step git clone -q --no-local /workspace/repo b; cd b; step git status; step \
         git log -p; step git fetch -q; step git diff HEAD; step git st",
    )
    .never(&["program of the repository"])
    .exits(&[]),
    Case::new(
        "a bare repository within a work tree",
        r"git init -q --bare inner; git -C inner config core.fsmonitor 'touch /workspace/escaped'; git -C inner config core.bare true; mkdir -p inner/refs inner/objects; touch inner/refs/x inner/objects/x; git add -A; git commit -qm inner; git branch evil",
        &["[exit 0] git clone"],
    )
    .commands("cd /workspace/work; step git clone -q /workspace/repo a; cd a; step git status; step git -c safe.bareRepository=explicit -C inner status; step git fsck"),
];

#[tokio::test]
async fn hostile_configurations_end_no_program() {
    check(FILES).await;
}

#[tokio::test]
async fn hostile_attributes_end_no_program() {
    check(ATTRIBUTES).await;
}

#[tokio::test]
async fn programs_of_a_repository_do_not_run_in_its_clones() {
    check(HOOKS).await;
}
