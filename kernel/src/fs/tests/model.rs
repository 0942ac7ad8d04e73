//! File contents compared with a model that is a plain vector.

use tidebox_core::Limits;

use super::super::blocks::BLOCK;
use super::super::{Contents, Fs, FsSnapshot, Ino};
use super::{Dice, USER, with_limits};
use crate::errno::Errno;

/// A file of the file system and its expected content.
struct Pair {
    ino: Ino,
    bytes: Vec<u8>,
    installed: bool,
    kept: Option<(Contents, Vec<u8>)>,
}

const MAX_LENGTH: u64 = 5 * BLOCK as u64 + 77;

fn offset(dice: &mut Dice) -> u64 {
    match dice.roll(3) {
        0 => dice.roll(300),
        1 => dice.roll(MAX_LENGTH),
        _ => (dice.roll(5) + 1) * BLOCK as u64 + dice.roll(5) - 2,
    }
}

impl Pair {
    fn write(&mut self, fs: &mut Fs, dice: &mut Dice) {
        let at = offset(dice);
        let len = if dice.roll(4) == 0 { dice.roll(2 * BLOCK as u64) } else { dice.roll(200) };
        let src: Vec<u8> = (0..len).map(|_| dice.roll(256) as u8).collect();
        let Ok(count) = fs.write_at(self.ino, at, &src, 6) else { return };
        if count > 0 {
            let (at, end) = (at as usize, at as usize + count);
            self.bytes.resize(self.bytes.len().max(end), 0);
            self.bytes[at..end].copy_from_slice(&src[..count]);
        }
    }

    fn truncate(&mut self, fs: &mut Fs, dice: &mut Dice) {
        let len = offset(dice);
        let done = fs.truncate(self.ino, len, 6);
        match done {
            Ok(()) => assert!(len <= MAX_LENGTH),
            Err(Errno::Fbig) => assert!(len > MAX_LENGTH),
            // The remaining bytes of an installed file have to be charged then.
            Err(error) => assert_eq!((error, self.installed), (Errno::Nospc, true)),
        }
        if done.is_ok() {
            self.bytes.resize(len as usize, 0);
        }
    }

    fn replace(&mut self, fs: &mut Fs, dice: &mut Dice) {
        let bytes = vec![dice.roll(256) as u8; offset(dice) as usize];
        if fs.write_all(self.ino, &bytes, 6).is_ok() {
            self.bytes = bytes;
        }
    }

    fn compare(&self, fs: &Fs, dice: &mut Dice) {
        let (at, mut dst) = (offset(dice), vec![0xEE; dice.roll(3 * BLOCK as u64) as usize]);
        let count = fs.read_at(self.ino, at, &mut dst).expect("a file");
        let there = self.bytes.get(at as usize..).unwrap_or_default();
        assert_eq!(count, there.len().min(dst.len()));
        assert!(dst[..count] == there[..count], "bytes starting at {at}");
        assert!(dst[count..].iter().all(|&byte| byte == 0xEE), "no bytes are written after the data");
    }

    fn compare_all(&self, fs: &Fs) {
        assert!(fs.read_all(self.ino, u64::MAX).expect("a file") == self.bytes);
        if let Some((contents, bytes)) = &self.kept {
            assert!(contents.to_vec() == *bytes, "kept contents do not change");
        }
    }
}

fn run(seed: u64, file_bytes: u64) {
    let mut limits = Limits::default();
    (limits.file_bytes, limits.single_file_bytes) = (file_bytes, MAX_LENGTH);
    let (mut fs, mut dice) = (with_limits(&limits), Dice(seed));
    let mut pairs: Vec<Pair> = ["a", "b", "c"]
        .map(|name| Pair { ino: fs.put(name, b""), bytes: Vec::new(), installed: false, kept: None })
        .into();
    let image = vec![3; BLOCK + 5];
    let ino = fs.install(b"/image", image.clone().into(), 0o666, 1000).expect("free");
    pairs.push(Pair { ino, bytes: image, installed: true, kept: None });
    let mut saved: Option<(FsSnapshot, Vec<Vec<u8>>)> = None;
    for _ in 0..400 {
        let which = dice.roll(pairs.len() as u64) as usize;
        let pair = &mut pairs[which];
        match dice.roll(20) {
            0..9 => pair.write(&mut fs, &mut dice),
            9..12 => pair.truncate(&mut fs, &mut dice),
            12 => pair.replace(&mut fs, &mut dice),
            13 => pair.kept = Some((fs.contents(pair.ino).expect("a file"), pair.bytes.clone())),
            14 => saved = Some((fs.snapshot(), pairs.iter().map(|pair| pair.bytes.clone()).collect())),
            15 => {
                if let Some((snapshot, bytes)) = &saved {
                    fs.restore(snapshot);
                    pairs.iter_mut().zip(bytes).for_each(|(pair, bytes)| pair.bytes.clone_from(bytes));
                }
            }
            _ => pair.compare(&fs, &mut dice),
        }
        fs.check();
        assert!(fs.usage().file_bytes <= file_bytes);
    }
    pairs.iter().for_each(|pair| pair.compare_all(&fs));
    for name in ["a", "b", "c", "image"] {
        fs.unlink(&USER, fs.root(), name.as_bytes(), 7).expect(name);
    }
    assert_eq!((fs.usage().file_bytes, fs.usage().inodes), (0, 0));
}

#[test]
fn random_writes_and_truncations_match_a_vector() {
    (1..40).for_each(|seed| run(seed, 1 << 30));
}

#[test]
fn random_writes_stay_within_a_tight_quota() {
    (1..40).for_each(|seed| run(seed, 150_000));
}
