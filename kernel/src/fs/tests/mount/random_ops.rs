//! Random calls on a mount and on an ordinary tree, which have to look the same after each.

use tidebox_core::Limits;

use super::super::super::{Fs, Ino, MountMode, Resolved};
use super::super::{Dice, USER, fresh, with_limits};
use super::{Foreign, view};
use crate::errno::Errno;

const PATHS: [&str; 22] = [
    "m/a",
    "m/b",
    "m/file",
    "m/link",
    "m/dir",
    "m/dir/a",
    "m/dir/b",
    "m/dir/sub",
    "m/dir/sub/c",
    "m/empty",
    "m/empty/x",
    "m/dir/new",
    "m/b/a",
    "m/a/b",
    "m/dir/../file",
    "m/dir/sub/.",
    "m/a/",
    "m/dir/back",
    "m/./b",
    "m/dir/sub/../a",
    "m/link/x",
    "m/dir/",
];

/// Makes one random call and returns its result.
fn one_call(fs: &mut Fs, dice: &mut Dice, held: &mut Vec<Ino>) -> Result<u64, Errno> {
    let root = fs.root();
    let (old, new) = (dice.pick(&PATHS).as_bytes(), dice.pick(&PATHS).as_bytes());
    let number = dice.roll(70_000);
    let at = |fs: &Fs, path: &[u8], follow| match fs.walk(&USER, root, path, follow)? {
        Resolved::Node(ino) => Ok(ino),
        Resolved::Proc(_) => Err(Errno::Noent),
    };
    match dice.roll(14) {
        0 => fs.create(&USER, root, old, 0o644, number.is_multiple_of(2), 6).map(|(_, made)| made.into()),
        1 => fs.mkdir(&USER, root, old, 0o755, 6).map(|_| 0),
        2 => fs.symlink(&USER, b"dir/a", root, old, 6).map(|_| 0),
        // Hard links to symbolic links are not created in a read-write mount.
        3 => at(fs, old, true).and_then(|ino| fs.link(&USER, ino, root, new, 6)).map(|()| 0),
        4 => fs.unlink(&USER, root, old, 6).map(|()| 0),
        5 => fs.rmdir(&USER, root, old, 6).map(|()| 0),
        6 | 7 => fs.rename(&USER, root, old, root, new, 6).map(|()| 0),
        8 => at(fs, old, true).and_then(|ino| fs.write_at(ino, number, b"text", 6)).map(|count| count as u64),
        9 => at(fs, old, true).and_then(|ino| fs.truncate(ino, number, 6)).map(|()| 0),
        10 => at(fs, old, true).and_then(|ino| fs.chmod(&USER, ino, 0o700 | (number % 64) as u32, 6)).map(|()| 0),
        11 => at(fs, old, true).and_then(|ino| fs.write_all(ino, &new[..3], 6)).map(|()| 0),
        12 => match held.pop() {
            Some(ino) => {
                let written = fs.write_at(ino, 1, b"held", 6);
                let all = fs.read_all(ino, u64::MAX).map(|bytes| bytes.iter().map(|&byte| u64::from(byte)).sum());
                let nlink = fs.stat(ino).map(|stat| if stat.nlink == 0 { 0 } else { 1 << 60 });
                fs.release(ino);
                written.and(all).and_then(|sum: u64| Ok(sum + nlink?))
            }
            None => Ok(0),
        },
        _ => {
            let ino = at(fs, old, true)?;
            // The state of a removed directory differs, as between systems.
            if !fs.is_dir(ino)? {
                fs.hold(ino);
                held.push(ino);
            }
            Ok(1)
        }
    }
}

/// The tree to compare with: the same files at the same path.
fn plain() -> Fs {
    let mut fs = fresh();
    fs.dir("m");
    for dir in ["m/dir", "m/dir/sub", "m/empty"] {
        fs.dir(dir);
    }
    for (file, bytes) in [("file", "hello"), ("dir/a", "aaa"), ("dir/b", "bbb"), ("dir/sub/c", "ccc")] {
        fs.put(&format!("m/{file}"), bytes.as_bytes());
    }
    let root = fs.root();
    for (link, target) in [("link", "dir/a"), ("up", "../outside"), ("dir/back", "sub/../b"), ("absolute", "/m/file")] {
        fs.symlink(&USER, target.as_bytes(), root, format!("m/{link}").as_bytes(), 5).expect(link);
    }
    fs
}

/// Runs the same calls on both and returns the number of failures.
fn compare(seed: u64, mode: MountMode) -> usize {
    let foreign = Foreign::filled();
    let untouched = view(&foreign.fs(), "/");
    let (mut ours, mut theirs) = (plain(), super::mounted(&foreign, mode));
    let (mut dice, mut held) = (Dice(seed), (Vec::new(), Vec::new()));
    let mut failures = 0;
    for step in 0..300 {
        let state = dice.0;
        let mut again = Dice(state);
        let expected = one_call(&mut ours, &mut dice, &mut held.0);
        let got = one_call(&mut theirs, &mut again, &mut held.1);
        assert_eq!(got, expected, "seed {seed}, call {step}");
        assert_eq!(dice.0, again.0, "both orders are equal");
        failures += usize::from(got.is_err());
        assert_eq!(view(&theirs, "/m"), view(&ours, "/m"), "seed {seed}, after call {step}");
        if mode == MountMode::CopyOnWrite {
            assert_eq!(view(&foreign.fs(), "/"), untouched, "the mounted file system is only read");
        }
    }
    for ino in held.1 {
        theirs.release(ino);
    }
    foreign.fs().check();
    failures
}

#[test]
fn a_read_write_mount_behaves_like_the_tree() {
    let failures: usize = (1..12).map(|seed| compare(seed, MountMode::ReadWrite)).sum();
    assert!((1000..2900).contains(&failures), "the calls neither all fail nor all succeed: {failures}");
}

#[test]
fn a_copy_on_write_mount_behaves_like_the_tree() {
    let failures: usize = (1..12).map(|seed| compare(seed, MountMode::CopyOnWrite)).sum();
    assert!((1000..2900).contains(&failures), "the calls neither all fail nor all succeed: {failures}");
}

#[test]
fn upper_files_are_charged_and_refunded() {
    for seed in 1..40 {
        let foreign = Foreign::filled();
        let mut limits = Limits::default();
        (limits.inodes, limits.file_bytes) = (9, 100_000);
        let mut fs = with_limits(&limits);
        fs.mount(b"/m", foreign, MountMode::CopyOnWrite).expect("free");
        let (mut dice, mut held) = (Dice(seed), Vec::new());
        for _ in 0..400 {
            let _ = one_call(&mut fs, &mut dice, &mut held);
            let usage = fs.usage();
            assert!(usage.inodes <= 9 && usage.file_bytes <= 100_000);
            fs.check();
        }
    }
}
