//! Writes pack files and their indexes byte by byte, also with content that Git never writes.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// Types of the entries of a pack.
pub(crate) const BLOB: u8 = 3;
const OFFSET_DELTA: u8 = 6;
const REF_DELTA: u8 = 7;

/// Maximum length of a block that is stored without compression.
const MAX_STORED: usize = 65_535;

/// A pack that is being written.
#[derive(Clone, Debug, Default)]
pub(crate) struct PackFile {
    entries: Vec<u8>,
    /// Offsets of the entries.
    pub(crate) offsets: Vec<usize>,
}

impl PackFile {
    /// Adds an object. `size` is the length that its header states.
    pub(crate) fn add_object(&mut self, kind: u8, size: u64, content: &[u8]) {
        self.add(kind, size, &[], content);
    }

    /// Adds a delta to the entry at `base`, an index of [`offsets`](Self::offsets).
    pub(crate) fn add_delta(&mut self, base: usize, delta: &[u8]) {
        let mut distance = 12 + self.entries.len() - self.offsets[base];
        let mut bytes = vec![(distance & 0x7f) as u8];
        while distance > 0x7f {
            distance = (distance >> 7) - 1;
            bytes.insert(0, 0x80 | (distance & 0x7f) as u8);
        }
        self.add(OFFSET_DELTA, delta.len() as u64, &bytes, delta);
    }

    /// Adds a delta to the object with an id of 20 bytes.
    pub(crate) fn add_ref_delta(&mut self, base: &[u8], delta: &[u8]) {
        self.add(REF_DELTA, delta.len() as u64, base, delta);
    }

    fn add(&mut self, kind: u8, size: u64, base: &[u8], content: &[u8]) {
        self.offsets.push(12 + self.entries.len());
        let (mut byte, mut rest) = (kind << 4 | (size & 0xf) as u8, size >> 4);
        while rest > 0 {
            self.entries.push(byte | 0x80);
            (byte, rest) = ((rest & 0x7f) as u8, rest >> 7);
        }
        self.entries.push(byte);
        self.entries.extend_from_slice(base);
        self.entries.extend(store(content));
    }

    /// Returns the file. `count` is the number of objects that its header states.
    pub(crate) fn finish(&self, count: u32) -> Vec<u8> {
        let mut pack = b"PACK\0\0\0\x02".to_vec();
        pack.extend(count.to_be_bytes());
        pack.extend_from_slice(&self.entries);
        let checksum = sha1(&pack);
        pack.extend(checksum);
        pack
    }

    /// Returns an index of version 2 for a finished pack, with these ids of 20 bytes, in ascending order, and their offsets.
    pub(crate) fn index(pack: &[u8], objects: &[([u8; 20], usize)]) -> Vec<u8> {
        let mut index = b"\xfftOc\0\0\0\x02".to_vec();
        for first in 0..=255_u8 {
            let count = objects.iter().filter(|(id, _)| id[0] <= first).count() as u32;
            index.extend(count.to_be_bytes());
        }
        objects.iter().for_each(|(id, _)| index.extend(id));
        objects.iter().for_each(|_| index.extend([0; 4]));
        objects.iter().for_each(|(_, offset)| index.extend((*offset as u32).to_be_bytes()));
        index.extend(&pack[pack.len() - 20..]);
        let checksum = sha1(&index);
        index.extend(checksum);
        index
    }
}

/// Returns the bytes of a delta: the sizes of base and result, then its instructions.
pub(crate) fn delta(base: u64, result: u64, instructions: &[u8]) -> Vec<u8> {
    let mut bytes = [size(base), size(result)].concat();
    bytes.extend_from_slice(instructions);
    bytes
}

/// Returns the instruction that copies `length` bytes (24 bits) of the base from `offset`.
pub(crate) fn copy(offset: u32, length: u32) -> Vec<u8> {
    let mut bytes = vec![0xff];
    bytes.extend(offset.to_le_bytes());
    bytes.extend(&length.to_le_bytes()[..3]);
    bytes
}

fn size(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 0x7f {
        bytes.push(0x80 | (value & 0x7f) as u8);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// Returns a zlib stream that stores the content without compression.
fn store(content: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let last = content.len().div_ceil(MAX_STORED).max(1) - 1;
    for at in 0..=last {
        let part = &content[at * MAX_STORED..content.len().min((at + 1) * MAX_STORED)];
        let length = part.len() as u16;
        stream.push(u8::from(at == last));
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend_from_slice(part);
    }
    let (mut low, mut high) = (1_u32, 0_u32);
    for byte in content {
        low = (low + u32::from(*byte)) % 65_521;
        high = (high + low) % 65_521;
    }
    stream.extend((high << 16 | low).to_be_bytes());
    stream
}

/// Returns the SHA-1 of the bytes, computed by `sha1sum` of the host.
fn sha1(bytes: &[u8]) -> Vec<u8> {
    let mut child =
        Command::new("sha1sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("sha1sum starts");
    child.stdin.take().expect("piped").write_all(bytes).expect("sha1sum reads");
    let output = child.wait_with_output().expect("sha1sum ends");
    let digits = output.stdout.get(..40).expect("sha1sum prints 40 digits");
    let digit = |byte: u8| char::from(byte).to_digit(16).expect("a hexadecimal digit") as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}
