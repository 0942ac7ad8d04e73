//! The line discipline: keys to lines, echo and signals; output of programs to bytes for the screen. It follows Linux's `n_tty`.

use std::collections::VecDeque;

use super::settings::{Settings, character, input, local, output};
use crate::signal::Signal;

/// Maximum bytes of a line that is being edited, without its end. As on Linux, more are dropped.
const MAX_LINE_BYTES: usize = 4095;
/// Maximum bytes and lines that no program has read; keys beyond them have to wait.
const MAX_UNREAD_BYTES: usize = 64 << 10;
const MAX_UNREAD_LINES: usize = 4096;

const BELL: u8 = 7;
const BACKSPACE: u8 = 8;
const DELETE: u8 = 0x7f;

/// Time unit of `VTIME` in nanoseconds.
const TIME_UNIT: u64 = 100_000_000;

/// State of the input for a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputState {
    /// A read returns this many bytes; 0 is the end of the input.
    Ready(usize),
    /// A read has to wait, at most until this monotonic time.
    Waits(Option<u64>),
}

/// Times that decide when a read in non-canonical mode returns, in nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadTimes {
    pub(crate) now: u64,
    /// Start of the read.
    pub(crate) started: u64,
    /// Arrival of the last input.
    pub(crate) last_input: u64,
}

/// Line discipline of one terminal.
#[derive(Debug, Default)]
pub(crate) struct LineDiscipline {
    settings: Settings,
    /// Input for readers.
    unread: VecDeque<u8>,
    /// Lengths of the lines in `unread` in canonical mode. One without a newline ends by the end-of-file key and may be empty.
    lines: VecDeque<usize>,
    /// The line that is being edited.
    edited: Vec<u8>,
    /// The next key has no special meaning.
    is_literal: bool,
    /// Column of the cursor, and at the start of the edited line, for erasing tabs.
    column: usize,
    first_column: usize,
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

impl LineDiscipline {
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    fn is_canonical(&self) -> bool {
        self.settings.has_local(local::ICANON)
    }

    /// Changes the settings. Unread input stays: without canonical mode all of it is readable, and when that starts, all of it is
    /// one line.
    pub(crate) fn set_settings(&mut self, settings: Settings) {
        let was_canonical = self.is_canonical();
        self.settings = settings;
        if was_canonical && !self.is_canonical() {
            self.unread.extend(self.edited.drain(..));
            self.lines.clear();
            self.is_literal = false;
        } else if !was_canonical && self.is_canonical() && !self.unread.is_empty() {
            self.lines.push_back(self.unread.len());
        }
    }

    /// Discards all input.
    pub(crate) fn flush(&mut self) {
        self.unread.clear();
        self.lines.clear();
        self.edited.clear();
        self.is_literal = false;
    }

    fn signal_of(&self, byte: u8) -> Option<Signal> {
        let keys = [(character::INTR, Signal::Int), (character::QUIT, Signal::Quit), (character::SUSP, Signal::Tstp)];
        let found = keys.into_iter().find(|(at, _)| self.settings.is(byte, *at))?;
        (self.settings.has_local(local::ISIG) && !self.is_literal).then_some(found.1)
    }

    /// Returns whether there is space for this key. A key that sends a signal always has, so that a program that reads nothing
    /// can be interrupted.
    pub(crate) fn accepts(&self, byte: u8) -> bool {
        let is_full = self.unread.len() + self.edited.len() >= MAX_UNREAD_BYTES || self.lines.len() >= MAX_UNREAD_LINES;
        !is_full || self.signal_of(byte).is_some()
    }

    /// Processes one key, appends its echo, and returns the signal for the foreground group.
    pub(crate) fn input(&mut self, byte: u8, echo: &mut Vec<u8>) -> Option<Signal> {
        if let Some(signal) = self.signal_of(byte) {
            if !self.settings.has_local(local::NOFLSH) {
                self.flush();
            }
            self.echo_key(byte, echo);
            return Some(signal);
        }
        let is_literal = std::mem::take(&mut self.is_literal);
        let byte = if is_literal { byte } else { self.translate(byte)? };
        if !self.is_canonical() {
            self.echo_key(byte, echo);
            self.unread.push_back(byte);
        } else if is_literal || !self.edit(byte, echo) {
            self.insert(byte, echo);
        }
        None
    }

