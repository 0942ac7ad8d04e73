//! Traps.

mod late;
mod run;
mod signal;

use std::rc::Rc;

use tidebox_rt::{self as rt, Disposition};

use crate::ir::Bytes;

pub(crate) use signal::{signal_name, signal_number, signal_table};

/// Traps that no signal sets off, numbered where no signal is.
pub(crate) const EXIT: u8 = 0;
/// A child has ended, whose trap runs once for each of them.
pub(crate) const CHLD: u8 = 17;
pub(crate) const ERR: u8 = 100;
pub(crate) const DEBUG: u8 = 101;
pub(crate) const RETURN: u8 = 102;

/// Signals before whose death the EXIT trap runs. bash has none of its own for PROF, STKFLT, IO and PWR.
const FATAL: &[u8] = &[1, 2, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 24, 25, 26, 31];

/// Commands to run when something happens.
#[derive(Debug, Default)]
pub(crate) struct Traps {
    /// What each signal runs; empty text means that it is ignored.
    set: Vec<(u8, Rc<Bytes>)>,
    /// A trap is running, so that its own failures set off no other.
    running: Vec<u8>,
    /// Signals that have arrived and whose traps have not run; bit *n* is signal *n*.
    pending: u64,
    /// In a subshell, the traps of its parent, which `trap` shows until the subshell sets its own.
    inherited: Option<Vec<(u8, Rc<Bytes>)>>,
    /// What is started goes to the background without job control, where INT and QUIT are ignored.
    pub(crate) background: bool,
    /// Those that this subshell ignores because it was started there.
    unheard: Vec<u8>,
    /// This subshell is the one that was started there, in which `trap` shows the first of them as ignored.
    shows_unheard: bool,
    /// It did, and that the keyboard's signal is not heard stays shown.
    seen_unheard: bool,
    /// Traps of signals that arrive wait until the redirections of the command are taken back.
    pub(crate) holds: bool,
    /// A command that failed ends the shell.
    pub(crate) by_errexit: bool,
    /// What ends the shell has left a text since: then the function that the text stands in ends first, too.
    pub(crate) left_text: bool,
    /// The EXIT trap counts as a step of what `set -x` shows.
    pub(crate) ends_deeper: bool,
    /// The process ends past the EXIT trap.
    pub(crate) passes_exit: bool,
    /// Calls of functions in progress whose redirections are taken back before a failure ends the shell.
    pub(crate) redirected_calls: u32,
    /// Children that have ended since there is a trap for that, and for which it has not run.
    children: u32,
    /// Signals that were ignored when the shell started; bit *n* is signal *n*.
    pub(crate) ignored_at_start: u64,
    /// Signals that were ignored when the shell started and stay so, once somebody asked; bit *n* is signal *n*.
    fixed: Option<u64>,
    /// The traps of the parent, while the words of the command that this process was made for are expanded.
    late: Option<late::Late>,
    /// Those that the stages of a pipeline in the background have so.
    carried: Option<late::Set>,
    /// In a new process, what its parent would have ended with.
    left: Option<late::Set>,
    /// What is started is all of a substitution, whose process has none of these traps.
    pub(crate) substitutes: bool,
}

/// What the keyboard sends.
const KEYBOARD: u8 = 2;
/// Signals that do not reach what runs in the background without job control.
const BACKGROUND: [u8; 2] = [KEYBOARD, 3];

impl Traps {
    pub(crate) fn get(&self, signal: u8) -> Option<&Rc<Bytes>> {
        self.set.iter().find(|(s, _)| *s == signal).map(|(_, text)| text)
    }

    /// Whether a trap is set that may ask which command runs, and none of them is running.
    pub(crate) fn names_commands(&self) -> bool {
        !self.set.is_empty() && self.running.is_empty()
    }

    /// Whether any trap runs.
    pub(crate) fn in_progress(&self) -> bool {
        !self.running.is_empty()
    }

    pub(crate) fn all(&self) -> &[(u8, Rc<Bytes>)] {
        &self.set
    }

    /// What `trap -p` shows. In the background bash looks the keyboard's signal up for that, finds it ignored and takes it to have
    /// been so at the start: no trap for it can be set afterwards.
    pub(crate) fn shown(&mut self) -> Vec<(u8, Rc<Bytes>)> {
        let mut shown = self.inherited.as_ref().unwrap_or(&self.set).clone();
        self.seen_unheard |= self.shows_unheard && self.unheard.contains(&KEYBOARD);
        if self.seen_unheard {
            shown.retain(|(signal, _)| *signal != KEYBOARD);
            shown.push((KEYBOARD, Rc::default()));
            shown.sort_by_key(|(signal, _)| *signal);
        }
        shown
    }

    /// Begins a subshell in the background; `shows` whether `trap` tells of it.
    pub(crate) fn enter_background(&mut self, shows: bool) {
        if std::mem::take(&mut self.background) {
            self.unheard = BACKGROUND.into_iter().filter(|signal| self.get(*signal).is_none()).collect();
            self.shows_unheard = shows;
            self.unheard.iter().for_each(|signal| self.dispose(*signal));
        }
    }

