use super::{USER, fresh};
use crate::errno::Errno;

#[test]
fn entries_come_in_the_order_of_their_bytes_from_behind_a_name() {
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
fn create_gives_the_file_that_exists_unless_it_must_be_new() {
    let mut fs = fresh();
    let root = fs.root();
    let (ino, created) = fs.create(&USER, root, b"a", 0o640, false, 7).expect("a new file");
    assert!(created);
    assert_eq!(fs.create(&USER, root, b"a", 0o600, false, 8), Ok((ino, false)));
    assert_eq!(fs.create(&USER, root, b"a", 0o600, true, 8), Err(Errno::Exist));
    assert_eq!(fs.stat(ino).expect("alive").mode, 0o640);
}

#[test]
fn an_unlinked_file_lives_while_it_is_held() {
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
    fs.release(ino);
    assert_eq!(fs.stat(ino), Err(Errno::Stale));
    assert_eq!(fs.usage().file_bytes, 0);
}
