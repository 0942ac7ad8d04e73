//! Changes between snapshots: equal to whole snapshots under random operations, and at a cost that does not depend on the tree.

use futures_executor::block_on;
use tidebox_core::{ErrorKind, Limits, SandboxBackend};
use tidebox_kernel::fs::{Fs, Ino, Kind};

use super::random_tree::{Random, create_random_tree, list_tree};
use super::snapshot_tar::{base, open};
use super::{builder, js, path, scripted_engine::ScriptedEngine};
use crate::{Packing, ROOT, Snapshot, USER, VfsBackend, remove};

pub(super) fn with_fs<T>(sandbox: &VfsBackend, run: impl FnOnce(&mut Fs) -> T) -> T {
    run(sandbox.kernel("test").unwrap().lock().fs_mut())
}

/// All names outside `/bin` and `/usr`, with their directories.
fn names(fs: &Fs) -> Vec<(Ino, Vec<u8>, Ino, Kind)> {
    let (mut found, mut pending) = (Vec::new(), vec![fs.root()]);
    while let Some(dir) = pending.pop() {
        for (name, ino, kind) in fs.read_dir(dir, None) {
            if [b"proc".as_slice(), b"dev", b"usr"].contains(&&*name) {
                continue;
            }
            if kind == Kind::Dir {
                pending.push(ino);
            }
            found.push((dir, name.to_vec(), ino, kind));
        }
    }
    found
}

/// Runs one random operation; some of them fail.
fn operate(fs: &mut Fs, random: &mut Random, held: &mut Vec<Ino>) {
    let names = names(fs);
    let now = 1_800_000_000_000_000_000 + random.below(1 << 40);
    let (dir, name, ino, kind) = names[random.below(names.len() as u64) as usize].clone();
    let dirs: Vec<Ino> = names.iter().filter(|entry| entry.3 == Kind::Dir).map(|entry| entry.2).collect();
    let other_dir = if dirs.is_empty() { fs.root() } else { dirs[random.below(dirs.len() as u64) as usize] };
    let fresh = format!("{}", random.below(40)).into_bytes();
    let mut bytes = |longest| vec![b'a' + random.below(26) as u8; random.below(longest) as usize];
    match bytes(24).len() {
        0..=3 => {
            let created = fs.create(&ROOT, other_dir, &fresh, 0o644, true, now);
            let longest = if bytes(20).is_empty() { 200_000 } else { 2000 };
            if let Ok((ino, _)) = created {
                fs.write_all(ino, &bytes(longest), now).unwrap();
            }
        }
        4 => drop(fs.write_all(ino, &bytes(9000), now)),
        5 | 6 => {
            let end = fs.len(ino).unwrap_or(0);
            let _ = fs.write_at(ino, end, &bytes(3000), now);
        }
        7 => _ = fs.write_at(ino, bytes(200_000).len() as u64, &bytes(3000), now),
        8 => drop(fs.truncate(ino, bytes(150_000).len() as u64, now)),
        9..=11 => drop(fs.rename(&ROOT, dir, &name, other_dir, &fresh, now)),
        12 => {
            // Exchanges two names by a third.
            let (from, old, ..) = names[names.len() / 2].clone();
            if fs.rename(&ROOT, dir, &name, fs.root(), b"third", now).is_ok() {
                let _ = fs.rename(&ROOT, from, &old, dir, &name, now);
                let _ = fs.rename(&ROOT, fs.root(), b"third", from, &old, now);
            }
        }
        13 | 14 => drop(fs.link(&ROOT, ino, other_dir, &fresh, now)),
        15 | 16 => drop(fs.unlink(&ROOT, dir, &name, now)),
        17 => drop(fs.chmod(&ROOT, ino, 0o700 | bytes(64).len() as u32, now)),
        18 => drop(fs.set_times(&ROOT, ino, Some(now + 1), Some(now + 2), now)),
        19 => drop(fs.symlink(&USER, &name, other_dir, &fresh, now)),
        20 => drop(fs.mkdir(&ROOT, other_dir, &fresh, 0o755, now)),
        21 if kind == Kind::Dir => drop(remove::remove_tree(fs, &ROOT, dir, &name, ino, now)),
        22 => drop(fs.mkfifo(&ROOT, other_dir, &fresh, 0o600, now)),
        _ => {
            fs.hold(ino);
            held.push(ino);
        }
    }
    if held.len() > 4 {
        fs.release(held.remove(0));
    }
}

