use super::super::{Cred, PATH_OF_MAX};
use super::{HOST, USER, fresh};
use crate::errno::Errno;

#[test]
fn entries_are_in_byte_order_after_a_name() {
    let mut fs = fresh();
    assert_eq!(fs.names("/"), [""; 0]);
    for name in ["b", "a", "B", "a0", "ü", "a-very-long-name-that-does-not-fit-inline"] {
        fs.put(name, b"");
    }
    let all = ["B", "a", "a-very-long-name-that-does-not-fit-inline", "a0", "b", "ü"];
    assert_eq!(fs.names("/"), all);
    let after = |name: &[u8]| fs.read_dir(fs.root(), Some(name)).count();
    assert_eq!((after(b"B"), after(b"C"), after("ü".as_bytes())), (5, 5, 0));
}

#[test]
fn names_of_any_bytes_and_lengths_are_distinct() {
    let mut fs = fresh();
    for len in [1, 21, 22, 23, 24, 255] {
        let name = "\u{1}".repeat(len);
        let ino = fs.put(&name, name.as_bytes());
        assert_eq!(fs.at(&name), Ok(ino));
    }
    let root = fs.root();
    let (ino, _) = fs.create(&USER, root, b"\xff\xfe\n", 0o644, true, 5).expect("any byte but NUL and slash");
    assert!(fs.read_dir(root, None).any(|(name, found, _)| *name == *b"\xff\xfe\n" && found == ino));
    fs.check();
}

#[test]
fn create_returns_an_existing_file_unless_exclusive() {
    let mut fs = fresh();
    let root = fs.root();
    let (ino, created) = fs.create(&USER, root, b"a", 0o640, false, 7).expect("a new file");
    assert!(created);
    assert_eq!(fs.create(&USER, root, b"a", 0o600, false, 8), Ok((ino, false)));
    assert_eq!(fs.create(&USER, root, b"a", 0o600, true, 8), Err(Errno::Exist));
    assert_eq!(fs.stat(ino).expect("alive").mode, 0o640);
    fs.dir("d");
    for path in ["d", ".", "/", "d/..", "d/./"] {
        assert_eq!(fs.create(&USER, root, path.as_bytes(), 0o644, false, 8), Err(Errno::Isdir), "{path}");
        assert_eq!(fs.create(&USER, root, path.as_bytes(), 0o644, true, 8), Err(Errno::Exist), "{path}");
    }
    assert_eq!(fs.create(&USER, root, b"none/a", 0o644, false, 8), Err(Errno::Noent));
}

#[test]
fn create_with_a_trailing_slash_fails_with_isdir() {
    let mut fs = fresh();
    let root = fs.root();
    fs.put("file", b"");
    fs.dir("d");
    for (target, link) in [("file", "link"), ("nowhere", "dangling"), ("loop", "loop")] {
        fs.symlink(&USER, target.as_bytes(), root, link.as_bytes(), 5).expect("free");
    }
    for path in ["file/", "d/", "d//", "link/", "dangling/", "loop/", "new/"] {
        for exclusive in [false, true] {
            let created = fs.create(&USER, root, path.as_bytes(), 0o644, exclusive, 8);
            assert_eq!(created, Err(Errno::Isdir), "{path} {exclusive}");
        }
    }
    assert_eq!(fs.create(&USER, root, b"file/x/", 0o644, false, 8), Err(Errno::Notdir));
    assert_eq!(fs.create(&USER, root, b"none/x/", 0o644, false, 8), Err(Errno::Noent));
    assert_eq!(fs.names("/"), ["d", "dangling", "file", "link", "loop"]);
}

#[test]
fn create_follows_a_dangling_link_unless_exclusive() {
    let mut fs = fresh();
    let root = fs.root();
    fs.dir("d");
    fs.symlink(&USER, b"d/target", root, b"link", 5).expect("free");
    assert_eq!(fs.create(&USER, root, b"link", 0o644, true, 5), Err(Errno::Exist));
    let (ino, created) = fs.create(&USER, root, b"link", 0o644, false, 5).expect("the target is created");
    assert!(created);
    assert_eq!(fs.at("/d/target"), Ok(ino));
    assert_eq!(fs.names("/"), ["d", "link"]);
}

