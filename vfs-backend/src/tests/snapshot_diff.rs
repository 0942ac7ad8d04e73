//! Differences between two snapshots, as values and as a patch that other programs apply.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

use futures_executor::block_on;
use tidebox_core::SandboxBackend;

use super::{chmod, js, path, symlink, write};
use crate::{ContentChange, Snapshot, SnapshotDiff, VfsBackend};

fn format_diff(diff: &SnapshotDiff) -> Vec<String> {
    let line = |change: &crate::Change| {
        let sign = match (&change.before, &change.after) {
            (None, _) => '+',
            (_, None) => '-',
            _ => '~',
        };
        format!("{sign}{}", String::from_utf8_lossy(&change.path))
    };
    diff.changes.iter().map(line).collect()
}

fn remove(sandbox: &VfsBackend, name: &str) {
    block_on(sandbox.delete(&path(name))).unwrap().unwrap();
}

#[test]
fn two_snapshots_of_the_same_moment_do_not_differ() {
    let sandbox = js();
    write(&sandbox, "/workspace/a", "x").unwrap();
    let snapshot = sandbox.snapshot().unwrap();
    assert!(Snapshot::diff(&snapshot, &sandbox.snapshot().unwrap()).is_empty());
    assert!(Snapshot::diff(&snapshot, &sandbox.fork().unwrap().snapshot().unwrap()).is_empty());
}

#[test]
fn text_changes_have_hunks_binary_and_long_ones_a_marker() {
    let sandbox = js();
    let before = sandbox.snapshot().unwrap();
    write(&sandbox, "/workspace/text", "one\ntwo\n").unwrap();
    write(&sandbox, "/workspace/empty", "").unwrap();
    write(&sandbox, "/workspace/binary", b"\0\x01".as_slice()).unwrap();
    write(&sandbox, "/workspace/long", vec![b'x'; (1 << 20) + 1]).unwrap();
    let diff = Snapshot::diff(&before, &sandbox.snapshot().unwrap());
    let found: Vec<_> = diff.changes.iter().map(|change| (&change.path[11..], &change.content)).collect();
    let text = ContentChange::Text(b"@@ -0,0 +1,2 @@\n+one\n+two\n".to_vec());
    let empty = ContentChange::Text(Vec::new());
    let expected: [(&[u8], _); 4] = [
        (b"binary", &ContentChange::Binary),
        (b"empty", &empty),
        (b"long", &ContentChange::TooLarge),
        (b"text", &text),
    ];
    assert_eq!(found, expected);
}

#[test]
fn modes_kinds_and_removals_are_changes() {
    let sandbox = js();
    for name in ["gone", "mode", "kind"] {
        write(&sandbox, &format!("/workspace/{name}"), "x\n").unwrap();
    }
    let before = sandbox.snapshot().unwrap();
    remove(&sandbox, "/workspace/gone");
    remove(&sandbox, "/workspace/kind");
    symlink(&sandbox, "elsewhere", "/workspace/kind");
    chmod(&sandbox, "/workspace/mode", 0o755);
    let diff = Snapshot::diff(&before, &sandbox.snapshot().unwrap());
    assert_eq!(format_diff(&diff), ["-/workspace/gone", "-/workspace/kind", "+/workspace/kind", "~/workspace/mode"]);
    let mode = &diff.changes[3];
    assert_eq!((mode.before.unwrap().mode, mode.after.unwrap().mode), (0o644, 0o755));
    assert_eq!(mode.content, ContentChange::None);
}

/// Writes the files below `/workspace` to a host directory.
fn write_files(sandbox: &VfsBackend, to: &Path) {
    let kernel = sandbox.kernel("test").unwrap();
    let kernel = kernel.lock();
    let dir = crate::file::locate(kernel.fs(), b"/workspace", true).unwrap();
    let to = to.join("workspace");
    fs::create_dir_all(&to).unwrap();
    for (name, ino, _) in kernel.fs().read_dir(dir, None) {
        let name = to.join(std::str::from_utf8(&name).unwrap());
        match kernel.fs().readlink(ino) {
            Ok(target) => std::os::unix::fs::symlink(std::str::from_utf8(&target).unwrap(), name).unwrap(),
            Err(_) => fs::write(name, kernel.fs().read_all(ino, u64::MAX).unwrap()).unwrap(),
        }
    }
}

#[test]
fn git_and_patch_apply_a_diff() {
    let sandbox = js();
    let numbers: String = (1..=100).map(|line| format!("line {line}\n")).collect();
    write(&sandbox, "/workspace/changed", numbers.clone()).unwrap();
    write(&sandbox, "/workspace/no end", "a\nb").unwrap();
    write(&sandbox, "/workspace/gone", "x\ny\n").unwrap();
    let before = sandbox.snapshot().unwrap();
    for (program, arguments) in [("git", ["apply", "-p1"]), ("patch", ["-s", "-p1"])] {
        if Command::new(program).arg("--version").output().is_err() {
            eprintln!("not compared with {program}: it is not installed");
            continue;
        }
        sandbox.restore(&before).unwrap();
        let root = tempfile::tempdir().unwrap();
        write_files(&sandbox, root.path());
        for (name, text) in
            [("changed", numbers.replace('7', "seven")), ("no end", "a\nb\nc".into()), ("new \"é", "1\n".into())]
        {
            remove_quietly(&sandbox, name);
            write(&sandbox, &format!("/workspace/{name}"), text).unwrap();
        }
        remove(&sandbox, "/workspace/gone");
        let patch = Snapshot::diff(&before, &sandbox.snapshot().unwrap()).to_patch();
        let file = root.path().join("the.patch");
        fs::write(&file, &patch).unwrap();
        let mut command = Command::new(program);
        command.args(arguments).stdin(fs::File::open(&file).unwrap()).current_dir(&root);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{program}: {output:?}\n{}", String::from_utf8_lossy(&patch));
        let expected = tempfile::tempdir().unwrap();
        write_files(&sandbox, expected.path());
        assert_eq!(listing(&root.path().join("workspace")), listing(&expected.path().join("workspace")), "{program}");
    }
}

fn remove_quietly(sandbox: &VfsBackend, name: &str) {
    let _ = block_on(sandbox.delete(&path(&format!("/workspace/{name}")))).unwrap();
}

fn listing(root: &Path) -> Vec<(String, Vec<u8>)> {
    let entry = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.unwrap().path();
        (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap())
    };
    let mut found: Vec<_> = fs::read_dir(root).unwrap().map(entry).collect();
    found.sort();
    found
}

#[test]
fn changed_files_are_those_with_new_content() {
    let sandbox = js();
    for name in ["changed", "same", "mode", "removed"] {
        write(&sandbox, &format!("/workspace/{name}"), "one\n").unwrap();
    }
    let before = sandbox.snapshot().unwrap();
    write(&sandbox, "/workspace/changed", "two\n").unwrap();
    write(&sandbox, "/workspace/same", "one\n").unwrap();
    chmod(&sandbox, "/workspace/mode", 0o600);
    remove(&sandbox, "/workspace/removed");
    symlink(&sandbox, "workspace/changed", "link");
    write(&sandbox, "/workspace/new/file", "").unwrap();
    let after = sandbox.snapshot().unwrap();
    let files = |limit: usize| {
        let mut files = Vec::new();
        Snapshot::visit_changed_files(&before, &after, &mut |path| {
            files.push(String::from_utf8_lossy(path).into_owned());
            if files.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        files
    };
    assert_eq!(files(9), ["/workspace/changed", "/workspace/new/file"]);
    assert_eq!(files(1), ["/workspace/changed"]);
}
