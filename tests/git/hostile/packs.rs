//! Packs that Git never writes, received by `index-pack` and found in a repository.

use std::time::Duration;

use tidebox::{Limits, SandboxBackend, Upload};

use super::{STEP, is_of_git};
use crate::pack_file::{BLOB, PackFile, copy, delta};
use crate::setup::{configure, is_ready, run, succeed};

const MIB: u64 = 1 << 20;

/// A pack, the commands that read it, and a text that must be in their output.
struct Attack {
    name: &'static str,
    pack: Vec<u8>,
    index: Option<Vec<u8>>,
    reports: &'static str,
}

fn attack(name: &'static str, pack: Vec<u8>, reports: &'static str) -> Attack {
    Attack { name, pack, index: None, reports }
}

fn blob_pack() -> PackFile {
    let mut pack = PackFile::default();
    pack.add_object(BLOB, 6, b"hello\n");
    pack
}

/// Packs whose bytes contradict each other.
fn damaged() -> Vec<Attack> {
    let plain = blob_pack().finish(1);
    let mut wrong_checksum = plain.clone();
    *wrong_checksum.last_mut().expect("a pack has bytes") ^= 1;
    let mut lying = PackFile::default();
    lying.add_object(BLOB, 1 << 40, b"hello\n");
    let mut unknown = PackFile::default();
    unknown.add_object(5, 6, b"hello\n");
    let mut reference = PackFile::default();
    reference.add_ref_delta(&[0x12; 20], &delta(6, 6, &copy(0, 6)));
    let with_delta = |bytes: &[u8]| {
        let mut pack = blob_pack();
        pack.add_delta(0, bytes);
        pack.finish(2)
    };
    vec![
        attack("ends early", plain[..plain.len() - 24].to_vec(), "early EOF"),
        attack("has another checksum", wrong_checksum, "pack is corrupted (SHA1 mismatch)"),
        attack("states four billion objects", blob_pack().finish(u32::MAX), "fatal: "),
        attack("states an object of a tebibyte", lying.finish(1), "fatal: "),
        attack("has an object of an unknown type", unknown.finish(1), "fatal: "),
        attack("has a delta to a missing object", reference.finish(1), "unresolved delta"),
        attack("has a delta that copies beyond its base", with_delta(&delta(6, 60, &copy(3, 60))), "fatal: "),
        attack("has a delta for another base size", with_delta(&delta(7, 6, &copy(0, 6))), "fatal: "),
        attack("has a delta of a tebibyte", with_delta(&delta(6, 1 << 40, &copy(0, 6))), "fatal: "),
        attack("has a delta with the reserved instruction", with_delta(&delta(6, 6, &[0])), "fatal: "),
        attack("has a delta without instructions", with_delta(&[]), "fatal: "),
        attack("is followed by other bytes", [plain, b"garbage".to_vec()].concat(), "[exit "),
    ]
}

/// Small packs with large objects, for a memory limit of 96 MiB.
fn bombs() -> Vec<Attack> {
    let base = vec![b'a'; MIB as usize];
    let mut wide = PackFile::default();
    wide.add_object(BLOB, MIB, &base);
    wide.add_delta(0, &delta(MIB, 400 * MIB, &copy(0, MIB as u32).repeat(400)));
    let mut chain = PackFile::default();
    chain.add_object(BLOB, MIB, &base);
    for level in 0..9_u32 {
        let length = MIB << level;
        // One instruction copies less than 16 MiB.
        let step = length.min(8 * MIB);
        let parts = (0..length / step).map(|part| copy((part * step) as u32, step as u32));
        let instructions: Vec<u8> = parts.flatten().collect();
        chain.add_delta(level as usize, &delta(length, 2 * length, &instructions.repeat(2)));
    }
    vec![
        attack("expands a delta to 400 MiB", wide.finish(2), "memory"),
        attack("doubles an object with each of nine deltas", chain.finish(10), "memory"),
    ]
}

/// Deltas whose bases are each other, which only an index can express.
fn circle() -> Attack {
    let ids = [[0x11; 20], [0x22; 20]];
    let mut pack = PackFile::default();
    pack.add_ref_delta(&ids[1], &delta(6, 6, &copy(0, 6)));
    pack.add_ref_delta(&ids[0], &delta(6, 6, &copy(0, 6)));
    let bytes = pack.finish(2);
    let index = PackFile::index(&bytes, &[(ids[0], pack.offsets[0]), (ids[1], pack.offsets[1])]);
    Attack { name: "has deltas in a circle", pack: bytes, index: Some(index), reports: "[exit 1" }
}

/// Sends each pack to `index-pack`, and reads it as a part of a repository.
async fn check(attacks: Vec<Attack>, limits: Limits, exits: &[i32]) {
    if !is_ready() {
        return;
    }
    let mut broken = Vec::new();
    for attack in attacks {
        let sandbox = configure(|builder| builder.limits(limits.clone()));
        succeed(
            &sandbox,
            "git init -q repo && cd repo && git commit -q --allow-empty -m base && mkdir -p .git/objects/pack",
        )
        .await;
        let mut files = vec![Upload::new("/workspace/in.pack", attack.pack.clone())];
        if let Some(index) = &attack.index {
            files.push(Upload::new("/workspace/repo/.git/objects/pack/pack-1.pack", attack.pack.clone()));
            files.push(Upload::new("/workspace/repo/.git/objects/pack/pack-1.idx", index.clone()));
        }
        sandbox.upload_files(files).await.expect("the sandbox responds");
        let commands = "cd repo; step sh -c 'git index-pack --stdin -v < ../in.pack'; step sh -c 'git unpack-objects < ../in.pack'; step \
                        git cat-file -p 1111111111111111111111111111111111111111; step git fsck --full; step git \
                        cat-file --batch-all-objects --batch-check; step git repack -q -a -d; step git gc -q; find . -name '*.lock'";
        let response = run(&sandbox, &format!("{STEP}{commands}")).await;
        let output = response.output_text();
        let mut fail = |what: &str| broken.push(format!("a pack that {}: {what}:\n{output}", attack.name));
        let ends =
            output.lines().filter_map(|line| line.split_once("[exit ")?.1.split_once(']')?.0.parse::<i32>().ok());
        for code in ends.filter(|code| !is_of_git(*code) && !exits.contains(code)) {
            fail(&format!("a command ended with {code}"));
        }
        if !output.contains(attack.reports) {
            fail(&format!("nothing reports {:?}", attack.reports));
        }
        if output.contains(".lock\n") {
            fail("a lock remains");
        }
        if response.peak_memory_bytes > limits.sandbox_memory_bytes {
            fail("it used more memory than the limit");
        }
        succeed(&sandbox, "cd repo && git commit -q --allow-empty -m works && git log --oneline").await;
    }
    assert!(broken.is_empty(), "{}", broken.join("\n\n"));
}

#[tokio::test]
async fn damaged_packs_are_refused() {
    check(damaged(), Limits::default(), &[]).await;
}

#[tokio::test]
async fn deltas_in_a_circle_end_the_command() {
    check(vec![circle()], Limits::default(), &[]).await;
}

/// A process that needs more memory than the limit exits with 128 and Git's message, or is killed (137).
#[tokio::test]
async fn deltas_that_expand_stay_within_the_memory_limit() {
    let mut limits = Limits::default();
    (limits.process_memory_bytes, limits.sandbox_memory_bytes) = (96 * MIB, 192 * MIB);
    limits.wall_time = Duration::from_secs(300);
    check(bombs(), limits, &[137]).await;
}
