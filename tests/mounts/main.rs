//! Host directories mounted in a sandbox with the real shell and tools.

#![cfg(unix)]

mod moving;

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use tidebox::{ExecuteRequest, GrepRequest, MountExt, MountMode, Sandbox, SandboxBackend, SandboxPath, WriteRequest};

/// A small repository, and a secret next to it.
fn repository() -> TempDir {
    let top = tempfile::tempdir().expect("a directory");
    let repo = top.path().join("repo");
    fs::create_dir_all(repo.join("src/deep")).expect("free");
    fs::create_dir_all(repo.join("target/debug")).expect("free");
    for (path, text) in [
        ("../secret", "secret\n"),
        ("README.md", "# Title\n\nTODO: write\n"),
        ("src/main.rs", "fn main() {\n    println!(\"old\"); // TODO\n}\n"),
        ("src/deep/lib.rs", "pub fn old() {}\n"),
        ("target/debug/a.o", "object\n"),
        ("target/debug/b.o", "object\n"),
    ] {
        fs::write(repo.join(path), text).expect("free");
    }
    std::os::unix::fs::symlink("src/main.rs", repo.join("entry")).expect("free");
    top
}

fn sandbox(top: &TempDir, mode: MountMode) -> Sandbox {
    let builder = tidebox::sandbox().expect("the engine starts");
    let builder = builder.mount_host(top.path().join("repo"), "/workspace/repo", mode).expect("a directory");
    builder.build().expect("it can be built")
}

async fn run(sandbox: &Sandbox, command: &str) -> String {
    let response = sandbox.execute(ExecuteRequest::new(format!("cd repo; {command}"))).await.expect("the command runs");
    response.output_text().into_owned()
}

/// Returns every file below a directory with its content, sorted.
fn tree(directory: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(dir) = pending.pop() {
        for entry in fs::read_dir(&dir).expect("a directory") {
            let path = entry.expect("it can be listed").path();
            let name = path.strip_prefix(directory).expect("below").display().to_string();
            if path.is_symlink() {
                found.push((name, format!("-> {}", fs::read_link(&path).expect("a link").display())));
            } else if path.is_dir() {
                found.push((name, "directory".to_owned()));
                pending.push(path);
            } else {
                found.push((name, fs::read_to_string(&path).expect("text")));
            }
        }
    }
    found.sort();
    found
}

/// Commands of an agent on a repository, with their expected output.
const SESSION: [(&str, &str); 13] = [
    ("grep -rn TODO . | sort", "./README.md:3:TODO: write\n./src/main.rs:2:    println!(\"old\"); // TODO\n"),
    ("sed -i 's/old/new/; s| // TODO||' src/main.rs && cat entry", "fn main() {\n    println!(\"new\");\n}\n"),
    ("mv src/deep src/shallow && ls src src/shallow", "src:\nmain.rs\nshallow\n\nsrc/shallow:\nlib.rs\n"),
    ("find target -name '*.o' -delete && find target", "target\ntarget/debug\n"),
    ("rm -r target && ls", "README.md\nentry\nsrc\n"),
    ("mkdir target && ls -A target", ""),
    ("cp -r src copy && diff -r src copy && ls copy", "main.rs\nshallow\n"),
    ("echo appended >> README.md && tail -1 README.md && wc -l < README.md", "appended\n4\n"),
    ("printf 'line %s\\n' 1 2 3 > out.txt && sort -r out.txt | head -1", "line 3\n"),
    ("chmod 600 out.txt && stat -c '%a %U %s' out.txt", "600 tidebox 21\n"),
    ("ln -s ../README.md src/link && cat src/link | head -1", "# Title\n"),
    ("cp out.txt /tmp/o && rm out.txt && wc -l < /tmp/o && cp /tmp/o back.txt && ls back.txt", "3\nback.txt\n"),
    ("cd src/shallow && pwd && cd ../../.. && pwd", "/workspace/repo/src/shallow\n/workspace\n"),
];

#[tokio::test]
async fn a_session_on_a_copy_does_not_change_the_host() {
    let top = repository();
    let before = tree(top.path());
    let copy = sandbox(&top, MountMode::CopyOnWrite);
    for (command, expected) in SESSION {
        assert_eq!(run(&copy, command).await, expected, "{command}");
        assert_eq!(tree(top.path()), before, "{command}");
    }
    let fork = copy.fork().expect("it is open");
    assert_eq!(run(&fork, "cat README.md | tail -1; rm README.md; ls README.md 2>/dev/null").await, "appended\n");
    assert_eq!(run(&copy, "tail -1 README.md").await, "appended\n");
}

