//! Submodules whose URLs, paths and names are options, commands or lead elsewhere.

use super::{Case, check};

/// Clones with all submodules.
const COMMANDS: &str = "cd /workspace/work; step git clone -q --recurse-submodules /workspace/repo a; step git -c protocol.file.allow=always clone \
                        -q --no-local --recurse-submodules /workspace/repo b; cd a; step git submodule init; step git submodule sync; step git \
                        -c protocol.file.allow=always submodule update --init --recursive --force; step git submodule status; step git \
                        submodule foreach true; step git status; step git fsck; cd /workspace/repo; step git fsck";

const CASES: &[Case] = &[
    Case::new(
        "a URL that is an option",
        r#"printf '[submodule "s"]\n\tpath = s\n\turl = --upload-pack=touch /workspace/escaped\n' > .gitmodules
           git add .gitmodules; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),s; git commit -qm s; git branch evil"#,
        &["may be interpreted as a command-line option", "gitmodulesUrl"],
    )
    .commands(COMMANDS),
    Case::new(
        "a path that is an option",
        r#"printf '[submodule "s"]\n\tpath = -s\n\turl = ./.\n' > .gitmodules
           git add .gitmodules; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),-s; git commit -qm s; git branch evil"#,
        &["may be interpreted as a command-line option", "gitmodulesPath"],
    )
    .commands(COMMANDS),
    Case::new(
        "a name that leads up",
        r#"printf '[submodule "../../../escaped"]\n\tpath = s\n\turl = /workspace/repo\n' > .gitmodules
           git add .gitmodules; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),s; git commit -qm s; git branch evil"#,
        &["ignoring suspicious submodule name", "gitmodulesName"],
    )
    .commands(COMMANDS),
    Case::new(
        "a path that leads up",
        r#"printf '[submodule "s"]\n\tpath = ../escaped\n\turl = /workspace/repo\n' > .gitmodules
           git add .gitmodules; point "$({ entry 100644 .gitmodules "$(git rev-parse :.gitmodules)"; entry 160000 ../escaped "$(git rev-parse HEAD)"; } | tree)"; git reset -q --hard; git update-ref refs/heads/main evil"#,
        &["invalid path '../escaped'"],
    )
    .commands(COMMANDS),
    Case::new(
        "a URL that runs a command",
        r#"printf '[submodule "s"]\n\tpath = s\n\turl = ext::sh -c touch%% /workspace/escaped\n' > .gitmodules
           git add .gitmodules; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),s; git commit -qm s; git branch evil"#,
        &["transport 'ext' not allowed"],
    )
    .commands(COMMANDS),
    Case::new(
        "an update that runs a command",
        r#"printf '[submodule "s"]\n\tpath = s\n\turl = /workspace/repo\n\tupdate = !touch /workspace/escaped\n' > .gitmodules
           git add .gitmodules; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),s; git commit -qm s; git branch evil"#,
        &["invalid value for 'submodule.s.update'"],
    )
    .commands(COMMANDS),
    Case::new(
        "a URL with line feeds and control characters",
        r#"printf '[submodule "s"]\n\tpath = s\n\turl = "https://a.test/\\n?host=b"\n' > .gitmodules
           git add .gitmodules; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),s; git commit -qm s; git branch evil"#,
        &["gitmodulesUrl"],
    )
    .commands(COMMANDS),
    Case::new(
        "a repository that is its own submodule",
        r#"printf '[submodule "s"]\n\tpath = s\n\turl = /workspace/repo\n' > .gitmodules
           git add .gitmodules; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),s; git commit -qm s; git branch evil"#,
        &["transport 'file' not allowed"],
    )
    .commands(COMMANDS),
    Case::new(
        "a link where the submodule belongs",
        r#"printf '[submodule "s"]\n\tpath = s\n\turl = /workspace/repo\n' > .gitmodules; ln -s .git s
           git add .gitmodules s; git commit -qm s; git branch evil"#,
        &["[exit 0] git clone"],
    )
    .commands(COMMANDS),
];

#[tokio::test]
async fn submodules_run_no_commands_and_stay_in_their_tree() {
    check(CASES).await;
}
