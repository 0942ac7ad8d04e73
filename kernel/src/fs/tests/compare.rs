use std::ops::ControlFlow;

use tidebox_core::Limits;

use super::super::blocks::BLOCK;
use super::super::{Block, Contents, Fs, Snapshot};
use super::{Dice, USER, fresh};
use crate::errno::Errno;

fn differences(before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let mut found = Vec::new();
    let done = before.compare(after, &mut |path, before, after| {
        let sign = match (before, after) {
            (None, Some(_)) => '+',
            (Some(_), None) => '-',
            _ => '~',
        };
        found.push(format!("{sign}{}", path.escape_ascii()));
        ControlFlow::Continue(())
    });
    assert!(done.is_continue());
    found
}

#[test]
fn what_was_added_changed_and_removed_is_told_and_nothing_else() {
    let mut fs = fresh();
    let root = fs.root();
    fs.dir("d");
    fs.dir("gone");
    fs.put("gone/x", b"1");
    fs.put("d/same", b"1");
    let mode = fs.put("d/mode", b"1");
    let content = fs.put("d/content", &[1; 3 * BLOCK]);
    fs.symlink(&USER, b"here", root, b"link", 5).expect("free");
    let before = fs.snapshot();
    assert_eq!(differences(&before, &fs.snapshot()), [""; 0]);
    fs.chmod(&USER, mode, 0o755, 6).expect("ours");
    fs.write_at(content, 2 * BLOCK as u64 + 5, b"y", 6).expect("room");
    fs.unlink(&USER, root, b"gone/x", 6).expect("there");
    fs.rmdir(&USER, root, b"gone", 6).expect("there");
    fs.unlink(&USER, root, b"link", 6).expect("there");
    fs.symlink(&USER, b"there", root, b"link", 6).expect("free");
    fs.dir("d/new");
    fs.put("d/new/file", b"2");
    let after = fs.snapshot();
    let expected = ["~/d/content", "~/d/mode", "+/d/new", "+/d/new/file", "-/gone", "-/gone/x", "~/link"];
    assert_eq!(differences(&before, &after), expected);
    let back = ["~/d/content", "~/d/mode", "-/d/new", "-/d/new/file", "+/gone", "+/gone/x", "~/link"];
    assert_eq!(differences(&after, &before), back);
}

#[test]
fn a_file_written_anew_with_the_same_bytes_is_no_difference() {
    let mut fs = fresh();
    let file = fs.put("f", &[0; 10]);
    let before = fs.snapshot();
    fs.truncate(file, 0, 6).expect("ours");
    fs.truncate(file, 10, 6).expect("a hole reads as zeros");
    assert_eq!(differences(&before, &fs.snapshot()), [""; 0]);
}

#[test]
fn a_directory_in_place_of_a_file_is_one_change_and_what_is_in_it() {
    let mut fs = fresh();
    let root = fs.root();
    fs.put("x", b"1");
    let before = fs.snapshot();
    fs.unlink(&USER, root, b"x", 6).expect("there");
    fs.dir("x");
    fs.put("x/y", b"1");
    assert_eq!(differences(&before, &fs.snapshot()), ["~/x", "+/x/y"]);
}

#[test]
fn trees_that_share_nothing_are_compared_by_what_they_hold() {
    let tree = |order: [&str; 3]| {
        let mut fs = fresh();
        for name in order {
            fs.put(name, name.as_bytes());
        }
        fs.snapshot()
    };
    assert_eq!(differences(&tree(["a", "b", "c"]), &tree(["c", "a", "b"])), [""; 0]);
    assert_eq!(differences(&tree(["a", "b", "c"]), &tree(["c", "a", "d"])), ["-/b", "+/d"]);
}

#[test]
fn random_changes_are_all_found() {
    for seed in 1..40 {
        let (mut fs, mut dice) = (fresh(), Dice(seed));
        let root = fs.root();
        let names: Vec<String> = (0..100).map(|number| format!("f{number}")).collect();
        for name in &names {
            fs.put(name, name.as_bytes());
        }
        let before = fs.snapshot();
        let mut expected = Vec::new();
        for name in &names {
            match dice.roll(6) {
                0 => {
                    fs.put(name, b"changed");
                    expected.push(format!("~/{name}"));
                }
                1 => {
                    fs.unlink(&USER, root, name.as_bytes(), 6).expect("there");
                    expected.push(format!("-/{name}"));
                }
                _ => {}
            }
        }
        expected.sort_by_key(|line| line[1..].to_owned());
        assert_eq!(differences(&before, &fs.snapshot()), expected, "seed {seed}");
    }
}

#[test]
fn breaking_ends_the_comparison() {
    let mut fs = fresh();
    let before = fs.snapshot();
    fs.put("a", b"");
    fs.put("b", b"");
    let mut seen = 0;
    let done = before.compare(&fs.snapshot(), &mut |_, _, _| {
        seen += 1;
        ControlFlow::Break(())
    });
    assert_eq!((done, seen), (ControlFlow::Break(()), 1));
}

#[test]
fn placed_blocks_are_shared_charged_and_bounded() {
    let mut limits = Limits::default();
    limits.file_bytes = 3 * BLOCK as u64;
    let mut fs = super::with_limits(&limits);
    let (one, two) = (fs.put("one", b""), fs.put("two", b""));
    let block = Block::new(vec![7; BLOCK]).expect("not empty");
    let contents = Contents::assemble(2 * BLOCK as u64, [(1, block.clone())]).expect("within");
    fs.place_contents(one, contents.clone(), 6).expect("room");
    fs.place_contents(two, contents.clone(), 6).expect("room");
    assert_eq!(fs.usage().file_bytes, 2 * BLOCK as u64);
    let slice = |fs: &Fs, ino| fs.contents(ino).expect("a file").blocks().map(|(_, bytes)| bytes.as_ptr()).next();
    assert_eq!(slice(&fs, one), slice(&fs, two));
    fs.write_at(one, BLOCK as u64, b"x", 7).expect("room");
    assert!(fs.contents(two).expect("a file").reads_like(&contents));
    let twice = Contents::assemble(3 * BLOCK as u64, [(1, block.clone()), (2, block.clone())]).expect("within");
    let three = fs.put("three", b"");
    assert_eq!(fs.place_contents(three, twice, 6), Err(Errno::Nospc));
    fs.check();
    assert!(Contents::assemble(10, [(0, block.clone())]).is_none(), "beyond the end");
    assert!(Contents::assemble(u64::MAX, [(u64::MAX, block.clone())]).is_none(), "beyond all numbers");
    assert!(Contents::assemble(2 * BLOCK as u64, [(1, block.clone()), (1, block)]).is_none(), "twice");
    assert!(Block::new(Vec::new()).is_none() && Block::new(vec![0; BLOCK + 1]).is_none());
}
