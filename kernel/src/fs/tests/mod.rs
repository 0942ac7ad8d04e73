//! Tests of the file system.

mod attributes;
mod content;
mod diff;
mod directory;
mod fsck;
mod install;
mod model;
mod mount;
mod quota;
mod random_ops;
mod rename;
mod snapshot;
mod walk;

use tidebox_core::Limits;

use super::{Cred, Fs, Ino, Resolved};
use crate::errno::Errno;

/// The user inside a sandbox.
const USER: Cred = Cred { uid: 1000, gid: 1000 };
const HOST: Cred = Cred { uid: 0, gid: 0 };

/// A tree whose root the user may write.
fn fresh() -> Fs {
    with_limits(&Limits::default())
}

fn with_limits(limits: &Limits) -> Fs {
    let mut fs = Fs::new(limits);
    fs.install_dir(b"/", 0o755, 1000).expect("the root exists");
    fs
}

impl Fs {
    fn at(&self, path: &str) -> Result<Ino, Errno> {
        match self.walk(&USER, self.root(), path.as_bytes(), true)? {
            Resolved::Node(ino) => Ok(ino),
            Resolved::Proc(below) => panic!("{path} leads into /proc: {below:?}"),
        }
    }

    fn put(&mut self, path: &str, bytes: &[u8]) -> Ino {
        let (ino, _) = self.create(&USER, self.root(), path.as_bytes(), 0o644, false, 5).expect(path);
        self.write_all(ino, bytes, 5).expect(path);
        ino
    }

    fn dir(&mut self, path: &str) -> Ino {
        self.mkdir(&USER, self.root(), path.as_bytes(), 0o755, 5).expect(path)
    }

    fn names(&self, path: &str) -> Vec<String> {
        let dir = self.at(path).expect(path);
        self.read_dir(dir, None).map(|(name, ..)| String::from_utf8_lossy(&name).into_owned()).collect()
    }
}

/// Deterministic pseudo-random numbers: xorshift64* of Marsaglia and Vigna.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % sides
    }

    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from[self.roll(from.len() as u64) as usize]
    }
}
