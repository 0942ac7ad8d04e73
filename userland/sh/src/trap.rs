//! Traps.

use std::rc::Rc;

use tidebox_rt::{self as rt, Disposition};

use crate::ir::Bytes;
use crate::state::{Run, Shell, Stop, TEXT_LEVELS};

/// Signals that have names, by number, as on Linux.
pub(crate) const SIGNALS: &[(u8, &str)] = &[
    (1, "HUP"),
    (2, "INT"),
    (3, "QUIT"),
    (4, "ILL"),
    (5, "TRAP"),
    (6, "ABRT"),
    (7, "BUS"),
    (8, "FPE"),
    (9, "KILL"),
    (10, "USR1"),
    (11, "SEGV"),
    (12, "USR2"),
    (13, "PIPE"),
    (14, "ALRM"),
    (15, "TERM"),
    (16, "STKFLT"),
    (17, "CHLD"),
    (18, "CONT"),
    (19, "STOP"),
    (20, "TSTP"),
    (21, "TTIN"),
    (22, "TTOU"),
    (23, "URG"),
    (24, "XCPU"),
    (25, "XFSZ"),
    (26, "VTALRM"),
    (27, "PROF"),
    (28, "WINCH"),
    (29, "IO"),
    (30, "PWR"),
    (31, "SYS"),
];

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
    /// Traps of signals that arrive wait until the redirections of the command are taken back.
    pub(crate) holds: bool,
    /// A command that failed ends the shell.
    pub(crate) by_errexit: bool,
    /// The EXIT trap counts as a step of what `set -x` shows.
    pub(crate) ends_deeper: bool,
    /// The process ends past the EXIT trap.
    pub(crate) passes_exit: bool,
    /// Calls of functions in progress whose redirections are taken back before a failure ends the shell.
    pub(crate) redirected_calls: u32,
    /// Children that have ended since there is a trap for that, and for which it has not run.
    children: u32,
    /// Signals that were ignored when the shell started and stay so, once somebody asked; bit *n* is signal *n*.
    fixed: Option<u64>,
}

