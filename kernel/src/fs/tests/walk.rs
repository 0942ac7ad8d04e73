use tidebox_core::Limits;

use super::super::{Cred, Fs, Ino, PathStart, Resolved};
use super::{HOST, USER, fresh, with_limits};
use crate::errno::Errno;

/// `/a/b/file` and a few links.
fn tree() -> Fs {
    let mut fs = fresh();
    fs.dir("/a");
    fs.dir("/a/b");
    fs.put("/a/b/file", b"text");
    let links: [(&str, &str); 9] = [
        ("/to-b", "a/b"),
        ("/to-file", "/a/b/file"),
        ("/a/up", ".."),
        ("/a/b/root", "/"),
        ("/slashed", "a/b/file/"),
        ("/slashed-dir", "a/b/"),
        ("/dangling", "nowhere"),
        ("/chain", "to-b"),
        ("/a/inside", "b/file"),
    ];
    for (path, target) in links {
        fs.symlink(&USER, target.as_bytes(), fs.root(), path.as_bytes(), 5).expect(path);
    }
    fs
}

fn stays(fs: &Fs, path: &str) -> Result<Resolved, Errno> {
    fs.walk(&USER, fs.root(), path.as_bytes(), false)
}

#[test]
fn dots_slashes_and_links_resolve_as_in_posix() {
    let fs = tree();
    let file = fs.at("/a/b/file").expect("created above");
    for path in [
        "a/b/file",
        "//a///b/./file",
        "/a/../a/b/file",
        "/../../a/b/file",
        "/to-b/file",
        "/to-file",
        "/a/up/a/b/file",
        "/a/b/root/a/b/file",
        "/chain/file",
        "/chain/../b/file",
        "/slashed-dir/file",
        "/a/inside",
        "./a/b/../b/file",
    ] {
        assert_eq!(fs.at(path), Ok(file), "{path}");
    }
    for path in ["/", "//", ".", "..", "/.", "/a/..", "/a/up", "/a/up/", "/a/b/root", "/a/b/root/.", "/to-b/../.."] {
        assert_eq!(fs.at(path), Ok(fs.root()), "{path}");
    }
}

#[test]
fn missing_entries_and_non_directories_have_distinct_errors() {
    let fs = tree();
    for path in ["", "/nowhere", "/a/nowhere", "/nowhere/x", "/nowhere/..", "/dangling", "/dangling/", "/dangling/x"] {
        assert_eq!(fs.at(path), Err(Errno::Noent), "{path}");
    }
    for path in ["/a/b/file/", "/a/b/file/.", "/a/b/file/..", "/a/b/file/x", "/to-file/", "/to-file/x", "/slashed"] {
        assert_eq!(fs.at(path), Err(Errno::Notdir), "{path}");
    }
    assert_eq!(fs.walk(&USER, fs.at("/to-file").expect("a file"), b"x", true), Err(Errno::Notdir));
}

#[test]
fn a_final_link_is_followed_only_with_a_trailing_slash() {
    let fs = tree();
    let b = fs.at("/a/b").expect("created above");
    let Ok(Resolved::Node(link)) = stays(&fs, "/to-b") else { panic!("a link") };
    assert_eq!(fs.readlink(link).as_deref(), Ok(&b"a/b"[..]));
    assert_eq!(stays(&fs, "/to-b/"), Ok(Resolved::Node(b)));
    assert_eq!(stays(&fs, "/to-b/."), Ok(Resolved::Node(b)));
    assert!(stays(&fs, "/dangling").is_ok());
    assert_eq!(stays(&fs, "/dangling/"), Err(Errno::Noent));
    assert_eq!(stays(&fs, "/to-file/"), Err(Errno::Notdir));
}

