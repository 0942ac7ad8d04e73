//! Traps.

mod run;
mod signal;

use std::rc::Rc;

use tidebox_rt::{self as rt, Disposition};

use crate::ir::Bytes;

pub(crate) use signal::{signal_name, signal_number, signal_table};

/// Traps that no signal sets off, numbered where no signal is.
pub(crate) const EXIT: u8 = 0;
/// SIGCHLD, whose trap runs once for each ended child.
pub(crate) const CHLD: u8 = 17;
/// SIGINT, which the interrupt key of a terminal sends.
pub(crate) const INT: u8 = 2;
pub(crate) const ERR: u8 = 100;
pub(crate) const DEBUG: u8 = 101;
pub(crate) const RETURN: u8 = 102;

/// Signals whose default action ends the shell after the EXIT trap. As in bash, PROF, STKFLT, IO and PWR do not run it.
const FATAL: &[u8] = &[1, 2, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 24, 25, 26, 31];

/// Use of the keys of a terminal that send signals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Keyboard {
    /// Standard input is not a terminal.
    #[default]
    Unused,
    /// As bash, the shell ends by SIGINT only if the program that it waits for does.
    Script,
    /// SIGINT discards the command. SIGQUIT, SIGTERM and the signals that stop are ignored.
    Interactive,
}

/// The traps of a shell.
#[derive(Debug, Default)]
pub(crate) struct Traps {
    /// The status before the trap that runs, which `exit` and `return` without a number return.
    pub(crate) status_before: Option<u8>,
    /// The status before the `return` that ends a function, for its RETURN trap.
    pub(crate) status_before_return: Option<u8>,
    /// The status of the last trap.
    pub(crate) last_status: u8,
    /// The command in progress, for `BASH_COMMAND`. Set only if a trap could read it.
    pub(crate) command: Option<crate::state::Current>,
    /// The line of the last command that ended, for the ERR trap.
    pub(crate) ended_line: u32,
    /// The command of each trap; an empty text means that the signal is ignored.
    set: Vec<(u8, Rc<Bytes>)>,
    /// A trap is running, so that its own failures set off no other.
    running: Vec<u8>,
    /// Signals that have arrived and whose traps have not run; bit *n* is signal *n*.
    pending: u64,
    /// In a subshell, the traps of its parent, which `trap` shows until the subshell sets its own.
    inherited: Option<Vec<(u8, Rc<Bytes>)>>,
    /// Commands are being started in the background without job control, where INT and QUIT are ignored.
    pub(crate) background: bool,
    /// Use of the keys of a terminal that send signals.
    pub(crate) keyboard: Keyboard,
    /// No shell would continue this process: it belongs to an interactive shell without being a job of it.
    pub(crate) unstoppable: bool,
    /// Signals that this subshell ignores because it runs in the background.
    background_ignored: Vec<u8>,
    /// Traps of arriving signals run after the redirections of the command are undone.
    pub(crate) holds: bool,
    /// Ended children for which the CHLD trap has not run.
    children: u32,
    /// Signals that were ignored when the shell started; bit *n* is signal *n*.
    pub(crate) ignored_at_start: u64,
    /// Signals that were ignored at the start and must stay so; computed on first use; bit *n* is signal *n*.
    fixed: Option<u64>,
}

/// SIGINT and SIGQUIT, which background processes without job control ignore.
const BACKGROUND: [u8; 2] = [2, 3];

/// SIGTSTP, SIGTTIN and SIGTTOU, which stop a process.
const STOP_SIGNALS: [u8; 3] = [20, 21, 22];

/// The set of these signals.
pub(crate) const STOPS: u64 = 1 << 20 | 1 << 21 | 1 << 22;

/// Signals with another disposition in a shell on a terminal.
const KEYBOARD: [u8; 6] = [INT, 3, 15, 20, 21, 22];

impl Traps {
    /// Handles the signals of the keys of a terminal.
    pub(crate) fn join_terminal(&mut self, keyboard: Keyboard) {
        self.keyboard = keyboard;
        KEYBOARD.into_iter().for_each(|signal| self.apply_disposition(signal));
    }

