//! Tars: round trips, tars of the system's `tar`, and hostile ones.

use std::fs;
use std::path::Path;
use std::process::Command;

use tar::{EntryType, Header};
use tidebox_core::{ErrorKind, Limits, SandboxBackend};
use tidebox_kernel::fs::Fs;

use super::random_tree::{create_random_tree, list_tree};
use super::scripted_engine::ScriptedEngine;
use super::{builder, js, mode, path, symlink, text, write};
use crate::{BaseImage, Program, Snapshot, VfsBackend};

pub(super) fn base() -> BaseImage {
    BaseImage::new(&[Program::new(["bash", "sh"], b"\0asm\x01\0\0\0".to_vec())]).unwrap()
}

pub(super) fn open(snapshot: &Snapshot) -> Fs {
    Fs::from_snapshot(&snapshot.files, &Limits::default())
}

pub(super) fn random(seed: u64) -> Snapshot {
    let sandbox = js();
    create_random_tree(sandbox.kernel("test").unwrap().lock().fs_mut(), seed, 60);
    sandbox.snapshot().unwrap()
}

fn to_tar(snapshot: &Snapshot) -> Vec<u8> {
    let mut bytes = Vec::new();
    snapshot.to_tar(&mut bytes).unwrap();
    bytes
}

fn from_tar(bytes: &[u8]) -> tidebox_core::Result<Snapshot> {
    Snapshot::from_tar(bytes, &base(), &Limits::default())
}

#[test]
fn a_random_tree_round_trips_to_an_equal_tar() {
    for seed in 1..25 {
        let before = random(seed);
        let bytes = to_tar(&before);
        let after = from_tar(&bytes).unwrap();
        assert_eq!(list_tree(&open(&after)), list_tree(&open(&before)), "seed {seed}");
        assert_eq!(to_tar(&after), bytes, "seed {seed}");
        assert!(Snapshot::diff(&before, &after).is_empty(), "seed {seed}");
    }
}

#[test]
fn a_tar_excludes_the_base_image() {
    let sandbox = js();
    write(&sandbox, "/workspace/mine", "x").unwrap();
    let bytes = to_tar(&sandbox.snapshot().unwrap());
    let mut archive = tar::Archive::new(bytes.as_slice());
    let names: Vec<_> = archive.entries().unwrap().map(|entry| entry.unwrap().path_bytes().into_owned()).collect();
    assert_eq!(names, [b"workspace/mine"]);
}

#[test]
fn a_builder_accepts_a_tar_at_the_root_or_a_directory() {
    let sandbox = js();
    write(&sandbox, "/workspace/a", "kept").unwrap();
    let bytes = to_tar(&sandbox.snapshot().unwrap());
    let other = builder(ScriptedEngine::new([])).tar(bytes.clone()).tar_into(path("/tmp/x"), bytes).build().unwrap();
    assert_eq!((text(&other, "/workspace/a"), text(&other, "/tmp/x/workspace/a")), ("kept".into(), "kept".into()));
}

fn tar(arguments: &[&str], dir: &Path) -> bool {
    let output = match Command::new("tar").args(arguments).current_dir(dir).output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("not compared with the system's tar: {error}");
            return false;
        }
    };
    assert!(output.status.success(), "tar {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    true
}

#[test]
fn the_systems_tar_reads_and_rewrites_our_tars() {
    for seed in 30..36 {
        let before = random(seed);
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("ours.tar"), to_tar(&before)).unwrap();
        fs::create_dir(dir.path().join("out")).unwrap();
        for format in ["pax", "gnu"] {
            let created = tar(&["-xpf", "ours.tar", "-C", "out", "--no-same-owner"], dir.path())
                && tar(&["-cf", "theirs.tar", "--format", format, "-C", "out", "workspace"], dir.path());
            if !created {
                return;
            }
            let after = from_tar(&fs::read(dir.path().join("theirs.tar")).unwrap()).unwrap();
            // GNU's old format has no fractional seconds.
            let cut = |line: &String| match format {
                "gnu" => line.split(' ').filter(|word| word.len() < 18 || word.parse::<u64>().is_err()).collect(),
                _ => line.clone(),
            };
            let (after, before) = (list_tree(&open(&after)), list_tree(&open(&before)));
            let small =
                |lines: &[String]| lines.iter().map(cut).filter(|line| !line.contains("Dir")).collect::<Vec<_>>();
            assert_eq!(small(&after), small(&before), "seed {seed}, {format}");
        }
    }
}

/// A tar with one unchecked entry.
fn entry(kind: EntryType, name: &[u8], link: &[u8], size: u64, content: &[u8]) -> Vec<u8> {
    let mut header = Header::new_ustar();
    header.set_entry_type(kind);
    header.set_mode(0o777);
    header.set_mtime(1);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(size);
    header.as_ustar_mut().unwrap().name[..name.len()].copy_from_slice(name);
    header.as_ustar_mut().unwrap().linkname[..link.len()].copy_from_slice(link);
    header.set_cksum();
    let padding = vec![0; content.len().next_multiple_of(512) - content.len()];
    [header.as_bytes().as_slice(), content, &padding].concat()
}

fn file(name: &[u8]) -> Vec<u8> {
    entry(EntryType::Regular, name, b"", 4, b"text")
}

fn error_message(bytes: &[u8]) -> String {
    let error = from_tar(bytes).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{error}");
    error.to_string()
}

