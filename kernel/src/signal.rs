//! Signals: numbers, names, default actions and dispositions of a process.
//!
//! Asynchronous handlers do not exist. A signal takes effect when the process next calls the kernel, immediately if it waits in a
//! call, and at the engine's next tick while it computes.

use std::fmt;

/// A signal by its Linux number, which shells print and use for exit codes `128 + n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Signal {
    /// Terminal hang-up.
    Hup = 1,
    /// Keyboard interrupt.
    Int,
    /// Keyboard quit.
    Quit,
    /// Illegal instruction.
    Ill,
    /// Trace trap.
    Trap,
    /// Abort.
    Abrt,
    /// Bad address.
    Bus,
    /// Arithmetic error.
    Fpe,
    /// Kills a process; cannot be ignored.
    Kill,
    /// User-defined.
    Usr1,
    /// Access outside memory; engines report such traps as this.
    Segv,
    /// User-defined.
    Usr2,
    /// Write to a pipe without a reader.
    Pipe,
    /// Timer.
    Alrm,
    /// Termination request.
    Term,
    /// Unused on Linux too.
    Stkflt,
    /// A child has exited.
    Chld,
    /// Continue.
    Cont,
    /// Stops a process until `Cont`; cannot be ignored.
    Stop,
    /// Stop from the keyboard.
    Tstp,
    /// Terminal input from the background; stops by default.
    Ttin,
    /// Terminal output from the background; stops by default.
    Ttou,
    /// Urgent data.
    Urg,
    /// Processor time limit.
    Xcpu,
    /// File size limit.
    Xfsz,
    /// Timer of processor time.
    Vtalrm,
    /// Profiling timer.
    Prof,
    /// Window size changed.
    Winch,
    /// Input or output possible.
    Io,
    /// Power failure.
    Pwr,
    /// Bad system call.
    Sys,
}

/// Every signal; number *n* is at *n* - 1.
const ALL: [Signal; 31] = [
    Signal::Hup,
    Signal::Int,
    Signal::Quit,
    Signal::Ill,
    Signal::Trap,
    Signal::Abrt,
    Signal::Bus,
    Signal::Fpe,
    Signal::Kill,
    Signal::Usr1,
    Signal::Segv,
    Signal::Usr2,
    Signal::Pipe,
    Signal::Alrm,
    Signal::Term,
    Signal::Stkflt,
    Signal::Chld,
    Signal::Cont,
    Signal::Stop,
    Signal::Tstp,
    Signal::Ttin,
    Signal::Ttou,
    Signal::Urg,
    Signal::Xcpu,
    Signal::Xfsz,
    Signal::Vtalrm,
    Signal::Prof,
    Signal::Winch,
    Signal::Io,
    Signal::Pwr,
    Signal::Sys,
];

impl Signal {
    /// Returns the signal with Linux number 1 to 31.
    pub fn from_number(number: u32) -> Option<Self> {
        ALL.get(number.checked_sub(1)? as usize).copied()
    }

    /// Returns the signal of a `wasi_snapshot_preview1` number. Its list lacks `STKFLT`, so the numbers starting at 16 are one
    /// lower than Linux's.
    pub fn from_wasi(number: u32) -> Option<Self> {
        match number {
            1..=15 => Self::from_number(number),
            16..=30 => Self::from_number(number + 1),
            _ => None,
        }
    }

    /// Returns the Linux number, 1 to 31.
    pub fn number(self) -> u8 {
        self as u8
    }

    pub(crate) fn bit(self) -> u64 {
        1 << self.number()
    }

    /// Returns the action of a process that neither ignores nor catches the signal.
    fn default_effect(self) -> Effect {
        match self {
            Self::Chld | Self::Cont | Self::Urg | Self::Winch => Effect::Nothing,
            Self::Stop | Self::Tstp | Self::Ttin | Self::Ttou => Effect::Stop,
            _ => Effect::Kill,
        }
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SIG{}", format!("{self:?}").to_ascii_uppercase())
    }
}

/// Signal dispositions and pending signals of a process. Bit *n* is signal *n*.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dispositions {
    pub(crate) ignored: u64,
    pub(crate) caught: u64,
    /// Caught signals that wait for `sig_take`.
    pub(crate) pending: u64,
}

/// Effect of a signal on a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Nothing,
    Catch,
    Stop,
    Kill,
}

impl Dispositions {
    pub(crate) fn effect(&self, signal: Signal) -> Effect {
        if matches!(signal, Signal::Kill | Signal::Stop) {
            signal.default_effect()
        } else if self.ignored & signal.bit() != 0 {
            Effect::Nothing
        } else if self.caught & signal.bit() != 0 {
            Effect::Catch
        } else {
            signal.default_effect()
        }
    }
}

/// Signals that a process may not ignore or catch.
pub(crate) const UNCATCHABLE: u64 = (1 << 9) | (1 << 19);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preview1_numbers_map_to_the_signal_of_that_name() {
        for (wasi, name) in
            [(1, "SIGHUP"), (9, "SIGKILL"), (13, "SIGPIPE"), (15, "SIGTERM"), (16, "SIGCHLD"), (30, "SIGSYS")]
        {
            assert_eq!(Signal::from_wasi(wasi).map(|s| s.to_string()).as_deref(), Some(name));
        }
        assert_eq!(Signal::from_wasi(0), None);
        assert_eq!(Signal::from_wasi(31), None);
        assert_eq!(Signal::from_number(32), None);
        assert_eq!(Signal::from_number(u32::MAX), None);
    }

    #[test]
    fn sigkill_cannot_be_ignored_and_sigchld_is_not_fatal() {
        let all = Dispositions { ignored: u64::MAX, ..Dispositions::default() };
        assert_eq!(all.effect(Signal::Kill), Effect::Kill);
        assert_eq!(all.effect(Signal::Term), Effect::Nothing);
        let none = Dispositions::default();
        assert_eq!(none.effect(Signal::Term), Effect::Kill);
        assert_eq!(all.effect(Signal::Stop), Effect::Stop);
        assert_eq!(all.effect(Signal::Tstp), Effect::Nothing);
        for quiet in [Signal::Chld, Signal::Cont, Signal::Urg, Signal::Winch] {
            assert_eq!(none.effect(quiet), Effect::Nothing, "{quiet}");
        }
        let noting = Dispositions { caught: Signal::Term.bit(), ..none };
        assert_eq!(noting.effect(Signal::Term), Effect::Catch);
    }
}
