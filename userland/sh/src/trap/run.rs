//! Running traps, and restoring the state after them.

use std::rc::Rc;

use tidebox_rt::{self as rt, Disposition};

use super::{CHLD, DEBUG, ERR, EXIT, Keyboard, RETURN};
use crate::ir::Bytes;
use crate::state::{EvalResult, Shell, TEXT_LEVELS, Unwind};

impl Shell {
    /// Returns whether any signal has a trap.
    pub(crate) fn catches_signals(&self) -> bool {
        self.traps.keyboard != Keyboard::Unused
            || self.traps.all().iter().any(|(signal, text)| *signal < 32 && !text.is_empty())
    }

    /// Takes the caught signals from the kernel. A signal without a trap is caught only for the EXIT trap, and ends the
    /// shell.
    pub(crate) fn catch_signals(&mut self) {
        let set = rt::sig_take().unwrap_or(0);
        self.traps.pending |= set;
        let is_deadly = |signal: &u8| self.traps.get(*signal).is_none() && !self.is_interrupt(*signal);
        let deadly = (1..=31).find(|signal| set >> signal & 1 == 1 && is_deadly(signal));
        if let Some(signal) = deadly {
            self.exit_by_signal(signal);
        }
    }

    /// Noted signals, in order of number, which are then no longer noted.
    pub(crate) fn take_signals(&mut self) -> Vec<u8> {
        self.catch_signals();
        let set = std::mem::take(&mut self.traps.pending);
        (1..=31).filter(|signal| set >> signal & 1 == 1).collect()
    }

    /// Runs the traps of signals that have arrived. Costs nothing where no signal has a trap.
    pub(crate) fn run_pending_traps(&mut self) -> EvalResult {
        if self.catches_signals() {
            let mut interrupted = false;
            for signal in self.take_signals() {
                match signal {
                    CHLD => self.reap(),
                    signal if self.is_interrupt(signal) => interrupted = true,
                    signal => self.run_trap(signal)?,
                }
            }
            self.run_child_traps()?;
            if interrupted {
                return self.interrupt();
            }
        }
        Ok(())
    }

    /// Runs the trap for children that have ended, once for each.
    pub(crate) fn run_child_traps(&mut self) -> EvalResult {
        while self.traps.consume_child_exit() {
            self.run_trap(CHLD)?;
        }
        Ok(())
    }

    /// Records the signals that were ignored at the start. Only an interactive shell can trap them.
    pub(crate) fn store_ignored(&mut self) {
        if self.traps.fixed.is_some() {
            return;
        }
        let ignored = if self.options.interactive { 0 } else { self.traps.ignored_at_start };
        let fixed = (1..32).filter(|signal| ignored >> signal & 1 == 1);
        let fixed: Vec<u8> = fixed.filter(|signal| self.traps.get(*signal).is_none()).collect();
        for signal in &fixed {
            self.traps.set(*signal, Some(Bytes::new()));
        }
        self.traps.fixed = Some(fixed.into_iter().fold(0, |set, signal| set | 1 << signal));
    }

    /// Runs the trap of `signal`, if any. The status does not change.
    #[inline(never)]
    pub(crate) fn run_trap(&mut self, signal: u8) -> EvalResult {
        let Some(text) = self.traps.get(signal).map(Rc::clone) else { return Ok(()) };
        if text.is_empty() || self.traps.running.contains(&signal) {
            return Ok(());
        }
        let (status, pipe_status, line, loops) = (self.status, self.pipe_status.clone(), self.line, self.flow.loops);
        self.traps.running.push(signal);
        let outer = self.traps.status_before.replace(status);
        // `set -e` applies to failures in the trap, even if its command is a condition.
        let tested = std::mem::take(&mut self.flow.conditions);
        // ERR, DEBUG and RETURN traps start at the line of the command, signal traps at line 1.
        let first = if signal < ERR { 1 } else { line };
        let result = self.in_text(|shell| shell.run_trap_text(signal, &text, first));
        self.traps.status_before = outer;
        self.flow.loops = loops;
        self.flow.conditions = tested;
        self.traps.running.pop();
        self.traps.last_status = self.status;
        if result == Err(Unwind::Exit) && signal >= ERR {
            // A trap that ends the shell does not run for commands of the EXIT trap.
            self.traps.set(signal, None);
        }
        match result {
            Ok(()) | Err(Unwind::Discard) => {
                self.status = status;
                self.pipe_status = pipe_status;
                self.line = line;
                Ok(())
            }
            Err(stop) => Err(stop),
        }
    }

    /// Runs the text of a trap, whose kind precedes the line in syntax errors.
    fn run_trap_text(&mut self, signal: u8, text: &[u8], line: u32) -> EvalResult {
        let origin: &[u8] = match signal {
            EXIT => b"exit trap",
            ERR => b"error trap",
            DEBUG => b"debug trap",
            RETURN => b"return trap",
            _ => b"trap",
        };
        let source = self.current_source();
        self.descend(TEXT_LEVELS, |shell| shell.run_source(text, line, source, origin))
    }

    /// Runs `inner` one level deeper in the output of `set -x`.
    pub(crate) fn in_text<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        self.flow.trace_depth += 1;
        let result = inner(self);
        self.flow.trace_depth -= 1;
        result
    }

    /// Runs the DEBUG trap before a command. Returns false if `extdebug` skips the command.
    #[inline(never)]
    pub(crate) fn run_debug_trap(&mut self) -> EvalResult<bool> {
        if self.traps.get(DEBUG).is_none_or(|text| text.is_empty()) || self.traps.is_running(DEBUG) {
            return Ok(true);
        }
        self.run_trap(DEBUG)?;
        if !self.options.extdebug || self.traps.last_status == 0 {
            return Ok(true);
        }
        if self.traps.last_status == 2 && (self.flow.sources > 0 || self.frames.iter().any(|frame| frame.is_function)) {
            return Err(Unwind::Return);
        }
        self.status = 0;
        Ok(false)
    }

    /// Runs the EXIT trap, with the status of the last command, then the default action of the signal.
    pub(crate) fn exit_by_signal(&mut self, signal: u8) {
        self.finish();
        let own = rt::getids().map_or(0, |ids| ids.pid);
        let _ = rt::sig_set(u32::from(signal), Disposition::Default);
        let _ = rt::kill(i32::try_from(own).unwrap_or(0), u32::from(signal));
        // Not reached where signals work.
        rt::exit(128_u8.saturating_add(signal))
    }

    /// Runs the EXIT trap and flushes output, as the last action of a shell.
    pub(crate) fn finish(&mut self) -> u8 {
        self.run_exit_trap();
        self.io.flush();
        self.status
    }

    /// Runs the EXIT trap once. The functions that `exit` ends are still active.
    pub(crate) fn run_exit_trap(&mut self) {
        let trap = self.traps.get(EXIT).map(Rc::clone);
        // It shows itself while it runs, and runs once.
        if let Some(text) = trap.filter(|_| !self.traps.is_running(EXIT)) {
            let status = self.status;
            self.traps.status_before = Some(status);
            self.traps.running.push(EXIT);
            let tested = std::mem::take(&mut self.flow.conditions);
            let result = self.run_trap_text(EXIT, &text, 1);
            self.flow.conditions = tested;
            self.traps.running.pop();
            self.traps.set(EXIT, None);
            if !matches!(result, Err(Unwind::Exit)) {
                self.status = status;
            }
        }
    }
}