/// Signals that do not reach what runs in the background without job control.
const BACKGROUND: [u8; 2] = [2, 3];

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

    /// What `trap -p` shows.
    pub(crate) fn shown(&self) -> Vec<(u8, Rc<Bytes>)> {
        let mut shown = self.inherited.as_ref().unwrap_or(&self.set).clone();
        if self.shows_unheard && self.unheard.contains(&BACKGROUND[0]) {
            shown.push((BACKGROUND[0], Rc::default()));
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

/// The number of a signal or of another occasion for a trap.
pub(crate) fn signal_number(name: &[u8]) -> Option<u8> {
    if let Some(number) = crate::parse::plain_number(name) {
        return u8::try_from(number).ok().filter(|n| *n < 65);
    }
    let name = name.to_ascii_uppercase();
    let name = name.strip_prefix(b"SIG").unwrap_or(&name);
    match name {
        b"EXIT" => Some(EXIT),
        b"ERR" => Some(ERR),
        b"DEBUG" => Some(DEBUG),
        b"RETURN" => Some(RETURN),
        b"POLL" => Some(29),
        b"IOT" => Some(6),
        b"CLD" => Some(17),
        b"RTMIN" => Some(34),
        b"RTMAX" => Some(64),
        _ => match (name.strip_prefix(b"RTMIN+"), name.strip_prefix(b"RTMAX-")) {
            (Some(digits), _) => real_time(digits).and_then(|n| 34_u8.checked_add(n)),
            (_, Some(digits)) => real_time(digits).and_then(|n| 64_u8.checked_sub(n)),
            _ => SIGNALS.iter().find(|(_, known)| known.as_bytes() == name).map(|(number, _)| *number),
        },
    }
}

/// The distance of a real-time signal from the first or the last one.
fn real_time(digits: &[u8]) -> Option<u8> {
    u8::try_from(crate::parse::plain_number(digits)?).ok().filter(|n| *n <= 30)
}

/// The name by which `trap -p` and `kill -l` know a signal.
pub(crate) fn signal_name(signal: u8) -> Option<std::borrow::Cow<'static, str>> {
    let name = match signal {
        EXIT => "EXIT",
        ERR => "ERR",
        DEBUG => "DEBUG",
        RETURN => "RETURN",
        34 => "RTMIN",
        64 => "RTMAX",
        35..=49 => return Some(format!("RTMIN+{}", signal - 34).into()),
        50..=63 => return Some(format!("RTMAX-{}", 64 - signal).into()),
        _ => SIGNALS.iter().find(|(number, _)| *number == signal).map(|(_, name)| *name)?,
    };
    Some(name.into())
}

/// All signals, in the columns of `kill -l` and `trap -l`.
pub(crate) fn signal_table() -> String {
    let mut text = String::new();
    let mut column = 0;
    for number in 1..=64 {
        let Some(name) = signal_name(number) else { continue };
        column += 1;
        text.push_str(&format!("{number:2}) SIG{name}{}", if column % 5 == 0 { "\n" } else { "\t" }));
    }
    text.push('\n');
    text
}

impl Shell {
    /// Whether any signal is noted rather than left to the kernel.
    pub(crate) fn notes_signals(&self) -> bool {
        self.traps.all().iter().any(|(signal, text)| *signal < 32 && !text.is_empty())
    }

    /// Takes over what the kernel noted. A signal without a trap of its own is noted only for the EXIT trap, and deadly.
    pub(crate) fn note_signals(&mut self) {
        let set = rt::sig_take().unwrap_or(0);
        self.traps.pending |= set;
        let deadly = (1..=31).find(|signal| set >> signal & 1 == 1 && self.traps.get(*signal).is_none());
        if let Some(signal) = deadly {
            self.die_of(signal);
        }
    }

    /// Noted signals, in order of number, which are then no longer noted.
    pub(crate) fn take_signals(&mut self) -> Vec<u8> {
        self.note_signals();
        let set = std::mem::take(&mut self.traps.pending);
        (1..=31).filter(|signal| set >> signal & 1 == 1).collect()
    }

    /// Runs the traps of signals that have arrived. Costs nothing where no signal has a trap.
    pub(crate) fn run_pending_traps(&mut self) -> Run {
        if self.notes_signals() {
            for signal in self.take_signals() {
                match signal {
                    CHLD => self.reap(),
                    signal => self.run_trap(signal)?,
                }
            }
            self.run_child_traps()?;
        }
        Ok(())
    }

    /// Runs the trap for children that have ended, once for each.
    pub(crate) fn run_child_traps(&mut self) -> Run {
        while self.traps.takes_child() {
            self.run_trap(CHLD)?;
        }
        Ok(())
    }

    /// Takes note of signals that were ignored when the shell started: only a shell that somebody types into can trap them.
    pub(crate) fn note_ignored(&mut self) {
        if self.traps.fixed.is_some() {
            return;
        }
        let ignored = if self.options.interactive { 0 } else { self.ignored_now() };
        let fixed = (1..32).filter(|signal| ignored >> signal & 1 == 1 && !self.traps.unheard.contains(signal));
        let fixed: Vec<u8> = fixed.filter(|signal| self.traps.get(*signal).is_none()).collect();
        for signal in &fixed {
            self.traps.set(*signal, Some(Bytes::new()));
        }
        self.traps.fixed = Some(fixed.into_iter().fold(0, |set, signal| set | 1 << signal));
    }

    /// The signals that this process ignores; bit *n* is signal *n*.
    fn ignored_now(&mut self) -> u64 {
        let Ok(fd) = rt::open(b"/proc/self/status", rt::Open { read: true, ..rt::Open::default() }) else { return 0 };
        let text = self.read_all(fd);
        // Reading is over whatever closing says.
        let _ = rt::close(fd);
        let digits = text.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(b"SigIgn:"));
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        digits.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).map_or(0, |set| set << 1)
    }

    /// Runs the trap of `signal`, if it has one. The status stays what it was.
    #[inline(never)]
    pub(crate) fn run_trap(&mut self, signal: u8) -> Run {
        let Some(text) = self.traps.get(signal).map(Rc::clone) else { return Ok(()) };
        if text.is_empty() || self.traps.running.contains(&signal) {
            return Ok(());
        }
        let (status, pipe_status, line) = (self.status, self.pipe_status.clone(), self.line);
        self.traps.running.push(signal);
        let outer = self.trap_status.replace(status);
        // Its failures concern `set -e` also where the command that it runs for is a condition.
        let tested = std::mem::take(&mut self.tested);
        // Traps of the shell itself know the line of the command; those of signals count their own.
        let first = if signal < ERR { 1 } else { line };
        let result = self.in_text(|shell| shell.run_trap_text(signal, &text, first));
        self.trap_status = outer;
        self.tested = tested;
        self.traps.running.pop();
        self.debug_status = self.status;
        match result {
            Ok(()) | Err(Stop::Discard) => {
                self.status = status;
                self.pipe_status = pipe_status;
                self.line = line;
                Ok(())
            }
            Err(stop) => Err(stop),
        }
    }

    /// Runs the text of a trap, whose kind stands before the line of a mistake in it.
    fn run_trap_text(&mut self, signal: u8, text: &[u8], line: u32) -> Run {
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

    /// Runs `inner` one step deeper in what `set -x` shows.
    pub(crate) fn in_text<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        self.sourcing_depth += 1;
        let result = inner(self);
        self.sourcing_depth -= 1;
        result
    }

    /// The DEBUG trap before a command; false when `extdebug` wants the command left out.
    #[inline(never)]
    pub(crate) fn run_debug_trap(&mut self) -> Run<bool> {
        if self.traps.get(DEBUG).is_none_or(|text| text.is_empty()) || self.traps.is_running(DEBUG) {
            return Ok(true);
        }
        self.run_trap(DEBUG)?;
        if !self.options.extdebug || self.debug_status == 0 {
            return Ok(true);
        }
        if self.debug_status == 2 && (self.sourcing > 0 || self.frames.iter().any(|frame| frame.is_function)) {
            return Err(Stop::Return);
        }
        self.status = 0;
        Ok(false)
    }

    /// Runs the EXIT trap, which sees the status of the last command, and lets the signal do what it does by default.
    pub(crate) fn die_of(&mut self, signal: u8) {
        self.finish();
        let own = rt::getids().map_or(0, |ids| ids.pid);
        let _ = rt::sig_set(u32::from(signal), Disposition::Default);
        let _ = rt::kill(i32::try_from(own).unwrap_or(0), u32::from(signal));
        // Not reached where signals work.
        rt::exit(128_u8.saturating_add(signal))
    }

    /// Runs the EXIT trap and writes out what is buffered; the last thing that a shell does.
    pub(crate) fn finish(&mut self) -> u8 {
        self.run_exit_trap();
        self.io.flush();
        self.status
    }

    /// Runs the EXIT trap, once. Functions that `exit` leaves are still there for it.
    pub(crate) fn run_exit_trap(&mut self) {
        let trap = self.traps.get(EXIT).map(Rc::clone);
        // It shows itself while it runs, and runs once.
        if let Some(text) = trap.filter(|_| !self.traps.is_running(EXIT) && !self.traps.passes_exit) {
            let status = self.status;
            self.trap_status = Some(status);
            self.traps.running.push(EXIT);
            let deeper = u32::from(self.traps.ends_deeper);
            let tested = std::mem::take(&mut self.tested);
            self.sourcing_depth += deeper;
            let result = self.run_trap_text(EXIT, &text, 1);
            self.sourcing_depth -= deeper;
            self.tested = tested;
            self.traps.running.pop();
            self.traps.set(EXIT, None);
            if !matches!(result, Err(Stop::Exit)) {
                self.status = status;
            }
        }
    }
}
