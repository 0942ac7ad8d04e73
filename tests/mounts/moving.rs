//! Moves between file systems, and the methods by which programs replace files: write a temporary file and rename it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;
use tidebox::{ExecuteRequest, MountExt, MountMode, Sandbox, SandboxBackend};
use vfs::{FileSystem, MemoryFS};

/// Returns both output streams of a command that starts in the directory `work`.
async fn run(sandbox: &Sandbox, work: &str, command: &str) -> String {
    let request = ExecuteRequest::new(format!("cd {work}\nexec 2>&1\n{command}"));
    sandbox.execute(request).await.expect("the command runs").output_text().into_owned()
}

async fn expect(sandbox: &Sandbox, work: &str, cases: &[(&str, &str)]) {
    for (command, output) in cases {
        assert_eq!(run(sandbox, work, command).await, *output, "{work}: {command}");
    }
}

/// Creates a host directory and an in-memory file system, both writable, and a read-only directory.
fn three_mounts() -> (TempDir, Sandbox) {
    let top = tempfile::tempdir().expect("a directory");
    for dir in ["host", "fixed"] {
        fs::create_dir(top.path().join(dir)).expect("free");
    }
    fs::write(top.path().join("fixed/f"), "fixed\n").expect("free");
    let builder = tidebox::sandbox().expect("the engine starts");
    let builder = builder.mount_host(top.path().join("host"), "/workspace/host", MountMode::ReadWrite);
    let builder = builder
        .and_then(|builder| builder.mount_host(top.path().join("fixed"), "/workspace/fixed", MountMode::ReadOnly));
    let builder =
        builder.expect("folders").mount_vfs(Arc::new(MemoryFS::new()), "/workspace/memory", MountMode::ReadWrite);
    (top, builder.build().expect("it can be built"))
}

#[tokio::test]
async fn files_move_into_a_mount_and_out_of_it() {
    let (top, sandbox) = three_mounts();
    expect(
        &sandbox,
        "/workspace",
        &[
            (
                "echo one > f; chmod 640 f; touch -d 2020-01-01 f; mv -v f host/f; stat -c '%a %Y %s' host/f; ls",
                "copied 'f' -> 'host/f'\nremoved 'f'\n640 1577836800 4\nfixed\nhost\nmemory\n",
            ),
            ("echo two > g; mv g host/f; cat host/f; ls", "two\nfixed\nhost\nmemory\n"),
            ("mv host/f memory/f && mv memory/f g && cat g; ls host memory", "two\nhost:\n\nmemory:\n"),
            ("echo old > host/g; mv -n g host/g; cat host/g g", "old\ntwo\n"),
            ("mv -b g host/g; cat host/g host/g~; rm host/g~", "two\nold\n"),
            ("echo older > u; touch -d 2019-01-01 u; mv -u u host/g; cat host/g; rm u", "two\n"),
            ("echo r > r; chmod 400 r; mv r host/r; stat -c %a host/r; rm -f host/r", "400\n"),
            (
                "mv fixed/f host/f; echo $?; cat host/f fixed/f",
                "mv: cannot remove 'fixed/f': Read-only file system\n1\nfixed\nfixed\n",
            ),
            (
                "echo x > x; mv x fixed/x; echo $?; cat x",
                "mv: cannot create regular file 'fixed/x': Read-only file system\n1\nx\n",
            ),
            ("mv x host/nowhere/x; echo $?", "mv: cannot move 'x' to 'host/nowhere/x': No such file or directory\n1\n"),
            ("ln x host/x; echo $?", "ln: failed to create hard link 'host/x' => 'x': Invalid cross-device link\n1\n"),
            ("mv host fixed; echo $?", "mv: cannot move 'host' to 'fixed/host': Device or resource busy\n1\n"),
        ],
    )
    .await;
    assert_eq!(fs::read_to_string(top.path().join("host/g")).expect("it was moved"), "two\n");
}