#[test]
fn hostile_names_and_kinds_are_rejected_with_a_reason() {
    let link = |target: &[u8]| entry(EntryType::Symlink, b"workspace/link", target, 0, b"");
    let cases: [(Vec<u8>, &str); 14] = [
        (file(b"../etc/passwd"), "'..'"),
        (file(b"workspace/../../etc/passwd"), "'..'"),
        (file(b"etc/passwd"), "system of the sandbox"),
        (file(b"etc/new"), "system of the sandbox"),
        (file(b"/bin/bash"), "system of the sandbox"),
        (file(b"proc/1/mem"), "/proc"),
        (file(b"workspace"), "system of the sandbox"),
        ([link(b"/tmp"), file(b"workspace/link/x")].concat(), "not a directory"),
        ([link(b".."), file(b"workspace/link/etc/x")].concat(), "not a directory"),
        (entry(EntryType::Link, b"workspace/passwd", b"etc/passwd", 0, b""), "hard link"),
        (entry(EntryType::Link, b"workspace/up", b"../etc/passwd", 0, b""), "'..'"),
        (entry(EntryType::Block, b"workspace/sda", b"", 0, b""), "device"),
        (entry(EntryType::Char, b"workspace/null", b"", 0, b""), "device"),
        (entry(EntryType::GNUSparse, b"workspace/holes", b"", 0, b""), "sparse"),
    ];
    for (bytes, expected) in cases {
        let message = error_message(&bytes);
        assert!(message.contains(expected), "{message} should say {expected}");
    }
}

#[test]
fn absolute_names_and_links_stay_inside_the_destination() {
    let bytes = [file(b"/workspace/a"), entry(EntryType::Symlink, b"workspace/l", b"/../../x", 0, b""), vec![0; 1024]];
    let sandbox = builder(ScriptedEngine::new([])).snapshot(&from_tar(&bytes.concat()).unwrap()).build().unwrap();
    assert_eq!((text(&sandbox, "/workspace/a"), mode(&sandbox, "/workspace/a")), ("text".into(), 0o777));
}

#[test]
fn replacing_a_link_keeps_its_target() {
    let sandbox = js();
    write(&sandbox, "/workspace/kept", "kept").unwrap();
    symlink(&sandbox, "kept", "/workspace/a");
    let bytes =
        [to_tar(&sandbox.snapshot().unwrap())[..].strip_suffix(&[0; 1024]).unwrap(), &file(b"workspace/a")].concat();
    let other = builder(ScriptedEngine::new([])).snapshot(&from_tar(&bytes).unwrap()).build().unwrap();
    assert_eq!((text(&other, "/workspace/kept"), text(&other, "/workspace/a")), ("kept".into(), "text".into()));
}

/// An endless stream that declares a huge size.
struct Endless {
    start: std::io::Cursor<Vec<u8>>,
    byte: u8,
}

impl std::io::Read for Endless {
    fn read(&mut self, dst: &mut [u8]) -> std::io::Result<usize> {
        match self.start.read(dst)? {
            0 => {
                dst.fill(self.byte);
                Ok(dst.len())
            }
            count => Ok(count),
        }
    }
}

#[test]
fn a_decompression_bomb_ends_at_the_limit() {
    let mut limits = Limits::default();
    (limits.file_bytes, limits.single_file_bytes) = (1 << 20, 4 << 20);
    for kind in [EntryType::Regular, EntryType::XHeader, EntryType::GNULongName, EntryType::GNULongLink] {
        for byte in [0, b'x'] {
            let start = entry(kind, b"workspace/bomb", b"", 7 << 30, b"");
            let stream = Endless { start: std::io::Cursor::new(start), byte };
            assert!(Snapshot::from_tar(stream, &base(), &limits).is_err(), "{kind:?} of {byte}");
        }
    }
    limits.inodes = 100;
    let many: Vec<u8> = (0..2000).flat_map(|at| file(format!("workspace/{at}").as_bytes())).collect();
    assert!(Snapshot::from_tar(many.as_slice(), &base(), &limits).is_err());
}

#[test]
fn a_truncated_or_corrupt_tar_never_panics() {
    let bytes = to_tar(&random(7));
    let mut random = super::random_tree::Random(3);
    for _ in 0..300 {
        let mut bad = bytes.clone();
        for _ in 0..=random.below(4) {
            let at = random.below(bad.len() as u64) as usize;
            bad[at] = random.below(256) as u8;
        }
        // A flipped bit in a file's content is not detected; the reader must only return.
        let _ = from_tar(&bad);
    }
    let whole = list_tree(&open(&from_tar(&bytes).unwrap()));
    for cut in (0..bytes.len() - 1024).step_by(bytes.len() / 97) {
        // A cut between two entries looks like the end; inside one it is rejected.
        if let Ok(cut) = from_tar(&bytes[..cut]) {
            assert!(list_tree(&open(&cut)).iter().all(|line| whole.contains(line) || line.contains("Dir")), "{cut:?}");
        }
    }
}

#[test]
fn closing_a_sandbox_keeps_its_snapshot() {
    let sandbox: VfsBackend = js();
    write(&sandbox, "/workspace/a", "x").unwrap();
    let snapshot = sandbox.snapshot().unwrap();
    futures_executor::block_on(sandbox.close()).unwrap();
    assert_eq!(list_tree(&open(&snapshot)).len(), 1);
}
