//! Terminals: settings, size and foreground process group.

use crate::{Errno, Fd, Result, border};

/// Number of control characters.
pub const TERMINAL_CHARACTERS: usize = 19;

/// The version of the state that this crate reads and writes.
const VERSION: u32 = 1;

/// Flags of [`TerminalMode::local`], as on Linux.
pub mod terminal_flag {
    /// Keys send signals.
    pub const ISIG: u32 = 0o1;
    /// Input is read by lines.
    pub const ICANON: u32 = 0o2;
    /// Keys are shown.
    pub const ECHO: u32 = 0o10;
}

/// Settings and size of a terminal. Flags and the indexes of characters are those of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalMode {
    /// `c_iflag`.
    pub input: u32,
    /// `c_oflag`.
    pub output: u32,
    /// `c_cflag`.
    pub control: u32,
    /// `c_lflag`.
    pub local: u32,
    /// `c_cc`.
    pub characters: [u8; TERMINAL_CHARACTERS],
    /// Number of rows; 0 if unknown.
    pub rows: u16,
    /// Number of columns; 0 if unknown.
    pub columns: u16,
}

impl TerminalMode {
    /// Sets the minimum number of bytes (`VMIN`), and the time in tenths of a second (`VTIME`), of a read without lines.
    pub fn set_minimum(&mut self, bytes: u8, time: u8) {
        let [_, _, _, _, _, slot_time, slot_bytes, ..] = &mut self.characters;
        (*slot_time, *slot_bytes) = (time, bytes);
    }

    fn decode(state: &[u8; 64]) -> Option<Self> {
        let word = |at: usize| Some(u32::from_le_bytes(*state.get(4 * at..)?.first_chunk()?));
        let half = |at: usize| Some(u16::from_le_bytes(*state.get(at..)?.first_chunk()?));
        if word(0)? != VERSION {
            return None;
        }
        Some(Self {
            input: word(1)?,
            output: word(2)?,
            control: word(3)?,
            local: word(4)?,
            rows: half(20)?,
            columns: half(22)?,
            characters: *state.get(24..)?.first_chunk()?,
        })
    }

    fn encode(&self) -> [u8; 64] {
        let words = [VERSION, self.input, self.output, self.control, self.local].map(u32::to_le_bytes).concat();
        let size = [self.rows, self.columns].map(u16::to_le_bytes).concat();
        let mut state = [0; 64];
        for (slot, byte) in state.iter_mut().zip([&words[..], &size, &self.characters].concat()) {
            *slot = byte;
        }
        state
    }
}

/// Returns settings and size. `NOTTY` if the descriptor is not a terminal.
pub fn terminal_mode(fd: Fd) -> Result<TerminalMode> {
    TerminalMode::decode(&border::tty_get(fd)?).ok_or(Errno::NOSYS)
}

/// Changes settings and size. `flush` discards unread input.
pub fn set_terminal_mode(fd: Fd, mode: &TerminalMode, flush: bool) -> Result<()> {
    border::tty_set(fd, if flush { 2 } else { 0 }, &mode.encode())
}

/// Returns the foreground process group, after setting it unless `group` is 0.
pub fn terminal_group(fd: Fd, group: u32) -> Result<u32> {
    border::terminal_group(fd, group)
}

/// Returns the number of columns of a terminal; `None` if the descriptor is not a terminal or the number is unknown.
pub fn terminal_width(fd: Fd) -> Option<usize> {
    terminal_mode(fd).ok().map(|mode| usize::from(mode.columns)).filter(|columns| *columns > 0)
}