    /// Applies `IGNCR`, `ICRNL` and `INLCR`. `None` if the key is ignored.
    fn translate(&self, byte: u8) -> Option<u8> {
        match byte {
            b'\r' if self.settings.has_input(input::IGNCR) => None,
            b'\r' if self.settings.has_input(input::ICRNL) => Some(b'\n'),
            b'\n' if self.settings.has_input(input::INLCR) => Some(b'\r'),
            _ => Some(byte),
        }
    }

    /// Handles the keys of canonical mode. Returns `false` for a byte of the line.
    fn edit(&mut self, byte: u8, echo: &mut Vec<u8>) -> bool {
        let extended = self.settings.has_local(local::IEXTEN);
        let is = |at: usize| self.settings.is(byte, at);
        if is(character::ERASE) {
            self.erase_character(echo);
        } else if is(character::KILL) {
            self.erase_line(echo);
        } else if extended && is(character::WERASE) {
            self.erase_word(echo);
        } else if extended && is(character::LNEXT) {
            self.is_literal = true;
            if self.settings.has_local(local::ECHO | local::ECHOCTL) {
                self.emit_all(b"^\x08", echo);
            }
        } else if extended && is(character::REPRINT) {
            self.reprint(byte, echo);
        } else if byte == b'\n' {
            if self.settings.local & (local::ECHO | local::ECHONL) != 0 {
                self.emit(b'\n', echo);
            }
            self.end_line(Some(byte));
        } else if is(character::EOF) {
            self.end_line(None);
        } else if is(character::EOL) || (extended && is(character::EOL2)) {
            self.echo_key(byte, echo);
            self.end_line(Some(byte));
        } else {
            return false;
        }
        true
    }

    fn insert(&mut self, byte: u8, echo: &mut Vec<u8>) {
        if self.edited.len() >= MAX_LINE_BYTES {
            if self.settings.has_input(input::IMAXBEL) {
                self.emit(BELL, echo);
            }
            return;
        }
        if self.edited.is_empty() {
            self.first_column = self.column;
        }
        self.echo_key(byte, echo);
        self.edited.push(byte);
    }

    fn end_line(&mut self, end: Option<u8>) {
        self.edited.extend(end);
        self.lines.push_back(self.edited.len());
        self.unread.extend(self.edited.drain(..));
    }

    /// Echoes a key, a control character as `^X`.
    fn echo_key(&mut self, byte: u8, echo: &mut Vec<u8>) {
        if !self.settings.has_local(local::ECHO) {
            return;
        }
        if self.is_shown_with_caret(byte) {
            self.emit_all(&[b'^', byte ^ 0x40], echo);
        } else {
            self.emit(byte, echo);
        }
    }

    fn is_shown_with_caret(&self, byte: u8) -> bool {
        self.settings.has_local(local::ECHOCTL) && byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n')
    }

    /// Number of columns of one byte of the edited line at a column.
    fn width_at(&self, byte: u8, column: usize) -> usize {
        match byte {
            b'\t' => 8 - column % 8,
            _ if self.is_shown_with_caret(byte) => 2,
            _ if byte.is_ascii_control() => 0,
            _ if is_continuation(byte) && self.settings.has_input(input::IUTF8) => 0,
            _ => 1,
        }
    }

    /// Removes the last character of the edited line.
    fn pop_character(&mut self) -> Option<u8> {
        let mut byte = self.edited.pop()?;
        while self.settings.has_input(input::IUTF8) && is_continuation(byte) {
            byte = self.edited.pop()?;
        }
        Some(byte)
    }

    fn erase_character(&mut self, echo: &mut Vec<u8>) {
        let Some(byte) = self.pop_character() else { return };
        if !self.settings.has_local(local::ECHO) {
            return;
        }
        if !self.settings.has_local(local::ECHOE) {
            let key = self.settings.character(character::ERASE);
            return self.echo_key(key, echo);
        }
        let before = self.edited.iter().fold(self.first_column, |column, byte| column + self.width_at(*byte, column));
        let width = self.width_at(byte, before);
        for _ in 0..width {
            self.emit_all(if byte == b'\t' { b"\x08" } else { b"\x08 \x08" }, echo);
        }
    }

    fn erase_line(&mut self, echo: &mut Vec<u8>) {
        if self.edited.is_empty() {
            return;
        }
        if self.settings.has_local(local::ECHO | local::ECHOE | local::ECHOK | local::ECHOKE) {
            while !self.edited.is_empty() {
                self.erase_character(echo);
            }
            return;
        }
        self.edited.clear();
        if self.settings.has_local(local::ECHO) {
            self.echo_key(self.settings.character(character::KILL), echo);
            if self.settings.has_local(local::ECHOK) {
                self.emit(b'\n', echo);
            }
        }
    }