#[test]
fn a_change_updates_the_times_of_file_and_directory() {
    let mut fs = fresh();
    let d = fs.dir("d");
    let root = fs.root();
    let times = |fs: &super::Fs, ino| fs.stat(ino).map(|stat| (stat.mtime, stat.ctime)).expect("alive");
    let (file, _) = fs.create(&USER, root, b"d/f", 0o644, false, 10).expect("free");
    assert_eq!((times(&fs, file), times(&fs, d)), ((10, 10), (10, 10)));
    fs.write_at(file, 0, b"x", 11).expect("room");
    assert_eq!((times(&fs, file), times(&fs, d)), ((11, 11), (10, 10)));
    fs.link(&USER, file, root, b"d/g", 12).expect("free");
    assert_eq!((times(&fs, file), times(&fs, d)), ((11, 12), (12, 12)));
    fs.unlink(&USER, root, b"d/f", 13).expect("it exists");
    assert_eq!((times(&fs, file), times(&fs, d)), ((11, 13), (13, 13)));
    fs.rename(&USER, root, b"d/g", root, b"h", 14).expect("it exists");
    assert_eq!((times(&fs, file), times(&fs, d), times(&fs, root)), ((11, 14), (14, 14), (14, 14)));
    fs.truncate(file, 0, 15).expect("a file");
    assert_eq!(times(&fs, file), (15, 15));
    fs.rmdir(&USER, root, b"d", 16).expect("empty");
    assert_eq!(times(&fs, root), (16, 16));
}

#[test]
fn a_directory_link_count_includes_its_subdirectories() {
    let mut fs = fresh();
    let d = fs.dir("d");
    let root = fs.root();
    let nlink = |fs: &super::Fs, ino| fs.stat(ino).expect("alive").nlink;
    fs.dir("d/1");
    fs.dir("d/2");
    fs.put("d/file", b"");
    assert_eq!((nlink(&fs, d), nlink(&fs, root)), (4, 3));
    fs.rmdir(&USER, root, b"d/1", 6).expect("empty");
    fs.rename(&USER, root, b"d/2", root, b"2", 6).expect("it exists");
    assert_eq!((nlink(&fs, d), nlink(&fs, root)), (2, 4));
    fs.check();
}

#[test]
fn mkdir_accepts_a_trailing_slash() {
    let mut fs = fresh();
    let root = fs.root();
    fs.dir("d/");
    fs.put("file", b"");
    fs.symlink(&USER, b"nowhere", root, b"dangling", 5).expect("free");
    for path in ["d", "d/", "file", "dangling", "dangling/", ".", "..", "/", "d/."] {
        assert_eq!(fs.mkdir(&USER, root, path.as_bytes(), 0o755, 5), Err(Errno::Exist), "{path}");
    }
    assert_eq!(fs.mkdir(&USER, root, b"file/d", 0o755, 5), Err(Errno::Notdir));
    assert_eq!(fs.mkdir(&USER, root, b"none/d", 0o755, 5), Err(Errno::Noent));
}

#[test]
fn rmdir_fails_unless_the_directory_is_empty() {
    let mut fs = fresh();
    let root = fs.root();
    fs.dir("d");
    fs.dir("d/e");
    fs.put("file", b"");
    fs.symlink(&USER, b"d/e", root, b"link", 5).expect("free");
    let cases = [
        ("d", Errno::Notempty),
        ("file", Errno::Notdir),
        ("link", Errno::Notdir),
        ("link/", Errno::Notdir),
        ("d/.", Errno::Inval),
        ("d/e/..", Errno::Notempty),
        ("/", Errno::Busy),
        ("none", Errno::Noent),
    ];
    let before = fs.dump();
    for (path, error) in cases {
        assert_eq!(fs.rmdir(&USER, root, path.as_bytes(), 6), Err(error), "{path}");
    }
    assert_eq!(fs.dump(), before);
    fs.rmdir(&USER, root, b"d/e/", 6).expect("empty");
    fs.check();
}