#[tokio::test]
async fn directories_move_completely_or_not_at_all() {
    let (_top, sandbox) = three_mounts();
    expect(&sandbox, "/workspace", &[
        ("mkdir -p d/sub; echo x > d/sub/x; ln -s sub/x d/l; ln d/sub/x d/hard; chmod 750 d/sub; touch -d 2020-01-01 d/sub d", ""),
        ("mv d host/ && ls -R host && readlink host/d/l && stat -c '%a %Y' host/d host/d/sub && test ! -e d && echo gone",
            "host:\nd\n\nhost/d:\nhard\nl\nsub\n\nhost/d/sub:\nx\nsub/x\n755 1577836800\n750 1577836800\ngone\n"),
        ("echo y >> host/d/hard; cat host/d/sub/x", "x\ny\n"),
        ("mkdir e host/e; echo k > host/e/k; mv e host; echo $?; ls e host/e",
            "mv: inter-device move failed: 'e' to 'host/e'; unable to remove target: Directory not empty\n1\ne:\n\nhost/e:\nk\n"),
        ("rm host/e/k; mv -v e host; echo $?", "created directory 'host/e'\nremoved directory 'e'\n0\n"),
        ("mv host/d d && ls d && cat d/l && rm d/l d/hard", "hard\nl\nsub\nx\ny\n"),
        ("chmod 755 d/sub; mv d memory/d; echo $?; cat memory/d/sub/x; ls", "0\nx\ny\nfixed\nhost\nmemory\n"),
        ("mv memory/d host/d && cat host/d/sub/x; ls memory", "x\ny\n"),
        // A file that a file system cannot represent stays at its source.
        ("ln -s sub/x host/d/l; mv host/d memory/d; echo $?; readlink host/d/l; cat host/d/sub/x",
            "mv: cannot create symbolic link 'memory/d/l': Operation not supported\n1\nsub/x\nx\ny\n"),
        ("mkdir -p out/a; ln -s ../../../x out/a/l; mv out host/out; echo $?; readlink out/a/l",
            "mv: cannot create symbolic link 'host/out/a/l': Operation not permitted\n1\n../../../x\n"),
    ])
    .await;
}

/// `MemoryFS` has no rename, and no file system of that crate renames over a file; the mount implements it for all programs.
#[tokio::test]
async fn files_are_replaced_without_an_overwriting_rename() {
    let (_top, sandbox) = three_mounts();
    expect(
        &sandbox,
        "/workspace/memory",
        &[
            ("echo old > f; echo new > t; mv t f; cat f; ls", "new\nf\n"),
            ("mkdir d; mv f d/g; mv d e; mv e/g f; rmdir e; cat f; ls", "new\nf\n"),
            ("sed -i 's/new/newer/' f; cat f; ls", "newer\nf\n"),
            ("sed -i.bak 's/newer/newest/' f; cat f f.bak; ls; rm f.bak", "newest\nnewer\nf\nf.bak\n"),
            ("sort -o f f; cp f g; mv -f g f; cat f; ls", "newest\nf\n"),
            ("printf -- '--- f\\n+++ f\\n@@ -1 +1 @@\\n-newest\\n+patched\\n' | patch -s f; cat f; ls", "patched\nf\n"),
            ("gzip f && gunzip f.gz && cat f; ls", "patched\nf\n"),
            ("tar cf t.tar f && rm f && tar xf t.tar && cat f; rm t.tar; ls", "patched\nf\n"),
        ],
    )
    .await;
}

