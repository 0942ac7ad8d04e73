use super::super::Cred;
use super::{USER, fresh};
use crate::errno::Errno;

#[test]
fn rename_replaces_a_file_atomically() {
    let mut fs = fresh();
    let root = fs.root();
    let (a, b) = (fs.put("a", b"new"), fs.put("b", b"old text"));
    fs.rename(&USER, root, b"a", root, b"b", 9).expect("files");
    assert_eq!((fs.at("b"), fs.at("a")), (Ok(a), Err(Errno::Noent)));
    assert_eq!(fs.stat(b), Err(Errno::Stale));
    assert_eq!((fs.usage().file_bytes, fs.usage().inodes), (3, 1));
    fs.check();
}

#[test]
fn a_replaced_file_that_is_held_can_still_be_read() {
    let mut fs = fresh();
    let root = fs.root();
    fs.put("a", b"new");
    let b = fs.put("b", b"old");
    fs.hold(b);
    fs.rename(&USER, root, b"a", root, b"b", 9).expect("files");
    assert_eq!(fs.read_all(b, 9).as_deref(), Ok(&b"old"[..]));
    fs.release(b);
    fs.check();
}

#[test]
fn a_directory_replaces_only_an_empty_directory() {
    let mut fs = fresh();
    let root = fs.root();
    let a = fs.dir("a");
    fs.put("a/file", b"");
    fs.dir("empty");
    fs.dir("full");
    fs.put("full/file", b"");
    fs.put("file", b"");
    let before = fs.dump();
    assert_eq!(fs.rename(&USER, root, b"a", root, b"full", 9), Err(Errno::Notempty));
    assert_eq!(fs.rename(&USER, root, b"a", root, b"file", 9), Err(Errno::Notdir));
    assert_eq!(fs.rename(&USER, root, b"file", root, b"empty", 9), Err(Errno::Isdir));
    assert_eq!(fs.rename(&USER, root, b"a/file", root, b"a", 9), Err(Errno::Notempty));
    assert_eq!(fs.dump(), before);
    fs.rename(&USER, root, b"a", root, b"empty/", 9).expect("empty");
    assert_eq!((fs.at("empty"), fs.names("empty")), (Ok(a), vec!["file".to_owned()]));
    fs.check();
}

#[test]
fn a_directory_never_moves_into_itself() {
    let mut fs = fresh();
    let root = fs.root();
    fs.dir("a");
    fs.dir("a/b");
    fs.symlink(&USER, b"a/b", root, b"link", 5).expect("free");
    let before = fs.dump();
    for new in ["a/c", "a/b/c", "link/c", "a/b/../d"] {
        assert_eq!(fs.rename(&USER, root, b"a", root, new.as_bytes(), 9), Err(Errno::Inval), "{new}");
    }
    assert_eq!(fs.rename(&USER, root, b"a/b", root, b"a", 9), Err(Errno::Notempty));
    assert_eq!(fs.dump(), before);
}

#[test]
fn renaming_between_names_of_one_file_changes_nothing() {
    let mut fs = fresh();
    let root = fs.root();
    let a = fs.put("a", b"");
    fs.link(&USER, a, root, b"b", 6).expect("free");
    let before = fs.dump();
    assert_eq!(fs.rename(&USER, root, b"a", root, b"b", 9), Ok(()));
    assert_eq!(fs.rename(&USER, root, b"a", root, b"./a", 9), Ok(()));
    assert_eq!(fs.dump(), before);
}

#[test]
fn rename_does_not_follow_links() {
    let mut fs = fresh();
    let root = fs.root();
    fs.dir("d");
    fs.put("f", b"f");
    fs.symlink(&USER, b"d", root, b"to-d", 5).expect("free");
    fs.symlink(&USER, b"nowhere", root, b"dangling", 5).expect("free");
    fs.rename(&USER, root, b"to-d", root, b"moved", 9).expect("a link");
    fs.rename(&USER, root, b"f", root, b"moved", 9).expect("a file over a link");
    fs.rename(&USER, root, b"dangling", root, b"moved", 9).expect("a link over a file");
    assert_eq!(fs.names("/"), ["d", "moved"]);
    assert_eq!(fs.names("d"), [""; 0]);
    fs.check();
}

#[test]
fn trailing_slashes_require_directories() {
    let mut fs = fresh();
    let root = fs.root();
    fs.dir("d");
    fs.put("f", b"");
    fs.symlink(&USER, b"d", root, b"link", 5).expect("free");
    for (old, new) in [("f/", "g"), ("f", "g/"), ("link/", "g"), ("link", "g/")] {
        assert_eq!(fs.rename(&USER, root, old.as_bytes(), root, new.as_bytes(), 9), Err(Errno::Notdir), "{old} {new}");
    }
    fs.rename(&USER, root, b"d/", root, b"e/", 9).expect("a directory");
    assert_eq!(fs.names("/"), ["e", "f", "link"]);
}

#[test]
fn dots_and_the_root_cannot_be_renamed() {
    let mut fs = fresh();
    let root = fs.root();
    fs.dir("d");
    for (old, new, error) in [
        ("d/.", "x", Errno::Busy),
        ("d/..", "x", Errno::Busy),
        ("d", "d/.", Errno::Busy),
        ("d", "..", Errno::Busy),
        ("/", "x", Errno::Busy),
        ("d", "/", Errno::Busy),
        ("none", "x", Errno::Noent),
        ("d", "none/x", Errno::Noent),
    ] {
        assert_eq!(fs.rename(&USER, root, old.as_bytes(), root, new.as_bytes(), 9), Err(error), "{old} {new}");
    }
    fs.check();
}

#[test]
fn a_file_cannot_replace_a_directory() {
    let mut fs = fresh();
    let root = fs.root();
    fs.dir("d");
    fs.dir("d/e");
    fs.dir("f");
    fs.put("d/e/x", b"");
    for (new, error) in [("d", Errno::Notempty), ("d/e", Errno::Notempty), ("f", Errno::Isdir)] {
        assert_eq!(fs.rename(&USER, root, b"d/e/x", root, new.as_bytes(), 9), Err(error), "{new}");
    }
    fs.check();
}

#[test]
fn a_read_only_directory_cannot_be_moved() {
    let mut fs = fresh();
    let root = fs.root();
    let d = fs.dir("d");
    fs.dir("e");
    fs.chown(d, 7, 7).expect("alive");
    assert_eq!(fs.rename(&USER, root, b"d", root, b"e/d", 9), Err(Errno::Acces), "its `..` would change");
    assert_eq!(fs.rename(&USER, root, b"d", root, b"d2", 9), Ok(()), "its `..` stays");
    let other = Cred { uid: 7, gid: 7 };
    assert_eq!(fs.rename(&other, root, b"d2", root, b"e/d", 9), Err(Errno::Acces));
}

#[test]
fn renaming_requires_a_writable_source_directory() {
    let mut fs = fresh();
    let (root, closed) = (fs.root(), fs.dir("closed"));
    fs.put("closed/f", b"");
    fs.mkdir(&USER, root, b"open", 0o777, 5).expect("free");
    let other = Cred { uid: 7, gid: 7 };
    let before = fs.dump();
    assert_eq!(fs.rename(&other, closed, b"f", root, b"open/f", 9), Err(Errno::Acces));
    assert_eq!(fs.dump(), before);
}