    /// Returns whether the interrupt key was pressed and has had no effect yet.
    pub(crate) fn has_interrupt(&self) -> bool {
        self.pending >> INT & 1 == 1
    }

    /// Notes that the interrupt key has ended a job.
    pub(crate) fn note_interrupt(&mut self) {
        self.pending |= 1 << INT;
    }

    /// Ignores the signals that stop a process.
    pub(crate) fn ignore_stops(&mut self) {
        self.unstoppable = true;
        STOP_SIGNALS.into_iter().for_each(|signal| self.apply_disposition(signal));
    }

    /// Forgets an interrupt that arrived while a program handled it.
    pub(crate) fn forget_interrupt(&mut self) {
        self.pending &= !(1 << INT);
    }

    pub(crate) fn get(&self, signal: u8) -> Option<&Rc<Bytes>> {
        self.set.iter().find(|(s, _)| *s == signal).map(|(_, text)| text)
    }

    /// Returns whether a trap is set that may read the current command, and no trap runs.
    pub(crate) fn reads_commands(&self) -> bool {
        !self.set.is_empty() && self.running.is_empty()
    }

    /// Returns whether a trap runs.
    pub(crate) fn in_progress(&self) -> bool {
        !self.running.is_empty()
    }

    pub(crate) fn all(&self) -> &[(u8, Rc<Bytes>)] {
        &self.set
    }

    /// The traps that `trap -p` prints.
    pub(crate) fn listed(&self) -> Vec<(u8, Rc<Bytes>)> {
        self.inherited.as_ref().unwrap_or(&self.set).clone()
    }

    /// Starts a subshell in the background.
    pub(crate) fn enter_background(&mut self) {
        if std::mem::take(&mut self.background) {
            self.background_ignored = BACKGROUND.into_iter().filter(|signal| self.get(*signal).is_none()).collect();
            self.background_ignored.iter().for_each(|signal| self.apply_disposition(*signal));
        }
    }

    /// Forgets the traps of the parent, because this shell sets its own.
    pub(crate) fn forget_inherited(&mut self) {
        self.inherited = None;
    }

    /// Returns whether the trap of this signal runs.
    pub(crate) fn is_running(&self, signal: u8) -> bool {
        self.running.contains(&signal)
    }

    /// The trap that runs, the innermost one.
    pub(crate) fn innermost(&self) -> Option<u8> {
        self.running.last().copied()
    }

    /// Removes and returns the traps that `removes` accepts, for a function or a sourced file that does not inherit them.
    pub(crate) fn take_matching(&mut self, removes: impl Fn(u8) -> bool) -> Vec<(u8, Rc<Bytes>)> {
        // Ignored signals stay ignored.
        let predicate = |(signal, text): &(u8, Rc<Bytes>)| removes(*signal) && !text.is_empty();
        if !self.set.iter().any(predicate) {
            return Vec::new();
        }
        let aside = self.set.iter().filter(|trap| predicate(trap)).cloned().collect();
        self.set.retain(|trap| !predicate(trap));
        aside
    }

    /// Restores traps, unless new ones were set since.
    pub(crate) fn restore(&mut self, aside: Vec<(u8, Rc<Bytes>)>) {
        for (signal, text) in aside {
            if self.get(signal).is_none() {
                self.set.push((signal, text));
                self.set.sort_by_key(|(s, _)| *s);
            }
        }
    }

    /// Returns whether writing to a pipe without readers is an error instead of a signal.
    pub(crate) fn ignores_pipes(&self) -> bool {
        !self.set.is_empty() && self.get(13).is_some_and(|text| text.is_empty())
    }

    /// Counts an ended child for the CHLD trap.
    pub(crate) fn child_ended(&mut self) {
        if !self.set.is_empty() && !self.is_running(CHLD) && self.get(CHLD).is_some_and(|text| !text.is_empty()) {
            self.children = self.children.saturating_add(1);
        }
    }

    /// Returns whether the trap for an exited child is pending.
    pub(crate) fn waits_for_children(&self) -> bool {
        self.children > 0
    }

