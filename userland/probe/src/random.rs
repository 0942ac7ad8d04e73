//! A seeded sequence of calls over a handful of names and descriptors.

use crate::journal::{APPEND, BOTH, CREAT, DIRECTORY, EXCL, FOLLOW, Fd, Journal, NOFOLLOW, READ, TRUNC, WRITE};

use crate::sys;

/// Few names, so that calls often interact.
const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// SplitMix64: small and portable.
struct Dice {
    state: u64,
    /// Allow `..` in paths.
    parents: bool,
}

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % sides as u64) as usize
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.roll(choices.len())]
    }

    /// One to three names, sometimes with a dot, a parent or a slash at the end.
    fn path(&mut self) -> String {
        let mut path = self.of(&NAMES).to_owned();
        while self.roll(5) < 2 && path.len() < 8 {
            path.push('/');
            let dots = if self.parents { self.of(&[".", ".."]) } else { "." };
            path.push_str(if self.roll(8) == 0 { dots } else { self.of(&NAMES) });
        }
        if self.roll(20) == 0 {
            path.push('/');
        }
        path
    }

    fn bytes(&mut self) -> Vec<u8> {
        let len = self.of(&[0, 1, 3, 10, 100, 5000]);
        let letter = self.of(b"uvwxyz");
        vec![letter; len]
    }

    fn offset(&mut self) -> u64 {
        self.of(&[0, 0, 1, 5, 100, 4096, 9000, 70_000])
    }
}

struct Play<'a> {
    journal: &'a Journal,
    dice: Dice,
    /// Open descriptors, and the root as one that is never closed.
    root: Fd,
    slots: [Fd; 5],
}

fn appends(fd: &Fd) -> bool {
    let (errno, stat) = sys::fd_fdstat_get(fd.number);
    errno == 0 && stat.u8(0) == 4 && u32::from(stat.u16(2)) & APPEND != 0
}

/// Makes `steps` calls that depend only on `seed`: even seeds in the preopened directory, odd ones in one below it, where paths
/// also contain parents. (At the root, hosts disagree on its parent.)
pub(crate) fn play(journal: &Journal, root: &Fd, seed: u64, steps: u32) {
    let slots = [0, 1, 2, 3, 4].map(|number| Fd::none(format!("s{number}")));
    let parents = seed % 2 == 1;
    let root = if parents { journal.open(root, "dir", READ.flags(DIRECTORY), "root") } else { root.clone() };
    let mut play = Play { journal, dice: Dice { state: seed, parents }, root, slots };
    for _ in 0..steps {
        play.step();
    }
}

