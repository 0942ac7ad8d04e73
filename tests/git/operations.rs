//! Random operations on a repository, as scripts that run equally in the sandbox and on the host.

use crate::rng::Chance;

const FILES: [&str; 8] = ["a", "b.txt", "dir/c", "dir/d e", "dir/sub/f", "g.sh", "ümlaut", "-dash"];
const BRANCHES: [&str; 4] = ["main", "one", "two", "three"];
const TAGS: [&str; 4] = ["v1", "v2", "v3", "v4"];

/// Prints everything that must be equal on both sides.
pub(crate) const STATE: &str = r"
state() {
  git symbolic-ref -q HEAD || git rev-parse HEAD
  git for-each-ref --format='%(objectname) %(refname) %(upstream)'
  git ls-files -s
  git status --porcelain=v2 --branch
  git stash list
  git log --all --format='%H %P %s' | sort
}
";

/// Returns a script of random operations. Each prints its exit code and the state afterwards; `first` numbers their content.
pub(crate) fn script(chance: &mut Chance, first: usize, count: usize) -> String {
    let mut script = String::from(STATE);
    for number in first..first + count {
        let operation = operation(chance, number);
        script.push_str(&format!("echo '== {number}'\n{{ {operation}\n}} >/dev/null 2>&1\necho \"exit $?\"\nstate\n"));
    }
    script
}

/// Most operations are edits and commits, so that the others have content to work with.
fn operation(chance: &mut Chance, number: usize) -> String {
    if chance.one_in(3) {
        return edit(chance, number);
    }
    match chance.below(16) {
        0..=4 => format!("git add -A; git commit -m 'commit {number}'"),
        5 => format!("git commit --allow-empty --amend -m 'amended {number}'"),
        6 => format!("git switch -c '{}-{number}'", chance.pick(&BRANCHES)),
        7 => format!("git branch -f '{}' HEAD~1; git switch '{}'", chance.pick(&BRANCHES[1..]), chance.pick(&BRANCHES)),
        8 => finish("git merge --no-edit", chance.pick(&BRANCHES), "merge"),
        9 => finish("git rebase", chance.pick(&BRANCHES), "rebase"),
        10 => finish("git cherry-pick", chance.pick(&BRANCHES), "cherry-pick"),
        11 => finish("git revert --no-edit", "HEAD", "revert"),
        12 => stash(chance),
        13 => undo(chance),
        14 => format!("git tag -f -m 'tag {number}' {}", chance.pick(&TAGS)),
        _ => maintain(chance),
    }
}

fn edit(chance: &mut Chance, number: usize) -> String {
    let file = chance.pick(&FILES);
    let (other, lines) = (chance.pick(&FILES), chance.below(40) + 1);
    match chance.below(9) {
        0..=2 => format!("mkdir -p dir/sub; seq {lines} > './{file}'; echo {number} >> './{file}'"),
        3 => format!("mkdir -p dir/sub; echo 'line {number}' >> './{file}'"),
        4 => format!("sed -i '{}s/^/{number} /' './{file}'", lines % 7 + 1),
        5 => format!("chmod +x './{file}'; git add -- './{file}'"),
        6 => format!("git mv -f -- './{file}' './{other}'"),
        7 => format!("git rm -f -- './{file}'"),
        _ => format!("ln -sfn '{other}' link; printf 'a\\0b{number}' > binary; git add -A"),
    }
}

/// A command that can stop with conflicts, which are then resolved or the command aborted.
fn finish(command: &str, with: &str, name: &str) -> String {
    format!("{command} '{with}' || {{ git add -A; git -c core.editor=true {name} --continue; }} || git {name} --abort")
}

fn stash(chance: &mut Chance) -> String {
    ["git stash push -u", "git stash pop || git reset --hard", "git stash push -k", "git stash drop"][chance.below(4)]
        .to_owned()
}

fn undo(chance: &mut Chance) -> String {
    [
        "git reset --hard HEAD~1",
        "git reset --soft HEAD~1",
        "git reset HEAD~1",
        "git clean -fd",
        "git checkout -- .",
        "git restore --staged .",
    ][chance.below(6)]
    .to_owned()
}

fn maintain(chance: &mut Chance) -> String {
    [
        "git gc",
        "git repack -a -d",
        "git pack-refs --all",
        "git prune --expire=never",
        "git commit-graph write --reachable",
        "git multi-pack-index write",
    ][chance.below(6)]
    .to_owned()
}
