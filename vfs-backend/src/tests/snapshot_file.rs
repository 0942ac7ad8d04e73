//! Snapshot files: round trips, corruption and forgery.

use std::sync::LazyLock;

use futures_executor::block_on;
use sha2::{Digest, Sha256};
use tidebox_core::{ErrorKind, Limits, SandboxBackend};
use tidebox_kernel::fs::Fs;

use super::random_tree::{Random, create_random_tree, list_tree};
use super::scripted_engine::ScriptedEngine;
use super::snapshot_tar::{base, open, random};
use super::{builder, js, mode, path, text, write};
use crate::{BaseImage, Program, ROOT, Snapshot, VfsBackend};

fn read(bytes: &[u8]) -> tidebox_core::Result<Snapshot> {
    static BASE: LazyLock<BaseImage> = LazyLock::new(base);
    Snapshot::from_bytes(bytes, &BASE, &Limits::default())
}

fn snapshot(sandbox: &VfsBackend) -> Snapshot {
    read(&sandbox.snapshot().unwrap().to_bytes()).unwrap()
}

fn with_fs<T>(sandbox: &VfsBackend, run: impl FnOnce(&mut Fs) -> T) -> T {
    run(sandbox.kernel("test").unwrap().lock().fs_mut())
}

#[test]
fn a_random_tree_round_trips_to_equal_bytes() {
    for seed in 1..25 {
        let before = random(seed);
        let bytes = before.to_bytes();
        let after = read(&bytes).unwrap();
        assert_eq!(list_tree(&open(&after)), list_tree(&open(&before)), "seed {seed}");
        assert_eq!(after.to_bytes(), bytes, "seed {seed}");
        assert!(Snapshot::diff(&before, &after).is_empty(), "seed {seed}");
        assert_eq!((after.file_bytes(), after.inodes()), (before.file_bytes(), before.inodes()));
    }
}

#[test]
fn tar_snapshot_file_and_fork_of_a_random_tree_are_equal() {
    for seed in 40..50 {
        let sandbox = js();
        with_fs(&sandbox, |fs| create_random_tree(fs, seed, 80));
        let snapshot = sandbox.snapshot().unwrap();
        let expected = list_tree(&open(&snapshot));
        let mut tar = Vec::new();
        snapshot.to_tar(&mut tar).unwrap();
        let by_tar = Snapshot::from_tar(tar.as_slice(), &base(), &Limits::default()).unwrap();
        let fork = sandbox.fork().unwrap();
        let of_file = builder(ScriptedEngine::new([])).snapshot_bytes(&snapshot.to_bytes()).unwrap().build().unwrap();
        for other in [by_tar, fork.snapshot().unwrap(), of_file.snapshot().unwrap()] {
            assert_eq!(list_tree(&open(&other)), expected, "seed {seed}");
            assert_eq!(other.to_bytes().len(), other.to_bytes().len());
            assert!(Snapshot::diff(&snapshot, &other).is_empty(), "seed {seed}");
        }
    }
}

#[test]
fn only_changes_of_the_base_image_are_included() {
    let sandbox = builder(ScriptedEngine::new([])).hostname("other").build().unwrap();
    with_fs(&sandbox, |fs| {
        let root = fs.root();
        fs.rename(&ROOT, root, b"/bin", root, b"/moved", 7).unwrap();
        fs.unlink(&ROOT, root, b"/etc/passwd", 7).unwrap();
        fs.chmod(&ROOT, crate::file::locate(fs, b"/tmp", true).unwrap(), 0o700, 7).unwrap();
    });
    block_on(sandbox.delete(&path("/workspace"))).unwrap().unwrap();
    write(&sandbox, "/workspace", "a file now").unwrap();
    sandbox.set_shell_state(b"cd /".as_slice().into()).unwrap();
    let bytes = sandbox.snapshot().unwrap().to_bytes();
    assert!(bytes.len() < 2000, "{}", bytes.len());
    let snapshot = read(&bytes).unwrap();
    let fs = open(&snapshot);
    let exists = |path: &str| crate::file::locate(&fs, path.as_bytes(), true).is_ok();
    assert!(exists("/moved/bash") && exists("/moved/sh") && !exists("/bin") && !exists("/etc/passwd"));
    let ino = |path: &str| crate::file::locate(&fs, path.as_bytes(), true).unwrap();
    assert_eq!(ino("/moved/bash"), ino("/moved/sh"), "names of one program still are");
    let sandbox =
        builder(ScriptedEngine::new([])).hostname("other").cwd(path("/tmp")).snapshot(&snapshot).build().unwrap();
    assert_eq!((text(&sandbox, "/workspace"), mode(&sandbox, "/tmp")), ("a file now".into(), 0o700));
    assert_eq!(text(&sandbox, "/etc/hostname"), "other\n");
    assert_eq!(&*sandbox.shell_state(), b"cd /");
}

