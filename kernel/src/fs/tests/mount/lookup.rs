//! Lookup and reading in mounts.

use std::sync::Arc;

use super::super::super::{Kind, MountMode, PathStart, Resolved};
use super::super::{USER, fresh};
use super::{Foreign, mounted, read};
use crate::errno::Errno;

#[test]
fn mounted_files_are_found_listed_and_read() {
    let fs = mounted(&Foreign::filled(), MountMode::ReadOnly);
    assert_eq!(fs.names("m"), ["absolute", "dir", "empty", "file", "link", "up"]);
    assert_eq!(read(&fs, "m/dir/sub/c").as_deref(), Ok("ccc"));
    assert_eq!(read(&fs, "m/dir/nothing"), Err(Errno::Noent));
    assert_eq!(read(&fs, "m/file/x"), Err(Errno::Notdir));
    let dir = fs.at("m/dir").expect("it exists");
    assert_eq!(fs.path_of(dir).as_deref(), Some(b"/m/dir".as_slice()));
    assert_eq!(fs.parent(dir), fs.at("m").expect("it exists"));
    let names: Vec<_> = fs.read_dir(dir, Some(b"a")).map(|(name, _, kind)| (name.into_owned(), kind)).collect();
    let expected = [(b"b".to_vec(), Kind::File), (b"back".to_vec(), Kind::Symlink), (b"sub".to_vec(), Kind::Dir)];
    assert_eq!(names, expected);
}

#[test]
fn an_object_keeps_its_number_and_device() {
    let fs = mounted(&Foreign::filled(), MountMode::ReadOnly);
    let file = fs.at("m/dir/a").expect("it exists");
    assert_eq!(fs.at("m/link"), Ok(file));
    assert_eq!(fs.at("m/dir/sub/../a"), Ok(file));
    let listed = fs.read_dir(fs.at("m/dir").expect("it exists"), None).next().map(|(_, ino, _)| ino);
    assert_eq!(listed, Some(file));
    let stat = fs.stat(file).expect("it exists");
    assert_eq!((stat.ino, stat.device, stat.size, stat.uid), (file, 1, 3, 1000));
    assert_eq!(fs.stat(fs.root()).expect("it exists").device, 0);
}

#[test]
fn mounted_links_are_resolved_inside_the_sandbox() {
    let mut fs = mounted(&Foreign::filled(), MountMode::ReadOnly);
    assert_eq!(read(&fs, "m/absolute").as_deref(), Ok("hello"));
    assert_eq!(read(&fs, "m/up"), Err(Errno::Noent), "one directory above the mount is the sandbox's own root");
    fs.put("outside", b"of the sandbox");
    assert_eq!(read(&fs, "m/up").as_deref(), Ok("of the sandbox"));
    assert_eq!(read(&fs, "m/link/"), Err(Errno::Notdir));
    let link = fs.walk(&USER, fs.root(), b"m/link", false);
    assert!(matches!(link, Ok(Resolved::Node(ino)) if fs.readlink(ino).as_deref() == Ok(b"dir/a")));
    let beneath = PathStart::beneath(fs.at("m").expect("it exists"));
    assert_eq!(fs.walk(&USER, beneath, b"up", true), Err(Errno::Notcapable));
    assert_eq!(fs.walk(&USER, beneath, b"absolute", true), Err(Errno::Notcapable));
    assert!(fs.walk(&USER, beneath, b"dir/back", true).is_ok());
    assert_eq!(fs.walk(&USER, beneath, b"dir/../..", true), Err(Errno::Notcapable));
}

#[test]
fn circular_links_fail_with_loop() {
    let foreign = Foreign::filled();
    {
        let mut fs = foreign.fs();
        let root = fs.root();
        fs.symlink(&USER, b"two", root, b"one", 5).expect("free");
        fs.symlink(&USER, b"./one", root, b"two", 5).expect("free");
    }
    let fs = mounted(&foreign, MountMode::ReadOnly);
    assert_eq!(fs.at("m/one"), Err(Errno::Loop));
    assert_eq!(fs.at("m/one/x"), Err(Errno::Loop));
}

