//! Which programs are compiled already.

use std::collections::{HashMap, VecDeque};

use sha2::{Digest as _, Sha256};
use tidebox_kernel::fs::{Contents, FileBytes, Watch};

use super::Program;

/// Compiled programs of guests that are kept, so that one which a script starts a thousand times is compiled once. Each
/// holds several times its own size in native code.
const KEPT_OF_GUESTS: usize = 32;

/// Bytes of such programs, as WebAssembly, that are kept: who brings many large ones has them compiled again, and does not fill
/// the memory of the host.
const KEPT_BYTES: u64 = 64 << 20;

/// Compiled programs of the application that are kept after the last sandbox with their bytes is gone.
const KEPT_OF_THE_PAST: usize = 32;

/// What names a program by its content.
pub(crate) type Digest = [u8; 32];

pub(crate) fn digest(wasm: &[u8]) -> Digest {
    Sha256::digest(wasm).into()
}

#[derive(Default)]
pub(super) struct Known {
    /// What the application installed, by the address of the shared bytes. The entry keeps their memory taken, so that the
    /// address is theirs alone, but not them alive.
    installed: HashMap<usize, Installed>,
    /// What guests brought, by its place in memory: the same file started again is neither read nor hashed.
    seen: VecDeque<(Contents, u64, Program)>,
    /// The same by content: a file written anew with the same bytes is not compiled again.
    by_digest: HashMap<Digest, Kept>,
    clock: u64,
}

/// A guest's program.
struct Kept {
    used: u64,
    bytes: u64,
    program: Program,
}

struct Installed {
    bytes: Watch,
    digest: Digest,
    used: u64,
    program: Program,
}

impl Known {
    pub(super) fn installed(&self, wasm: &FileBytes) -> Option<Program> {
        self.installed.get(&wasm.address()).map(|found| found.program.clone())
    }

    /// A program of the same bytes elsewhere in memory.
    pub(super) fn installed_before(&self, digest: &Digest) -> Option<Program> {
        self.installed.values().find(|found| found.digest == *digest).map(|found| found.program.clone())
    }

    pub(super) fn install(&mut self, wasm: &FileBytes, digest: Digest, program: Program) {
        self.clock += 1;
        let installed = Installed { bytes: wasm.watch(), digest, used: self.clock, program };
        self.installed.insert(wasm.address(), installed);
        self.forget_the_past();
    }

    /// Drops what no sandbox has any more: at once where the same program is known by other bytes, else the oldest.
    fn forget_the_past(&mut self) {
        let gone = |found: &Installed| found.bytes.is_gone();
        let mut past: Vec<(u64, Digest, usize)> = self
            .installed
            .iter()
            .filter(|(_, found)| gone(found))
            .map(|(address, found)| (found.used, found.digest, *address))
            .collect();
        past.sort_unstable_by_key(|(used, _, _)| std::cmp::Reverse(*used));
        let mut kept: Vec<Digest> =
            self.installed.values().filter(|found| !gone(found)).map(|found| found.digest).collect();
        let alive = kept.len();
        for (_, digest, address) in past {
            if kept.contains(&digest) || kept.len() >= alive + KEPT_OF_THE_PAST {
                self.installed.remove(&address);
            } else {
                kept.push(digest);
            }
        }
    }

    pub(super) fn seen(&self, contents: &Contents) -> Option<Program> {
        self.seen.iter().find(|(seen, _, _)| seen.is_same(contents)).map(|(_, _, program)| program.clone())
    }

    pub(super) fn touch(&mut self, digest: &Digest) -> Option<Program> {
        self.clock += 1;
        let kept = self.by_digest.get_mut(digest)?;
        kept.used = self.clock;
        Some(kept.program.clone())
    }

    pub(super) fn keep(&mut self, digest: Digest, contents: &Contents, bytes: u64, program: Program) {
        self.clock += 1;
        self.seen.push_front((contents.clone(), bytes, program.clone()));
        let mut room = KEPT_BYTES;
        let kept = self.seen.iter().take(KEPT_OF_GUESTS).take_while(|(_, bytes, _)| fits(&mut room, *bytes)).count();
        self.seen.truncate(kept);
        self.by_digest.insert(digest, Kept { used: self.clock, bytes, program });
        let mut room = KEPT_BYTES;
        let mut latest: Vec<(u64, u64, Digest)> =
            self.by_digest.iter().map(|(digest, kept)| (kept.used, kept.bytes, *digest)).collect();
        latest.sort_unstable_by_key(|(used, _, _)| std::cmp::Reverse(*used));
        for (at, (_, bytes, digest)) in latest.into_iter().enumerate() {
            if at >= KEPT_OF_GUESTS || !fits(&mut room, bytes) {
                self.by_digest.remove(&digest);
            }
        }
    }
}

/// Takes room for a program. The first that does not fit leaves none for those after it.
fn fits(room: &mut u64, bytes: u64) -> bool {
    let left = room.checked_sub(bytes);
    *room = left.unwrap_or(0);
    left.is_some()
}