#[test]
fn a_moved_file_of_the_base_image_keeps_its_changes() {
    let sandbox = builder(ScriptedEngine::new([])).build().unwrap();
    with_fs(&sandbox, |fs| {
        let root = fs.root();
        let file = crate::file::locate(fs, b"/etc/passwd", true).unwrap();
        fs.write_all(file, b"changed", 7).unwrap();
        fs.chmod(&ROOT, file, 0o640, 7).unwrap();
        fs.rename(&ROOT, root, b"/etc/passwd", root, b"/moved", 7).unwrap();
        fs.link(&ROOT, file, root, b"/linked", 7).unwrap();
    });
    let fs = open(&snapshot(&sandbox));
    let moved = crate::file::locate(&fs, b"/moved", true).unwrap();
    assert_eq!(fs.contents(moved).unwrap().to_vec(), b"changed");
    assert_eq!(fs.stat(moved).unwrap().mode & 0o777, 0o640);
    assert_eq!(crate::file::locate(&fs, b"/linked", true), Ok(moved));
}

#[test]
fn equal_blocks_are_stored_once_and_shared_after_decoding() {
    let sandbox = js();
    let noise: Vec<u8> = (0..200_000_u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
    write(&sandbox, "/workspace/one", noise.clone()).unwrap();
    let single = sandbox.snapshot().unwrap().to_bytes().len();
    for number in 0..20 {
        write(&sandbox, &format!("/workspace/copy{number}"), noise.clone()).unwrap();
    }
    let bytes = sandbox.snapshot().unwrap().to_bytes();
    assert!(bytes.len() < single + 2000, "{} after {single}", bytes.len());
    let fs = open(&read(&bytes).unwrap());
    let place = |name: &str| {
        let contents = fs.contents(crate::file::locate(&fs, name.as_bytes(), true).unwrap()).unwrap();
        contents.block(1).as_ptr().addr()
    };
    assert_eq!(place("/workspace/one"), place("/workspace/copy7"));
}

#[test]
fn a_hole_takes_no_space() {
    let sandbox = js();
    write(&sandbox, "/workspace/sparse", "x").unwrap();
    with_fs(&sandbox, |fs| {
        let ino = crate::file::locate(fs, b"/workspace/sparse", true).unwrap();
        fs.truncate(ino, 400 << 20, 7).unwrap();
    });
    let bytes = sandbox.snapshot().unwrap().to_bytes();
    assert!(bytes.len() < 1000);
    assert_eq!(read(&bytes).unwrap().file_bytes(), 1);
}

#[test]
fn any_corruption_is_an_error() {
    let bytes = random(5).to_bytes();
    for cut in (0..bytes.len()).step_by(bytes.len() / 199) {
        assert_eq!(read(&bytes[..cut]).unwrap_err().kind(), ErrorKind::InvalidRequest, "cut at {cut}");
    }
    let mut random = Random(9);
    for _ in 0..300 {
        let mut bad = bytes.clone();
        let at = random.below(bad.len() as u64) as usize;
        bad[at] ^= 1 << random.below(8);
        assert_eq!(read(&bad).unwrap_err().kind(), ErrorKind::InvalidRequest, "flipped at {at}");
    }
    assert!(read(&[bytes.as_slice(), b"x"].concat()).is_err());
}

/// Updates the digest, as a forger would.
fn with_digest(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len().saturating_sub(32));
    let digest = Sha256::digest(&bytes);
    bytes.extend_from_slice(&digest);
    bytes
}

