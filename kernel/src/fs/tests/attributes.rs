use super::super::{Cred, Kind};
use super::{HOST, USER, fresh};
use crate::errno::Errno;

const OTHER: Cred = Cred { uid: 7, gid: 7 };
const MEMBER: Cred = Cred { uid: 7, gid: 1000 };

#[test]
fn the_first_matching_permission_class_decides() {
    let mut fs = fresh();
    let ino = fs.put("f", b"");
    fs.chmod(&USER, ino, 0o164, 6).expect("owned");
    let may = |cred: &Cred, want| fs.access(cred, ino, want).is_ok();
    assert!(may(&USER, 1) && !may(&USER, 4) && !may(&USER, 2), "the owner may not do what the group may");
    assert!(may(&MEMBER, 6) && !may(&MEMBER, 1) && !may(&MEMBER, 7));
    assert!(may(&OTHER, 4) && !may(&OTHER, 2) && may(&OTHER, 0));
    assert!(may(&HOST, 7));
    assert_eq!(fs.access(&OTHER, ino, 2), Err(Errno::Acces));
}

#[test]
fn only_the_owner_may_change_the_mode() {
    let mut fs = fresh();
    let ino = fs.put("f", b"");
    assert_eq!(fs.chmod(&OTHER, ino, 0o777, 6), Err(Errno::Perm));
    fs.chmod(&USER, ino, 0o17_7751, 6).expect("owned");
    let stat = fs.stat(ino).expect("alive");
    assert_eq!((stat.mode, stat.ctime, stat.mtime), (0o7751, 6, 5));
    fs.chmod(&HOST, ino, 0, 7).expect("the host may");
}

#[test]
fn only_the_owner_may_set_arbitrary_times() {
    let mut fs = fresh();
    let ino = fs.put("f", b"");
    fs.set_times(&USER, ino, Some(1), None, 9).expect("owned");
    fs.set_times(&USER, ino, None, Some(2), 9).expect("owned");
    let times = |fs: &super::Fs| fs.stat(ino).map(|stat| (stat.atime, stat.mtime, stat.ctime));
    assert_eq!(times(&fs), Ok((1, 2, 9)));
    assert_eq!(fs.set_times(&OTHER, ino, Some(1), Some(1), 10), Err(Errno::Perm));
    assert_eq!(fs.set_times(&OTHER, ino, Some(10), None, 10), Err(Errno::Perm));
    assert_eq!(fs.set_times(&OTHER, ino, Some(10), Some(10), 10), Err(Errno::Acces));
    fs.chmod(&USER, ino, 0o666, 9).expect("owned");
    fs.set_times(&OTHER, ino, Some(10), Some(10), 10).expect("a writer");
    assert_eq!(times(&fs), Ok((10, 10, 10)));
}

#[test]
fn new_inodes_inherit_the_group_of_a_set_group_id_directory() {
    let mut fs = fresh();
    let root = fs.root();
    let d = fs.mkdir(&USER, root, b"d", 0o777, 5).expect("free");
    fs.chown(d, 1000, 50).expect("alive");
    fs.chmod(&USER, d, 0o2777, 5).expect("owned");
    let (file, _) = fs.create(&OTHER, d, b"f", 0o10_6644, false, 5).expect("writable");
    let below = fs.mkdir(&OTHER, d, b"e", 0o755, 5).expect("writable");
    let stat = |ino| fs.stat(ino).map(|stat| (stat.kind, stat.uid, stat.gid, stat.mode));
    assert_eq!(stat(file), Ok((Kind::File, 7, 50, 0o6644)));
    assert_eq!(stat(below), Ok((Kind::Dir, 7, 50, 0o2755)));
}

#[test]
fn only_owners_may_remove_names_in_a_sticky_directory() {
    let mut fs = fresh();
    fs.install_dir(b"/shared", 0o1777, 0).expect("free");
    fs.install_dir(b"/shared/programs", 0o755, 0).expect("free");
    fs.install(b"/shared/theirs", b"x".to_vec().into(), 0o666, 0).expect("free");
    let shared = fs.at("/shared").expect("it exists");
    fs.create(&USER, shared, b"mine", 0o644, true, 1).expect("all users may add");
    assert_eq!(fs.unlink(&USER, shared, b"theirs", 2), Err(Errno::Perm));
    assert_eq!(fs.rmdir(&USER, shared, b"programs", 2), Err(Errno::Perm));
    assert_eq!(fs.rename(&USER, shared, b"programs", shared, b"other", 2), Err(Errno::Perm));
    assert_eq!(fs.rename(&USER, shared, b"mine", shared, b"theirs", 2), Err(Errno::Perm));
    assert_eq!(fs.rename(&USER, shared, b"mine", shared, b"moved", 2), Ok(()));
    assert_eq!(fs.unlink(&USER, shared, b"moved", 3), Ok(()));
    assert_eq!(fs.unlink(&HOST, shared, b"theirs", 3), Ok(()));
    fs.check();
}