    /// Keeps ignored signals ignored, as in a new shell.
    pub(crate) fn fix_ignored(&mut self) {
        let ignored = self.set.iter().filter(|(signal, text)| (1..32).contains(signal) && text.is_empty());
        self.fixed = Some(ignored.fold(self.fixed.unwrap_or(0), |set, (signal, _)| set | 1 << signal));
    }

    /// Consumes one pending run of the trap for an exited child. Returns whether there was one.
    pub(crate) fn consume_child_exit(&mut self) -> bool {
        let left = self.children.checked_sub(1).filter(|_| !self.is_running(CHLD));
        self.children = left.unwrap_or(self.children);
        left.is_some()
    }

    /// Sets the command of a signal; `None` restores its default.
    pub(crate) fn set(&mut self, signal: u8, text: Option<Bytes>) {
        if signal < 64 && self.fixed.unwrap_or(0) >> signal & 1 == 1 {
            return;
        }
        if signal == CHLD {
            self.children = 0;
        }
        self.background_ignored.retain(|ignored| *ignored != signal);
        self.set.retain(|(s, _)| *s != signal);
        if let Some(text) = text {
            self.set.push((signal, Rc::new(text)));
            self.set.sort_by_key(|(s, _)| *s);
        }
        if (1..=31).contains(&signal) {
            self.apply_disposition(signal);
        } else if signal == EXIT {
            FATAL.iter().for_each(|signal| self.apply_disposition(*signal));
        }
    }

    /// Sets the disposition of a signal in the kernel.
    pub(crate) fn apply_disposition(&self, signal: u8) {
        let disposition = match self.get(signal) {
            None if self.background_ignored.contains(&signal) => Disposition::Ignore,
            None if self.keyboard != Keyboard::Unused && signal == INT => Disposition::Note,
            None if self.unstoppable && STOP_SIGNALS.contains(&signal) => Disposition::Ignore,
            None if self.keyboard == Keyboard::Interactive && KEYBOARD.contains(&signal) => Disposition::Ignore,
            None if FATAL.contains(&signal) && self.get(EXIT).is_some_and(|text| !text.is_empty()) => Disposition::Note,
            None => Disposition::Default,
            Some(text) if text.is_empty() => Disposition::Ignore,
            Some(_) => Disposition::Note,
        };
        // SIGKILL and SIGSTOP are rejected; bash accepts such a trap and never runs it.
        let _ = rt::sig_set(u32::from(signal), disposition);
    }

    /// Resets the traps in a subshell: ignored signals stay ignored, `ERR`, `DEBUG` and `RETURN` stay if options require it,
    /// and all others are removed. The old traps can still be listed.
    pub(crate) fn reset_for_subshell(&mut self, functrace: bool, errtrace: bool) {
        self.pending = 0;
        self.children = 0;
        // The subshell may set and run an EXIT trap.
        self.running.retain(|signal| *signal != EXIT);
        if self.keyboard == Keyboard::Interactive {
            self.join_terminal(Keyboard::Script);
        }
        if self.set.is_empty() {
            return;
        }
        if self.inherited.is_none() {
            self.inherited = Some(self.set.clone());
        }
        for (signal, text) in std::mem::take(&mut self.set) {
            if signal < 64 && self.fixed.unwrap_or(0) >> signal & 1 == 1 {
                self.set.push((signal, text));
                continue;
            }
            let stays = text.is_empty()
                || match signal {
                    DEBUG | RETURN => functrace,
                    ERR => errtrace,
                    _ => false,
                };
            self.set(signal, stays.then(|| text.to_vec()));
        }
    }

    /// Signals that a program starts with ignored; bit *n* is signal *n*.
    pub(crate) fn ignored(&self) -> u64 {
        let background = if self.background { BACKGROUND.iter().fold(0, |set, s| set | 1 << s) } else { 0 };
        let background = background | if self.unstoppable { STOPS } else { 0 };
        self.set.iter().filter(|(s, text)| *s < 64 && text.is_empty()).fold(background, |set, (s, _)| set | 1 << s)
    }
}