#[test]
fn links_are_followed_up_to_the_limit() {
    let mut limits = Limits::default();
    limits.symlink_depth = 3;
    let mut fs = with_limits(&limits);
    fs.put("/0", b"");
    for n in 1..5 {
        let (target, path) = ((n - 1).to_string(), format!("/{n}"));
        fs.symlink(&USER, target.as_bytes(), fs.root(), path.as_bytes(), 5).expect("room");
    }
    assert!(fs.at("/3").is_ok());
    assert_eq!(fs.at("/4"), Err(Errno::Loop));
    fs.symlink(&USER, b"self/self/x", fs.root(), b"self", 5).expect("room");
    assert_eq!(fs.at("/self"), Err(Errno::Loop));
    assert_eq!(fs.create(&USER, fs.root(), b"/self", 0o644, false, 5), Err(Errno::Loop));
}

#[test]
fn overlong_names_and_nul_bytes_are_rejected() {
    let fs = tree();
    let name = |len: usize| "n".repeat(len);
    assert_eq!(fs.at(&name(255)), Err(Errno::Noent));
    assert_eq!(fs.at(&name(256)), Err(Errno::Nametoolong));
    assert_eq!(fs.at(&format!("a/{}/x", name(256))), Err(Errno::Nametoolong));
    assert_eq!(fs.at(&"/".repeat(4096)), Ok(fs.root()));
    assert_eq!(fs.at(&"/".repeat(4097)), Err(Errno::Nametoolong));
    assert_eq!(fs.at("a/b\0c"), Err(Errno::Inval));
}

#[test]
fn a_directory_without_the_execute_bit_cannot_be_searched() {
    let mut fs = tree();
    let a = fs.at("/a").expect("created above");
    let other = Cred { uid: 7, gid: 7 };
    fs.chmod(&USER, a, 0o750, 6).expect("owned");
    assert_eq!(fs.walk(&other, fs.root(), b"/a/b", true), Err(Errno::Acces));
    assert_eq!(fs.walk(&other, fs.root(), b"/to-b", true), Err(Errno::Acces));
    assert_eq!(fs.walk(&other, a, b"b", true), Err(Errno::Acces));
    assert_eq!(fs.walk(&other, a, b".", true), Err(Errno::Acces));
    assert_eq!(fs.walk(&other, fs.root(), b"/a", true), Ok(Resolved::Node(a)));
    let member = Cred { uid: 7, gid: 1000 };
    assert!(fs.walk(&member, fs.root(), b"/a/b", true).is_ok());
    fs.chmod(&USER, a, 0, 6).expect("owned");
    assert_eq!(fs.at("/a/b"), Err(Errno::Acces));
    assert!(fs.walk(&HOST, fs.root(), b"/a/b", true).is_ok());
}

#[test]
fn paths_cannot_leave_a_preopened_directory() {
    let fs = tree();
    let a = fs.at("/a").expect("created above");
    let beneath = |path: &str| fs.walk_beneath(&USER, a, path.as_bytes(), true);
    let file = Ok(Resolved::Node(fs.at("/a/b/file").expect("created above")));
    for path in ["b/file", "b/../b/file", "./b/./file", "inside", "b/../inside"] {
        assert_eq!(beneath(path), file, "{path}");
    }
    for path in ["/", "/a/b", "..", "../a", "b/../..", "up", "up/a", "b/root", "b/root/a", "b/../../a/b"] {
        assert_eq!(beneath(path), Err(Errno::Notcapable), "{path}");
    }
    let mut fs = tree();
    assert_eq!(fs.create(&USER, PathStart::beneath(a), b"../x", 0o644, false, 5), Err(Errno::Notcapable));
    assert_eq!(fs.mkdir(&USER, PathStart::beneath(a), b"/x", 0o755, 5), Err(Errno::Notcapable));
    assert_eq!(fs.rename(&USER, PathStart::beneath(a), b"b", a, b"../b", 5), Ok(()));
}

#[test]
fn confined_to_the_root_only_absolute_paths_are_rejected() {
    let fs = tree();
    let beneath = |path: &str| fs.walk_beneath(&USER, fs.root(), path.as_bytes(), true);
    let root = Ok(Resolved::Node(fs.root()));
    assert_eq!((beneath(".."), beneath("a/../.."), beneath("a/b/root")), (root.clone(), root.clone(), root));
    assert_eq!(beneath("to-file"), Ok(Resolved::Node(fs.at("/a/b/file").expect("created above"))));
    assert_eq!(beneath("/a"), Err(Errno::Notcapable));
}

