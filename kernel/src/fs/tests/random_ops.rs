//! Random calls over a small set of paths, each followed by a check of the whole file system.

use tidebox_core::Limits;

use super::super::{FileUsage, Fs, Ino};
use super::{Dice, USER, with_limits};
use crate::errno::Errno;

const PATHS: [&str; 24] = [
    "a",
    "b",
    "c",
    "a/a",
    "a/b",
    "a/c",
    "b/a",
    "b/b",
    "b/c",
    "c/a",
    "c/b",
    "a/a/a",
    "a/a/b",
    "a/b/a",
    "b/a/c",
    "b/c/",
    "a/../b",
    "./c",
    "a/.",
    "a/..",
    "/",
    "c/",
    "a/b/../a/b",
    "a/a/a/a",
];

fn one_call(fs: &mut Fs, dice: &mut Dice, held: &mut Vec<Ino>) -> Result<(), Errno> {
    let root = fs.root();
    let (old, new) = (dice.pick(&PATHS).as_bytes(), dice.pick(&PATHS).as_bytes());
    match dice.roll(11) {
        0 => fs.create(&USER, root, old, 0o644, dice.roll(2) == 0, 6).map(|_| ()),
        1 | 2 => fs.mkdir(&USER, root, old, 0o755, 6).map(|_| ()),
        3 => fs.symlink(&USER, new, root, old, 6).map(|_| ()),
        4 => fs.walk(&USER, root, old, false).and_then(|target| match target {
            super::Resolved::Node(ino) => fs.link(&USER, ino, root, new, 6),
            super::Resolved::Proc(_) => Err(Errno::Rofs),
        }),
        5 => fs.unlink(&USER, root, old, 6),
        6 => fs.rmdir(&USER, root, old, 6),
        7 | 8 => fs.rename(&USER, root, old, root, new, 6),
        9 => fs.at(dice.pick(&PATHS)).and_then(|ino| fs.write_at(ino, dice.roll(99), b"text", 6)).map(|_| ()),
        _ => {
            if let Some(ino) = held.pop_if(|_| dice.roll(2) == 0) {
                fs.release(ino);
            } else if let Ok(ino) = fs.at(dice.pick(&PATHS)) {
                fs.hold(ino);
                held.push(ino);
            }
            Ok(())
        }
    }
}

/// Removes everything that a guest can remove.
fn clear(fs: &mut Fs, dir: Ino) {
    let below: Vec<(Vec<u8>, Ino)> = fs.read_dir(dir, None).map(|(name, ino, _)| (name.into_owned(), ino)).collect();
    for (name, ino) in below {
        if fs.unlink(&USER, dir, &name, 7) == Err(Errno::Isdir) {
            clear(fs, ino);
            fs.rmdir(&USER, dir, &name, 7).expect("it is empty now");
        }
    }
}

#[test]
fn random_calls_keep_counts_pointers_and_charges_consistent() {
    let mut failures = 0;
    for seed in 1..60 {
        let mut limits = Limits::default();
        (limits.inodes, limits.file_bytes) = (12, 400);
        let (mut fs, mut dice, mut held) = (with_limits(&limits), Dice(seed), Vec::new());
        for _ in 0..500 {
            let before = fs.dump();
            if one_call(&mut fs, &mut dice, &mut held).is_err() {
                assert_eq!(fs.dump(), before, "a call that fails changes nothing");
                failures += 1;
            }
            fs.check();
        }
        let root = fs.root();
        clear(&mut fs, root);
        held.into_iter().for_each(|ino| fs.release(ino));
        fs.check();
        assert_eq!(fs.usage(), FileUsage::default());
    }
    assert!((5000..25000).contains(&failures), "the calls neither all fail nor all succeed: {failures}");
}

fn any_path(dice: &mut Dice) -> Vec<u8> {
    const BYTES: &[u8; 40] = b"////////....aaaaaaaabbbbbbbbpppppppp\0\xff..";
    (0..dice.roll(12)).map(|_| BYTES[dice.roll(BYTES.len() as u64) as usize]).collect()
}

#[test]
fn arbitrary_path_bytes_are_handled() {
    let (mut fs, mut dice) = (with_limits(&Limits::default()), Dice(99));
    fs.install_proc(b"/p").expect("free");
    let mut succeeded = 0;
    for _ in 0..20_000 {
        let (old, new, root) = (any_path(&mut dice), any_path(&mut dice), fs.root());
        let done = match dice.roll(8) {
            0 => fs.create(&USER, root, &old, 0o644, dice.roll(2) == 0, 6).map(|_| ()),
            1 => fs.mkdir(&USER, root, &old, 0o755, 6).map(|_| ()),
            2 => fs.symlink(&USER, &new, root, &old, 6).map(|_| ()),
            3 => fs.unlink(&USER, root, &old, 6),
            4 => fs.rmdir(&USER, root, &old, 6),
            5 => fs.rename(&USER, root, &old, root, &new, 6),
            6 => fs.walk(&USER, root, &old, dice.roll(2) == 0).map(|_| ()),
            _ => fs.walk_beneath(&USER, root, &old, dice.roll(2) == 0).map(|_| ()),
        };
        succeeded += usize::from(done.is_ok());
    }
    fs.check();
    assert!(succeeded > 1000, "too few calls succeeded: {succeeded}");
}

/// Incremental saving relies on this: only changes are saved.
#[test]
fn equal_snapshots_have_the_same_tree() {
    let (mut same, mut other) = (0, 0);
    for seed in 1..60 {
        let (mut fs, mut dice, mut held) = (with_limits(&Limits::default()), Dice(seed), Vec::new());
        for _ in 0..300 {
            let (before, tree) = (fs.snapshot(), fs.dump());
            // Files that are held without a name are excluded from each snapshot, which makes another tree of it.
            assert!(before.ptr_eq(&fs.snapshot()) || !held.is_empty(), "reading changes nothing");
            let ino = fs.at(dice.pick(&PATHS)).unwrap_or(fs.root());
            // The call may fail or have no effect.
            let _ = match dice.roll(5) {
                0 => fs.chmod(&USER, ino, 0o700 | dice.roll(0o77) as u32, 7),
                1 => fs.set_times(&USER, ino, None, Some(dice.roll(99)), 7),
                2 => fs.truncate(ino, dice.roll(9), 7),
                _ => one_call(&mut fs, &mut dice, &mut held),
            };
            if before.ptr_eq(&fs.snapshot()) {
                assert_eq!(fs.dump(), tree);
                same += 1;
            } else {
                other += 1;
            }
        }
    }
    assert!(same > 3000 && other > 3000, "{same} {other}");
}