#[tokio::test]
async fn a_session_on_a_writable_mount_changes_the_host() {
    let top = repository();
    let through = sandbox(&top, MountMode::ReadWrite);
    for (command, expected) in SESSION {
        assert_eq!(run(&through, command).await, expected, "{command}");
    }
    let names: Vec<String> = tree(&top.path().join("repo")).into_iter().map(|(name, _)| name).collect();
    let expected = [
        "README.md",
        "back.txt",
        "copy",
        "copy/main.rs",
        "copy/shallow",
        "copy/shallow/lib.rs",
        "entry",
        "src",
        "src/link",
        "src/main.rs",
        "src/shallow",
        "src/shallow/lib.rs",
        "target",
    ];
    assert_eq!(names, expected);
    assert!(fs::read_to_string(top.path().join("repo/src/main.rs")).expect("it exists").contains("new"));
}

#[tokio::test]
async fn no_path_escapes_a_mount() {
    let top = repository();
    let repo = top.path().join("repo");
    std::os::unix::fs::symlink("../secret", repo.join("out")).expect("free");
    std::os::unix::fs::symlink(top.path(), repo.join("up")).expect("free");
    let through = sandbox(&top, MountMode::ReadWrite);
    for command in ["cat out", "cat up/secret", "cat ../../secret", "ls up/", "echo x > out/y", "cp out stolen"] {
        let response = run(&through, &format!("{command} 2>&1; echo ended $?")).await;
        assert!(!response.contains("secret\n") && !response.ends_with("ended 0\n"), "{command}: {response}");
    }
    for command in ["ln -s ../secret l", "ln -s /etc/passwd l", "ln -s ../../../../etc/passwd src/l"] {
        let response = run(&through, command).await;
        assert!(response.contains("denied") || response.contains("not permitted"), "{command}: {response}");
    }
    run(&through, "echo changed > out").await;
    assert_eq!(fs::read_to_string(top.path().join("secret")).expect("it exists"), "secret\n");
}

#[tokio::test]
async fn file_tools_work_on_mounts_as_on_other_files() {
    let top = repository();
    let sandbox = sandbox(&top, MountMode::CopyOnWrite);
    let path = |path: &str| SandboxPath::parse(path).expect("a path");
    let listed = sandbox.ls(&path("/workspace/repo")).await.expect("open").expect("a directory");
    assert_eq!(listed.entries.len(), 4);
    let request = GrepRequest::new("TODO", path("/workspace/repo"));
    assert_eq!(sandbox.grep(request).await.expect("open").expect("searched").matches.len(), 2);
    let write = WriteRequest::new(path("/workspace/repo/src/new.rs"), "// new\n");
    sandbox.write(write).await.expect("open").expect("free");
    let downloads = sandbox.download_files(vec![b"/workspace/repo/src/new.rs".to_vec()]).await.expect("open");
    assert_eq!(downloads[0].result.as_deref(), Ok(b"// new\n".as_slice()));
    sandbox.delete(&path("/workspace/repo/target")).await.expect("open").expect("it exists");
    assert_eq!(
        run(&sandbox, "ls; cat src/new.rs; mount=$(grep repo /proc/mounts); echo $mount").await,
        "README.md\nentry\nsrc\n// new\nmount /workspace/repo overlay rw 0 0\n"
    );
    assert!(top.path().join("repo/target/debug/a.o").exists());
}

#[tokio::test]
async fn a_program_in_a_mount_can_be_run() {
    use std::os::unix::fs::PermissionsExt;
    let top = repository();
    let script = top.path().join("repo/hello");
    fs::write(&script, "#!/bin/sh\necho hello from \"$0\" $(basename $PWD)\n").expect("free");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("ours");
    let module = wat::parse_str(r#"(module (memory (export "memory") 1) (func (export "_start")))"#).expect("a module");
    fs::write(top.path().join("repo/tool.wasm"), module).expect("free");
    let sandbox = sandbox(&top, MountMode::ReadOnly);
    assert_eq!(run(&sandbox, "./hello").await, "hello from ./hello repo\n");
    assert_eq!(run(&sandbox, "cp tool.wasm /tmp/t && chmod +x /tmp/t && /tmp/t && echo ran").await, "ran\n");
    fs::set_permissions(top.path().join("repo/tool.wasm"), fs::Permissions::from_mode(0o755)).expect("ours");
    assert_eq!(run(&sandbox, "./tool.wasm && echo ran").await, "ran\n");
}
