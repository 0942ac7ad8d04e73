//! Pseudo-random trees, equal in every run, and a listing of everything visible in a tree.

use std::collections::BTreeMap;

use tidebox_kernel::fs::{Fs, Ino, Kind, Stat};

use crate::USER;

/// Xorshift64* of Marsaglia and Vigna.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % sides
    }

    fn name(&mut self) -> Vec<u8> {
        let number = self.below(1000);
        match self.below(8) {
            0 => [b"bad \xff\xfe".as_slice(), number.to_string().as_bytes()].concat(),
            1 => format!("line\nend '{number}\"").into_bytes(),
            2 => format!("{number:x<200}").into_bytes(),
            3 => format!("größe {number}").into_bytes(),
            4 => [vec![0xE9; 120], number.to_string().into_bytes()].concat(),
            _ => format!("file{number}.txt").into_bytes(),
        }
    }

    fn bytes(&mut self) -> Vec<u8> {
        let len = match self.below(6) {
            0 => 0,
            1 => self.below(300_000),
            _ => self.below(3000),
        };
        let kind = self.below(3);
        (0..len).map(|at| if kind == 0 { b'x' } else { (self.below(256) as u8).wrapping_add(at as u8) }).collect()
    }
}

/// Creates this many random entries below `/workspace`.
pub(super) fn create_random_tree(fs: &mut Fs, seed: u64, count: usize) {
    let mut random = Random(seed);
    let workspace = crate::file::locate(fs, b"/workspace", true).unwrap();
    let (mut dirs, mut files) = (vec![workspace], Vec::new());
    for _ in 0..count {
        let dir = dirs[random.below(dirs.len() as u64) as usize];
        let name = random.name();
        let now = 1_700_000_000_000_000_000 + random.below(1 << 40);
        let created = match random.below(10) {
            0 | 1 => fs.mkdir(&USER, dir, &name, 0o755, now).inspect(|&created| dirs.push(created)),
            2 => fs.symlink(&USER, &random.name(), dir, &name, now),
            4 if random.below(3) == 0 => fs.mkfifo(&USER, dir, &name, 0o640, now),
            3 if !files.is_empty() => {
                let file = files[random.below(files.len() as u64) as usize];
                let _ = fs.link(&USER, file, dir, &name, now);
                continue;
            }
            _ => fs
                .create(&USER, dir, &name, 0o644, true, now)
                .map(|(ino, _)| ino)
                .inspect(|&created| files.push(created)),
        };
        let Ok(ino) = created else { continue };
        if fs.stat(ino).unwrap().kind == Kind::File {
            fs.write_all(ino, &random.bytes(), now).unwrap();
            if random.below(8) == 0 {
                fs.truncate(ino, random.below(1 << 20), now).unwrap();
            }
        }
        let stat = fs.stat(ino).unwrap();
        let mode = if stat.kind == Kind::Symlink { 0o777 } else { 0o700 | random.below(0o100) as u32 };
        fs.set_stat(ino, &Stat { mode, atime: now, mtime: now, ..stat }).unwrap();
    }
    // Creating entries has changed the times of directories.
    for (at, dir) in (1..).zip(dirs.into_iter().skip(1)) {
        let stat = fs.stat(dir).unwrap();
        fs.set_stat(dir, &Stat { mtime: at * 1_000_000_007, ..stat }).unwrap();
    }
}

/// Lists everything visible below `/workspace`, without inode numbers: names of one file share a number instead.
pub(super) fn list_tree(fs: &Fs) -> Vec<String> {
    let mut found = Vec::new();
    let mut numbers: BTreeMap<Ino, usize> = BTreeMap::new();
    let workspace = crate::file::locate(fs, b"/workspace", true).unwrap();
    let mut pending = vec![(workspace, String::new())];
    while let Some((dir, path)) = pending.pop() {
        for (name, ino, kind) in fs.read_dir(dir, None) {
            let path = format!("{path}/{}", name.escape_ascii());
            let stat = fs.stat(ino).unwrap();
            let next = numbers.len();
            let number = *numbers.entry(ino).or_insert(next);
            let content = match kind {
                Kind::File => format!("{:?}", digest(&fs.read_all(ino, u64::MAX).unwrap())),
                Kind::Symlink => fs.readlink(ino).unwrap().escape_ascii().to_string(),
                _ => String::new(),
            };
            let Stat { mode, uid, gid, nlink, size, mtime, .. } = stat;
            found.push(format!("{path} #{number} {kind:?} {mode:o} {uid}:{gid} {nlink} {size} {mtime} {content}"));
            if kind == Kind::Dir {
                pending.push((ino, path));
            }
        }
    }
    found
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    <sha2::Sha256 as sha2::Digest>::digest(bytes).into()
}