/// File operations of editors, build tools and git, with their output on any file system that has modes and links.
const REPLACING: &[(&str, &str)] = &[
    ("echo new > .README.tmp && mv -f .README.tmp README.md && cat README.md && ls -A", "new\nREADME.md\nsrc\n"),
    (
        "sed -i 's/old/new/' src/main.rs src/deep/lib.rs && cat src/main.rs src/deep/lib.rs; ls -A src",
        "new main\nnew lib\ndeep\nmain.rs\n",
    ),
    (
        "sed -i.bak 's/new/newer/' src/main.rs && cat src/main.rs src/main.rs.bak && rm src/*.bak",
        "newer main\nnew main\n",
    ),
    ("for i in 1 2 3; do cp README.md t && echo $i >> t && mv t README.md; done; cat README.md", "new\n1\n2\n3\n"),
    (
        "mkdir -p .git/objects/ab .git/refs/heads; echo 'ref: refs/heads/main' > .git/HEAD.lock; mv .git/HEAD.lock .git/HEAD; cat .git/HEAD",
        "ref: refs/heads/main\n",
    ),
    (
        "cd .git/objects; printf blob > tmp_obj; chmod 444 tmp_obj; ln tmp_obj ab/cd && rm -f tmp_obj; stat -c '%a %s' ab/cd; cat ab/cd; ls",
        "444 4\nblobab\n",
    ),
    (
        "(set -C; echo a > .git/index.lock; echo b > .git/index.lock) ; mv .git/index.lock .git/index; cat .git/index",
        "bash: line 3: .git/index.lock: cannot overwrite existing file\na\n",
    ),
    (
        "cp -r src copy && diff -r src copy && rm -r src && mv copy src && find src | sort",
        "src\nsrc/deep\nsrc/deep/lib.rs\nsrc/main.rs\n",
    ),
    ("rm -r src && mkdir src && ls -A src && echo empty", "empty\n"),
    (
        "mkdir a b && echo 1 > a/f && mv -T a b && ls -A b && ls -d a",
        "f\nls: cannot access 'a': No such file or directory\n",
    ),
    ("mv b/f b/g && mv b c && echo 2 > c/g && cat c/g && rm -rf c && ls -A", "2\n.git\nREADME.md\nsrc\n"),
    ("mv README.md R && mv R README.md && tail -1 README.md", "3\n"),
    (
        "cp -p README.md kept && test kept -nt .git -o README.md -ot .git -o kept -ef kept && cmp kept README.md && mv kept .git/kept && rm .git/kept && echo ok",
        "ok\n",
    ),
    ("mv README.md src/ && mv src lib && ls lib && mv lib/README.md . && rmdir lib && ls", "README.md\nREADME.md\n"),
];

/// Initial files of those commands.
fn project(dir: &Path) {
    fs::create_dir_all(dir.join("src/deep")).expect("free");
    for (path, text) in [("README.md", "old\n"), ("src/main.rs", "old main\n"), ("src/deep/lib.rs", "old lib\n")] {
        fs::write(dir.join(path), text).expect("free");
    }
}

#[tokio::test]
async fn files_are_replaced_equally_in_sandbox_copy_and_host() {
    let make = "mkdir -p own/src/deep; cd own; echo old > README.md; echo old main > src/main.rs; echo old lib > src/deep/lib.rs";
    let sandbox = tidebox::sandbox().and_then(|builder| builder.build()).expect("the sandbox is built");
    assert_eq!(run(&sandbox, "/workspace", make).await, "");
    expect(&sandbox, "/workspace/own", REPLACING).await;

    for mode in [MountMode::ReadWrite, MountMode::CopyOnWrite] {
        let top = tempfile::tempdir().expect("a directory");
        project(top.path());
        let builder = tidebox::sandbox().expect("the engine starts");
        let builder = builder.mount_host(top.path(), "/workspace/host", mode).expect("a directory");
        let sandbox = builder.build().expect("it can be built");
        expect(&sandbox, "/workspace/host", REPLACING).await;
        let left = fs::read_to_string(top.path().join("README.md")).expect("it exists in both cases");
        assert_eq!(left, if mode == MountMode::ReadWrite { "new\n1\n2\n3\n" } else { "old\n" });
        assert_eq!(top.path().join("src/main.rs").exists(), mode == MountMode::CopyOnWrite);
    }

    let memory: Arc<dyn FileSystem> = Arc::new(MemoryFS::new());
    let builder = tidebox::sandbox().expect("the engine starts");
    let through =
        builder.mount_vfs(Arc::clone(&memory), "/workspace/own", MountMode::ReadWrite).build().expect("it is built");
    assert_eq!(run(&through, "/workspace", make).await, "");
    let builder = tidebox::sandbox().expect("the engine starts");
    let copy = builder.mount_vfs(memory, "/workspace/memory", MountMode::CopyOnWrite).build().expect("it is built");
    expect(&copy, "/workspace/memory", REPLACING).await;
    assert_eq!(run(&through, "/workspace/own", "cat README.md src/main.rs").await, "old\nold main\n");
}
