//! The terminal of an interactive shell: its keys, its window and its settings.

use tidebox_rt::{self as rt, Errno, Fd, TerminalMode};

use crate::state::{EvalResult, Shell, Unwind};
use crate::trap::{INT, Keyboard};
use crate::vars::{Value, Var};

/// Status of a command that the interrupt key ended.
const INTERRUPTED: u8 = 130;

impl Shell {
    /// Prepares a shell on a terminal. In an interactive one keys interrupt its commands, and its background jobs have
    /// separate process groups. Returns `false` for other shells.
    pub(crate) fn join_terminal(&mut self) -> bool {
        if !rt::is_terminal(0) {
            return false;
        }
        if !self.options.interactive || !rt::is_terminal(2) {
            self.traps.join_terminal(Keyboard::Script);
            return false;
        }
        self.traps.join_terminal(Keyboard::Interactive);
        self.options.monitor = true;
        self.terminal_mode = rt::terminal_mode(0).ok();
        true
    }

    /// Returns whether it is an interactive shell on a terminal, and not a subshell of one.
    pub(crate) fn has_terminal(&self) -> bool {
        self.traps.keyboard == Keyboard::Interactive
    }

    /// Returns whether this signal is the interrupt key, for which no trap is set.
    pub(crate) fn is_interrupt(&self, signal: u8) -> bool {
        signal == INT && self.traps.keyboard != Keyboard::Unused && self.traps.get(INT).is_none()
    }

    /// Discards the current command after the interrupt key. A shell that is not interactive ends.
    pub(crate) fn interrupt<T>(&mut self) -> EvalResult<T> {
        self.io.flush();
        if !self.has_terminal() {
            self.exit_by_signal(INT);
        }
        // The prompt starts on a new line. A closed standard error is ignored.
        let _ = self.io.write(2, b"\n");
        self.status = INTERRUPTED;
        Err(Unwind::Discard)
    }

    /// Runs the trap of a signal that has arrived, or discards the command after the interrupt key.
    pub(crate) fn handle_signal(&mut self, signal: u8) -> EvalResult {
        if self.is_interrupt(signal) { self.interrupt() } else { self.run_trap(signal) }
    }

    /// Before a prompt: reports jobs, updates `LINES` and `COLUMNS`, and restores the settings if the last program was killed, which
    /// may have left others.
    pub(crate) fn update_terminal(&mut self) {
        if !self.has_terminal() {
            return;
        }
        self.notify_jobs();
        let Ok(mode) = rt::terminal_mode(0) else { return };
        let (rows, columns) = (mode.rows, mode.columns);
        match &self.terminal_mode {
            Some(saved) if self.status > 128 => {
                let saved = TerminalMode { rows, columns, ..*saved };
                // The terminal may have hung up.
                let _ = rt::set_terminal_mode(0, &saved, false);
            }
            _ => self.terminal_mode = Some(mode),
        }
        self.set_window(&mode);
    }

    /// After a program: updates `LINES` and `COLUMNS`.
    pub(crate) fn update_window(&mut self) {
        if let Ok(mode) = rt::terminal_mode(0) {
            self.set_window(&mode);
        }
    }

    fn set_window(&mut self, mode: &TerminalMode) {
        for (name, value) in [(&b"LINES"[..], mode.rows), (b"COLUMNS", mode.columns)] {
            if value > 0 {
                let flags = self.vars.get(name).map_or(0, |old| old.flags);
                let value = Value::Text(value.to_string().into_bytes());
                self.vars.insert(name.into(), Var { value, flags });
            }
        }
    }

    /// Makes a job the one that reads keys, until [`Self::take_foreground`].
    pub(crate) fn give_foreground(&mut self, group: u32) {
        if self.has_terminal() {
            // The job may have ended.
            let _ = rt::terminal_group(0, group);
            let _ = rt::kill(i32::try_from(group).map_or(0, |group| -group), crate::job_control::CONT);
        }
    }

    /// Makes the shell the one that reads keys.
    pub(crate) fn take_foreground(&mut self) {
        if self.has_terminal()
            && let Ok(ids) = rt::getids()
        {
            // The terminal may have hung up.
            let _ = rt::terminal_group(0, ids.pgid);
        }
    }
}

/// Settings for a part of a line, which end when this is dropped.
#[derive(Debug)]
pub(crate) struct TemporaryMode {
    fd: Fd,
    saved: TerminalMode,
}

impl TemporaryMode {
    /// Turns off echo (`silent`) or passes keys without waiting for a line (`by_key`). `None` if the descriptor is not a terminal.
    pub(crate) fn set(fd: Fd, silent: bool, by_key: bool) -> Option<Self> {
        if !silent && !by_key {
            return None;
        }
        let saved = rt::terminal_mode(fd).ok()?;
        let mut mode = saved;
        if silent {
            mode.local &= !rt::terminal_flag::ECHO;
        }
        if by_key {
            mode.local &= !rt::terminal_flag::ICANON;
            mode.set_minimum(1, 0);
        }
        match rt::set_terminal_mode(fd, &mode, false) {
            Ok(()) | Err(Errno::INTR) => Some(Self { fd, saved }),
            Err(_) => None,
        }
    }
}

impl Drop for TemporaryMode {
    fn drop(&mut self) {
        // The terminal may have hung up.
        let _ = rt::set_terminal_mode(self.fd, &self.saved, false);
    }
}