#[test]
fn unlink_rejects_directories_and_does_not_follow_links() {
    let mut fs = fresh();
    let root = fs.root();
    fs.dir("d");
    let file = fs.put("d/file", b"");
    fs.symlink(&USER, b"d/file", root, b"link", 5).expect("free");
    let cases = [
        ("d", Errno::Isdir),
        ("d/", Errno::Isdir),
        ("d/.", Errno::Isdir),
        ("/", Errno::Isdir),
        ("link/", Errno::Notdir),
        ("d/file/", Errno::Notdir),
        ("none", Errno::Noent),
    ];
    for (path, error) in cases {
        assert_eq!(fs.unlink(&USER, root, path.as_bytes(), 6), Err(error), "{path}");
    }
    fs.unlink(&USER, root, b"link", 6).expect("a link");
    assert_eq!(fs.at("d/file"), Ok(file));
    fs.check();
}

#[test]
fn hard_links_share_a_file_and_reject_directories() {
    let mut fs = fresh();
    let root = fs.root();
    let (d, file) = (fs.dir("d"), fs.put("a", b"text"));
    fs.link(&USER, file, root, b"d/b", 6).expect("free");
    assert_eq!(fs.at("d/b"), Ok(file));
    assert_eq!(fs.stat(file).expect("alive").nlink, 2);
    assert_eq!(fs.link(&USER, d, root, b"e", 6), Err(Errno::Perm));
    assert_eq!(fs.link(&USER, file, root, b"a", 6), Err(Errno::Exist));
    assert_eq!(fs.link(&USER, file, root, b"new/", 6), Err(Errno::Noent));
    assert_eq!(fs.link(&USER, d, root, b"new/", 6), Err(Errno::Noent), "the name is checked first, as on Linux");
    fs.unlink(&USER, root, b"a", 6).expect("it exists");
    assert_eq!(fs.read_all(file, 9).as_deref(), Ok(&b"text"[..]));
    fs.hold(file);
    fs.unlink(&USER, root, b"d/b", 6).expect("it exists");
    assert_eq!(fs.link(&USER, file, root, b"back", 6), Err(Errno::Noent));
    fs.release(file);
    assert_eq!(fs.stat(file), Err(Errno::Stale));
    fs.check();
}

#[test]
fn an_unlinked_file_exists_while_it_is_held() {
    let mut fs = fresh();
    let root = fs.root();
    let ino = fs.put("a", b"text");
    fs.hold(ino);
    fs.hold(ino);
    fs.unlink(&USER, root, b"a", 9).expect("a is there");
    fs.release(ino);
    assert_eq!(fs.read_all(ino, 100).as_deref(), Ok(&b"text"[..]));
    assert_eq!(fs.stat(ino).map(|stat| stat.nlink), Ok(0));
    assert_eq!(fs.usage().file_bytes, 4);
    fs.check();
    fs.release(ino);
    fs.release(ino);
    assert_eq!(fs.stat(ino), Err(Errno::Stale));
    assert_eq!(fs.usage().file_bytes, 0);
}

#[test]
fn creating_in_a_removed_directory_fails() {
    let mut fs = fresh();
    let root = fs.root();
    let (d, file) = (fs.dir("d"), fs.put("file", b""));
    fs.hold(d);
    fs.rmdir(&USER, root, b"d", 6).expect("empty");
    assert_eq!(fs.path_of(d), None);
    assert_eq!(fs.create(&USER, d, b"f", 0o644, false, 6), Err(Errno::Noent));
    assert_eq!(fs.mkdir(&USER, d, b"f", 0o755, 6), Err(Errno::Noent));
    assert_eq!(fs.symlink(&USER, b"f", d, b"f", 6), Err(Errno::Noent));
    assert_eq!(fs.link(&USER, file, d, b"f", 6), Err(Errno::Noent));
    assert_eq!(fs.link(&USER, root, d, b"f", 6), Err(Errno::Noent), "whatever would be linked");
    assert_eq!(fs.rename(&USER, root, b"file", d, b"f", 6), Err(Errno::Noent));
    assert_eq!(fs.walk(&USER, d, b"..", true), Ok(super::Resolved::Node(root)));
    fs.check();
    fs.release(d);
    assert_eq!(fs.usage().inodes, 1);
}