    /// Forgets the traps of the parent, because this shell sets its own.
    pub(crate) fn forget_inherited(&mut self) {
        self.inherited = None;
    }

    /// Whether a trap of this kind runs.
    pub(crate) fn is_running(&self, signal: u8) -> bool {
        self.running.contains(&signal)
    }

    /// The trap that runs, the innermost one.
    pub(crate) fn innermost(&self) -> Option<u8> {
        self.running.last().copied()
    }

    /// Takes away the traps that `goes` names, as a function or a sourced file does that inherits none.
    pub(crate) fn set_aside(&mut self, goes: impl Fn(u8) -> bool) -> Vec<(u8, Rc<Bytes>)> {
        // What is ignored stays so.
        let goes = |(signal, text): &(u8, Rc<Bytes>)| goes(*signal) && !text.is_empty();
        if !self.set.iter().any(goes) {
            return Vec::new();
        }
        let aside = self.set.iter().filter(|trap| goes(trap)).cloned().collect();
        self.set.retain(|trap| !goes(trap));
        aside
    }

    /// Puts traps back, unless new ones were set meanwhile.
    pub(crate) fn put_back(&mut self, aside: Vec<(u8, Rc<Bytes>)>) {
        for (signal, text) in aside {
            if self.get(signal).is_none() {
                self.set.push((signal, text));
                self.set.sort_by_key(|(s, _)| *s);
            }
        }
    }

    /// Whether a pipe without readers is an error and no end.
    pub(crate) fn ignores_pipes(&self) -> bool {
        !self.set.is_empty() && self.get(13).is_some_and(|text| text.is_empty())
    }

    /// Takes note that a child has ended.
    pub(crate) fn child_ended(&mut self) {
        if !self.set.is_empty() && !self.is_running(CHLD) && self.get(CHLD).is_some_and(|text| !text.is_empty()) {
            self.children = self.children.saturating_add(1);
        }
    }

    /// Whether the trap for an ended child has to run.
    pub(crate) fn waits_for_children(&self) -> bool {
        self.children > 0
    }

    /// Makes what is ignored stay so, as in a new shell.
    pub(crate) fn fix_ignored(&mut self) {
        let ignored = self.set.iter().filter(|(signal, text)| (1..32).contains(signal) && text.is_empty());
        self.fixed = Some(ignored.fold(self.fixed.unwrap_or(0), |set, (signal, _)| set | 1 << signal));
    }

    /// Whether the trap for an ended child has to run once more, which it is then taken to have done.
    pub(crate) fn takes_child(&mut self) -> bool {
        let left = self.children.checked_sub(1).filter(|_| !self.is_running(CHLD));
        self.children = left.unwrap_or(self.children);
        left.is_some()
    }

    /// Sets what a signal runs; `None` puts its default back.
    pub(crate) fn set(&mut self, signal: u8, text: Option<Bytes>) {
        if signal < 64 && self.fixed.unwrap_or(0) >> signal & 1 == 1 {
            return;
        }
        if signal == KEYBOARD && self.seen_unheard {
            if text.is_none() {
                // Its default comes back all the same. It is a signal of the kernel, which refuses none but SIGKILL and SIGSTOP.
                let _ = rt::sig_set(u32::from(signal), Disposition::Default);
            }
            return;
        }
        if signal == CHLD {
            self.children = 0;
        }
        self.unheard.retain(|unheard| *unheard != signal);
        self.set.retain(|(s, _)| *s != signal);
        if let Some(text) = text {
            self.set.push((signal, Rc::new(text)));
            self.set.sort_by_key(|(s, _)| *s);
        }
        if (1..=31).contains(&signal) {
            self.dispose(signal);
        } else if signal == EXIT {
            FATAL.iter().for_each(|signal| self.dispose(*signal));
        }
    }

    /// Tells the kernel what a signal is to do.
    pub(crate) fn dispose(&self, signal: u8) {
        let disposition = match self.get(signal) {
            None if self.unheard.contains(&signal) => Disposition::Ignore,
            None if FATAL.contains(&signal) && self.get(EXIT).is_some_and(|text| !text.is_empty()) => Disposition::Note,
            None => Disposition::Default,
            Some(text) if text.is_empty() => Disposition::Ignore,
            Some(_) => Disposition::Note,
        };
        // SIGKILL and SIGSTOP are refused; bash also takes such a trap and never runs it.
        let _ = rt::sig_set(u32::from(signal), disposition);
    }

    /// What a subshell does: ignored signals stay ignored, `ERR`, `DEBUG` and `RETURN` stay where options say so, and
    /// everything else has its default again. What was there before can still be shown.
    pub(crate) fn reset_for_subshell(&mut self, functrace: bool, errtrace: bool) {
        self.pending = 0;
        self.children = 0;
        self.shows_unheard = false;
        self.leave_late();
        self.substitutes = false;
        // What it sets for its own end runs there.
        self.running.retain(|signal| *signal != EXIT);
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
        self.set.iter().filter(|(s, text)| *s < 64 && text.is_empty()).fold(background, |set, (s, _)| set | 1 << s)
    }
}
