//! Commands that are killed, or that run out of disk space, at moments over their whole run.
//!
//! The sandboxes are deterministic: a loop of the shell counts time slices, so that each kill arrives at the same system call
//! in every run.

use tidebox::{Limits, Sandbox};

use crate::setup::{configure, download, is_ready, native, run, succeed};

/// Kills of one command, spread over its run.
const MOMENTS: usize = 4;

/// The commands, run in `/workspace/repo`. Files are changed, new and staged before.
const COMMANDS: &[&str] = &[
    "add -A",
    "commit -q -a -m killed",
    "stash push -q -u",
    "checkout -q -f side",
    "merge -q -m merged other",
    "rebase -q other",
    "cherry-pick other~3..other",
    "reset -q --hard HEAD~5",
    "gc -q --prune=now",
    "repack -q -a -d -f",
    "pack-refs --all --prune",
    "fetch -q origin",
    "clone -q --no-local . ../copy",
    "worktree add -q ../tree side",
];

/// Creates the repository with 120 files, 40 commits, three branches, and `origin` with 20 more commits.
const CREATE: &str = r#"
set -e
git init -q repo
cd repo
for i in $(seq 120); do mkdir -p d$((i % 8)); seq $i $((i + 40)) > d$((i % 8))/f$i; done
git add -A
git commit -qm base
for i in $(seq 20); do seq $i 60 > d1/m$i; git add -A; git commit -qm "main $i"; done
git switch -qc side HEAD~10
for i in $(seq 10); do seq $i 70 > d2/s$i; git add -A; git commit -qm "side $i"; done
git switch -qc other main~5
for i in $(seq 10); do seq $i 80 > d3/o$i; git add -A; git commit -qm "other $i"; done
git switch -q main
git clone -q . ../origin
cd ../origin
for i in $(seq 20); do seq $i 90 > d4/n$i; git add -A; git commit -qm "new $i"; done
cd ../repo
git remote add origin ../origin
"#;

/// Changes that `add`, `commit` and `stash` store.
const CHANGE: &str =
    "cd /workspace/repo; for i in $(seq 60); do seq 9 > d0/new$i; done; seq 5 > d1/m1; rm d1/m2; git add d0/new1";

/// Starts a command. `$N` slices later, or when it ended, the loop stops; `/tmp/i` has the number of its rounds.
const START: &str = r#"
cd /workspace/repo
rm -f /tmp/done
(git $COMMAND > /tmp/out 2>&1; echo $? > /tmp/done) &
i=0
while [ ! -e /tmp/done ] && [ $i -lt $N ]; do i=$((i + 1)); : > /tmp/tick; done
"#;

fn repository(limits: Limits) -> Sandbox {
    configure(|builder| builder.deterministic(1, 1_700_000_100_000_000_000).limits(limits))
}

/// Commands that need a clean work tree.
fn needs_clean_tree(command: &str) -> bool {
    ["merge", "rebase", "cherry-pick"].iter().any(|name| command.starts_with(name))
}

async fn prepared() -> Sandbox {
    let sandbox = repository(Limits::default());
    succeed(&sandbox, CREATE).await;
    sandbox
}

/// Returns the number of rounds of the loop that the command takes.
async fn duration(sandbox: &Sandbox, command: &str) -> usize {
    let fork = sandbox.fork().expect("a fork is created");
    let script = format!("COMMAND='{command}' N=1000000\n{START}\nwait; cat /tmp/done /tmp/out; echo $i");
    let output = succeed(&fork, &script).await;
    assert!(output.starts_with("0\n"), "git {command} fails on its own: {output}");
    output.lines().last().and_then(|line| line.parse().ok()).expect("the loop prints its rounds")
}

/// Sends a signal to all processes of the command after some rounds. Returns the exit code of the command.
async fn stop(sandbox: &Sandbox, command: &str, rounds: usize, signal: &str) -> String {
    let script = format!("COMMAND='{command}' N={rounds}\n{START}\npkill -{signal} git; wait; cat /tmp/done");
    run(sandbox, &script).await.stdout_text().trim().to_owned()
}

/// Checks a repository with both Gits. Only unreachable objects may be reported.
async fn check(sandbox: &Sandbox, context: &str) {
    let fsck = run(sandbox, "git -C repo fsck --full --strict").await;
    assert_eq!(fsck.exit_code, Some(0), "{context}: {}", fsck.output_text());
    let dir = tempfile::tempdir().expect("a directory is created");
    download(sandbox, "/workspace/repo", dir.path()).await;
    let output = native(
        dir.path(),
        "git fsck --full --strict >/dev/null && git log --oneline --all | wc -l && git count-objects -v",
    );
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{context}: the Git of the host: {message}");
    let counted = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        counted.lines().next().is_some_and(|line| line.trim().parse::<u32>().is_ok_and(|count| count >= 36)),
        "{context}: {counted}"
    );
}