#[test]
fn changing_names_requires_a_writable_directory() {
    let mut fs = fresh();
    let root = fs.root();
    let d = fs.dir("d");
    fs.put("d/f", b"");
    fs.dir("d/e");
    let other = Cred { uid: 7, gid: 7 };
    let before = fs.dump();
    assert_eq!(fs.create(&other, d, b"new", 0o644, false, 6), Err(Errno::Acces));
    assert_eq!(fs.mkdir(&other, d, b"new", 0o755, 6), Err(Errno::Acces));
    assert_eq!(fs.symlink(&other, b"x", d, b"new", 6), Err(Errno::Acces));
    assert_eq!(fs.unlink(&other, d, b"f", 6), Err(Errno::Acces));
    assert_eq!(fs.rmdir(&other, d, b"e", 6), Err(Errno::Acces));
    assert_eq!(fs.rename(&other, d, b"f", d, b"g", 6), Err(Errno::Acces));
    assert_eq!(fs.dump(), before);
    let (made, _) = fs.create(&HOST, d, b"new", 0o644, false, 6).expect("the host may");
    assert_eq!(fs.stat(made).map(|stat| (stat.uid, stat.gid)), Ok((0, 0)));
    assert_eq!(fs.unlink(&USER, root, b"d/new", 6), Ok(()), "write permission on a directory allows removing names");
}

#[test]
fn a_symbolic_link_accepts_any_target_up_to_the_path_limit() {
    let mut fs = fresh();
    let root = fs.root();
    let longest = vec![b'x'; 4096];
    let ino = fs.symlink(&USER, &longest, root, b"l", 5).expect("free");
    assert_eq!(fs.readlink(ino), Ok(longest));
    assert_eq!(fs.stat(ino).map(|stat| (stat.size, stat.mode)), Ok((4096, 0o777)));
    assert_eq!(fs.symlink(&USER, &[b'x'; 4097], root, b"m", 5), Err(Errno::Nametoolong));
    assert_eq!(fs.symlink(&USER, b"", root, b"m", 5), Err(Errno::Noent));
    assert_eq!(fs.symlink(&USER, b"a\0b", root, b"m", 5), Err(Errno::Inval));
    assert_eq!(fs.symlink(&USER, b"a", root, b"m/", 5), Err(Errno::Noent));
    assert_eq!(fs.readlink(root), Err(Errno::Inval));
    fs.check();
}

#[test]
fn directory_paths_follow_renames() {
    let mut fs = fresh();
    let root = fs.root();
    fs.dir("a");
    let b = fs.dir("a/b");
    assert_eq!(fs.path_of(root).as_deref(), Some(&b"/"[..]));
    assert_eq!(fs.path_of(b).as_deref(), Some(&b"/a/b"[..]));
    fs.dir("c");
    fs.rename(&USER, root, b"a", root, b"c/z", 6).expect("free");
    assert_eq!(fs.path_of(b).as_deref(), Some(&b"/c/z/b"[..]));
    assert_eq!(fs.parent(b), fs.at("/c/z").expect("moved"));
    assert_eq!((fs.parent(root), fs.path_of(super::Ino(99))), (root, None));
}

#[test]
fn path_of_returns_none_beyond_its_length_limit() {
    let mut fs = fresh();
    let (mut dir, name) = (fs.root(), [b'n'; 255]);
    for _ in 0..PATH_OF_MAX / 256 {
        dir = fs.mkdir(&USER, dir, &name, 0o755, 5).expect("room");
    }
    assert_eq!(fs.path_of(dir).map(|path| path.len()), Some(PATH_OF_MAX));
    let deeper = fs.mkdir(&USER, dir, b"x", 0o755, 5).expect("room");
    assert_eq!(fs.path_of(deeper), None);
    fs.check();
}
