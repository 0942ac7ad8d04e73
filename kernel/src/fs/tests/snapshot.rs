use tidebox_core::Limits;

use super::super::blocks::BLOCK;
use super::super::{Contents, FileUsage, Fs, FsSnapshot, Ino};
use super::{USER, fresh};
use crate::errno::Errno;

#[test]
fn a_snapshot_and_its_forks_are_independent() {
    let mut fs = fresh();
    let root = fs.root();
    fs.dir("d");
    let f = fs.put("d/f", &[1; 2 * BLOCK]);
    let snapshot = fs.snapshot();
    let mut fork = Fs::from_snapshot(&snapshot, &Limits::default());
    let before = fs.dump();
    assert_eq!(fork.dump(), before);
    fork.write_at(f, 5, b"fork", 6).expect("room");
    fork.unlink(&USER, root, b"d/f", 6).expect("it exists");
    fork.put("d/g", b"new");
    assert_eq!(fs.dump(), before);
    fs.write_at(f, 5, b"live", 6).expect("room");
    assert_eq!(fork.names("d"), ["g"]);
    assert_eq!(Fs::from_snapshot(&snapshot.clone(), &Limits::default()).dump(), before);
    fork.check();
    fs.check();
}

#[test]
fn a_fork_shares_the_bytes() {
    let mut fs = fresh();
    let f = fs.put("f", &[1; BLOCK]);
    let fork = Fs::from_snapshot(&fs.snapshot(), &Limits::default());
    let (ours, theirs) = (fs.contents(f).expect("a file"), fork.contents(f).expect("a file"));
    assert!(core::ptr::eq(ours.as_bytes().as_ref(), theirs.as_bytes().as_ref()));
}

#[test]
fn restoring_resets_files_and_usage_only() {
    let mut fs = fresh();
    let root = fs.root();
    let kept = fs.put("kept", b"old");
    let snapshot = fs.snapshot();
    let before = fs.dump();
    fs.write_all(kept, b"changed", 6).expect("room");
    fs.unlink(&USER, root, b"kept", 6).expect("it exists");
    let added = fs.put("added", b"x");
    fs.hold(added);
    fs.restore(&snapshot);
    assert_eq!(fs.dump(), before);
    assert_eq!(fs.usage(), FileUsage { file_bytes: 3, inodes: 1 });
    assert_eq!(fs.stat(added), Err(Errno::Stale));
    fs.release(added);
    fs.check();
}

#[test]
fn restoring_never_reuses_an_inode_number() {
    let mut fs = fresh();
    let root = fs.root();
    let snapshot = fs.snapshot();
    let mut seen: Vec<Ino> = Vec::new();
    for round in 0..10 {
        let ino = fs.put("f", b"");
        assert!(!seen.contains(&ino), "round {round}");
        seen.push(ino);
        if round % 3 == 0 {
            fs.unlink(&USER, root, b"f", 6).expect("it exists");
        } else {
            fs.restore(&snapshot);
        }
    }
}

#[test]
fn versions_are_not_reused_after_restoring() {
    let mut fs = fresh();
    let f = fs.put("f", b"");
    let snapshot = fs.snapshot();
    let mut seen = vec![fs.version(f)];
    for _ in 0..3 {
        fs.write_all(f, b"x", 6).expect("room");
        seen.push(fs.version(f));
        fs.restore(&snapshot);
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 4);
}

#[test]
fn unlinked_held_files_are_not_in_snapshots() {
    let mut fs = fresh();
    let root = fs.root();
    let (f, d) = (fs.put("f", b"text"), fs.dir("d"));
    fs.hold(f);
    fs.hold(d);
    fs.unlink(&USER, root, b"f", 6).expect("it exists");
    fs.rmdir(&USER, root, b"d", 6).expect("empty");
    let snapshot = fs.snapshot();
    assert_eq!(snapshot.usage(), FileUsage::default());
    assert_eq!(fs.read_all(f, 9).as_deref(), Ok(&b"text"[..]), "the live file system still has it");
    let fork = Fs::from_snapshot(&snapshot, &Limits::default());
    assert_eq!(fork.stat(f), Err(Errno::Stale));
    fork.check();
    fs.check();
    fs.release(f);
    fs.release(d);
    assert_eq!(fs.usage(), FileUsage::default());
}

#[test]
fn a_fork_with_lower_limits_keeps_its_files() {
    let mut fs = fresh();
    let f = fs.put("f", &[1; 1000]);
    let mut limits = Limits::default();
    (limits.file_bytes, limits.inodes, limits.single_file_bytes) = (10, 1, 100);
    let mut fork = Fs::from_snapshot(&fs.snapshot(), &limits);
    assert_eq!(fork.len(f), Ok(1000));
    assert_eq!(fork.write_at(f, 1000, b"x", 6), Err(Errno::Fbig));
    assert_eq!(fork.create(&USER, fork.root(), b"g", 0o644, false, 6), Err(Errno::Nospc));
    assert_eq!(fork.truncate(f, 1001, 6), Err(Errno::Fbig));
    fork.truncate(f, 500, 6).expect("a file beyond the limit may shrink");
    fork.truncate(f, 5, 6).expect("a file");
    assert_eq!(fork.write_at(f, 5, b"0123456789", 6), Ok(5));
}

#[test]
fn file_systems_snapshots_and_contents_cross_threads() {
    fn crosses<T: Send + Sync + 'static>() {}
    crosses::<Fs>();
    crosses::<FsSnapshot>();
    crosses::<Contents>();
}
