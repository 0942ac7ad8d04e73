//! Copy-on-write mounts.

use tidebox_core::Limits;

use super::super::super::{FileUsage, Fs, MountMode};
use super::super::{USER, with_limits};
use super::{Foreign, mounted, read, view};
use crate::errno::Errno;

#[test]
fn changes_are_visible_only_in_the_sandbox() {
    let foreign = Foreign::filled();
    let before = foreign.fs().dump();
    let mut fs = mounted(&foreign, MountMode::CopyOnWrite);
    let (root, file) = (fs.root(), fs.at("m/file").expect("it exists"));
    fs.write_at(file, 5, b" world", 6).expect("it fits");
    fs.truncate(fs.at("m/dir/a").expect("it exists"), 1, 6).expect("it fits");
    fs.chmod(&USER, fs.at("m/dir/b").expect("it exists"), 0o600, 6).expect("it is the user's");
    fs.set_times(&USER, fs.at("m/dir/sub/c").expect("it exists"), None, Some(9), 6).expect("it is the user's");
    fs.rename(&USER, root, b"m/dir", root, b"m/moved", 6).expect("free");
    fs.unlink(&USER, root, b"m/link", 6).expect("it exists");
    assert_eq!(fs.read_all(file, 99).as_deref(), Ok(b"hello world".as_slice()), "the old number still resolves");
    assert_eq!(
        fs.stat(fs.at("m/file").expect("it exists")).map(|stat| stat.ino),
        Ok(file),
        "and its number is visible"
    );
    assert_eq!(read(&fs, "m/moved/a").as_deref(), Ok("a"));
    assert_eq!(read(&fs, "m/moved/sub/c").as_deref(), Ok("ccc"));
    assert_eq!(fs.names("m"), ["absolute", "empty", "file", "moved", "up"]);
    assert_eq!(fs.names("m/moved"), ["a", "b", "back", "sub"]);
    assert_eq!(foreign.fs().dump(), before);
    fs.check();
}

#[test]
fn a_recreated_directory_is_empty() {
    let mut fs = mounted(&Foreign::filled(), MountMode::CopyOnWrite);
    let root = fs.root();
    for path in ["m/dir/a", "m/dir/b", "m/dir/back", "m/dir/sub/c"] {
        fs.unlink(&USER, root, path.as_bytes(), 6).expect(path);
    }
    assert_eq!(fs.rmdir(&USER, root, b"m/dir", 6), Err(Errno::Notempty));
    fs.rmdir(&USER, root, b"m/dir/sub", 6).expect("empty");
    fs.rmdir(&USER, root, b"m/dir", 6).expect("empty");
    assert_eq!(fs.at("m/dir"), Err(Errno::Noent));
    fs.dir("m/dir");
    assert_eq!(fs.names("m/dir"), [""; 0]);
    assert_eq!(fs.at("m/dir/a"), Err(Errno::Noent));
    fs.dir("m/dir/sub");
    assert_eq!(fs.names("m/dir/sub"), [""; 0]);
    fs.check();
}

#[test]
fn snapshots_and_forks_keep_changes_and_share_the_mount() {
    let foreign = Foreign::filled();
    let mut fs = mounted(&foreign, MountMode::CopyOnWrite);
    let root = fs.root();
    fs.put("m/dir/a", b"changed");
    fs.rename(&USER, root, b"m/dir/sub", root, b"m/moved", 6).expect("free");
    let snapshot = fs.snapshot();
    let expected = view(&fs, "m");
    let mut fork = Fs::from_snapshot(&snapshot, &Limits::default());
    assert_eq!(view(&fork, "m"), expected);
    fork.put("m/moved/c", b"in the fork");
    fs.unlink(&USER, root, b"m/dir/a", 6).expect("it exists");
    assert_eq!(read(&fork, "m/dir/a").as_deref(), Ok("changed"));
    assert_eq!(read(&fs, "m/moved/c").as_deref(), Ok("ccc"));
    fs.restore(&snapshot);
    assert_eq!(view(&fs, "m"), expected);
    assert_eq!(fs.usage(), snapshot.usage());
    foreign.fs().put("late", b"below");
    assert_eq!(read(&fork, "m/late").as_deref(), Ok("below"));
    fs.check();
    fork.check();
}