impl Play<'_> {
    /// Returns an open descriptor, if any; sometimes a closed one.
    fn slot(&mut self) -> Fd {
        let open: Vec<Fd> = self.slots.iter().filter(|fd| fd.is_open()).cloned().collect();
        if open.is_empty() || self.dice.roll(10) == 0 {
            return self.slots[self.dice.roll(5)].clone();
        }
        open[self.dice.roll(open.len())].clone()
    }

    /// Returns the start of a path: mostly the root, else any descriptor.
    fn start(&mut self) -> Fd {
        if self.dice.roll(4) == 0 { self.slot() } else { self.root.clone() }
    }

    fn step(&mut self) {
        match self.dice.roll(100) {
            0..26 => self.open(),
            26..48 => self.data(),
            48..56 => self.look(),
            56..92 => self.names(),
            _ => self.descriptors(),
        }
    }

    fn open(&mut self) {
        let sets = [0, 0, CREAT, CREAT, CREAT, CREAT | EXCL, CREAT | TRUNC, TRUNC, DIRECTORY, DIRECTORY];
        let oflags = self.dice.of(&sets);
        // Files that are created or truncated are opened for writing by other implementations even if only reading was requested.
        let modes = if oflags & (CREAT | TRUNC) == 0 { [READ, WRITE, BOTH] } else { [WRITE, BOTH, BOTH] };
        let mut how = self.dice.of(&modes).flags(oflags);
        if self.dice.roll(6) == 0 {
            how = how.fd(APPEND);
        }
        if self.dice.roll(3) == 0 {
            how = how.nofollow();
        }
        let (start, path, slot) = (self.start(), self.dice.path(), self.dice.roll(5));
        self.journal.fd_close(&self.slots[slot]);
        self.slots[slot] = self.journal.open(&start, path, how, format!("s{slot}"));
    }

    fn data(&mut self) {
        let (fd, offset) = (self.slot(), self.dice.offset());
        let size = self.dice.of(&[1, 4, 200, 10_000]);
        match self.dice.roll(10) {
            0 | 1 => drop(self.journal.fd_read(&fd, &[size])),
            2 => drop(self.journal.fd_pread(&fd, &[size], offset)),
            3..=5 => drop(self.journal.fd_write(&fd, &[&self.dice.bytes()])),
            // Not to descriptors in append mode: some hosts use the offset then, as in POSIX, and some do not, as in Linux.
            6 if !appends(&fd) => self.journal.fd_pwrite(&fd, &[&self.dice.bytes()], offset),
            6 | 7 => self.journal.fd_filestat_set_size(&fd, offset),
            8 => {
                let (by, whence) = (self.dice.of(&[-5, -1, 0, 1, 50]), self.dice.of(&[0, 1, 2]));
                self.journal.fd_seek(&fd, by, whence);
            }
            _ => self.journal.fd_tell(&fd),
        }
    }

    fn look(&mut self) {
        match self.dice.roll(4) {
            0 => drop(self.journal.fd_filestat_get(&self.slot())),
            1 => {
                let fd = self.start();
                let room = self.dice.of(&[100, 1000]);
                self.journal.fd_readdir(&fd, room);
            }
            2 => {
                let (start, path) = (self.start(), self.dice.path());
                self.journal.readlink(&start, path, 64);
            }
            _ => {
                let (start, path, follow) = (self.start(), self.dice.path(), self.dice.of(&[FOLLOW, NOFOLLOW]));
                self.journal.stat(&start, path, follow);
            }
        }
    }

    fn names(&mut self) {
        let (at, path) = (self.start(), self.dice.path());
        match self.dice.roll(18) {
            0..4 => self.journal.mkdir(&at, path),
            // Without a trailing slash, which other implementations reject.
            4 | 5 => self.journal.rmdir(&at, path.trim_end_matches('/')),
            6..8 => self.journal.unlink(&at, path),
            8..13 => {
                let (to, new) = (self.start(), self.dice.path());
                self.journal.rename_to(&at, path, &to, new);
            }
            13 | 14 => {
                let (to, new) = (self.start(), self.dice.path());
                self.journal.link_with(&at, path, NOFOLLOW, &to, new);
            }
            15 | 16 => {
                // Hosts reject a target with a trailing slash in different ways if a file is created through it.
                let target = self.dice.path();
                self.journal.symlink(target.trim_end_matches('/'), &at, path);
            }
            _ => {
                let follow = self.dice.of(&[FOLLOW, NOFOLLOW]);
                self.journal.set_times(&at, path, follow, (1, 1), 5);
            }
        }
    }

    fn descriptors(&mut self) {
        let fd = self.slot();
        match self.dice.roll(4) {
            0 => self.journal.fd_fdstat_get(&fd),
            1 => {
                let flags = self.dice.of(&[0, APPEND]);
                self.journal.fd_fdstat_set_flags(&fd, flags);
            }
            2 => {
                let (from, to) = (self.dice.roll(5), self.dice.roll(5));
                let moved = self.journal.fd_renumber(&self.slots[from], &self.slots[to]);
                if moved && from != to {
                    self.slots[from] = Fd::none(format!("s{from}"));
                }
            }
            _ => {
                // Hosts reuse closed numbers in different orders, so the number must not be used again.
                let slot = self.dice.roll(5);
                self.journal.fd_close(&self.slots[slot]);
                self.slots[slot] = Fd::none(format!("s{slot}"));
            }
        }
    }
}
