//! Forged objects: errors or strange sandboxes, never a panic or more than the limits allow.

use std::sync::Arc;

use futures_executor::block_on;
use sha2::{Digest, Sha256};
use tidebox_core::{Limits, SandboxProvider};

use super::support::*;
use crate::stores::log::GenerationLog;
use crate::stores::memory::MemoryObjects;
use crate::stores::objects::{ObjectInfo, Objects};
use crate::stores::{ChainStore, name};

/// Writes the checksums again after a change of the bytes.
fn forge(bytes: &mut [u8]) {
    let Some(length) = bytes.get(12..16).map(|length| u32::from_le_bytes(length.try_into().unwrap()) as usize) else {
        return;
    };
    let Some(head) = bytes.get(..16 + length.min(bytes.len())) else { return };
    let digest = Sha256::digest(head);
    if let Some(at) = bytes.get_mut(16 + length..48 + length) {
        at.copy_from_slice(&digest);
    }
    if let Some(end) = bytes.len().checked_sub(32) {
        let digest = Sha256::digest(&bytes[..end]);
        bytes[end..].copy_from_slice(&digest);
    }
}

/// Writes the checksum of the snapshot file or of the changes in a generation again.
fn forge_file(bytes: &mut [u8]) {
    let magic = bytes.windows(8).position(|start| start == b"TIDESNAP" || start == b"TIDECHNG");
    let (Some(start), Some(end)) = (magic, bytes.len().checked_sub(64)) else { return };
    if start < end {
        let digest = Sha256::digest(&bytes[start..end]);
        bytes[end..end + 32].copy_from_slice(&digest);
    }
}

fn copy(all: &[(ObjectInfo, Vec<u8>)]) -> MemoryObjects {
    let objects = MemoryObjects::default();
    for (object, bytes) in all {
        block_on(objects.create(&object.name, bytes.clone())).unwrap();
    }
    objects
}

fn store(objects: &MemoryObjects) -> ChainStore {
    ChainStore::new(Arc::new(GenerationLog::new(objects.clone()))).unwrap()
}

/// Mutations that are tried.
const ROUNDS: usize = 300;

#[test]
fn forged_objects_never_panic_or_exceed_the_limits() {
    let original = MemoryObjects::default();
    let first = provider(store(&original));
    let sandbox = get(&first);
    write(&*sandbox, "large", noise(1, 400 << 10)).unwrap();
    for number in 0..3 {
        write(&*sandbox, &format!("file{number}"), noise(number, 3000)).unwrap();
    }
    let listed = block_on(original.list("", "")).unwrap().objects;
    let read = |object: ObjectInfo| (object.clone(), block_on(original.read(&object.name, u64::MAX)).unwrap().unwrap());
    let all: Vec<_> = listed.into_iter().map(read).collect();
    let is_pack = |object: &ObjectInfo| name::pack_digest(name::split(&object.name).unwrap().1).is_some();
    assert!(all.iter().any(|(object, _)| is_pack(object)));
    let mut limits = Limits::default();
    (limits.file_bytes, limits.inodes) = (1 << 20, 200);
    let (mut random, mut opened) = (Random(42), 0);
    for round in 0..ROUNDS {
        let mut forged = all.clone();
        let at = random.below(forged.len());
        let (_, bytes) = &mut forged[at];
        for _ in 0..=random.below(3) {
            let reach = if random.below(3) > 0 { bytes.len().min(900) } else { bytes.len() };
            let position = random.below(reach);
            bytes[position] = random.next() as u8;
        }
        if random.below(8) == 0 {
            bytes.truncate(random.below(bytes.len()));
        }
        if round % 3 > 0 {
            forge_file(bytes);
        }
        forge(bytes);
        let objects = copy(&forged);
        let opening = provider_with(store(&objects), limits.clone());
        let Ok(found) = block_on(opening.get_or_create(thread())) else { continue };
        let usage = opening.sandbox(found.id()).unwrap().snapshot().unwrap();
        assert!(usage.file_bytes() <= limits.file_bytes && usage.inodes() <= limits.inodes);
        opened += 1;
    }
    assert!(opened > ROUNDS / 30, "some mutations leave a readable sandbox or another label: {opened}");
}

#[test]
fn a_chain_with_a_gap_or_a_foreign_link_is_an_error() {
    let original = MemoryObjects::default();
    let first = provider(store(&original));
    let sandbox = get(&first);
    for number in 0..4 {
        write(&*sandbox, "file", format!("{number}")).unwrap();
    }
    let listed = block_on(original.list("", "")).unwrap().objects;
    let read = |object: ObjectInfo| (object.clone(), block_on(original.read(&object.name, u64::MAX)).unwrap().unwrap());
    let all: Vec<_> = listed.into_iter().map(read).collect();
    let fails = |forged: Vec<(ObjectInfo, Vec<u8>)>, why: &str| {
        let error = block_on(provider(store(&copy(&forged))).get_or_create(thread())).unwrap_err();
        assert!(error.message().contains(why) && error.message().contains(&all[0].0.name[..10]), "{error}");
    };
    let mut gap = all.clone();
    gap.remove(2);
    fails(gap, "a generation before it is missing");
    let mut renamed = all.clone();
    renamed[2].1 = renamed[1].1.clone();
    fails(renamed, "it was renamed");
    let mut foreign = all.clone();
    let at = foreign[1].1.windows(8).position(|part| part == b"\"nonce\":").unwrap() + 10;
    foreign[1].1[at] = if foreign[1].1[at] == b'0' { b'1' } else { b'0' };
    forge(&mut foreign[1].1);
    fails(foreign, "does not continue the generation before it");
}