#[test]
fn mounts_can_be_siblings_and_nested() {
    let (outer, inner) = (Foreign::filled(), Foreign::filled());
    inner.fs().put("only here", b"inner");
    let mut fs = fresh();
    fs.mount(b"/m", outer, MountMode::ReadOnly).expect("free");
    fs.mount(b"/m/dir/sub", Arc::clone(&inner) as _, MountMode::ReadWrite).expect("a directory");
    fs.mount(b"/made/for/it/", inner, MountMode::CopyOnWrite).expect("created");
    assert_eq!(fs.names("m/dir"), ["a", "b", "back", "sub"]);
    assert_eq!(read(&fs, "m/dir/sub/only here").as_deref(), Ok("inner"));
    assert_eq!(read(&fs, "m/dir/sub/../a").as_deref(), Ok("aaa"));
    let deep = fs.at("m/dir/sub/dir").expect("it exists");
    assert_eq!(fs.path_of(deep).as_deref(), Some(b"/m/dir/sub/dir".as_slice()));
    let root = fs.root();
    fs.create(&USER, root, b"m/dir/sub/new", 0o644, true, 6).expect("the inner mount can be written");
    assert_eq!(fs.create(&USER, root, b"m/dir/new", 0o644, true, 6), Err(Errno::Rofs));
    assert_eq!(read(&fs, "made/for/it/new").as_deref(), Ok(""), "both show one file system");
    let shown: Vec<_> = fs.mounts().into_iter().map(|(path, _)| String::from_utf8(path).expect("ASCII")).collect();
    assert_eq!(shown, ["/m", "/m/dir/sub", "/made/for/it"]);
    fs.check();
}

#[test]
fn mounting_over_sandbox_files_is_rejected() {
    let mut fs = fresh();
    fs.put("file", b"x");
    fs.dir("full");
    fs.put("full/file", b"x");
    fs.install_proc(b"/proc").expect("free");
    for (path, errno) in
        [("/", Errno::Busy), ("/proc", Errno::Busy), ("/full", Errno::Notempty), ("/file", Errno::Notdir)]
    {
        let mount = Foreign::filled();
        assert_eq!(fs.mount(path.as_bytes(), mount, MountMode::ReadOnly), Err(errno), "{path}");
    }
    fs.mount(b"/m", Foreign::filled(), MountMode::ReadOnly).expect("free");
    assert_eq!(fs.mount(b"/m", Foreign::filled(), MountMode::ReadOnly), Err(Errno::Busy));
    assert_eq!(fs.mount(b"/m/new", Foreign::filled(), MountMode::ReadOnly), Err(Errno::Rofs));
    fs.check();
}

#[test]
fn external_changes_are_visible_and_removals_are_stale() {
    let foreign = Foreign::filled();
    let fs = mounted(&foreign, MountMode::ReadOnly);
    let (file, dir) = (fs.at("m/file").expect("it exists"), fs.at("m/dir").expect("it exists"));
    foreign.fs().put("file", b"changed");
    assert_eq!(read(&fs, "m/file").as_deref(), Ok("changed"));
    {
        let mut theirs = foreign.fs();
        let root = theirs.root();
        theirs.unlink(&USER, root, b"file", 6).expect("it exists");
        theirs.mkdir(&USER, root, b"file", 0o755, 6).expect("free");
        theirs.rename(&USER, root, b"dir", root, b"moved", 6).expect("free");
        theirs.put("dir", b"a file now");
    }
    assert_eq!(fs.stat(file), Err(Errno::Stale));
    assert_eq!(fs.stat(fs.at("m/file").expect("a directory now")).map(|stat| stat.kind), Ok(Kind::Dir));
    assert_eq!(fs.walk(&USER, dir, b"a", true), Err(Errno::Noent));
    assert_eq!(fs.check_dir(dir, None), Err(Errno::Notdir));
    assert_eq!(read(&fs, "m/dir").as_deref(), Ok("a file now"));
}

#[test]
fn an_open_file_outlives_its_host_name() {
    let foreign = Foreign::filled();
    let mut fs = mounted(&foreign, MountMode::ReadOnly);
    let file = fs.at("m/file").expect("it exists");
    fs.hold(file);
    let mut start = [0; 2];
    fs.read_at(file, 0, &mut start).expect("a file");
    let root = foreign.fs().root();
    foreign.fs().unlink(&USER, root, b"file", 6).expect("it exists");
    assert_eq!(fs.read_all(file, 99).as_deref(), Ok(b"hello".as_slice()));
    fs.release(file);
    assert_eq!(fs.read_all(file, 99), Err(Errno::Stale));
    assert_eq!(fs.at("m/file"), Err(Errno::Noent));
}