fn apply(before: &Snapshot, after: &Snapshot, packing: Packing, onto: &Snapshot) -> Snapshot {
    match after.changes_since(before, packing) {
        Some(changes) => onto.apply_changes(&changes, &Limits::default()).unwrap(),
        None => onto.clone(),
    }
}

#[track_caller]
fn assert_equal(one: &Snapshot, other: &Snapshot, what: &str) {
    assert_eq!((one.file_bytes(), one.inodes()), (other.file_bytes(), other.inodes()), "{what}");
    assert!(one.to_bytes() == other.to_bytes(), "{what}: the files differ");
}

#[test]
fn changes_give_the_snapshot_that_a_whole_file_gives() {
    for seed in 1..10 {
        let (sandbox, mut random, mut held) = (js(), Random(seed * 7919), Vec::new());
        with_fs(&sandbox, |fs| create_random_tree(fs, seed, 40));
        let created = sandbox.snapshot().unwrap();
        // Another sandbox, whose inodes have other numbers after this.
        let file = created.to_bytes();
        let elsewhere = || Snapshot::from_bytes(&file, &base(), &Limits::default()).unwrap();
        let (mut last, mut raw, mut packed, mut stored) = (created.clone(), elsewhere(), elsewhere(), elsewhere());
        for step in 0..8 {
            with_fs(&sandbox, |fs| {
                for _ in 0..random.below(25) {
                    operate(fs, &mut random, &mut held);
                }
            });
            if step == 5 {
                sandbox.set_shell_state(b"cd /tmp".as_slice().into()).unwrap();
            }
            let now = sandbox.snapshot().unwrap();
            raw = apply(&last, &now, Packing::Raw, &raw);
            packed = apply(&last, &now, Packing::Compressed, &packed);
            assert_equal(&raw, &now, &format!("seed {seed}, step {step}, raw"));
            assert_equal(&packed, &now, &format!("seed {seed}, step {step}, compressed"));
            stored = match now.changes_for_store(&last) {
                Some(changes) => stored.apply_stored_changes(&changes, &Limits::default()).unwrap(),
                None => Snapshot::from_bytes(&now.to_bytes(), &base(), &Limits::default()).unwrap(),
            };
            // A whole file charges directories of the base image that were moved; the files are equal.
            assert!(stored.to_bytes() == now.to_bytes(), "seed {seed}, step {step}, stored");
            let merged = apply(&created, &now, Packing::Raw, &elsewhere());
            assert_equal(&merged, &now, &format!("seed {seed}, step {step}, merged"));
            assert_eq!(list_tree(&open(&merged)), list_tree(&open(&now)), "seed {seed}, step {step}");
            if step == 6 {
                // A restore brings back old inodes, and later ones get other numbers.
                sandbox.restore(&created).unwrap();
                (raw, packed, stored) = (elsewhere(), elsewhere(), elsewhere());
            }
            last = sandbox.snapshot().unwrap();
        }
        let restored = builder(ScriptedEngine::new([])).build().unwrap();
        restored.restore(&raw).unwrap();
        assert_equal(&restored.snapshot().unwrap(), &last, &format!("seed {seed}, restored"));
    }
}

#[test]
fn only_what_differs_is_included() {
    let sandbox = js();
    super::write(&sandbox, "/workspace/big", vec![b'x'; 10 << 20]).unwrap();
    with_fs(&sandbox, |fs| create_random_tree(fs, 3, 400));
    let before = sandbox.snapshot().unwrap();
    with_fs(&sandbox, |fs| {
        let root = fs.root();
        let big = crate::file::locate(fs, b"/workspace/big", true).unwrap();
        fs.write_at(big, 5 << 20, b"y", 7).unwrap();
        fs.write_at(big, 10 << 20, b"appended", 7).unwrap();
        fs.rename(&ROOT, root, b"/workspace", root, b"/moved", 7).unwrap();
    });
    let changes = sandbox.snapshot().unwrap().changes_since(&before, Packing::Raw).unwrap();
    assert!(changes.len() < 66_000, "one block and a few names: {}", changes.len());
}

