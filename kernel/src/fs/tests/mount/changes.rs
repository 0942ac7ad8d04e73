//! Permitted and rejected changes in a mount.

use std::sync::Arc;

use super::super::super::{FileUsage, MountMode, WriteSupport};
use super::super::{USER, fresh};
use super::{Foreign, mounted, read, view};
use crate::errno::Errno;

#[test]
fn a_read_only_mount_rejects_all_changes() {
    let foreign = Foreign::filled();
    let before = foreign.fs().dump();
    let mut fs = mounted(&foreign, MountMode::ReadOnly);
    let (root, file) = (fs.root(), fs.at("m/file").expect("it exists"));
    let ours = fs.put("ours", b"x");
    let dir = fs.at("m/dir").expect("it exists");
    let rejected = [
        fs.create(&USER, root, b"m/new", 0o644, false, 6).map(drop),
        fs.mkdir(&USER, root, b"m/new", 0o755, 6).map(drop),
        fs.symlink(&USER, b"file", root, b"m/new", 6).map(drop),
        fs.link(&USER, file, root, b"m/new", 6),
        fs.unlink(&USER, root, b"m/file", 6),
        fs.rmdir(&USER, root, b"m/empty", 6),
        fs.rename(&USER, root, b"m/file", root, b"m/new", 6),
        fs.write_at(file, 0, b"x", 6).map(drop),
        fs.write_all(file, b"x", 6),
        fs.truncate(file, 0, 6),
        fs.chmod(&USER, file, 0o600, 6),
        fs.chmod(&USER, dir, 0o700, 6),
        fs.set_times(&USER, file, Some(1), Some(1), 6),
        fs.access(&USER, file, 2),
        fs.access(&USER, dir, 2),
    ];
    assert_eq!(rejected, [Err(Errno::Rofs); 15]);
    assert_eq!(fs.rename(&USER, root, b"ours", root, b"m/new", 6), Err(Errno::Xdev));
    // As on Linux, which checks the new name before it looks up the old one.
    assert_eq!(fs.link(&USER, ours, root, b"m/new", 6), Err(Errno::Rofs));
    assert_eq!(foreign.fs().dump(), before);
}

#[test]
fn a_read_only_file_system_cannot_be_mounted_read_write() {
    let mount = Foreign::that_writes(WriteSupport::None);
    assert_eq!(fresh().mount(b"/m", mount, MountMode::ReadWrite), Err(Errno::Rofs));
}

#[test]
fn a_read_write_mount_executes_changes_without_a_charge() {
    let foreign = Foreign::filled();
    let mut fs = mounted(&foreign, MountMode::ReadWrite);
    let root = fs.root();
    let (new, _) = fs.create(&USER, root, b"m/dir/new", 0o640, true, 6).expect("free");
    fs.write_at(new, 2, b"text", 6).expect("it can be written");
    fs.mkdir(&USER, root, b"m/d", 0o750, 6).expect("free");
    fs.rename(&USER, root, b"m/dir/sub", root, b"m/d/sub", 6).expect("one mount");
    fs.unlink(&USER, root, b"m/file", 6).expect("it exists");
    fs.chmod(&USER, new, 0o4755, 6).expect("it is the user's");
    fs.set_times(&USER, new, None, Some(77), 6).expect("it is the user's");
    let theirs = foreign.fs();
    assert_eq!(theirs.read_all(theirs.at("dir/new").expect("created"), 99).as_deref(), Ok(b"\0\0text".as_slice()));
    assert_eq!(theirs.names("d"), ["sub"]);
    assert_eq!(theirs.at("file"), Err(Errno::Noent));
    let stat = theirs.stat(theirs.at("dir/new").expect("created")).expect("created");
    assert_eq!((stat.mode, stat.mtime), (0o755, 77), "set-user-ID is not passed to the host");
    drop(theirs);
    assert_eq!(fs.usage(), FileUsage::default());
    assert_eq!(read(&fs, "m/d/sub/c").as_deref(), Ok("ccc"));
}

