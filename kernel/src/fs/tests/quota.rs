use tidebox_core::Limits;

use super::super::blocks::{BLOCK, MIN_CHARGE};
use super::super::{FileUsage, Fs};
use super::{USER, with_limits};
use crate::errno::Errno;

fn tight(file_bytes: u64, inodes: u64, single_file_bytes: u64) -> Fs {
    let mut limits = Limits::default();
    (limits.file_bytes, limits.inodes, limits.single_file_bytes) = (file_bytes, inodes, single_file_bytes);
    with_limits(&limits)
}

#[test]
fn a_write_beyond_the_quota_is_partial_then_fails() {
    let mut fs = tight(100, 10, 1 << 30);
    let ino = fs.put("f", &[1; 60]);
    assert_eq!(fs.write_at(ino, 50, &[2; 100], 6), Ok(50));
    assert_eq!((fs.len(ino), fs.usage().file_bytes), (Ok(100), 100));
    let before = fs.dump();
    assert_eq!(fs.write_at(ino, 100, b"x", 7), Err(Errno::Nospc));
    assert_eq!(fs.write_all(ino, &[3; 101], 7), Err(Errno::Nospc));
    assert_eq!(fs.dump(), before);
    assert_eq!(fs.write_at(ino, 0, &[4; 100], 7), Ok(100), "existing bytes may be overwritten");
    fs.check();
}

#[test]
fn a_file_cannot_exceed_the_file_size_limit() {
    let mut fs = tight(1 << 30, 10, 1000);
    let ino = fs.put("f", b"");
    assert_eq!(fs.write_at(ino, 990, &[1; 20], 6), Ok(10));
    let before = fs.dump();
    assert_eq!(fs.write_at(ino, 1000, b"x", 7), Err(Errno::Fbig));
    assert_eq!(fs.write_at(ino, 1 << 40, b"x", 7), Err(Errno::Fbig));
    assert_eq!(fs.truncate(ino, 1001, 7), Err(Errno::Fbig));
    assert_eq!(fs.write_all(ino, &[1; 1001], 7), Err(Errno::Fbig));
    assert_eq!(fs.dump(), before);
    fs.truncate(ino, 1000, 7).expect("at the limit");
}

#[test]
fn content_beyond_the_quota_keeps_the_old_content() {
    let mut fs = tight(10, 10, 1 << 30);
    let ino = fs.put("f", b"0123456789");
    let before = fs.dump();
    assert_eq!(fs.write_all(ino, b"0123456789A", 7), Err(Errno::Nospc));
    assert_eq!(fs.dump(), before);
    fs.write_all(ino, b"abcdefghij", 7).expect("the old bytes are refunded first");
    assert_eq!(fs.read_all(ino, 10).as_deref(), Ok(&b"abcdefghij"[..]));
}

#[test]
fn changing_an_installed_file_requires_quota_for_all_of_it() {
    let mut fs = tight(1000, 10, 1 << 30);
    let ino = fs.install(b"/tool", vec![7; 1000].into(), 0o755, 1000).expect("free");
    fs.put("f", b"x");
    let before = fs.dump();
    assert_eq!(fs.write_at(ino, 0, b"y", 6), Err(Errno::Nospc));
    assert_eq!(fs.truncate(ino, 1001, 6), Err(Errno::Nospc));
    assert_eq!(fs.dump(), before);
    fs.unlink(&USER, fs.root(), b"f", 6).expect("it exists");
    assert_eq!(fs.write_at(ino, 0, b"y", 6), Ok(1));
    assert_eq!(fs.usage().file_bytes, 1000);
}

#[test]
fn small_blocks_between_holes_cannot_exceed_the_quota() {
    let mut fs = tight(10 * MIN_CHARGE, 10, 1 << 40);
    let ino = fs.put("f", b"");
    let written = (1..1000).take_while(|at| fs.write_at(ino, at * BLOCK as u64, b"x", 6) == Ok(1)).count();
    assert_eq!(written, 10);
    fs.check();
}

#[test]
fn a_partial_write_ends_at_the_budget_in_any_block() {
    for available in 0..3 * MIN_CHARGE {
        for (offset, len) in [(0, 700), (BLOCK as u64 - 100, 700), (2 * BLOCK as u64 + 300, 500)] {
            let mut fs = tight(available, 10, 1 << 30);
            let ino = fs.put("f", b"");
            let count = fs.write_at(ino, offset, &vec![1; len], 6);
            fs.check();
            assert!(fs.usage().file_bytes <= available);
            match count {
                Ok(count) if count == len => {}
                Ok(count) => {
                    let more = fs.write_at(ino, offset + count as u64, b"x", 6);
                    assert_eq!(more, Err(Errno::Nospc), "{available} {offset}: stopped early");
                }
                Err(error) => assert_eq!((error, fs.len(ino)), (Errno::Nospc, Ok(0))),
            }
        }
    }
}

#[test]
fn files_directories_and_links_count_as_inodes() {
    let mut fs = tight(1 << 20, 4, 1 << 20);
    let root = fs.root();
    let f = fs.put("f", b"");
    fs.dir("d");
    fs.symlink(&USER, b"f", root, b"s", 5).expect("available");
    fs.link(&USER, f, root, b"g", 5).expect("available");
    assert_eq!(fs.usage(), FileUsage { file_bytes: 1, inodes: 4 });
    let before = fs.dump();
    assert_eq!(fs.create(&USER, root, b"x", 0o644, false, 6), Err(Errno::Nospc));
    assert_eq!(fs.mkdir(&USER, root, b"x", 0o755, 6), Err(Errno::Nospc));
    assert_eq!(fs.symlink(&USER, b"f", root, b"x", 6), Err(Errno::Nospc));
    assert_eq!(fs.link(&USER, f, root, b"x", 6), Err(Errno::Nospc));
    assert_eq!(fs.dump(), before);
    fs.rename(&USER, root, b"f", root, b"x", 6).expect("renaming adds nothing");
    for path in ["x", "g", "s"] {
        fs.unlink(&USER, root, path.as_bytes(), 6).expect(path);
        fs.check();
    }
    fs.rmdir(&USER, root, b"d", 6).expect("empty");
    assert_eq!(fs.usage(), FileUsage::default());
}

#[test]
fn link_targets_are_charged_like_bytes() {
    let mut fs = tight(10, 10, 1 << 20);
    let root = fs.root();
    fs.symlink(&USER, b"123456", root, b"a", 5).expect("available");
    let before = fs.dump();
    assert_eq!(fs.symlink(&USER, b"12345", root, b"b", 5), Err(Errno::Nospc));
    assert_eq!(fs.dump(), before);
    fs.unlink(&USER, root, b"a", 6).expect("it exists");
    assert_eq!(fs.usage(), FileUsage::default());
}