#[test]
fn a_path_into_proc_is_returned_normalised() {
    let mut fs = tree();
    fs.install_proc(b"/proc").expect("free");
    fs.symlink(&USER, b"proc/self", fs.root(), b"me", 5).expect("free");
    let proc = fs.walk(&USER, fs.root(), b"/proc", true);
    for (path, below) in [
        ("/proc", ""),
        ("/proc/", ""),
        ("/proc/.", ""),
        ("proc/self/fd", "self/fd"),
        ("//proc//self/./fd/", "self/fd"),
        ("/proc/self/../1", "1"),
        ("/proc/self/..", ""),
        ("/a/../proc/x", "x"),
        ("/me/fd/3", "self/fd/3"),
        ("/me/../2/x", "2/x"),
        ("/me", "self"),
        ("/proc/../proc/y", "y"),
    ] {
        let found = fs.walk(&USER, fs.root(), path.as_bytes(), true);
        assert_eq!(found, Ok(Resolved::Proc(below.as_bytes().to_vec())), "{path}");
    }
    assert_eq!(proc, Ok(Resolved::Proc(Vec::new())));
    let file = fs.at("/a/b/file");
    assert!(file.is_ok());
    for path in ["/proc/../a/b/file", "/proc/self/../../a/b/file", "/me/../../a/b/file", "/me/../../me/../../to-file"] {
        assert_eq!(fs.at(path), file, "{path}");
    }
    assert_eq!(fs.at("/proc/.."), Ok(fs.root()));
}

#[test]
fn proc_rejects_creation_and_removal() {
    let mut fs = tree();
    let proc = fs.install_proc(b"/proc").expect("free");
    let root = fs.root();
    assert_eq!(fs.create(&USER, root, b"/proc/x", 0o644, false, 5), Err(Errno::Rofs));
    assert_eq!(fs.mkdir(&USER, proc, b"x", 0o755, 5), Err(Errno::Rofs));
    assert_eq!(fs.unlink(&USER, root, b"/proc/version", 5), Err(Errno::Rofs));
    assert_eq!(fs.mkdir(&USER, root, b"/proc", 0o755, 5), Err(Errno::Exist));
    assert_eq!(fs.rmdir(&USER, root, b"/proc", 5), Err(Errno::Busy));
    assert_eq!(fs.rename(&USER, root, b"/proc", root, b"/x", 5), Err(Errno::Busy));
    assert_eq!(fs.rename(&USER, root, b"/a", root, b"/proc", 5), Err(Errno::Busy));
    assert_eq!(fs.rename(&USER, root, b"/a", root, b"/proc/a", 5), Err(Errno::Rofs));
    assert_eq!(fs.walk_beneath(&USER, proc, b"..", true), Err(Errno::Notcapable));
    fs.check();
}

#[test]
fn a_freed_or_unassigned_inode_number_is_stale() {
    let mut fs = tree();
    let root = fs.root();
    let file = fs.put("/gone", b"");
    fs.unlink(&USER, root, b"/gone", 6).expect("it exists");
    let next = fs.put("/next", b"new");
    assert_ne!(file, next);
    for ino in [file, Ino(0), Ino(u64::MAX), Ino(1 << 40), Ino(u64::from(u32::MAX))] {
        assert_eq!(fs.stat(ino), Err(Errno::Stale));
        assert_eq!(fs.walk(&USER, ino, b"x", true), Err(Errno::Stale));
        assert_eq!(fs.write_at(ino, 0, b"x", 6), Err(Errno::Stale));
        assert_eq!(fs.read_at(ino, 0, &mut [0]), Err(Errno::Stale));
        assert_eq!(fs.link(&USER, ino, root, b"/l", 6), Err(Errno::Stale));
        fs.hold(ino);
        fs.release(ino);
    }
    fs.check();
}