#[test]
fn inode_numbers_survive_a_rename_in_a_read_write_mount() {
    let mut fs = mounted(&Foreign::filled(), MountMode::ReadWrite);
    let (root, dir, file) = (fs.root(), fs.at("m/dir").expect("it exists"), fs.at("m/dir/sub/c").expect("it exists"));
    fs.rename(&USER, root, b"m/dir", root, b"m/moved", 6).expect("free");
    assert_eq!(fs.read_all(file, 99).as_deref(), Ok(b"ccc".as_slice()));
    assert_eq!(fs.path_of(dir).as_deref(), Some(b"/m/moved".as_slice()));
    assert_eq!(fs.at("m/moved/sub/c"), Ok(file));
    fs.dir("m/dir");
    assert_ne!(fs.at("m/dir"), Ok(dir));
}

#[test]
fn an_unlinked_mounted_file_stays_usable_while_held() {
    for mode in [MountMode::ReadWrite, MountMode::CopyOnWrite] {
        let foreign = Foreign::filled();
        let mut fs = mounted(&foreign, mode);
        let (root, file) = (fs.root(), fs.at("m/file").expect("it exists"));
        fs.hold(file);
        fs.unlink(&USER, root, b"m/file", 6).expect("it exists");
        assert_eq!(fs.at("m/file"), Err(Errno::Noent));
        assert_eq!(fs.write_at(file, 5, b"!", 6), Ok(1));
        assert_eq!(fs.read_all(file, 99).as_deref(), Ok(b"hello!".as_slice()), "{mode:?}");
        assert_eq!(fs.stat(file).map(|stat| stat.nlink), Ok(0));
        fs.put("m/file", b"another");
        assert_eq!(fs.read_all(file, 99).as_deref(), Ok(b"hello!".as_slice()), "{mode:?}");
        fs.release(file);
        assert_eq!(fs.stat(file), Err(Errno::Stale));
        assert_eq!(read(&fs, "m/file").as_deref(), Ok("another"));
    }
}

#[test]
fn mount_points_cannot_be_removed_or_renamed() {
    for mode in [MountMode::ReadOnly, MountMode::ReadWrite, MountMode::CopyOnWrite] {
        let mut fs = mounted(&Foreign::filled(), mode);
        let root = fs.root();
        fs.dir("ours");
        assert_eq!(fs.rmdir(&USER, root, b"m", 6), Err(Errno::Busy));
        assert_eq!(fs.unlink(&USER, root, b"m", 6), Err(Errno::Isdir));
        assert_eq!(fs.rename(&USER, root, b"m", root, b"n", 6), Err(Errno::Busy));
        assert_eq!(fs.rename(&USER, root, b"ours", root, b"m", 6), Err(Errno::Busy));
        let out = fs.rename(&USER, root, b"m/dir", root, b"dir", 6);
        assert_eq!(out, if mode == MountMode::CopyOnWrite { Ok(()) } else { Err(Errno::Xdev) });
        fs.check();
    }
}

#[test]
fn a_directory_containing_a_mount_cannot_be_moved() {
    let mut fs = mounted(&Foreign::filled(), MountMode::ReadWrite);
    fs.mount(b"/m/dir/sub", Foreign::filled(), MountMode::ReadWrite).expect("a directory");
    let root = fs.root();
    assert_eq!(fs.rename(&USER, root, b"m/dir", root, b"m/moved", 6), Err(Errno::Busy));
    assert_eq!(fs.rmdir(&USER, root, b"m/dir/sub", 6), Err(Errno::Busy));
    assert!(view(&fs, "m").contains("/dir/sub/file"));
}

#[test]
fn creating_and_removing_files_keeps_the_object_table_small() {
    let foreign = Foreign::new();
    let mut fs = mounted(&Arc::clone(&foreign), MountMode::ReadWrite);
    let root = fs.root();
    for number in 0..70_000 {
        let name = format!("m/{number}");
        fs.create(&USER, root, name.as_bytes(), 0o644, true, 6).expect("free");
        fs.unlink(&USER, root, name.as_bytes(), 6).expect("it exists");
    }
    assert!(fs.object_count() < 100, "{} objects", fs.object_count());
    for number in 0..70_000 {
        foreign.fs().put(&format!("{number}"), b"");
    }
    let first = fs.at("m/0").expect("it exists");
    fs.hold(first);
    let listed = fs.read_dir(fs.at("m").expect("it exists"), None).count();
    assert_eq!(listed, 70_000);
    assert!(fs.object_count() <= 65_536, "{} objects", fs.object_count());
    assert_eq!(fs.at("m/0"), Ok(first), "a held inode keeps its number");
}
