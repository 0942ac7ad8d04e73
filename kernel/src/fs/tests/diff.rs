use std::ops::ControlFlow;

use tidebox_core::Limits;

use super::super::blocks::BLOCK;
use super::super::{Block, Contents, Fs, FsSnapshot};
use super::{Dice, USER, fresh};
use crate::errno::Errno;

fn differences(before: &FsSnapshot, after: &FsSnapshot) -> Vec<String> {
    let mut found = Vec::new();
    let done = before.visit_changes(after, &mut |path, before, after| {
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
fn a_diff_lists_exactly_the_changes() {
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
    fs.unlink(&USER, root, b"gone/x", 6).expect("it exists");
    fs.rmdir(&USER, root, b"gone", 6).expect("it exists");
    fs.unlink(&USER, root, b"link", 6).expect("it exists");
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
fn rewriting_the_same_bytes_is_not_a_difference() {
    let mut fs = fresh();
    let file = fs.put("f", &[0; 10]);
    let before = fs.snapshot();
    fs.truncate(file, 0, 6).expect("ours");
    fs.truncate(file, 10, 6).expect("a hole reads as zeros");
    assert_eq!(differences(&before, &fs.snapshot()), [""; 0]);
}

#[test]
fn a_directory_replacing_a_file_is_one_change_plus_its_entries() {
    let mut fs = fresh();
    let root = fs.root();
    fs.put("x", b"1");
    let before = fs.snapshot();
    fs.unlink(&USER, root, b"x", 6).expect("it exists");
    fs.dir("x");
    fs.put("x/y", b"1");
    assert_eq!(differences(&before, &fs.snapshot()), ["~/x", "+/x/y"]);
}

#[test]
fn unrelated_trees_are_compared_by_content() {
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
fn a_diff_finds_all_random_changes() {
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
                    fs.unlink(&USER, root, name.as_bytes(), 6).expect("it exists");
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
fn returning_break_ends_the_diff() {
    let mut fs = fresh();
    let before = fs.snapshot();
    fs.put("a", b"");
    fs.put("b", b"");
    let mut seen = 0;
    let done = before.visit_changes(&fs.snapshot(), &mut |_, _, _| {
        seen += 1;
        ControlFlow::Break(())
    });
    assert_eq!((done, seen), (ControlFlow::Break(()), 1));
}

#[test]
fn assigned_contents_are_shared_charged_and_limited() {
    let mut limits = Limits::default();
    limits.file_bytes = 3 * BLOCK as u64;
    let mut fs = super::with_limits(&limits);
    let (one, two) = (fs.put("one", b""), fs.put("two", b""));
    let block = Block::new(vec![7; BLOCK]).expect("not empty");
    let contents = Contents::from_blocks(2 * BLOCK as u64, [(1, block.clone())]).expect("within");
    fs.set_contents(one, contents.clone(), 6).expect("room");
    fs.set_contents(two, contents.clone(), 6).expect("room");
    assert_eq!(fs.usage().file_bytes, 2 * BLOCK as u64);
    let slice = |fs: &Fs, ino| fs.contents(ino).expect("a file").blocks().map(|(_, bytes)| bytes.as_ptr()).next();
    assert_eq!(slice(&fs, one), slice(&fs, two));
    fs.write_at(one, BLOCK as u64, b"x", 7).expect("room");
    assert!(fs.contents(two).expect("a file").reads_like(&contents));
    let twice = Contents::from_blocks(3 * BLOCK as u64, [(1, block.clone()), (2, block.clone())]).expect("within");
    let three = fs.put("three", b"");
    assert_eq!(fs.set_contents(three, twice, 6), Err(Errno::Nospc));
    fs.check();
    assert!(Contents::from_blocks(10, [(0, block.clone())]).is_none(), "beyond the end");
    assert!(Contents::from_blocks(u64::MAX, [(u64::MAX, block.clone())]).is_none(), "beyond the integer range");
    assert!(Contents::from_blocks(2 * BLOCK as u64, [(1, block.clone()), (1, block)]).is_none(), "twice");
    assert!(Block::new(Vec::new()).is_none() && Block::new(vec![0; BLOCK + 1]).is_none());
}