/// Continues after a kill as Git's messages advise: removes locks and ends what was started.
async fn recover(sandbox: &Sandbox, context: &str) {
    let script = "cd repo; find .git -name '*.lock' -delete; git rebase --abort >/dev/null 2>&1; git cherry-pick --abort >/dev/null 2>&1; git \
                  merge --abort >/dev/null 2>&1; rm -rf .git/rebase-merge; set -e; git reset -q --hard; git checkout -q -f main; git add -A; git commit -q \
                  --allow-empty -m after; git status --porcelain";
    let response = run(sandbox, script).await;
    assert_eq!(response.exit_code, Some(0), "{context}: {}", response.output_text());
}

#[tokio::test]
async fn killed_commands_leave_a_repository_that_fsck_accepts() {
    if !is_ready() {
        return;
    }
    let clean = prepared().await;
    let changed = clean.fork().expect("a fork is created");
    succeed(&changed, CHANGE).await;
    for command in COMMANDS {
        let sandbox = if needs_clean_tree(command) { &clean } else { &changed };
        let all = duration(sandbox, command).await;
        let mut killed = false;
        for moment in 0..MOMENTS {
            killed |= kill(sandbox, command, all * moment / MOMENTS).await;
        }
        // A pause of the host has made the measured duration too long.
        let mut rounds = all / MOMENTS;
        while !killed && rounds > 1 {
            rounds /= 2;
            killed = kill(sandbox, command, rounds).await;
        }
        assert!(killed, "git {command} was never killed in {all} rounds");
    }
}

/// Kills a command in a fork after some rounds, unless it has ended, and checks the repository. Returns true if it was killed.
async fn kill(sandbox: &Sandbox, command: &str, rounds: usize) -> bool {
    let fork = sandbox.fork().expect("a fork is created");
    let context = format!("git {command}, killed after {rounds} rounds");
    let code = stop(&fork, command, rounds, "KILL").await;
    assert!(code == "137" || code == "0", "{context}: {code}");
    check(&fork, &context).await;
    recover(&fork, &context).await;
    code == "137"
}

/// Git removes its locks in its handlers of SIGTERM and SIGINT.
#[tokio::test]
async fn terminated_commands_leave_no_lock() {
    if !is_ready() {
        return;
    }
    let clean = prepared().await;
    let changed = clean.fork().expect("a fork is created");
    succeed(&changed, CHANGE).await;
    let mut terminated = 0;
    for command in COMMANDS {
        let sandbox = if needs_clean_tree(command) { &clean } else { &changed };
        let rounds = duration(sandbox, command).await;
        for (moment, signal) in [(1, "TERM"), (2, "INT"), (3, "TERM")] {
            let fork = sandbox.fork().expect("a fork is created");
            let code = stop(&fork, command, rounds * moment / MOMENTS, signal).await;
            let context = format!("git {command}, {signal} at {moment} of {MOMENTS}: {code}");
            terminated += usize::from(code != "0");
            let locks = succeed(&fork, "find /workspace -name '*.lock' -o -name 'tmp_pack_*'").await;
            assert_eq!(locks, "", "{context}");
            let fsck = run(&fork, "git -C repo fsck --full --strict").await;
            assert_eq!(fsck.exit_code, Some(0), "{context}: {}", fsck.output_text());
        }
    }
    assert!(terminated > COMMANDS.len(), "only {terminated} commands were stopped");
}

#[tokio::test]
async fn commands_on_a_full_disk_leave_no_lock() {
    if !is_ready() {
        return;
    }
    const BYTES: u64 = 8 << 20;
    let mut limits = Limits::default();
    limits.file_bytes = BYTES;
    let sandbox = repository(limits);
    succeed(&sandbox, CREATE).await;
    succeed(&sandbox, &format!("{CHANGE}; head -c 100000 /dev/urandom > d0/large")).await;
    let mut failed = 0;
    for command in COMMANDS {
        for left in [0, 4096, 40_960] {
            let fork = sandbox.fork().expect("a fork is created");
            if needs_clean_tree(command) {
                succeed(&fork, "cd repo; git reset -q --hard; git clean -q -f -d").await;
            }
            // The filler takes what is free, except `left` bytes.
            succeed(
                &fork,
                &format!("head -c {BYTES} /dev/zero > /tmp/filler 2>/dev/null; truncate -s -{left} /tmp/filler"),
            )
            .await;
            let response = run(&fork, &format!("cd repo; git {command}")).await;
            let context = format!("git {command} with {left} bytes: {}", response.output_text());
            assert!(response.exit_code.is_some_and(|code| code < 130), "{context}");
            failed += usize::from(response.exit_code != Some(0));
            let locks = run(&fork, "find /workspace -name '*.lock'").await.stdout_text().into_owned();
            assert_eq!(locks, "", "{context}");
            succeed(&fork, "rm /tmp/filler; git -C repo fsck --full --strict").await;
        }
    }
    assert!(failed > COMMANDS.len(), "only {failed} commands failed");
}
