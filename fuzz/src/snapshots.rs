//! Fuzz targets for saved sandboxes: snapshot files and tar archives.

use sha2::{Digest, Sha256};
use tidebox_core::Limits;
use tidebox_kernel::{SavedFile, SavedMemory, SavedObject, SavedProcess, SavedState};
use tidebox_vfs_backend::{BaseImage, Packing, Program, Snapshot, process_from_bytes, process_to_bytes};

fn base() -> BaseImage {
    let bash = Program::new(["bash", "sh"], b"\0asm\x01\0\0\0".to_vec());
    BaseImage::new(&[bash]).expect("the image is built")
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    (limits.file_bytes, limits.single_file_bytes, limits.inodes) = (1 << 20, 1 << 19, 500);
    limits
}

const DIGEST_BYTES: usize = 32;

/// Reads the input as it is and with a valid digest, as an attacker would make it. The result is within the limits and reads back.
pub(crate) fn compact(input: &[u8]) {
    let (base, limits) = (base(), limits());
    let mut forged = input.to_vec();
    if let Some(body) = input.len().checked_sub(DIGEST_BYTES) {
        let digest = Sha256::digest(&input[..body]);
        forged[body..].copy_from_slice(&digest);
    }
    for bytes in [input, &forged] {
        if let Ok(process) = process_from_bytes(bytes, &limits) {
            let again = process_from_bytes(&process_to_bytes(&process), &limits).expect("what is written reads back");
            assert!(process.memory.content.len() as u64 <= limits.process_memory_bytes, "it exceeds the limit");
            assert_eq!(process.state, again.state);
        }
        let Ok(snapshot) = Snapshot::from_bytes(bytes, &base, &limits) else { continue };
        within(&snapshot, &limits);
        let again = Snapshot::from_bytes(&snapshot.to_bytes(), &base, &limits).expect("what is written reads back");
        assert!(Snapshot::diff(&snapshot, &again).is_empty(), "it is another afterwards");
        if let Some(changes) = again.changes_since(&snapshot, Packing::Compressed) {
            snapshot.apply_changes(&changes, &limits).expect("no changes apply");
        }
        let _ = snapshot.apply_changes(input, &limits);
        if let Ok(changed) = snapshot.apply_stored_changes(input, &limits) {
            within(&changed, &limits);
        }
    }
}

pub(crate) fn tar(input: &[u8]) {
    let (base, limits) = (base(), limits());
    let Ok(snapshot) = Snapshot::from_tar(with_sums(input).as_slice(), &base, &limits) else { return };
    within(&snapshot, &limits);
    let mut tar = Vec::new();
    snapshot.to_tar(&mut tar).expect("memory takes it");
    let again = Snapshot::from_tar(tar.as_slice(), &base, &limits).expect("what is written reads back");
    assert!(Snapshot::diff(&snapshot, &again).is_empty(), "it is another afterwards");
}

/// Corrects the checksums of header blocks; otherwise every mutated archive would be rejected at its first header.
fn with_sums(input: &[u8]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for header in bytes.chunks_exact_mut(512).filter(|header| &header[257..262] == b"ustar") {
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }
    bytes
}

fn within(snapshot: &Snapshot, limits: &Limits) {
    assert!(snapshot.file_bytes() <= limits.file_bytes, "{} bytes", snapshot.file_bytes());
    assert!(snapshot.inodes() <= limits.inodes, "{} inodes", snapshot.inodes());
}

/// Builds a snapshot file with every kind of file.
pub(crate) fn examples() -> Vec<Vec<u8>> {
    tars()
        .iter()
        .filter_map(|tar| Snapshot::from_tar(tar.as_slice(), &base(), &limits()).ok())
        .map(|all| all.to_bytes())
        .chain([process_to_bytes(&process())])
        .collect()
}

/// A saved process with two pages and an open file.
fn process() -> SavedProcess {
    let file = SavedFile {
        object: SavedObject::Path(b"/workspace/a".to_vec()),
        offset: 3,
        flags: 1,
        read: true,
        write: true,
        descriptors: vec![67, 70],
    };
    let state = SavedState { cwd: b"/workspace".to_vec(), umask: 0o22, files: vec![file], ..SavedState::default() };
    let content = vec![b'a'; 2 * SavedMemory::PAGE];
    SavedProcess { state, memory: SavedMemory { image: [1; 32], bytes: 1 << 16, pages: vec![0, 9], content } }
}

/// Builds a tar archive with every kind of entry.
pub(crate) fn tars() -> Vec<Vec<u8>> {
    let header = |name: &str, kind: u8, size: usize, link: &str| {
        let mut block = [0_u8; 512];
        block[..name.len()].copy_from_slice(name.as_bytes());
        block[100..107].copy_from_slice(b"0000755");
        block[108..115].copy_from_slice(b"0001750");
        block[116..123].copy_from_slice(b"0001750");
        block[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
        block[136..147].copy_from_slice(b"14700000000");
        block[156] = kind;
        block[157..157 + link.len()].copy_from_slice(link.as_bytes());
        block[257..265].copy_from_slice(b"ustar\x0000");
        block.to_vec()
    };
    let body = |bytes: &[u8]| {
        let mut body = bytes.to_vec();
        body.resize(bytes.len().next_multiple_of(512), 0);
        body
    };
    let end = vec![0; 1024];
    let pax = b"30 path=workspace/a-long-name\n22 mtime=1700000000.5\n";
    let all = [
        header("workspace/", b'5', 0, ""),
        header("workspace/file", b'0', 6, ""),
        body(b"hello\n"),
        header("workspace/link", b'2', 0, "../etc/passwd"),
        header("workspace/second", b'1', 0, "workspace/file"),
        header("pax", b'x', pax.len(), ""),
        body(pax),
        header("short", b'0', 600, ""),
        body(&[7; 600]),
        header("long", b'L', 20, ""),
        body(b"workspace/other/name"),
        header("cut", b'0', 0, ""),
        header("workspace/fifo", b'6', 0, ""),
        header("workspace/device", b'3', 0, ""),
    ];
    let one = [all[1].clone(), all[2].clone(), end.clone()].concat();
    vec![with_sums(&[all.concat(), end].concat()), with_sums(&one)]
}
