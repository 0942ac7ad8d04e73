use std::borrow::Cow;

use tidebox_core::Limits;

use super::super::blocks::{BLOCK, MIN_CHARGE};
use super::super::{Contents, FileBytes};
use super::{fresh, with_limits};
use crate::errno::Errno;

const B: u64 = BLOCK as u64;

#[test]
fn a_write_past_the_end_leaves_an_uncharged_hole_of_zeros() {
    let mut fs = fresh();
    let ino = fs.put("f", b"ab");
    assert_eq!(fs.write_at(ino, 3 * B, b"cd", 6), Ok(2));
    assert_eq!(fs.len(ino), Ok(3 * B + 2));
    assert_eq!(fs.usage().file_bytes, 2 + MIN_CHARGE);
    let bytes = fs.read_all(ino, u64::MAX).expect("a file");
    assert!(bytes.starts_with(b"ab") && bytes.ends_with(b"cd"));
    assert!(bytes[2..3 * BLOCK].iter().all(|&byte| byte == 0));
    fs.check();
}

#[test]
fn a_file_that_shrinks_and_grows_shows_zeros() {
    let mut fs = fresh();
    let ino = fs.put("f", &[9; 2 * BLOCK + 10]);
    for len in [2 * B + 5, 2 * B, B + 1, B, B - 1, 1, 0] {
        fs.truncate(ino, len, 6).expect("a file");
        fs.check();
        fs.truncate(ino, 3 * B, 6).expect("a file");
        let bytes = fs.read_all(ino, u64::MAX).expect("a file");
        assert_eq!(bytes.iter().rposition(|&byte| byte != 0).map_or(0, |at| at as u64 + 1), len);
    }
    assert_eq!(fs.usage().file_bytes, 0);
}

#[test]
fn reads_stop_at_the_end() {
    let mut fs = fresh();
    let ino = fs.put("f", b"hello");
    let mut dst = [b'-'; 4];
    assert_eq!(fs.read_at(ino, 3, &mut dst), Ok(2));
    assert_eq!(&dst, b"lo--");
    for offset in [5, 6, B, u64::MAX] {
        assert_eq!(fs.read_at(ino, offset, &mut dst), Ok(0));
    }
    assert_eq!(fs.read_at(ino, 0, &mut []), Ok(0));
}

#[test]
fn offsets_near_the_integer_limit_are_rejected() {
    let mut limits = Limits::default();
    limits.single_file_bytes = u64::MAX;
    let mut fs = with_limits(&limits);
    let ino = fs.put("f", b"x");
    let before = fs.dump();
    for offset in [u64::MAX, u64::MAX - 1, 1 << 63] {
        assert_eq!(fs.write_at(ino, offset, b"ab", 6), Err(Errno::Inval));
        assert_eq!(fs.truncate(ino, offset, 6), Err(Errno::Inval));
    }
    assert_eq!(fs.write_at(ino, i64::MAX as u64, b"ab", 6), Err(Errno::Fbig));
    assert_eq!(fs.dump(), before);
    assert_eq!(fs.write_at(ino, i64::MAX as u64 - 1, b"ab", 6), Ok(1));
    assert_eq!(fs.len(ino), Ok(i64::MAX as u64));
    assert_eq!(fs.read_all(ino, 1000), Err(Errno::Fbig));
    let mut end = [0; 8];
    assert_eq!(fs.read_at(ino, i64::MAX as u64 - 2, &mut end), Ok(2));
    assert_eq!(end, [0, b'a', 0, 0, 0, 0, 0, 0]);
    fs.check();
}

