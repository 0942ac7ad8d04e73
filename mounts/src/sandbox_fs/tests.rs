//! Runs the test suite of the `vfs` crate, and tests of further properties.

use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use tidebox_core::Limits;
use vfs::error::VfsErrorKind;
use vfs::{FileSystem, VfsPath};

use super::SandboxFs;
use crate::testing::{builder, sandbox};

#[allow(clippy::useless_vec, reason = "the suite is the crate's")]
mod suite {
    use super::super::SandboxFs;
    use crate::testing::sandbox;

    vfs::test_vfs!(SandboxFs::at_dir(sandbox(), "/workspace"));
}

#[test]
fn writes_are_visible_before_a_flush() {
    let fs = SandboxFs::new(sandbox());
    let mut writer = fs.create_file("/workspace/f").expect("free");
    writer.write_all(b"initial").expect("it fits");
    assert_eq!(fs.metadata("/workspace/f").expect("created").len, 7);
    let mut reader = fs.open_file("/workspace/f").expect("created");
    writer.write_all(b", later").expect("it fits");
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("text");
    assert_eq!(text, "initial", "a reader sees the file as it was when it was opened");
}

#[test]
fn two_writers_share_a_file_and_removal_is_final() {
    let fs = SandboxFs::new(sandbox());
    let mut one = fs.create_file("/workspace/f").expect("free");
    one.write_all(b"aaaa").expect("it fits");
    let mut two = fs.append_file("/workspace/f").expect("created");
    two.write_all(b"bb").expect("it fits");
    drop(one);
    drop(two);
    let mut text = String::new();
    fs.open_file("/workspace/f").expect("created").read_to_string(&mut text).expect("text");
    assert_eq!(text, "aaaabb");
    let mut open = fs.append_file("/workspace/f").expect("created");
    fs.remove_file("/workspace/f").expect("it exists");
    open.write_all(b"still works").expect("it is open");
    drop(open);
    assert!(!fs.exists("/workspace/f").expect("requested"));
}

#[test]
fn seeking_and_reading_past_the_end_do_not_panic() {
    let fs = SandboxFs::new(sandbox());
    fs.create_file("/workspace/f").expect("free").write_all(b"text").expect("it fits");
    let mut file = fs.open_file("/workspace/f").expect("created");
    assert_eq!(file.seek(SeekFrom::Start(100)).expect("beyond is fine"), 100);
    assert_eq!(file.read(&mut [0; 8]).expect("the end"), 0);
    for from in [SeekFrom::Current(-101), SeekFrom::End(-5), SeekFrom::Start(u64::MAX)] {
        assert!(file.seek(from).is_err(), "{from:?}");
    }
    assert_eq!(file.seek(SeekFrom::End(-1)).expect("inside"), 3);
}

#[test]
fn exceeding_the_quota_fails_with_storage_full() {
    let mut limits = Limits::default();
    limits.file_bytes = 10;
    let fs = SandboxFs::new(Arc::new(builder().limits(limits).build().expect("it can be built")));
    let mut file = fs.create_file("/workspace/f").expect("free");
    let full = file.write_all(b"far too much of it").expect_err("it does not fit");
    assert_eq!(full.kind(), ErrorKind::StorageFull);
}

#[test]
fn moving_and_copying_replace_existing_files() {
    let root: VfsPath = SandboxFs::at_dir(sandbox(), "/workspace/").into();
    let file = |name: &str, text: &str| {
        let path = root.join(name).expect("a name");
        path.create_file().expect("free").write_all(text.as_bytes()).expect("it fits");
        path
    };
    let (one, two) = (file("one", "1"), file("two", "2"));
    let fs = SandboxFs::at_dir(sandbox(), "/workspace");
    assert!(fs.move_file("/nothing", "/else").is_err());
    let copy = root.join("copy").expect("a name");
    one.copy_file(&copy).expect("it fits");
    assert_eq!(copy.read_to_string().expect("text"), "1");
    let moved = root.join("moved").expect("a name");
    two.move_file(&moved).expect("free");
    assert!(!two.exists().expect("requested"));
    root.join("dir").and_then(|dir| dir.create_dir()).expect("free");
    root.join("dir").and_then(|dir| dir.move_dir(&root.join("dir2")?)).expect("free");
    assert!(root.join("dir2").and_then(|dir| dir.is_dir()).expect("requested"));
}

#[test]
fn links_are_followed_and_non_utf8_names_are_escaped() {
    let sandbox = sandbox();
    let fs = SandboxFs::new(Arc::clone(&sandbox));
    fs.create_file("/workspace/f").expect("free").write_all(b"text").expect("it fits");
    let made = sandbox.with_fs(|fs, now| {
        let root = fs.root();
        fs.symlink(&super::USER, b"f", root, b"/workspace/link", now)?;
        fs.create(&super::USER, root, b"/workspace/\xff", 0o644, true, now).map(drop)
    });
    made.expect("open").expect("free");
    assert_eq!(fs.metadata("/workspace/link").expect("created").len, 4);
    let names: Vec<String> = fs.read_dir("/workspace").expect("a directory").collect();
    assert_eq!(names, ["f", "link", "\u{fffd}"]);
    assert!(fs.open_file("/workspace/\u{fffd}").is_err());
}

#[test]
fn user_permissions_are_enforced() {
    let fs = SandboxFs::new(sandbox());
    let rejected = |result: vfs::VfsResult<()>| match result.expect_err("refused").kind() {
        VfsErrorKind::IoError(error) => error.kind(),
        other => panic!("{other:?}"),
    };
    assert_eq!(rejected(fs.create_file("/etc/passwd").map(drop)), ErrorKind::PermissionDenied);
    assert_eq!(rejected(fs.remove_file("/etc/passwd")), ErrorKind::PermissionDenied);
    assert_eq!(rejected(fs.remove_dir("/etc")), ErrorKind::DirectoryNotEmpty);
    assert_eq!(rejected(fs.open_file("/etc").map(drop)), ErrorKind::IsADirectory);
    assert!(fs.open_file("/dev/zero").is_err(), "reading a device would never end");
    assert!(!fs.exists("/proc/self/environ").expect("requested"));
}
