//! Cache of compiled programs in memory.

use std::collections::{HashMap, VecDeque};

use sha2::{Digest as _, Sha256};
use tidebox_kernel::fs::{Contents, FileBytes, WeakFileBytes};

use super::Program;

/// Maximum cached guest programs, so that a program started a thousand times by a script is compiled once. The native
/// code is several times as large as the WebAssembly.
const MAX_GUEST_PROGRAMS: usize = 32;

/// Maximum total WebAssembly bytes of cached guest programs. A guest with many large ones compiles again instead of
/// filling the host's memory.
const MAX_GUEST_BYTES: u64 = 64 << 20;

/// Maximum cached application programs that no sandbox uses any more.
const MAX_UNREFERENCED: usize = 32;

/// SHA-256 of a program's bytes.
pub(crate) type Digest = [u8; 32];

pub(crate) fn digest(wasm: &[u8]) -> Digest {
    Sha256::digest(wasm).into()
}

#[derive(Default)]
pub(super) struct ProgramCache {
    /// Installed programs, by the address of the shared bytes. The entry holds a weak reference, which reserves the
    /// address without keeping the bytes alive.
    installed: HashMap<usize, InstalledEntry>,
    /// Guest programs, by address in memory: starting the same file again neither reads nor hashes it.
    by_contents: VecDeque<(Contents, u64, Program)>,
    /// Guest programs by content: a rewritten file with the same bytes is not compiled again.
    by_digest: HashMap<Digest, GuestEntry>,
    clock: u64,
}

/// A guest program.
struct GuestEntry {
    used: u64,
    bytes: u64,
    program: Program,
}

struct InstalledEntry {
    bytes: WeakFileBytes,
    digest: Digest,
    used: u64,
    program: Program,
}

impl ProgramCache {
    pub(super) fn installed(&self, wasm: &FileBytes) -> Option<Program> {
        self.installed.get(&wasm.address()).map(|found| found.program.clone())
    }

    /// Returns an installed program with the same bytes at another address.
    pub(super) fn installed_by_digest(&self, digest: &Digest) -> Option<Program> {
        self.installed.values().find(|found| found.digest == *digest).map(|found| found.program.clone())
    }

    pub(super) fn install(&mut self, wasm: &FileBytes, digest: Digest, program: Program) {
        self.clock += 1;
        let installed = InstalledEntry { bytes: wasm.downgrade(), digest, used: self.clock, program };
        self.installed.insert(wasm.address(), installed);
        self.evict_unreferenced();
    }

    /// Evicts programs that no sandbox uses: immediately if the same program is cached for other bytes, otherwise the
    /// oldest.
    fn evict_unreferenced(&mut self) {
        let removed = |found: &InstalledEntry| found.bytes.is_dropped();
        let mut past: Vec<(u64, Digest, usize)> = self
            .installed
            .iter()
            .filter(|(_, found)| removed(found))
            .map(|(address, found)| (found.used, found.digest, *address))
            .collect();
        past.sort_unstable_by_key(|(used, _, _)| std::cmp::Reverse(*used));
        let mut entry: Vec<Digest> =
            self.installed.values().filter(|found| !removed(found)).map(|found| found.digest).collect();
        let alive = entry.len();
        for (_, digest, address) in past {
            if entry.contains(&digest) || entry.len() >= alive + MAX_UNREFERENCED {
                self.installed.remove(&address);
            } else {
                entry.push(digest);
            }
        }
    }

    pub(super) fn get_guest_program(&self, contents: &Contents) -> Option<Program> {
        self.by_contents.iter().find(|(cached, _, _)| cached.is_same(contents)).map(|(_, _, program)| program.clone())
    }

    pub(super) fn touch(&mut self, digest: &Digest) -> Option<Program> {
        self.clock += 1;
        let entry = self.by_digest.get_mut(digest)?;
        entry.used = self.clock;
        Some(entry.program.clone())
    }

    pub(super) fn insert_guest(&mut self, digest: Digest, contents: &Contents, bytes: u64, program: Program) {
        self.clock += 1;
        self.by_contents.push_front((contents.clone(), bytes, program.clone()));
        let mut available = MAX_GUEST_BYTES;
        let entry = self
            .by_contents
            .iter()
            .take(MAX_GUEST_PROGRAMS)
            .take_while(|(_, bytes, _)| fits(&mut available, *bytes))
            .count();
        self.by_contents.truncate(entry);
        self.by_digest.insert(digest, GuestEntry { used: self.clock, bytes, program });
        let mut available = MAX_GUEST_BYTES;
        let mut latest: Vec<(u64, u64, Digest)> =
            self.by_digest.iter().map(|(digest, entry)| (entry.used, entry.bytes, *digest)).collect();
        latest.sort_unstable_by_key(|(used, _, _)| std::cmp::Reverse(*used));
        for (at, (_, bytes, digest)) in latest.into_iter().enumerate() {
            if at >= MAX_GUEST_PROGRAMS || !fits(&mut available, bytes) {
                self.by_digest.remove(&digest);
            }
        }
    }
}

/// Reserves space for a program. The first one that does not fit also evicts all after it.
fn fits(available: &mut u64, bytes: u64) -> bool {
    let left = available.checked_sub(bytes);
    *available = left.unwrap_or(0);
    left.is_some()
}