    /// Erases the last run of letters, digits and underscores, and what follows it.
    fn erase_word(&mut self, echo: &mut Vec<u8>) {
        let mut in_word = false;
        while let Some(&byte) = self.edited.last() {
            let is_word = byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
            if in_word && !is_word {
                break;
            }
            in_word |= is_word;
            self.erase_character(echo);
        }
    }

    fn reprint(&mut self, key: u8, echo: &mut Vec<u8>) {
        if !self.settings.has_local(local::ECHO) {
            return;
        }
        self.echo_key(key, echo);
        self.emit(b'\n', echo);
        self.first_column = self.column;
        let line = std::mem::take(&mut self.edited);
        line.iter().for_each(|byte| self.echo_key(*byte, echo));
        self.edited = line;
    }

    fn emit_all(&mut self, bytes: &[u8], screen: &mut Vec<u8>) {
        bytes.iter().for_each(|byte| self.emit(*byte, screen));
    }

    /// Appends the bytes that the screen shows for one byte of output, and moves the cursor.
    fn emit(&mut self, byte: u8, screen: &mut Vec<u8>) {
        if !self.settings.has_output(output::OPOST) {
            return screen.push(byte);
        }
        match byte {
            b'\n' if self.settings.has_output(output::ONLCR) => {
                self.column = 0;
                return screen.extend_from_slice(b"\r\n");
            }
            b'\r' if self.settings.has_output(output::OCRNL) => return screen.push(b'\n'),
            b'\r' => self.column = 0,
            b'\t' => self.column = self.column.saturating_add(8 - self.column % 8),
            BACKSPACE => self.column = self.column.saturating_sub(1),
            DELETE => {}
            _ if byte.is_ascii_control() => {}
            _ if is_continuation(byte) && self.settings.has_input(input::IUTF8) => {}
            _ => self.column = self.column.saturating_add(1),
        }
        screen.push(byte);
    }

    /// Appends the bytes that the screen shows for output of a program.
    pub(crate) fn output(&mut self, bytes: &[u8], screen: &mut Vec<u8>) {
        self.emit_all(bytes, screen);
    }

    /// Returns the result of a read of at most `requested` bytes, which must not be zero.
    pub(crate) fn state(&self, requested: usize, times: ReadTimes) -> InputState {
        if self.is_canonical() {
            return self.lines.front().map_or(InputState::Waits(None), |len| InputState::Ready(requested.min(*len)));
        }
        let available = self.unread.len();
        let ready = InputState::Ready(requested.min(available));
        let min = usize::from(self.settings.character(character::MIN));
        let time = u64::from(self.settings.character(character::TIME)) * TIME_UNIT;
        if available >= min.min(requested).max(1) || (min == 0 && time == 0) {
            return ready;
        }
        let since = match (min, available) {
            _ if time == 0 => return InputState::Waits(None),
            (0, _) => times.started,
            (_, 0) => return InputState::Waits(None),
            _ => times.last_input.max(times.started),
        };
        let deadline = since.saturating_add(time);
        if deadline <= times.now { ready } else { InputState::Waits(Some(deadline)) }
    }

    /// Returns the bytes that a poll reports; `None` if a read would wait.
    pub(crate) fn readable(&self) -> Option<usize> {
        if self.is_canonical() {
            return self.lines.front().copied();
        }
        let min = match self.settings.character(character::TIME) {
            0 => usize::from(self.settings.character(character::MIN)),
            _ => 1,
        };
        (self.unread.len() >= min.max(1)).then_some(self.unread.len())
    }

    /// Copies unread bytes that start `past` bytes after the first, without consuming them, so that a memory fault loses none.
    pub(crate) fn peek(&self, past: u64, into: &mut [u8]) -> usize {
        let past = usize::try_from(past).unwrap_or(usize::MAX);
        let mut count = 0;
        for (slot, byte) in into.iter_mut().zip(self.unread.iter().skip(past)) {
            *slot = *byte;
            count += 1;
        }
        count
    }

    /// Consumes the bytes that a read has returned. A read of an empty line consumes the end of file.
    pub(crate) fn consume(&mut self, count: usize) {
        self.unread.drain(..count.min(self.unread.len()));
        if !self.is_canonical() {
            return;
        }
        let left = self.lines.front_mut().map(|len| {
            *len = len.saturating_sub(count);
            *len
        });
        if left == Some(0) {
            self.lines.pop_front();
        }
    }
}