#[test]
fn contents_do_not_change_with_the_file() {
    let mut fs = fresh();
    let text = vec![b'a'; 3 * BLOCK];
    let ino = fs.put("f", &text);
    let kept = fs.contents(ino).expect("a file");
    fs.write_at(ino, B - 1, b"xyz", 6).expect("room");
    fs.truncate(ino, 2 * B, 6).expect("a file");
    assert_eq!(kept.to_vec(), text);
    let mut three = [0; 3];
    assert_eq!(kept.clone().read_at(B - 1, &mut three), 3);
    assert_eq!(&three, b"aaa");
    fs.write_all(ino, b"", 6).expect("a file");
    drop(fs);
    assert_eq!((kept.len(), kept.as_bytes().as_ref()), (3 * B, text.as_slice()));
    assert!(Contents::default().is_empty() && !kept.is_empty());
}

#[test]
fn contents_are_identical_until_a_write() {
    let mut fs = fresh();
    for len in [1, BLOCK, 3 * BLOCK] {
        let ino = fs.put("f", &vec![b'a'; len]);
        let kept = fs.contents(ino).expect("a file");
        assert!(kept.is_same(&fs.contents(ino).expect("a file")));
        assert!(kept.shared().is_none());
        fs.write_at(ino, len as u64 - 1, b"a", 6).expect("room");
        assert!(!kept.is_same(&fs.contents(ino).expect("a file")), "{len}: equal bytes are not the same bytes");
    }
    let bytes = FileBytes::from(vec![1, 2]);
    let ino = fs.install(b"/tool", bytes.clone(), 0o755, 0).expect("free");
    let kept = fs.contents(ino).expect("a file");
    assert!(kept.shared().is_some_and(|shared| shared.is_same(&bytes)));
    fs.truncate(ino, 1, 6).expect("a file");
    assert!(!kept.is_same(&fs.contents(ino).expect("a file")));
}

#[test]
fn a_file_of_one_block_is_borrowed_without_copying() {
    let mut fs = fresh();
    let ino = fs.put("f", b"small");
    assert!(matches!(fs.contents(ino).expect("a file").as_bytes(), Cow::Borrowed(b"small")));
    fs.truncate(ino, 6, 6).expect("a file");
    assert!(matches!(fs.contents(ino).expect("a file").as_bytes(), Cow::Owned(bytes) if bytes == b"small\0"));
}

#[test]
fn the_version_changes_only_with_the_content() {
    let mut fs = fresh();
    let (a, b) = (fs.put("a", b"1"), fs.put("b", b"1"));
    let mut seen = vec![fs.version(a), fs.version(b)];
    fs.chmod(&super::USER, a, 0o600, 6).expect("owned");
    assert_eq!(fs.version(a), seen[0]);
    fs.write_at(a, 0, b"2", 6).expect("room");
    seen.push(fs.version(a));
    fs.write_all(a, b"1", 6).expect("room");
    seen.push(fs.version(a));
    fs.truncate(a, 0, 6).expect("a file");
    seen.push(fs.version(a));
    let other = with_limits(&Limits::default());
    seen.push(other.version(other.root()));
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 6, "no two contents share a version, not even of two file systems");
    assert_eq!(fs.version(super::Ino(999)), 0);
}

#[test]
fn reading_a_directory_is_isdir_and_a_link_is_inval() {
    let mut fs = fresh();
    let d = fs.dir("d");
    let l = fs.symlink(&super::USER, b"d", fs.root(), b"l", 5).expect("free");
    for (ino, error) in [(d, Errno::Isdir), (l, Errno::Inval)] {
        assert_eq!(fs.read_at(ino, 0, &mut [0]), Err(error));
        assert_eq!(fs.write_at(ino, 0, b"x", 6), Err(error));
        assert_eq!(fs.write_at(ino, 0, b"", 6), Err(error));
        assert_eq!(fs.truncate(ino, 0, 6), Err(error));
        assert_eq!(fs.write_all(ino, b"", 6), Err(error));
        assert_eq!(fs.contents(ino).map(|contents| contents.len()), Err(error));
        assert_eq!((fs.len(ino), fs.read_all(ino, 9)), (Err(error), Err(error)));
    }
}