#[test]
fn restoring_resets_changes_of_held_mounted_files() {
    let mut fs = mounted(&Foreign::filled(), MountMode::CopyOnWrite);
    let snapshot = fs.snapshot();
    let file = fs.at("m/file").expect("it exists");
    fs.hold(file);
    fs.write_all(file, b"changed", 6).expect("it fits");
    fs.restore(&snapshot);
    assert_eq!(read(&fs, "m/file").as_deref(), Ok("hello"));
    fs.release(file);
    fs.check();
}

#[test]
fn copy_up_is_charged_and_fails_beyond_the_quota() {
    let foreign = Foreign::filled();
    foreign.fs().put("big", &[7; 5000]);
    let mut limits = Limits::default();
    (limits.file_bytes, limits.inodes) = (1000, 4);
    let mut fs = with_limits(&limits);
    fs.mount(b"/m", foreign, MountMode::CopyOnWrite).expect("free");
    let (root, big) = (fs.root(), fs.at("m/big").expect("it exists"));
    assert_eq!(fs.write_at(big, 0, b"x", 6), Err(Errno::Nospc));
    assert_eq!(fs.usage(), FileUsage::default());
    assert_eq!(fs.read_all(big, 9999).map(|bytes| bytes.len()), Ok(5000));
    fs.truncate(big, 10, 6).expect("truncated bytes are not copied up");
    assert_eq!(fs.usage(), FileUsage { file_bytes: 10, inodes: 1 });
    fs.unlink(&USER, root, b"m/big", 6).expect("it exists");
    assert_eq!(fs.usage(), FileUsage { file_bytes: 0, inodes: 1 }, "the whiteout is charged");
    for name in ["file", "link", "up"] {
        fs.unlink(&USER, root, format!("m/{name}").as_bytes(), 6).expect(name);
    }
    assert_eq!(fs.unlink(&USER, root, b"m/absolute", 6), Err(Errno::Nospc));
    fs.check();
}

#[test]
fn a_failing_mount_leaves_the_tree_unchanged() {
    let foreign = Foreign::filled();
    let mut fs = mounted(&foreign, MountMode::CopyOnWrite);
    let file = fs.at("m/file").expect("it exists");
    let theirs = foreign.fs().root();
    foreign.fs().chmod(&USER, theirs, 0, 6).expect("it is the user's");
    assert_eq!(fs.write_at(file, 0, b"x", 6), Err(Errno::Acces));
    assert_eq!(fs.at("m/file"), Err(Errno::Acces));
    assert_eq!(fs.usage(), FileUsage::default());
    fs.check();
}

#[test]
fn upper_files_move_freely_in_and_out_of_the_mount() {
    let foreign = Foreign::filled();
    let before = foreign.fs().dump();
    let mut fs = mounted(&foreign, MountMode::CopyOnWrite);
    let root = fs.root();
    fs.put("ours", b"ours");
    fs.rename(&USER, root, b"m/dir", root, b"dir", 6).expect("out of the mount");
    fs.rename(&USER, root, b"m/file", root, b"file", 6).expect("out of the mount");
    fs.rename(&USER, root, b"ours", root, b"m/dir", 6).expect("into the mount");
    fs.link(&USER, fs.at("file").expect("it exists"), root, b"m/again", 6).expect("both are the tree's");
    assert_eq!(read(&fs, "dir/sub/c").as_deref(), Ok("ccc"), "the entries still come from the lower directory");
    fs.put("dir/a", b"changed");
    fs.put("dir/new", b"new");
    assert_eq!(fs.names("dir"), ["a", "b", "back", "new", "sub"]);
    assert_eq!((read(&fs, "m/dir").as_deref(), read(&fs, "m/again").as_deref()), (Ok("ours"), Ok("hello")));
    assert_eq!(fs.at("m/file"), Err(Errno::Noent));
    let fork = Fs::from_snapshot(&fs.snapshot(), &Limits::default());
    assert_eq!(view(&fork, "/"), view(&fs, "/"));
    assert_eq!(foreign.fs().dump(), before);
    fs.check();
}
