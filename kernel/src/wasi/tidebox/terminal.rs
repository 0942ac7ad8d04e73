//! Functions of `tidebox_v1` for terminals. The state has the layout of `docs/abi.md`.

use tidebox_core::TerminalSize;

use crate::errno::Errno;
use crate::guest_memory::GuestMemory;
use crate::kernel::Kernel;
use crate::process::Pid;
use crate::syscall::{SyscallError, SyscallOutcome, blocking_call, call};
use crate::terminal::{CHARACTERS, Settings, TerminalState};
use crate::wasi::arg::{put_u32, u32_at};

/// The supported version of the state.
const VERSION: u32 = 1;
/// Bytes of the state: version, four `u32` of flags, rows and columns of two bytes each, control characters, zeros.
const STATE_BYTES: usize = 64;
const ROWS: usize = 20;
const COLUMNS: usize = 22;
const FIRST_CHARACTER: usize = 24;

/// Writes settings and size. `NOTTY` if the descriptor is not a terminal, `IO` after a hang-up.
pub fn tty_get(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, fd: u32, out: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        let state = k.terminal_state(pid, fd)?;
        Ok(m.write(out, &encode(&state))?)
    })
}

/// Changes settings and size: `when` 0 immediately, 1 after the output, which is the same, 2 also discards unread input. `INVAL`
/// for another version or `when`. A process of a background group is stopped by SIGTTOU unless it ignores that.
pub fn tty_set(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, fd: u32, when: u32, from: u32) -> SyscallOutcome {
    blocking_call(k, pid, |k| {
        let mut raw = [0; STATE_BYTES];
        m.read(from, &mut raw)?;
        if when > 2 {
            return Err(Errno::Inval.into());
        }
        let state = decode(&raw).ok_or(Errno::Inval)?;
        k.set_terminal_state(pid, fd, state, when == 2)
    })
}

/// Sets the foreground process group unless `group` is 0, and writes it. `PERM` for a group of another execution. A process of a
/// background group is stopped by SIGTTOU unless it ignores that.
pub fn tty_group(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, fd: u32, group: u32, out: u32) -> SyscallOutcome {
    blocking_call(k, pid, |k| {
        // Written once before, so that a bad address fails before anything changes.
        put_u32(m, out, 0)?;
        let group = k.terminal_group(pid, fd, group)?;
        put_u32(m, out, group).map_err(SyscallError::from)
    })
}

fn encode(state: &TerminalState) -> [u8; STATE_BYTES] {
    let mut raw = [0; STATE_BYTES];
    let mut put = |at: usize, bytes: &[u8]| {
        if let Some(slot) = raw.get_mut(at..at + bytes.len()) {
            slot.copy_from_slice(bytes);
        }
    };
    let Settings { input, output, control, local, characters } = state.settings;
    for (word, value) in [VERSION, input, output, control, local].into_iter().enumerate() {
        put(4 * word, &value.to_le_bytes());
    }
    put(ROWS, &state.size.rows.to_le_bytes());
    put(COLUMNS, &state.size.columns.to_le_bytes());
    put(FIRST_CHARACTER, &characters);
    raw
}

fn decode(raw: &[u8; STATE_BYTES]) -> Option<TerminalState> {
    let word = |at: usize| u32_at(raw, 4 * at);
    if word(0) != VERSION {
        return None;
    }
    let half = |at: usize| Some(u16::from_le_bytes(*raw.get(at..)?.first_chunk()?));
    let characters: [u8; CHARACTERS] = *raw.get(FIRST_CHARACTER..)?.first_chunk()?;
    Some(TerminalState {
        settings: Settings { input: word(1), output: word(2), control: word(3), local: word(4), characters },
        size: TerminalSize { rows: half(ROWS)?, columns: half(COLUMNS)? },
    })
}