#[test]
fn a_forged_file_never_panics_or_exceeds_the_limits() {
    let mut limits = Limits::default();
    (limits.file_bytes, limits.inodes) = (3 << 20, 1000);
    let bytes = random(6).to_bytes();
    let mut random = Random(11);
    let mut read_well = 0;
    for _ in 0..3000 {
        let mut bad = bytes.clone();
        for _ in 0..=random.below(3) {
            // Most fields worth forging are in the records, at the start.
            let reach = if random.below(2) == 0 { 3000 } else { bad.len() as u64 };
            let at = 12 + random.below(reach - 12) as usize;
            bad[at] = random.below(256) as u8;
        }
        if let Ok(snapshot) = Snapshot::from_bytes(&with_digest(bad), &base(), &limits) {
            read_well += 1;
            assert!(snapshot.file_bytes() <= limits.file_bytes && snapshot.inodes() <= limits.inodes);
        }
    }
    assert!(read_well > 0, "some changes are harmless");
}

/// Builds a file with forged records and valid compression.
fn forged(meta: &[u8], claimed: u64) -> Vec<u8> {
    let packed = lz4_flex::block::compress(meta);
    let mut bytes = b"TIDESNAP\x01\0\0\0".to_vec();
    for number in [claimed, packed.len() as u64, 0] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(&packed);
    with_digest([bytes, vec![0; 32]].concat())
}

#[test]
fn forged_records_are_errors_and_allocate_nothing() {
    let mut random = Random(12);
    for _ in 0..20_000 {
        // Small numbers are more often valid: as kinds, counts and record numbers.
        let meta: Vec<u8> = (0..random.below(60))
            .map(|_| [random.below(10), random.below(256)][random.below(2) as usize] as u8)
            .collect();
        let _ = read(&forged(&[b"\0".as_slice(), &meta].concat(), meta.len() as u64 + 1));
    }
    let many = b"\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    assert!(read(&forged(many, many.len() as u64)).is_err());
    for claimed in [u64::MAX, 1 << 40, 1 << 29] {
        assert!(read(&forged(many, claimed)).is_err(), "{claimed}");
    }
    for name in [b"..".as_slice(), b".", b"a/b", b"/", b"a\0b", b"proc"] {
        let mut meta = vec![0, 1, 0, name.len() as u8];
        meta.extend_from_slice(name);
        // A symbolic link with all attributes 0.
        meta.extend_from_slice(&[6, 0, 0, 0, 0, 0, 0, 1, b'x']);
        assert!(read(&forged(&meta, meta.len() as u64)).is_err(), "{name:?}");
    }
}

#[test]
fn exceeded_limits_and_other_versions_are_errors() {
    let sandbox = js();
    write(&sandbox, "/workspace/a", vec![b'x'; 100_000]).unwrap();
    let bytes = sandbox.snapshot().unwrap().to_bytes();
    let mut limits = Limits::default();
    limits.file_bytes = 5000;
    let error = Snapshot::from_bytes(&bytes, &base(), &limits).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileOperationFailed, "{error}");
    let mut newer = bytes.clone();
    newer[8] = 9;
    assert!(read(&newer).unwrap_err().to_string().contains("format 9"));
    assert!(read(b"PK\x03\x04").unwrap_err().to_string().contains("do not start"));
}

#[test]
fn programs_come_from_the_base_image_of_the_reader() {
    let sandbox = js();
    write(&sandbox, "/workspace/a", "x").unwrap();
    let bytes = sandbox.snapshot().unwrap().to_bytes();
    let newer = BaseImage::new(&[Program::new(["bash", "new"], b"\0asm\x01\0\0\0".to_vec())]).unwrap();
    let fs = open(&Snapshot::from_bytes(&bytes, &newer, &Limits::default()).unwrap());
    assert!(crate::file::locate(&fs, b"/bin/new", true).is_ok());
    assert!(crate::file::locate(&fs, b"/workspace/a", true).is_ok());
    assert!(crate::file::locate(&fs, b"/bin/sh", true).is_err());
}

#[test]
fn a_callers_program_is_not_included_and_is_reinstalled() {
    let tool = |sandbox: crate::SandboxBuilder| sandbox.tool("mine", b"\0asm\x01\0\0\0".to_vec()).build().unwrap();
    let sandbox = tool(builder(ScriptedEngine::new([])));
    write(&sandbox, "/workspace/a", "x").unwrap();
    let snapshot = snapshot(&sandbox);
    assert!(crate::file::locate(&open(&snapshot), b"/usr/local/bin/mine", true).is_err());
    let again = tool(builder(ScriptedEngine::new([])).snapshot(&snapshot));
    assert!(with_fs(&again, |fs| crate::file::locate(fs, b"/usr/local/bin/mine", true).is_ok()));
    assert_eq!(text(&again, "/workspace/a"), "x");
}