#[test]
fn an_unchanged_snapshot_has_no_changes() {
    let sandbox = js();
    let before = sandbox.snapshot().unwrap();
    block_on(sandbox.ls(&path("/workspace"))).unwrap().unwrap();
    assert_eq!(sandbox.snapshot().unwrap().changes_since(&before, Packing::Raw), None);
    sandbox.set_shell_state(b"x".as_slice().into()).unwrap();
    assert!(sandbox.snapshot().unwrap().changes_since(&before, Packing::Raw).is_some());
}

#[test]
fn changes_of_another_snapshot_and_forged_ones_are_errors() {
    let sandbox = js();
    with_fs(&sandbox, |fs| create_random_tree(fs, 4, 60));
    let before = sandbox.snapshot().unwrap();
    let (mut random, mut held) = (Random(17), Vec::new());
    with_fs(&sandbox, |fs| (0..60).for_each(|_| operate(fs, &mut random, &mut held)));
    let now = sandbox.snapshot().unwrap();
    let packed = now.changes_since(&before, Packing::Compressed).unwrap();
    let raw = now.changes_since(&before, Packing::Raw).unwrap();
    let error = js().snapshot().unwrap().apply_changes(&raw, &Limits::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{error}");
    for at in (0..packed.len()).step_by(packed.len() / 97) {
        let mut bad = packed.clone();
        bad[at] ^= 4;
        assert!(before.apply_changes(&bad, &Limits::default()).is_err(), "{at}");
    }
    let mut limits = Limits::default();
    (limits.file_bytes, limits.inodes) = (before.file_bytes() + 20_000, before.inodes() + 40);
    for _ in 0..1000 {
        let mut bad = raw.clone();
        for _ in 0..=random.below(3) {
            let reach = if random.below(2) == 0 { 2000.min(bad.len() as u64) } else { bad.len() as u64 };
            let at = 12 + random.below(reach - 12) as usize;
            bad[at] = random.below(256) as u8;
        }
        if let Ok(snapshot) = before.apply_changes(&bad, &limits) {
            assert!(snapshot.file_bytes() <= limits.file_bytes && snapshot.inodes() <= limits.inodes);
        }
    }
}

#[test]
fn stored_changes_apply_on_top_of_another_base_image() {
    let with_lib = |extra: &[&str]| {
        let programs = [crate::Program::new(["bash", "sh"], b"\0asm\x01\0\0\0".to_vec())];
        let files = extra.iter().map(|path| (*path).to_owned());
        let mut image = crate::BaseImage::new(&programs).unwrap();
        let mut fs = Fs::from_snapshot(&image.files, &Limits::default());
        for path in files {
            fs.install(path.as_bytes(), b"installed".to_vec().into(), 0o644, 0).unwrap();
        }
        image.files = fs.snapshot();
        image
    };
    let (old, new) = (with_lib(&["/usr/lib/old/a"]), with_lib(&["/usr/lib/new/b", "/usr/lib/clash"]));
    let read = |base: &crate::BaseImage, bytes: &[u8]| Snapshot::from_bytes(bytes, base, &Limits::default()).unwrap();
    let before = read(&old, &js().snapshot().unwrap().to_bytes());
    let mut fs = Fs::from_snapshot(&before.files, &Limits::default());
    let dir = crate::file::locate(&fs, b"/usr/lib/old", true).unwrap();
    let lib = crate::file::locate(&fs, b"/usr/lib", true).unwrap();
    for (dir, name) in [(dir, b"own".as_slice()), (lib, b"clash"), (lib, b"new")] {
        let (ino, _) = fs.create(&ROOT, dir, name, 0o644, true, 7).unwrap();
        fs.write_all(ino, b"own", 7).unwrap();
    }
    let now = Snapshot { files: fs.snapshot(), ..before.clone() };
    let changes = now.changes_for_store(&before).unwrap();
    let elsewhere = read(&new, &before.to_bytes()).apply_stored_changes(&changes, &Limits::default()).unwrap();
    let fs = Fs::from_snapshot(&elsewhere.files, &Limits::default());
    for path in [b"/usr/lib/old/own".as_slice(), b"/usr/lib/clash", b"/usr/lib/new"] {
        let ino = crate::file::locate(&fs, path, true).unwrap();
        assert_eq!(&*fs.contents(ino).unwrap().as_bytes(), b"own", "{}", path.escape_ascii());
    }
}
